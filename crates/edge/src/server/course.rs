//! Where a server is on its way to its end, and how its connections learn of it.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::Poll;

use tokio::sync::Notify;

/// In the order in which they follow; one may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Connections are taken, and kept as long as their clients like.
    Serving,
    /// Another process takes new connections. Those that are open may ask once more, and the answer tells them
    /// that it was the last: no request meets a connection that is being closed.
    Leaving,
    /// As before, and connections that ask for nothing are closed.
    Ending,
    /// Whatever is still open is cut.
    Over,
}

/// The phase of one server.
#[derive(Debug)]
pub(crate) struct Course {
    phase: AtomicU8,
    entered: Notify,
}

impl Course {
    /// It serves.
    pub(crate) fn new() -> Course {
        Course { phase: AtomicU8::new(Phase::Serving as u8), entered: Notify::new() }
    }

    /// The phase now.
    pub(crate) fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Serving,
            1 => Phase::Leaving,
            2 => Phase::Ending,
            _ => Phase::Over,
        }
    }

    /// Goes on to a phase; never back.
    pub(crate) fn enter(&self, phase: Phase) {
        self.phase.fetch_max(phase as u8, Ordering::AcqRel);
        self.entered.notify_waiters();
    }

    /// Runs the work of a task until it ends or all is over. The work is polled whenever a phase begins, so that it
    /// needs only look at [`Course::phase`]; while none begins, that costs one load a poll.
    pub(crate) async fn follow<W: Future<Output = ()>>(&self, mut work: Pin<&mut W>) {
        let mut next = pin!(self.entered.notified());
        let mut known = None;
        poll_fn(|cx| {
            loop {
                let phase = self.phase();
                if phase == Phase::Over {
                    return Poll::Ready(());
                }
                if known == Some(phase) {
                    return work.as_mut().poll(cx);
                }
                // A task is always woken by the same waker, so it is left there once. A phase that begins
                // meanwhile is seen by looking again.
                known = Some(phase);
                next.set(self.entered.notified());
                let _ = next.as_mut().poll(cx);
            }
        })
        .await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use tokio::sync::mpsc;

    #[tokio::test]
    async fn work_is_woken_by_each_phase_and_cut_at_the_end() {
        let course = Arc::new(Course::new());
        let (saw, mut seen) = mpsc::unbounded_channel();
        let task = tokio::spawn({
            let course = course.clone();
            async move {
                let work = pin!(poll_fn(|_| {
                    saw.send(course.phase()).unwrap();
                    Poll::<()>::Pending
                }));
                course.follow(work).await;
            }
        });
        assert_eq!(seen.recv().await, Some(Phase::Serving));
        for phase in [Phase::Leaving, Phase::Ending] {
            course.enter(phase);
            assert_eq!(seen.recv().await, Some(phase));
        }
        course.enter(Phase::Leaving);
        assert_eq!(course.phase(), Phase::Ending);
        course.enter(Phase::Over);
        task.await.unwrap();
        assert_eq!(seen.recv().await, None);
    }
}
