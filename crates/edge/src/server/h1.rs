//! HTTP/1.1 as players speak it: GET and HEAD without a body, one after the other on a connection that stays.
//!
//! A hit costs a read, a look-up and one vectored write. Between requests a connection keeps no buffer: what it is
//! read into and what a head is written into belong to the thread. Whatever is not a GET, HEAD or OPTIONS without
//! a body is left to [`super::by_hyper`], with the bytes that were read.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io::{self, ErrorKind, IoSlice};
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Method, Request, Response};
use http_body::Body as _;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until, timeout};

use super::client::Client;
use super::course::Phase;
use super::head::{self, Fault, Head, Kind};
use super::send::{self, Framing};
use crate::body::{Admitted, Body};
use crate::cors;
use crate::handle::{Hit, Upload};
use crate::limits::{
    HEADER_BYTES_MAX, HEADER_TIME_MAX, LINGER_MAX, PARK_AFTER, SEND_RATE_MIN, SEND_STALL_MAX,
};
use crate::log::{Entry, Protocol};
use crate::meters::Outcome;
use crate::problem::Problem;

/// What a client of HTTP/2 says first (RFC 9113, 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// What a thread works with while it is at a connection.
struct Desk {
    read: Box<[u8]>,
    head: Vec<u8>,
}

thread_local! {
    static DESK: RefCell<Desk> =
        RefCell::new(Desk { read: vec![0; HEADER_BYTES_MAX].into(), head: Vec::with_capacity(2_048) });
}

/// One connection.
pub(crate) struct Connection<S> {
    io: S,
    client: Client,
    /// Read and not used yet: requests that came early, and at the end perhaps a part of one.
    early: Vec<u8>,
    /// `early` holds no whole head.
    partial: bool,
    /// No request has been read.
    new: bool,
    /// When idle for [`PARK_AFTER`] it is given back.
    parks: bool,
    /// When the last request was taken, or the next began to arrive.
    since: Instant,
    clock: Pin<Box<Sleep>>,
}

/// What a connection has come to.
enum Next {
    /// A hit of which this has not gone out.
    Rest(Box<Rest>),
    /// A request for the long way.
    Ask(Box<Ask>),
    /// A request that is refused.
    Refuse(Fault),
    /// Something for others.
    Other(Protocol),
    /// It asks for nothing for now.
    Idle,
    /// Its end.
    End,
}

/// How a connection leaves this room.
pub(crate) enum After<S> {
    /// It is closed.
    End,
    /// Nothing was read that is not answered, and nothing is on its way.
    Idle(S),
    /// It goes on in other hands.
    Handed(Box<Handed<S>>),
}

/// What has not gone out of a hit.
struct Rest {
    head: Vec<u8>,
    body: Bytes,
    close: bool,
    entry: Option<Entry>,
    _admitted: Admitted,
}

/// A request for the long way.
struct Ask {
    request: Request<Upload>,
    close: bool,
    entry: Option<Entry>,
}

/// A connection that goes on in other hands, and what was read from it.
pub(crate) struct Handed<S> {
    pub(crate) io: S,
    pub(crate) client: Client,
    pub(crate) read: Vec<u8>,
    pub(crate) protocol: Protocol,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    /// One on which nothing was read yet.
    pub(crate) fn new(io: S, client: Client, parks: bool) -> Connection<S> {
        let since = Instant::now();
        let clock = Box::pin(sleep_until(since + if parks { PARK_AFTER } else { HEADER_TIME_MAX }));
        Connection { io, client, early: Vec::new(), partial: false, new: true, parks, since, clock }
    }

    /// Serves it to its end, or until others must.
    ///
    /// # Errors
    ///
    /// The client is gone or too slow, or a body was cut: the connection ends there, in the middle of an answer.
    pub(crate) async fn serve(mut self) -> io::Result<After<S>> {
        loop {
            let stays = match poll_fn(|cx| self.poll_next(cx)).await? {
                Next::Rest(rest) => self.send_rest(*rest).await?,
                Next::Ask(ask) => self.answer(*ask).await?,
                Next::Refuse(fault) => self.refuse(fault).await?,
                Next::Other(protocol) => {
                    let Connection { io, client, early: read, .. } = self;
                    return Ok(After::Handed(Box::new(Handed { io, client, read, protocol })));
                }
                Next::Idle => return Ok(After::Idle(self.io)),
                Next::End => false,
            };
            if !stays {
                break;
            }
        }
        self.close().await?;
        Ok(After::End)
    }

