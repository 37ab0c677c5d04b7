//! What a playlist offers at a place, and where that lies in time.

use hls::read::{Head, Part, Playlist};
use timeline::Position;

use crate::config::Mode;

/// Something that can be loaded, or a gap. Times are UTC microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) at: Position,
    pub(super) start: i64,
    pub(super) end: i64,
    /// Playback can begin with it.
    pub(super) entry: bool,
}

/// What to do at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Load this, then go on after it.
    Load(Load),
    /// Nothing will come here; go on there.
    Gap(Position),
    /// Nothing is here; go on there.
    Move(Position),
}

/// A part or segment to load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Load {
    pub(super) uri: String,
    /// Of the init segment.
    pub(super) map: String,
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) after: Position,
}

/// Seconds of a playlist in microseconds.
pub(super) fn micros(seconds: f64) -> i64 {
    (seconds * 1e6).round() as i64
}

/// All that is listed, as a player of that mode sees it, in order.
pub(super) fn spans(list: &Playlist, mode: Mode) -> Vec<Span> {
    let mut all = Vec::new();
    for segment in &list.segments {
        let Some(start) = pdt(&segment.head) else { continue };
        if mode == Mode::LowLatency && !segment.parts.is_empty() {
            parts(&mut all, segment.msn, start, &segment.parts);
        } else {
            let at = Position { msn: segment.msn, part: 0 };
            all.push(Span { at, start, end: start + micros(segment.duration), entry: !segment.gap });
        }
    }
    if let Some(open) = list.open.as_ref().filter(|_| mode == Mode::LowLatency)
        && let Some(start) = pdt(&open.head)
    {
        parts(&mut all, open.msn, start, &open.parts);
    }
    all
}

/// What a player does at `cursor`; `None` when it has to wait.
pub(super) fn step(list: &Playlist, cursor: Position, mode: Mode) -> Option<Step> {
    let next = Position { msn: cursor.msn.checked_add(1)?, part: 0 };
    let Some(segment) = list.segment(cursor.msn) else {
        let open = list.open.as_ref().filter(|open| mode == Mode::LowLatency && open.msn == cursor.msn)?;
        return part(&open.head, &open.parts, cursor);
    };
    let holes = segment.parts.iter().any(|p| p.gap);
    // A whole segment without holes is better than parts with some, if it is not begun yet.
    let by_parts =
        mode == Mode::LowLatency && !segment.parts.is_empty() && (cursor.part > 0 || segment.gap || !holes);
    if by_parts {
        return part(&segment.head, &segment.parts, cursor).or(Some(Step::Move(next)));
    }
    let Some(start) = pdt(&segment.head).filter(|_| !segment.gap) else { return Some(Step::Gap(next)) };
    Some(Step::Load(Load {
        uri: segment.uri.clone(),
        map: segment.head.map.clone().unwrap_or_default(),
        start,
        end: start + micros(segment.duration),
        after: next,
    }))
}

fn part(head: &Head, parts: &[Part], cursor: Position) -> Option<Step> {
    let index = cursor.part as usize;
    let part = parts.get(index)?;
    let after = Position { part: cursor.part + 1, ..cursor };
    let Some(start) = pdt(head).filter(|_| !part.gap) else { return Some(Step::Gap(after)) };
    let before: f64 = parts[..index].iter().map(|p| p.duration).sum();
    Some(Step::Load(Load {
        uri: part.uri.clone(),
        map: head.map.clone().unwrap_or_default(),
        start: start + micros(before),
        end: start + micros(before + part.duration),
        after,
    }))
}

fn parts(all: &mut Vec<Span>, msn: u64, start: i64, parts: &[Part]) {
    let mut before = 0.0;
    for (index, part) in (0..).zip(parts) {
        let at = Position { msn, part: index };
        let (start, end) = (start + micros(before), start + micros(before + part.duration));
        all.push(Span { at, start, end, entry: part.independent && !part.gap });
        before += part.duration;
    }
}

fn pdt(head: &Head) -> Option<i64> {
    head.pdt.map(|at| at.0)
}
