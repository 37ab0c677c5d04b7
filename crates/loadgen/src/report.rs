//! What a viewer has seen.

use serde::Serialize;
use timeline::Utc;

/// How many faults are kept word for word; a broken stream repeats itself.
pub const FAULTS_KEPT: usize = 50;

/// One viewer's account.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Playlists that were played, as the multivariant playlist names them.
    pub tracks: Vec<String>,
    /// From the first request to the first picture; `None` when there was none.
    pub startup_ms: Option<i64>,
    /// How far the playhead moved through the media.
    pub played_ms: i64,
    /// How far it was behind the clock.
    pub latency_ms: Quantiles,
    /// Each time the playhead stood for more than 250 ms.
    pub stalls: Vec<Stall>,
    /// All standing, shorter than that too.
    pub standing_ms: i64,
    /// Each hole that was jumped over.
    pub jumps: Vec<Jump>,
    /// Parts and segments that were announced as gaps where they would have been played.
    pub gaps: u64,
    /// Playlists received.
    pub playlists: u64,
    /// How many of them were delta updates.
    pub deltas: u64,
    /// Init segments, parts and segments received.
    pub objects: u64,
    /// Requests made.
    pub requests: u64,
    /// Requests that failed or were not answered with 200.
    pub errors: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Times that something was wrong.
    pub fault_count: u64,
    /// The first of them.
    pub faults: Vec<Fault>,
    /// The match has ended and was played to its end.
    pub finished: bool,
}

/// A playhead that stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Stall {
    /// Venue time that was on screen.
    pub at: Utc,
    /// When it began, on the wall clock.
    pub since: Utc,
    /// How long it lasted.
    pub length_ms: i64,
}

/// A hole that was jumped over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Jump {
    /// Venue time of its beginning.
    pub at: Utc,
    /// How much of the match is missing.
    pub over_ms: i64,
}

/// Something wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// When it was seen.
    pub at: Utc,
    /// What it is, with the section of rfc8216bis where there is one.
    pub what: String,
}

/// A distribution, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Quantiles {
    /// How many were taken.
    pub count: usize,
    /// The least.
    pub min: f64,
    /// Half are no more.
    pub p50: f64,
    /// 95 in 100 are no more.
    pub p95: f64,
    /// 99 in 100 are no more.
    pub p99: f64,
    /// The most.
    pub max: f64,
}

impl Quantiles {
    /// Of samples in microseconds, in any order.
    pub fn of_micros(mut samples: Vec<i64>) -> Quantiles {
        samples.sort_unstable();
        // The nearest rank: always a value that was seen.
        let rank = |q: f64| {
            let n = (q * samples.len() as f64).ceil() as usize;
            samples.get(n.saturating_sub(1)).map_or(0.0, |&us| us as f64 / 1_000.0)
        };
        Quantiles {
            count: samples.len(),
            min: rank(0.0),
            p50: rank(0.5),
            p95: rank(0.95),
            p99: rank(0.99),
            max: rank(1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_samples() {
        let of = Quantiles::of_micros((1..=200).rev().map(|ms| ms * 1_000).collect());
        assert_eq!(
            (of.count, of.min, of.p50, of.p95, of.p99, of.max),
            (200, 1.0, 100.0, 190.0, 198.0, 200.0)
        );
        assert_eq!(Quantiles::of_micros(vec![]), Quantiles::default());
    }
}
