//! One connection of a client: a request, and its answer, whose body is not looked at.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr};

use mio::net::TcpStream;

use crate::wire;

/// The longest head of an answer: security headers are some 600 bytes.
const HEAD_MAX: usize = 16 << 10;

/// An answer that has come whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// `Retry-After`, in seconds.
    pub(crate) retry_s: Option<u32>,
}

/// A connection that is kept.
pub(crate) struct Line {
    pub(crate) stream: TcpStream,
    connected: bool,
    /// What has not been written yet.
    out: Vec<u8>,
    /// Of a head that is not whole.
    seen: Vec<u8>,
    /// A head that is, and what is missing of its body.
    begun: Option<(Answer, u64)>,
}

impl Line {
    /// Begins to connect.
    pub(crate) fn open(from: Ipv4Addr, to: SocketAddr) -> io::Result<Line> {
        let stream = wire::open(from, to)?;
        Ok(Line { stream, connected: false, out: Vec::new(), seen: Vec::new(), begun: None })
    }

    /// Asks, now or when it is connected.
    pub(crate) fn ask(&mut self, request: &[u8]) -> io::Result<()> {
        self.out.extend_from_slice(request);
        if self.connected { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> io::Result<()> {
        while !self.out.is_empty() {
            match self.stream.write(&self.out) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(n) => drop(self.out.drain(..n)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Does what an event allows; an error when the connection is gone.
    pub(crate) fn turn(&mut self, scratch: &mut [u8]) -> io::Result<Option<Answer>> {
        if !self.connected {
            if let Some(error) = self.stream.take_error()? {
                return Err(error);
            }
            match self.stream.peer_addr() {
                Ok(_) => self.connected = true,
                Err(error) if error.kind() == ErrorKind::NotConnected => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        self.write()?;
        loop {
            let n = match self.stream.read(scratch) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(n) => n,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) => return Err(error),
            };
            if let Some(answer) = self.came(&scratch[..n])? {
                return Ok(Some(answer));
            }
            // A read that left room has emptied the socket (epoll(7)).
            if n < scratch.len() {
                return Ok(None);
            }
        }
    }

    /// Takes bytes; the answer that they complete. One request is under way, so nothing comes after it.
    fn came(&mut self, bytes: &[u8]) -> io::Result<Option<Answer>> {
        let mut body = bytes.len() as u64;
        if self.begun.is_none() {
            self.seen.extend_from_slice(bytes);
            let Some(end) = self.seen.windows(4).position(|w| w == b"\r\n\r\n") else {
                return if self.seen.len() > HEAD_MAX {
                    Err(ErrorKind::InvalidData.into())
                } else {
                    Ok(None)
                };
            };
            let (answer, length) = head(&self.seen[..end]).ok_or(ErrorKind::InvalidData)?;
            body = (self.seen.len() - end - 4) as u64;
            self.begun = Some((answer, length));
            self.seen.clear();
        }
        let Some((answer, missing)) = &mut self.begun else { return Ok(None) };
        *missing = missing.checked_sub(body).ok_or(ErrorKind::InvalidData)?;
        let whole = (*missing == 0).then_some(*answer);
        if whole.is_some() {
            self.begun = None;
        }
        Ok(whole)
    }
}

/// Status, when to come again, and the length of the body; none of an answer whose length is not said.
fn head(head: &[u8]) -> Option<(Answer, u64)> {
    let head = std::str::from_utf8(head).ok()?;
    let mut lines = head.split("\r\n");
    let status: u16 = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let (mut length, mut retry_s) = (None, None);
    for line in lines {
        let Some((name, value)) = line.split_once(':') else { continue };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok();
        } else if name.eq_ignore_ascii_case("retry-after") {
            retry_s = value.trim().parse().ok();
        }
    }
    let length = if status == 204 { Some(0) } else { length };
    Some((Answer { status, retry_s }, length?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn an_answer_is_read_however_it_is_cut() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let text = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 7\r\ncontent-length: 4\r\n\r\nbusy";
        for cut in 0..text.len() {
            let mut line = Line::open(Ipv4Addr::LOCALHOST, listener.local_addr().unwrap()).unwrap();
            assert_eq!(line.came(&text[..cut]).unwrap(), None, "{cut}");
            let whole = line.came(&text[cut..]).unwrap();
            assert_eq!(whole, Some(Answer { status: 503, retry_s: Some(7) }), "{cut}");
        }
    }

    #[test]
    fn an_answer_without_a_length_is_not_taken() {
        assert_eq!(head(b"HTTP/1.1 200 OK\r\nServer: x"), None);
        assert_eq!(head(b"HTTP/1.1 204 No Content").map(|(a, n)| (a.status, n)), Some((204, 0)));
        assert_eq!(head(b"nonsense"), None);
    }
}
