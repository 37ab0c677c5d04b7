//! Connections: accepting them, bounding them, ending them.
//!
//! [`client`] is one of them, from its first byte to the protocol that it speaks: [`h1`] for what players ask (its
//! heads are read by [`head`] and written by [`send`]), [`by_hyper`] for HTTP/2 and the rest of HTTP/1, [`h3`] for
//! HTTP/3. Those that ask for nothing wait in the [`lot`]. [`course`] tells all of them how the server ends.

mod activity;
mod by_hyper;
mod client;
mod course;
mod h1;
pub(crate) mod h3;
pub(crate) mod head;
mod lot;
mod refuse;
mod send;
#[cfg(test)]
mod tests;

use std::pin::pin;
use std::sync::{Arc, OnceLock};

use http::HeaderValue;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use crate::handle::Edge;
use crate::limits::{ACCEPT_REST, ALTERNATIVE_MAX_AGE_S, CONNECTIONS_MAX, DRAIN_MAX, REFUSALS_MAX};
use crate::log::Log;
use client::Client;
use course::{Course, Phase};
use lot::Lot;

pub(crate) use head::Fault;

/// Protocols that are offered over TCP, best first.
pub(crate) const ALPN: &[&[u8]] = &[b"h2", b"http/1.1"];

/// What all connections of one server have in common.
pub(crate) struct Shared {
    pub(crate) edge: Arc<Edge>,
    course: Course,
    log: Log,
    tls: Option<TlsAcceptor>,
    /// What clients of TLS are told of HTTP/3, once it is spoken.
    alternative: OnceLock<Alternative>,
    /// Where connections in the clear wait, once the server runs.
    lot: OnceLock<Arc<Lot>>,
}

/// An `Alt-Svc` (RFC 7838).
struct Alternative {
    value: HeaderValue,
    /// The same as HTTP/1.1 writes it.
    line: Vec<u8>,
}

impl Alternative {
    /// HTTP/3 at that port of the same host.
    fn at(port: u16) -> Alternative {
        let text = format!("h3=\":{port}\"; ma={ALTERNATIVE_MAX_AGE_S}");
        let line = format!("alt-svc: {text}\r\n").into_bytes();
        Alternative { value: HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("clear")), line }
    }
}

impl Shared {
    /// Of a server that takes no connections yet.
    pub(crate) fn new(edge: Arc<Edge>, log: Log, tls: Option<TlsAcceptor>) -> Shared {
        Shared { edge, course: Course::new(), log, tls, alternative: OnceLock::new(), lot: OnceLock::new() }
    }
}

impl Shared {
    fn enter(&self, phase: Phase) {
        self.course.enter(phase);
        if let Some(lot) = self.lot.get() {
            lot.wake();
        }
    }
}

/// Serves connections until `shutdown`, or until another process takes them after `leave`; then lets them end.
pub(crate) async fn run(
    shared: Arc<Shared>,
    listener: TcpListener,
    quic: Option<quinn::ServerConfig>,
    shutdown: CancellationToken,
    leave: CancellationToken,
) {
    let _stopper = shared.edge.stopper();
    let open = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    if let (Some(quic), Ok(at)) = (quic, listener.local_addr()) {
        let (shared, open) = (shared.clone(), open.clone());
        tokio::spawn(
            async move { shared.course.follow(pin!(h3::run(shared.clone(), quic, at, open))).await },
        );
    }
    match Lot::open(&shared) {
        Ok(lot) => drop(shared.lot.set(lot)),
        Err(error) => warn!(%error, "idle connections will take more memory than they need"),
    }
    let refused = Arc::new(Semaphore::new(REFUSALS_MAX));
    loop {
        let (socket, peer) = tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            () = leave.cancelled() => break,
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    warn!(%error, "cannot accept a connection");
                    sleep(ACCEPT_REST).await;
                    continue;
                }
            },
        };
        match open.clone().try_acquire_owned() {
            Ok(place) => {
                let client = Client::new(shared.clone(), peer, shared.tls.is_some());
                tokio::spawn(client.start(socket, place));
            }
            // A client of TLS could not read a plain refusal, and a handshake is what we cannot afford now.
            Err(_) if shared.tls.is_some() => {}
            Err(_) => {
                if let Ok(place) = refused.clone().try_acquire_owned() {
                    tokio::spawn(refuse::refuse(socket, place));
                }
            }
        }
    }
    drop(listener);
    end(&shared, &open, &shutdown).await;
}

/// Lets what is open end, the sooner if it is not only left but shut down.
async fn end(shared: &Shared, open: &Semaphore, shutdown: &CancellationToken) {
    let last = Instant::now() + DRAIN_MAX;
    shared.enter(if shutdown.is_cancelled() { Phase::Ending } else { Phase::Leaving });
    let all = open.acquire_many(CONNECTIONS_MAX as u32);
    let ended = timeout_at(last, async {
        tokio::select! {
            _ = all => return,
            () = shutdown.cancelled() => shared.enter(Phase::Ending),
        }
        let _ = open.acquire_many(CONNECTIONS_MAX as u32).await;
    });
    if ended.await.is_err() {
        debug!("connections were still open after the last wait; they are cut");
    }
    shared.enter(Phase::Over);
}
