//! Connections of HTTP: accepting them, bounding them, ending them.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use hyper::service::Service;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::turns::{Line, Turns};

/// Rest after a failed accept, which mostly means that file descriptors have run out.
const ACCEPT_REST: Duration = Duration::from_millis(50);

/// The bounds of one server; each room says why its own are so.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Open connections. With no place left, the kernel's queue holds who comes next.
    pub connections_max: usize,
    /// Streams of one HTTP/2 connection.
    pub streams_max: u32,
    /// How long a client may take to send its head, and how long a connection may idle.
    pub header_time_max: Duration,
    /// Bytes of a request's head, and read at once of its body.
    pub header_bytes_max: u32,
    /// How long connections may take to end when the server does.
    pub drain_max: Duration,
}

/// A place among the connections. It is free when its last copy is dropped: one is the connection's, and who upgrades a
/// connection keeps another.
pub type Place = Arc<OwnedSemaphorePermit>;

/// Serves HTTP/1.1 (with upgrades) and HTTP/2 in the clear, told apart by their first bytes, until `shutdown`; then it lets
/// connections end. `service` makes what answers one connection, for who is at its other end.
pub async fn serve<F, S, B>(listener: TcpListener, limits: Limits, shutdown: CancellationToken, service: F)
where
    F: Fn(SocketAddr, Place) -> S,
    S: Service<Request<Incoming>, Response = Response<B>> + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    accept(listener, limits, shutdown, |socket, peer, place| (socket, service(peer, place))).await;
}

/// The same, with requests that are read in turn. `service` tells the [`Line`] when a request begins and ends.
pub async fn serve_in_turn<F, S, B>(
    listener: TcpListener,
    limits: Limits,
    turns: Arc<Turns>,
    shutdown: CancellationToken,
    service: F,
) where
    F: Fn(SocketAddr, Arc<Line>) -> S,
    S: Service<Request<Incoming>, Response = Response<B>> + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let connection = |socket, peer, _place| {
        let (io, line) = turns.take(socket);
        (io, service(peer, line))
    };
    // Among the tasks whose turns it gives: elsewhere, as where the runtime is blocked on this one, its rounds would not be theirs.
    let giving = tokio::spawn({
        let turns = turns.clone();
        async move { turns.give().await }
    });
    accept(listener, limits, shutdown, connection).await;
    giving.abort();
}

/// `connection` makes of each that comes what is read and written, and what answers it.
async fn accept<F, T, S, B>(listener: TcpListener, limits: Limits, shutdown: CancellationToken, connection: F)
where
    F: Fn(TcpStream, SocketAddr, Place) -> (T, S),
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: Service<Request<Incoming>, Response = Response<B>> + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let http = Arc::new(protocol(&limits));
    let graceful = GracefulShutdown::new();
    let open = Arc::new(Semaphore::new(limits.connections_max));
    loop {
        let accepted = tokio::select! {
            () = shutdown.cancelled() => break,
            accepted = async {
                let place = open.clone().acquire_owned().await;
                (place, listener.accept().await)
            } => accepted,
        };
        let (place, socket, peer) = match accepted {
            (Ok(place), Ok((socket, peer))) => (Arc::new(place), socket, peer),
            (_, Err(error)) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(ACCEPT_REST).await;
                continue;
            }
            (Err(_), _) => break,
        };
        // An answer must not wait for the acknowledgement of the one before it.
        if let Err(error) = socket.set_nodelay(true) {
            tracing::debug!(%error, "cannot tune a socket");
        }
        let (io, service) = connection(socket, peer, place.clone());
        let (http, watcher) = (http.clone(), graceful.watcher());
        tokio::spawn(async move {
            let connection = http.serve_connection_with_upgrades(TokioIo::new(io), service);
            if let Err(error) = watcher.watch(connection).await {
                tracing::debug!(%error, "connection ended");
            }
            drop(place);
        });
    }
    drop(listener);
    if tokio::time::timeout(limits.drain_max, graceful.shutdown()).await.is_err() {
        tracing::debug!("connections were still open after the last wait; they are cut");
    }
}

fn protocol(limits: &Limits) -> auto::Builder<TokioExecutor> {
    let mut http = auto::Builder::new(TokioExecutor::new());
    http.http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_time_max)
        .max_buf_size(limits.header_bytes_max as usize);
    http.http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.streams_max)
        .max_header_list_size(limits.header_bytes_max);
    http
}
