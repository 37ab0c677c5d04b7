//! Why a delivery is refused.

use timeline::name::Token;
use timeline::{Position, Ticks};

use super::limits::AHEAD_MAX;

/// One clear sentence for the pipeline's log, an HTTP status, and a label for the metric.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The name stands for other bytes already.
    #[error("this name already stands for other bytes; a name never changes what it means")]
    Different,
    /// The programme is announced with something else.
    #[error("this programme is announced already, with another {0}; both pipelines must announce the same")]
    OtherProgramme(&'static str),
    /// The announcement makes no sense.
    #[error("this programme cannot be: {0}")]
    Programme(String),
    /// Nobody announced it.
    #[error("no programme '{0}' is announced here; PUT its programme.json first")]
    UnknownProgramme(String),
    /// Not in the announcement.
    #[error("the programme has no track '{0}'")]
    UnknownTrack(Token),
    /// There is no such part on the grid.
    #[error("segments have {parts} parts here, so there is no part {part}")]
    NoSuchPart {
        /// As named.
        part: u32,
        /// On this grid.
        parts: u32,
    },
    /// Ahead of the clock.
    #[error(
        "segment {msn} lies in the future: the clock is at {clock}, and at most {AHEAD_MAX} more are taken"
    )]
    Ahead {
        /// As named.
        msn: u64,
        /// On air by the clock.
        clock: u64,
    },
    /// Older than the window.
    #[error("segment {msn} is older than the window, which begins at {first}")]
    Old {
        /// As named.
        msn: u64,
        /// The window's first.
        first: u64,
    },
    /// After the match's end.
    #[error("segment {msn} lies after the end of the match, which is segment {end}")]
    AfterEnd {
        /// As named.
        msn: u64,
        /// The last.
        end: u64,
    },
    /// A start that is not the grid's.
    #[error("it starts at {} ticks, but {}.{} starts at {} ticks on the grid", .start.0, .at.msn, .at.part, .expected.0)]
    Start {
        /// As said.
        start: Ticks,
        /// As named.
        at: Position,
        /// By the grid.
        expected: Ticks,
    },
    /// An impossible length.
    #[error("it lasts {} ticks; it must last from 1 to {}", .duration.0, .max.0)]
    Duration {
        /// As said.
        duration: Ticks,
        /// By the grid.
        max: Ticks,
    },
    /// Media that no player could use.
    #[error("its bytes are not a CMAF part or segment: {0}")]
    Media(String),
    /// Not the kind of bytes that belong there.
    #[error("its bytes are not {0}")]
    Bytes(&'static str),
    /// An init segment under a name that is not its own.
    #[error("an init segment is named by its SHA-256: these bytes are init-{0}.mp4")]
    InitName(timeline::name::InitId),
    /// Too many bytes.
    #[error("its body is larger than {max} bytes, the most for {what}")]
    TooLarge {
        /// What it is.
        what: &'static str,
        /// The limit.
        max: usize,
    },
    /// All init segments that fit are in use.
    #[error("this track has too many init segments in its window")]
    TooManyInits,
    /// All programmes that fit are on air.
    #[error("this origin carries {0} programmes, and all are on air")]
    Full(usize),
    /// Its body did not arrive in time.
    #[error("its body did not arrive within {0} s")]
    Slow(u64),
    /// A header, document or path that cannot be read.
    #[error("{0}")]
    Malformed(String),
}

impl Refusal {
    /// HTTP status (RFC 9110).
    pub fn status(&self) -> u16 {
        match self {
            Refusal::Different | Refusal::OtherProgramme(_) => 409,
            // Tells a pipeline that it may go.
            Refusal::AfterEnd { .. } => 410,
            Refusal::UnknownProgramme(_) | Refusal::UnknownTrack(_) => 404,
            Refusal::Malformed(_) => 400,
            Refusal::Slow(_) => 408,
            Refusal::TooLarge { .. } => 413,
            Refusal::TooManyInits | Refusal::Full(_) => 503,
            _ => 422,
        }
    }

    /// Label of the metric `origin_refused_total`.
    pub fn reason(&self) -> &'static str {
        match self {
            Refusal::Different => "different",
            Refusal::OtherProgramme(_) => "other-programme",
            Refusal::Programme(_) => "programme",
            Refusal::UnknownProgramme(_) => "unknown-programme",
            Refusal::UnknownTrack(_) => "unknown-track",
            Refusal::NoSuchPart { .. } => "no-such-part",
            Refusal::Ahead { .. } => "ahead",
            Refusal::Old { .. } => "old",
            Refusal::AfterEnd { .. } => "after-end",
            Refusal::Start { .. } => "start",
            Refusal::Duration { .. } => "duration",
            Refusal::Media(_) => "media",
            Refusal::Bytes(_) => "bytes",
            Refusal::InitName(_) => "init-name",
            Refusal::TooLarge { .. } => "too-large",
            Refusal::TooManyInits => "inits",
            Refusal::Full(_) => "full",
            Refusal::Slow(_) => "slow",
            Refusal::Malformed(_) => "malformed",
        }
    }
}
