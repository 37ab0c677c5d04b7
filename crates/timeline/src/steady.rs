//! UTC that never goes back. A wall clock that is set back must make nothing "not happened yet" that has happened, give
//! no expired token a second life, and stop nothing that waits.

use std::time::Instant;

/// How far the wall may be ahead before it is followed, in milliseconds: a step of NTP, not its slewing.
const STEP_MS: i64 = 500;

/// A clock that is told both times whenever it is read.
#[derive(Clone, Copy, Debug)]
pub struct Steady {
    utc_ms: i64,
    since: Instant,
}

impl Steady {
    /// One that begins with that wall time (UTC, milliseconds), at that moment.
    pub fn new(wall_ms: i64, now: Instant) -> Steady {
        Steady { utc_ms: wall_ms, since: now }
    }

    /// UTC in milliseconds: as much later than before as time has passed, or the wall's if that is ahead.
    pub fn read(&mut self, wall_ms: i64, now: Instant) -> i64 {
        let passed = now.saturating_duration_since(self.since).as_millis();
        let steady = self.utc_ms.saturating_add(i64::try_from(passed).unwrap_or(i64::MAX));
        if wall_ms > steady.saturating_add(STEP_MS) {
            *self = Steady::new(wall_ms, now);
            return wall_ms;
        }
        steady
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn it_follows_steps_forward_and_none_back() {
        let began = Instant::now();
        let mut clock = Steady::new(1_000_000, began);
        let after = |ms| began + Duration::from_millis(ms);
        assert_eq!(clock.read(1_000_100, after(100)), 1_000_100);
        assert_eq!(clock.read(100, after(200)), 1_000_200, "set back: time goes on");
        assert_eq!(clock.read(2_000_000, after(300)), 2_000_000, "set forward: followed");
        assert_eq!(clock.read(1_000_400, after(400)), 2_000_100);
        assert_eq!(
            clock.read(0, after(350)),
            2_000_050,
            "a moment that was before is no step back of its own"
        );
    }
}
