//! A connection that hyper serves, until the client asks for the stream on it.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use http_body::{Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::deps::Body;

/// How a request begins that is not for hyper.
const OURS: &[u8] = b"GET /v1/stream";

/// The requests of a connection that are not answered.
#[derive(Clone, Debug, Default)]
pub(super) struct Open(Arc<AtomicUsize>);

impl Open {
    /// One begins.
    pub(super) fn begin(&self) -> Turn {
        self.0.fetch_add(1, Ordering::Relaxed);
        Turn(self.clone())
    }

    /// Whether there is none.
    pub(super) fn is_none(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}

/// A request that is being answered.
#[derive(Debug)]
pub(super) struct Turn(Open);

impl Turn {
    /// It lasts as long as the answer's body.
    pub(super) fn until_the_end_of(self, body: Body) -> Lasting {
        Lasting { body, _turn: self }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A body that ends a turn.
pub(super) struct Lasting {
    body: Body,
    _turn: Turn,
}

impl http_body::Body for Lasting {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Gives back first what was read already. When nothing is being answered and what comes is a request for the stream,
/// it looks to hyper like the end of the connection.
pub(super) struct Turning<S> {
    read: Bytes,
    io: S,
    open: Open,
    turned: Vec<u8>,
}

impl<S> Turning<S> {
    /// The connection as it was before `read` was read.
    pub(super) fn new(read: Vec<u8>, io: S, open: Open) -> Turning<S> {
        Turning { read: read.into(), io, open, turned: Vec::new() }
    }

    /// The connection, and the request for the stream, if that is why it ended.
    pub(super) fn end(self) -> (S, Vec<u8>) {
        (self.io, self.turned)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Turning<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.read.is_empty() {
            let len = self.read.len().min(to.remaining());
            to.put_slice(&self.read[..len]);
            self.read.advance(len);
            return Poll::Ready(Ok(()));
        }
        if !self.turned.is_empty() {
            return Poll::Ready(Ok(()));
        }
        let before = to.filled().len();
        let read = Pin::new(&mut self.io).poll_read(cx, to);
        let came = &to.filled()[before..];
        if self.open.is_none() && came.starts_with(OURS) {
            self.turned = came.to_vec();
            to.set_filled(before);
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Turning<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, from)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        from: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write_vectored(cx, from)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}
