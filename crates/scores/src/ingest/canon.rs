//! What is published of a match: for each happening the revisions that stand, of which the highest is right.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::{Body, Event, EventId};

/// What a body says, for comparing. In memory only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Content(u64);

impl Content {
    pub(super) fn of(body: &Body) -> Content {
        let mut hasher = DefaultHasher::new();
        match body {
            // Two providers have their own words for why.
            Body::Withdrawn { .. } => "withdrawn".hash(&mut hasher),
            // Our own types always serialise; one that did not would equal another that did not.
            body => serde_json::to_vec(body).unwrap_or_default().hash(&mut hasher),
        }
        Content(hasher.finish())
    }
}

/// One match: memory of all of it, so that no copy is ever late enough to be published twice.
#[derive(Debug, Default)]
pub(super) struct Canon {
    events: BTreeMap<EventId, Standing>,
}

/// One happening.
#[derive(Debug)]
pub(super) struct Standing {
    /// What was published under which revision, ascending.
    revisions: Vec<(u32, Content)>,
    /// The highest.
    pub(super) newest: Event,
}

impl Standing {
    pub(super) fn revision(&self) -> u32 {
        self.newest.revision
    }

    /// What stands under this revision.
    pub(super) fn content(&self, revision: u32) -> Option<Content> {
        self.revisions.iter().find(|(known, _)| *known == revision).map(|(_, content)| *content)
    }

    /// The lowest revision from this one on that says so.
    pub(super) fn that_says(&self, content: Content, from: u32) -> Option<u32> {
        self.revisions
            .iter()
            .find(|(known, said)| *known >= from && *said == content)
            .map(|(known, _)| *known)
    }
}

impl Canon {
    pub(super) fn get(&self, id: EventId) -> Option<&Standing> {
        self.events.get(&id)
    }

    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    /// What stands now, in the order of ids.
    pub(super) fn newest(&self) -> impl Iterator<Item = &Event> {
        self.events.values().map(|standing| &standing.newest)
    }

    /// Notes what is or will be in the spine, which is the last word: another ingest may have been there first with
    /// other content.
    pub(super) fn put(&mut self, event: &Event) {
        let (revision, content) = (event.revision, Content::of(&event.body));
        let standing = self
            .events
            .entry(event.event_id)
            .or_insert_with(|| Standing { revisions: Vec::new(), newest: event.clone() });
        match standing.revisions.binary_search_by_key(&revision, |(known, _)| *known) {
            Ok(at) => standing.revisions[at].1 = content,
            Err(at) => standing.revisions.insert(at, (revision, content)),
        }
        if revision >= standing.newest.revision {
            standing.newest = event.clone();
        }
    }
}
