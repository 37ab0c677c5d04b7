//! Any feed, as transport stream bytes.
//!
//! What is TS already comes through untouched, PIDs, PTS and all: UDP by a socket of ours, SRT by
//! `srt-live-transmit`. Anything else that ffmpeg reads is copied into TS by it, without re-encoding.

use std::io;
use std::net::SocketAddr;
use std::process::Stdio;

use bytes::{Bytes, BytesMut};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::io::AsyncReadExt;
use tokio::net::UdpSocket;
use tokio::process::Command;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::Error;
use crate::supervise::{self, Ended};

/// Receive buffer asked of the kernel for UDP: a second of a 16 Mbit/s feed. Without privilege the kernel
/// grants less (`net.core.rmem_max`).
pub const UDP_BUFFER: usize = 2 << 20;
/// One read from a child's pipe, and the most that queued datagrams are joined to.
pub const CHUNK_MAX: usize = 64 << 10;
/// Chunks that may wait for the pipeline; it takes them within microseconds, so a full queue means that it
/// hangs, and then the feed must not pile up. 512 chunks are at least 0.7 MB.
pub const QUEUE: usize = 512;
/// SRT's receive buffer for retransmission in milliseconds, unless the URL says another: libsrt's default, three
/// round trips of 40 ms.
pub const SRT_LATENCY_MS: u32 = 120;

/// Where a feed comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// TS in datagrams, to this address.
    Udp(SocketAddr),
    /// TS over SRT; the URL with its latency.
    Srt(String),
    /// Whatever ffmpeg reads.
    Ffmpeg {
        /// As given.
        url: String,
        /// A file: read at its own pace.
        file: bool,
        /// Start again at the end of the file.
        again: bool,
    },
}

impl Source {
    /// Reads a URL or a path. `again`: loop a file.
    pub fn parse(url: &str, again: bool) -> Result<Source, Error> {
        let bad = |reason: &str| Error::Input { url: url.to_owned(), reason: reason.to_owned() };
        let (scheme, rest) = url.split_once("://").unwrap_or(("file", url));
        match scheme {
            "udp" => {
                let address = rest.trim_start_matches('@').split(['?', '/']).next().unwrap_or_default();
                let at = address.parse().map_err(|_| bad("write it like udp://127.0.0.1:9000"))?;
                Ok(Source::Udp(at))
            }
            "srt" if rest.contains("latency=") => Ok(Source::Srt(url.to_owned())),
            "srt" if rest.is_empty() => Err(bad("write it like srt://host:9000")),
            "srt" => {
                let join = if rest.contains('?') { '&' } else { '?' };
                Ok(Source::Srt(format!("{url}{join}latency={SRT_LATENCY_MS}")))
            }
            "file" if !std::path::Path::new(rest).is_file() => {
                Err(bad("there is no such file; give a path, or a URL such as srt://host:9000"))
            }
            "file" => Ok(Source::Ffmpeg { url: rest.to_owned(), file: true, again }),
            _ => Ok(Source::Ffmpeg { url: url.to_owned(), file: false, again: false }),
        }
    }

    /// The child that receives it, unless it is UDP.
    fn command(&self) -> Option<(&'static str, Command)> {
        match self {
            Source::Udp(_) => None,
            Source::Srt(url) => {
                let mut command = supervise::command("srt-live-transmit");
                command.args(["-q", "-loglevel:error", "-buffering:1", "-chunk:1316", url, "file://con"]);
                Some(("srt-live-transmit", command))
            }
            Source::Ffmpeg { url, file, again } => {
                let mut command = supervise::command("ffmpeg");
                command.args([
                    "-hide_banner",
                    "-nostdin",
                    "-loglevel",
                    "error",
                    "-fflags",
                    "+nobuffer+genpts",
                ]);
                if *file {
                    command.arg("-re");
                }
                if *again {
                    command.args(["-stream_loop", "-1"]);
                }
                command.args(["-i", url, "-map", "0:v:0", "-map", "0:a?", "-map", "0:d?", "-c", "copy"]);
                command.args(["-copy_unknown", "-muxdelay", "0", "-muxpreload", "0", "-flush_packets", "1"]);
                command.args(["-pes_payload_size", "0", "-f", "mpegts", "pipe:1"]);
                Some(("ffmpeg", command))
            }
        }
    }
}

