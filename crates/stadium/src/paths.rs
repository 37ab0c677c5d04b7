//! The two paths away from the ground. Both carry the same bytes, cut into the same datagrams of seven TS
//! packets; neither ever holds up the other or the encoder.

use std::io;
use std::net::SocketAddr;
use std::process::Stdio;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::UdpSocket;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::Error;
use crate::program::SRT;
use contribution::supervise::{self, Ended};

/// Bytes of a transport packet (ISO/IEC 13818-1, 2.4.3.2).
pub(crate) const PACKET: usize = 188;

/// Seven packets: the most that fit a UDP datagram on Ethernet, and the usual payload of SRT.
pub(crate) const DATAGRAM: usize = 7 * PACKET;

/// How long an unfilled datagram waits for more. The encoder writes a frame in one go, so 3 ms without a byte
/// mean that the frame is complete.
const FLUSH_AFTER: Duration = Duration::from_millis(3);

/// Datagrams that a path may be behind, about 2 s at 5 Mbps (1.3 MB); a path that is further behind loses
/// the oldest.
const QUEUE: usize = 1_024;

/// Datagrams sent at one go. A receiver with the kernel's default socket buffer (208 KiB, charged at about
/// 2.3 KB a datagram) holds 90; a keyframe is up to 76.
const BURST: u32 = 24;

/// The pause after a [`BURST`]: a keyframe takes about 5 ms, and receivers get to read in between. The rate
/// stays above 100 Mbps.
const BURST_PAUSE: Duration = Duration::from_millis(1);

/// SRT's retransmission delay in milliseconds, this side's share of the negotiated maximum: one datagram's time,
/// so that the receiver, who knows the way, decides.
const SRT_LATENCY_MS: u32 = 20;

/// Where the sources put their transport stream.
#[derive(Clone)]
pub(crate) struct Bus(broadcast::Sender<Bytes>);

impl Bus {
    pub(crate) fn new() -> Bus {
        Bus(broadcast::Sender::new(QUEUE))
    }

    /// Cuts a stream of whole packets into datagrams, until it ends.
    pub(crate) async fn carry(&self, mut stream: impl AsyncRead + Unpin) -> io::Result<()> {
        let mut pending = BytesMut::with_capacity(64 * DATAGRAM);
        loop {
            pending.reserve(16 * DATAGRAM);
            let waits = pending.len() < PACKET;
            let read = stream.read_buf(&mut pending);
            let read = if waits {
                Some(read.await?)
            } else {
                tokio::time::timeout(FLUSH_AFTER, read).await.ok().transpose()?
            };
            while pending.len() >= DATAGRAM {
                self.send(pending.split_to(DATAGRAM));
            }
            match read {
                Some(0) => return Ok(()),
                Some(_) => {}
                None => self.send(pending.split_to(pending.len() / PACKET * PACKET)),
            }
        }
    }

    fn send(&self, datagram: BytesMut) {
        // Fails only when both paths are closed, which is shutdown.
        let _ = self.0.send(datagram.freeze());
    }

    pub(crate) fn receiver(&self) -> Receiver {
        Receiver(self.0.subscribe())
    }
}

/// One path's end of the bus.
pub(crate) struct Receiver(broadcast::Receiver<Bytes>);

impl Receiver {
    /// The next datagram; `None` at the end of the feed.
    async fn next(&mut self, path: &str) -> Option<Bytes> {
        loop {
            match self.0.recv().await {
                Ok(datagram) => return Some(datagram),
                Err(RecvError::Lagged(lost)) => tracing::warn!(path, lost, "behind: datagrams left out"),
                Err(RecvError::Closed) => return None,
            }
        }
    }
}

/// Path B, ready to send.
pub(crate) struct Udp {
    socket: UdpSocket,
    to: SocketAddr,
}

