//! Time as a worker keeps it: tenths of a second since the server was opened, on the monotonic clock, in 32 bits. That
//! is thirteen years, and a socket has several of them.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use timeline::Steady;

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
#[derive(Debug)]
pub(crate) struct Clock {
    began: Instant,
    utc: Mutex<Steady>,
}

impl Clock {
    /// One that starts now.
    pub(crate) fn start() -> Clock {
        Clock::starting(utc_us() / 1_000, Instant::now())
    }

    fn starting(wall_ms: i64, now: Instant) -> Clock {
        Clock { began: now, utc: Mutex::new(Steady::new(wall_ms, now)) }
    }

    /// Now.
    pub(crate) fn tick(&self) -> Tick {
        Tick::of(self.began.elapsed())
    }

    /// UTC in seconds, for what tokens say. It never goes back: a wall clock that is set back brings no token to life again.
    pub(crate) fn utc_s(&self) -> i64 {
        self.utc_s_at(utc_us() / 1_000, Instant::now())
    }

    fn utc_s_at(&self, wall_ms: i64, now: Instant) -> i64 {
        self.utc.lock().unwrap_or_else(PoisonError::into_inner).read(wall_ms, now) / 1_000
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

    #[test]
    fn a_wall_clock_that_is_set_back_brings_no_token_to_life() {
        const HOUR_S: i64 = 3_600;
        let (began, wall_s) = (Instant::now(), 1_764_490_000);
        let signer = pass::Signer::generate("k").unwrap();
        let keys = pass::KeySet::from_jwks(&signer.jwks()).unwrap();
        let token = |exp| {
            let claims = pass::Claims { sub: "v".into(), exp, ..pass::Claims::default() };
            signer.sign(&claims).unwrap()
        };
        let (short, long) = (token(wall_s + 60), token(wall_s + HOUR_S));
        let clock = Clock::starting(wall_s * 1_000, began);
        let good = |token: &str, after_s: u64, wall_s: i64| {
            let now = began + Duration::from_secs(after_s);
            keys.verify(token, clock.utc_s_at(wall_s * 1_000, now)).is_ok()
        };
        assert!(good(&short, 30, wall_s + 30));
        assert!(!good(&short, 100, wall_s + 100));
        assert!(!good(&short, 110, wall_s + 110 - HOUR_S), "set back by an hour");
        assert!(good(&long, 120, wall_s + 120 - HOUR_S), "and what is good stays so");
        assert!(!good(&long, 3_700, wall_s + 100), "as long as it would have been, and no longer");
        assert!(good(&token(wall_s + 2 * HOUR_S), 3_701, wall_s + 101));
    }
}
