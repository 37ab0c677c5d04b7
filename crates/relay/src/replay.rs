//! The newest messages of a topic, in memory.

use std::collections::VecDeque;
use std::time::Duration;

use crate::{Message, wire};

/// How much of a topic is kept for those who come back. The first bound that is met holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replay {
    /// Messages.
    pub messages_max: usize,
    /// Bytes of both encodings.
    pub bytes_max: usize,
    /// Age since it was durable.
    pub ttl: Duration,
}

impl Default for Replay {
    /// Two hours at 1.5 messages a second, twice over, and what so many take.
    fn default() -> Self {
        Replay { messages_max: 21_600, bytes_max: 32 * 1024 * 1024, ttl: Duration::from_secs(7_200) }
    }
}

/// What is kept of one topic.
#[derive(Debug)]
pub struct Kept {
    replay: Replay,
    messages: VecDeque<Message>,
    bytes: usize,
    /// Everything up to and with this offset has left.
    after: u64,
    head: u64,
}

impl Kept {
    /// Nothing yet.
    pub fn new(replay: Replay) -> Kept {
        Kept { replay, messages: VecDeque::new(), bytes: 0, after: 0, head: 0 }
    }

    /// Keeps a message, if its offset is new and it fits into a frame; otherwise nothing is done. The oldest go.
    pub fn push(&mut self, message: Message) -> bool {
        if message.offset <= self.head || wire::fits(&message).is_err() {
            return false;
        }
        self.head = message.offset;
        self.bytes += size(&message);
        self.messages.push_back(message);
        while self.messages.len() > self.replay.messages_max
            || (self.bytes > self.replay.bytes_max && self.messages.len() > 1)
        {
            self.drop_oldest();
        }
        true
    }

    /// Lets go of what is too old at that time: UTC in microseconds.
    pub(crate) fn trim(&mut self, now_us: i64) {
        let ttl_us = i64::try_from(self.replay.ttl.as_micros()).unwrap_or(i64::MAX);
        let oldest_us = now_us.saturating_sub(ttl_us);
        while self.messages.front().is_some_and(|m| m.ingest_us < oldest_us) {
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) {
        if let Some(oldest) = self.messages.pop_front() {
            self.bytes -= size(&oldest);
            self.after = oldest.offset;
        }
    }

    /// The newest offset; 0: none yet.
    pub fn head(&self) -> u64 {
        self.head
    }

    /// The earliest position that it can continue from.
    pub(crate) fn after(&self) -> u64 {
        self.after
    }

    /// What comes after a position, if it reaches back so far.
    pub(crate) fn from(&self, position: u64) -> Option<impl Iterator<Item = &Message>> {
        let first = self.messages.partition_point(|m| m.offset <= position);
        (position >= self.after).then(|| self.messages.range(first..))
    }
}

/// What a message costs, in bytes.
pub(crate) fn size(message: &Message) -> usize {
    // The key, two handles and their counts.
    const OVERHEAD: usize = 160;
    message.json.len() + message.proto.len() + OVERHEAD
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn message(offset: u64) -> Message {
        let bytes = Bytes::from_static(&[0; 420]);
        Message {
            offset,
            event: offset,
            revision: 1,
            ingest_us: offset as i64 * 1_000_000,
            json: bytes.clone(),
            proto: bytes,
        }
    }

    fn offsets(ring: &Kept, position: u64) -> Option<Vec<u64>> {
        ring.from(position).map(|messages| messages.map(|m| m.offset).collect())
    }

    #[test]
    fn keeps_the_newest_within_each_bound() {
        let bounds = Replay { messages_max: 3, bytes_max: 1 << 20, ttl: Duration::from_secs(5) };
        let mut ring = Kept::new(bounds);
        assert!([1, 2, 5, 6].into_iter().all(|n| ring.push(message(n))));
        assert!(!ring.push(message(6)) && !ring.push(message(3)), "offsets only grow");
        assert_eq!((ring.after(), ring.head()), (1, 6));
        assert_eq!(offsets(&ring, 0), None, "what has left cannot be continued from");
        assert_eq!(offsets(&ring, 1), Some(vec![2, 5, 6]));
        assert_eq!(offsets(&ring, 3), Some(vec![5, 6]), "a number that was left out is a position too");
        assert_eq!(offsets(&ring, 6), Some(vec![]));
        ring.trim(10_500_000);
        assert_eq!((offsets(&ring, 4), offsets(&ring, 5)), (None, Some(vec![6])));
        ring.trim(-1);
        assert_eq!(offsets(&ring, 5), Some(vec![6]), "a clock that was set back takes nothing");
        ring.trim(i64::MAX);
        assert_eq!((ring.after(), ring.head()), (6, 6));

        let mut ring = Kept::new(Replay { bytes_max: 2_000, ..Replay::default() });
        assert!((1..=3).all(|n| ring.push(message(n))));
        assert_eq!(ring.after(), 1, "two of 1,000 bytes each");
        let mut ring = Kept::new(Replay { bytes_max: 10, ..Replay::default() });
        assert!((1..=2).all(|n| ring.push(message(n))));
        assert_eq!(offsets(&ring, 1), Some(vec![2]), "the newest is always there");
    }
}
