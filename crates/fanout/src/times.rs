//! Time as a worker keeps it: tenths of a second since the server was opened, on the monotonic clock, in 32 bits. That
//! is thirteen years, and a socket has several of them.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A moment, in tenths of a second since the server's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tick(u32);

/// Never.
pub(crate) const NEVER: Tick = Tick(u32::MAX);

impl Tick {
    /// The moment that long after the start.
    pub(crate) fn of(since_start: Duration) -> Tick {
        Tick((since_start.as_millis() / 100).min(u128::from(u32::MAX - 1)) as u32)
    }

    /// That much later.
    pub(crate) fn after(self, duration: Duration) -> Tick {
        Tick(self.0.saturating_add(Tick::of(duration).0).min(u32::MAX - 1))
    }

    /// How long it was before that moment.
    pub(crate) fn until(self, later: Tick) -> Duration {
        Duration::from_millis(u64::from(later.0.saturating_sub(self.0)) * 100)
    }
}

/// The server's clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(Instant);

impl Clock {
    /// One that starts now.
    pub(crate) fn start() -> Clock {
        Clock(Instant::now())
    }

    /// Now.
    pub(crate) fn tick(self) -> Tick {
        Tick::of(self.0.elapsed())
    }
}

/// UTC in microseconds.
pub(crate) fn utc_us() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_is_a_tenth_of_a_second_and_never_wraps() {
        let start = Tick::of(Duration::ZERO);
        let later = start.after(Duration::from_secs(25));
        assert_eq!(start.until(later), Duration::from_secs(25));
        assert_eq!(later.until(start), Duration::ZERO);
        assert!(later.after(Duration::from_secs(u64::MAX / 1_000)) < NEVER);
    }
}
