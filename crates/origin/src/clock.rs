//! The wall clock, which tests replace.

use timeline::Utc;
use tokio::time::Instant;

/// Where the origin's time comes from.
#[derive(Clone, Copy, Debug)]
pub enum Clock {
    /// The system's clock; it follows steps.
    System,
    /// A wall time tied to an instant of the runtime, which a test can pause.
    Steady {
        /// The wall time then.
        utc: Utc,
        /// Then.
        at: Instant,
    },
}

impl Clock {
    /// One that reads `utc` now.
    pub fn steady(utc: Utc) -> Clock {
        Clock::Steady { utc, at: Instant::now() }
    }

    /// Now.
    pub fn now(&self) -> Utc {
        match self {
            Clock::System => {
                let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
                Utc(since.map_or(0, |d| i64::try_from(d.as_micros()).unwrap_or(i64::MAX)))
            }
            Clock::Steady { utc, at } => crate::core::limits::after(*utc, at.elapsed()),
        }
    }

    /// Returns at or after `at`.
    pub async fn sleep_until(&self, at: Utc) {
        let wait = at.0.saturating_sub(self.now().0).max(0).unsigned_abs();
        tokio::time::sleep(std::time::Duration::from_micros(wait)).await;
    }
}
