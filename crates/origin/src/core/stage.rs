//! Where a track stands, and what happens to it.

use std::collections::BTreeSet;

use timeline::Utc;
use timeline::name::Letter;

/// Where a track is.
#[derive(Debug)]
pub enum Stage {
    /// No segment's beginning is here.
    Waiting,
    /// A segment is in the making.
    Making(Making),
    /// The match has ended.
    Over,
}

/// The segment in the making.
#[derive(Debug)]
pub struct Making {
    /// Its media sequence number.
    pub msn: u64,
    /// Whose it is.
    pub choice: Choice,
    /// When all its parts were listed; since then it waits for bytes that make it whole.
    pub done: Option<Utc>,
}

/// How far the choice of a letter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Nothing decides it yet.
    Undecided,
    /// Proposed to the other origins.
    Proposed(Letter),
    /// For this whole segment.
    Agreed(Letter),
}

/// What the tracks of a programme share.
#[derive(Debug, Default)]
pub struct Shared {
    /// The last segment of the match.
    pub end: Option<u64>,
    /// Until when the clock appends gaps by itself.
    pub clock_until: Option<Utc>,
    /// Recent segments that begin with a discontinuity.
    pub discontinuities: BTreeSet<u64>,
}

/// What happened to a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The letter of a segment is to be agreed; answer with [`super::Programme::agreed`].
    Propose {
        /// Which segment.
        msn: u64,
        /// Ours.
        letter: Letter,
    },
    /// A segment has begun, with this letter.
    Chosen(Letter),
    /// A part was listed.
    Part {
        /// When the encoder handed it over.
        encoded_at_us: i64,
    },
    /// A part was listed as a gap.
    PartGap,
    /// A segment was finished.
    Segment,
    /// A segment of one pipeline's parts was finished as the other's whole.
    Healed,
    /// A segment was finished as a gap.
    SegmentGap,
    /// A segment begins with a discontinuity.
    Discontinuity {
        /// Which.
        msn: u64,
    },
}

impl Making {
    pub(super) fn new(msn: u64) -> Making {
        Making { msn, choice: Choice::Undecided, done: None }
    }

    /// Whose it is, once that is settled.
    pub fn agreed(&self) -> Option<Letter> {
        match self.choice {
            Choice::Agreed(letter) => Some(letter),
            _ => None,
        }
    }
}
