//! Eighteen thousand sockets are cut at once, in simulated time: the real bucket and the real draw of `Retry-After` before
//! clients that come back as `web/src/scores` does (`nextWaitMs`, `RECONNECT`), or as others do.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

use super::{Bucket, retry_after_s};
use crate::limits::{UPGRADE_BURST, UPGRADES_PER_S};

const CROWD: usize = 18_000;
const SEEDS: u64 = 20;
/// The shortest wait of our client between connections, in seconds.
const BASE_S: f64 = 1.0;
/// The longest.
const CAP_S: f64 = 30.0;
/// How long one request takes to arrive, at most.
const WAY_S: f64 = 0.1;

/// Who comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Client {
    /// A browser's WebSocket: decorrelated jitter, and nobody tells it what `Retry-After` says.
    Socket,
    /// Our client over `fetch`: the same, and at least `Retry-After`.
    Fetch,
    /// Somebody else's: at once, and then when `Retry-After` says.
    Hasty,
    /// One that must not be: at once, and every second again.
    Lockstep,
}

/// How it went.
#[derive(Debug, Default)]
struct Storm {
    /// When the last one was in, in seconds after the cut.
    last_s: f64,
    attempts: usize,
    /// Attempts and admissions in each tenth of a second.
    asked: Vec<usize>,
    admitted: Vec<usize>,
}

impl Storm {
    /// The most that came in one tenth of a second, after the one second in which the cut itself is felt.
    fn peak(&self) -> usize {
        self.asked.iter().skip(10).copied().max().unwrap_or(0)
    }
}

fn storm(seed: u64, kind: impl Fn(usize) -> Client) -> Storm {
    fastrand::seed(seed);
    let began = Instant::now();
    let at = |s: f64| began + Duration::from_secs_f64(s);
    let bucket = Bucket::new(UPGRADES_PER_S, UPGRADE_BURST, began);
    let mut waits = vec![BASE_S; CROWD];
    let jittered = |wait: &mut f64| {
        let high = (*wait * 3.0).max(BASE_S);
        *wait = (BASE_S + fastrand::f64() * (high - BASE_S)).min(CAP_S);
        *wait
    };
    // In microseconds, which are in order and have no NaN.
    let us = |s: f64| (s * 1e6) as u64;
    let mut coming = BinaryHeap::new();
    for (n, wait) in waits.iter_mut().enumerate() {
        let first_s = match kind(n) {
            Client::Socket | Client::Fetch => jittered(wait),
            Client::Hasty | Client::Lockstep => 0.0,
        };
        coming.push(Reverse((us(first_s + fastrand::f64() * WAY_S), n)));
    }
    let mut storm = Storm::default();
    while let Some(Reverse((now_us, n))) = coming.pop() {
        let now_s = now_us as f64 / 1e6;
        let tenth = (now_s * 10.0) as usize;
        if storm.asked.len() <= tenth {
            storm.asked.resize(tenth + 1, 0);
            storm.admitted.resize(tenth + 1, 0);
        }
        storm.attempts += 1;
        storm.asked[tenth] += 1;
        if bucket.take(at(now_s)) {
            storm.admitted[tenth] += 1;
            storm.last_s = now_s;
            continue;
        }
        let told_s = f64::from(retry_after_s());
        let wait_s = match kind(n) {
            Client::Socket => jittered(&mut waits[n]),
            Client::Fetch => jittered(&mut waits[n]).max(told_s),
            Client::Hasty => told_s,
            Client::Lockstep => 1.0,
        };
        coming.push(Reverse((us(now_s + wait_s + fastrand::f64() * WAY_S), n)));
    }
    storm
}

/// Nothing is spent on more than the bucket lets in, so those who are in do not feel it; everybody is back soon, after few
/// attempts, and no tenth of a second sees a large part of the crowd again.
#[test]
fn eighteen_thousand_come_back_soon_and_not_in_step() {
    let ours = |n: usize| if n.is_multiple_of(3) { Client::Fetch } else { Client::Socket };
    let all = |n: usize| [Client::Socket, Client::Fetch, Client::Hasty][n % 3];
    for seed in 0..SEEDS {
        for (what, storm) in [("ours", storm(seed, ours)), ("all kinds", storm(seed, all))] {
            let admitted: usize = storm.admitted.iter().sum();
            assert_eq!(admitted, CROWD, "{what}, seed {seed}: everybody is let in");
            assert!(storm.last_s < 15.0, "{what}, seed {seed}: the last one is in after {} s", storm.last_s);
            assert!(storm.attempts < CROWD * 2, "{what}, seed {seed}: {} attempts", storm.attempts);
            assert!(storm.peak() < CROWD / 12, "{what}, seed {seed}: {} come in step", storm.peak());
            for second in storm.admitted.windows(10).skip(10) {
                let admitted: usize = second.iter().sum();
                assert!(admitted <= (UPGRADES_PER_S + UPGRADE_BURST) as usize, "{what}, seed {seed}");
            }
        }
        // Even if nobody is ours, none comes twice with the whole crowd: what is told spreads them.
        let hasty = storm(seed, |_| Client::Hasty);
        assert!(hasty.peak() < CROWD / 5 && hasty.last_s < 15.0, "seed {seed}: {hasty:?}");
    }
}

/// The measure can fail: clients without jitter are seen to come in step.
#[test]
fn clients_in_step_would_be_noticed() {
    let storm = storm(1, |_| Client::Lockstep);
    assert!(storm.peak() > CROWD / 5, "{}", storm.peak());
}
