//! The one timeline of a match: venue time, the epoch that numbers it, the anchor that ties a feed's
//! timestamps to it, and the grid of segments and parts that every track is cut on.
//!
//! Pure: no I/O, no clock of its own (time is an argument), no knowledge of media or HTTP.
//!
//! * [`clock`]: [`Utc`] instants and [`Ticks`] of 90 kHz since the epoch.
//! * [`grid`]: from venue time to MSN and part and back, in exact integers.
//! * [`anchor`]: from 33-bit PTS to venue time; stray stamps isolated, lasting jumps reported.
//! * [`name`]: how objects of the timeline are named in every URL.
//! * [`object`]: what is said about an object when it is published.
//! * [`protection`]: what is said of encrypted media.
//! * [`programme`]: what is said about a programme before its first object.
//! * [`steady`]: UTC that never goes back.

pub mod anchor;
pub mod clock;
pub mod grid;
pub mod name;
pub mod object;
pub mod programme;
pub mod protection;
pub mod steady;

pub use clock::{CLOCK_HZ, Ticks, Utc};
pub use grid::{FrameRate, Grid, Position};
pub use steady::Steady;

/// What this room can refuse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A frame rate that no grid is defined for.
    #[error(
        "{0} frames a second has no segment grid; use 23.976, 24, 25, 29.97, 30, 50, 59.94 or 60 (or let the encoder convert)"
    )]
    FrameRate(FrameRate),
    /// Not an RFC 3339 instant.
    #[error("'{0}' is not a UTC instant; write it like 2026-11-29T14:00:00Z")]
    Instant(String),
    /// Not a name that may stand in a URL.
    #[error("'{0}' is not a name; use 1 to 64 of a-z, 0-9 and '-', beginning with a letter or a digit")]
    Token(String),
    /// Not one of the two pipelines.
    #[error("'{0}' is no pipeline; there are two, a and b")]
    Letter(String),
    /// Not the path of an object.
    #[error(
        "'{0}' is not an object of a programme; expected {{track}}/init-{{id}}.mp4, {{track}}/{{msn}}{{a|b}}.m4s or {{track}}/{{msn}}{{a|b}}.{{part}}.m4s"
    )]
    Object(String),
    /// Not the name of a key.
    #[error("'{0}' is not the name of a key; write its 16 bytes as 32 lower-case hex digits")]
    Kid(String),
}
