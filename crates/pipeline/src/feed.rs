//! The last seconds of the feed, so that an encoder can be started at a keyframe that has already passed.

use std::collections::VecDeque;

use bytes::Bytes;
use timeline::Ticks;

/// Bytes kept: four seconds of a 20 Mbit/s feed, so at least one keyframe of any usual contribution.
pub const FEED_MAX: usize = 10 << 20;
/// Chunks kept: of full datagrams, the same four seconds; small ones end sooner.
pub const CHUNKS_MAX: usize = 16_384;

/// Bytes as they came, and where the keyframes are in them.
#[derive(Debug, Default)]
pub struct Feed {
    chunks: VecDeque<Bytes>,
    /// Number of the first chunk kept.
    first: u64,
    bytes: usize,
    keyframes: VecDeque<Keyframe>,
}

/// A frame that the encoder's decoder can begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keyframe {
    /// The chunk in which it begins.
    pub chunk: u64,
    /// Its PTS, 33 bits.
    pub pts: u64,
    /// Its venue time; `None` until there is an anchor.
    pub at: Option<Ticks>,
}

impl Feed {
    /// Number of the chunk that is pushed next.
    pub fn next_chunk(&self) -> u64 {
        self.first + self.chunks.len() as u64
    }

    /// Notes a keyframe in the chunk that is pushed next.
    pub fn keyframe(&mut self, pts: u64, at: Option<Ticks>) {
        self.keyframes.push_back(Keyframe { chunk: self.next_chunk(), pts, at });
    }

    /// Keeps a chunk; the oldest leave when there are too many.
    pub fn push(&mut self, chunk: Bytes) {
        self.bytes += chunk.len();
        self.chunks.push_back(chunk);
        while self.bytes > FEED_MAX || self.chunks.len() > CHUNKS_MAX {
            let Some(gone) = self.chunks.pop_front() else { break };
            self.bytes -= gone.len();
            self.first += 1;
        }
        while self.keyframes.front().is_some_and(|k| k.chunk < self.first) {
            self.keyframes.pop_front();
        }
    }

    /// Forgets everything: what came before a jump of the feed's clock must not be decoded with what follows.
    pub fn clear(&mut self) {
        self.first = self.next_chunk();
        self.chunks.clear();
        self.keyframes.clear();
        self.bytes = 0;
    }

    /// The last keyframe.
    pub fn last_keyframe(&self) -> Option<Keyframe> {
        self.keyframes.back().copied()
    }

    /// The first keyframe that is kept.
    pub fn first_keyframe(&self) -> Option<Keyframe> {
        self.keyframes.front().copied()
    }

    /// All that has come since the start of a chunk.
    pub fn since(&self, chunk: u64) -> Vec<Bytes> {
        let skip = chunk.saturating_sub(self.first) as usize;
        self.chunks.iter().skip(skip).cloned().collect()
    }

    /// Bytes kept.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_from_a_keyframe_and_stays_bounded() {
        let mut feed = Feed::default();
        for n in 0..40_000u64 {
            if n % 100 == 0 {
                feed.keyframe(n, None);
            }
            feed.push(Bytes::from(vec![0; 1_316]));
        }
        assert!(feed.len() <= FEED_MAX);
        let last = feed.last_keyframe().unwrap();
        assert_eq!((last.pts, feed.since(last.chunk).len()), (39_900, 100));
        assert!(feed.keyframes.len() < 200);
        feed.clear();
        assert!(feed.is_empty() && feed.last_keyframe().is_none());
        assert_eq!(feed.next_chunk(), 40_000);
    }
}
