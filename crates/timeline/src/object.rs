//! What a pipeline says about a part or a segment when it publishes it.

use serde::{Deserialize, Serialize};

use crate::Ticks;
use crate::name::InitId;
use crate::protection::Protection;

/// HTTP request header that carries [`Meta`] as JSON on a publishing PUT.
pub const META_HEADER: &str = "pavilion-meta";

/// About one published part or segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Meta {
    /// Venue time of its first frame, in ticks since the epoch: equal to its `tfdt` in the track's own
    /// timescale.
    pub start: Ticks,
    /// Length of its media.
    pub duration: Ticks,
    /// Whether it begins with a frame that needs no other (always true for audio).
    pub independent: bool,
    /// The init segment that it decodes with.
    pub init: InitId,
    /// The last part of its segment (for a whole segment: true).
    pub last: bool,
    /// UTC microseconds at which the encoder handed over its last byte.
    pub encoded_at_us: i64,
    /// What is wrong with it; empty for a good one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub defects: Vec<Defect>,
    /// What it is encrypted with; nothing when it is in the clear.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protection: Option<Protection>,
}

/// What can be wrong with an object that is still worth having.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Defect {
    /// It ends before the grid says.
    Short,
    /// Frames are missing inside.
    Missing,
    /// The feed's clock jumped: this is the first object of a new anchor, and a discontinuity.
    TimeJump,
}
