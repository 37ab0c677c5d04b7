//! The bytes of finished segments.

use std::collections::VecDeque;

use bytes::Bytes;
use timeline::name::Letter;
use timeline::{Position, Ticks};

use super::object::same_bytes;

/// Finished segments' bytes, oldest first, of consecutive MSNs.
#[derive(Debug, Default)]
pub struct Kept {
    segments: VecDeque<Finished>,
    bytes: u64,
    media: Ticks,
}

/// One finished segment's bytes.
#[derive(Debug)]
pub struct Finished {
    /// Its media sequence number.
    pub msn: u64,
    /// Whose bytes it is served from; `None` is a gap.
    pub source: Option<Letter>,
    /// Length of its media; 0 for a gap.
    pub duration: Ticks,
    /// Its bytes in order; none for a gap.
    pub chunks: Vec<Bytes>,
    /// Whose parts were listed.
    pub parts_letter: Letter,
    /// The parts that were listed, while they can be fetched; `None` for gaps. They share their bytes with
    /// `chunks` where the letter is the same.
    pub parts: Vec<Option<Bytes>>,
}

impl Kept {
    /// Adds the next segment.
    pub fn push(&mut self, segment: Finished) {
        self.bytes += segment.len();
        self.media = self.media + segment.duration;
        self.segments.push_back(segment);
    }

    /// Bytes of media held, without parts that are not their segment's.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Length of the media held.
    pub fn media(&self) -> Ticks {
        self.media
    }

    /// The oldest segment.
    pub fn first_msn(&self) -> Option<u64> {
        self.segments.front().map(|s| s.msn)
    }

    /// Lets go of the segments before `msn`.
    pub fn forget_before(&mut self, msn: u64) {
        while let Some(first) = self.segments.front().filter(|s| s.msn < msn) {
            self.bytes -= first.len();
            self.media = self.media - first.duration;
            self.segments.pop_front();
        }
    }

    /// Lets go of the parts of segments before `msn`.
    pub fn forget_parts_before(&mut self, msn: u64) {
        // Called for every segment, so older ones have been seen to.
        let old = self.segments.iter_mut().rev().skip_while(|s| s.msn >= msn);
        for segment in old.take_while(|s| !s.parts.is_empty()) {
            segment.parts = Vec::new();
        }
    }

    /// A segment's bytes.
    pub fn segment(&self, msn: u64, letter: Letter) -> Option<&[Bytes]> {
        self.get(msn).filter(|s| s.source == Some(letter)).map(|s| s.chunks.as_slice())
    }

    /// A part's bytes.
    pub fn part(&self, at: Position, letter: Letter) -> Option<&Bytes> {
        let segment = self.get(at.msn).filter(|s| s.parts_letter == letter)?;
        segment.parts.get(at.part as usize)?.as_ref()
    }

    /// Whether these bytes contradict what is held of a segment.
    pub fn contradicts_segment(&self, msn: u64, letter: Letter, bytes: &[u8]) -> bool {
        self.segment(msn, letter).is_some_and(|chunks| !same_bytes(chunks, bytes))
    }

    /// Whether these bytes contradict what is held of a part.
    pub fn contradicts_part(&self, at: Position, letter: Letter, bytes: &[u8]) -> bool {
        self.part(at, letter).is_some_and(|part| part != bytes)
    }

    fn get(&self, msn: u64) -> Option<&Finished> {
        let at = msn.checked_sub(self.first_msn()?)?;
        self.segments.get(usize::try_from(at).ok()?)
    }
}

impl Finished {
    fn len(&self) -> u64 {
        self.chunks.iter().map(|c| c.len() as u64).sum()
    }
}
