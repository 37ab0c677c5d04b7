//! A connection, from either side: frames in, frames out, and whether the other side is there.

use std::io;
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::Limits;
use crate::limits::{INPUT_BYTES, OUTPUT_BYTES_MAX};
use crate::wire::{Frame, Malformed, VERSION};

/// Why a connection ended.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Ended {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("the other side closed it")]
    Closed,
    #[error("{0}")]
    Malformed(#[from] Malformed),
    #[error("nothing was heard for too long")]
    Silent,
    #[error("the other side takes no bytes")]
    Stalled,
    #[error("the other side speaks version {0}, this one {VERSION}")]
    Version(u16),
    #[error("{0}")]
    Protocol(&'static str),
}

impl Ended {
    /// For a meter.
    pub(crate) fn reason(&self) -> &'static str {
        match self {
            Ended::Io(_) => "io",
            Ended::Closed => "closed",
            Ended::Malformed(_) => "malformed",
            Ended::Silent => "silent",
            Ended::Stalled => "stalled",
            Ended::Version(_) => "version",
            Ended::Protocol(_) => "protocol",
        }
    }
}

/// Two directions of bytes: a TCP socket, or whatever else carries them in order.
pub struct Connection {
    read: Box<dyn AsyncRead + Send + Unpin>,
    write: Box<dyn AsyncWrite + Send + Unpin>,
}

impl Connection {
    /// Of two halves.
    pub fn new(
        read: impl AsyncRead + Send + Unpin + 'static,
        write: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Connection {
        Connection { read: Box::new(read), write: Box::new(write) }
    }

    /// Over TCP.
    ///
    /// # Errors
    /// The socket is broken already.
    pub fn tcp(socket: TcpStream) -> io::Result<Connection> {
        // One ball must not wait for the acknowledgement of the one before it.
        socket.set_nodelay(true)?;
        let (read, write) = socket.into_split();
        Ok(Connection::new(read, write))
    }
}

/// Both directions of one connection, driven by one task: bytes go out while others come in, so two sides that both have
/// much to say cannot wait for each other.
pub(crate) struct Duplex {
    read: Box<dyn AsyncRead + Send + Unpin>,
    write: Box<dyn AsyncWrite + Send + Unpin>,
    input: BytesMut,
    output: BytesMut,
    heard_at: Instant,
    said_at: Instant,
    drained_at: Instant,
    pulsed_at: Instant,
}

impl Duplex {
    /// Greets.
    pub(crate) fn new(connection: Connection, name: &str) -> Duplex {
        let Connection { read, write } = connection;
        let now = Instant::now();
        let mut duplex = Duplex {
            read,
            write,
            input: BytesMut::new(),
            output: BytesMut::new(),
            heard_at: now,
            said_at: now,
            drained_at: now,
            pulsed_at: now,
        };
        duplex.put(&Frame::Hello { version: VERSION, name: name.to_owned() });
        duplex
    }

    /// Returns when bytes have come or gone. Nothing is lost if it is dropped before.
    pub(crate) async fn turn(&mut self) -> Result<(), Ended> {
        if self.input.capacity() - self.input.len() < INPUT_BYTES / 4 {
            self.input.reserve(INPUT_BYTES);
        }
        tokio::select! {
            read = self.read.read_buf(&mut self.input) => match read? {
                0 => return Err(Ended::Closed),
                _ => self.heard_at = Instant::now(),
            },
            written = self.write.write_buf(&mut self.output), if !self.output.is_empty() => match written? {
                0 => return Err(Ended::Closed),
                _ => self.drained_at = Instant::now(),
            },
        }
        Ok(())
    }

    /// The next frame that is whole; beats are swallowed.
    pub(crate) fn next(&mut self) -> Result<Option<Frame>, Malformed> {
        loop {
            match Frame::decode(&mut self.input)? {
                Some(Frame::Beat) => {}
                frame => return Ok(frame),
            }
        }
    }

    pub(crate) fn put(&mut self, frame: &Frame) {
        frame.encode(self.output());
    }

    /// Where frames are written.
    pub(crate) fn output(&mut self) -> &mut BytesMut {
        let now = Instant::now();
        if self.output.is_empty() {
            self.drained_at = now;
        }
        self.said_at = now;
        &mut self.output
    }

    /// Whether more may be written before some of it has gone.
    pub(crate) fn has_room(&self) -> bool {
        self.output.len() < OUTPUT_BYTES_MAX
    }

    /// To be called every [`pulse`]: says that we are there, and notices that the other side is not. Time in which this
    /// process did not run is nobody's silence: what came meanwhile has not been read yet. Returned is how long that was.
    pub(crate) fn pulse(&mut self, limits: &Limits) -> Result<Duration, Ended> {
        let late = self.pulsed_at.elapsed().saturating_sub(pulse_every(limits));
        self.pulsed_at = Instant::now();
        self.heard_at += late;
        self.drained_at += late;
        if self.heard_at.elapsed() > limits.silence_max {
            return Err(Ended::Silent);
        }
        if !self.output.is_empty() && self.drained_at.elapsed() > limits.drain_max {
            return Err(Ended::Stalled);
        }
        if self.said_at.elapsed() >= limits.beat_every && self.output.is_empty() {
            self.put(&Frame::Beat);
        }
        Ok(late)
    }
}

/// Half of the time between beats, so that none is late by more.
fn pulse_every(limits: &Limits) -> Duration {
    (limits.beat_every / 2).max(Duration::from_millis(1))
}

/// Waits for something, at most so long; none: it took longer. Time in which this process did not run counts for little
/// here too: a greeting is several turns of two sides, and where each turn comes late, as on a machine that has no time for
/// us, a deadline on the wall would cut every connection just before it is made, for ever.
pub(crate) async fn within<T>(max: Duration, work: impl Future<Output = T>) -> Option<T> {
    /// So many looks at the clock, however late they come.
    const LOOKS: u32 = 20;
    let mut work = std::pin::pin!(work);
    let mut looks = tokio::time::interval((max / LOOKS).max(Duration::from_millis(1)));
    looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    // The first comes at once.
    for _ in 0..=LOOKS {
        tokio::select! {
            biased;
            done = &mut work => return Some(done),
            _ = looks.tick() => {}
        }
    }
    None
}

/// When a connection is looked at.
pub(crate) fn pulse(limits: &Limits) -> tokio::time::Interval {
    let mut interval = tokio::time::interval(pulse_every(limits));
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    interval
}

/// Whether that is a greeting that this side can work with: the taker's name.
pub(crate) fn greeted(frame: Frame) -> Result<String, Ended> {
    match frame {
        Frame::Hello { version: VERSION, name } => Ok(name),
        Frame::Hello { version, .. } => Err(Ended::Version(version)),
        _ => Err(Ended::Protocol("it did not greet")),
    }
}
