//! What the grid says of a track's parts and segments.

use timeline::grid::AAC_FRAME;
use timeline::{Grid, Position, Ticks, Utc};

/// How one track is cut: video on the grid itself, audio at the AAC frames that start inside.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    /// Of the programme.
    pub grid: Grid,
    /// The instant that MSN 0 begins.
    pub epoch: Utc,
    /// Sound rather than picture.
    pub audio: bool,
}

/// Where an object's media begins and how long it is, when nothing is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Venue time of its first frame.
    pub start: Ticks,
    /// Length of its media.
    pub duration: Ticks,
}

impl Cut {
    /// A part's span.
    pub fn part(&self, at: Position) -> Span {
        self.span(self.grid.part_start(at), self.part_end(at))
    }

    /// A segment's span.
    pub fn segment(&self, msn: u64) -> Span {
        self.span(self.grid.segment_start(msn), self.grid.segment_start(msn.saturating_add(1)))
    }

    /// The instant at which a part is over at the venue: the earliest that it could arrive.
    pub fn over(&self, at: Position) -> Utc {
        self.epoch.plus(self.part_end(at))
    }

    fn part_end(&self, at: Position) -> Ticks {
        self.grid.part_start(Position { part: at.part.saturating_add(1), ..at })
    }

    fn span(&self, from: Ticks, to: Ticks) -> Span {
        let (start, end) = if self.audio { (frames(from), frames(to)) } else { (from, to) };
        Span { start, duration: end - start }
    }
}

fn frames(at: Ticks) -> Ticks {
    Ticks(Grid::audio_frame_at_or_after(at) * AAC_FRAME.0)
}
