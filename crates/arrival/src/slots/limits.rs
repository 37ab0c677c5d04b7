//! Every limit of the slots, with the reason for its number.

/// How often a player says that it is still there, in seconds. An occasional request beside the media's, which go
/// elsewhere.
pub(crate) const HEARTBEAT_S: u32 = 30;

/// A stream of which nothing was heard for so long is over, in milliseconds: three heartbeats, so that two may be lost
/// and a device that was switched off does not keep its owner out for longer than that.
pub(crate) const SILENCE_MS: i64 = 3 * HEARTBEAT_S as i64 * 1_000;

/// Streams over all: of some 250 bytes each, a quarter of a gigabyte; one door's share of a final. When there are more
/// those that were left are forgotten first, and then the device limit is let be and the video plays.
pub(crate) const STREAMS_MAX: usize = 1 << 20;

/// Parts with a lock each.
pub(crate) const SHARDS: usize = 64;

/// Streams of one viewer, whatever their plan: more is no household. Who has a plan without a limit and starts more ends
/// the oldest.
pub(crate) const VIEWER_STREAMS_MAX: usize = 64;
