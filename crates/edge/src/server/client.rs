//! One client's connection, from its first byte to the protocol that it speaks.

use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;

use http::header::{ALT_SVC, HOST};
use http::{HeaderValue, Request, Response};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tracing::debug;

use super::Shared;
use super::activity::{Turn, Watched};
use super::by_hyper;
use super::h1::{After, Connection, Handed};
use crate::admission::Peer;
use crate::handle::Upload;
use crate::limits::{HANDSHAKE_MAX, SEND_STALL_MAX, SOCKET_SEND_BYTES, TLS_SEND_BYTES_MAX};
use crate::log::{Entry, Protocol};

/// Whom a connection is with.
#[derive(Clone)]
pub(crate) struct Client {
    /// What it has in common with all others.
    pub(crate) shared: Arc<Shared>,
    peer: IpAddr,
    secure: bool,
}

impl Client {
    /// Somebody at that address, over TLS or QUIC or in the clear.
    pub(crate) fn new(shared: Arc<Shared>, peer: SocketAddr, secure: bool) -> Client {
        Client { shared, peer: peer.ip(), secure }
    }

    /// Serves a new connection to its end.
    pub(crate) async fn start(self, socket: TcpStream, place: OwnedSemaphorePermit) {
        if let Err(error) = tune(&socket) {
            debug!(%error, "cannot tune a socket");
        }
        self.serve(socket, place).await;
    }

    /// Serves a connection to its end, or until it waits in the lot.
    pub(crate) async fn serve(self, socket: TcpStream, place: OwnedSemaphorePermit) {
        let shared = self.shared.clone();
        match shared.tls.clone() {
            None => {
                let mut idle = None;
                let speaking = async { idle = self.speak(socket, shared.lot.get().is_some()).await };
                shared.course.follow(pin!(speaking)).await;
                if let (Some(socket), Some(lot)) = (idle, shared.lot.get())
                    && let Err(error) = lot.park(socket, place)
                {
                    debug!(%error, "an idle connection is lost");
                }
            }
            // Boxed, so that connections in the clear are not as large.
            Some(tls) => shared.course.follow(Box::pin(self.speak_tls(tls, socket)).as_mut()).await,
        }
    }

    async fn speak_tls(self, tls: TlsAcceptor, socket: TcpStream) {
        let handshake = tls.accept_with(socket, |session| session.set_buffer_limit(Some(TLS_SEND_BYTES_MAX)));
        let stream = match timeout(HANDSHAKE_MAX, handshake).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return debug!(%error, "TLS handshake failed"),
            Err(_) => return debug!("TLS handshake took too long"),
        };
        if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
            let handed = Handed { io: stream, client: self, read: Vec::new(), protocol: Protocol::H2 };
            by_hyper::serve(handed).await;
        } else {
            self.speak(stream, false).await;
        }
    }

    /// Gives the connection back if it may be parked and has become idle.
    async fn speak<S>(self, io: S, parks: bool) -> Option<S>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        match Connection::new(io, self, parks).serve().await {
            Ok(After::End) => {}
            Ok(After::Idle(io)) => return Some(io),
            Ok(After::Handed(handed)) => Box::pin(by_hyper::serve(*handed)).await,
            Err(error) => debug!(%error, "connection ended"),
        }
        None
    }

    /// Answers a request of a protocol that carries several at once.
    pub(crate) async fn answer(
        &self,
        mut request: Request<Upload>,
        protocol: Protocol,
        turn: Turn,
    ) -> Response<Watched> {
        let target = request.uri().path_and_query().map_or("", |target| target.as_str());
        let mut entry = self.entry(request.method().as_str(), target, protocol);
        request.extensions_mut().insert(self.peer());
        // What is a field of its own in HTTP/1.1 is a part of the address since (RFC 9113, 8.3.1).
        if let Some(host) = request.uri().authority()
            && let Ok(host) = HeaderValue::from_str(host.as_str())
        {
            request.headers_mut().insert(HOST, host);
        }
        let mut response = self.shared.edge.clone().answer(request).await;
        if let Some(entry) = &mut entry {
            entry.answered(response.status(), response.extensions().get().copied());
        }
        if self.secure
            && let Some(alternative) = self.shared.alternative.get()
        {
            response.headers_mut().insert(ALT_SVC, alternative.value.clone());
        }
        response.map(|body| Watched::new(body, turn, entry))
    }

    /// It, as far as its connection tells.
    pub(crate) fn peer(&self) -> Peer {
        Peer { address: self.peer, secure: self.secure }
    }

    /// What will be logged of a request, if it is one of those that are.
    pub(crate) fn entry(&self, method: &str, target: &str, protocol: Protocol) -> Option<Entry> {
        self.shared.log.entry(method, target, protocol, self.peer)
    }

    /// The line of HTTP/1.1 that tells of HTTP/3, or nothing.
    pub(crate) fn alternative(&self) -> &[u8] {
        match self.shared.alternative.get() {
            Some(alternative) if self.secure => &alternative.line,
            _ => b"",
        }
    }
}

/// Small writes go out at once, and a client that does not read is cut.
fn tune(socket: &TcpStream) -> std::io::Result<()> {
    socket.set_nodelay(true)?;
    let tuned = socket2::SockRef::from(socket);
    tuned.set_send_buffer_size(SOCKET_SEND_BYTES)?;
    #[cfg(target_os = "linux")]
    tuned.set_tcp_user_timeout(Some(SEND_STALL_MAX))?;
    Ok(())
}
