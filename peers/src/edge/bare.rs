//! The least that a process can do for a hit: accept, read a request, find its end, write a prepared head and body
//! in one `writev`. One thread, one `epoll`, no check of anything. What a cache costs is what it costs beyond this.

use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::SocketAddr;

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};
use rustix::net::sockopt::set_socket_send_buffer_size;

use super::hits::{PLAYLIST_BYTES, SEGMENT_BYTES, SEGMENT_PATH};
use super::origin::body;

/// A head of a load generator is below 200 bytes.
const REQUEST_MAX: usize = 2_048;

/// What a socket may hold unsent; the kernel doubles it, for what it adds itself. Enough for 40 Mb/s over 100 ms. Left
/// alone a socket grows to megabytes, which no longer fit a core's cache: then 1 MB costs nearly twice as much.
const SEND_BYTES: usize = 256 << 10;

const LISTENER: Token = Token(usize::MAX);

/// A head and a body.
struct Prepared {
    head: Vec<u8>,
    body: Vec<u8>,
}

/// One client.
struct Client {
    stream: TcpStream,
    asked: [u8; REQUEST_MAX],
    len: usize,
    /// Which answer is being written, and how much of it has been.
    writing: Option<(usize, usize)>,
}

/// Answers until standard input ends.
pub(crate) fn run(listen: SocketAddr) -> anyhow::Result<()> {
    std::thread::spawn(|| {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        std::process::exit(0);
    });
    let answers = [
        Prepared::new("application/vnd.apple.mpegurl", PLAYLIST_BYTES),
        Prepared::new("video/mp4", SEGMENT_BYTES),
    ];
    let mut poll = Poll::new()?;
    let mut events = Events::with_capacity(256);
    let mut listener = TcpListener::bind(listen)?;
    poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
    let mut clients: Vec<Option<Client>> = Vec::new();
    loop {
        match poll.poll(&mut events, None) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            polled => polled?,
        }
        for event in &events {
            if event.token() != LISTENER {
                let place = clients.get_mut(event.token().0);
                if let Some(place) = place
                    && let Some(client) = place
                    && client.turn(&answers).is_err()
                {
                    *place = None;
                }
                continue;
            }
            while let Ok((mut stream, _)) = listener.accept() {
                stream.set_nodelay(true)?;
                set_socket_send_buffer_size(&stream, SEND_BYTES)?;
                let place = clients.iter().position(Option::is_none).unwrap_or_else(|| {
                    clients.push(None);
                    clients.len() - 1
                });
                let both = Interest::READABLE | Interest::WRITABLE;
                poll.registry().register(&mut stream, Token(place), both)?;
                clients[place] = Some(Client { stream, asked: [0; REQUEST_MAX], len: 0, writing: None });
            }
        }
    }
}

impl Prepared {
    fn new(kind: &str, length: usize) -> Prepared {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nCache-Control: max-age=3600\r\n\
             ETag: \"1\"\r\nAge: 1\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\n\r\n"
        );
        Prepared { head: head.into_bytes(), body: body(length).to_vec() }
    }
}

impl Client {
    /// Does what can be done without waiting; an error when the client is gone.
    fn turn(&mut self, answers: &[Prepared; 2]) -> io::Result<()> {
        loop {
            if let Some((which, from)) = self.writing
                && !self.write(&answers[which], which, from)?
            {
                return Ok(());
            }
            let room = REQUEST_MAX - self.len;
            let n = match self.stream.read(&mut self.asked[self.len..]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(n) => n,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            self.len += n;
            let asked = &self.asked[..self.len];
            let whole = asked.windows(4).any(|w| w == b"\r\n\r\n");
            if whole {
                let segment = asked.get(4..4 + SEGMENT_PATH.len()) == Some(SEGMENT_PATH.as_bytes());
                self.len = 0;
                self.writing = Some((usize::from(segment), 0));
                if !self.write(&answers[usize::from(segment)], usize::from(segment), 0)? {
                    return Ok(());
                }
            }
            // A read that left room has emptied the socket (epoll(7)); what comes now is a new event.
            if n < room {
                return Ok(());
            }
            if self.len == REQUEST_MAX {
                return Err(ErrorKind::InvalidData.into());
            }
        }
    }

    /// Writes on; whether that was the end.
    fn write(&mut self, answer: &Prepared, which: usize, from: usize) -> io::Result<bool> {
        let head = answer.head.get(from..).unwrap_or_default();
        let body = &answer.body[from.saturating_sub(answer.head.len())..];
        let written = match self.stream.write_vectored(&[IoSlice::new(head), IoSlice::new(body)]) {
            Ok(n) => n,
            Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
            Err(error) => return Err(error),
        };
        // A write that left something has filled the socket (epoll(7)); room is a new event.
        let whole = written == head.len() + body.len();
        self.writing = (!whole).then_some((which, from + written));
        Ok(whole)
    }
}
