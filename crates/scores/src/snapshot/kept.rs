//! What is in memory of one match. Pure.

use std::collections::{BTreeSet, VecDeque};

use bytes::Bytes;
use relay::{Cursor, Message};

use super::limits::{NEAR, RECENT};
use crate::catalog::Match;
use crate::frame::Said;
use crate::ingest::Delay;
use crate::{Book, Error, Event};

/// A match as far as it was taken.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) cursor: Cursor,
    pub(super) book: Book,
    /// The newest frames, in the order of the log.
    pub(super) recent: VecDeque<Bytes>,
    pub(super) delay: Delay,
    /// Of each message its offset, and the latest venue time of all up to it.
    times: Vec<(u64, i64)>,
    /// Every venue time at which something happened.
    moments: BTreeSet<i64>,
}

/// A venue time as far as it matters: between two happenings nothing changes, so whatever is asked for there has one
/// answer. UTC in milliseconds; none: before everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Moment(pub(super) Option<i64>);

impl Kept {
    /// Nothing yet, from that place on.
    pub(super) fn new(entry: &Match, after: Cursor) -> Kept {
        Kept {
            cursor: after,
            book: Book::new(entry.sport),
            recent: VecDeque::with_capacity(RECENT),
            delay: Delay::new(entry.cadence_ms()),
            times: Vec::new(),
            moments: BTreeSet::new(),
        }
    }

    /// Takes the next message.
    ///
    /// # Errors
    /// It is no event of ours. Its place counts all the same.
    pub(super) fn take(&mut self, message: &Message) -> Result<(), Error> {
        self.cursor.offset = message.offset;
        let said = Said::from_json(&message.json)?;
        // Never back to a lower revision, whatever comes.
        if self.book.highest(said.event_id).is_some_and(|highest| highest.revision >= said.revision) {
            return Ok(());
        }
        let latest = self.times.last().map_or(i64::MIN, |(_, latest)| *latest);
        self.times.push((message.offset, latest.max(said.venue_ms)));
        self.moments.insert(said.venue_ms);
        self.delay.take(&said.body, said.venue_ms, said.ingest_ms);
        self.book.take(&Event {
            match_id: said.match_id,
            event_id: said.event_id,
            revision: said.revision,
            // Who said it stays behind the shard.
            provider_id: String::new(),
            provider_seq: 0,
            venue_ms: said.venue_ms,
            ingest_ms: said.ingest_ms,
            body: said.body,
        });
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(message.json.clone());
        Ok(())
    }

    /// The moment that a time falls into.
    pub(super) fn moment(&self, at_ms: i64) -> Moment {
        Moment(self.moments.range(..=at_ms).next_back().copied())
    }

    /// Whether a moment is among the newest [`NEAR`].
    pub(super) fn is_near(&self, moment: Moment) -> bool {
        let later = self.moments.iter().rev().take_while(|at| moment.0.is_none_or(|moment| **at > moment));
        later.take(NEAR).count() < NEAR
    }

    /// The largest cursor such that nothing that happened after `at_ms` stands before it: who was shown the card of
    /// that time continues there.
    pub(super) fn reached(&self, at_ms: i64) -> Cursor {
        let first_after = self.times.partition_point(|(_, latest)| *latest <= at_ms);
        let offset = self.times.get(first_after).map_or(self.cursor.offset, |(offset, _)| offset - 1);
        Cursor { offset, ..self.cursor }
    }
}
