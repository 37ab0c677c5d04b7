//! How often something may be asked for. Pure: time is an argument.

use std::time::Duration;

/// A token bucket that holds what two seconds bring.
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    rate: f64,
    tokens: f64,
    /// Since the role's start.
    at: Duration,
}

impl Bucket {
    /// Full.
    pub(super) fn new(per_s: u32) -> Bucket {
        let rate = f64::from(per_s);
        Bucket { rate, tokens: rate * 2.0, at: Duration::ZERO }
    }

    /// Whether there was a token to take.
    pub(super) fn take(&mut self, now: Duration) -> bool {
        let since = now.saturating_sub(self.at);
        self.at = self.at.max(now);
        self.tokens = (self.tokens + since.as_secs_f64() * self.rate).min(self.rate * 2.0);
        let had = self.tokens >= 1.0;
        if had {
            self.tokens -= 1.0;
        }
        had
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_gives_its_rate_and_once_twice_as_much() {
        let mut bucket = Bucket::new(10);
        let mut at = |ms| (0..100).filter(|_| bucket.take(Duration::from_millis(ms))).count();
        assert_eq!(at(0), 20);
        assert_eq!(at(99), 0);
        assert_eq!(at(1_000), 10);
        assert_eq!(at(500), 0, "a clock that goes back gives nothing");
        assert_eq!(at(60_000), 20);
    }
}