    /// Reads, and answers hits at once, until there is something else to do.
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Next>> {
        DESK.with_borrow_mut(|Desk { read, head }| {
            loop {
                if !self.early.is_empty() && !self.partial {
                    let mut early = mem::take(&mut self.early);
                    let (used, next) = self.take(cx, head, &early)?;
                    early.drain(..used);
                    // An empty one gives its memory back: most connections are never early again.
                    self.early = if early.is_empty() { Vec::new() } else { early };
                    self.partial = next.is_none();
                    match next {
                        Some(next) => return Poll::Ready(Ok(next)),
                        None => continue,
                    }
                }
                let space = HEADER_BYTES_MAX - self.early.len();
                let mut read = ReadBuf::new(&mut read[..space]);
                if Pin::new(&mut self.io).poll_read(cx, &mut read)?.is_pending() {
                    return self.poll_idle(cx).map(Ok);
                }
                let read = read.filled();
                if read.is_empty() {
                    return Poll::Ready(Ok(Next::End));
                }
                if !self.early.is_empty() {
                    self.early.extend_from_slice(read);
                    self.partial = false;
                    continue;
                }
                let (used, next) = self.take(cx, head, read)?;
                self.early.extend_from_slice(&read[used..]);
                if let Some(next) = next {
                    self.partial = false;
                    return Poll::Ready(Ok(next));
                }
                self.partial = true;
                if !self.early.is_empty() {
                    self.since = Instant::now();
                }
            }
        })
    }

    /// Takes requests from `bytes` as long as they are hits that go out whole. How many bytes that were, and what
    /// came next if it was not the end of them.
    fn take(
        &mut self,
        cx: &mut Context<'_>,
        out: &mut Vec<u8>,
        bytes: &[u8],
    ) -> io::Result<(usize, Option<Next>)> {
        if self.new && bytes.starts_with(&PREFACE[..PREFACE.len().min(bytes.len())]) {
            let whole = bytes.len() >= PREFACE.len();
            return Ok((0, whole.then_some(Next::Other(Protocol::H2))));
        }
        let mut used = 0;
        while used < bytes.len() {
            let mut room = head::room();
            let head = match head::read(&bytes[used..], &mut room) {
                Ok(Some(head)) => head,
                Ok(None) => break,
                Err(fault) => return Ok((used, Some(Next::Refuse(fault)))),
            };
            self.new = false;
            if head.kind == Kind::Other {
                return Ok((used, Some(Next::Other(Protocol::H1))));
            }
            used += head.len;
            let hit = match head.kind {
                Kind::Plain => self.client.shared.edge.hit_for(&head.plain(), &head.by(self.client.peer())),
                _ => None,
            };
            let next = match hit {
                Some(hit) => self.send_hit(cx, out, hit, &head)?,
                None => Some(self.ask(&head)),
            };
            if next.is_some() {
                return Ok((used, next));
            }
        }
        Ok((used, None))
    }

    /// Whether the next answer is the last.
    fn is_last(&self, head: &Head<'_, '_>) -> bool {
        head.close || self.client.shared.course.phase() >= Phase::Leaving
    }

    fn ask(&mut self, head: &Head<'_, '_>) -> Next {
        self.since = Instant::now();
        match head.request() {
            Ok(mut request) => {
                request.extensions_mut().insert(self.client.peer());
                let entry = self.client.entry(head.method, head.target, Protocol::H1);
                Next::Ask(Box::new(Ask { request, close: self.is_last(head), entry }))
            }
            Err(fault) => Next::Refuse(fault),
        }
    }

