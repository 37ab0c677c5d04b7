//! HLS (rfc8216bis) without bytes, HTTP or I/O.
//!
//! * [`snapshot`]: what a media playlist says, as plain data.
//! * [`media`]: snapshot to text, whole or as a delta update.
//! * [`multivariant`]: programme to text.
//! * [`request`]: what a query's delivery directives ask for, judged against the playlist's end.
//! * [`flavour`]: which families of players get a playlist of their own.
//! * [`key`]: the lines that name keys, one for each DRM system.
//! * [`read`]: text to a playlist again, for players and checks; strict about the order of tags.
//! * [`check`]: what rfc8216bis forbids, in one playlist and between two of one track.
//! * [`fuzz`]: the parsers, for fuzz targets.

pub mod check;
pub mod decimal;
pub mod flavour;
pub mod fuzz;
pub mod key;
pub mod media;
pub mod multivariant;
pub mod read;
pub mod request;
pub mod snapshot;

pub use media::render;
pub use request::{Directives, Verdict};
pub use snapshot::{Hint, Media, Open, Part, Report, Segment};

/// What this room can refuse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A delivery directive of a request (rfc8216bis 6.2.5); answered with 400.
    #[error("{0}")]
    Directive(String),
    /// A line of a playlist that is read.
    #[error("line {line}: {what}")]
    Playlist {
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
    /// A delta update that the playlist at hand cannot complete; ask for the whole one (rfc8216bis 6.3.7).
    #[error("the delta update skips segments {from} to {to}, and the playlist at hand ends elsewhere")]
    Delta {
        /// First skipped MSN.
        from: u64,
        /// Last skipped MSN.
        to: u64,
    },
}
