//! Token buckets: so many a second, so many at once. Pure; time is an argument.

use std::collections::HashMap;
use std::hash::Hash;

/// One bucket.
#[derive(Clone, Copy, Debug)]
pub struct Bucket {
    tokens: f64,
    at_ms: i64,
}

/// How a bucket is filled.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    /// Tokens a second.
    pub per_s: f64,
    /// Tokens that it holds.
    pub burst: f64,
}

impl Bucket {
    /// A full one.
    pub fn full(rate: Rate, now_ms: i64) -> Bucket {
        Bucket { tokens: rate.burst, at_ms: now_ms }
    }

    /// Takes a token, if there is one. A clock that goes back fills nothing.
    pub fn take(&mut self, rate: Rate, now_ms: i64) -> bool {
        let passed_ms = (now_ms - self.at_ms).max(0) as f64;
        self.tokens = (self.tokens + passed_ms * rate.per_s / 1_000.0).min(rate.burst);
        self.at_ms = self.at_ms.max(now_ms);
        let has = self.tokens >= 1.0;
        if has {
            self.tokens -= 1.0;
        }
        has
    }

    /// It would be full by now.
    fn is_full(&self, rate: Rate, now_ms: i64) -> bool {
        self.tokens + (now_ms - self.at_ms).max(0) as f64 * rate.per_s / 1_000.0 >= rate.burst
    }
}

/// A bucket for each of many, at most so many.
#[derive(Debug)]
pub struct Buckets<K> {
    all: HashMap<K, Bucket>,
    rate: Rate,
    max: usize,
    swept_ms: i64,
}

impl<K: Eq + Hash> Buckets<K> {
    /// None so far.
    pub fn new(rate: Rate, max: usize) -> Buckets<K> {
        Buckets { all: HashMap::new(), rate, max, swept_ms: i64::MIN }
    }

    /// Takes a token of this one's. Whoever comes while the table is full of others that are in use is not counted:
    /// somebody who sends from a million addresses must not lock everybody else out.
    pub fn take(&mut self, who: K, now_ms: i64) -> bool {
        let rate = self.rate;
        if let Some(bucket) = self.all.get_mut(&who) {
            return bucket.take(rate, now_ms);
        }
        if self.all.len() >= self.max {
            // Full ones say nothing. Once a second, since it looks at all of them.
            if now_ms.saturating_sub(self.swept_ms) < 1_000 {
                return true;
            }
            self.swept_ms = now_ms;
            self.all.retain(|_, bucket| !bucket.is_full(rate, now_ms));
            if self.all.len() >= self.max {
                return true;
            }
        }
        self.all.entry(who).or_insert_with(|| Bucket::full(rate, now_ms)).take(rate, now_ms)
    }

    /// How many have one.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Nobody has.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate { per_s: 10.0, burst: 5.0 };

    #[test]
    fn so_many_at_once_and_so_many_a_second() {
        let mut bucket = Bucket::full(RATE, 0);
        assert_eq!((0..10).filter(|_| bucket.take(RATE, 0)).count(), 5);
        assert!(!bucket.take(RATE, 99) && bucket.take(RATE, 100));
        let taken = (0..10_000).filter(|ms| bucket.take(RATE, 1_000 + ms)).count();
        assert!((100..=105).contains(&taken), "{taken}");
        assert!(!bucket.take(RATE, 0), "a clock that goes back");
    }

    #[test]
    fn one_does_not_use_up_anothers_and_the_table_is_bounded() {
        let mut buckets = Buckets::new(RATE, 100);
        assert_eq!((0..10).filter(|_| buckets.take(0, 0)).count(), 5);
        assert!(buckets.take(1, 0));
        (2..1_000).for_each(|who| assert!(buckets.take(who, 1)));
        assert_eq!(buckets.len(), 100);
        assert!(buckets.take(5_000, 2_000) && buckets.len() < 100, "those that are full again say nothing");
    }
}
