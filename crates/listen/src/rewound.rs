//! A connection of which something was read already.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Gives that back first. It may be told what ends it: bytes that are for somebody else, who gets them and the connection.
pub struct Rewound<S, F = fn(&[u8]) -> bool> {
    read: Bytes,
    io: S,
    ends: F,
    ended: Vec<u8>,
}

impl<S> Rewound<S> {
    /// The connection as it was before `read` was read.
    pub fn new(read: Vec<u8>, io: S) -> Rewound<S> {
        Rewound::until(read, io, |_| false)
    }
}

impl<S, F: Fn(&[u8]) -> bool> Rewound<S, F> {
    /// The same, which looks like its end from the first bytes on of which `ends` says so. What was read ahead is not
    /// asked about.
    pub fn until(read: Vec<u8>, io: S, ends: F) -> Rewound<S, F> {
        Rewound { read: read.into(), io, ends, ended: Vec::new() }
    }

    /// The connection, and the bytes that ended it, if some did.
    pub fn into_parts(self) -> (S, Vec<u8>) {
        (self.io, self.ended)
    }
}

impl<S: AsyncRead + Unpin, F: Fn(&[u8]) -> bool + Unpin> AsyncRead for Rewound<S, F> {
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
        if !self.ended.is_empty() {
            return Poll::Ready(Ok(()));
        }
        let before = to.filled().len();
        let read = Pin::new(&mut self.io).poll_read(cx, to);
        let came = &to.filled()[before..];
        if (self.ends)(came) {
            self.ended = came.to_vec();
            to.set_filled(before);
        }
        read
    }
}

impl<S: AsyncWrite + Unpin, F: Unpin> AsyncWrite for Rewound<S, F> {
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

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn what_was_read_comes_first_and_what_is_not_ours_ends_it() {
        let (near, mut far) = tokio::io::duplex(64);
        let mut rewound =
            Rewound::until(b"GET /stream".to_vec(), near, |came| came.starts_with(b"GET /stream"));
        let mut buf = [0; 64];
        assert_eq!(rewound.read(&mut buf[..3]).await.unwrap(), 3);
        assert_eq!(rewound.read(&mut buf[3..]).await.unwrap(), 8, "what was read ahead is not asked about");
        assert_eq!(&buf[..11], b"GET /stream");
        far.write_all(b"GET /other").await.unwrap();
        assert_eq!(rewound.read(&mut buf).await.unwrap(), 10);
        far.write_all(b"GET /stream HTTP/1.1").await.unwrap();
        assert_eq!(rewound.read(&mut buf).await.unwrap(), 0, "for its reader it has ended");
        far.write_all(b"more").await.unwrap();
        assert_eq!(rewound.read(&mut buf).await.unwrap(), 0, "and stays so");
        let (mut near, ended) = rewound.into_parts();
        assert_eq!(ended, b"GET /stream HTTP/1.1");
        assert_eq!(near.read(&mut buf).await.unwrap(), 4, "what followed is still there");
    }
}
