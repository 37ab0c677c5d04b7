//! The time of the desk: UTC, but never backwards.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use timeline::Steady;

/// A clock.
#[derive(Debug)]
pub(crate) struct Clock(Steady);

impl Clock {
    pub(crate) fn new() -> Clock {
        Clock(Steady::new(wall_ms(), Instant::now()))
    }

    /// UTC, milliseconds.
    pub(crate) fn now_ms(&mut self) -> i64 {
        self.0.read(wall_ms(), Instant::now())
    }
}

fn wall_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
