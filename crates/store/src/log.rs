//! Ordered, durable logs, one a topic.

use std::future::Future;
use std::pin::Pin;

use async_trait::async_trait;
use bytes::Bytes;

use crate::Error;

/// Longest topic, group or key in bytes: a match's name is 64, and a key two numbers.
pub(crate) const NAME_MAX: usize = 256;
/// Longest value in bytes: a happening takes some 500, a dead letter is cut to 4 KiB by who writes it.
pub(crate) const RECORD_MAX: usize = 64 * 1024;
/// Records given by one read, whatever was asked for: with 500 bytes each, half a megabyte.
pub const READ_MAX: usize = 1_024;
/// Records of one append: as many as ingest takes together.
pub const APPEND_MAX: usize = 4_096;
/// Topics listed at once: every match of a season.
pub const TOPICS_MAX: usize = 10_000;

/// A record to append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct New {
    /// Which log.
    pub topic: String,
    /// Unique within the topic, for as long as the log lives.
    pub key: String,
    /// What it says.
    pub value: Bytes,
}

/// Where a record stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// From 1, without holes within the topic.
    pub offset: u64,
    /// False if a record with this key stood there already, with whatever value: it stands, ours was not written.
    pub new: bool,
}

/// A record that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// From 1, without holes within the topic.
    pub offset: u64,
    /// Unique within the topic.
    pub key: String,
    /// What it says.
    pub value: Bytes,
}

/// Logs shared by every process of a match.
#[async_trait]
pub trait Log: Send + Sync {
    /// Appends in this order, in one transaction, and answers when all of it is durable. A key that its topic has is
    /// not written again; its old place is the answer. After an error it is unknown whether the records stand:
    /// append them again.
    async fn append(&self, records: &[New]) -> Result<Vec<Appended>, Error>;

    /// Records after this offset (0: from the first) in order, at most `max` and [`READ_MAX`].
    async fn read(&self, topic: &str, after: u64, max: usize) -> Result<Vec<Record>, Error>;

    /// Which life of the topic's log this is: drawn at random with its first record, never 0. None before that.
    async fn epoch(&self, topic: &str) -> Result<Option<u32>, Error>;

    /// The last offset that this group of readers is done with; 0: none.
    async fn committed(&self, topic: &str, group: &str) -> Result<u64, Error>;

    /// Says, durably, that the group is done with everything up to this offset. Never goes back: a smaller one than
    /// stands is ignored.
    async fn commit(&self, topic: &str, group: &str, offset: u64) -> Result<(), Error>;

    /// The topics that have records and begin so, in order, at most [`TOPICS_MAX`].
    async fn topics(&self, prefix: &str) -> Result<Vec<String>, Error>;

    /// Resolves when there may be something new since *this call* (not since the first poll), so that nothing is
    /// missed by who asks for it before reading:
    ///
    /// ```ignore
    /// let changed = log.changed();
    /// if log.read(topic, after, 100).await?.is_empty() { changed.await }
    /// ```
    ///
    /// It may resolve for nothing.
    fn changed(&self) -> Pin<Box<dyn Future<Output = ()> + Send>>;
}
