//! What a book keeps, and in which order it gives it out.

use std::collections::BTreeMap;

use super::Taken;
use crate::football;
use crate::{Body, Event, EventId, Sport};

/// Every revision of every happening: a correction counts from its own venue time on, and who looks at an earlier
/// moment is shown what was known then. A match has a few hundred happenings (a Test three thousand), few of them
/// corrected.
#[derive(Clone, Debug, Default)]
pub(super) struct Events {
    /// In rising order of revision.
    revisions: BTreeMap<EventId, Vec<Event>>,
}

/// One happening as it is known at some time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen<'a> {
    /// The highest revision.
    pub(super) event: &'a Event,
    /// The venue time of the earliest.
    pub(super) first_ms: i64,
}

/// Whether a body can stand in a book of that sport.
pub(super) fn is_of(sport: Sport, body: &Body) -> bool {
    match body {
        Body::Cricket(_) => sport == Sport::Cricket,
        Body::Football(_) => sport == Sport::Football,
        Body::Withdrawn { .. } => true,
    }
}

fn seen(revisions: &[Event], at_ms: Option<i64>) -> Option<Seen<'_>> {
    let known = |event: &&Event| at_ms.is_none_or(|at| event.venue_ms <= at);
    let event = revisions.iter().rev().find(known)?;
    let first_ms = revisions.iter().map(|event| event.venue_ms).min()?;
    Some(Seen { event, first_ms })
}

impl Events {
    /// None: it changes nothing at all.
    pub(super) fn take(&mut self, event: &Event) -> Option<Taken> {
        let revisions = self.revisions.entry(event.event_id).or_default();
        let index = revisions.binary_search_by_key(&event.revision, |known| known.revision).err()?;
        let taken = match (index, revisions.len()) {
            (_, 0) => Taken::New,
            (index, len) if index == len => Taken::Corrected,
            _ => Taken::Known,
        };
        revisions.insert(index, event.clone());
        Some(taken)
    }

    pub(super) fn len(&self) -> usize {
        self.revisions.len()
    }

    pub(super) fn highest(&self, event: EventId) -> Option<&Event> {
        self.revisions.get(&event)?.last()
    }

    /// In the order of ids, which is cricket's order.
    pub(super) fn seen(&self, at_ms: Option<i64>) -> impl Iterator<Item = Seen<'_>> {
        self.revisions.values().filter_map(move |revisions| seen(revisions, at_ms))
    }

    /// The last of the field.
    pub(super) fn last(&self) -> Option<Seen<'_>> {
        seen(self.revisions.last_key_value()?.1, None)
    }

    pub(super) fn upto(&self, upto: EventId) -> impl Iterator<Item = Seen<'_>> {
        self.revisions.range(..=upto).filter_map(|(_, revisions)| seen(revisions, None))
    }

    /// In football's order: period, clock.
    pub(super) fn in_football(&self, at_ms: Option<i64>) -> Vec<Seen<'_>> {
        let mut events: Vec<_> =
            self.seen(at_ms).filter_map(|seen| Some((order(&seen.event.body)?, seen))).collect();
        events.sort_by_key(|(order, _)| *order);
        events.into_iter().map(|(_, seen)| seen).collect()
    }

    pub(super) fn in_football_upto(&self, upto: Option<EventId>) -> Vec<Seen<'_>> {
        // One that was withdrawn had its place before; one that nobody ever saw has none, and all counts.
        let place = upto
            .and_then(|upto| self.revisions.get(&upto))
            .and_then(|revisions| revisions.iter().rev().find_map(|event| order(&event.body)));
        let mut events = self.in_football(None);
        if let Some(place) = place {
            events.retain(|seen| order(&seen.event.body).is_some_and(|order| order <= place));
        }
        events
    }
}

fn order(body: &Body) -> Option<(usize, football::Clock, u64)> {
    match body {
        Body::Football(happening) => Some(football::order(happening)),
        _ => None,
    }
}
