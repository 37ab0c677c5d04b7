//! The one who writes: a thread, because a disk may make it wait.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Instant;

use tracing::warn;

use super::index::Index;
use super::journal::{self, Replay, Span};
use super::queue::{Message, Ticket};
use super::{Meters, Stored, files, record};
use crate::limits::{DISK_REST, DISK_SEGMENT_ENTRIES_MAX, DISK_SEGMENTS, DISK_SEGMENTS_MAX};

/// Owns a folder.
#[derive(Debug)]
pub(super) struct Writer {
    dir: PathBuf,
    bytes_max: u64,
    index: Arc<Index>,
    meters: Meters,
    /// The segment that is being written. After a start it is a new one, so that nothing is ever written behind
    /// bytes that nobody has read.
    newest: Option<Segment>,
    next_id: u64,
    /// When a write last failed.
    failed: Option<Instant>,
    _lock: File,
}

#[derive(Debug)]
struct Segment {
    id: u64,
    records: Arc<File>,
    records_len: u64,
    journal: File,
    journal_len: u64,
    entries: usize,
}

impl Writer {
    /// Takes a folder and reads its journals into the index.
    pub(super) fn open(
        dir: PathBuf,
        bytes_max: u64,
        index: Arc<Index>,
        meters: Meters,
    ) -> io::Result<Writer> {
        let lock = files::take(&dir)?;
        let ids = files::segments(&dir)?;
        let next_id = ids.last().map_or(1, |last| last + 1);
        let mut writer =
            Writer { dir, bytes_max, index, meters, newest: None, next_id, failed: None, _lock: lock };
        let broken = ids.into_iter().filter(|id| !writer.load(*id)).count();
        if broken > 0 {
            warn!(dir = %writer.dir.display(), "the journals of {broken} segments could not be read to their end");
        }
        writer.make_room(0);
        Ok(writer)
    }

    /// Adds a segment to the index. False if its journal cannot be read, or not to its end; what is of no use is
    /// removed.
    fn load(&mut self, id: u64) -> bool {
        let opened = files::open(&self.dir, id).and_then(|(records, journal)| {
            let len = records.metadata()?.len();
            Ok((records, len, journal))
        });
        let Ok((records, records_len, journal)) = opened else {
            self.remove(id);
            return false;
        };
        let mut replay = Replay::new(&journal);
        let entries: Vec<_> = replay.by_ref().take(DISK_SEGMENT_ENTRIES_MAX).collect();
        if entries.is_empty() {
            self.remove(id);
            return journal.is_empty();
        }
        self.index.begin(id, Arc::new(records));
        self.index.grow(records_len + journal.len() as u64);
        for (key, span) in entries {
            match span {
                Some(span) => self.index.insert(key, span),
                None => self.index.remove(key),
            }
        }
        replay.is_whole()
    }

    /// Does what it is told until it is told to end, or nobody is left to tell it.
    pub(super) fn run(mut self, messages: Receiver<(Message, Ticket)>) {
        let mut closing = None;
        for (message, _ticket) in &messages {
            match message {
                Message::Put(key, stored) => self.put(&key, &stored),
                Message::Forget(key) => self.forget(&key),
                Message::Close(done) => {
                    closing = Some(done);
                    break;
                }
            }
        }
        // The folder is free before anyone is told so.
        drop((self, messages));
        if let Some(done) = closing {
            let _ = done.send(());
        }
    }

    fn put(&mut self, key: &str, stored: &Stored) {
        let head = record::encode(key, stored);
        if head.is_some_and(|head| self.write(key, Some((&head, stored)))) {
            self.meters.writes.increment(1);
        } else {
            // Nor may an older one stand in its place.
            self.index.remove(key);
            self.meters.dropped.increment(1);
        }
    }

    fn forget(&mut self, key: &str) {
        // Again: it may have been waiting to be written when it was forgotten.
        self.index.remove(key);
        if !self.write(key, None) {
            self.meters.dropped.increment(1);
        }
    }

