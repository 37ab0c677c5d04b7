//! What is decided of every statement. Pure: no I/O, and time is an argument.
//!
//! The rule: of each (match, event, revision) the first content to arrive stands; a higher revision supersedes. A
//! provider without revisions has them made: its n-th distinct content of a happening, in the order of its own
//! numbers, is revision n, or more if what it said before counted as more ([`super::history`]). While something of its
//! numbers is missing before a statement, and the revision that it would be says something else already, the statement
//! waits for the gap to close; after [`super::limits::GAP_MAX_MS`] it counts as the next revision.
//!
//! Whoever uses it makes what it publishes durable before it acknowledges anything, and tells it what others have
//! written ([`Core::recall`]).

mod asked;
mod plausible;
mod provider;

use std::collections::{BTreeMap, BTreeSet};

use self::plausible::{plausible, takes};
use self::provider::Provider;
use super::canon::{Canon, Content};
use super::delay::Delay;
use super::history::{History, Place};
use super::limits::EVENTS_MAX;
use super::sequence::{Number, Sequence};
use crate::catalog::{Catalog, Match};
use crate::feeds::{Range, Statement};
use crate::{Event, EventId};

/// What became of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is among what is to be published.
    Published,
    /// It was known: from this provider, or another was faster.
    Duplicate,
    /// Something newer is known.
    Superseded,
    /// Another provider said something else of the same revision, and was first.
    Disagrees,
    /// It waits for a gap to close.
    Waits,
    /// It cannot be; a dead letter.
    Refused(String),
}

/// Which happening of which match.
type Key = (String, EventId);

/// Everything that ingest knows.
#[derive(Debug, Default)]
pub struct Core {
    matches: BTreeMap<String, Known>,
    providers: BTreeMap<String, Provider>,
    /// Those whose revisions are made here.
    without_revisions: BTreeSet<String>,
}

/// A match.
#[derive(Debug)]
struct Known {
    canon: Canon,
    delay: Delay,
    /// When it was last spoken of.
    heard_ms: i64,
}

impl Core {
    /// Knows nothing yet. Of these providers the revisions are made here; others have their own.
    pub fn new(without_revisions: impl IntoIterator<Item = String>) -> Core {
        Core { without_revisions: without_revisions.into_iter().collect(), ..Core::default() }
    }

    /// Whether the match's spine was recalled; it must be before a statement about it is taken.
    pub fn knows(&self, match_id: &str) -> bool {
        self.matches.contains_key(match_id)
    }

    /// The match has a spine, perhaps an empty one.
    pub fn open(&mut self, entry: &Match) {
        let cadence_ms = entry.cadence_ms();
        let known = || Known { canon: Canon::default(), delay: Delay::new(cadence_ms), heard_ms: 0 };
        self.matches.entry(entry.id.clone()).or_insert_with(known).delay.set_cadence(cadence_ms);
    }

    /// Forgets a match; if it is spoken of again, its spine is recalled.
    pub fn close(&mut self, match_id: &str) {
        self.matches.remove(match_id);
        for provider in self.providers.values_mut() {
            provider.histories.retain(|(of, _), _| of != match_id);
            provider.waiting.retain(|(of, _), _| of != match_id);
        }
    }

    /// Something stands in the spine: written by us in an earlier life, or by another ingest. It is the last word on its
    /// revision.
    pub fn recall(&mut self, event: &Event) {
        let Some(known) = self.matches.get_mut(&event.match_id) else { return };
        known.canon.put(event);
        known.delay.take(&event.body, event.venue_ms, event.ingest_ms);
        if !self.without_revisions.contains(&event.provider_id) {
            return;
        }
        // What this provider says now is newer than this only by its numbers.
        let statement = Statement {
            seq: event.provider_seq,
            match_id: event.match_id.clone(),
            venue_ms: event.venue_ms,
            revision: None,
            body: event.body.clone(),
        };
        let provider = self.providers.entry(event.provider_id.clone()).or_default();
        match provider.histories.get_mut(&(event.match_id.clone(), event.event_id)) {
            None => {
                let history = History::recalled(statement, event.revision);
                provider.histories.insert((event.match_id.clone(), event.event_id), history);
            }
            Some(history) => {
                history.add(statement);
                if history.newest.seq == event.provider_seq {
                    history.give(event.revision);
                }
            }
        }
    }

    /// A provider that numbers without holes and repeats what was not acknowledged before it says more (a scorer's
    /// page): what is in the spine tells what is had.
    pub fn resume(&mut self, provider: &str, newest: u64) {
        let provider = self.providers.entry(provider.to_owned()).or_default();
        if provider.sequence.newest() < newest {
            provider.sequence = Sequence::begin_after(newest);
        }
    }

    /// Takes one statement; what is to be published, of it and of others that waited, is appended to `publish`.
    pub fn take(
        &mut self,
        provider: &str,
        statement: Statement,
        catalog: &Catalog,
        now_ms: i64,
        publish: &mut Vec<Event>,
    ) -> Outcome {
        let number =
            self.providers.entry(provider.to_owned()).or_default().sequence.see(statement.seq, now_ms);
        if number == Number::Wild {
            return Outcome::Refused(format!("number {} is too far ahead", statement.seq));
        }
        let outcome = self.decide(provider, statement, catalog, now_ms, publish);
        if number == Number::New {
            self.settle(provider, now_ms, publish);
        }
        outcome
    }

