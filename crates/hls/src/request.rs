//! Delivery directives: `_HLS_msn`, `_HLS_part`, `_HLS_skip` (rfc8216bis 6.2.5).

use std::fmt;

use timeline::{CLOCK_HZ, Grid, Position};

use crate::{Error, Media};

/// How far past the last segment of the playlist `_HLS_msn` may be (rfc8216bis 6.2.5.2).
pub const MSN_AHEAD: u64 = 2;

/// The longest value that is looked at: as many digits as a decimal-integer has (rfc8216bis 4.2).
const DIGITS: usize = 20;

/// What a query asks for. Displays as the one canonical query of it, empty when it asks for nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Directives {
    /// `_HLS_msn`.
    pub msn: Option<u64>,
    /// `_HLS_part`; only together with `_HLS_msn`.
    pub part: Option<u32>,
    /// `_HLS_skip`: a delta update is welcome. `v2` counts as `YES`, as there are no date ranges to skip.
    pub skip: bool,
}

/// How a request stands against the playlist's end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Answer with the playlist as it is.
    Now,
    /// Hold until [`End::next`] is at or past this position.
    Wait(Position),
    /// Answer 400 at once.
    BadRequest(Error),
}

/// Where a playlist ends: all that a verdict depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// The first part that is not listed yet; part 0 when the last segment is finished. For a playlist that
    /// has nothing yet: where the clock is.
    pub next: Position,
    /// `EXT-X-ENDLIST` is there.
    pub ended: bool,
}

impl Media {
    /// What requests are judged against.
    pub fn judged_end(&self) -> End {
        End { next: self.next(), ended: self.ended }
    }
}

impl Directives {
    /// From a request's query (without the `?`). Other parameters are none of ours and are ignored.
    ///
    /// # Errors
    /// [`Error::Directive`] for a value that is not what rfc8216bis says, a directive given twice, and
    /// `_HLS_part` alone.
    pub fn parse(query: &str) -> Result<Directives, Error> {
        let mut found = Directives::default();
        for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            let twice = match name {
                "_HLS_msn" => found.msn.replace(decimal(name, value)?).is_some(),
                "_HLS_part" => {
                    // A part index that no integer holds is as far past as one that no segment holds.
                    let part = u32::try_from(decimal(name, value)?).unwrap_or(u32::MAX);
                    found.part.replace(part).is_some()
                }
                "_HLS_skip" => match value {
                    "YES" | "v2" => std::mem::replace(&mut found.skip, true),
                    _ => return Err(Error::Directive(format!("{name} must be YES or v2"))),
                },
                _ => false,
            };
            if twice {
                return Err(Error::Directive(format!("{name} is there twice")));
            }
        }
        if found.part.is_some() && found.msn.is_none() {
            return Err(Error::Directive("_HLS_part needs _HLS_msn".to_owned()));
        }
        Ok(found)
    }

    /// What to do now, for a playlist that ends there.
    pub fn judge(&self, grid: &Grid, end: End) -> Verdict {
        let Some(msn) = self.msn else { return Verdict::Now };
        // rfc8216bis 6.2.5.2: the directives mean nothing once the playlist has ended.
        if end.ended {
            return Verdict::Now;
        }
        let last = end.next.msn.saturating_sub(1);
        if msn > last.saturating_add(MSN_AHEAD) {
            return Verdict::BadRequest(Error::Directive(format!(
                "_HLS_msn {msn} is too far ahead: the last segment is {last}, so at most {}",
                last.saturating_add(MSN_AHEAD)
            )));
        }
        let until = match self.part {
            // Without a part the whole segment must be there: nothing of the next one needs to.
            None => Position { msn: msn.saturating_add(1), part: 0 },
            Some(part) if part < grid.parts() => Position { msn, part: part + 1 },
            // Beyond the segment's last part means the next segment's first.
            Some(_) => Position { msn: msn.saturating_add(1), part: 1 },
        };
        if until <= end.next {
            return Verdict::Now;
        }
        if let Some(part) = self.part {
            let parts = u64::from(grid.parts());
            let asked = msn.saturating_mul(parts).saturating_add(u64::from(part));
            let next = end.next.msn.saturating_mul(parts).saturating_add(u64::from(end.next.part));
            let limit = advance_part_limit(grid);
            // The last part listed is one before `next`.
            if asked >= next.saturating_add(limit) {
                return Verdict::BadRequest(Error::Directive(format!(
                    "_HLS_part {part} of {msn} is more than {limit} parts ahead"
                )));
            }
        }
        Verdict::Wait(until)
    }
}

/// The Advance Part Limit (rfc8216bis 6.2.5.2) in whole parts: 3 divided by the Part Target Duration in
/// seconds, or 3 for parts of a second and more.
pub fn advance_part_limit(grid: &Grid) -> u64 {
    let target = grid.part_target().0.clamp(1, CLOCK_HZ);
    (3 * CLOCK_HZ / target) as u64
}