    /// Writes a record and its entry, or only the entry that forgets a key. After a failure a full disk is given
    /// back some space, and with any other nothing more is tried for a while.
    fn write(&mut self, key: &str, record: Option<(&[u8], &Stored)>) -> bool {
        if self.failed.is_some_and(|at| at.elapsed() < DISK_REST) {
            return false;
        }
        match self.try_write(key, record) {
            Ok(written) => written,
            Err(error) => {
                self.abandon();
                let full = matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded);
                if full && self.evict() {
                    warn!(dir = %self.dir.display(), %error, "no space; the oldest objects leave");
                } else {
                    warn!(dir = %self.dir.display(), %error, "cannot write; nothing is kept for {DISK_REST:?}");
                    self.failed = Some(Instant::now());
                }
                false
            }
        }
    }

    fn try_write(&mut self, key: &str, record: Option<(&[u8], &Stored)>) -> io::Result<bool> {
        let len = record.map_or(0, |(head, stored)| head.len() + stored.body.len());
        let Ok(len) = u32::try_from(len) else { return Ok(false) };
        let span = |offset| record.map(|(_, stored)| Span { offset, len, stored_ms: stored.stored_ms });
        let Some(entry_len) = journal::entry(key, span(0)).map(|entry| entry.len() as u64) else {
            return Ok(false);
        };
        let bytes = u64::from(len) + entry_len;
        if bytes > self.bytes_max {
            return Ok(false);
        }
        self.make_room(bytes);
        let segment = self.segment()?;
        let span = span(segment.records_len);
        if let Some((head, stored)) = record {
            segment.records.write_all_at(head, segment.records_len)?;
            segment.records.write_all_at(&stored.body, segment.records_len + head.len() as u64)?;
        }
        let entry = journal::entry(key, span).unwrap_or_default();
        segment.journal.write_all_at(&entry, segment.journal_len)?;
        segment.records_len += u64::from(len);
        segment.journal_len += entry_len;
        segment.entries += 1;
        self.index.grow(bytes);
        if let Some(span) = span {
            self.index.insert(key, span);
        }
        Ok(true)
    }

    /// The segment to write to, a new one if need be.
    fn segment(&mut self) -> io::Result<&mut Segment> {
        let segment = match self.newest.take() {
            Some(segment) => segment,
            None => {
                let id = self.next_id;
                self.next_id += 1;
                let [records, journal] = files::create(&self.dir, id)?;
                let records = Arc::new(records);
                self.index.begin(id, records.clone());
                Segment { id, records, records_len: 0, journal, journal_len: 0, entries: 0 }
            }
        };
        Ok(self.newest.insert(segment))
    }

    /// Lets old segments leave until so many bytes more fit.
    fn make_room(&mut self, bytes: u64) {
        let segment_bytes = self.bytes_max / DISK_SEGMENTS;
        self.newest.take_if(|newest| {
            newest.records_len + newest.journal_len + bytes > segment_bytes
                || newest.entries >= DISK_SEGMENT_ENTRIES_MAX
        });
        let segments_max = DISK_SEGMENTS_MAX - usize::from(self.newest.is_none());
        while self.index.bytes() + bytes > self.bytes_max || self.index.segments() > segments_max {
            if !self.evict() {
                break;
            }
        }
    }

    /// Lets the oldest segment leave. False if there is none.
    fn evict(&mut self) -> bool {
        let Some(id) = self.index.evict() else { return false };
        self.newest.take_if(|newest| newest.id == id);
        self.remove(id);
        true
    }

    /// Ends the newest segment as it was before a write that failed.
    fn abandon(&mut self) {
        if let Some(segment) = self.newest.take() {
            let _ = segment.records.set_len(segment.records_len);
            let _ = segment.journal.set_len(segment.journal_len);
        }
    }

    fn remove(&self, id: u64) {
        if let Err(error) = files::remove(&self.dir, id) {
            warn!(dir = %self.dir.display(), id, %error, "cannot remove a segment");
        }
    }
}
