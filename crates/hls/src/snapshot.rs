//! What a media playlist says, as plain data: the origin keeps one [`Media`] for each track, changes it in
//! place as objects arrive, and renders it when asked.

use std::collections::VecDeque;

use timeline::name::{InitId, Letter, Token};
use timeline::protection::Protection;
use timeline::{Grid, Position, Ticks, Utc};

/// One track's playlist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Media {
    /// How the programme is cut.
    pub grid: Grid,
    /// The instant that MSN 0 begins.
    pub epoch: Utc,
    /// The track's name in URLs.
    pub track: Token,
    /// Finished segments, oldest first; their MSNs are consecutive.
    pub segments: VecDeque<Segment>,
    /// `EXT-X-DISCONTINUITY-SEQUENCE`: how many segments with [`Segment::discontinuity`] have left the
    /// window since MSN 0. [`Media::pop_front`] keeps it.
    pub discontinuity_sequence: u64,
    /// The segment in the making, once it has a part; its MSN follows the last of [`Self::segments`].
    pub open: Option<Open>,
    /// The part that comes next, when its name is known; not shown once the match has ended.
    pub hint: Option<Hint>,
    /// How far the programme's other tracks are.
    pub reports: Vec<Report>,
    /// The match has ended and nothing will be added.
    pub ended: bool,
}

/// A finished segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its media sequence number.
    pub msn: u64,
    /// Venue time of its first frame.
    pub start: Ticks,
    /// Length of its media; for a gap, what the grid says.
    pub duration: Ticks,
    /// Whose bytes it is served from; `None` is a gap (`EXT-X-GAP`).
    pub source: Option<Letter>,
    /// What it decodes with; for a gap, the same as before it.
    pub init: InitId,
    /// What it is encrypted with; for a gap, the same as before it.
    pub key: Option<Protection>,
    /// Whether `EXT-X-DISCONTINUITY` stands before it. A changed [`Self::init`] needs one.
    pub discontinuity: bool,
    /// Its parts in order, while the origin still knows them; shown only near the live edge (see
    /// [`Media::parts_from`]).
    pub parts: Vec<Part>,
}

/// A segment in the making.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// Its media sequence number.
    pub msn: u64,
    /// Venue time of its first frame.
    pub start: Ticks,
    /// What it decodes with.
    pub init: InitId,
    /// What it is encrypted with.
    pub key: Option<Protection>,
    /// Whether `EXT-X-DISCONTINUITY` stands before it.
    pub discontinuity: bool,
    /// The parts so far, at least one.
    pub parts: Vec<Part>,
}

/// A part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its place in the segment; consecutive from 0.
    pub index: u32,
    /// Whose bytes; parts of one segment can have another letter than the segment. For a gap, whose bytes
    /// were hoped for.
    pub letter: Letter,
    /// Length of its media; for a gap, what the grid says.
    pub duration: Ticks,
    /// It begins with a frame that needs no other.
    pub independent: bool,
    /// It will not come (`GAP=YES`).
    pub gap: bool,
}

/// The name of the part that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hint {
    /// Where it belongs.
    pub at: Position,
    /// Whose bytes it will be.
    pub letter: Letter,
}

/// How far another track is (`EXT-X-RENDITION-REPORT`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Its name in URLs.
    pub track: Token,
    /// Its last part that is listed.
    pub last: Position,
}

impl Open {
    /// The finished segment.
    pub fn close(self, duration: Ticks, source: Option<Letter>) -> Segment {
        let Open { msn, start, init, key, discontinuity, parts } = self;
        Segment { msn, start, duration, source, init, key, discontinuity, parts }
    }

    fn duration(&self) -> Ticks {
        self.parts.iter().fold(Ticks(0), |sum, part| sum + part.duration)
    }
}

impl Media {
    /// A playlist with nothing in it yet.
    pub fn new(grid: Grid, epoch: Utc, track: Token) -> Media {
        Media {
            grid,
            epoch,
            track,
            segments: VecDeque::new(),
            discontinuity_sequence: 0,
            open: None,
            hint: None,
            reports: Vec::new(),
            ended: false,
        }
    }

