//! Connections: accepting them, bounding them, ending them.

use std::convert::Infallible;
use std::sync::Arc;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::limits::{
    ACCEPT_REST, CONNECTIONS_MAX, DRAIN_MAX, HEADER_BYTES_MAX, HEADER_TIME_MAX, STREAMS_MAX,
};
use crate::origin::Origin;

/// Serves connections until `shutdown`, then lets them end.
pub(crate) async fn run(origin: Arc<Origin>, listener: TcpListener, shutdown: CancellationToken) {
    let http = Arc::new(protocol());
    let graceful = GracefulShutdown::new();
    let open = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        // With no place left, the kernel's queue holds who comes next.
        let accepted = tokio::select! {
            () = shutdown.cancelled() => break,
            accepted = async {
                let place = open.clone().acquire_owned().await;
                (place, listener.accept().await)
            } => accepted,
        };
        let (place, socket) = match accepted {
            (Ok(place), Ok((socket, _))) => (place, socket),
            (_, Err(error)) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(ACCEPT_REST).await;
                continue;
            }
            (Err(_), _) => break,
        };
        // A part must not wait for the acknowledgement of the one before it.
        if let Err(error) = socket.set_nodelay(true) {
            tracing::debug!(%error, "cannot tune a socket");
        }
        let (origin, http, watcher) = (origin.clone(), http.clone(), graceful.watcher());
        tokio::spawn(async move {
            let service = service_fn(|request| {
                let origin = origin.clone();
                async move { Ok::<_, Infallible>(origin.answer(request).await) }
            });
            let connection = http.serve_connection(TokioIo::new(socket), service);
            if let Err(error) = watcher.watch(connection).await {
                tracing::debug!(%error, "connection ended");
            }
            drop(place);
        });
    }
    drop(listener);
    if tokio::time::timeout(DRAIN_MAX, graceful.shutdown()).await.is_err() {
        tracing::debug!("connections were still open after the last wait; they are cut");
    }
}

/// HTTP/1.1 and HTTP/2 in the clear, told apart by their first bytes.
fn protocol() -> auto::Builder<TokioExecutor> {
    let mut http = auto::Builder::new(TokioExecutor::new());
    http.http1().timer(TokioTimer::new()).header_read_timeout(HEADER_TIME_MAX).max_buf_size(HEADER_BYTES_MAX);
    http.http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(HEADER_BYTES_MAX as u32);
    http
}
