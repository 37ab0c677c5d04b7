//! HTTP/3: the same answers over QUIC, on the UDP port of the listener's number.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use h3::error::Code;
use h3::server::{RequestResolver, RequestStream};
use http::header::CONTENT_LENGTH;
use http::{Method, Response, StatusCode};
use http_body::Body as _;
use http_body_util::BodyExt;
use quinn::crypto::rustls::QuicServerConfig;
use quinn::{Endpoint, EndpointConfig, Incoming, TokioRuntime, TransportConfig};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use tokio_rustls::rustls;
use tracing::{debug, warn};

use super::activity::{Activity, Turn, Use, Watched};
use super::client::Client;
use super::course::Phase;
use super::{Alternative, Shared};
use crate::limits::{
    HANDSHAKE_MAX, HEADER_BYTES_MAX, HEADER_TIME_MAX, LINGER_MAX, LOOK_EVERY, QUIC_RECEIVE_BYTES_MAX,
    QUIC_SEND_BYTES_MAX, QUIC_WAITING_BYTES_MAX, QUIC_WAITING_MAX, SEND_RATE_MIN, SEND_STALL_MAX,
    STREAMS_MAX, UDP_TRY_EVERY, UNI_STREAMS_MAX,
};
use crate::log::Protocol;

/// What is spoken above TLS.
pub(crate) const ALPN: &[&[u8]] = &[b"h3"];

type Stream = RequestStream<h3_quinn::BidiStream<Bytes>, Bytes>;

/// QUIC with that TLS, which must be version 1.3 and offer [`ALPN`].
pub(crate) fn config(
    tls: rustls::ServerConfig,
) -> Result<quinn::ServerConfig, quinn::crypto::rustls::NoInitialCipherSuite> {
    let mut transport = TransportConfig::default();
    transport
        .max_concurrent_bidi_streams(STREAMS_MAX.into())
        .max_concurrent_uni_streams(UNI_STREAMS_MAX.into())
        .max_idle_timeout(HEADER_TIME_MAX.try_into().ok())
        .stream_receive_window(QUIC_RECEIVE_BYTES_MAX.into())
        .receive_window((2 * QUIC_RECEIVE_BYTES_MAX).into())
        .send_window(QUIC_SEND_BYTES_MAX)
        .datagram_receive_buffer_size(None);
    let mut config = quinn::ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls)?));
    config
        .transport_config(Arc::new(transport))
        .max_incoming(QUIC_WAITING_MAX)
        .incoming_buffer_size_total(QUIC_WAITING_BYTES_MAX);
    Ok(config)
}

/// Takes connections at that address, which share places with those over TCP, until the server begins to leave.
pub(crate) async fn run(
    shared: Arc<Shared>,
    config: quinn::ServerConfig,
    at: SocketAddr,
    open: Arc<Semaphore>,
) {
    let endpoint = match endpoint(config, at).await {
        Ok(endpoint) => endpoint,
        Err(error) => return warn!(%error, "HTTP/3 is not spoken: UDP port {} cannot be opened", at.port()),
    };
    let _ = shared.alternative.set(Alternative::at(at.port()));
    loop {
        let incoming = tokio::select! {
            biased;
            () = leaving(&shared) => break,
            incoming = endpoint.accept() => incoming,
        };
        let Some(incoming) = incoming else { break };
        let Ok(place) = open.clone().try_acquire_owned() else {
            incoming.refuse();
            continue;
        };
        let client = Client::new(shared.clone(), incoming.remote_address(), true);
        tokio::spawn(async move {
            let shared = client.shared.clone();
            shared.course.follow(Box::pin(connection(client, incoming)).as_mut()).await;
            drop(place);
        });
    }
    endpoint.set_server_config(None);
    endpoint.wait_idle().await;
}

/// An endpoint at that address. A server that takes over from another waits until that one has let go of it.
async fn endpoint(config: quinn::ServerConfig, at: SocketAddr) -> io::Result<Endpoint> {
    let mut told = false;
    let socket = loop {
        match UdpSocket::bind(at) {
            Ok(socket) => break socket,
            Err(error) if error.kind() == ErrorKind::AddrInUse => {
                if !told {
                    warn!("UDP port {} is in use; HTTP/3 is spoken as soon as it is free", at.port());
                }
                told = true;
                sleep(UDP_TRY_EVERY).await;
            }
            Err(error) => return Err(error),
        }
    };
    Endpoint::new(EndpointConfig::default(), Some(config), socket, Arc::new(TokioRuntime))
}

