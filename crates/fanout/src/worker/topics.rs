//! What a worker knows of the matches: its copy of each ring, and who is subscribed.

use std::sync::Arc;

use crate::cursor::Asked;
use crate::register;
use crate::ring::Ring;
use crate::says::{ENCODINGS, Say};
use crate::times::Tick;

/// A subscription that waits until its match is known.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) key: usize,
    pub(super) asked: Asked,
    pub(super) since: Tick,
    /// The client knows that it waits.
    pub(super) told: bool,
}

/// A match.
#[derive(Debug)]
pub(super) struct Topic {
    pub(super) shared: Arc<register::Topic>,
    /// What there is; `None` before the first word of the source.
    pub(super) ring: Option<Ring>,
    /// It is not all here: subscriptions wait.
    pub(super) loading: bool,
    /// Why nothing comes.
    pub(super) paused: Option<Arc<str>>,
    /// Who gets its events, by place in the slab.
    pub(super) subscribers: Vec<u32>,
    pub(super) waiting: Vec<Waiting>,
    /// There is something to write.
    pub(super) dirty: bool,
    /// Up to which offset everything was written to all who could take it; `None` while it is being loaded.
    pub(super) flushed: Option<u64>,
    /// The control frame after a replay, in each encoding.
    pub(super) live: [Vec<u8>; ENCODINGS],
}

impl Topic {
    /// One of which nothing is known yet.
    pub(super) fn new(shared: Arc<register::Topic>) -> Topic {
        let live = Say::Live { match_id: &shared.name }.all();
        Topic {
            shared,
            ring: None,
            loading: true,
            paused: None,
            subscribers: Vec::new(),
            waiting: Vec::new(),
            dirty: false,
            flushed: None,
            live,
        }
    }

    /// Its name.
    pub(super) fn name(&self) -> &str {
        &self.shared.name
    }

    /// What there is, if subscriptions can be answered.
    pub(super) fn ready(&self) -> Option<&Ring> {
        self.ring.as_ref().filter(|_| !self.loading)
    }
}

/// All of them. Numbers are never used again, so one that is over leaves eight bytes.
#[derive(Debug, Default)]
pub(super) struct Topics(Vec<Option<Box<Topic>>>);

impl Topics {
    /// One that was opened here or elsewhere.
    pub(super) fn open(&mut self, shared: &Arc<register::Topic>) -> &mut Topic {
        let at = shared.id as usize;
        if self.0.len() <= at {
            self.0.resize_with(at + 1, || None);
        }
        self.0[at].get_or_insert_with(|| Box::new(Topic::new(shared.clone())))
    }

    /// One by its number.
    pub(super) fn get(&self, id: u32) -> Option<&Topic> {
        self.0.get(id as usize)?.as_deref()
    }

    /// The same to change it.
    pub(super) fn get_mut(&mut self, id: u32) -> Option<&mut Topic> {
        self.0.get_mut(id as usize)?.as_deref_mut()
    }

    /// Nobody watches it any more.
    pub(super) fn close(&mut self, id: u32) {
        if let Some(place) = self.0.get_mut(id as usize)
            && place.as_ref().is_some_and(|topic| topic.subscribers.is_empty())
        {
            *place = None;
        }
    }

    /// Those in which somebody waits.
    pub(super) fn waiting(&mut self) -> impl Iterator<Item = &mut Topic> {
        self.0.iter_mut().filter_map(|topic| topic.as_deref_mut()).filter(|topic| !topic.waiting.is_empty())
    }
}
