//! What accounts bought, as far as it is known here. Pure; time is an argument.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Held;
use super::limits::{ACCOUNTS_MAX, FOLLOWED_MS, SHARDS};

/// What is known of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// What it bought and is not over, as of then.
    pub held: Arc<[Held]>,
    /// UTC, milliseconds: when the store said so. A purchase that was seen later is in it.
    pub at_ms: i64,
}

#[derive(Default)]
struct Shard {
    known: HashMap<Box<str>, Known>,
    /// In the order in which they came, the oldest first: those that leave.
    order: VecDeque<Box<str>>,
}

/// Purchases by account, at most so many accounts; whoever came first leaves first.
pub struct Cache {
    shards: Vec<Mutex<Shard>>,
    hasher: RandomState,
    shard_max: usize,
    /// Nobody was left out: an account that is not here bought nothing, while the copy is followed.
    whole: AtomicBool,
    /// UTC, milliseconds: when everything that had changed was known here. 0: never.
    followed_ms: AtomicI64,
}

impl Default for Cache {
    fn default() -> Cache {
        Cache::of(ACCOUNTS_MAX)
    }
}

impl Cache {
    /// For at most so many accounts (rounded up to the number of its parts).
    pub fn of(accounts_max: usize) -> Cache {
        Cache {
            shards: std::iter::repeat_with(Mutex::default).take(SHARDS).collect(),
            hasher: RandomState::new(),
            shard_max: accounts_max.div_ceil(SHARDS),
            whole: AtomicBool::new(false),
            followed_ms: AtomicI64::new(0),
        }
    }

    fn shard(&self, account: &str) -> MutexGuard<'_, Shard> {
        let at = self.hasher.hash_one(account) as usize % SHARDS;
        self.shards[at].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of an account. While this is a copy of everything, also of one that bought nothing.
    pub fn get(&self, account: &str, now_ms: i64) -> Option<Known> {
        let known = self.shard(account).known.get(account).cloned();
        // Whoever is known here is followed too: what is known of them is as of then, whenever they came in.
        let at_ms = self.followed_ms.load(Ordering::Relaxed);
        match known {
            Some(known) => Some(Known { at_ms: known.at_ms.max(at_ms), ..known }),
            None => self.is_copy(now_ms).then(|| Known { held: Arc::from([]), at_ms }),
        }
    }

    /// Writes down what the store said of an account.
    pub fn put(&self, account: &str, held: Vec<Held>, now_ms: i64) {
        let known = Known { held: held.into(), at_ms: now_ms };
        let mut shard = self.shard(account);
        if shard.known.insert(account.into(), known).is_some() {
            return;
        }
        shard.order.push_back(account.into());
        if shard.order.len() > self.shard_max {
            if let Some(oldest) = shard.order.pop_front() {
                shard.known.remove(&oldest);
            }
            // Somebody is missing from now on.
            self.whole.store(false, Ordering::Relaxed);
        }
    }

    /// Writes down one purchase that is new or was changed. Of an account that is not known it says something only while
    /// everybody who bought is taken in.
    pub fn apply(&self, account: &str, held: Held, now_ms: i64) {
        let known = self.shard(account).known.get(account).cloned();
        if known.is_none() && !self.whole.load(Ordering::Relaxed) {
            return;
        }
        let at_ms = known.as_ref().map_or(0, |known| known.at_ms);
        let mut all: Vec<Held> = known.map_or(Vec::new(), |known| known.held.to_vec());
        all.retain(|one| one.id != held.id && one.until_ms > now_ms);
        if held.until_ms > now_ms {
            all.push(held);
        } else if all.is_empty() && at_ms == 0 {
            return;
        }
        all.truncate(store::PURCHASES_MAX);
        self.put(account, all, at_ms);
    }

    /// From now on everybody who bought is taken in: a load of everything has begun.
    pub(super) fn begin(&self) {
        self.whole.store(true, Ordering::Relaxed);
    }

    /// Everything that was changed until then is here.
    pub(super) fn followed(&self, now_ms: i64) {
        self.followed_ms.store(now_ms, Ordering::Relaxed);
    }

    /// Nobody is missing, and it is fresh.
    pub fn is_copy(&self, now_ms: i64) -> bool {
        self.whole.load(Ordering::Relaxed) && now_ms - self.followed_ms.load(Ordering::Relaxed) < FOLLOWED_MS
    }

    /// Accounts that are known.
    pub fn len(&self) -> usize {
        self.shards.iter().map(|s| s.lock().unwrap_or_else(PoisonError::into_inner).known.len()).sum()
    }

    /// None is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(id: &str, until_ms: i64) -> Held {
        Held { id: id.into(), product: "gold".into(), from_ms: 0, until_ms }
    }

    fn ids(cache: &Cache, account: &str, now_ms: i64) -> Option<Vec<String>> {
        cache.get(account, now_ms).map(|known| known.held.iter().map(|h| h.id.to_string()).collect())
    }

    #[test]
    fn it_is_bounded_and_knows_that_somebody_is_missing() {
        let cache = Cache::of(SHARDS * 2);
        cache.begin();
        cache.followed(1_000);
        assert!(cache.is_copy(1_000) && ids(&cache, "nobody", 1_000) == Some(vec![]));
        assert!(!cache.is_copy(1_000 + FOLLOWED_MS), "a copy that is not followed is none");
        assert_eq!(ids(&cache, "nobody", 1_000 + FOLLOWED_MS), None);
        for n in 0..SHARDS * 8 {
            cache.apply(&format!("a{n}"), held("p", 5_000), 1_000);
        }
        assert!(cache.len() <= SHARDS * 2, "{}", cache.len());
        assert!(!cache.is_copy(1_000));
        assert_eq!(ids(&cache, "nobody", 1_000), None, "who is missing is not one who bought nothing");
    }

    #[test]
    fn changes_are_seen_and_a_refund_takes_away() {
        let cache = Cache::of(SHARDS);
        cache.apply("a", held("p", 5_000), 1_000);
        assert_eq!(ids(&cache, "a", 1_000), None, "of whom nothing is known, half must not be known");
        cache.put("a", vec![held("p", 5_000)], 1_000);
        cache.apply("a", held("q", 6_000), 1_500);
        assert_eq!(ids(&cache, "a", 1_500), Some(vec!["p".into(), "q".into()]));
        assert_eq!(cache.get("a", 1_500).unwrap().at_ms, 1_000, "a change is not a check");
        cache.apply("a", held("p", 1_600), 1_700);
        assert_eq!(ids(&cache, "a", 1_700), Some(vec!["q".into()]));
    }
}
