//! Instants and durations.

use std::fmt;
use std::ops::{Add, Sub};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Error;

/// Ticks a second: MPEG's PTS clock (ISO/IEC 13818-1, 2.4.3.7). Every segment and part duration of
/// [`crate::Grid`] is a whole number of them, 29.97 and 23.976 frames a second included.
pub const CLOCK_HZ: i64 = 90_000;

/// Venue time, in ticks of [`CLOCK_HZ`] since the match's epoch; also a duration in that unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ticks(pub i64);

impl Ticks {
    /// Whole and fractional seconds, for display and for playlists' decimal durations.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / CLOCK_HZ as f64
    }

    /// In microseconds, rounded down.
    pub fn micros(self) -> i64 {
        (i128::from(self.0) * 1_000_000).div_euclid(i128::from(CLOCK_HZ)) as i64
    }

    /// From microseconds, rounded down.
    pub fn from_micros(us: i64) -> Self {
        Ticks((i128::from(us) * i128::from(CLOCK_HZ)).div_euclid(1_000_000) as i64)
    }

    /// As samples (or any other clock of `hz`), rounded to the nearest.
    pub fn rescale(self, hz: i64) -> i64 {
        let n = i128::from(self.0) * i128::from(hz) * 2 + i128::from(CLOCK_HZ);
        n.div_euclid(i128::from(CLOCK_HZ) * 2) as i64
    }
}

impl Add for Ticks {
    type Output = Ticks;
    fn add(self, other: Ticks) -> Ticks {
        Ticks(self.0.saturating_add(other.0))
    }
}

impl Sub for Ticks {
    type Output = Ticks;
    fn sub(self, other: Ticks) -> Ticks {
        Ticks(self.0.saturating_sub(other.0))
    }
}

/// An instant: microseconds since 1970-01-01T00:00:00Z. Written as RFC 3339 with milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Utc(pub i64);

impl Utc {
    /// The instant `venue` ticks after this epoch.
    pub fn plus(self, venue: Ticks) -> Utc {
        Utc(self.0.saturating_add(venue.micros()))
    }

    /// Venue time of this instant, for a match of that epoch.
    pub fn since(self, epoch: Utc) -> Ticks {
        Ticks::from_micros(self.0.saturating_sub(epoch.0))
    }

    /// The run of a match with this epoch: a short id that stands in every URL, so that names never come
    /// back with other content. Milliseconds of the epoch in base 36.
    pub fn run(self) -> String {
        let mut n = self.0.div_euclid(1000).unsigned_abs();
        let mut digits = Vec::new();
        loop {
            digits.push(char::from_digit((n % 36) as u32, 36).unwrap_or('0'));
            n /= 36;
            if n == 0 {
                break;
            }
        }
        digits.iter().rev().collect()
    }
}

impl fmt::Display for Utc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The only rounding of venue time to a wall clock that is shown: down, to the millisecond, so that
        // every track says the same PDT.
        match jiff::Timestamp::from_millisecond(self.0.div_euclid(1000)) {
            Ok(at) => write!(f, "{at:.3}"),
            Err(_) => write!(f, "1970-01-01T00:00:00.000Z"),
        }
    }
}

impl FromStr for Utc {
    type Err = Error;
    fn from_str(s: &str) -> Result<Self, Error> {
        let at: jiff::Timestamp = s.parse().map_err(|_| Error::Instant(s.to_owned()))?;
        Ok(Utc(at.as_microsecond()))
    }
}

impl Serialize for Utc {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Utc {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_round_trip_and_say_what_is_wrong() {
        let at: Utc = "2026-11-29T14:00:00.040Z".parse().unwrap();
        assert_eq!(at.to_string(), "2026-11-29T14:00:00.040Z");
        assert_eq!(at.plus(Ticks(172_800)).to_string(), "2026-11-29T14:00:01.960Z");
        assert!("yesterday".parse::<Utc>().unwrap_err().to_string().contains("2026-11-29T14:00:00Z"));
    }

    #[test]
    fn run_is_short_and_of_the_epoch() {
        let at: Utc = "2026-11-29T14:00:00Z".parse().unwrap();
        assert!(at.run().len() <= 9);
        assert_ne!(at.run(), at.plus(Ticks(90)).run());
    }

    #[test]
    fn rescale_rounds_to_nearest() {
        assert_eq!(Ticks(1920).rescale(48_000), 1024);
        assert_eq!(Ticks(1).rescale(48_000), 1);
        assert_eq!(Ticks(-1920).rescale(48_000), -1024);
    }
}
