//! Every wait and bound of the snapshot role, by name.

use std::time::Duration;

/// How long a request is held for a match that is being taken, or for a cursor that is on its way: the relay brings
/// either within milliseconds, unless the shard is just starting.
pub(super) const HOLD_MAX: Duration = Duration::from_secs(1);

/// Requests that are held at once. Who asks for cursors that never come must leave places to those who can be answered.
pub(super) const HELD_MAX: usize = REQUESTS_MAX / 2;

/// The newest moments of a match, whose cards are folded however often cards are asked for: those who watch live, or
/// some minutes behind, ask for these. They are so few for each event that folding all of them costs less than the rate
/// for cards allows, so nobody can use that up by asking for them.
pub(super) const NEAR: usize = 64;

/// Requests in work at once, held ones too. An edge asks once for each object, so dozens are usual.
pub(super) const REQUESTS_MAX: usize = 1_024;

/// Matches in memory: a T20 takes some 300 KB, a Test 3 MB.
pub(super) const MATCHES_MAX: usize = 1_024;

/// Frames in a snapshot, so that a page shows what just happened.
pub(super) const RECENT: usize = 10;

/// Answers that are kept rendered. Each event makes new ones, and viewers go back to the same few moments.
pub(super) const ANSWERS_MAX: usize = 4_096;
/// The same in bytes, with room for the compressed ones.
pub(super) const ANSWERS_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Shorter answers are not compressed: they fit into one packet.
pub(super) const COMPRESS_MIN: usize = 1_400;

/// Query of a request, in bytes.
pub(super) const QUERY_BYTES_MAX: usize = 256;

/// `Retry-After` of a 429 or 503, in seconds: at least and at most. Spread, so that those who were turned away together
/// do not come back together.
pub(super) const RETRY_AFTER_S: std::ops::RangeInclusive<u32> = 1..=4;

/// How long requests may take to end when the role does.
pub(super) const DRAIN_MAX: Duration = Duration::from_secs(3);
