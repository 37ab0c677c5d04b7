//! The match clock, and the order of a football match.

use super::{Happening, Kind};

/// The longest half, extra time or stoppage that a clock may tell, in minutes.
const MINUTES_MAX: u32 = 300;

/// A reading of the match clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Clock {
    /// Seconds of play; at the end of a half it stands, and added time counts.
    pub base_s: u32,
    /// Seconds of added time.
    pub added_s: u32,
}

impl Clock {
    /// Reads `78:14` or `45:00+2:10`.
    pub fn parse(text: &str) -> Option<Clock> {
        let (base, added) = text.split_once('+').unwrap_or((text, "0:00"));
        Some(Clock { base_s: seconds(base)?, added_s: seconds(added)? })
    }
}

fn seconds(text: &str) -> Option<u32> {
    let (minutes, seconds) = text.split_once(':')?;
    let digits = |text: &str, len: std::ops::RangeInclusive<usize>| -> Option<u32> {
        (len.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
    };
    let (minutes, seconds) = (digits(minutes, 1..=3)?, digits(seconds, 2..=2)?);
    (minutes <= MINUTES_MAX && seconds < 60).then_some(minutes * 60 + seconds)
}

/// The periods that a clock happening may announce, in order.
pub const PERIODS: [&str; 11] = [
    "first_half",
    "half_time",
    "second_half",
    "full_time",
    "extra_time_first",
    "extra_time_half",
    "extra_time_second",
    "extra_time_end",
    "shootout",
    "shootout_end",
    "final",
];

/// Before the match.
const LINE_UP: usize = 0;
const FIRST_HALF: usize = 1;
const SECOND_HALF: usize = 3;
const EXTRA_FIRST: usize = 5;
const EXTRA_SECOND: usize = 7;
const SHOOTOUT: usize = 9;

/// Where a happening stands in the match: its period, the clock, then the breaks' own announcements before what else
/// happens at the same second. A clock of 45:00+2:10 is in the first half, 45:00 in the second if anything was added.
pub fn order(happening: &Happening) -> (usize, Clock, u64) {
    let clock = Clock::parse(&happening.clock).unwrap_or(Clock { base_s: 0, added_s: 0 });
    let period = match &happening.what {
        Kind::LineUp { .. } => LINE_UP,
        Kind::Clock { period } => 1 + PERIODS.iter().position(|p| p == period).unwrap_or(PERIODS.len()),
        Kind::ShootoutKick { .. } => SHOOTOUT,
        _ => match clock.base_s {
            0..=2_700 => FIRST_HALF,
            2_701..=5_400 => SECOND_HALF,
            5_401..=6_300 => EXTRA_FIRST,
            _ => EXTRA_SECOND,
        },
    };
    (period, clock, happening.id().0)
}
