//! What a subscriber knows of its subscriptions, shared by the connection and those who feed the receivers.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::duplex::Ended;
use crate::wire::Sub;
use crate::{Cursor, Message, SHARD_LOST, Update};

/// How far a subscription is on this connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// To be asked for, as soon as the taker has drained what waits for it.
    Wanted,
    /// Asked for under that number.
    Asked(Sub),
    /// It has started.
    Running(Sub),
}

/// A subscription.
#[derive(Debug)]
pub(crate) struct Subscription {
    pub(crate) topic: String,
    pub(crate) phase: Phase,
    /// The last that was put into the queue; what is asked for next time.
    pub(crate) cursor: Option<Cursor>,
    queue: VecDeque<Update>,
    /// Taken out of the queue and given to the channel.
    given: Option<Cursor>,
    /// Taken out of the channel.
    pub(crate) taken: Option<Cursor>,
    /// What the shard was told last.
    pub(crate) confirmed: Option<Cursor>,
    paused: Option<String>,
    wake: Arc<Notify>,
}

impl Subscription {
    fn push(&mut self, update: Update) {
        self.queue.push_back(update);
        self.wake.notify_one();
    }

    pub(crate) fn is_drained(&self) -> bool {
        self.queue.is_empty()
    }

    /// Epoch and offset are adopted together, whatever they were before.
    pub(crate) fn start(&mut self, sub: Sub, after: Cursor, paused: Option<String>) {
        self.phase = Phase::Running(sub);
        self.cursor = Some(after);
        // What was taken of before says nothing of what comes now.
        (self.given, self.taken) = (None, None);
        self.push(Update::Start { after });
        match paused {
            Some(reason) => self.pause(&reason),
            None => self.resume(),
        }
    }

    /// The cursor moves before the message is given out, so that whoever subscribes anew while handling it continues
    /// after it. Whether it was new.
    pub(crate) fn message(&mut self, message: Message, queue_max: usize) -> Result<bool, Ended> {
        let Some(cursor) = self.cursor.as_mut() else {
            return Err(Ended::Protocol("a message before a start"));
        };
        if message.offset <= cursor.offset {
            return Ok(false);
        }
        if self.queue.len() >= queue_max {
            return Err(Ended::Protocol("more messages than the window allows"));
        }
        cursor.offset = message.offset;
        self.push(Update::Message(message));
        Ok(true)
    }

    pub(crate) fn live(&mut self) {
        self.push(Update::Live);
    }

    pub(crate) fn pause(&mut self, reason: &str) {
        if self.paused.as_deref() != Some(reason) {
            self.paused = Some(reason.to_owned());
            self.push(Update::Paused { reason: reason.to_owned() });
        }
    }

    pub(crate) fn resume(&mut self) {
        if self.paused.take().is_some() {
            self.push(Update::Resumed);
        }
    }
}

/// All of a subscriber's subscriptions.
#[derive(Debug, Default)]
pub(crate) struct Subs {
    pub(crate) all: BTreeMap<u64, Subscription>,
    /// Which have something to tell the shard.
    pub(crate) changed: BTreeSet<u64>,
    /// Numbers of subscriptions that nobody wants any more.
    pub(crate) gone: Vec<Sub>,
    pub(crate) connected: bool,
    /// A connection was tried for and not had.
    lost: bool,
    /// The subscriber has ended.
    closed: bool,
    next: u64,
}

impl Subs {
    pub(crate) fn connected(&mut self) {
        (self.connected, self.lost) = (true, false);
        self.gone.clear();
        self.changed = self.all.keys().copied().collect();
    }

    /// Says so to everyone, at once.
    pub(crate) fn lost(&mut self) {
        (self.connected, self.lost) = (false, true);
        for sub in self.all.values_mut() {
            sub.phase = Phase::Wanted;
            sub.pause(SHARD_LOST);
        }
    }
}

pub(crate) struct Shared {
    subs: Mutex<Subs>,
    /// Something to tell the shard.
    pub(crate) wake: Notify,
    pub(crate) queue_max: usize,
}

impl Shared {
    pub(crate) fn new(window_messages: usize) -> Shared {
        // Beside a full window: what is said of a topic between two messages. Who comes back does so with nothing queued.
        const BESIDE: usize = 64;
        Shared { subs: Mutex::default(), wake: Notify::new(), queue_max: window_messages + BESIDE }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Subs> {
        self.subs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, topic: &str, after: Option<Cursor>) -> (u64, Arc<Notify>) {
        let wake = Arc::new(Notify::new());
        let mut subscription = Subscription {
            topic: topic.to_owned(),
            phase: Phase::Wanted,
            cursor: after,
            queue: VecDeque::new(),
            given: None,
            taken: None,
            confirmed: None,
            paused: None,
            wake: wake.clone(),
        };
        let mut subs = self.lock();
        if subs.lost {
            subscription.pause(SHARD_LOST);
        }
        let key = subs.next;
        subs.next += 1;
        subs.all.insert(key, subscription);
        subs.changed.insert(key);
        drop(subs);
        self.wake.notify_one();
        (key, wake)
    }

    pub(crate) fn remove(&self, key: u64) {
        let mut subs = self.lock();
        if let Some(sub) = subs.all.remove(&key)
            && let Phase::Asked(number) | Phase::Running(number) = sub.phase
        {
            subs.gone.push(number);
        }
        drop(subs);
        self.wake.notify_one();
    }

    /// The end of everything: receivers end when they have taken what is there.
    pub(crate) fn close(&self) {
        let mut subs = self.lock();
        subs.closed = true;
        subs.all.values().for_each(|sub| sub.wake.notify_one());
    }

    /// The next updates for a receiver that has taken everything it was given before; that is thereby confirmed. None:
    /// there will never be any.
    pub(crate) fn take(&self, key: u64, max: usize) -> Option<Vec<Update>> {
        let mut subs = self.lock();
        let closed = subs.closed;
        let sub = subs.all.get_mut(&key).filter(|sub| !closed || !sub.queue.is_empty())?;
        let had_queue = !sub.queue.is_empty();
        let news = sub.given != sub.taken;
        sub.taken = sub.given;
        let batch: Vec<Update> = sub.queue.drain(..sub.queue.len().min(max)).collect();
        for update in &batch {
            match update {
                Update::Start { after } => sub.given = Some(*after),
                Update::Message(message) => {
                    if let Some(given) = &mut sub.given {
                        given.offset = message.offset;
                    }
                }
                Update::Live | Update::Paused { .. } | Update::Resumed => {}
            }
        }
        // A subscription that is to be asked for again waited for its queue.
        let drained = had_queue && sub.queue.is_empty() && sub.phase == Phase::Wanted;
        if news || drained {
            subs.changed.insert(key);
            drop(subs);
            self.wake.notify_one();
        }
        Some(batch)
    }
}
