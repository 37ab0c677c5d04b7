//! Which segments belong to which key.

use std::num::NonZeroU64;
use std::str::FromStr;

use timeline::Grid;

use crate::Error;

/// Clear lead and rotation, in segments since the epoch: so every pipeline rotates at the same segment, whenever it
/// started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Segments below this number are in the clear.
    pub clear: u64,
    /// Segments of a period; nothing: one key for all.
    pub period: Option<NonZeroU64>,
}

/// A length that a person writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Whole segments.
    Segments(u64),
    /// Seconds, which are rounded up to whole segments.
    Seconds(u64),
}

impl Schedule {
    /// Of lengths as people write them, on a programme's grid. A period of 0 is no rotation.
    pub fn new(clear: Length, period: Length, grid: &Grid) -> Schedule {
        Schedule { clear: clear.segments(grid), period: NonZeroU64::new(period.segments(grid)) }
    }

    /// The period of a segment; nothing when it is in the clear.
    pub fn period(&self, msn: u64) -> Option<u64> {
        (msn >= self.clear).then(|| self.period.map_or(0, |segments| msn / segments))
    }

    /// The first segment of a period, clear or not.
    pub fn begins(&self, period: u64) -> u64 {
        self.period.map_or(0, |segments| segments.get().saturating_mul(period))
    }

    /// Segments before a period's first in which its key is announced: half a period, so that key requests have time
    /// to be spread, and a key is never out for longer than it must be.
    pub fn lead(&self) -> u64 {
        self.period.map_or(0, |segments| segments.get().div_ceil(2))
    }

    /// The period that is announced while a segment is on air.
    pub fn announced(&self, msn: u64) -> Option<u64> {
        let segments = self.period?;
        let next = (msn / segments).saturating_add(1);
        (self.begins(next).saturating_sub(msn) <= self.lead()).then_some(next)
    }

    /// The segment from which on a client asks for a period's key: spread over the lead by a number in 0..1 that is the
    /// client's own. The last segment before the period is left out, so that the answer is there in time.
    pub fn ask_at(&self, period: u64, spread: f64) -> u64 {
        let room = self.lead().saturating_sub(1) as f64;
        let into = (room * spread.clamp(0.0, 1.0)) as u64;
        self.begins(period).saturating_sub(self.lead()).saturating_add(into)
    }

    /// The periods of the segments from `first` to the live edge, and the one that is announced there: those whose keys
    /// a viewer may need.
    pub fn needed(&self, first: u64, edge: u64) -> std::ops::RangeInclusive<u64> {
        let of = |msn: u64| self.period.map_or(0, |segments| msn / segments);
        of(first)..=self.announced(edge).unwrap_or_else(|| of(edge))
    }
}

impl Length {
    /// In segments of a grid, at least 1 unless it is 0.
    pub fn segments(self, grid: &Grid) -> u64 {
        match self {
            Length::Segments(segments) => segments,
            Length::Seconds(seconds) => {
                let segment = grid.segment().0.max(1) as u64;
                seconds.saturating_mul(timeline::CLOCK_HZ as u64).div_ceil(segment)
            }
        }
    }
}

impl FromStr for Length {
    type Err = Error;
    fn from_str(s: &str) -> Result<Self, Error> {
        let bad = || Error::Length(s.chars().take(40).collect());
        match s.strip_suffix('s') {
            Some(seconds) => Ok(Length::Seconds(seconds.parse().map_err(|_| bad())?)),
            None => Ok(Length::Segments(s.parse().map_err(|_| bad())?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lengths() {
        let grid = Grid::for_frame_rate("25".parse().unwrap()).unwrap();
        let segments = |s: &str| s.parse::<Length>().unwrap().segments(&grid);
        assert_eq!([segments("0"), segments("150"), segments("300s"), segments("1s")], [0, 150, 157, 1]);
        for bad in ["", "s", "-1", "1.5s", "5m"] {
            assert!(bad.parse::<Length>().unwrap_err().to_string().contains("300s"), "{bad}");
        }
    }

    #[test]
    fn without_periods_there_is_one_key() {
        let schedule = Schedule { clear: 10, period: None };
        assert_eq!(
            (schedule.period(9), schedule.period(10), schedule.period(1 << 40)),
            (None, Some(0), Some(0))
        );
        assert_eq!((schedule.announced(9), schedule.needed(3, 90)), (None, 0..=0));
    }

    proptest! {
        #[test]
        fn a_key_is_announced_before_its_period(length in 1u64..500, msn in 0u64..100_000, spread in 0.0..1.0) {
            let schedule = Schedule { clear: 0, period: NonZeroU64::new(length) };
            let period = schedule.period(msn).unwrap();
            prop_assert!(schedule.begins(period) <= msn && msn < schedule.begins(period + 1));
            // Whoever is on air just before a period knows of it, and a viewer asks while it is announced.
            let first = schedule.begins(period + 1);
            prop_assert_eq!(schedule.announced(first - 1), Some(period + 1));
            let ask = schedule.ask_at(period + 1, spread);
            prop_assert!(ask < first && schedule.announced(ask) == Some(period + 1));
            prop_assert!(schedule.needed(msn, msn).contains(&period));
        }
    }
}
