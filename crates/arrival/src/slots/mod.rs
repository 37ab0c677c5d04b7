//! How many devices of a viewer play at once: a slot for each stream, renewed by heartbeats, freed when it is stopped or
//! silent. Pure; time is an argument.
//!
//! A device has one stream: a page that is loaded again takes its own slot over and is not one too many.
//!
//! A pass outlives its stream: edges renew it, whatever becomes of the slot. So a stream that was left, replaced or silent is
//! kept until its last pass ends, without a slot, and its pass is taken back when its place is given to another: not
//! before, or each viewer who leaves a final were a message to every edge.

mod http;
pub(crate) mod limits;

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) use http::router;
use limits::{SHARDS, SILENCE_MS, STREAMS_MAX, VIEWER_STREAMS_MAX};

/// One stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The session, which is the pass's too.
    pub id: String,
    /// What it plays on.
    pub device: String,
    /// For people, as the device says: "Firefox on Android".
    pub name: String,
    /// What it plays.
    pub r#match: String,
    /// UTC, milliseconds: since when.
    pub since_ms: i64,
    /// UTC, milliseconds: when it was last heard of.
    pub heard_ms: i64,
    /// UTC, milliseconds: its last pass ends.
    pub until_ms: i64,
    /// Its viewer has left it, or began another on the same device: it has no slot.
    pub left: bool,
}

/// The streams of everybody.
pub struct Slots {
    shards: Vec<Mutex<HashMap<Box<str>, Vec<Stream>>>>,
    hasher: RandomState,
    shard_max: usize,
}

impl Default for Slots {
    fn default() -> Slots {
        Slots::of(STREAMS_MAX)
    }
}

impl Slots {
    /// For about so many streams.
    pub fn of(streams_max: usize) -> Slots {
        Slots {
            shards: std::iter::repeat_with(Mutex::default).take(SHARDS).collect(),
            hasher: RandomState::new(),
            shard_max: streams_max.div_ceil(SHARDS),
        }
    }

    fn shard(&self, viewer: &str) -> MutexGuard<'_, HashMap<Box<str>, Vec<Stream>>> {
        let at = self.hasher.hash_one(viewer) as usize % SHARDS;
        self.shards[at].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a stream a slot, if the viewer has one left of so many. One of the same device is over by that, unless it is the
    /// same, which goes on. Gives the streams whose passes are to be taken back, since their places are needed.
    ///
    /// # Errors
    ///
    /// The streams that have the slots.
    pub fn take(
        &self,
        viewer: &str,
        stream: Stream,
        devices: Option<u8>,
    ) -> Result<Vec<String>, Vec<Stream>> {
        let mut shard = self.shard(viewer);
        let now_ms = stream.heard_ms;
        if !shard.contains_key(viewer) && shard.len() >= self.shard_max {
            // Those without a slot go first, though their passes are good: a full house still plays.
            keep(&mut shard, |s| plays(s, now_ms));
            if shard.len() >= self.shard_max {
                metrics::counter!("arrival_slots_full_total").increment(1);
                return Ok(Vec::new());
            }
        }
        let streams = shard.entry(viewer.into()).or_default();
        streams.retain(|s| is_kept(s, now_ms));
        let others = streams.iter().filter(|s| plays(s, now_ms) && s.device != stream.device);
        if devices.is_some_and(|devices| others.clone().count() >= usize::from(devices)) {
            return Err(others.cloned().collect());
        }
        // One that is refused stays known, or its pass could never be taken back.
        streams.retain(|s| s.id != stream.id);
        streams.iter_mut().filter(|s| s.device == stream.device).for_each(|s| s.left = true);
        streams.push(stream);
        let places = devices.map_or(VIEWER_STREAMS_MAX, usize::from).min(VIEWER_STREAMS_MAX);
        let mut over = Vec::new();
        while streams.len() > places {
            // Who has no slot goes first, and of those the oldest.
            let at = streams.iter().position(|s| !plays(s, now_ms)).unwrap_or(0);
            over.push(streams.remove(at).id);
        }
        Ok(over)
    }

    /// Whether this is a stream of this viewer, on this device and of this match, which may go on under its name.
    pub fn goes_on(&self, viewer: &str, id: &str, device: &str, r#match: &str) -> bool {
        let same = |s: &Stream| s.id == id && s.device == device && s.r#match == r#match;
        self.shard(viewer).get(viewer).is_some_and(|all| all.iter().any(same))
    }

