//! From an encoder's samples to parts on the grid. Pure: samples in, parts out.
//!
//! Policy for AAC priming: the encoder is given sound from two frames before its first segment, and whatever
//! comes out before the grid begins is dropped. A frame's time is that of the samples it decodes to, there is
//! no edit list, and every pipeline frames the same samples alike.

use bytes::Bytes;
use cmaf::{Sample, writer};
use timeline::grid::AAC_FRAME;
use timeline::name::InitId;
use timeline::object::{Defect, Meta};
use timeline::{Grid, Position, Ticks};

use crate::protect::Protect;

/// A part, ready to be published.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Where it stands.
    pub at: Position,
    /// What is said about it.
    pub meta: Meta,
    /// `moof` and `mdat`.
    pub bytes: Bytes,
}

/// Samples a part may hold: 16 frames at 60 a second, or 17 of AAC; one with more was never on the grid.
const SAMPLES_MAX: usize = 64;

/// How a track's samples lie on the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cadence {
    /// Video frames of the grid's rate.
    Video,
    /// AAC frames of 1,024 samples at 48 kHz.
    Audio,
}

/// Why samples do not become parts.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// They cannot be written or encrypted.
    #[error(transparent)]
    Media(#[from] cmaf::Error),
    /// There is no key for them.
    #[error(transparent)]
    Key(#[from] drm::Error),
}

/// Packages one track of one run of the encoder.
pub struct Packager {
    grid: Grid,
    cadence: Cadence,
    timescale: u32,
    init: InitId,
    /// Number since the epoch of the frame at the encoder's time 0.
    zero: i64,
    /// The frame that comes next.
    next: i64,
    open: Option<Open>,
    protect: Option<Protect>,
    /// Put on the first part of this run: the feed's clock jumped.
    jumped: bool,
}

#[derive(Debug)]
struct Open {
    at: Position,
    /// Frame numbers and samples, in order.
    samples: Vec<(i64, Sample)>,
}

impl Packager {
    /// For a run of the encoder whose time 0 is the start of segment `first_msn`. `jumped`: the run follows a
    /// jump of the feed's clock.
    pub fn new(
        grid: Grid,
        cadence: Cadence,
        timescale: u32,
        init: InitId,
        first_msn: u64,
        jumped: bool,
    ) -> Packager {
        let start = grid.segment_start(first_msn);
        let zero = match cadence {
            Cadence::Video => grid.frame_rate.frame_at(start),
            Cadence::Audio => Grid::audio_frame_at_or_after(start),
        };
        Packager { grid, cadence, timescale, init, zero, next: zero, open: None, protect: None, jumped }
    }

    /// The same, encrypted.
    pub fn protected(self, protect: Protect) -> Packager {
        Packager { protect: Some(protect), ..self }
    }

    /// Takes the next sample, which the encoder handed over at `now_us` (UTC microseconds). A part comes out
    /// as soon as its last frame is there; one that was left unfinished comes out with the frame after it.
    pub fn push(&mut self, sample: Sample, now_us: i64) -> Result<Vec<Part>, Error> {
        let frame = self.zero + self.frames(sample.dts);
        if frame < self.next {
            return Ok(Vec::new()); // priming, or a repeat
        }
        let Some(at) = self.grid.position(self.start_of(frame)) else {
            return Ok(Vec::new()); // before the epoch
        };
        let mut parts = Vec::new();
        if self.open.as_ref().is_some_and(|open| open.at != at || open.samples.len() >= SAMPLES_MAX) {
            parts.extend(self.close(now_us)?);
        }
        let open = self.open.get_or_insert_with(|| Open { at, samples: Vec::with_capacity(16) });
        open.samples.push((frame, sample));
        self.next = frame + 1;
        if self.next >= self.first_frame(self.grid.next(at)) {
            parts.extend(self.close(now_us)?);
        }
        Ok(parts)
    }

    fn close(&mut self, now_us: i64) -> Result<Option<Part>, Error> {
        let Some(Open { at, samples: numbered }) = self.open.take() else { return Ok(None) };
        let Some(first) = numbered.first().map(|(frame, _)| *frame) else { return Ok(None) };
        let end_of_part = self.first_frame(self.grid.next(at));
        let mut defects = Vec::new();
        if self.next < end_of_part {
            defects.push(Defect::Short);
        }
        if numbered.len() as i64 != self.next - self.first_frame(at) {
            defects.push(Defect::Missing);
        }
        if std::mem::take(&mut self.jumped) {
            defects.push(Defect::TimeJump);
        }
        // A frame lasts until the next one, over whatever was left out.
        let ends: Vec<_> = numbered.iter().skip(1).map(|(frame, _)| *frame).chain([self.next]).collect();
        let lasts = |(from, to)| u32::try_from(self.scaled(to) - self.scaled(from)).unwrap_or(0);
        let samples: Vec<_> = numbered
            .into_iter()
            .zip(ends)
            .map(|((frame, sample), end)| Sample { duration: lasts((frame, end)), ..sample })
            .collect();
        let lead = if at.part == 0 { writer::Lead::Segment } else { writer::Lead::Chunk };
        let sequence = (at.msn as u32).wrapping_mul(self.grid.parts()).wrapping_add(at.part);
        let base = u64::try_from(self.scaled(first)).unwrap_or(0);
        let independent = samples.first().is_some_and(|s| s.keyframe);
        let protected = match &self.protect {
            Some(protect) => protect.chunk(lead, sequence, base, at.msn, &samples)?,
            None => None,
        };
        let (bytes, init, protection) = match protected {
            Some((bytes, init, protection)) => (bytes, init, Some(protection)),
            None => (writer::chunk(lead, sequence, base, &samples)?, self.init, None),
        };
        let start = self.start_of(first);
        let meta = Meta {
            start,
            duration: self.start_of(self.next) - start,
            independent,
            init,
            last: at.part + 1 == self.grid.parts(),
            encoded_at_us: now_us,
            defects,
            protection,
        };
        Ok(Some(Part { at, meta, bytes }))
    }

    /// Frames from the encoder's time 0 to a decode time, to the nearest.
    fn frames(&self, dts: i64) -> i64 {
        match self.cadence {
            Cadence::Video => {
                let ticks =
                    i128::from(dts) * i128::from(timeline::CLOCK_HZ) / i128::from(self.timescale.max(1));
                self.grid.frame_rate.frame_at(Ticks(ticks as i64))
            }
            Cadence::Audio => (dts + 512).div_euclid(1_024),
        }
    }

    fn start_of(&self, frame: i64) -> Ticks {
        match self.cadence {
            Cadence::Video => self.grid.frame_rate.start_of(frame),
            Cadence::Audio => Ticks(frame * AAC_FRAME.0),
        }
    }

    /// Where a frame begins, in the track's timescale.
    fn scaled(&self, frame: i64) -> i64 {
        self.start_of(frame).rescale(i64::from(self.timescale))
    }

    /// The first frame that starts inside a part.
    fn first_frame(&self, at: Position) -> i64 {
        let start = self.grid.part_start(at);
        match self.cadence {
            Cadence::Video => self.grid.frame_rate.frame_at(start),
            Cadence::Audio => Grid::audio_frame_at_or_after(start),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample(dts: i64, keyframe: bool) -> Sample {
        Sample { dts, cts: 0, duration: 1, keyframe, data: Bytes::from_static(b"frame") }
    }

    fn packager(rate: &str, cadence: Cadence, first_msn: u64) -> Packager {
        let grid = Grid::for_frame_rate(rate.parse().unwrap()).unwrap();
        let timescale = if cadence == Cadence::Video { 90_000 } else { 48_000 };
        Packager::new(grid, cadence, timescale, InitId(1), first_msn, false)
    }

    fn run(p: &mut Packager, dts: impl Iterator<Item = i64>) -> Vec<Part> {
        dts.flat_map(|dts| p.push(sample(dts, true), 0).unwrap()).collect()
    }

    #[test]
    fn priming_is_dropped_and_sound_meets_picture() {
        let mut audio = packager("25", Cadence::Audio, 7);
        let mut video = packager("25", Cadence::Video, 7);
        let heard = run(&mut audio, (-3..90).map(|n| n * 1_024));
        let seen = run(&mut video, (0..48).map(|n| n * 3_600));
        assert_eq!((heard.len(), seen.len()), (6, 6));
        for (a, v) in heard.iter().zip(&seen) {
            assert_eq!((a.at, a.meta.start, a.meta.duration), (v.at, v.meta.start, v.meta.duration));
            assert!(a.meta.defects.is_empty() && v.meta.defects.is_empty());
        }
        assert_eq!(seen[0].at, Position { msn: 7, part: 0 });
        assert_eq!(seen[0].meta.start, Ticks(7 * 172_800));
        let inspected = cmaf::inspect(&seen[2].bytes).unwrap();
        assert_eq!(inspected.start, seen[2].meta.start.0);
        assert!(seen[5].meta.last && !seen[4].meta.last);
    }

    #[test]
    fn what_is_missing_is_said() {
        let mut p = packager("25", Cadence::Video, 0);
        let parts = run(&mut p, (0..48).filter(|n| ![3, 8, 9, 23].contains(n)).map(|n| n * 3_600));
        let defects: Vec<_> = parts.iter().map(|p| p.meta.defects.clone()).collect();
        use Defect::{Missing, Short};
        assert_eq!(defects, [vec![Missing], vec![Missing], vec![Short], vec![], vec![], vec![]]);
        // Time is never lost: a part lasts from its first frame to its last one's end.
        assert_eq!(parts[0].meta.duration, Ticks(28_800));
        assert_eq!(parts[1].meta.start, Ticks(28_800 + 7_200));
        assert_eq!(parts[2].meta.duration, Ticks(28_800 - 3_600));
    }

    proptest! {
        /// Wherever a run begins, its parts are those of a run that never stopped.
        #[test]
        fn joins_number_alike(
            rate in prop::sample::select(vec!["24000/1001", "24", "25", "30000/1001", "30", "50", "60000/1001", "60"]),
            audio in any::<bool>(),
            first in 0u64..3_000_000,
            later in 1u64..4,
        ) {
            let cadence = if audio { Cadence::Audio } else { Cadence::Video };
            let place = |parts: Vec<Part>| parts.into_iter().map(|p| (p.at, p.meta.start, p.meta.duration)).collect::<Vec<_>>();
            let frames = |p: &Packager, segments: u64| {
                let end = p.first_frame(Position { msn: first + segments, part: 0 });
                let (zero, scale) = (p.zero, i64::from(p.timescale));
                let p = (p.grid.frame_rate, p.cadence);
                (0..end - zero).map(move |n| match p.1 {
                    Cadence::Audio => n * 1_024,
                    Cadence::Video => p.0.start_of(n).rescale(scale),
                }).collect::<Vec<_>>()
            };
            let mut whole = packager(rate, cadence, first);
            let dts = frames(&whole, later + 2);
            let whole = place(run(&mut whole, dts.into_iter()));
            let mut joined = packager(rate, cadence, first + later);
            let dts = frames(&joined, later + 2);
            let joined = place(run(&mut joined, dts.into_iter()));
            let tail: Vec<_> = whole.iter().filter(|p| p.0.msn >= first + later).copied().collect();
            prop_assert!(!tail.is_empty());
            prop_assert_eq!(&tail[..], &joined[..tail.len().min(joined.len())]);
            // Gapless, and no part above the target.
            let grid = Grid::for_frame_rate(rate.parse().unwrap()).unwrap();
            for pair in whole.windows(2) {
                prop_assert_eq!(pair[0].1 + pair[0].2, pair[1].1);
                prop_assert_eq!(grid.next(pair[0].0), pair[1].0);
                prop_assert!(pair[0].2 <= grid.part_target());
            }
        }
    }
}
