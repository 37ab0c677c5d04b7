//! Whether a match's feeds are late, by what is usual for the match and not by one flat threshold: forty seconds without a
//! ball are nothing, in any sport that has pauses.

use super::limits::{LATE_CADENCES, LATE_FOR_MS};
use crate::{Body, cricket, football};

/// The age of the newest happening of one match, against its cadence.
#[derive(Clone, Debug)]
pub struct Delay {
    cadence_ms: i64,
    /// Venue time of the newest happening.
    newest_ms: Option<i64>,
    /// Nothing is expected: an interval, rain, the end.
    stopped: bool,
    /// Since when the age has been too great without a break.
    late_since_ms: Option<i64>,
}

impl Delay {
    /// Of a match where a happening is usual every `cadence_ms` ([`crate::catalog::Match::cadence_ms`]).
    pub fn new(cadence_ms: i64) -> Delay {
        Delay { cadence_ms: cadence_ms.max(1), newest_ms: None, stopped: false, late_since_ms: None }
    }

    /// It may be changed during the match.
    pub fn set_cadence(&mut self, cadence_ms: i64) {
        self.cadence_ms = cadence_ms.max(1);
    }

    /// Something was told, by any feed, at `now_ms`. What is older than the newest changes nothing.
    pub fn take(&mut self, body: &Body, venue_ms: i64, now_ms: i64) {
        if self.newest_ms.is_some_and(|newest| venue_ms < newest) {
            return;
        }
        // A feed that is always minutes behind is late, however regularly it speaks.
        let since = self.late_from().filter(|from| !self.stopped && *from <= now_ms);
        self.newest_ms = Some(venue_ms);
        if let Some(stopped) = stops(body) {
            self.stopped = stopped;
        }
        let late = !self.stopped && self.crosses().is_some_and(|from| from <= now_ms);
        self.late_since_ms = late.then(|| since.unwrap_or(now_ms));
    }

    /// The age of the newest happening in milliseconds.
    pub fn age_ms(&self, now_ms: i64) -> Option<i64> {
        self.newest_ms.map(|newest| now_ms.saturating_sub(newest).max(0))
    }

    /// The age has been more than three cadences for a minute, and nothing explains it.
    pub fn is_late(&self, now_ms: i64) -> bool {
        !self.stopped && self.late_from().is_some_and(|from| now_ms.saturating_sub(from) > LATE_FOR_MS)
    }

    /// When the newest happening becomes too old.
    fn crosses(&self) -> Option<i64> {
        Some(self.newest_ms?.saturating_add(self.cadence_ms.saturating_mul(LATE_CADENCES)))
    }

    /// Since when, or from when on, the age is too great.
    fn late_from(&self) -> Option<i64> {
        self.late_since_ms.or_else(|| self.crosses())
    }
}

/// Whether play stops or goes on with this. None: it says nothing of that.
fn stops(body: &Body) -> Option<bool> {
    match body {
        Body::Cricket(happening) => Some(match &happening.what {
            cricket::Kind::Interruption { stopped, .. } => *stopped,
            // The toss is half an hour before the first ball.
            cricket::Kind::Toss { .. }
            | cricket::Kind::InningsEnded { .. }
            | cricket::Kind::Result(_)
            | cricket::Kind::PlayerOfMatch { .. } => true,
            // The new target is told while it still rains.
            cricket::Kind::TargetRevised { .. } => return None,
            _ => false,
        }),
        Body::Football(happening) => Some(match &happening.what {
            football::Kind::LineUp { .. } => true,
            football::Kind::Clock { period } => matches!(
                period.as_str(),
                "half_time" | "full_time" | "extra_time_half" | "extra_time_end" | "shootout_end" | "final"
            ),
            // A card in the tunnel does not start the second half.
            _ => return None,
        }),
        Body::Withdrawn { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cricket::{Happening, Kind, Place};

    fn ball() -> Body {
        let delivery = serde_json::json!({"sport":"cricket","at":{"innings":1,"over":0,"ball":1,"slot":0},
            "kind":"delivery","batter":"A","non_striker":"B","bowler":"C","runs":0});
        serde_json::from_value(delivery).unwrap()
    }

    fn rain(stopped: bool) -> Body {
        let what = Kind::Interruption { reason: "rain".into(), stopped };
        Body::Cricket(Happening { at: Place::ball(1, 0, 1).slot(200), what })
    }

    #[test]
    fn it_is_the_sports_cadence_that_counts() {
        for cadence in [8_000, 40_000] {
            let mut delay = Delay::new(cadence);
            assert!(!delay.is_late(1 << 40), "nothing was told yet");
            delay.take(&ball(), 0, 500);
            assert!(!delay.is_late(3 * cadence + 60_000));
            assert!(delay.is_late(3 * cadence + 60_001));
            delay.take(&ball(), 3 * cadence + 60_000, 3 * cadence + 60_500);
            assert!(!delay.is_late(3 * cadence + 60_501), "and it ends with the next happening");
        }
    }

    #[test]
    fn a_pause_is_no_delay() {
        let mut delay = Delay::new(40_000);
        delay.take(&ball(), 0, 0);
        delay.take(&rain(true), 10_000, 10_000);
        assert!(!delay.is_late(10_000_000));
        delay.take(&rain(false), 10_000_000, 10_000_000);
        assert!(!delay.is_late(10_100_000));
        assert!(delay.is_late(10_180_001));
        delay.take(&rain(true), 9_000_000, 10_180_001);
        assert!(delay.is_late(10_180_001), "an old statement explains nothing");
    }

    #[test]
    fn a_feed_that_is_always_behind_is_late() {
        let mut delay = Delay::new(40_000);
        for n in 0..10 {
            let venue_ms = n * 40_000;
            assert_eq!(delay.is_late(venue_ms + 150_000), n >= 2, "{n}");
            delay.take(&ball(), venue_ms, venue_ms + 150_000);
        }
        delay.take(&ball(), 1_000_000, 1_001_000);
        assert!(!delay.is_late(1_001_000));
    }
}
