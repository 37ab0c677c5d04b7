//! Which key is where, in memory.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::journal::Span;

/// Where everything is. Keys are kept as hashes only: of two that hash alike the later holds, and a record says
/// itself of which key it is.
#[derive(Debug, Default)]
pub(super) struct Index(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    hasher: RandomState,
    places: HashMap<u64, (u64, Span)>,
    /// Oldest first, so ids ascend.
    segments: VecDeque<Segment>,
    bytes: u64,
}

#[derive(Debug)]
struct Segment {
    id: u64,
    records: Arc<File>,
    /// Of both its files.
    bytes: u64,
    /// What was put in it, some of it elsewhere by now.
    hashes: Vec<u64>,
}

/// A record that can be read, even if its segment leaves meanwhile.
#[derive(Clone, Debug)]
pub(super) struct Place {
    records: Arc<File>,
    segment: u64,
    pub(super) span: Span,
}

impl Place {
    /// The bytes there. `None` if they are not, or cannot be read.
    pub(super) fn read(&self) -> Option<Bytes> {
        let mut bytes = vec![0; self.span.len as usize];
        self.records.read_exact_at(&mut bytes, self.span.offset).ok()?;
        Some(bytes.into())
    }
}

impl Index {
    /// Where a key is.
    pub(super) fn find(&self, key: &str) -> Option<Place> {
        let inner = self.lock();
        let (segment, span) = *inner.places.get(&inner.hasher.hash_one(key))?;
        let i = inner.segments.binary_search_by_key(&segment, |s| s.id).ok()?;
        Some(Place { records: inner.segments[i].records.clone(), segment, span })
    }

    /// A new segment, after all others.
    pub(super) fn begin(&self, id: u64, records: Arc<File>) {
        self.lock().segments.push_back(Segment { id, records, bytes: 0, hashes: Vec::new() });
    }

    /// More bytes in the newest segment.
    pub(super) fn grow(&self, bytes: u64) {
        let mut inner = self.lock();
        inner.bytes = inner.bytes.saturating_add(bytes);
        if let Some(newest) = inner.segments.back_mut() {
            newest.bytes = newest.bytes.saturating_add(bytes);
        }
    }

    /// A key is in the newest segment now.
    pub(super) fn insert(&self, key: &str, span: Span) {
        let inner = &mut *self.lock();
        let hash = inner.hasher.hash_one(key);
        if let Some(newest) = inner.segments.back_mut() {
            newest.hashes.push(hash);
            inner.places.insert(hash, (newest.id, span));
        }
    }

    /// A key is nowhere.
    pub(super) fn remove(&self, key: &str) {
        let mut inner = self.lock();
        let hash = inner.hasher.hash_one(key);
        inner.places.remove(&hash);
    }

    /// A key is no longer there; if it is elsewhere by now it stays.
    pub(super) fn remove_at(&self, key: &str, place: &Place) {
        let mut inner = self.lock();
        let hash = inner.hasher.hash_one(key);
        if inner.places.get(&hash) == Some(&(place.segment, place.span)) {
            inner.places.remove(&hash);
        }
    }

    /// Takes the oldest segment out, with all that is in it.
    pub(super) fn evict(&self) -> Option<u64> {
        let mut inner = self.lock();
        let oldest = inner.segments.pop_front()?;
        inner.bytes = inner.bytes.saturating_sub(oldest.bytes);
        for hash in &oldest.hashes {
            if inner.places.get(hash).is_some_and(|(id, _)| *id == oldest.id) {
                inner.places.remove(hash);
            }
        }
        drop(inner);
        Some(oldest.id)
    }

    /// Bytes on disk.
    pub(super) fn bytes(&self) -> u64 {
        self.lock().bytes
    }

    /// Segments on disk.
    pub(super) fn segments(&self) -> usize {
        self.lock().segments.len()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing that is done under this lock can leave it half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_takes_with_it_only_what_is_nowhere_else() {
        let index = Index::default();
        let records = Arc::new(tempfile::tempfile().unwrap());
        let span = |offset| Span { offset, len: 1, stored_ms: 0 };
        index.begin(1, records.clone());
        index.grow(10);
        index.insert("/m/1", span(0));
        index.insert("/m/2", span(1));
        index.begin(7, records);
        index.grow(5);
        index.insert("/m/2", span(2));
        let old = index.find("/m/1").unwrap();
        assert_eq!((index.evict(), index.bytes(), index.segments()), (Some(1), 5, 1));
        assert!(index.find("/m/1").is_none());
        assert_eq!(index.find("/m/2").unwrap().span, span(2));
        index.insert("/m/1", span(3));
        index.remove_at("/m/1", &old);
        assert_eq!(index.find("/m/1").unwrap().span, span(3));
        assert_eq!((index.evict(), index.evict(), index.bytes()), (Some(7), None, 0));
        assert!(index.find("/m/2").is_none());
    }
}
