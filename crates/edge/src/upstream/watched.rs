//! The body of an upstream's answer: it holds its place in the upstream's bound until it is gone, is cut when it
//! is silent too long, and tells how it ended.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, Sleep, sleep};

use super::peer::Peer;
use crate::failure::Failure;
use crate::fetch::Arriving;
use crate::limits::BODY_STALL_MAX;

/// A body under way.
pub(super) struct Watched {
    body: Arriving,
    /// Who is to be told of its end, and when it was asked; `None` once that is done.
    untold: Option<(Arc<Peer>, Instant)>,
    /// Made when it is first silent. Counts from the beginning of a silence.
    patience: Option<Pin<Box<Sleep>>>,
    silent: bool,
    _place: OwnedSemaphorePermit,
}

impl Watched {
    /// Tells `peer`, if any, how a body ends that was asked of it at `asked`. One that is dropped before its end
    /// tells nothing: whoever read it had enough.
    pub(super) fn new(
        body: Arriving,
        peer: Option<Arc<Peer>>,
        asked: Instant,
        place: OwnedSemaphorePermit,
    ) -> Watched {
        let untold = peer.map(|peer| (peer, asked));
        let mut watched = Watched { body, untold, patience: None, silent: false, _place: place };
        watched.tell_if_over();
        watched
    }

    /// Nobody reads on at a known end.
    fn tell_if_over(&mut self) {
        if self.body.is_end_stream() {
            self.tell(true);
        }
    }

    fn tell(&mut self, good: bool) {
        match self.untold.take() {
            Some((peer, asked)) if good => peer.good(asked),
            Some((peer, asked)) => peer.bad(asked),
            None => {}
        }
    }

    /// Whether it has been silent too long.
    fn poll_patience(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let patience = self.patience.get_or_insert_with(|| Box::pin(sleep(BODY_STALL_MAX)));
        if !self.silent {
            patience.as_mut().reset(Instant::now() + BODY_STALL_MAX);
            self.silent = true;
        }
        patience.as_mut().poll(cx)
    }
}

impl Body for Watched {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        let Poll::Ready(next) = Pin::new(&mut self.body).poll_frame(cx) else {
            std::task::ready!(self.poll_patience(cx));
            self.tell(false);
            return Poll::Ready(Some(Err(Failure::Cut)));
        };
        self.silent = false;
        match &next {
            Some(Ok(_)) => self.tell_if_over(),
            Some(Err(_)) => self.tell(false),
            None => self.tell(true),
        }
        Poll::Ready(next)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
