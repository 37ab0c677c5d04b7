//! Harness of the end-to-end tests: the real binary with its children, and what watches it from outside.
//!
//! * [`program`]: the binary under test, as a child that leaves nothing behind.
//! * [`all`]: a whole match by `pavilion run`. [`roles`]: the same as separate processes.
//! * [`scores`]: the score plane as separate processes, and its viewers.
//! * [`process`]: who is whose child, and `kill -9`.
//! * [`web`]: requests. [`follow`]: playlists read again and again, held against rfc8216bis and the grid.
//! * [`machine`]: whether the machine did its part.
//! * [`recorder`]: an origin that writes down what pipelines publish, and refuses when told to.
//! * [`media`]: decoded pictures and sound. [`tools`]: foreign programs. [`feeds`]: contribution feeds.
//!
//! Whatever is random prints its seed (`PAVILION_SEED` sets it), and whatever is waited for is a condition with
//! a limit.

// This package is only ever linked into tests, where a panic is the message.
#![allow(clippy::unwrap_used, clippy::panic, clippy::missing_panics_doc)]

pub mod all;
pub mod feeds;
pub mod follow;
pub mod machine;
pub mod media;
pub mod process;
pub mod program;
pub mod recorder;
pub mod roles;
pub mod scores;
pub mod tools;
pub mod web;

use std::time::{Duration, Instant};

/// How often a condition is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// Waits until `look` has something, or panics with `what` after `limit`.
pub async fn until<T, F: Future<Output = Option<T>>>(
    what: &str,
    limit: Duration,
    mut look: impl FnMut() -> F,
) -> T {
    let began = Instant::now();
    loop {
        if let Some(seen) = look().await {
            return seen;
        }
        assert!(began.elapsed() < limit, "waited {limit:?} in vain: {what}");
        tokio::time::sleep(LOOK).await;
    }
}

/// A source of randomness that can be had again.
pub fn random(test: &str) -> fastrand::Rng {
    let seed =
        std::env::var("PAVILION_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or_else(|| fastrand::u64(..));
    println!("{test}: PAVILION_SEED={seed}");
    fastrand::Rng::with_seed(seed)
}

/// A number from the environment, for those who develop.
pub fn setting(name: &str, default: usize) -> usize {
    match std::env::var(name) {
        Ok(value) => value.parse().unwrap_or_else(|_| panic!("{name}='{value}' is not a number")),
        Err(_) => default,
    }
}