/// Receives until `shutdown`, or until a file that is not looped ends; then the channel closes. A source that
/// fails is tried again, with back-off.
pub fn receive(source: Source, shutdown: CancellationToken) -> Result<mpsc::Receiver<Bytes>, Error> {
    let (sender, receiver) = mpsc::channel(QUEUE);
    if let Source::Udp(at) = source {
        let socket = bind(at).map_err(|source| Error::Udp { at, source })?;
        tokio::spawn(async move {
            tokio::select! {
                () = shutdown.cancelled() => {}
                () = datagrams(socket, sender) => {}
            }
        });
    } else {
        tokio::spawn(async move {
            let once = matches!(source, Source::Ffmpeg { file: true, .. });
            supervise::keep_running("receiver", &shutdown, || child(&source, sender.clone(), once)).await;
        });
    }
    Ok(receiver)
}

async fn child(source: &Source, sender: mpsc::Sender<Bytes>, once: bool) -> io::Result<Ended> {
    let Some((name, mut command)) = source.command() else { return Ok(Ended::Done) };
    // srt-live-transmit keeps running on an open stdin, and ends when we do.
    let mut child = supervise::spawn(name, command.stdin(Stdio::piped()).stdout(Stdio::piped()))
        .map_err(|e| io::Error::new(e.kind(), format!("cannot start {name}: {e}")))?;
    let Some(mut stdout) = child.stdout.take() else { return Ok(Ended::Again("no output".into())) };
    let mut buffer = BytesMut::with_capacity(CHUNK_MAX);
    while stdout.read_buf(&mut buffer).await? > 0 {
        if sender.send(buffer.split().freeze()).await.is_err() {
            return Ok(Ended::Done);
        }
        buffer.reserve(CHUNK_MAX / 4);
    }
    let status = child.wait().await?;
    // A file that was read to its end is over; one that could not be read says so in the log, and is over too.
    if once { Ok(Ended::Done) } else { Ok(Ended::Again(status.to_string())) }
}

fn bind(at: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(at), Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_nonblocking(true)?;
    // The kernel caps it silently; losses then show in the demuxer's continuity counters.
    socket.set_recv_buffer_size(UDP_BUFFER)?;
    socket.bind(&at.into())?;
    UdpSocket::from_std(socket.into())
}

/// Joins the datagrams that are there into one chunk, so that a burst costs one wake-up.
async fn datagrams(socket: UdpSocket, sender: mpsc::Sender<Bytes>) {
    let mut buffer = BytesMut::with_capacity(CHUNK_MAX);
    loop {
        if socket.readable().await.is_err() {
            return;
        }
        while buffer.len() < CHUNK_MAX {
            buffer.reserve(2_048);
            if socket.try_recv_buf(&mut buffer).is_err() {
                break;
            }
        }
        if !buffer.is_empty() && sender.send(buffer.split().freeze()).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_told_apart() {
        assert_eq!(
            Source::parse("udp://127.0.0.1:9000", false).unwrap(),
            Source::Udp("127.0.0.1:9000".parse().unwrap())
        );
        assert_eq!(
            Source::parse("srt://h:9?mode=caller", false).unwrap(),
            Source::Srt("srt://h:9?mode=caller&latency=120".into())
        );
        assert!(matches!(
            Source::parse("rtmp://h/live", true).unwrap(),
            Source::Ffmpeg { file: false, again: false, .. }
        ));
        for bad in ["udp://nowhere", "/no/such/file.ts", "srt://", ""] {
            let error = Source::parse(bad, false).unwrap_err().to_string();
            assert!(error.contains("cannot receive"), "{error}");
        }
    }

    #[tokio::test]
    async fn datagrams_arrive_whole_and_in_order() {
        let socket = bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let at = socket.local_addr().unwrap();
        let (chunks, mut feed) = mpsc::channel(QUEUE);
        let receiving = tokio::spawn(datagrams(socket, chunks));
        let sender = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let mut expected = Vec::new();
        for n in 0..40u8 {
            expected.extend_from_slice(&[n; 1_316]);
            sender.send_to(&[n; 1_316], at).await.unwrap();
        }
        let mut got = Vec::new();
        while got.len() < expected.len() {
            got.extend_from_slice(&feed.recv().await.unwrap());
        }
        assert!(got == expected);
        receiving.abort();
        assert!(feed.recv().await.is_none());
    }
}
