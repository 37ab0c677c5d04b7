//! TLS in front of the workers: one task a connection takes it off, and what the worker gets is a pair of connected
//! sockets' other end, which it cannot tell from a client in the clear.
//!
//! So a socket without TLS stays as lean as it is, and a worker never does cryptography while thousands wait. The price is
//! paid by those with TLS: three files instead of one, and the task with its buffers. Whoever has many of them ends TLS on
//! machines of its own in front.

use std::io;
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tracing::{debug, warn};

use super::Shared;
use crate::limits::{
    ACCEPT_REST, HANDSHAKES_MAX, REFUSALS_MAX, SOCKET_SEND_BYTES, TLS_DOWN_BYTES, TLS_UP_BYTES,
};
use crate::meters::Why;

/// Files of one connection: the client's socket and both ends of the pair.
pub(super) const FILES: usize = 3;

/// Takes clients until the server ends, and returns when the last of them has gone.
pub(super) async fn run(shared: Arc<Shared>, listener: TcpListener, tls: TlsAcceptor) {
    let handshakes = Arc::new(Semaphore::new(HANDSHAKES_MAX));
    let mut clients = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            () = shared.ending.cancelled() => break,
            Some(_) = clients.join_next() => continue,
            // A handshake costs more than all else that a client asks for; while so many are under way, the kernel's
            // queue holds who comes next.
            accepted = async { (handshakes.clone().acquire_owned().await, listener.accept().await) } => accepted,
        };
        match accepted {
            // A refusal could not be read without the handshake that we cannot afford.
            (Ok(_), Ok(_)) if shared.held() >= shared.config.sockets_max.saturating_add(REFUSALS_MAX) => {
                shared.meters.refused(Why::Full);
            }
            (Ok(place), Ok((socket, _))) => {
                clients.spawn(client(shared.clone(), tls.clone(), socket, place));
            }
            (_, Err(error)) => {
                warn!(%error, "cannot accept a connection");
                sleep(ACCEPT_REST).await;
            }
            (Err(_), _) => break,
        }
    }
    drop(listener);
    while clients.join_next().await.is_some() {}
}

async fn client(
    shared: Arc<Shared>,
    tls: TlsAcceptor,
    socket: tokio::net::TcpStream,
    handshake: OwnedSemaphorePermit,
) {
    let timing = &shared.config.timing;
    let ended = async {
        let client = timeout(timing.head, tls.accept(socket)).await??;
        drop(handshake);
        let (ours, theirs) = pair()?;
        if !shared.seat(theirs, Vec::new()) {
            shared.meters.refused(Why::Full);
            return Ok(());
        }
        carry(client, tokio::net::UnixStream::from_std(ours)?, timing.stall, timing.close).await
    };
    let ended: io::Result<()> = ended.await;
    if let Err(error) = ended {
        debug!(%error, "a connection with TLS ended");
    }
}

/// Our end, and a worker's: the kernel reads, writes and waits for it as for any stream.
fn pair() -> io::Result<(UnixStream, TcpStream)> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    theirs.set_nonblocking(true)?;
    // As a socket in the clear has it, or a slow reader would have more.
    SockRef::from(&theirs).set_send_buffer_size(SOCKET_SEND_BYTES)?;
    Ok((ours, TcpStream::from(OwnedFd::from(theirs))))
}

/// Carries bytes both ways until the worker ends the connection; a client that leaves is the worker's business. A client
/// that takes nothing for `stall` is cut.
async fn carry<C: AsyncRead + AsyncWrite>(
    client: C,
    worker: tokio::net::UnixStream,
    stall: Duration,
    close: Duration,
) -> io::Result<()> {
    let (from_client, mut to_client) = tokio::io::split(client);
    let (from_worker, mut to_worker) = worker.into_split();
    let mut up = pin!(async {
        let _ = copy::<TLS_UP_BYTES>(from_client, &mut to_worker, stall).await;
        let _ = to_worker.shutdown().await;
    });
    let mut down = pin!(async {
        copy::<TLS_DOWN_BYTES>(from_worker, &mut to_client, stall).await?;
        timeout(close, to_client.shutdown()).await?
    });
    tokio::select! {
        ended = &mut down => ended,
        () = &mut up => down.await,
    }
}

async fn copy<const BYTES: usize>(
    mut from: impl AsyncRead + Unpin,
    to: &mut (impl AsyncWrite + Unpin),
    stall: Duration,
) -> io::Result<()> {
    let mut buffer = [0; BYTES];
    loop {
        let len = from.read(&mut buffer).await?;
        if len == 0 {
            return Ok(());
        }
        timeout(stall, async {
            to.write_all(&buffer[..len]).await?;
            to.flush().await
        })
        .await??;
    }
}