    /// Writes a hit. What comes next, if it is not just another request.
    fn send_hit(
        &mut self,
        cx: &mut Context<'_>,
        out: &mut Vec<u8>,
        hit: Hit,
        asked: &Head<'_, '_>,
    ) -> io::Result<Option<Next>> {
        let Hit { head, body, now, admitted } = hit;
        let close = self.is_last(asked);
        self.since = now;
        out.clear();
        send::hit(out, &head, body.len(), now, close, self.client.alternative());
        let body = if asked.method == "HEAD" { Bytes::new() } else { body };
        let entry = self.client.entry(asked.method, asked.target, Protocol::H1).map(|mut entry| {
            entry.answered(head.status, Some(Outcome::Hit));
            entry.sent(body.len());
            entry
        });
        admitted.sent.increment(body.len() as u64);
        let io = Pin::new(&mut self.io);
        let written = match io.poll_write_vectored(cx, &[IoSlice::new(out), IoSlice::new(&body)]) {
            Poll::Ready(written) => written?,
            Poll::Pending => 0,
        };
        if written == out.len() + body.len() && Pin::new(&mut self.io).poll_flush(cx)?.is_ready() {
            return Ok(close.then_some(Next::End));
        }
        let head = out.get(written..).unwrap_or_default().to_vec();
        let body = body.slice(written.saturating_sub(out.len())..);
        Ok(Some(Next::Rest(Box::new(Rest { head, body, close, entry, _admitted: admitted }))))
    }

    /// Waits for a request, as long as one may.
    fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<Next> {
        if self.client.shared.course.phase() >= Phase::Ending {
            return Poll::Ready(Next::End);
        }
        // Setting the clock for each request would cost more than to look what time it is when it rings.
        while self.clock.as_mut().poll(cx).is_ready() {
            let (now, end) = (Instant::now(), self.since + HEADER_TIME_MAX);
            if now >= end {
                return Poll::Ready(Next::End);
            }
            let parks = self.parks && self.early.is_empty();
            if parks && now >= self.since + PARK_AFTER {
                return Poll::Ready(Next::Idle);
            }
            self.clock.as_mut().reset(if parks { self.since + PARK_AFTER } else { end });
        }
        Poll::Pending
    }

