//! A small HTTP/1.1 client that is never what is measured: a connection is one socket, requests are written one
//! after the other without a task each, and bodies are discarded inside the kernel.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use futures_util::future::try_join_all;
use rustix::net::{RecvFlags, recv};
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::TcpStream;

/// Longer than any peer lets a request wait; nginx' lock alone takes 5 s.
const ANSWER_MAX: Duration = Duration::from_secs(20);

/// A head is some hundred bytes.
const HEAD_MAX: usize = 16 << 10;

/// What is discarded at once. The kernel does not write into the buffer, so its pages are never there.
const DISCARD: usize = 1 << 20;

/// A connection that is kept.
pub(crate) struct Conn {
    stream: TcpStream,
    addr: SocketAddr,
    /// What has arrived of a head, or of a chunked body.
    seen: Vec<u8>,
    sink: Vec<u8>,
    sent: Instant,
}

/// An answer that came whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Of the body.
    pub(crate) bytes: u64,
    /// From the request to the first byte of the body, or to the end if there is none.
    pub(crate) first_ms: f64,
    /// From the request to the last byte.
    pub(crate) last_ms: f64,
}

/// How the end of a body is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    Length(u64),
    Chunked,
}

impl Conn {
    /// Connects.
    pub(crate) async fn open(addr: SocketAddr) -> anyhow::Result<Conn> {
        let stream = TcpStream::connect(addr).await.with_context(|| format!("connecting to {addr}"))?;
        stream.set_nodelay(true)?;
        Ok(Conn { stream, addr, seen: Vec::new(), sink: Vec::new(), sent: Instant::now() })
    }

    /// Asks, and takes the whole answer.
    pub(crate) async fn get(&mut self, path: &str) -> anyhow::Result<Answer> {
        self.send(path).await?;
        self.answer().await
    }