fn decimal(name: &str, value: &str) -> Result<u64, Error> {
    let digits = (1..=DIGITS).contains(&value.len()) && value.bytes().all(|b| b.is_ascii_digit());
    match value.parse() {
        Ok(n) if digits => Ok(n),
        _ => Err(Error::Directive(format!("{name} must be a decimal integer"))),
    }
}

impl fmt::Display for Directives {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut between = "";
        if let Some(msn) = self.msn {
            write!(f, "_HLS_msn={msn}")?;
            between = "&";
        }
        if let Some(part) = self.part {
            write!(f, "{between}_HLS_part={part}")?;
        }
        if self.skip {
            write!(f, "{between}_HLS_skip=YES")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn grid() -> Grid {
        Grid::for_frame_rate("25".parse().unwrap()).unwrap()
    }

    fn at(msn: u64, part: u32) -> Position {
        Position { msn, part }
    }

    /// 100 is finished, and 101 has its parts 0 and 1.
    fn judge(query: &str) -> Verdict {
        match Directives::parse(query) {
            Ok(found) => found.judge(&grid(), End { next: at(101, 2), ended: false }),
            Err(e) => Verdict::BadRequest(e),
        }
    }

    #[test]
    fn what_is_there_is_answered_now() {
        for now in [
            "",
            "x=1",
            "_HLS_skip=YES",
            "_HLS_skip=v2&_HLS_msn=1",
            "_HLS_msn=100",
            "_HLS_msn=0&_HLS_part=5",
            "_HLS_msn=101&_HLS_part=1",
            "_HLS_msn=100&_HLS_part=6",
            "_HLS_msn=100&_HLS_part=99999999999",
        ] {
            assert_eq!(judge(now), Verdict::Now, "{now}");
        }
    }

    #[test]
    fn what_comes_next_is_held() {
        assert_eq!(judge("_HLS_msn=101"), Verdict::Wait(at(102, 0)));
        assert_eq!(judge("_HLS_msn=102"), Verdict::Wait(at(103, 0)));
        assert_eq!(judge("_HLS_msn=101&_HLS_part=2"), Verdict::Wait(at(101, 3)));
        assert_eq!(judge("_HLS_msn=101&_HLS_part=5"), Verdict::Wait(at(101, 6)));
        // rfc8216bis 6.2.5.2: beyond the final part is part 0 of the following segment.
        assert_eq!(judge("_HLS_msn=101&_HLS_part=6"), Verdict::Wait(at(102, 1)));
        assert_eq!(judge("_HLS_msn=102&_HLS_part=4"), Verdict::Wait(at(102, 5)));
    }

    #[test]
    fn what_is_wrong_is_refused_at_once() {
        for bad in [
            "_HLS_part=1",
            "_HLS_msn=",
            "_HLS_msn=-1",
            "_HLS_msn=+1",
            "_HLS_msn=1e3",
            "_HLS_msn=18446744073709551616",
            "_HLS_msn=000000000000000000001",
            "_HLS_msn=1&_HLS_msn=2",
            "_HLS_skip=NO",
            "_HLS_skip=YES&_HLS_skip=YES",
            "_HLS_msn=103",
            "_HLS_msn=18446744073709551615",
            "_HLS_msn=18446744073709551615&_HLS_part=4294967295",
            // The last part listed is 101.1, and 3/0.32 is 9 whole parts.
            "_HLS_msn=102&_HLS_part=5",
            "_HLS_msn=101&_HLS_part=11",
        ] {
            assert!(
                matches!(judge(bad), Verdict::BadRequest(Error::Directive(_))),
                "{bad}: {:?}",
                judge(bad)
            );
        }
    }

    #[test]
    fn an_ended_playlist_is_answered_always() {
        let end = End { next: at(101, 0), ended: true };
        let far = Directives { msn: Some(5000), part: Some(3), skip: true };
        assert_eq!(far.judge(&grid(), end), Verdict::Now);
    }

    proptest! {
        #[test]
        fn no_query_panics_and_canonical_ones_stay(query in "(_HLS_(msn|part|skip)=[0-9YESv]{0,21}&?|.{0,5}){0,4}", msn: u64, part in 0u32..9) {
            if let Ok(found) = Directives::parse(&query) {
                prop_assert_eq!(Directives::parse(&found.to_string()), Ok(found));
                let _ = found.judge(&grid(), End { next: at(msn, part), ended: false });
            }
        }

        /// A held request is answered as soon as, and not before, what it asked for is there.
        #[test]
        fn waits_end_when_listed(msn in 0u64..40, part in prop::option::of(0u32..14), next_msn in 0u64..40, next_part in 0u32..6) {
            let found = Directives { msn: Some(msn), part, skip: false };
            let end = End { next: at(next_msn, next_part), ended: false };
            if let Verdict::Wait(until) = found.judge(&grid(), end) {
                prop_assert!(until > end.next);
                prop_assert_eq!(found.judge(&grid(), End { next: until, ended: false }), Verdict::Now);
            }
        }
    }
}
