//! The subscribers, as a process of their own: one thread, one `epoll`. It connects, says what the product wants to
//! hear, and from then on only reads and counts. What to do comes in lines over a connection to the bench:
//!
//! | line | answer, one line of JSON |
//! |---|---|
//! | `open N` | [`Opened`], when N more sockets are subscribed or have failed |
//! | `tally` | [`tally::Counts`] since the last one |
//!
//! It ends when that connection does.

pub(crate) mod frames;
mod socket;
pub(crate) mod speech;
pub(crate) mod tally;

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::time::{Duration, Instant};

use anyhow::Context;
use mio::{Events, Interest, Poll, Token, Waker};
use serde::{Deserialize, Serialize};

use socket::Socket;
pub(crate) use socket::now;
use speech::Speech;
use tally::Tally;

/// Handshakes at once: below every listener's backlog (nginx: 511).
const OPENING_MAX: usize = 256;
/// Since the last one that succeeded: then the rest fails.
const OPENING_TIME_MAX: Duration = Duration::from_secs(20);
/// Sockets on one source address: far below its ephemeral ports.
const ON_ADDRESS: usize = 10_000;
/// For one read. A socket has one message, seldom more.
const SCRATCH: usize = 64 << 10;
const EVENTS: usize = 1_024;
/// The bench waits for each answer.
const LINES_WAITING: usize = 16;
const WAKER: Token = Token(usize::MAX);

/// What such a process is told at its start.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Config {
    /// The bench.
    #[arg(long)]
    control: SocketAddr,
    /// The server.
    #[arg(long)]
    target: SocketAddr,
    /// [`Speech`] as JSON.
    #[arg(long)]
    speech: String,
    /// Which process this is: each has loopback addresses of its own, 127.1.N.1 and so on.
    #[arg(long)]
    nth: u8,
    /// Channels in all, `m0` and so on; the n-th socket begins with the n-th of them.
    #[arg(long, default_value_t = 1)]
    channels: usize,
    /// Channels of each socket.
    #[arg(long, default_value_t = 1)]
    each: usize,
}

/// What came of `open`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Opened {
    /// Subscribed in all.
    pub(crate) live: usize,
    /// Failed since the start.
    pub(crate) failed: usize,
    /// Why the first one did.
    pub(crate) why: Option<String>,
}

struct Audience {
    config: Config,
    speech: Speech,
    control: TcpStream,
    /// Lines from the bench; at their end it is gone.
    said: Receiver<String>,
    poll: Poll,
    sockets: Vec<Option<Socket>>,
    tally: Tally,
    scratch: Vec<u8>,
    /// Still to be begun, and begun.
    wanted: usize,
    opening: usize,
    opened: Opened,
    last: Instant,
}

/// Subscribes and counts until the bench is gone.
pub(crate) fn run(config: Config) -> anyhow::Result<()> {
    Audience::new(config)?.serve()
}

impl Audience {
    fn new(config: Config) -> anyhow::Result<Audience> {
        let speech: Speech = serde_json::from_str(&config.speech).context("--speech")?;
        let control = TcpStream::connect(config.control).context("the bench")?;
        let poll = Poll::new()?;
        let waker = Waker::new(poll.registry(), WAKER)?;
        let lines = BufReader::new(control.try_clone()?).lines();
        let (say, said) = mpsc::sync_channel(LINES_WAITING);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if say.send(line).is_err() || waker.wake().is_err() {
                    return;
                }
            }
            drop(say);
            let _ = waker.wake();
        });
        Ok(Audience {
            tally: Tally::new(speech.mark.clone()),
            config,
            speech,
            control,
            said,
            poll,
            sockets: Vec::new(),
            scratch: vec![0; SCRATCH],
            wanted: 0,
            opening: 0,
            opened: Opened::default(),
            last: Instant::now(),
        })
    }

    fn serve(&mut self) -> anyhow::Result<()> {
        let mut events = Events::with_capacity(EVENTS);
        let mut asked = false;
        loop {
            // While something is being opened somebody must look at the time.
            let patience = (self.opening > 0).then_some(Duration::from_secs(1));
            match self.poll.poll(&mut events, patience) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                polled => polled?,
            }
            for event in events.iter().filter(|e| e.token() != WAKER) {
                self.turn(event.token().0);
            }
            loop {
                match self.said.try_recv() {
                    Ok(line) => match line.split_once(' ') {
                        Some(("open", n)) => {
                            (self.wanted, asked) = (n.parse().context(line.clone())?, true);
                            self.last = Instant::now();
                        }
                        _ => {
                            let counts = self.tally.say();
                            writeln!(self.control, "{}", serde_json::to_string(&counts)?)?;
                        }
                    },
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => return Ok(()),
                }
            }
            self.open();
            if asked && self.wanted + self.opening == 0 {
                asked = false;
                writeln!(self.control, "{}", serde_json::to_string(&self.opened)?)?;
            }
        }
    }

    /// Opens as many as may be opened now.
    fn open(&mut self) {
        if self.opening > 0 && self.last.elapsed() > OPENING_TIME_MAX {
            for n in 0..self.sockets.len() {
                if self.sockets[n].as_ref().is_some_and(|s| !s.is_live()) {
                    self.fail(n, "no answer to the handshake or to a subscription".to_owned());
                }
            }
            self.opened.failed += std::mem::take(&mut self.wanted);
        }
        while self.wanted > 0 && self.opening < OPENING_MAX {
            self.wanted -= 1;
            let n = self.sockets.len();
            let from = Ipv4Addr::new(127, 1, self.config.nth, (1 + n / ON_ADDRESS).min(254) as u8);
            let channels = self.config.channels;
            let names = (0..self.config.each)
                .map(|k| format!("m{}", (n * self.config.each + k) % channels))
                .collect();
            self.opening += 1;
            self.sockets.push(None);
            let opened = Socket::open(from, self.config.target, names).and_then(|mut socket| {
                let both = Interest::READABLE | Interest::WRITABLE;
                self.poll.registry().register(&mut socket.stream, Token(n), both)?;
                Ok(socket)
            });
            match opened {
                Ok(socket) => self.sockets[n] = Some(socket),
                Err(error) => self.fail(n, error.to_string()),
            }
        }
    }

    fn turn(&mut self, n: usize) {
        let Some(Some(socket)) = self.sockets.get_mut(n) else { return };
        let before = socket.is_live();
        match socket.turn(self.config.target, &self.speech, &mut self.tally, &mut self.scratch) {
            Ok(()) if before || !socket.is_live() => {}
            Ok(()) => {
                self.opening -= 1;
                self.opened.live += 1;
                self.last = Instant::now();
            }
            Err(error) if before => {
                self.sockets[n] = None;
                self.opened.live -= 1;
                self.tally.lost(error.to_string());
            }
            Err(error) => self.fail(n, error.to_string()),
        }
    }

    /// One that was being opened will not be.
    fn fail(&mut self, n: usize, why: String) {
        self.sockets[n] = None;
        self.opening -= 1;
        self.opened.failed += 1;
        self.opened.why.get_or_insert(why);
    }
}

#[cfg(test)]
mod tests;