    /// A stream of this viewer is still there. False: it is not known, or was silent for too long.
    pub fn heartbeat(&self, viewer: &str, id: &str, now_ms: i64) -> bool {
        let mut shard = self.shard(viewer);
        let found =
            shard.get_mut(viewer).and_then(|all| all.iter_mut().find(|s| s.id == id && plays(s, now_ms)));
        found.map(|stream| stream.heard_ms = stream.heard_ms.max(now_ms)).is_some()
    }

    /// A stream of this viewer is over. On the device that says so it is left, and its slot is free; from another it is
    /// stopped: true, its pass is to be taken back.
    pub fn stop(&self, viewer: &str, id: &str, device: &str) -> bool {
        let mut shard = self.shard(viewer);
        let Some(streams) = shard.get_mut(viewer) else { return false };
        let Some(at) = streams.iter().position(|s| s.id == id) else { return false };
        if streams[at].device == device {
            streams[at].left = true;
            return false;
        }
        streams.remove(at);
        if streams.is_empty() {
            shard.remove(viewer);
        }
        true
    }

    /// What this viewer plays, the oldest first.
    pub fn list(&self, viewer: &str, now_ms: i64) -> Vec<Stream> {
        let shard = self.shard(viewer);
        shard.get(viewer).map_or(Vec::new(), |all| all.iter().filter(|s| plays(s, now_ms)).cloned().collect())
    }

    /// Takes away what has ended, a part of all each time, so that nobody waits long. To be called with n = 0, 1, 2, …
    pub(crate) fn sweep(&self, n: usize, now_ms: i64) {
        let mut shard = self.shards[n % SHARDS].lock().unwrap_or_else(PoisonError::into_inner);
        keep(&mut shard, |s| is_kept(s, now_ms));
    }

    /// Streams that are kept, those without a slot among them.
    pub fn len(&self) -> usize {
        let count = |s: &Mutex<HashMap<_, Vec<Stream>>>| {
            s.lock().unwrap_or_else(PoisonError::into_inner).values().map(Vec::len).sum::<usize>()
        };
        self.shards.iter().map(count).sum()
    }

    /// None is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// It has a slot.
fn plays(stream: &Stream, now_ms: i64) -> bool {
    !stream.left && now_ms - stream.heard_ms < SILENCE_MS
}

/// It has a slot, or a pass.
fn is_kept(stream: &Stream, now_ms: i64) -> bool {
    plays(stream, now_ms) || now_ms < stream.until_ms
}

fn keep(shard: &mut HashMap<Box<str>, Vec<Stream>>, which: impl Fn(&Stream) -> bool) {
    shard.retain(|_, streams| {
        streams.retain(&which);
        !streams.is_empty()
    });
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Of the last pass of each stream here.
    const PASS_MS: i64 = 10 * SILENCE_MS;

    fn stream(id: &str, device: &str, now_ms: i64) -> Stream {
        Stream {
            id: id.into(),
            device: device.into(),
            name: device.into(),
            r#match: "final".into(),
            since_ms: now_ms,
            heard_ms: now_ms,
            until_ms: now_ms + PASS_MS,
            left: false,
        }
    }

    fn ids(streams: &[Stream]) -> Vec<&str> {
        streams.iter().map(|s| s.id.as_str()).collect()
    }

    #[test]
    fn the_third_of_two_is_refused_and_let_in_when_a_slot_is_freed() {
        let slots = Slots::default();
        slots.take("a", stream("s1", "phone", 0), Some(2)).unwrap();
        slots.take("a", stream("s2", "tv", 1), Some(2)).unwrap();
        let taken = slots.take("a", stream("s3", "tablet", 2), Some(2)).unwrap_err();
        assert_eq!(taken.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), ["phone", "tv"]);
        slots.take("b", stream("s4", "tablet", 2), Some(1)).unwrap();

        assert!(!slots.stop("b", "s1", "tv"), "nobody ends another's");
        assert!(slots.stop("a", "s1", "tv") && !slots.stop("a", "s1", "tv"));
        assert!(slots.take("a", stream("s3", "tablet", 3), Some(2)).unwrap().is_empty());

        // The one that goes on keeps its slot, the one that is silent loses it, and its pass when the place is needed.
        assert!(slots.heartbeat("a", "s3", SILENCE_MS));
        assert_eq!(slots.take("a", stream("s5", "phone", SILENCE_MS + 1), Some(2)), Ok(vec!["s2".into()]));
        assert_eq!(ids(&slots.list("a", SILENCE_MS + 1)), ["s3", "s5"]);
        assert!(!slots.heartbeat("a", "s2", SILENCE_MS + 1), "it must ask again");
    }

