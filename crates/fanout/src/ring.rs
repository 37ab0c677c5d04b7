//! A match's newest events, ready for the wire. A socket's place in its match is an offset in here.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use relay::{Cursor, Message};

use crate::cursor::Text;
use crate::frame::{self, Opcode};
use crate::limits::{AHEAD_MAX, RING_BYTES_MAX, RING_MESSAGES_MAX};
use crate::says::{ENCODINGS, Encoding};

/// Where one is in a match that has no record yet.
pub(crate) const NOWHERE: Cursor = Cursor { epoch: 0, offset: 0 };

/// An event, encoded once for everybody.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Its place in the log.
    pub(crate) offset: u64,
    /// When it was durable, UTC in microseconds.
    pub(crate) ingest_us: i64,
    frames: [Bytes; ENCODINGS],
    json_at: usize,
}

impl Entry {
    /// A message of that match, in that life of its log.
    pub(crate) fn new(match_id: &str, epoch: u32, message: &Message) -> Entry {
        let mut json = Vec::with_capacity(message.json.len() + 10);
        frame::write(&mut json, Opcode::Text, &message.json);
        let json_at = json.len() - message.json.len();
        let mut proto = Vec::with_capacity(message.proto.len() + 10);
        frame::write(&mut proto, Opcode::Binary, &message.proto);
        let id = Text(Cursor { epoch, offset: message.offset });
        let mut sse = format!("id: {match_id}:{id}\ndata: ").into_bytes();
        // A line break would end the field. In JSON it can only be space between tokens.
        sse.extend(message.json.iter().map(|b| if matches!(b, b'\n' | b'\r') { b' ' } else { *b }));
        sse.extend_from_slice(b"\n\n");
        let frames = [json.into(), proto.into(), sse.into()];
        Entry { offset: message.offset, ingest_us: message.ingest_us, frames, json_at }
    }

    /// A place in the log that nobody gets anything of: what stands there was published before, or cannot be.
    pub(crate) fn nothing(offset: u64) -> Entry {
        Entry { offset, ingest_us: 0, frames: [Bytes::new(), Bytes::new(), Bytes::new()], json_at: 0 }
    }

    /// As it goes to a socket; nothing, if nobody gets it.
    pub(crate) fn frame(&self, encoding: Encoding) -> &[u8] {
        &self.frames[encoding as usize]
    }

    /// Just its JSON.
    pub(crate) fn json(&self) -> &[u8] {
        &self.frames[Encoding::Json as usize][self.json_at..]
    }

    fn len(&self) -> usize {
        self.frames.iter().map(Bytes::len).sum()
    }
}

/// The newest events of one life of a match's log, without holes.
#[derive(Debug)]
pub(crate) struct Ring {
    epoch: u32,
    /// The offset that the next event has.
    next: u64,
    entries: VecDeque<Arc<Entry>>,
    bytes: usize,
}

impl Ring {
    /// An empty one, to begin after that cursor.
    pub(crate) fn new(after: Cursor) -> Ring {
        let next = after.offset.saturating_add(1);
        Ring { epoch: after.epoch, next, entries: VecDeque::new(), bytes: 0 }
    }

    /// Takes the next event; the oldest leave when there are too many. Places before it that hold none are kept, so that
    /// an offset is a place in here.
    pub(crate) fn push(&mut self, entry: Arc<Entry>) {
        while self.next < entry.offset {
            self.entries.push_back(Arc::new(Entry::nothing(self.next)));
            self.next += 1;
        }
        self.next = entry.offset.saturating_add(1);
        self.bytes += entry.len();
        self.entries.push_back(entry);
        while self.entries.len() > RING_MESSAGES_MAX || self.bytes > RING_BYTES_MAX {
            let Some(oldest) = self.entries.pop_front() else { break };
            self.bytes -= oldest.len();
        }
    }

    /// The offset of the oldest event, or of the next if there is none.
    pub(crate) fn first(&self) -> u64 {
        self.next - self.entries.len() as u64
    }

    /// The offset that the next event will have.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// After the newest event.
    pub(crate) fn end(&self) -> Cursor {
        self.at(self.next)
    }

