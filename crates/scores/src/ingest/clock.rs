//! The time of the desk: UTC, but never backwards. A wall clock that is set back must neither make what feeds say
//! "not happened yet", nor stop what waits.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// How far the wall may be ahead before it is followed: a step of NTP, not its slewing.
const STEP_MS: i64 = 500;

/// A clock.
#[derive(Debug)]
pub(super) struct Clock {
    utc_ms: i64,
    since: Instant,
}

impl Clock {
    pub(super) fn new() -> Clock {
        Clock { utc_ms: wall_ms(), since: Instant::now() }
    }

    /// UTC, milliseconds.
    pub(super) fn now_ms(&mut self) -> i64 {
        self.read(wall_ms(), Instant::now())
    }

    fn read(&mut self, wall_ms: i64, now: Instant) -> i64 {
        let passed = now.saturating_duration_since(self.since).as_millis();
        let steady = self.utc_ms.saturating_add(i64::try_from(passed).unwrap_or(i64::MAX));
        if wall_ms > steady.saturating_add(STEP_MS) {
            *self = Clock { utc_ms: wall_ms, since: now };
            return wall_ms;
        }
        steady
    }
}

fn wall_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn it_follows_steps_forward_and_none_back() {
        let began = Instant::now();
        let mut clock = Clock { utc_ms: 1_000_000, since: began };
        let after = |ms| began + Duration::from_millis(ms);
        assert_eq!(clock.read(1_000_100, after(100)), 1_000_100);
        assert_eq!(clock.read(100, after(200)), 1_000_200, "set back: time goes on");
        assert_eq!(clock.read(2_000_000, after(300)), 2_000_000, "set forward: followed");
        assert_eq!(clock.read(1_000_400, after(400)), 2_000_100);
    }
}