    /// Takes the oldest segment off the window, and counts the discontinuity that leaves with it.
    pub fn pop_front(&mut self) -> Option<Segment> {
        let gone = self.segments.pop_front()?;
        self.discontinuity_sequence += u64::from(gone.discontinuity);
        Some(gone)
    }

    /// `EXT-X-MEDIA-SEQUENCE`: the first segment listed, or the one that will be.
    pub fn first_msn(&self) -> u64 {
        let first = self.segments.front().map(|s| s.msn);
        first.or(self.open.as_ref().map(|o| o.msn)).or(self.hint.map(|h| h.at.msn)).unwrap_or(0)
    }

    /// Where the playlist ends: the first part that it does not list yet.
    pub fn next(&self) -> Position {
        if let Some(open) = &self.open {
            return Position { msn: open.msn, part: open.parts.len() as u32 };
        }
        match self.segments.back() {
            Some(last) => Position { msn: last.msn + 1, part: 0 },
            None => Position { msn: self.first_msn(), part: 0 },
        }
    }

    /// The last part listed, as other tracks report it; `None` while nothing is listed. A finished segment
    /// counts as all the grid's parts.
    pub fn last(&self) -> Option<Position> {
        if self.segments.is_empty() && self.open.is_none() {
            return None;
        }
        let next = self.next();
        match next.part.checked_sub(1) {
            Some(part) => Some(Position { msn: next.msn, part }),
            None => {
                Some(Position { msn: next.msn.checked_sub(1)?, part: self.grid.parts().saturating_sub(1) })
            }
        }
    }

    /// What is encrypted with at the playlist's end.
    pub fn key(&self) -> Option<&Protection> {
        match &self.open {
            Some(open) => open.key.as_ref(),
            None => self.segments.back()?.key.as_ref(),
        }
    }

    /// Whether anything listed is encrypted.
    pub fn encrypted(&self) -> bool {
        self.key().is_some() || self.segments.iter().any(|s| s.key.is_some())
    }

    /// Venue time at which the playlist ends.
    pub fn end(&self) -> Option<Ticks> {
        if let Some(open) = &self.open {
            return Some(open.start + open.duration());
        }
        self.segments.back().map(|s| s.start + s.duration)
    }

    /// The first segment whose parts are shown: those that end within [`PARTS_LISTED`] target
    /// durations of the playlist's end. The origin may forget the parts of earlier ones (their bytes stay
    /// fetchable for as long again).
    pub fn parts_from(&self) -> u64 {
        let Some(end) = self.end() else { return 0 };
        let since = end - seconds(PARTS_LISTED * self.grid.target_duration());
        let old = self.segments.partition_point(|s| s.start + s.duration < since);
        self.first_msn() + old as u64
    }

    /// How many segments a delta update leaves out: those that end further from the end of the last finished
    /// segment than the Skip Boundary, [`CAN_SKIP_UNTIL`] target durations (rfc8216bis 6.2.5.1). 0 when there
    /// is nothing to leave out, and after the end of the match.
    pub fn skippable(&self) -> usize {
        let Some(last) = self.segments.back() else { return 0 };
        if self.ended {
            return 0;
        }
        let boundary = last.start + last.duration - seconds(CAN_SKIP_UNTIL * self.grid.target_duration());
        self.segments.partition_point(|s| s.start + s.duration < boundary)
    }
}

/// For how many target durations before the end of the playlist parts are listed: rfc8216bis 6.2.2
/// asks to remove them after that (each costs a line in every reload).
pub const PARTS_LISTED: u64 = 3;

/// `CAN-SKIP-UNTIL` in target durations: the least that rfc8216bis 4.4.3.8 allows, so the smallest deltas.
pub const CAN_SKIP_UNTIL: u64 = 6;

fn seconds(n: u64) -> Ticks {
    Ticks(n as i64 * timeline::CLOCK_HZ)
}