    /// A number whose statement could not be read, so that the feed goes on past it.
    pub fn unreadable(&mut self, provider: &str, seq: u64, now_ms: i64, publish: &mut Vec<Event>) {
        self.providers.entry(provider.to_owned()).or_default().sequence.see(seq, now_ms);
        self.settle(provider, now_ms, publish);
    }

    /// The provider no longer has these.
    pub fn gone(&mut self, provider: &str, ranges: &[Range], now_ms: i64, publish: &mut Vec<Event>) {
        let known = self.providers.entry(provider.to_owned()).or_default();
        for (from, to) in ranges {
            known.sequence.gone((*from, *to));
        }
        self.settle(provider, now_ms, publish);
    }

    /// Decides what has waited long enough.
    pub fn tick(&mut self, now_ms: i64, publish: &mut Vec<Event>) {
        let waiting: Vec<String> =
            self.providers.iter().filter(|(_, p)| !p.waiting.is_empty()).map(|(id, _)| id.clone()).collect();
        for provider in waiting {
            self.settle(&provider, now_ms, publish);
        }
    }

    fn decide(
        &mut self,
        provider: &str,
        statement: Statement,
        catalog: &Catalog,
        now_ms: i64,
        publish: &mut Vec<Event>,
    ) -> Outcome {
        let (entry, known) =
            match (catalog.get(&statement.match_id), self.matches.get_mut(&statement.match_id)) {
                (Some(entry), Some(known)) => (entry, known),
                _ => return Outcome::Refused(format!("there is no match {:?}", statement.match_id)),
            };
        if let Err(why) = plausible(&statement, entry, now_ms) {
            return Outcome::Refused(why);
        }
        known.heard_ms = now_ms;
        let id = statement.body.event_id();
        let standing = known.canon.get(id);
        if standing.is_none() && known.canon.len() >= EVENTS_MAX {
            return Outcome::Refused("no match has so many happenings".into());
        }
        if !takes(entry, &statement.body) {
            // A provider's replay of a match that has ended says what is known.
            let content = Content::of(&statement.body);
            return match standing {
                Some(standing) if standing.that_says(content, 0).is_some() => Outcome::Duplicate,
                _ => Outcome::Refused(format!("the match {:?} is not live", statement.match_id)),
            };
        }
        known.delay.take(&statement.body, statement.venue_ms, now_ms);
        match statement.revision {
            Some(revision) => explicit(provider, statement, revision, &mut known.canon, now_ms, publish),
            None => self.made(provider, statement, now_ms, publish),
        }
    }

    /// A statement whose revision is made here.
    fn made(&mut self, id: &str, statement: Statement, now_ms: i64, publish: &mut Vec<Event>) -> Outcome {
        let Some(known) = self.matches.get_mut(&statement.match_id) else {
            return Outcome::Refused("no such match".into());
        };
        let provider = self.providers.entry(id.to_owned()).or_default();
        let key = (statement.match_id.clone(), statement.body.event_id());
        let place = match provider.histories.get_mut(&key) {
            Some(history) => history.add(statement),
            None => {
                provider.histories.insert(key.clone(), History::new(statement));
                Place::Newer
            }
        };
        match place {
            Place::Known if provider.waiting.contains_key(&key) => return Outcome::Waits,
            Place::Known => return Outcome::Duplicate,
            Place::Reused => {
                return Outcome::Refused("the number was used for something else before".into());
            }
            Place::TooMany => {
                return Outcome::Refused("too many statements about one happening".into());
            }
            // A wait begins anew with new content.
            Place::Newer => drop(provider.waiting.remove(&key)),
            Place::Older => {}
        }
        let outcome = provider.judge(id, &key, &mut known.canon, now_ms, publish);
        if place == Place::Older { Outcome::Superseded } else { outcome }
    }

    /// What waits may have become clear.
    fn settle(&mut self, id: &str, now_ms: i64, publish: &mut Vec<Event>) {
        let Some(provider) = self.providers.get_mut(id) else { return };
        let waiting: Vec<Key> = provider.waiting.keys().cloned().collect();
        for key in waiting {
            if let Some(known) = self.matches.get_mut(&key.0) {
                provider.judge(id, &key, &mut known.canon, now_ms, publish);
            }
        }
    }
}

/// A statement that says which revision it is.
fn explicit(
    provider: &str,
    statement: Statement,
    revision: u32,
    canon: &mut Canon,
    now_ms: i64,
    publish: &mut Vec<Event>,
) -> Outcome {
    if let Some(standing) = canon.get(statement.body.event_id()) {
        let content = Content::of(&statement.body);
        match standing.content(revision) {
            Some(said) if said == content => return Outcome::Duplicate,
            Some(_) if revision == standing.revision() => return Outcome::Disagrees,
            _ if revision < standing.revision() => return Outcome::Superseded,
            _ => {}
        }
    }
    let event = event(provider, &statement, revision, now_ms);
    canon.put(&event);
    publish.push(event);
    Outcome::Published
}

fn event(provider: &str, statement: &Statement, revision: u32, now_ms: i64) -> Event {
    Event {
        match_id: statement.match_id.clone(),
        event_id: statement.body.event_id(),
        revision,
        provider_id: provider.to_owned(),
        provider_seq: statement.seq,
        venue_ms: statement.venue_ms,
        ingest_ms: now_ms,
        body: statement.body.clone(),
    }
}

#[cfg(test)]
mod tests;
