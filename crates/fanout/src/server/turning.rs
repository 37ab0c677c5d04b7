//! When a connection that hyper serves may be taken from it: the client asks for the stream on it, and nothing is being
//! answered.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

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

    /// Whether a connection on which this came is not for hyper any more.
    pub(super) fn turns_at(&self, came: &[u8]) -> bool {
        self.0.load(Ordering::Relaxed) == 0 && came.starts_with(OURS)
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
