//! Rings in memory.

use std::collections::{HashMap, VecDeque};
use std::sync::{PoisonError, RwLockReadGuard, RwLockWriteGuard};

use async_trait::async_trait;

use super::{Bounds, ENTRY_MAX, Entry, MemoryReplay, NAME_MAX, REPLAY_READ_MAX, Replay};
use crate::Error;

/// What is kept of one topic.
#[derive(Debug, Default)]
pub(super) struct Kept {
    epoch: u32,
    /// Everything up to and with this offset has left.
    after: u64,
    entries: VecDeque<Entry>,
    bytes: usize,
    /// Of the newest.
    at_us: i64,
}

impl Kept {
    fn beginning(epoch: u32, after: u64) -> Kept {
        Kept { epoch, after, at_us: i64::MIN, ..Kept::default() }
    }

    fn head(&self) -> u64 {
        self.entries.back().map_or(self.after, |newest| newest.offset)
    }

    fn push(&mut self, entry: Entry) {
        self.bytes += size(&entry);
        self.at_us = self.at_us.max(entry.at_us);
        self.entries.push_back(entry);
    }

    fn trim(&mut self, bounds: &Bounds) {
        let ttl_us = i64::try_from(bounds.ttl.as_micros()).unwrap_or(i64::MAX);
        let oldest_us = self.at_us.saturating_sub(ttl_us);
        while self.entries.len() > 1
            && (self.entries.len() > bounds.entries_max
                || self.bytes > bounds.bytes_max
                || self.entries.front().is_some_and(|oldest| oldest.at_us < oldest_us))
            && let Some(oldest) = self.entries.pop_front()
        {
            self.bytes -= size(&oldest);
            self.after = oldest.offset;
        }
    }

    fn from(&self, after: u64, max: usize) -> Option<Vec<Entry>> {
        if after < self.after || after >= self.head() {
            return None;
        }
        let first = self.entries.partition_point(|entry| entry.offset <= after);
        Some(self.entries.range(first..).take(max).cloned().collect())
    }
}

fn size(entry: &Entry) -> usize {
    entry.key.len() + entry.values.iter().map(bytes::Bytes::len).sum::<usize>()
}

impl MemoryReplay {
    fn topics(&self) -> RwLockReadGuard<'_, HashMap<String, Kept>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn topics_mut(&self) -> RwLockWriteGuard<'_, HashMap<String, Kept>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Replay for MemoryReplay {
    async fn append(
        &self,
        topic: &str,
        epoch: u32,
        after: u64,
        entries: &[Entry],
        bounds: &Bounds,
    ) -> Result<(), Error> {
        crate::bounded("topic", topic.len(), NAME_MAX)?;
        for entry in entries {
            crate::bounded("key", entry.key.len(), NAME_MAX)?;
            crate::bounded("value", size(entry), ENTRY_MAX)?;
        }
        let mut topics = self.topics_mut();
        let kept = topics.entry(topic.to_owned()).or_insert_with(|| Kept::beginning(epoch, after));
        if kept.epoch != epoch || kept.head() < after {
            *kept = Kept::beginning(epoch, after);
        }
        for entry in entries {
            if entry.offset > kept.head() {
                kept.push(entry.clone());
            }
        }
        kept.trim(bounds);
        Ok(())
    }

    async fn read(
        &self,
        topic: &str,
        epoch: u32,
        after: u64,
        max: usize,
    ) -> Result<Option<Vec<Entry>>, Error> {
        let topics = self.topics();
        let kept = topics.get(topic).filter(|kept| kept.epoch == epoch);
        Ok(kept.and_then(|kept| kept.from(after, max.min(REPLAY_READ_MAX))))
    }

    async fn forget(&self, topic: &str) -> Result<(), Error> {
        self.topics_mut().remove(topic);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn conforms() {
        let one = MemoryReplay::default();
        crate::conformance::replay(&one, &one.clone()).await;
    }
}
