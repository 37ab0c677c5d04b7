//! How many new sockets are let in: a token bucket. What it refuses costs one look at a clock.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::limits::RETRY_AFTER_S_MAX;

/// A bucket that fills evenly.
#[derive(Debug)]
pub(crate) struct Bucket {
    per_s: f64,
    most: f64,
    state: Mutex<(f64, Instant)>,
}

impl Bucket {
    /// A full one.
    pub(crate) fn new(per_s: u32, burst: u32, now: Instant) -> Bucket {
        let most = f64::from(burst);
        Bucket { per_s: f64::from(per_s), most, state: Mutex::new((most, now)) }
    }

    /// Whether there was one left.
    pub(crate) fn take(&self, now: Instant) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (left, at) = *state;
        let left = (left + now.saturating_duration_since(at).as_secs_f64() * self.per_s).min(self.most);
        let taken = left >= 1.0;
        *state = (if taken { left - 1.0 } else { left }, now.max(at));
        taken
    }
}

/// When to come back, in seconds, at random: RFC 9110, 10.2.3 knows whole seconds only.
pub(crate) fn retry_after_s() -> u32 {
    fastrand::u32(1..=RETRY_AFTER_S_MAX)
}

#[cfg(test)]
mod storm;

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn nobody_is_told_to_come_back_in_step() {
        let mut drawn = [0; RETRY_AFTER_S_MAX as usize + 1];
        (0..8_000).for_each(|_| drawn[retry_after_s() as usize] += 1);
        // Each second has an eighth of them; less than half of that is no chance.
        assert!(drawn[0] == 0 && drawn[1..].iter().all(|n| *n > 500), "{drawn:?}");
    }

    #[test]
    fn a_burst_then_the_rate() {
        let start = Instant::now();
        let bucket = Bucket::new(10, 5, start);
        let taken = |at: Instant| (0..100).filter(|_| bucket.take(at)).count();
        assert_eq!(taken(start), 5);
        assert_eq!(taken(start + Duration::from_millis(250)), 2);
        assert_eq!(taken(start + Duration::from_secs(60)), 5, "it never holds more than the burst");
        assert_eq!(taken(start), 0, "a clock that goes back gives nothing");
    }
}