    /// Notices that the client is gone while it waits; keeps what it sends meanwhile, up to the bytes of a head.
    fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        DESK.with_borrow_mut(|desk| {
            while self.early.len() < HEADER_BYTES_MAX {
                let mut read = ReadBuf::new(&mut desk.read[..HEADER_BYTES_MAX - self.early.len()]);
                match ready!(Pin::new(&mut self.io).poll_read(cx, &mut read)) {
                    Ok(()) if read.filled().is_empty() => {
                        return Poll::Ready(ErrorKind::ConnectionAborted.into());
                    }
                    Ok(()) => self.early.extend_from_slice(read.filled()),
                    Err(error) => return Poll::Ready(error),
                }
                self.partial = false;
            }
            Poll::Pending
        })
    }

    async fn send_rest(&mut self, rest: Rest) -> io::Result<bool> {
        self.write([&rest.head, &rest.body, b""]).await?;
        drop(rest.entry);
        Ok(!rest.close)
    }

    /// Has a request answered. Whether another may follow.
    async fn answer(&mut self, ask: Ask) -> io::Result<bool> {
        let Ask { request, close, mut entry } = ask;
        let head_only = *request.method() == Method::HEAD;
        let mut answer: BoxFuture<'_, _> = Box::pin(self.client.shared.edge.clone().answer(request));
        let response = poll_fn(|cx| match answer.as_mut().poll(cx) {
            Poll::Ready(response) => Poll::Ready(Ok(response)),
            Poll::Pending => self.poll_gone(cx).map(Err),
        })
        .await?;
        drop(answer);
        if let Some(entry) = &mut entry {
            entry.answered(response.status(), response.extensions().get().copied());
        }
        // A server may have begun to leave while the answer was waited for.
        let close = close || self.client.shared.course.phase() >= Phase::Leaving;
        self.respond(response, head_only, close, &mut entry).await?;
        self.since = Instant::now();
        Ok(!close)
    }

    async fn refuse(&mut self, fault: Fault) -> io::Result<bool> {
        let mut response = Problem::from(fault).response();
        cors::mark(response.headers_mut());
        self.respond(response, false, true, &mut None).await?;
        Ok(false)
    }

    /// Writes an answer, its body as it arrives.
    async fn respond(
        &mut self,
        response: Response<Body>,
        head_only: bool,
        close: bool,
        entry: &mut Option<Entry>,
    ) -> io::Result<()> {
        let (parts, mut body) = response.into_parts();
        let framing = Framing::of(&parts, &body, head_only);
        // What is written before the next bytes of the body, at first the head.
        let mut out = Vec::with_capacity(1_024);
        send::head(&mut out, &parts, framing, close, self.client.alternative());
        if framing == Framing::Empty {
            return self.write([&out, b"", b""]).await;
        }
        let mut sent = 0;
        loop {
            let frame = poll_fn(|cx| match Pin::new(&mut body).poll_frame(cx) {
                Poll::Ready(frame) => Poll::Ready(Ok(Some(frame))),
                // A client wants to know the head before there are bytes.
                Poll::Pending if !out.is_empty() => Poll::Ready(Ok(None)),
                Poll::Pending => self.poll_gone(cx).map(Err),
            })
            .await?;
            match frame.map(Option::transpose) {
                None => self.write([&out, b"", b""]).await?,
                Some(Ok(Some(frame))) => {
                    let Ok(data) = frame.into_data() else { continue };
                    if data.is_empty() {
                        continue;
                    }
                    sent += data.len() as u64;
                    let tail: &[u8] = match framing {
                        Framing::Length(length) if sent > length => return Err(cut()),
                        Framing::Chunked => {
                            send::chunk(&mut out, &data);
                            b"\r\n"
                        }
                        _ => b"",
                    };
                    self.write([&out, &data, tail]).await?;
                    if let Some(entry) = entry {
                        entry.sent(data.len());
                    }
                }
                Some(Ok(None)) => {
                    return match framing {
                        Framing::Chunked => self.write([&out, b"0\r\n\r\n", b""]).await,
                        Framing::Length(length) if sent < length => Err(cut()),
                        _ if out.is_empty() => Ok(()),
                        _ => self.write([&out, b"", b""]).await,
                    };
                }
                // Without the last chunk, or with fewer bytes than were announced, nobody takes it for whole.
                Some(Err(why)) => return Err(io::Error::other(why)),
            }
            out.clear();
        }
    }

    /// Writes all of that. Takes no longer than the slowest client may.
    async fn write<'a>(&'a mut self, pieces: [&'a [u8]; 3]) -> io::Result<()> {
        let bytes: usize = pieces.iter().map(|piece| piece.len()).sum();
        let mut written = 0;
        let writing = poll_fn(|cx| {
            while written < bytes {
                let mut slices = pieces.map(IoSlice::new);
                let mut left = &mut slices[..];
                IoSlice::advance_slices(&mut left, written);
                match ready!(Pin::new(&mut self.io).poll_write_vectored(cx, left))? {
                    0 => return Poll::Ready(Err(ErrorKind::WriteZero.into())),
                    n => written += n,
                }
            }
            Pin::new(&mut self.io).poll_flush(cx)
        });
        timeout(SEND_STALL_MAX + Duration::from_secs(bytes as u64 / SEND_RATE_MIN), writing).await?
    }

    /// Ends it so that the client sees the last answer: closing with bytes unread would reset the connection, and
    /// what is on its way with it.
    async fn close(mut self) -> io::Result<()> {
        let closing = poll_fn(|cx| {
            ready!(Pin::new(&mut self.io).poll_shutdown(cx))?;
            DESK.with_borrow_mut(|desk| {
                loop {
                    let mut read = ReadBuf::new(&mut desk.read);
                    ready!(Pin::new(&mut self.io).poll_read(cx, &mut read))?;
                    if read.filled().is_empty() {
                        return Poll::Ready(Ok(()));
                    }
                }
            })
        });
        timeout(LINGER_MAX, closing).await?
    }
}

fn cut() -> io::Error {
    io::Error::new(ErrorKind::UnexpectedEof, "a body has another length than was said")
}
