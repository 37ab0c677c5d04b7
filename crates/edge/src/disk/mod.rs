//! The optional tier on disk: objects that have left memory and may still be asked for, such as an hour of DVR.
//!
//! The space is divided into segments of two files: one has [`record`]s back to back, the other is the
//! [`journal`] of what was stored and forgotten. Both only grow, one thread ([`writer`]) writes them, and the
//! oldest segment leaves as a whole. The [`index`] in memory is made from the journals at the start.
//!
//! Nothing that is read is trusted: journal entries and records carry a checksum over all that they say, the key
//! included. What cannot be read is not there: a miss, counted, and never a reason not to start. Nothing is
//! synced, so that a power failure may cost the last seconds; what was half written then fails its checksum.

mod files;
mod index;
mod journal;
mod queue;
mod record;
mod writer;

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use metrics::{Counter, counter};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::timeout;
use tracing::{debug, warn};

use crate::Error;
use crate::limits::{DISK_READ_BYTES, DISK_READS_MAX, DISK_WAIT_MAX, DRAIN_MAX};
use index::Index;
use queue::{Message, Queue};
use writer::Writer;

pub(crate) use record::fuzz;

/// What is kept of an object. Times are wall-clock, in milliseconds since the Unix epoch, because they outlive
/// the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    /// The upstream's.
    pub(crate) status: StatusCode,
    /// The upstream's.
    pub(crate) headers: HeaderMap,
    /// All of it.
    pub(crate) body: Bytes,
    /// When it was fetched, or last found to be unchanged. It stays the same on the way into memory and back to
    /// disk, where it tells whether this very object is there already.
    pub(crate) stored_ms: u64,
    /// When it was made, from which its age counts.
    pub(crate) born_ms: u64,
    /// Until when it may be used without asking.
    pub(crate) fresh_until_ms: u64,
    /// Until when it may be used while it is asked for anew.
    pub(crate) stale_while_revalidate_until_ms: u64,
    /// Until when it may be used if upstreams fail.
    pub(crate) stale_if_error_until_ms: u64,
}

/// Objects on disk, by key. Whether one is still fresh, or purged meanwhile, is for the caller to say.
#[derive(Debug)]
pub(crate) struct Disk {
    index: Arc<Index>,
    queue: Queue,
    /// In units of [`DISK_READ_BYTES`].
    reads: Arc<Semaphore>,
    wait_max: Duration,
    meters: Meters,
}

impl Disk {
    /// Opens a folder, made if need be, that takes at most so many MB (10^6 bytes). It belongs to this process
    /// until [`Disk::close`]; other files in it are left alone.
    ///
    /// # Errors
    ///
    /// [`Error::Disk`]: it cannot be used at all, or another process uses it. Not: that what is in it is broken.
    pub(crate) async fn open(dir: &Path, mb: u64) -> Result<Disk, Error> {
        Disk::open_with(dir, mb.saturating_mul(1_000_000), Meters::new()).await
    }

    async fn open_with(dir: &Path, bytes_max: u64, meters: Meters) -> Result<Disk, Error> {
        let bad = |reason: String| Error::Disk { path: dir.to_owned(), reason };
        let index = Arc::new(Index::default());
        let opening = {
            let (dir, index, meters) = (dir.to_owned(), index.clone(), meters.clone());
            move || Writer::open(dir, bytes_max, index, meters)
        };
        let opened = tokio::task::spawn_blocking(opening).await.map_err(|e| bad(e.to_string()))?;
        let (queue, messages) = queue::queue();
        opened
            .and_then(|writer| {
                std::thread::Builder::new().name("disk".into()).spawn(move || writer.run(messages))
            })
            .map_err(|e| match e.kind() {
                ErrorKind::ResourceBusy => Error::DiskBusy(dir.to_owned()),
                _ => bad(e.to_string()),
            })?;
        let reads = Arc::new(Semaphore::new(DISK_READS_MAX as usize));
        Ok(Disk { index, queue, reads, wait_max: DISK_WAIT_MAX, meters })
    }

    /// Keeps an object, in place of any other under its key. Never blocks and never fails the caller: when too
    /// much waits to be written it is dropped, and counted. One with the same `stored_ms` is not written again.
    pub(crate) fn put(&self, key: &str, stored: Stored) {
        if self.index.find(key).is_some_and(|place| place.span.stored_ms == stored.stored_ms) {
            return;
        }
        if !self.queue.push(Message::Put(key.into(), stored)) {
            // Nor may an older one stand in its place.
            self.index.remove(key);
            self.meters.dropped.increment(1);
        }
    }

    /// The object, if it is there and can be read within [`DISK_WAIT_MAX`].
    pub(crate) async fn get(&self, key: &str) -> Option<Stored> {
        let found = timeout(self.wait_max, self.read(key)).await.unwrap_or_else(|_| {
            debug!(key, "the disk is slow");
            None
        });
        let counter = if found.is_some() { &self.meters.hits } else { &self.meters.misses };
        counter.increment(1);
        found
    }

    async fn read(&self, key: &str) -> Option<Stored> {
        let place = self.index.find(key)?;
        let units = place.span.len.div_ceil(DISK_READ_BYTES).clamp(1, DISK_READS_MAX);
        let units = self.reads.clone().acquire_many_owned(units).await.ok()?;
        let reading = {
            let (place, key) = (place.clone(), key.to_owned());
            move || {
                let _units = units;
                record::decode(&key, place.read()?)
            }
        };
        let stored = tokio::task::spawn_blocking(reading).await.ok()?;
        if stored.is_none() {
            debug!(key, "what the disk has of an object is broken");
            self.meters.corrupt.increment(1);
            self.index.remove_at(key, &place);
        }
        stored
    }

    /// Forgets an object, at once and for later processes too. In a rush of thousands that last part may be
    /// lost: who must be sure remembers what is purged and compares [`Stored::stored_ms`].
    pub(crate) fn forget(&self, key: &str) {
        self.index.remove(key);
        if !self.queue.push(Message::Forget(key.into())) {
            self.meters.dropped.increment(1);
        }
    }

    /// Writes what waits, for at most [`DRAIN_MAX`], and gives the folder free. Later puts are dropped.
    pub(crate) async fn close(&self) {
        let (done, closed) = oneshot::channel();
        self.queue.push(Message::Close(done));
        if timeout(DRAIN_MAX, closed).await.is_err() {
            warn!("the disk did not take all that it should keep in time");
        }
    }
}

/// What is counted.
#[derive(Clone, Debug)]
struct Meters {
    hits: Counter,
    misses: Counter,
    writes: Counter,
    dropped: Counter,
    corrupt: Counter,
}

impl Meters {
    fn new() -> Meters {
        Meters {
            hits: counter!("edge_disk_hits_total"),
            misses: counter!("edge_disk_misses_total"),
            writes: counter!("edge_disk_writes_total"),
            dropped: counter!("edge_disk_dropped_total"),
            corrupt: counter!("edge_disk_corrupt_total"),
        }
    }
}

#[cfg(test)]
mod tests;