impl Udp {
    pub(crate) async fn open(address: &str) -> Result<Udp, Error> {
        let failed = |source| Error::Udp { address: address.to_owned(), source };
        let to = tokio::net::lookup_host(address).await.map_err(failed)?.next();
        let to = to.ok_or_else(|| failed(io::Error::other("the name has no address")))?;
        let any: SocketAddr = if to.is_ipv4() { ([0; 4], 0).into() } else { ([0u16; 8], 0).into() };
        // Not connected: a receiver that is not there yet must not turn into send errors.
        let socket = UdpSocket::bind(any).await.map_err(failed)?;
        Ok(Udp { socket, to })
    }

    /// Sends until the feed ends.
    pub(crate) async fn run(self, mut from: Receiver) {
        let mut burst = Burst { until: Instant::now(), sent: 0 };
        while let Some(datagram) = from.next("b").await {
            burst.wait().await;
            if let Err(error) = self.socket.send_to(&datagram, self.to).await {
                tracing::debug!(%error, "path b: datagram not sent");
            }
        }
    }
}

/// Counts datagrams in windows of [`BURST_PAUSE`].
struct Burst {
    until: Instant,
    sent: u32,
}

impl Burst {
    async fn wait(&mut self) {
        if self.sent == BURST {
            tokio::time::sleep_until(self.until).await;
        }
        if Instant::now() >= self.until {
            *self = Burst { until: Instant::now() + BURST_PAUSE, sent: 0 };
        }
        self.sent += 1;
    }
}

/// Path A: an SRT listener with room for one caller at a time, until shutdown. Without a caller it discards.
pub(crate) async fn srt(port: u16, bus: &Bus, shutdown: &CancellationToken) {
    let url = format!("srt://:{port}?mode=listener&latency={SRT_LATENCY_MS}");
    supervise::keep_running("path-a", shutdown, || async {
        let mut child = supervise::spawn(
            "path-a",
            SRT.command()
                .args(["-loglevel:error", "-chunk", &DATAGRAM.to_string(), "file://con", &url])
                .stdin(Stdio::piped())
                .stdout(Stdio::null()),
        )?;
        let mut stdin = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let mut from = bus.receiver();
        let feed = async {
            while let Some(datagram) = from.next("a").await {
                stdin.write_all(&datagram).await?;
            }
            io::Result::Ok(())
        };
        tokio::select! {
            status = child.wait() => Ok(Ended::Again(status?.to_string())),
            fed = feed => fed.map(|()| Ended::Done),
        }
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_frame_leaves_at_once_in_whole_packets() {
        let bus = Bus::new();
        let mut from = bus.receiver();
        let (mut encoder, stream) = tokio::io::duplex(1 << 20);
        let carrying = tokio::spawn(async move { bus.carry(stream).await });
        encoder.write_all(&[0x47; 9 * PACKET + 100]).await.unwrap();
        assert_eq!(from.next("test").await.unwrap().len(), DATAGRAM);
        assert_eq!(from.next("test").await.unwrap().len(), 2 * PACKET);
        encoder.write_all(&[0x47; 88]).await.unwrap();
        assert_eq!(from.next("test").await.unwrap().len(), PACKET);
        drop(encoder);
        carrying.await.unwrap().unwrap();
        assert!(from.next("test").await.is_none());
    }

    #[tokio::test]
    async fn a_slow_path_loses_the_oldest() {
        let bus = Bus::new();
        let mut from = bus.receiver();
        for n in 0..QUEUE + 10 {
            bus.send(BytesMut::from(&n.to_be_bytes()[..]));
        }
        assert_eq!(from.next("test").await.unwrap()[..], 10usize.to_be_bytes());
    }

    #[tokio::test(start_paused = true)]
    async fn bursts_are_spread() {
        let start = Instant::now();
        let mut burst = Burst { until: start, sent: 0 };
        for _ in 0..3 * BURST {
            burst.wait().await;
        }
        assert!(start.elapsed() >= 2 * BURST_PAUSE);
    }
}
