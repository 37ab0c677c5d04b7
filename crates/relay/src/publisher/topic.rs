//! One topic of a publisher: its replay, and where its takers stand.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, watch};

use crate::wire::Sub;
use crate::{Kept, Message};

/// Which subscription of which connection.
pub(crate) type Key = (u64, Sub);

/// Tells a connection which of its subscriptions have something to do.
#[derive(Debug, Default)]
pub(crate) struct Wake {
    subs: Mutex<Vec<Sub>>,
    notify: Notify,
}

impl Wake {
    pub(crate) fn mark(&self, sub: Sub) {
        let mut subs = self.subs.lock().unwrap_or_else(PoisonError::into_inner);
        if !subs.contains(&sub) {
            subs.push(sub);
        }
        drop(subs);
        self.notify.notify_one();
    }

    /// Returns when something was marked since the last [`Wake::take`].
    pub(crate) async fn marked(&self) {
        self.notify.notified().await;
    }

    pub(crate) fn take(&self) -> Vec<Sub> {
        std::mem::take(&mut *self.subs.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[derive(Debug)]
struct Taker {
    wake: Arc<Wake>,
    acked: u64,
    /// It has once had everything; one that is still catching up holds nobody up.
    live: bool,
}

/// What a topic holds.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) epoch: u32,
    pub(crate) ring: Kept,
    pub(crate) paused: Option<String>,
    /// It is no longer hosted, or as another object.
    pub(crate) closed: bool,
    takers: HashMap<Key, Taker>,
}

/// A topic. Connections hold it while they are subscribed.
#[derive(Debug)]
pub(crate) struct Topic {
    state: Mutex<State>,
    /// Grows with every acknowledgement and every taker that goes.
    settled: watch::Sender<u64>,
}

impl Topic {
    pub(crate) fn new(epoch: u32, ring: Kept) -> Topic {
        let state = State { epoch, ring, paused: None, closed: false, takers: HashMap::new() };
        Topic { state: Mutex::new(state), settled: watch::Sender::new(0) }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins anew: takers of the same epoch go on where they are.
    pub(crate) fn reopen(&self, epoch: u32, ring: Kept) {
        let mut state = self.state();
        if state.epoch != epoch {
            for taker in state.takers.values_mut() {
                (taker.acked, taker.live) = (0, false);
            }
        }
        (state.epoch, state.ring, state.paused) = (epoch, ring, None);
        state.wake_all();
        drop(state);
        self.moved();
    }

    /// Whether its offset is new.
    pub(crate) fn publish(&self, message: Message, now_us: i64) -> Result<(), u64> {
        let mut state = self.state();
        if !state.ring.push(message) {
            return Err(state.ring.head());
        }
        state.ring.trim(now_us);
        state.wake_all();
        Ok(())
    }

    pub(crate) fn pause(&self, reason: Option<String>) {
        let mut state = self.state();
        if state.paused != reason {
            state.paused = reason;
            state.wake_all();
        }
    }

    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.wake_all();
    }

    pub(crate) fn enter(&self, key: Key, wake: &Arc<Wake>) {
        let taker = Taker { wake: wake.clone(), acked: 0, live: false };
        self.state().takers.insert(key, taker);
    }

    pub(crate) fn leave(&self, key: Key) {
        self.state().takers.remove(&key);
        self.moved();
    }

    /// A taker has confirmed everything up to there, of that epoch.
    pub(crate) fn ack(&self, key: Key, epoch: u32, acked: u64) {
        let mut state = self.state();
        if state.epoch == epoch
            && let Some(taker) = state.takers.get_mut(&key)
        {
            taker.acked = taker.acked.max(acked);
        }
        drop(state);
        self.moved();
    }

    fn moved(&self) {
        self.settled.send_modify(|n| *n = n.wrapping_add(1));
    }

    /// Wakes who waits for [`State::acked`] to change.
    pub(crate) fn settled(&self) -> watch::Receiver<u64> {
        self.settled.subscribe()
    }
}

impl State {
    fn wake_all(&self) {
        for ((_, sub), taker) in &self.takers {
            taker.wake.mark(*sub);
        }
    }

    /// That taker begins after that offset, and so has confirmed it.
    pub(crate) fn begins(&mut self, key: Key, after: u64) {
        if let Some(taker) = self.takers.get_mut(&key) {
            (taker.acked, taker.live) = (after, false);
        }
    }

    /// That taker has had everything.
    pub(crate) fn is_live(&mut self, key: Key) {
        if let Some(taker) = self.takers.get_mut(&key) {
            taker.live = true;
        }
    }

    /// What every live taker has confirmed; none if there is no live taker.
    pub(crate) fn acked(&self) -> Option<u64> {
        self.takers.values().filter(|t| t.live).map(|t| t.acked).min()
    }

    pub(crate) fn takers(&self) -> usize {
        self.takers.len()
    }
}
