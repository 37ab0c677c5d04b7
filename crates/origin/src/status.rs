//! How a programme is, for people and for tests.

use serde::Serialize;
use timeline::name::Letter;
use timeline::programme::Track as Announced;
use timeline::{Position, Utc};

use crate::core::Programme;
use crate::core::track::Track;
use crate::meters::Ready;

/// A programme's state.
#[derive(Debug, Serialize)]
pub(crate) struct Status {
    epoch: Utc,
    now: Utc,
    /// The part on air by the clock.
    clock: Position,
    end: Option<u64>,
    ended: bool,
    window_bytes: u64,
    part_ready: PartReady,
    tracks: Vec<TrackStatus>,
}

/// From the encoder's output to the listed part.
#[derive(Debug, Serialize)]
struct PartReady {
    parts: usize,
    p50_ms: Option<f64>,
    p99_ms: Option<f64>,
}

#[derive(Debug, Serialize)]
struct TrackStatus {
    name: String,
    first_msn: Option<u64>,
    last: Option<Position>,
    segments: usize,
    bytes: u64,
    /// Whose the segment in the making is; of the last one, if none is.
    letter: Option<Letter>,
    gaps_parts: u64,
    gaps_segments: u64,
    healed_segments: u64,
    discontinuity_sequence: u64,
    a: PipelineStatus,
    b: PipelineStatus,
}

#[derive(Debug, Serialize)]
struct PipelineStatus {
    alive: bool,
    last: Option<Position>,
    last_arrival_age_ms: Option<i64>,
}

pub(crate) fn of(programme: &Programme, ready: &Ready, now: Utc) -> Status {
    let ms = |p| ready.percentile_us(p).map(|us| us as f64 / 1_000.0);
    let announced = programme.announced();
    Status {
        epoch: announced.epoch,
        now,
        clock: programme.clock(now),
        end: programme.end(),
        ended: programme.tracks().iter().all(|t| t.media().ended),
        window_bytes: programme.bytes(),
        part_ready: PartReady { parts: ready.len(), p50_ms: ms(50.0), p99_ms: ms(99.0) },
        tracks: programme.tracks().iter().zip(&announced.tracks).map(|(t, a)| track(t, a, now)).collect(),
    }
}

fn track(track: &Track, announced: &Announced, now: Utc) -> TrackStatus {
    let media = track.media();
    let open = media.open.as_ref().and_then(|o| o.parts.last()).map(|p| p.letter);
    let gaps = track.gaps();
    TrackStatus {
        name: announced.name.to_string(),
        first_msn: media.last().map(|_| media.first_msn()),
        last: media.last(),
        segments: media.segments.len(),
        bytes: track.bytes(),
        letter: open.or_else(|| media.segments.back().and_then(|s| s.source)),
        gaps_parts: gaps.parts,
        gaps_segments: gaps.segments,
        healed_segments: gaps.healed,
        discontinuity_sequence: media.discontinuity_sequence,
        a: pipeline(track, Letter::A, now),
        b: pipeline(track, Letter::B, now),
    }
}

fn pipeline(track: &Track, letter: Letter, now: Utc) -> PipelineStatus {
    let pace = track.pace(letter);
    PipelineStatus {
        alive: track.live(letter, now),
        last: pace.last(),
        last_arrival_age_ms: pace.arrived().map(|at| now.0.saturating_sub(at.0) / 1_000),
    }
}