    /// The cursor of who waits for that offset.
    pub(crate) fn at(&self, next: u64) -> Cursor {
        Cursor { epoch: self.epoch, offset: next.saturating_sub(1) }
    }

    /// Where to go on after a cursor, if nothing after it is missing. A client may be a little ahead: another worker, or
    /// another edge, had the news first. It gets nothing until this one is as far.
    pub(crate) fn after(&self, cursor: Cursor) -> Option<u64> {
        // 0-0: before the first record there is no log, and so no epoch. Nothing is missing from the beginning on.
        let epoch = if cursor == NOWHERE { self.epoch } else { cursor.epoch };
        let next = cursor.offset.checked_add(1)?;
        (epoch == self.epoch && (self.first()..=self.next + AHEAD_MAX).contains(&next)).then_some(next)
    }

    /// Bytes of JSON from that offset on.
    pub(crate) fn bytes_since(&self, offset: u64) -> usize {
        let first = offset.max(self.first());
        (first..self.next).filter_map(|offset| self.get(offset)).map(|entry| entry.json().len()).sum()
    }

    /// The event with that offset.
    pub(crate) fn get(&self, offset: u64) -> Option<&Arc<Entry>> {
        self.entries.get(offset.checked_sub(self.first())? as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(offset: u64, json: &'static str) -> Message {
        let (json, proto) = (Bytes::from_static(json.as_bytes()), Bytes::from_static(b"p"));
        Message { offset, event: offset, revision: 1, ingest_us: 0, json, proto }
    }

    #[test]
    fn an_event_is_one_line_of_sse() {
        let entry = Entry::new("m", 0x1f, &message(7, "{\n\"a\":1\r\n}"));
        assert_eq!(entry.frame(Encoding::Sse), b"id: m:1f-7\ndata: { \"a\":1  }\n\n");
        assert_eq!(entry.json(), b"{\n\"a\":1\r\n}");
        assert_eq!(entry.frame(Encoding::Proto), [0x82, 1, b'p']);
        assert!(Entry::nothing(7).frame(Encoding::Json).is_empty());
    }

    #[test]
    fn a_cursor_is_good_as_long_as_nothing_after_it_is_missing() {
        let at = |epoch, offset| Cursor { epoch, offset };
        let mut ring = Ring::new(at(1, 10));
        assert_eq!(
            (ring.after(at(1, 10)), ring.after(at(1, 9)), ring.after(at(1, 11))),
            (Some(11), None, Some(12))
        );
        assert_eq!(ring.after(at(1, 11 + AHEAD_MAX)), None);
        for offset in 11..11 + RING_MESSAGES_MAX as u64 + 5 {
            ring.push(Arc::new(Entry::new("m", 1, &message(offset, "{}"))));
        }
        assert_eq!(ring.first(), 16);
        assert_eq!(
            (ring.after(at(1, 15)), ring.after(at(1, 14)), ring.after(at(2, 20))),
            (Some(16), None, None)
        );
        assert_eq!(ring.after(ring.end()), Some(ring.next()));
        assert_eq!(ring.after(at(1, u64::MAX)), None);
        assert!(ring.get(ring.next()).is_none() && ring.get(15).is_none());
        assert_eq!(ring.get(16).map(|entry| entry.offset), Some(16));
    }

    #[test]
    fn places_without_an_event_are_places() {
        let mut ring = Ring::new(Cursor { epoch: 1, offset: 0 });
        ring.push(Arc::new(Entry::new("m", 1, &message(4, "{}"))));
        assert_eq!((ring.first(), ring.next()), (1, 5));
        assert!(ring.get(3).is_some_and(|entry| entry.frame(Encoding::Json).is_empty()));
        assert_eq!(ring.get(4).map(|entry| entry.offset), Some(4));
    }

    #[test]
    fn bytes_are_bounded_too() {
        let mut ring = Ring::new(Cursor { epoch: 1, offset: 0 });
        let large: &'static str = Box::leak("x".repeat(RING_BYTES_MAX / 8).into_boxed_str());
        for offset in 1..=10 {
            ring.push(Arc::new(Entry::new("m", 1, &message(offset, large))));
        }
        assert!(ring.bytes <= RING_BYTES_MAX && ring.first() > 1 && ring.next() == 11);
    }
}
