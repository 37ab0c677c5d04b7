//! Every wait and bound of the HTTP side, by name. Those of the core are in [`crate::core::limits`].

use std::time::Duration;

/// The longest that a request is held: three target durations, as the design says. After it, 503.
pub const HOLD_MAX: Duration = Duration::from_secs(6);

/// Requests held at once. A shield asks once for each object and query, so a handful for each track is usual;
/// this is room for an audience that comes without one. Each costs a few KiB.
pub const HELD_MAX: usize = 20_000;

/// How long the other origins may take to agree on a letter; then ours stands. A compare-and-set in the same
/// data centre takes single milliseconds, and every viewer waits for this one.
pub const AGREE_MAX: Duration = Duration::from_millis(50);

/// How long a PUT's body may take to arrive. The pipeline gives up after 2 s itself.
pub const BODY_WAIT_MAX: Duration = Duration::from_secs(5);

/// Largest announcement, in bytes: dozens of tracks of some 200 bytes.
pub const PROGRAMME_BYTES_MAX: usize = 64 * 1024;

/// Open connections: at about 10 KB each idle, 160 MB.
pub const CONNECTIONS_MAX: usize = 16_384;

/// Streams of one HTTP/2 connection: a shield's held requests for all tracks of a few programmes.
pub const STREAMS_MAX: u32 = 1_024;

/// How long a client may take to send its head, and how long a connection may idle.
pub const HEADER_TIME_MAX: Duration = Duration::from_secs(30);

/// Bytes of a request's head, and read at once of its body: a part in a few reads.
pub const HEADER_BYTES_MAX: u32 = 64 * 1024;

/// How long connections may take to end when the origin does.
pub const DRAIN_MAX: Duration = Duration::from_secs(3);

/// How long media may be cached. Names never come back with other bytes, so this is only as long as the
/// default window; later nobody asks.
pub const MEDIA_LIFETIME: Duration = Duration::from_secs(3_600);

/// How long an answer to a blocking reload may be cached, in target durations (rfc8216bis appendix B.1).
pub const BLOCKING_LIFETIME_TARGETS: u64 = 6;

/// How long a multivariant playlist may be cached: only its averages change, and slowly.
pub const MULTIVARIANT_LIFETIME: Duration = Duration::from_secs(10);

/// How long a 404 for what lies before the live edge may be cached; at or after the edge it may not
/// (rfc8216bis appendix B.1).
pub const ABSENT_LIFETIME: Duration = Duration::from_secs(1);

/// `Retry-After` of a 503, in seconds: at least and at most. Spread, so that those who were released together
/// do not come back together.
pub const RETRY_AFTER_S: (u64, u64) = (1, 4);

/// Media that must have been measured before `AVERAGE-BANDWIDTH` is what was measured.
pub const MEASURED_MIN_S: f64 = 10.0;

/// Parts of which the ready times are kept for the status page.
pub const READY_SAMPLES: usize = 1_000;
