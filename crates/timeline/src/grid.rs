//! The grid: where segments and parts begin, for every track alike.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{CLOCK_HZ, Error, Ticks};

/// Ticks of one AAC frame: 1,024 samples at 48 kHz. Audio is always made at 48 kHz.
pub const AAC_FRAME: Ticks = Ticks(1_920);

/// Frames a second as a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct FrameRate {
    /// Numerator.
    pub num: u32,
    /// Denominator, never 0.
    pub den: u32,
}

impl FrameRate {
    /// Frames a second as a decimal.
    pub fn hz(self) -> f64 {
        f64::from(self.num) / f64::from(self.den)
    }

    /// Where frame `n` since the epoch begins, rounded to the nearest tick.
    pub fn start_of(self, frame: i64) -> Ticks {
        let (num, den) = (i128::from(self.num), i128::from(self.den));
        let n = i128::from(frame) * i128::from(CLOCK_HZ) * den * 2 + num;
        Ticks(n.div_euclid(num * 2) as i64)
    }

    /// The frame that a timestamp means: the nearest, so that stamps rounded by a feed still count right.
    pub fn frame_at(self, at: Ticks) -> i64 {
        let (num, den) = (i128::from(self.num), i128::from(self.den) * i128::from(CLOCK_HZ));
        (i128::from(at.0) * num * 2 + den).div_euclid(den * 2) as i64
    }
}

impl fmt::Display for FrameRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.den == 1 { write!(f, "{}", self.num) } else { write!(f, "{}/{}", self.num, self.den) }
    }
}

impl From<FrameRate> for String {
    fn from(rate: FrameRate) -> String {
        rate.to_string()
    }
}

impl TryFrom<String> for FrameRate {
    type Error = Error;
    fn try_from(s: String) -> Result<Self, Error> {
        s.parse()
    }
}

impl FromStr for FrameRate {
    type Err = Error;
    fn from_str(s: &str) -> Result<Self, Error> {
        let (num, den) = s.split_once('/').unwrap_or((s, "1"));
        match (num.parse(), den.parse()) {
            (Ok(num), Ok(den)) if num > 0 && den > 0 => Ok(FrameRate { num, den }),
            _ => Err(Error::Token(s.to_owned())),
        }
    }
}

/// Segment and part lengths for one frame rate, in frames. Compares equal when it cuts alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// Of the programme's video.
    pub frame_rate: FrameRate,
    /// Video frames in a segment.
    pub frames_per_segment: u32,
    /// Video frames in a part; divides [`Self::frames_per_segment`].
    pub frames_per_part: u32,
}

/// A part on the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Position {
    /// Media sequence number: segments since the epoch.
    pub msn: u64,
    /// Index of the part in its segment.
    pub part: u32,
}

impl Grid {
    /// The grid for a frame rate: about 2 s a segment, chosen so that video and 48 kHz AAC share boundaries
    /// where they can (1.92 s at 25, 2.1333 s at 30), with 6 or 8 parts.
    pub fn for_frame_rate(frame_rate: FrameRate) -> Result<Grid, Error> {
        let FrameRate { num, den } = frame_rate;
        let (frames_per_segment, frames_per_part) = match (num, den) {
            (25, 1) | (24, 1) | (24_000, 1_001) => (48, 8),
            (50, 1) => (96, 16),
            (30, 1) | (30_000, 1_001) => (64, 8),
            (60, 1) | (60_000, 1_001) => (128, 16),
            _ => return Err(Error::FrameRate(frame_rate)),
        };
        Ok(Grid { frame_rate, frames_per_segment, frames_per_part })
    }

    /// Parts in a segment.
    pub fn parts(&self) -> u32 {
        self.frames_per_segment / self.frames_per_part.max(1)
    }

    /// Length of a segment of video.
    pub fn segment(&self) -> Ticks {
        self.frame_rate.start_of(i64::from(self.frames_per_segment))
    }

    /// Length of a part of video.
    pub fn part(&self) -> Ticks {
        self.frame_rate.start_of(i64::from(self.frames_per_part))
    }

    /// Venue time at which a segment begins.
    pub fn segment_start(&self, msn: u64) -> Ticks {
        Ticks(self.segment().0.saturating_mul(msn as i64))
    }

    /// Venue time at which a part begins. `part` may equal [`Self::parts`]: the end of the segment.
    pub fn part_start(&self, at: Position) -> Ticks {
        Ticks(self.segment_start(at.msn).0 + self.part().0 * i64::from(at.part))
    }

