//! How many devices of a viewer play at once: a slot for each stream, renewed by heartbeats, freed when it is stopped or
//! silent. Pure; time is an argument.
//!
//! A device has one stream: a page that is loaded again takes its own slot over and is not one too many.

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

    /// Gives a stream a slot, if the viewer has one left of so many. A stream of the same device is over by that.
    ///
    /// # Errors
    ///
    /// The streams that have them.
    pub fn take(&self, viewer: &str, stream: Stream, devices: Option<u8>) -> Result<(), Vec<Stream>> {
        let mut shard = self.shard(viewer);
        let now_ms = stream.heard_ms;
        if !shard.contains_key(viewer) && shard.len() >= self.shard_max {
            shard.retain(|_, streams| {
                streams.retain(|s| !is_silent(s, now_ms));
                !streams.is_empty()
            });
            if shard.len() >= self.shard_max {
                metrics::counter!("arrival_slots_full_total").increment(1);
                return Ok(());
            }
        }
        let streams = shard.entry(viewer.into()).or_default();
        streams.retain(|s| !is_silent(s, now_ms) && s.device != stream.device);
        if devices.is_some_and(|devices| streams.len() >= usize::from(devices)) {
            return Err(streams.clone());
        }
        if streams.len() >= VIEWER_STREAMS_MAX {
            streams.remove(0);
        }
        streams.push(stream);
        Ok(())
    }

    /// A stream of this viewer is still there. False: it is not known, or was silent for too long.
    pub fn heartbeat(&self, viewer: &str, id: &str, now_ms: i64) -> bool {
        let mut shard = self.shard(viewer);
        let found = shard
            .get_mut(viewer)
            .and_then(|all| all.iter_mut().find(|s| s.id == id && !is_silent(s, now_ms)));
        found.map(|stream| stream.heard_ms = stream.heard_ms.max(now_ms)).is_some()
    }

    /// A stream of this viewer is over. False: it was already, or is not theirs.
    pub fn stop(&self, viewer: &str, id: &str) -> bool {
        let mut shard = self.shard(viewer);
        let Some(streams) = shard.get_mut(viewer) else { return false };
        let before = streams.len();
        streams.retain(|s| s.id != id);
        let stopped = streams.len() < before;
        if streams.is_empty() {
            shard.remove(viewer);
        }
        stopped
    }

    /// What this viewer plays, the oldest first.
    pub fn list(&self, viewer: &str, now_ms: i64) -> Vec<Stream> {
        let shard = self.shard(viewer);
        shard
            .get(viewer)
            .map_or(Vec::new(), |all| all.iter().filter(|s| !is_silent(s, now_ms)).cloned().collect())
    }

    /// Takes away what is silent, a part of all each time, so that nobody waits long. To be called with n = 0, 1, 2, …
    pub(crate) fn sweep(&self, n: usize, now_ms: i64) {
        let mut shard = self.shards[n % SHARDS].lock().unwrap_or_else(PoisonError::into_inner);
        shard.retain(|_, streams| {
            streams.retain(|s| !is_silent(s, now_ms));
            !streams.is_empty()
        });
    }

    /// Streams that are kept, silent ones among them.
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

fn is_silent(stream: &Stream, now_ms: i64) -> bool {
    now_ms - stream.heard_ms >= SILENCE_MS
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stream(id: &str, device: &str, now_ms: i64) -> Stream {
        Stream {
            id: id.into(),
            device: device.into(),
            name: device.into(),
            r#match: "final".into(),
            since_ms: now_ms,
            heard_ms: now_ms,
        }
    }

    #[test]
    fn the_third_of_two_is_refused_and_let_in_when_a_slot_is_freed() {
        let slots = Slots::default();
        slots.take("a", stream("s1", "phone", 0), Some(2)).unwrap();
        slots.take("a", stream("s2", "tv", 1), Some(2)).unwrap();
        let taken = slots.take("a", stream("s3", "tablet", 2), Some(2)).unwrap_err();
        assert_eq!(taken.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), ["phone", "tv"]);
        slots.take("b", stream("s4", "tablet", 2), Some(1)).unwrap();

        assert!(!slots.stop("b", "s1"), "nobody ends another's");
        assert!(slots.stop("a", "s1") && !slots.stop("a", "s1"));
        slots.take("a", stream("s3", "tablet", 3), Some(2)).unwrap();

        // The one that goes on keeps its slot, the one that is silent loses it.
        assert!(slots.heartbeat("a", "s3", SILENCE_MS));
        slots.take("a", stream("s5", "phone", SILENCE_MS + 1), Some(2)).unwrap();
        assert_eq!(
            slots.list("a", SILENCE_MS + 1).iter().map(|s| s.id.as_str()).collect::<Vec<_>>(),
            ["s3", "s5"]
        );
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
        (0..SHARDS).for_each(|n| slots_of_one.sweep(n, SILENCE_MS));
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
                        prop_assert!(slots.stop("a", &name) || !known);
                        model.retain(|(d, _)| *d != device);
                    }
                }
                prop_assert_eq!(slots.list("a", now).len(), model.len());
            }
        }
    }
}
