//! Every wait and bound of the pure core, by name.

use std::time::Duration;

use timeline::Utc;

/// How long a segment's first part from B waits for A's, while A is alive. The paths of a contribution
/// differ by tens of milliseconds; more than this would cost every viewer latency for an order that they
/// cannot see.
pub const PREFER_A_WAIT: Duration = Duration::from_millis(120);

/// How long after a part was to be expected, and something newer is here, it is called a gap. The design
/// says within 200 ms; the rest of them is for the timer and the rendering.
pub const PART_PATIENCE: Duration = Duration::from_millis(180);

/// How long after a part was to be expected it is called a gap while both pipelines are silent. Nothing
/// newer could be shown, so haste gains nothing, and a feed's hiccup passes unseen; yet a player that holds
/// back three parts (0.96 s) learns of the gap before it runs dry.
pub const SILENCE_PATIENCE: Duration = Duration::from_millis(500);

/// How long a segment whose letter lost a part waits for the other pipeline's last parts, when that one has
/// lost nothing. It covers paths whose delays differ by a part; for ordinary players it is the difference
/// between a segment and a hole of two seconds.
pub const WHOLE_WAIT: Duration = Duration::from_millis(400);

/// For how long the clock goes on appending gaps when no pipeline says anything. Longer than any restart;
/// after it the playlists stand still, and their held requests are answered with 503.
pub const SILENCE_MAX: Duration = Duration::from_secs(600);

/// Arrivals whose median is a pipeline's delay behind the venue: odd, three segments' worth of thirds, so
/// that one outlier says nothing and a lasting change counts after 5 parts.
pub const PACE_SAMPLES: usize = 9;

/// Segments within which a jump of the feed's clock that each pipeline tells of is one jump: a pipeline is back
/// on air within a few.
pub const JUMPS_APART: u64 = 8;

/// How many segments ahead of the clock an object may be: clocks of a pipeline and an origin differ by
/// milliseconds, so anything more is a wrong timestamp.
pub const AHEAD_MAX: u64 = 3;

/// Segments of which objects are kept before the first one can be served: the one on air and the next.
pub const SLOTS_BEFORE_START: usize = 2;

/// Init segments kept for a track. One is usual; each lasting change of the encoder adds one.
pub const INITS_MAX: usize = 16;

/// Segments whose bytes outlive their line in the playlist, for players that read it just before: 12 s and
/// more at every grid.
pub const WINDOW_GRACE: usize = 8;

/// The window never shrinks below this many segments, whatever the bytes: three times what an ordinary
/// player holds back.
pub const WINDOW_SEGMENTS_MIN: usize = 12;

/// For how many target durations before the playlist's end parts can be fetched: as long again as they are
/// listed.
pub const PARTS_FETCHABLE: u64 = 2 * hls::snapshot::PARTS_LISTED;

/// Largest init segment, in bytes: a `moov` with parameter sets is about 1 KiB.
pub const INIT_BYTES_MAX: usize = 64 * 1024;

/// Largest part, in bytes: 0.32 s of more than 200 Mbit/s.
pub const PART_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Largest segment, in bytes: its parts.
pub const SEGMENT_BYTES_MAX: usize = 6 * PART_BYTES_MAX;

/// Tracks of a programme: a bitrate ladder and the languages of a continent.
pub const TRACKS_MAX: usize = 64;

pub(crate) fn after(at: Utc, wait: Duration) -> Utc {
    Utc(at.0.saturating_add(i64::try_from(wait.as_micros()).unwrap_or(i64::MAX)))
}
