//! From a feed's 33-bit timestamps to venue time.

use serde::{Deserialize, Serialize};

use crate::{FrameRate, Ticks, Utc};

/// PTS and DTS count modulo this (ISO/IEC 13818-1, 2.4.3.7): they wrap every 26.5 hours.
pub const PTS_MODULUS: i64 = 1 << 33;

/// Ties one timestamp of a feed to venue time; agreed once per programme, so that one map serves every track
/// of both pipelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Anchor {
    /// A timestamp, modulo [`PTS_MODULUS`].
    pub pts: u64,
    /// The venue time that it means.
    pub at: Ticks,
    /// 0 for the first anchor of a programme, one more for each lasting jump of the feed's clock.
    pub generation: u32,
}

impl Anchor {
    /// Anchors `pts` at the moment it arrived, less the known delay of the contribution path, moved to the
    /// nearest frame so that the grid falls on frames.
    pub fn at_arrival(pts: u64, arrived: Utc, delay: Ticks, epoch: Utc, rate: FrameRate) -> Anchor {
        let at = arrived.since(epoch) - delay;
        Anchor { pts, at: rate.start_of(rate.frame_at(at)), generation: 0 }
    }

    /// Anchors a feed whose timestamps are UTC itself in ticks, modulo the wrap. `now` picks the turn.
    pub fn of_utc_clock(pts: u64, now: Utc, epoch: Utc) -> Anchor {
        let zero = Anchor { pts: 0, at: Ticks(0), generation: 0 };
        let at = zero.venue(pts, now.since(Utc(0)));
        Anchor { pts, at: at - epoch.since(Utc(0)), generation: 0 }
    }

    /// Venue time of a timestamp: of the instants that it can mean, the one nearest to `near`. Crosses the
    /// wrap without a mark.
    pub fn venue(&self, pts: u64, near: Ticks) -> Ticks {
        let expected = self.pts_at(near) as i64;
        let ahead = (pts as i64 - expected).rem_euclid(PTS_MODULUS);
        let off = if ahead >= PTS_MODULUS / 2 { ahead - PTS_MODULUS } else { ahead };
        near + Ticks(off)
    }

    /// The timestamp that a venue time carries.
    pub fn pts_at(&self, at: Ticks) -> u64 {
        (self.pts as i64 + (at - self.at).0).rem_euclid(PTS_MODULUS) as u64
    }
}

/// How far a timestamp may be from where the last one or the clock on the wall puts it: two seconds, since a
/// machine that is out of breath is late by more than one.
pub const TOLERANCE: Ticks = Ticks(2 * 90_000);
/// Consecutive timestamps that must agree with each other before a jump is believed; a stray one or a short
/// burst of rubbish never is.
pub const JUMP_CONFIRM: u32 = 8;

/// What one timestamp turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamp {
    /// In order; its venue time.
    Steady(Ticks),
    /// In order after frames that never came (the feed paused, its clock went on); its venue time.
    AfterGap(Ticks),
    /// An outlier, to be ignored.
    Stray,
    /// The feed's clock has jumped for good; this timestamp is the first that is believed again, and wants a
    /// new anchor.
    Jump,
}

/// Watches the timestamps of the programme's video and tells the stray from the lasting.
#[derive(Clone, Debug)]
pub struct Watch {
    anchor: Anchor,
    last: Option<(Ticks, Utc)>,
    doubtful: Option<(Ticks, u32)>,
}

impl Watch {
    /// With the programme's anchor.
    pub fn new(anchor: Anchor) -> Watch {
        Watch { anchor, last: None, doubtful: None }
    }

    /// The anchor in force.
    pub fn anchor(&self) -> Anchor {
        self.anchor
    }

    /// Takes a new anchor after [`Stamp::Jump`].
    pub fn re_anchor(&mut self, anchor: Anchor) {
        *self = Watch::new(anchor);
    }

