//! Token buckets for accounts and for client addresses.

use std::hash::BuildHasher;
use std::hash::{Hash, RandomState};
use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use lru::LruCache;

use super::limits::{BUCKETS_MAX, CHEAP_PER_CLIENT, DEAR_PER_CLIENT, MAILS_PER_ACCOUNT, PER_ACCOUNT};
use super::problem::Problem;

/// Buckets of one kind, by key; those that were used least recently are forgotten.
struct Buckets {
    /// What fits, and what comes in a second.
    burst: f64,
    per_s: f64,
    known: Mutex<LruCache<u64, Bucket>>,
    /// Keys are hashed with it, so that nobody can aim at another's bucket, and no address is kept.
    hasher: RandomState,
}

struct Bucket {
    left: f64,
    at_ms: i64,
}

impl Buckets {
    fn new((burst, per_s): (f64, f64)) -> Buckets {
        let max = NonZeroUsize::new(BUCKETS_MAX).unwrap_or(NonZeroUsize::MIN);
        Buckets { burst, per_s, known: Mutex::new(LruCache::new(max)), hasher: RandomState::new() }
    }

    /// Takes one, or says in how many seconds there will be one.
    fn take(&self, key: impl Hash, now_ms: i64) -> Result<(), Problem> {
        let key = self.hasher.hash_one(key);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = known.get_or_insert_mut(key, || Bucket { left: self.burst, at_ms: now_ms });
        let passed_s = now_ms.saturating_sub(bucket.at_ms).max(0) as f64 / 1_000.0;
        bucket.left = (bucket.left + passed_s * self.per_s).min(self.burst);
        bucket.at_ms = now_ms;
        if bucket.left < 1.0 {
            return Err(Problem::too_often(((1.0 - bucket.left) / self.per_s).ceil() as u32));
        }
        bucket.left -= 1.0;
        Ok(())
    }

    fn give_back(&self, key: impl Hash) {
        let key = self.hasher.hash_one(key);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bucket) = known.get_mut(&key) {
            bucket.left = (bucket.left + 1.0).min(self.burst);
        }
    }
}

/// All of them.
pub(crate) struct Rates {
    tries: Buckets,
    mails: Buckets,
    dear: Buckets,
    cheap: Buckets,
}

impl Rates {
    pub(crate) fn new() -> Rates {
        Rates {
            tries: Buckets::new(PER_ACCOUNT),
            mails: Buckets::new(MAILS_PER_ACCOUNT),
            dear: Buckets::new(DEAR_PER_CLIENT),
            cheap: Buckets::new(CHEAP_PER_CLIENT),
        }
    }

    /// A password or a code of this account is tried; whether there is such an account plays no part.
    pub(crate) fn try_account(&self, account: &str, now_ms: i64) -> Result<(), Problem> {
        self.tries.take(account, now_ms)
    }

    /// It was right.
    pub(crate) fn was_right(&self, account: &str) {
        self.tries.give_back(account);
    }

    /// A mail to this address.
    pub(crate) fn mail(&self, email: &str, now_ms: i64) -> Result<(), Problem> {
        self.mails.take(email, now_ms)
    }

    /// A request that costs a hash or a mail.
    pub(crate) fn dear(&self, client: Option<IpAddr>, now_ms: i64) -> Result<(), Problem> {
        self.dear.take(network(client), now_ms)
    }

    /// Any other that makes something.
    pub(crate) fn cheap(&self, client: Option<IpAddr>, now_ms: i64) -> Result<(), Problem> {
        self.cheap.take(network(client), now_ms)
    }
}

/// What one customer of a network has: an IPv4 address, or the first 64 bits of an IPv6 address. All whose address is
/// not known share a bucket.
fn network(client: Option<IpAddr>) -> u64 {
    match client.map(|ip| ip.to_canonical()) {
        None => 0,
        Some(IpAddr::V4(ip)) => 1 << 32 | u64::from(ip.to_bits()),
        Some(IpAddr::V6(ip)) => (ip.to_bits() >> 64) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_then_a_pace() {
        let buckets = Buckets::new((3.0, 0.5));
        for _ in 0..3 {
            assert!(buckets.take("a", 0).is_ok());
        }
        assert!(buckets.take("a", 1_999).is_err());
        assert!(buckets.take("b", 1_999).is_ok(), "another's bucket");
        assert!(buckets.take("a", 2_000).is_ok());
        assert!(buckets.take("a", 2_000).is_err());
        buckets.give_back("a");
        assert!(buckets.take("a", 2_000).is_ok());
        // A clock that goes back gives nothing.
        assert!(buckets.take("a", 0).is_err());
    }

    #[test]
    fn a_network_is_one_client() {
        let of = |ip: &str| network(Some(ip.parse().unwrap()));
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }
}
