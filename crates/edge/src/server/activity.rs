//! What a connection that carries several requests at once is busy with, so that one who keeps it open for
//! nothing, or asks and does not read, can be told from one who waits.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::time::Instant;

use crate::body::Body;
use crate::failure::Failure;
use crate::limits::{MULTIPLEXED_IDLE_MAX, SEND_STALL_MAX};
use crate::log::Entry;

/// The requests of one connection.
#[derive(Debug)]
pub(crate) struct Activity(Mutex<Inner>);

#[derive(Debug)]
struct Inner {
    /// By number: since when the client has not asked for more of what is there; `None` while it is we who are
    /// waited for.
    open: HashMap<u64, Option<Instant>>,
    next: u64,
    /// When the last one ended.
    since: Instant,
}

/// How a connection is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// As it should be.
    Fair,
    /// Nothing was asked for [`MULTIPLEXED_IDLE_MAX`].
    Idle,
    /// An answer was not read for [`SEND_STALL_MAX`].
    Stalled,
}

impl Activity {
    /// Of a connection that begins now.
    pub(crate) fn new() -> Arc<Activity> {
        Arc::new(Activity(Mutex::new(Inner { open: HashMap::new(), next: 0, since: Instant::now() })))
    }

    /// A request begins; it ends when that is dropped.
    pub(crate) fn begin(self: &Arc<Self>) -> Turn {
        let mut inner = self.lock();
        let number = inner.next;
        inner.next += 1;
        inner.open.insert(number, None);
        Turn { activity: self.clone(), number }
    }

    /// How it is used now.
    pub(crate) fn judge(&self, now: Instant) -> Use {
        let inner = self.lock();
        let stalled = |since: &Instant| now.saturating_duration_since(*since) >= SEND_STALL_MAX;
        if inner.open.values().flatten().any(stalled) {
            Use::Stalled
        } else if inner.open.is_empty() && now.saturating_duration_since(inner.since) >= MULTIPLEXED_IDLE_MAX
        {
            Use::Idle
        } else {
            Use::Fair
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request under way.
#[derive(Debug)]
pub(crate) struct Turn {
    activity: Arc<Activity>,
    number: u64,
}

impl Turn {
    /// The client was given bytes at that moment, or waits for them.
    pub(crate) fn given(&self, at: Option<Instant>) {
        if let Some(open) = self.activity.lock().open.get_mut(&self.number) {
            *open = at;
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut inner = self.activity.lock();
        inner.open.remove(&self.number);
        inner.since = Instant::now();
    }
}

/// A body that tells how it is read.
pub(crate) struct Watched {
    body: Body,
    turn: Turn,
    entry: Option<Entry>,
}

impl Watched {
    /// The body of that request, with what is to be logged of it.
    pub(crate) fn new(body: Body, turn: Turn, entry: Option<Entry>) -> Watched {
        // Until its first bytes are asked for, it waits for the client.
        turn.given(Some(Instant::now()));
        Watched { body, turn, entry }
    }
}

impl http_body::Body for Watched {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        self.turn.given(frame.is_ready().then(Instant::now));
        if let (Poll::Ready(Some(Ok(frame))), Some(entry)) = (&frame, &mut self.entry) {
            entry.sent(frame.data_ref().map_or(0, Bytes::len));
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;
    use http_body_util::BodyExt;
    use std::time::Duration;
    use tokio::time::advance;

    #[tokio::test(start_paused = true)]
    async fn idle_is_who_asks_nothing() {
        let activity = Activity::new();
        let turn = activity.begin();
        advance(MULTIPLEXED_IDLE_MAX * 2).await;
        assert_eq!(activity.judge(Instant::now()), Use::Fair, "it waits for us");
        drop(turn);
        assert_eq!(activity.judge(Instant::now()), Use::Fair);
        advance(MULTIPLEXED_IDLE_MAX).await;
        assert_eq!(activity.judge(Instant::now()), Use::Idle);
    }

    #[tokio::test(start_paused = true)]
    async fn stalled_is_who_does_not_read_what_is_there() {
        let activity = Activity::new();
        let pieces = stream::iter(["a", "b"].map(|piece| Ok(piece.into()))).chain(stream::pending());
        let mut body = Watched::new(Body::arriving(pieces), activity.begin(), None);
        for _ in 0..2 {
            advance(SEND_STALL_MAX - Duration::from_secs(1)).await;
            assert_eq!(activity.judge(Instant::now()), Use::Fair);
            body.frame().await.unwrap().unwrap();
        }
        let mut cx = Context::from_waker(std::task::Waker::noop());
        assert!(http_body::Body::poll_frame(Pin::new(&mut body), &mut cx).is_pending());
        advance(SEND_STALL_MAX * 2).await;
        assert_eq!(activity.judge(Instant::now()), Use::Fair, "it waits for the upstream");

        let _unread = Watched::new(Body::whole("x".into()), activity.begin(), None);
        advance(SEND_STALL_MAX).await;
        assert_eq!(activity.judge(Instant::now()), Use::Stalled);
    }

    use futures_util::StreamExt;
}
