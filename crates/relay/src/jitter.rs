//! Waits before trying again, so that those who were cut together do not come back together.

use std::time::Duration;

/// Decorrelated jitter, capped: each wait is drawn between the least one and three times the last.
#[derive(Clone, Debug)]
pub struct Jitter {
    min: Duration,
    max: Duration,
    last: Duration,
    rng: fastrand::Rng,
}

impl Jitter {
    /// Waits between `min` and `max`.
    pub fn new(min: Duration, max: Duration, rng: fastrand::Rng) -> Jitter {
        Jitter { min, max: max.max(min), last: min, rng }
    }

    /// The next wait.
    pub fn next_wait(&mut self) -> Duration {
        let (low, high) =
            (self.min.as_secs_f64(), (self.last.as_secs_f64() * 3.0).max(self.min.as_secs_f64()));
        let drawn = Duration::from_secs_f64(low + (high - low) * self.rng.f64());
        self.last = drawn.clamp(self.min, self.max);
        self.last
    }

    /// It went well: the next wait is short again.
    pub fn reset(&mut self) {
        self.last = self.min;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_spread_and_stay_within_their_bounds() {
        let (min, max) = (Duration::from_millis(50), Duration::from_secs(1));
        let of = |seed| {
            let mut jitter = Jitter::new(min, max, fastrand::Rng::with_seed(seed));
            (0..50).map(|_| jitter.next_wait()).collect::<Vec<_>>()
        };
        let (one, two) = (of(1), of(2));
        assert!(one.iter().chain(&two).all(|w| (min..=max).contains(w)));
        assert!(one.iter().zip(&two).filter(|(a, b)| a == b).count() < 25, "two takers are not in lockstep");
        assert!(one.iter().any(|w| *w > max / 2), "it grows");
    }
}
