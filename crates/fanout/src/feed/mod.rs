//! A match's feed: one task that takes what the source says, and tells every worker.
//!
//! The thinking is [`core`]'s, which is pure; here are the waits.

pub(crate) mod core;
mod window;

use std::sync::Arc;
use std::time::{Duration, Instant};

use relay::Update;
use tokio::sync::mpsc::Receiver;
use tokio::time::{sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::deps::Source;
use crate::limits::SOURCE_RETRY_MS;
use crate::meters::Meters;
use crate::register::{Register, Topic};
use crate::worker::{Inbox, Order};
use core::{Core, Note};

/// What a feed works with.
pub(crate) struct Feed {
    pub(crate) topic: Arc<Topic>,
    pub(crate) source: Arc<dyn Source>,
    pub(crate) workers: Arc<[Inbox]>,
    pub(crate) register: Arc<Register>,
    pub(crate) meters: Meters,
    pub(crate) window: Duration,
    pub(crate) linger: Duration,
}

impl Feed {
    /// Follows the match until nobody has watched it for a while, or all ends.
    pub(crate) async fn run(self, end: CancellationToken) {
        tokio::select! {
            () = end.cancelled() => {}
            () = self.follow() => {}
        }
    }

    async fn follow(self) {
        let mut core = Core::new(&self.topic.name, self.window);
        let mut notes = Vec::new();
        let mut updates = self.source.subscribe(&self.topic.name, None);
        let mut idle_since = None;
        loop {
            let ended = self.wait(&mut core, &mut updates, &mut notes).await;
            if ended {
                core.hung_up(now(), &mut notes);
            }
            self.tell(&mut core, &mut notes).await;
            if self.is_over(&mut idle_since) {
                for worker in self.workers.iter() {
                    worker.send(Order::Over(self.topic.id)).await;
                }
                return;
            }
            if ended {
                sleep(Duration::from_millis(fastrand::u64(SOURCE_RETRY_MS))).await;
                updates = self.source.subscribe(&self.topic.name, core.last());
            }
        }
    }

    /// Waits for something to happen, and takes it. Whether the source hung up.
    async fn wait(&self, core: &mut Core, updates: &mut Receiver<Update>, notes: &mut Vec<Note>) -> bool {
        let due = core.due();
        let next = tokio::select! {
            biased;
            update = updates.recv() => update,
            () = sleep_until(due.unwrap_or_else(now).into()), if due.is_some() => {
                core.look(now(), notes);
                return false;
            }
            () = sleep(self.linger / 4) => return false,
        };
        let Some(update) = next else { return true };
        let now = now();
        core.take(update, now, notes);
        // What came together leaves together.
        while let Ok(update) = updates.try_recv() {
            core.take(update, now, notes);
        }
        false
    }

    async fn tell(&self, core: &mut Core, notes: &mut Vec<Note>) {
        let counts = core.counted();
        self.meters.messages.increment(counts.messages);
        self.meters.duplicates.increment(counts.duplicates);
        self.meters.collapsed.increment(counts.collapsed);
        for note in notes.drain(..) {
            for worker in self.workers.iter() {
                worker.send(Order::Note(self.topic.clone(), note.clone())).await;
            }
        }
    }

    fn is_over(&self, idle_since: &mut Option<Instant>) -> bool {
        if self.topic.watching() > 0 {
            *idle_since = None;
            return false;
        }
        let since = *idle_since.get_or_insert_with(now);
        now().duration_since(since) >= self.linger && self.register.close(&self.topic)
    }
}

/// The clock that the waits are on.
fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
