//! Connections: accepting them, bounding them, ending them.

use std::sync::Arc;

use axum::{Extension, Router};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::http::Peer;
use super::limits::{ACCEPT_REST, CONNECTIONS_MAX, DRAIN_MAX, HEADER_TIME_MAX};

/// Serves connections until `shutdown`, then lets them end.
pub(super) async fn run(router: Router, listener: TcpListener, shutdown: CancellationToken) {
    let mut http = auto::Builder::new(TokioExecutor::new());
    http.http1().timer(TokioTimer::new()).header_read_timeout(HEADER_TIME_MAX);
    http.http2().timer(TokioTimer::new());
    let http = Arc::new(http);
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
        let (place, socket, peer) = match accepted {
            (Ok(place), Ok((socket, peer))) => (place, socket, peer),
            (_, Err(error)) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(ACCEPT_REST).await;
                continue;
            }
            (Err(_), _) => break,
        };
        // An acknowledgement must not wait for the one before it.
        if let Err(error) = socket.set_nodelay(true) {
            tracing::debug!(%error, "cannot tune a socket");
        }
        let peer = Peer { ip: peer.ip(), place: Arc::new(place) };
        let service = TowerToHyperService::new(router.clone().layer(Extension(peer)));
        let (http, watcher) = (http.clone(), graceful.watcher());
        tokio::spawn(async move {
            let connection = http.serve_connection_with_upgrades(TokioIo::new(socket), service);
            if let Err(error) = watcher.watch(connection).await {
                tracing::debug!(%error, "connection ended");
            }
        });
    }
    drop(listener);
    if tokio::time::timeout(DRAIN_MAX, graceful.shutdown()).await.is_err() {
        tracing::debug!("connections were still open after the last wait; they are cut");
    }
}
