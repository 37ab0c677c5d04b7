//! A match, from the relay into memory.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use metrics::counter;
use relay::{Cursor, Message, Update};
use tokio::sync::{mpsc, watch};

use super::Config;
use super::answers::What;
use super::bucket::Bucket;
use super::kept::Kept;
use crate::catalog::Match;

/// How far a match is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// None: not all of it was taken yet, and nothing can be said.
    pub(super) cursor: Option<Cursor>,
    /// There may be something newer, and nobody says so.
    pub(super) stale: bool,
}

/// A match in memory, shared by who fills it and who asks.
#[derive(Debug)]
pub(super) struct Followed {
    kept: RwLock<Option<Kept>>,
    known: watch::Sender<Known>,
    buckets: Mutex<[Bucket; 4]>,
    /// How many watched when that was counted last.
    watching: AtomicU64,
}

impl Followed {
    pub(super) fn new(config: &Config) -> Followed {
        let rates = [config.snapshots_per_s, config.cards_per_s, config.moments_per_s, config.watching_per_s];
        Followed {
            kept: RwLock::new(None),
            known: watch::Sender::default(),
            buckets: Mutex::new(rates.map(Bucket::new)),
            watching: AtomicU64::new(0),
        }
    }

    /// Whether one more may be made.
    pub(super) fn may_make(&self, what: What, now: Duration) -> bool {
        let index = match what {
            What::Snapshot => 0,
            What::Card(_) => 1,
            What::Moments => 2,
            What::Watching => 3,
        };
        self.buckets.lock().unwrap_or_else(PoisonError::into_inner)[index].take(now)
    }

    /// How many watch: counted now, or the last count if that was asked for too often.
    pub(super) fn watching(&self, now: Duration, count: impl FnOnce() -> u64) -> u64 {
        if self.may_make(What::Watching, now) {
            self.watching.store(count(), Ordering::Relaxed);
        }
        self.watching.load(Ordering::Relaxed)
    }

    pub(super) fn known(&self) -> watch::Receiver<Known> {
        self.known.subscribe()
    }

    pub(super) fn kept(&self) -> RwLockReadGuard<'_, Option<Kept>> {
        self.kept.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what the relay says until it says nothing more.
    pub(super) async fn follow(&self, entry: &Match, mut updates: mpsc::Receiver<Update>) {
        let mut state = State { entry, anew: None, catching_up: true, paused: false };
        while let Some(update) = updates.recv().await {
            let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
            state.take(update, &mut kept);
            let known = Known {
                cursor: kept.as_ref().map(|kept| kept.cursor),
                stale: state.paused || state.catching_up,
            };
            drop(kept);
            self.known.send_if_modified(|standing| std::mem::replace(standing, known) != known);
        }
        self.known.send_modify(|known| known.stale = true);
    }
}

struct State<'a> {
    entry: &'a Match,
    /// A match that is being taken from its beginning; what was known before is shown until all of it is there.
    anew: Option<Kept>,
    catching_up: bool,
    paused: bool,
}

impl State<'_> {
    fn take(&mut self, update: Update, kept: &mut Option<Kept>) {
        match update {
            Update::Start { after } => {
                self.catching_up = true;
                let standing = self.anew.as_ref().or(kept.as_ref()).map(|kept| kept.cursor);
                if standing != Some(after) {
                    if after.offset > 0 {
                        counter!("scores_snapshot_beginnings_missing_total").increment(1);
                        tracing::error!(r#match = self.entry.id, %after, "the beginning of a match is no longer held");
                    }
                    self.anew = Some(Kept::new(self.entry, after));
                }
            }
            Update::Message(message) => {
                if let Some(kept) = self.anew.as_mut().or(kept.as_mut()) {
                    message_taken(self.entry, kept, &message);
                }
            }
            Update::Live => {
                self.catching_up = false;
                if let Some(anew) = self.anew.take() {
                    *kept = Some(anew);
                }
            }
            Update::Paused { reason } => {
                tracing::warn!(r#match = self.entry.id, reason, "a match is answered from memory");
                self.paused = true;
            }
            Update::Resumed => self.paused = false,
        }
    }
}

fn message_taken(entry: &Match, kept: &mut Kept, message: &Message) {
    if let Err(error) = kept.take(message) {
        counter!("scores_snapshot_frames_unreadable_total").increment(1);
        tracing::error!(r#match = entry.id, offset = message.offset, %error, "a frame is passed over");
    }
}
