//! The least that a server can do for its subscribers: accept, answer the handshake without looking at it, and for
//! each message a plain loop of `write(2)` over all sockets. One thread. What a product costs is what it costs beyond
//! this.

use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};

use super::audience::frames;
use super::audience::speech::ACCEPT;

const LISTENER: Token = Token(usize::MAX);
const PUBLISHERS: Token = Token(usize::MAX - 1);
const PUBLISHER: Token = Token(usize::MAX - 2);

/// A message in a line, and what follows of the next.
const LINES_MAX: usize = 64 << 10;

/// The server.
pub(crate) struct Bare {
    poll: Poll,
    listener: TcpListener,
    publishers: TcpListener,
    publisher: Option<TcpStream>,
    /// Subscribers; none where one has left.
    sockets: Vec<Option<TcpStream>>,
    /// Of the one publisher.
    lines: Vec<u8>,
}

/// Serves until standard input ends. Each line from a publisher is a message for everybody.
pub(crate) fn run(listen: SocketAddr, publish: SocketAddr) -> anyhow::Result<()> {
    std::thread::spawn(|| {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        std::process::exit(0);
    });
    Bare::open(listen, publish)?.run()
}

impl Bare {
    /// Listens.
    pub(crate) fn open(listen: SocketAddr, publish: SocketAddr) -> anyhow::Result<Bare> {
        let poll = Poll::new()?;
        let (mut listener, mut publishers) = (TcpListener::bind(listen)?, TcpListener::bind(publish)?);
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        poll.registry().register(&mut publishers, PUBLISHERS, Interest::READABLE)?;
        Ok(Bare { poll, listener, publishers, publisher: None, sockets: Vec::new(), lines: Vec::new() })
    }

    /// For subscribers, and for the publisher.
    #[cfg(test)]
    pub(crate) fn addresses(&self) -> io::Result<(SocketAddr, SocketAddr)> {
        Ok((self.listener.local_addr()?, self.publishers.local_addr()?))
    }

    /// Serves for ever.
    pub(crate) fn run(&mut self) -> anyhow::Result<()> {
        let mut events = Events::with_capacity(1_024);
        loop {
            match self.poll.poll(&mut events, None) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                polled => polled?,
            }
            for event in &events {
                match event.token() {
                    LISTENER => self.accept()?,
                    PUBLISHERS => {
                        while let Ok((mut stream, _)) = self.publishers.accept() {
                            self.poll.registry().register(&mut stream, PUBLISHER, Interest::READABLE)?;
                            self.publisher = Some(stream);
                        }
                    }
                    PUBLISHER => {
                        if let Some(mut stream) = self.publisher.take()
                            && self.published(&mut stream)?
                        {
                            self.publisher = Some(stream);
                        }
                    }
                    Token(n) => self.heard(n),
                }
            }
        }
    }

    fn accept(&mut self) -> anyhow::Result<()> {
        while let Ok((mut stream, _)) = self.listener.accept() {
            stream.set_nodelay(true)?;
            let place = self.sockets.len();
            self.poll.registry().register(&mut stream, Token(place), Interest::READABLE)?;
            self.sockets.push(Some(stream));
        }
        Ok(())
    }

    /// A subscriber asks, or leaves. A head comes in one piece on loopback.
    fn heard(&mut self, n: usize) {
        let Some(Some(stream)) = self.sockets.get_mut(n) else { return };
        let mut head = [0; 2_048];
        let answer = format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Accept: {ACCEPT}\r\n\r\n"
        );
        let kept = match stream.read(&mut head) {
            Ok(n) if n > 0 && head[..n].starts_with(b"GET ") => stream.write_all(answer.as_bytes()).is_ok(),
            Ok(n) => n > 0,
            Err(error) => error.kind() == ErrorKind::WouldBlock,
        };
        if !kept {
            self.sockets[n] = None;
        }
    }

    /// Messages; whether the publisher is still there.
    fn published(&mut self, publisher: &mut TcpStream) -> anyhow::Result<bool> {
        let mut bytes = [0; 16 << 10];
        let there = loop {
            match publisher.read(&mut bytes) {
                Ok(0) => break false,
                Ok(n) => self.lines.extend(&bytes[..n]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break true,
                Err(error) => return Err(error.into()),
            }
            anyhow::ensure!(self.lines.len() < LINES_MAX, "a message without an end");
        };
        while let Some(end) = self.lines.iter().position(|b| *b == b'\n') {
            let line: Vec<u8> = self.lines.drain(..=end).collect();
            let frame = frames::text(&line[..end]);
            for place in &mut self.sockets {
                // Whoever does not take a whole frame at once is gone: nothing is buffered here.
                if let Some(stream) = place
                    && !matches!(stream.write(&frame), Ok(n) if n == frame.len())
                {
                    *place = None;
                }
            }
        }
        Ok(there)
    }
}