    /// Judges a decoding timestamp that arrived at `now` on a match with this epoch.
    pub fn see(&mut self, dts: u64, now: Utc, epoch: Utc) -> Stamp {
        let wall = now.since(epoch);
        let Some((last, last_arrival)) = self.last else {
            let at = self.anchor.venue(dts, wall);
            self.last = Some((at, now));
            return Stamp::Steady(at);
        };
        let at = self.anchor.venue(dts, last);
        let by_clock = last + (wall - last_arrival.since(epoch));
        if near(at, last) || near(at, by_clock) {
            self.last = Some((at, now));
            self.doubtful = None;
            return if near(at, last) { Stamp::Steady(at) } else { Stamp::AfterGap(at) };
        }
        let agreeing = match self.doubtful {
            Some((doubtful, n)) if near(at, doubtful) => n + 1,
            _ => 1,
        };
        self.doubtful = Some((at, agreeing));
        if agreeing >= JUMP_CONFIRM { Stamp::Jump } else { Stamp::Stray }
    }
}

fn near(a: Ticks, b: Ticks) -> bool {
    (a - b).0.abs() <= TOLERANCE.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const EPOCH: Utc = Utc(1_790_000_000_000_000);
    const FPS: FrameRate = FrameRate { num: 25, den: 1 };

    fn anchor(pts: u64) -> Anchor {
        Anchor::at_arrival(pts, EPOCH.plus(Ticks(901_234)), Ticks(0), EPOCH, FPS)
    }

    #[test]
    fn anchor_falls_on_a_frame() {
        assert_eq!(anchor(7).at.0 % 3_600, 0);
    }

    #[test]
    fn a_utc_clock_means_itself() {
        let now = Utc(1_796_000_000_120_000);
        let pts = (now.since(Utc(0)).0).rem_euclid(PTS_MODULUS) as u64;
        let a = Anchor::of_utc_clock(pts, now.plus(Ticks(90_000 * 3)), EPOCH);
        assert_eq!(a.at, now.since(EPOCH));
    }

    #[test]
    fn wrap_is_crossed_without_a_mark() {
        let mut watch = Watch::new(anchor(PTS_MODULUS as u64 - 36_000));
        let mut last = None;
        for frame in 0..100i64 {
            let pts = (PTS_MODULUS - 36_000 + frame * 3_600).rem_euclid(PTS_MODULUS) as u64;
            let now = EPOCH.plus(Ticks(901_234 + frame * 3_600));
            let Stamp::Steady(at) = watch.see(pts, now, EPOCH) else { panic!("frame {frame}") };
            if let Some(last) = last {
                assert_eq!(at - last, Ticks(3_600));
            }
            last = Some(at);
        }
    }

    #[test]
    fn a_pause_with_a_running_clock_is_a_gap_and_no_jump() {
        let mut watch = Watch::new(anchor(0));
        watch.see(0, EPOCH.plus(Ticks(901_234)), EPOCH);
        let back = watch.see(900_000, EPOCH.plus(Ticks(901_234 + 900_000)), EPOCH);
        assert!(matches!(back, Stamp::AfterGap(_)), "{back:?}");
    }

    proptest! {
        #[test]
        fn strays_are_isolated_and_lasting_jumps_are_found(
            strays in prop::collection::btree_set(1i64..200, 0..20),
            jump in 90_000i64 * 60..PTS_MODULUS / 2 - 90_000 * 60,
            garbage in 0u64..1 << 33,
        ) {
            let mut watch = Watch::new(anchor(1_000));
            let mut in_a_row = 0;
            for frame in 0..220i64 {
                let good = (1_000 + frame * 3_600) as u64;
                let now = EPOCH.plus(Ticks(901_234 + frame * 3_600));
                // Garbage of equal values agrees with itself; keep runs of it below the confirmation.
                let stray = strays.contains(&frame) && in_a_row + 1 < JUMP_CONFIRM;
                in_a_row = if stray { in_a_row + 1 } else { 0 };
                let seen = watch.see(if stray { garbage } else { good }, now, EPOCH);
                if !stray {
                    prop_assert_eq!(seen, Stamp::Steady(watch.anchor().venue(good, now.since(EPOCH))));
                }
                prop_assert_ne!(seen, Stamp::Jump);
            }
            let mut found = false;
            for frame in 220..220 + i64::from(JUMP_CONFIRM) {
                let pts = (1_000 + frame * 3_600 + jump).rem_euclid(PTS_MODULUS) as u64;
                let now = EPOCH.plus(Ticks(901_234 + frame * 3_600));
                found |= watch.see(pts, now, EPOCH) == Stamp::Jump;
            }
            prop_assert!(found);
        }
    }
}
