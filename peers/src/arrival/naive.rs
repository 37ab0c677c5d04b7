//! The control: a door as the postmortem had it. Each play is a check at the central store, over a pool of so many
//! connections, each of which a check holds for a while; whoever comes waits in its queue, and what was asked for is done
//! also for those who have given up.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use tokio::io::AsyncReadExt;
use tokio::sync::Semaphore;

/// How long a check holds a connection, in milliseconds: of the postmortem, whose pool of 20 did some 400 a second.
pub(crate) const CHECK_MS: u64 = 50;

/// Serves until its standard input ends.
pub(crate) async fn run(listen: SocketAddr, pool: usize) -> anyhow::Result<()> {
    let pool = Arc::new(Semaphore::new(pool));
    let app = Router::new().fallback(play).with_state(pool);
    let listener = tokio::net::TcpListener::bind(listen).await?;
    tokio::select! {
        served = async { axum::serve(listener, app).await } => served?,
        _ = async { tokio::io::stdin().read_to_end(&mut Vec::new()).await } => {}
    }
    Ok(())
}

async fn play(State(pool): State<Arc<Semaphore>>) -> StatusCode {
    // A task of its own, which ends when it is done and not when its client hangs up.
    let check = tokio::spawn(async move {
        let connection = pool.acquire().await;
        tokio::time::sleep(Duration::from_millis(CHECK_MS)).await;
        drop(connection);
    });
    match check.await {
        Ok(()) => StatusCode::OK,
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
