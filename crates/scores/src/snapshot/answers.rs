//! What is said of a match: rendered once for each (match, resource, cursor, time), and shared.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use listen::coding::Coding;
use lru::LruCache;
use metrics::counter;
use relay::Cursor;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::kept::{self, Kept};
use super::limits::{ANSWERS_BYTES_MAX, ANSWERS_MAX};
use crate::catalog::{Match, Status};
use crate::{Card, Headline, Moment};

/// A resource of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum What {
    /// The score now, and the last few events.
    Snapshot,
    /// The scorecard, at a moment; none: all that is known.
    Card(Option<kept::Moment>),
    /// The key moments.
    Moments,
    /// How many watch.
    Watching,
}

/// An answer's body.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) body: Bytes,
    /// Of the body as it is; a compressed one has a mark behind it.
    pub(super) tag: String,
    compressed: [OnceLock<Bytes>; Coding::COUNT],
}

impl Answer {
    pub(super) fn new(body: Vec<u8>) -> Answer {
        let hash = Sha256::digest(&body);
        let tag = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        Answer { body: body.into(), tag, compressed: Default::default() }
    }

    /// In that form, made once.
    pub(super) fn form(&self, coding: Coding) -> &Bytes {
        match coding {
            Coding::Plain => &self.body,
            coding => self.compressed[coding as usize].get_or_init(|| coding.encode(&self.body)),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    match_id: String,
    what: What,
    cursor: Cursor,
    /// Of what the catalog and the clock add.
    beside: u64,
}

/// Filled by the first who asks; the others wait for it.
type Place = Arc<OnceLock<Arc<Answer>>>;

#[derive(Debug)]
struct Held {
    places: LruCache<Key, Place>,
    bytes: usize,
}

/// The answers that are kept.
#[derive(Debug)]
pub(super) struct Answers {
    held: Mutex<Held>,
}

impl Answers {
    pub(super) fn new() -> Answers {
        let most = NonZeroUsize::new(ANSWERS_MAX).unwrap_or(NonZeroUsize::MIN);
        Answers { held: Mutex::new(Held { places: LruCache::new(most), bytes: 0 }) }
    }

    /// The answer about what is kept now, at that time (UTC, milliseconds). One that is in memory costs nothing and is
    /// given; for another it is asked first whether it may be made. None: it may not.
    pub(super) fn get(
        &self,
        entry: &Match,
        kept: &Kept,
        what: What,
        now_ms: i64,
        may: impl FnOnce() -> bool,
    ) -> Option<Arc<Answer>> {
        let delayed = is_delayed(entry, kept, now_ms);
        let mut beside = DefaultHasher::new();
        if what == What::Snapshot {
            (&entry.title, entry.status, delayed).hash(&mut beside);
        }
        let key = Key { match_id: entry.id.clone(), what, cursor: kept.cursor, beside: beside.finish() };
        let place = self.place(&key, may)?;
        let mut made = false;
        let answer = place.get_or_init(|| {
            made = true;
            Arc::new(Answer::new(render(entry, kept, what, delayed)))
        });
        counter!("scores_snapshot_answers_total", "from" => if made { "fold" } else { "memory" })
            .increment(1);
        if made {
            self.account(answer);
        }
        Some(answer.clone())
    }

    fn place(&self, key: &Key, may: impl FnOnce() -> bool) -> Option<Place> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = held.places.get(key) {
            return Some(place.clone());
        }
        if !may() {
            return None;
        }
        let place = Place::default();
        if let Some((_, old)) = held.places.push(key.clone(), place.clone()) {
            held.bytes -= cost(&old);
        }
        Some(place)
    }

    fn account(&self, new: &Answer) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.bytes += bytes(new);
        while held.bytes > ANSWERS_BYTES_MAX
            && let Some((_, old)) = held.places.pop_lru()
        {
            held.bytes -= cost(&old);
        }
    }
}

/// With room for its compressed forms.
fn bytes(answer: &Answer) -> usize {
    answer.body.len() * 2
}

/// What a place counts for; one that is being filled is accounted for when it is full.
fn cost(place: &Place) -> usize {
    place.get().map_or(0, |answer| bytes(answer))
}

fn is_delayed(entry: &Match, kept: &Kept, now_ms: i64) -> bool {
    let mut delay = kept.delay.clone();
    // The catalog may have changed it during the match.
    delay.set_cadence(entry.cadence_ms());
    entry.status == Status::Live && delay.is_late(now_ms)
}

#[derive(Serialize)]
struct Snapshot<'a> {
    match_id: &'a str,
    as_of_event_id: String,
    status: Status,
    title: &'a str,
    sport: crate::Sport,
    score: Headline,
    feed_delayed: bool,
}

#[derive(Serialize)]
struct Carded<'a> {
    match_id: &'a str,
    cursor: String,
    /// The newest that was looked at.
    upto: String,
    score: Headline,
    card: Card,
}

#[derive(Serialize)]
struct Moments<'a> {
    match_id: &'a str,
    cursor: String,
    moments: Vec<Moment>,
}

fn render(entry: &Match, kept: &Kept, what: What, feed_delayed: bool) -> Vec<u8> {
    let (match_id, cursor) = (entry.id.as_str(), kept.cursor.to_string());
    match what {
        What::Snapshot => {
            let mut body = json(&Snapshot {
                match_id,
                as_of_event_id: cursor,
                status: entry.status,
                title: &entry.title,
                sport: entry.sport,
                score: kept.book.headline(None),
                feed_delayed,
            });
            // The frames are JSON already, and stand in it as they were sent.
            body.pop();
            body.extend_from_slice(b",\"recent\":[");
            for (n, frame) in kept.recent.iter().enumerate() {
                if n > 0 {
                    body.push(b',');
                }
                body.extend_from_slice(frame);
            }
            body.extend_from_slice(b"]}");
            body
        }
        What::Card(moment) => {
            // Before everything nothing had happened yet.
            let at = moment.map(|moment| moment.0.unwrap_or(i64::MIN));
            json(&Carded {
                match_id,
                cursor: at.map_or(kept.cursor, |at_ms| kept.reached(at_ms)).to_string(),
                upto: cursor,
                score: kept.book.headline_at(at),
                card: kept.book.card(at),
            })
        }
        What::Moments => json(&Moments { match_id, cursor, moments: kept.book.moments() }),
        What::Watching => Vec::new(),
    }
}

/// How many watch is as old as the question.
pub(super) fn watching(watching: u64) -> Answer {
    Answer::new(json(&serde_json::json!({ "watching": watching })))
}

/// Our own types have string keys only: writing them cannot fail.
fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}
