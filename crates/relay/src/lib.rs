//! One ordered stream of messages per topic, from the shard that owns it to everyone who passes it on (socket edges,
//! the snapshot role, later other relays): a connection, a cursor, acknowledgements.
//!
//! It knows neither sports nor viewers: a message is bytes in two encodings with a key.
//!
//! * [`Publisher`]: the shard's side. It keeps a bounded [`Replay`] of each topic, reads what is older from a
//!   [`History`], and knows what every taker has confirmed.
//! * [`Subscriber`]: a taker's side. One connection for all its topics; it comes back by itself, from its own cursor.
//!
//! Invariants:
//!
//! * A taker has no queue at the publisher: it is a position in the topic's replay, so messages that arrive while old
//!   ones are read cannot be lost or doubled, and a slow taker costs nobody memory.
//! * An epoch and an offset are adopted together or not at all, on both sides.
//! * Either side notices within [`Limits::silence_max`] that the other is gone, and a [`Subscriber`] says so at once.

mod cursor;
mod duplex;
mod history;
mod jitter;
mod limits;
mod publisher;
mod replay;
mod subscriber;
mod wire;

pub mod fuzz;

use bytes::Bytes;

pub use cursor::Cursor;
pub use duplex::Connection;
pub use history::{History, Page};
pub use jitter::Jitter;
pub use limits::Limits;
pub use publisher::Publisher;
pub use replay::{Kept, Replay};
pub use subscriber::Subscriber;

/// What [`Update::Paused`] says when the connection to the shard is lost, or there is none yet.
pub const SHARD_LOST: &str = "shard_lost";
/// What [`Update::Paused`] says when the shard is there and does not host the topic (yet).
pub const NOT_HOSTED: &str = "not_hosted";

/// What [`Update::Paused`] says when a subscriber has as many subscriptions as one connection may have (4,096).
pub const TOO_MANY: &str = "too_many_topics";

/// One message of a topic, encoded once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// From 1, growing, in the order of the log. Numbers are left out where the log has a record that cannot be
    /// published.
    pub offset: u64,
    /// Which happening.
    pub event: u64,
    /// Which revision of it. (topic, event, revision) never comes twice to a viewer.
    pub revision: u32,
    /// When it was durable, UTC in microseconds; for measuring.
    pub ingest_us: i64,
    /// What viewers of JSON get.
    pub json: Bytes,
    /// What viewers of Protobuf get.
    pub proto: Bytes,
}

/// What a subscriber of a topic is told, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Update {
    /// First, and again after each loss of the connection: what follows continues after `after`. If that is not the cursor
    /// that was asked for or last given (another epoch, or what it asked for is no longer held), everything known so far
    /// is void.
    Start {
        /// Where the messages that follow begin.
        after: Cursor,
    },
    /// The next message.
    Message(Message),
    /// All that there was has been given; what comes now is new.
    Live,
    /// Nothing will come for a while, for this reason: the shard has lost its lease, or the connection is lost.
    Paused {
        /// `shard_lost`, `spine_lost`, `lease_lost`, `regional_failover_in_progress` …
        reason: String,
    },
    /// It goes on. After a loss of the connection it follows [`Update::Start`].
    Resumed,
}

/// Why a publisher refuses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A topic's name, a reason or a message over its limit.
    #[error("the {what} has {len} bytes, more than the {max} that a frame may carry")]
    TooLarge {
        /// `topic`, `reason` or `message`.
        what: &'static str,
        /// Its length.
        len: usize,
        /// The limit.
        max: usize,
    },
    /// Nothing was opened by that name.
    #[error("there is no topic '{0}'")]
    NoTopic(String),
    /// Offsets of a topic only grow.
    #[error("offset {offset} is not after {head}, the newest of '{topic}'")]
    Backwards {
        /// The topic.
        topic: String,
        /// What came.
        offset: u64,
        /// What is there.
        head: u64,
    },
    /// A bound of this publisher's.
    #[error("{what}: no more than {max}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there may be.
        max: usize,
    },
    /// What holds the history cannot be read now.
    #[error("the history cannot be read: {0}")]
    History(String),
}