/// Comes back when the server leaves; its task is polled then ([`super::course::Course::follow`]).
async fn leaving(shared: &Shared) {
    std::future::poll_fn(|_| {
        if shared.course.phase() >= Phase::Leaving { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// Serves one connection to its end.
async fn connection(client: Client, incoming: Incoming) {
    let shaken = async {
        let connection = incoming.await.map_err(|e| e.to_string())?;
        let mut http = h3::server::builder();
        http.max_field_section_size(HEADER_BYTES_MAX as u64);
        http.build(h3_quinn::Connection::new(connection)).await.map_err(|e| e.to_string())
    };
    let mut http = match timeout(HANDSHAKE_MAX, shaken).await {
        Ok(Ok(http)) => http,
        Ok(Err(error)) => return debug!(%error, "QUIC handshake failed"),
        Err(_) => return debug!("QUIC handshake took too long"),
    };
    let activity = Activity::new();
    let mut requests = JoinSet::new();
    let mut look = pin!(sleep(LOOK_EVERY));
    let mut told = false;
    while !told || !requests.is_empty() {
        let leave = tokio::select! {
            accepted = http.accept() => match accepted {
                Ok(Some(resolver)) => {
                    requests.spawn(request(client.clone(), resolver, activity.begin()));
                    false
                }
                Ok(None) => break,
                Err(error) => return debug!(%error, "connection ended"),
            },
            Some(_) = requests.join_next() => false,
            () = leaving(&client.shared), if !told => true,
            () = look.as_mut() => {
                look.as_mut().reset(Instant::now() + LOOK_EVERY);
                activity.judge(Instant::now()) == Use::Idle
            }
        };
        if leave && !told {
            told = true;
            // Requests that cross this are rejected in a way that lets the client ask elsewhere (RFC 9114, 5.2).
            if let Err(error) = http.shutdown(0).await {
                return debug!(%error, "connection ended");
            }
        }
    }
    // What was sent may still be on its way, and closing would leave it there.
    let _ = timeout(LINGER_MAX, http.accept()).await;
}

/// Answers one request.
async fn request(client: Client, resolver: RequestResolver<h3_quinn::Connection, Bytes>, turn: Turn) {
    let (request, stream) = match timeout(HEADER_TIME_MAX, resolver.resolve_request()).await {
        Ok(Ok(resolved)) => resolved,
        Ok(Err(error)) => return debug!(%error, "a request cannot be read"),
        Err(_) => return debug!("a request took too long to arrive"),
    };
    let mut answering = Answering { stream, whole: false };
    let head_only = *request.method() == Method::HEAD;
    let response = client.answer(request.map(|()| None), Protocol::H3, turn).await;
    match answering.send(response, head_only).await {
        Ok(()) => answering.whole = true,
        Err(error) => debug!(%error, "an answer was cut"),
    }
}

/// A stream that is reset unless its answer went out whole: one that is merely dropped looks finished.
struct Answering {
    stream: Stream,
    whole: bool,
}

impl Drop for Answering {
    fn drop(&mut self) {
        if !self.whole {
            self.stream.stop_stream(Code::H3_INTERNAL_ERROR);
        }
    }
}

impl Answering {
    async fn send(&mut self, response: Response<Watched>, head_only: bool) -> io::Result<()> {
        let (mut parts, mut body) = response.into_parts();
        let bare = head_only || matches!(parts.status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
        if let Some(length) = body.size_hint().exact().filter(|_| !bare) {
            parts.headers.insert(CONTENT_LENGTH, length.into());
        }
        in_time(0, self.stream.send_response(Response::from_parts(parts, ()))).await?;
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(io::Error::other)?.into_data() else { continue };
            in_time(data.len(), self.stream.send_data(data)).await?;
        }
        in_time(0, self.stream.finish()).await
    }
}

/// Takes no longer to send that many bytes than the slowest client may.
async fn in_time(
    bytes: usize,
    sending: impl Future<Output = Result<(), h3::error::StreamError>>,
) -> io::Result<()> {
    let limit = SEND_STALL_MAX + Duration::from_secs(bytes as u64 / SEND_RATE_MIN);
    timeout(limit, sending).await?.map_err(io::Error::other)
}
