//! What a source says, made into what workers must know: in order, each (event, revision) once, encoded once. Pure:
//! time is an argument.

use std::collections::{HashMap, VecDeque};
use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use relay::{Cursor, Message, Update};

use super::window::{Key, Window};
use crate::limits::{HOLES_MAX, KEYS_MAX, WINDOW_EVENTS_MAX};
use crate::ring::{Entry, NOWHERE};

/// What a worker is told of a match, in order.
#[derive(Clone, Debug)]
pub(crate) enum Note {
    /// What is known is void. Events follow after that cursor, and then [`Note::Live`].
    Begin(Cursor),
    /// Nothing was known, and the log begins: nobody has missed anything.
    First(Cursor),
    /// The next events, to leave together.
    Events(Arc<[Arc<Entry>]>),
    /// All that there was has been given: subscriptions can be answered.
    Live,
    /// Nothing comes for a while.
    Paused(Arc<str>),
    /// It goes on.
    Resumed,
}

/// Who said that nothing comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pause {
    /// The source: it also says when it goes on.
    Said,
    /// We, since the source hung up: it goes on when it is back.
    HungUp,
}

/// What there was since the last time that was asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Events that leave.
    pub(crate) messages: u64,
    /// Events that do not, because they have, or a higher revision has.
    pub(crate) duplicates: u64,
    /// Revisions that were dropped in favour of another one.
    pub(crate) collapsed: u64,
}

/// The state of one match.
pub(crate) struct Core {
    name: String,
    /// The newest message that was taken.
    last: Option<Cursor>,
    /// The source is between its `Start` and its `Live`.
    catching_up: bool,
    /// Workers are between [`Note::Begin`] and [`Note::Live`].
    loading: bool,
    paused: Option<Pause>,
    window: Window,
    /// The offset of each key that is remembered, and the order in which they came.
    keys: HashMap<Key, u64>,
    order: VecDeque<Key>,
    /// The highest revision of each event that is remembered: nobody is told a lower one after it.
    newest: HashMap<u64, u32>,
    counts: Counts,
}

impl Core {
    /// Of a match of which nothing is known.
    pub(crate) fn new(name: &str, window: Duration) -> Core {
        Core {
            name: name.to_owned(),
            last: None,
            catching_up: true,
            loading: true,
            paused: None,
            window: Window::new(window),
            keys: HashMap::new(),
            order: VecDeque::new(),
            newest: HashMap::new(),
            counts: Counts::default(),
        }
    }

    /// Where the source is to go on.
    pub(crate) fn last(&self) -> Option<Cursor> {
        self.last
    }

    /// When [`Core::look`] must be called, if nothing is taken before.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.window.due()
    }

    /// Lets go what was held back for long enough.
    pub(crate) fn look(&mut self, now: Instant, notes: &mut Vec<Note>) {
        if self.window.due().is_some_and(|due| now >= due) {
            self.release(now, notes);
        }
    }

    /// What there was since the last time.
    pub(crate) fn counted(&mut self) -> Counts {
        mem::take(&mut self.counts)
    }

    /// Takes what the source says.
    pub(crate) fn take(&mut self, update: Update, now: Instant, notes: &mut Vec<Note>) {
        match update {
            Update::Message(message) => self.message(&message, now, notes),
            Update::Start { after } => {
                self.release(now, notes);
                self.catching_up = true;
                // One that begins before what we have repeats it, and is held against what we remember.
                let goes_on = |last: Cursor| last.epoch == after.epoch && after.offset <= last.offset;
                if self.last == Some(NOWHERE) && after.offset == 0 && after != NOWHERE {
                    self.last = Some(after);
                    self.loading = true;
                    notes.push(Note::First(after));
                } else if !self.last.is_some_and(goes_on) {
                    self.begin(after, notes);
                }
            }
            Update::Live => {
                self.release(now, notes);
                self.catching_up = false;
                self.live(notes);
                if self.paused == Some(Pause::HungUp) {
                    self.resume(notes);
                }
            }
            Update::Paused { reason } => self.pause(Pause::Said, &reason, now, notes),
            Update::Resumed => self.resume(notes),
        }
    }

    /// The source hung up, and is asked again.
    pub(crate) fn hung_up(&mut self, now: Instant, notes: &mut Vec<Note>) {
        self.pause(Pause::HungUp, "shard_lost", now, notes);
    }

    fn pause(&mut self, pause: Pause, reason: &str, now: Instant, notes: &mut Vec<Note>) {
        self.release(now, notes);
        self.paused = Some(pause);
        notes.push(Note::Paused(reason.into()));
    }

    fn message(&mut self, message: &Message, now: Instant, notes: &mut Vec<Note>) {
        // A message before any `Start` has no place.
        let Some(last) = self.last else { return };
        let key = (message.event, message.revision);
        let before = Cursor { epoch: last.epoch, offset: message.offset.saturating_sub(1) };
        if message.offset <= last.offset {
            if self.keys.get(&key).is_some_and(|offset| *offset <= message.offset) {
                self.counts.duplicates += 1;
                return;
            }
            // Something else stands there than did: another log under the same name.
            self.release(now, notes);
            self.begin(before, notes);
        } else if message.offset - last.offset > HOLES_MAX {
            // More than cannot be published is missing, so nobody can go on from before.
            self.release(now, notes);
            self.begin(before, notes);
        }
        self.accept(key, message, now, notes);
        if self.loading && !self.catching_up {
            self.release(now, notes);
            self.live(notes);
        }
    }

    fn accept(&mut self, key: Key, message: &Message, now: Instant, notes: &mut Vec<Note>) {
        let Some(last) = &mut self.last else { return };
        last.offset = message.offset;
        let epoch = last.epoch;
        if let std::collections::hash_map::Entry::Vacant(place) = self.keys.entry(key) {
            place.insert(message.offset);
            self.order.push_back(key);
        }
        let newest = self.newest.entry(key.0).or_insert(0);
        let entry = if key.1 <= *newest {
            self.counts.duplicates += 1;
            Entry::nothing(message.offset)
        } else {
            *newest = key.1;
            self.counts.messages += 1;
            Entry::new(&self.name, epoch, message)
        };
        while self.order.len() > KEYS_MAX {
            let Some(oldest) = self.order.pop_front() else { break };
            self.keys.remove(&oldest);
            if self.newest.get(&oldest.0) == Some(&oldest.1) {
                self.newest.remove(&oldest.0);
            }
        }
        let leaves = self.window.take(key, Arc::new(entry), now);
        // What a source catches up with leaves in large pieces: one call a socket for each, not for each event.
        if (leaves && !self.catching_up) || self.window.len() >= WINDOW_EVENTS_MAX {
            self.release(now, notes);
        }
    }

    fn release(&mut self, now: Instant, notes: &mut Vec<Note>) {
        if self.window.len() == 0 {
            return;
        }
        let (entries, collapsed) = self.window.release(now);
        self.counts.collapsed += collapsed;
        notes.push(Note::Events(entries.into()));
    }

    fn begin(&mut self, after: Cursor, notes: &mut Vec<Note>) {
        self.last = Some(after);
        self.loading = true;
        self.keys.clear();
        self.order.clear();
        self.newest.clear();
        notes.push(Note::Begin(after));
    }

    fn live(&mut self, notes: &mut Vec<Note>) {
        if self.last.is_some() && mem::take(&mut self.loading) {
            notes.push(Note::Live);
        }
    }

    fn resume(&mut self, notes: &mut Vec<Note>) {
        if self.paused.take().is_some() {
            notes.push(Note::Resumed);
        }
    }
}

#[cfg(test)]
mod tests;
