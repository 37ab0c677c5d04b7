//! One subscriber.

use std::io::{Error, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{SystemTime, UNIX_EPOCH};

use mio::net::TcpStream;

use super::frames::{self, Frame};
use super::speech::{ACCEPT, Speech};
use super::tally::Tally;
use crate::wire;

/// A head of an answer, or a frame that is not whole yet.
const CARRY_MAX: usize = 64 << 10;

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Connecting,
    Upgrading,
    /// The n-th step has been begun.
    Greeting(usize),
    Live,
}

/// A subscriber.
pub(crate) struct Socket {
    pub(crate) stream: TcpStream,
    stage: Stage,
    channels: Vec<String>,
    /// What has come of something that is not whole yet.
    carry: Vec<u8>,
}

impl Socket {
    /// Begins to connect from a loopback address of ours.
    pub(crate) fn open(from: Ipv4Addr, to: SocketAddr, channels: Vec<String>) -> Result<Socket, Error> {
        let stream = wire::open(from, to)?;
        Ok(Socket { stream, stage: Stage::Connecting, channels, carry: Vec::new() })
    }

    pub(crate) fn is_live(&self) -> bool {
        self.stage == Stage::Live
    }

    /// Does what an event allows; an error when the socket is gone.
    pub(crate) fn turn(
        &mut self,
        to: SocketAddr,
        speech: &Speech,
        tally: &mut Tally,
        scratch: &mut [u8],
    ) -> Result<(), Error> {
        if self.stage == Stage::Connecting {
            if let Some(error) = self.stream.take_error()? {
                return Err(error);
            }
            match self.stream.peer_addr() {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::NotConnected => return Ok(()),
                Err(error) => return Err(error),
            }
            let channel = self.channels.first().map_or("", String::as_str);
            let head = speech.handshake(&to.to_string(), channel);
            self.stream.write_all(head.as_bytes())?;
            self.stage = Stage::Upgrading;
        }
        loop {
            let n = match self.stream.read(scratch) {
                Ok(0) => return Err(Error::new(ErrorKind::UnexpectedEof, "closed without a word")),
                Ok(n) => n,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            self.came(&scratch[..n], speech, tally)?;
            // A read that left room has emptied the socket (epoll(7)).
            if n < scratch.len() {
                return Ok(());
            }
        }
    }

    fn came(&mut self, bytes: &[u8], speech: &Speech, tally: &mut Tally) -> Result<(), Error> {
        if self.carry.is_empty() {
            let taken = self.take(bytes, speech, tally)?;
            self.carry.extend(&bytes[taken..]);
        } else {
            let mut carry = std::mem::take(&mut self.carry);
            carry.extend(bytes);
            let taken = self.take(&carry, speech, tally)?;
            // Nothing is kept for a socket that waits for nothing.
            self.carry = carry[taken..].to_vec();
        }
        match self.carry.len() {
            0..=CARRY_MAX => Ok(()),
            _ => Err(Error::new(ErrorKind::InvalidData, "a head or a frame without an end")),
        }
    }

    /// Takes what is whole; answers how many bytes that was.
    fn take(&mut self, bytes: &[u8], speech: &Speech, tally: &mut Tally) -> Result<usize, Error> {
        let mut taken = 0;
        if self.stage == Stage::Upgrading {
            let Some(end) = bytes.windows(4).position(|w| w == b"\r\n\r\n") else { return Ok(0) };
            let head = String::from_utf8_lossy(&bytes[..end]);
            let accepted = head.lines().any(|line| {
                line.split_once(':').is_some_and(|(name, value)| {
                    name.eq_ignore_ascii_case("sec-websocket-accept") && value.trim() == ACCEPT
                })
            });
            if !head.starts_with("HTTP/1.1 101") || !accepted {
                let status = head.lines().next().unwrap_or_default();
                return Err(Error::other(format!("the handshake was answered with {status}")));
            }
            taken = end + 4;
            self.go_on(0, speech)?;
        }
        let mut now_us = None;
        while let Some(Frame { opcode, payload, length }) = frames::first(&bytes[taken..])? {
            taken += length;
            match opcode {
                frames::CLOSE => {
                    let code = payload.get(..2).map_or(0, |c| u16::from_be_bytes([c[0], c[1]]));
                    let why = String::from_utf8_lossy(payload.get(2..).unwrap_or_default()).into_owned();
                    return Err(Error::other(format!("closed with code {code} {why}")));
                }
                frames::PING => {
                    self.stream.write_all(&frames::masked(frames::PONG, payload))?;
                }
                frames::PONG => {}
                _ => match self.stage {
                    Stage::Greeting(n) => self.greeted(n, payload, speech)?,
                    _ => tally.take(payload, *now_us.get_or_insert_with(now)),
                },
            }
        }
        Ok(taken)
    }

    /// Whether the step's end was in what came.
    fn greeted(&mut self, n: usize, payload: &[u8], speech: &Speech) -> Result<(), Error> {
        let until = speech.step(n, &self.channels).unwrap_or_default().until;
        if payload.windows(until.len()).any(|w| w == until.as_bytes()) {
            self.go_on(n + 1, speech)?;
        }
        Ok(())
    }

    /// Begins the n-th step.
    fn go_on(&mut self, mut n: usize, speech: &Speech) -> Result<(), Error> {
        while let Some(step) = speech.step(n, &self.channels) {
            if !step.send.is_empty() {
                self.stream.write_all(&frames::masked(frames::TEXT, step.send.as_bytes()))?;
            }
            if !step.until.is_empty() {
                self.stage = Stage::Greeting(n);
                return Ok(());
            }
            n += 1;
        }
        self.stage = Stage::Live;
        Ok(())
    }
}

/// UTC in microseconds.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |at| at.as_micros() as u64)
}
