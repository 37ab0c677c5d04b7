//! What was published of a topic, for those who come back to it.

mod memory;

use std::collections::HashMap;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use crate::Error;

/// Longest topic or key in bytes, as in the log.
pub(crate) const NAME_MAX: usize = crate::log::NAME_MAX;
/// Most bytes of an entry's values: a message is 1 KB in all its encodings, and the relay carries no more than this.
pub(crate) const ENTRY_MAX: usize = 256 * 1024;
/// Entries given by one read, whatever was asked for.
pub const REPLAY_READ_MAX: usize = 1_024;

/// Something that was published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its place in the topic's log: from 1, growing; numbers may be left out.
    pub offset: u64,
    /// What it is about, for who reads it; not unique.
    pub key: String,
    /// When it was durable, UTC in microseconds.
    pub at_us: i64,
    /// What was said, in as many encodings as who wrote it has.
    pub values: Vec<Bytes>,
}

/// How much of a topic is kept. The first bound that is met holds; the newest entry always stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Entries.
    pub entries_max: usize,
    /// Bytes of all values.
    pub bytes_max: usize,
    /// Age, against the newest entry: a topic in which nothing happens loses nothing, and no clock is asked.
    pub ttl: Duration,
}

/// The newest entries of topics. It may lose all of them at any time: it is made again from the log.
#[async_trait]
pub trait Replay: Send + Sync {
    /// Keeps entries, in order, and lets go of what is beyond `bounds`.
    ///
    /// `entries` are all that was published after `after` (0: from the first) up to the last of them. What stands already
    /// is not kept again, so a writer that was restarted may say everything anew. If the replay ends before `after`, or is
    /// of another epoch, it begins anew: it never has a hole.
    async fn append(
        &self,
        topic: &str,
        epoch: u32,
        after: u64,
        entries: &[Entry],
        bounds: &Bounds,
    ) -> Result<(), Error>;

    /// Entries after this offset of that epoch in order, at most `max` and [`REPLAY_READ_MAX`]. None if it cannot say:
    /// they have been let go of, it is of another epoch, or it knows of nothing after the offset, where there may be more
    /// than it was told.
    async fn read(
        &self,
        topic: &str,
        epoch: u32,
        after: u64,
        max: usize,
    ) -> Result<Option<Vec<Entry>>, Error>;

    /// Lets go of a topic.
    async fn forget(&self, topic: &str) -> Result<(), Error>;
}

/// The embedded replay: in this process's memory. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct MemoryReplay(Arc<RwLock<HashMap<String, memory::Kept>>>);