    /// The part that is on air at a venue time; before the epoch there is none.
    pub fn position(&self, at: Ticks) -> Option<Position> {
        let msn = u64::try_from(at.0.div_euclid(self.segment().0)).ok()?;
        let part = (at.0.rem_euclid(self.segment().0) / self.part().0) as u32;
        Some(Position { msn, part })
    }

    /// The first segment that begins at or after a venue time.
    pub fn next_segment(&self, at: Ticks) -> u64 {
        u64::try_from(at.0 + self.segment().0 - 1).unwrap_or(0) / self.segment().0 as u64
    }

    /// The first AAC frame (counted from the epoch) that starts at or after a venue time. Audio frames lie on
    /// a grid of their own from the epoch, so any pipeline frames the same samples alike.
    pub fn audio_frame_at_or_after(at: Ticks) -> i64 {
        (at.0 + AAC_FRAME.0 - 1).div_euclid(AAC_FRAME.0)
    }

    /// The longest part of any track: the audio frames that start inside a part may reach past its end.
    pub fn part_target(&self) -> Ticks {
        Ticks(self.part().0.max(round_up(self.part().0, AAC_FRAME.0)))
    }

    /// `EXT-X-TARGETDURATION`, in seconds: the longest segment of any track, rounded to the nearest
    /// (rfc8216bis 4.4.3.1). It never changes.
    pub fn target_duration(&self) -> u64 {
        let longest = round_up(self.segment().0, AAC_FRAME.0);
        ((longest * 2 + CLOCK_HZ) / (CLOCK_HZ * 2)) as u64
    }

    /// The part after this one.
    pub fn next(&self, at: Position) -> Position {
        if at.part + 1 >= self.parts() {
            Position { msn: at.msn + 1, part: 0 }
        } else {
            Position { msn: at.msn, part: at.part + 1 }
        }
    }
}

fn round_up(n: i64, step: i64) -> i64 {
    (n + step - 1).div_euclid(step) * step
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn grid(rate: &str) -> Grid {
        Grid::for_frame_rate(rate.parse().unwrap()).unwrap()
    }

    #[test]
    fn design_values() {
        let g = grid("25");
        assert_eq!((g.segment(), g.part(), g.parts()), (Ticks(172_800), Ticks(28_800), 6));
        assert_eq!((g.part_target(), g.target_duration()), (Ticks(28_800), 2));
        assert_eq!(g.segment().0 % AAC_FRAME.0, 0);
        assert_eq!(g.segment().0 / AAC_FRAME.0, 90);
        assert_eq!(grid("30").segment(), Ticks(192_000));
        assert_eq!(grid("60").segment().0 / AAC_FRAME.0, 100);
        assert_eq!(grid("24").segment(), Ticks(180_000));
        assert_eq!(grid("30000/1001").segment(), Ticks(192_192));
        assert_eq!(grid("24000/1001").segment(), Ticks(180_180));
        assert_eq!(grid("24").part_target(), Ticks(30_720));
        assert!("0/1".parse::<FrameRate>().is_err());
        assert!(Grid::for_frame_rate("17".parse().unwrap()).is_err());
    }

    proptest! {
        #[test]
        fn position_and_start_agree(
            rate in prop::sample::select(vec!["24000/1001", "24", "25", "30000/1001", "30", "50", "60000/1001", "60"]),
            at in 0i64..90_000 * 86_400 * 30,
        ) {
            let g = grid(rate);
            let p = g.position(Ticks(at)).unwrap();
            prop_assert!(p.part < g.parts());
            prop_assert!(g.part_start(p) <= Ticks(at));
            prop_assert!(Ticks(at) < g.part_start(g.next(p)));
            prop_assert_eq!(g.part_start(Position { msn: p.msn, part: g.parts() }), g.segment_start(p.msn + 1));
            // A frame stamp that a feed rounded by a tick is the same frame.
            let frame = g.frame_rate.frame_at(Ticks(at));
            for off in -1..=1 {
                prop_assert_eq!(g.frame_rate.frame_at(g.frame_rate.start_of(frame) + Ticks(off)), frame);
            }
        }

        #[test]
        fn next_segment_is_the_first_not_before(at in -90_000i64 * 10..90_000 * 86_400) {
            let g = grid("25");
            let msn = g.next_segment(Ticks(at));
            prop_assert!(g.segment_start(msn) >= Ticks(at));
            prop_assert!(msn == 0 || g.segment_start(msn - 1) < Ticks(at));
        }
    }
}
