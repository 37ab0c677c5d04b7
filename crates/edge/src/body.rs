//! The body of an answer.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt};
use http_body::{Frame, SizeHint};
use metrics::Counter;
use tokio::sync::OwnedSemaphorePermit;

use crate::failure::Failure;
use crate::shed::Ticket;

/// Bytes at hand, or bytes that are arriving. Holds what its request was admitted with until it is sent.
pub struct Body {
    content: Content,
    admitted: Option<Admitted>,
}

enum Content {
    /// `None` when it has been taken.
    Whole(Option<Bytes>),
    Arriving(BoxStream<'static, Result<Bytes, Failure>>),
}

/// What a request under way holds.
pub(crate) struct Admitted {
    /// Its place among all requests.
    _ticket: Ticket,
    /// Its place among those that are fetched for one client.
    pub(crate) alone: Option<OwnedSemaphorePermit>,
    /// Counts the bytes that are sent for it.
    pub(crate) sent: Counter,
}

impl Admitted {
    /// With a place among all requests.
    pub(crate) fn new(ticket: Ticket, sent: Counter) -> Admitted {
        Admitted { _ticket: ticket, alone: None, sent }
    }
}

impl Body {
    /// One that is all there.
    pub(crate) fn whole(bytes: Bytes) -> Body {
        Body { content: Content::Whole(Some(bytes).filter(|b| !b.is_empty())), admitted: None }
    }

    /// One that is read as it arrives. An error in the stream cuts the connection (HTTP/1.1) or resets the
    /// stream (HTTP/2), so that no client takes it for the end.
    pub(crate) fn arriving(stream: impl Stream<Item = Result<Bytes, Failure>> + Send + 'static) -> Body {
        Body { content: Content::Arriving(stream.boxed()), admitted: None }
    }

    /// The same, holding that until it is sent or dropped.
    pub(crate) fn admitted(self, admitted: Admitted) -> Body {
        Body { admitted: Some(admitted), ..self }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        let next = match &mut self.content {
            Content::Whole(bytes) => bytes.take().map(Ok),
            Content::Arriving(stream) => std::task::ready!(stream.poll_next_unpin(cx)),
        };
        if let (Some(Ok(bytes)), Some(admitted)) = (&next, &self.admitted) {
            admitted.sent.increment(bytes.len() as u64);
        }
        Poll::Ready(next.map(|r| r.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.content, Content::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |b| b.len() as u64)),
            Content::Arriving(_) => SizeHint::default(),
        }
    }
}
