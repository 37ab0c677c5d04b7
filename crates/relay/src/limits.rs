//! Every wait and bound of the relay, by name.

use std::time::Duration;

/// Largest frame, without its length. A message is about 1 KB in both encodings together; this is room for a hundred
/// times that, and little enough that a length that is garbage costs nothing.
pub(crate) const FRAME_BYTES_MAX: usize = 256 * 1024;
/// Longest topic: a match id is a short token; the catalog's limit is lower.
pub(crate) const TOPIC_BYTES_MAX: usize = 256;
/// Longest reason of a pause: a word.
pub(crate) const REASON_BYTES_MAX: usize = 128;
/// Longest name by which a taker introduces itself, for logs.
pub(crate) const NAME_BYTES_MAX: usize = 64;
/// Connections to one publisher: a region's socket edges and snapshot roles are dozens.
pub(crate) const TAKERS_MAX: usize = 1_024;
/// Topics of one publisher: a busy Saturday has some hundred matches.
pub(crate) const TOPICS_MAX: usize = 4_096;
/// Subscriptions of one connection: every topic, and each once more while it is being replaced.
pub(crate) const SUBSCRIPTIONS_MAX: usize = 2 * TOPICS_MAX;
/// Bytes that wait for one socket: what a fast link takes at once. More would only age.
pub(crate) const OUTPUT_BYTES_MAX: usize = 256 * 1024;
/// Bytes read from a socket at once.
pub(crate) const INPUT_BYTES: usize = 32 * 1024;
/// Messages of one read of the history: as much as one window's quarter.
pub(crate) const HISTORY_PAGE: usize = 256;
/// Reads of the history at once for one connection; it may be a disk, and a taker that asks for everything old must not
/// keep the others from it.
pub(crate) const HISTORY_READS_MAX: usize = 4;
/// Rest after the history could not be read.
pub(crate) const HISTORY_REST: Duration = Duration::from_millis(500);
/// How often topics are looked at for what is too old, beside whenever something is published.
pub(crate) const TRIM_EVERY: Duration = Duration::from_secs(60);
/// Updates given to a taker before it must have taken them all: one wake-up for so many while it catches up.
pub(crate) const BATCH: usize = 64;
/// Rest after a failed accept, which mostly means that file descriptors have run out.
pub(crate) const ACCEPT_REST: Duration = Duration::from_millis(50);
/// A connection that lasted so long was good: the next one is tried soon again.
pub(crate) const SETTLED_AFTER: Duration = Duration::from_secs(5);

/// What may differ between a fleet, one machine and a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How often each side says that it is there when it has nothing else to say.
    pub beat_every: Duration,
    /// Silence after which the other side is taken for dead. Three beats may be lost; it must stay below the 2 s within
    /// which viewers are to learn that nothing comes.
    pub silence_max: Duration,
    /// How long a socket may refuse bytes before its connection is cut: a taker that has stopped reading altogether.
    pub drain_max: Duration,
    /// How long a taker may confirm nothing of what it was sent before its subscription is dropped; it comes back from
    /// its cursor when it has drained.
    pub ack_max: Duration,
    /// Messages sent and not confirmed, for one subscription. It bounds what waits at the taker.
    pub window_messages: usize,
    /// The same in bytes; at least one message is always sent.
    pub window_bytes: usize,
    /// How long a connection may take to be made and greeted: longer than any round trip, shorter than a viewer's
    /// patience.
    pub connect_max: Duration,
    /// First and least wait before another connection.
    pub retry_min: Duration,
    /// Longest wait before another connection: a shard that is back must be found well within 5 s.
    pub retry_max: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            beat_every: Duration::from_millis(500),
            silence_max: Duration::from_millis(1_750),
            drain_max: Duration::from_secs(5),
            ack_max: Duration::from_secs(5),
            window_messages: 1_024,
            window_bytes: 2 * 1024 * 1024,
            connect_max: Duration::from_secs(1),
            retry_min: Duration::from_millis(50),
            retry_max: Duration::from_secs(1),
        }
    }
}