    /// Asks.
    pub(crate) async fn send(&mut self, path: &str) -> anyhow::Result<()> {
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.addr);
        self.sent = Instant::now();
        self.stream.write_all(request.as_bytes()).await.context("asking")
    }

    /// Takes the whole answer to what was sent.
    pub(crate) async fn answer(&mut self) -> anyhow::Result<Answer> {
        match tokio::time::timeout(ANSWER_MAX, self.whole()).await {
            Ok(answer) => answer,
            Err(_) => bail!("no answer within {} s", ANSWER_MAX.as_secs()),
        }
    }

    /// Waits for the head, and leaves the body.
    pub(crate) async fn head(&mut self) -> anyhow::Result<u16> {
        let (status, _) = tokio::time::timeout(ANSWER_MAX, self.take_head()).await.context("no head")??;
        Ok(status)
    }

    async fn whole(&mut self) -> anyhow::Result<Answer> {
        let (status, framing) = self.take_head().await?;
        let mut first = (!self.seen.is_empty()).then(Instant::now);
        let mut bytes = 0;
        match framing {
            Framing::Length(length) => {
                bytes += self.seen.drain(..).len() as u64;
                while bytes < length {
                    bytes += self.discard(length - bytes).await?;
                    first.get_or_insert_with(Instant::now);
                }
                ensure!(bytes == length, "more came than the answer's {length} bytes");
            }
            Framing::Chunked => loop {
                match chunk(&self.seen)? {
                    Some((size, length)) => {
                        self.seen.drain(..length);
                        bytes += size;
                        if size == 0 {
                            break;
                        }
                    }
                    None => {
                        self.read().await?;
                        first.get_or_insert_with(Instant::now);
                    }
                }
            },
        }
        let ms = |until: Instant| until.duration_since(self.sent).as_secs_f64() * 1e3;
        let last = Instant::now();
        Ok(Answer { status, bytes, first_ms: ms(first.unwrap_or(last)), last_ms: ms(last) })
    }

    async fn take_head(&mut self) -> anyhow::Result<(u16, Framing)> {
        loop {
            if let Some(end) = self.seen.windows(4).position(|w| w == b"\r\n\r\n") {
                let head: Vec<u8> = self.seen.drain(..end + 4).collect();
                let head = String::from_utf8_lossy(&head);
                let (status, framing) = parse(&head).with_context(|| format!("not a head: {head:?}"))?;
                // An interim answer says that another comes.
                if status >= 200 {
                    return Ok((status, framing));
                }
                continue;
            }
            ensure!(self.seen.len() < HEAD_MAX, "a head without an end");
            self.read().await?;
        }
    }

    async fn read(&mut self) -> anyhow::Result<()> {
        self.seen.reserve(HEAD_MAX);
        let n = self.stream.read_buf(&mut self.seen).await?;
        ensure!(n > 0, "the connection was closed before the end of the answer");
        Ok(())
    }

    /// Takes up to `most` bytes from the socket and drops them (`MSG_TRUNC`, see tcp(7)): copying a gigabyte
    /// would cost as much as the server's sending it.
    async fn discard(&mut self, most: u64) -> anyhow::Result<u64> {
        if self.sink.is_empty() {
            self.sink = vec![0; DISCARD];
        }
        let most = usize::try_from(most).unwrap_or(DISCARD).min(DISCARD);
        loop {
            self.stream.readable().await?;
            let (stream, sink) = (&self.stream, &mut self.sink[..most]);
            let taken = stream.try_io(Interest::READABLE, || {
                recv(stream, sink, RecvFlags::TRUNC).map(|(_, n)| n).map_err(Into::into)
            });
            match taken {
                Ok(0) => bail!("the answer was cut"),
                Ok(n) => return Ok(n as u64),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Opens that many connections, each of which has made a request.
pub(crate) async fn warm(addr: SocketAddr, path: &str, n: usize) -> anyhow::Result<Vec<Conn>> {
    // Fewer at once than any listener's backlog.
    const AT_ONCE: usize = 50;
    let mut conns = Vec::with_capacity(n);
    while conns.len() < n {
        let more = (0..AT_ONCE.min(n - conns.len())).map(|_| async {
            let mut conn = Conn::open(addr).await?;
            let answer = conn.get(path).await?;
            ensure!(answer.status == 200, "status {} for {path}", answer.status);
            Ok(conn)
        });
        conns.extend(try_join_all(more).await?);
    }
    Ok(conns)
}

/// All ask for one path at once, and all answers are awaited.
pub(crate) async fn rush(conns: &mut [Conn], path: &str) -> anyhow::Result<Vec<Answer>> {
    for conn in conns.iter_mut() {
        conn.send(path).await?;
    }
    try_join_all(conns.iter_mut().map(Conn::answer)).await
}

/// Runs something on a thread of its own, so that nothing else in this program shares its turns.
pub(crate) async fn alone<T, F>(work: impl FnOnce() -> F + Send + 'static) -> anyhow::Result<T>
where
    F: Future<Output = anyhow::Result<T>>,
    T: Send + 'static,
{
    tokio::task::spawn_blocking(move || {
        tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work())
    })
    .await?
}

/// Status and framing of a head.
fn parse(head: &str) -> anyhow::Result<(u16, Framing)> {
    let mut lines = head.split("\r\n");
    let status: u16 = lines.next().and_then(|line| line.split(' ').nth(1)).context("no status")?.parse()?;
    let mut framing = None;
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        match name.to_ascii_lowercase().as_str() {
            "content-length" => framing = framing.or(Some(Framing::Length(value.trim().parse()?))),
            "transfer-encoding" if value.trim().eq_ignore_ascii_case("chunked") => {
                framing = Some(Framing::Chunked)
            }
            _ => {}
        }
    }
    let bodiless = status < 200 || status == 204 || status == 304;
    match framing {
        _ if bodiless => Ok((status, Framing::Length(0))),
        Some(framing) => Ok((status, framing)),
        None => bail!("an answer with neither length nor chunks"),
    }
}

/// The first chunk, if it is all there: the size of its data, and its length with what is around it. A chunk of 0 is
/// the last; there are no trailers.
fn chunk(seen: &[u8]) -> anyhow::Result<Option<(u64, usize)>> {
    let Some(end) = seen.windows(2).position(|w| w == b"\r\n") else { return Ok(None) };
    let line = std::str::from_utf8(&seen[..end])?;
    let size = u64::from_str_radix(line.split(';').next().unwrap_or_default().trim(), 16)?;
    let whole = end + 2 + usize::try_from(size)? + 2;
    Ok((seen.len() >= whole).then_some((size, whole)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    #[test]
    fn heads_and_chunks() {
        let length = "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n";
        assert_eq!(parse(length).unwrap(), (200, Framing::Length(12)));
        let chunked = "HTTP/1.1 404 Not Found\r\ntransfer-encoding: chunked\r\n\r\n";
        assert_eq!(parse(chunked).unwrap(), (404, Framing::Chunked));
        assert_eq!(parse("HTTP/1.1 304 Not Modified\r\n\r\n").unwrap(), (304, Framing::Length(0)));
        assert!(parse("HTTP/1.1 200 OK\r\n\r\n").is_err());
        assert!(parse("what").is_err());

        assert_eq!(chunk(b"a;x=1\r\n0123456789\r\n5").unwrap(), Some((10, 19)));
        assert_eq!(chunk(b"0\r\n\r\n").unwrap(), Some((0, 5)));
        assert_eq!(chunk(b"a\r\n01234567").unwrap(), None);
        assert!(chunk(b"z\r\n").is_err());
    }

    #[tokio::test]
    async fn bodies_are_counted_and_cuts_are_seen() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let server = tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut asked = [0; 1024];
            let long = format!("HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n{}", "x".repeat(3_000_000));
            let chunks = "HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
            let cut = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc";
            for answer in [&*long, chunks, cut] {
                assert!(socket.read(&mut asked).await.unwrap() > 0);
                socket.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        let mut conn = Conn::open(addr).await.unwrap();
        let long = conn.get("/").await.unwrap();
        assert_eq!((long.status, long.bytes), (200, 3_000_000));
        assert!(long.first_ms <= long.last_ms);
        assert_eq!(conn.get("/").await.unwrap().bytes, 3);
        assert!(conn.get("/").await.is_err());
        server.await.unwrap();
    }
}