    #[test]
    fn a_page_that_is_loaded_again_takes_its_own_slot() {
        let slots = Slots::default();
        for n in 0..5 {
            slots.take("a", stream(&format!("s{n}"), "phone", n), Some(1)).unwrap();
        }
        assert_eq!(slots.list("a", 5).len(), 1);
        assert!(!slots.heartbeat("a", "s3", 5), "the page before it is over");
    }

    #[test]
    fn a_pass_that_was_left_is_taken_back_when_its_place_is_needed_and_not_before() {
        let slots = Slots::default();
        slots.take("a", stream("s1", "phone", 0), Some(2)).unwrap();
        assert!(!slots.stop("a", "s1", "phone"), "who leaves is no message to the edges");
        assert!(slots.list("a", 1).is_empty() && !slots.heartbeat("a", "s1", 1));
        assert_eq!(slots.take("a", stream("s2", "tv", 1), Some(2)), Ok(vec![]));
        assert_eq!(slots.take("a", stream("s3", "tablet", 2), Some(2)), Ok(vec!["s1".into()]));
        // One device that asks again and again has no more passes than its plan has devices.
        assert_eq!(slots.take("a", stream("s4", "tv", 3), Some(2)), Ok(vec!["s2".into()]));
        // The same stream goes on, by its name, its device and its match.
        assert!(slots.goes_on("a", "s4", "tv", "final") && !slots.goes_on("a", "s2", "tv", "final"));
        assert!(!slots.goes_on("a", "s4", "phone", "final") && !slots.goes_on("a", "s4", "tv", "cup"));
        assert!(!slots.goes_on("b", "s4", "tv", "final"));
        assert_eq!(slots.take("a", stream("s4", "tv", 4), Some(2)), Ok(vec![]));
        assert_eq!(ids(&slots.list("a", 4)), ["s3", "s4"]);
        // Refused by a plan of fewer devices: its pass is still known, and taken back when the place goes to another.
        assert!(!slots.stop("a", "s3", "tablet"));
        assert_eq!(ids(&slots.take("a", stream("s3", "tablet", 5), Some(1)).unwrap_err()), ["s4"]);
        assert_eq!(slots.take("a", stream("s6", "phone", 5), Some(2)), Ok(vec!["s3".into()]));
        // When the last pass has ended by itself, there is nothing to take back.
        let later = 5 + PASS_MS;
        assert_eq!(slots.take("a", stream("s5", "phone", later), Some(1)), Ok(vec![]));
    }

    #[test]
    fn memory_is_bounded_and_a_full_house_still_plays() {
        let slots = Slots::of(SHARDS);
        for n in 0..SHARDS * 4 {
            slots.take(&format!("v{n}"), stream("s", "phone", 0), Some(1)).unwrap();
        }
        assert!(slots.len() <= SHARDS);
        let slots_of_one = Slots::default();
        for n in 0..VIEWER_STREAMS_MAX * 2 {
            slots_of_one.take("a", stream(&n.to_string(), &n.to_string(), 0), None).unwrap();
        }
        assert_eq!(slots_of_one.len(), VIEWER_STREAMS_MAX);
        (0..SHARDS).for_each(|n| slots_of_one.sweep(n, PASS_MS));
        assert!(slots_of_one.is_empty());
    }

    proptest! {
        /// Against a plain model: never more than the limit are heard, and who has room is let in.
        #[test]
        fn never_more_than_allowed(steps in proptest::collection::vec((0u8..4, 0u8..5, 0i64..60_000), 1..60)) {
            let slots = Slots::default();
            let mut model: Vec<(u8, i64)> = Vec::new();
            let mut now = 0;
            for (what, device, wait) in steps {
                now += wait;
                model.retain(|(_, heard)| now - heard < SILENCE_MS);
                let name = device.to_string();
                match what {
                    0 | 1 => {
                        let room = model.iter().filter(|(d, _)| *d != device).count() < 2;
                        prop_assert_eq!(slots.take("a", stream(&name, &name, now), Some(2)).is_ok(), room);
                        model.retain(|(d, _)| *d != device);
                        if room { model.push((device, now)) }
                    }
                    2 => {
                        let known = model.iter_mut().find(|(d, _)| *d == device);
                        prop_assert_eq!(slots.heartbeat("a", &name, now), known.is_some());
                        if let Some(known) = known { known.1 = now }
                    }
                    _ => {
                        let known = model.iter().any(|(d, _)| *d == device);
                        // One that was silent may be stopped too.
                        prop_assert!(slots.stop("a", &name, "another") || !known);
                        model.retain(|(d, _)| *d != device);
                    }
                }
                prop_assert_eq!(slots.list("a", now).len(), model.len());
            }
        }
    }
}
