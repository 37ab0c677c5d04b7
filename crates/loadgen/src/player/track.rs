//! One track of a viewer: its playlist, what it loads next, and what it has.

use std::collections::BTreeMap;

use bytes::Bytes;
use hls::read::Playlist;
use hls::request::Directives;
use hls::{check, read};
use timeline::Position;

use super::RETRY_US;
use super::step::{Load, Step, micros, spans, step};
use crate::buffer::Ranges;
use crate::config::Mode;
use crate::object;

/// Requests for a media object before it is given up, and the pause between two: what hls.js does is slower,
/// so what these hide would not be hidden there either.
const ATTEMPTS: u32 = 3;
const ATTEMPT_EVERY_US: i64 = 200_000;

/// A track that is being watched.
#[derive(Debug)]
pub(super) struct Track {
    /// As the multivariant playlist names it.
    pub(super) name: String,
    pub(super) url: String,
    /// What can be played.
    pub(super) buffer: Ranges,
    mode: Mode,
    list: Option<Playlist>,
    /// When the last good request for the playlist was made.
    asked_at: i64,
    /// When to ask again; `None` while a request is under way, and after the end.
    due: Option<i64>,
    /// The next request may name what it waits for, and may ask for a delta.
    directives: bool,
    cursor: Option<Position>,
    loading: Option<Loading>,
    media_due: i64,
    /// Timescales by init segment.
    inits: BTreeMap<String, u32>,
}

/// A media object on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Loading {
    load: Load,
    attempt: u32,
    under_way: bool,
}

/// What to load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Init(String),
    Media(String),
}

/// What came of a playlist.
pub(super) struct Loaded {
    pub(super) delta: bool,
    pub(super) faults: Vec<String>,
}

/// What an object says of itself.
pub(super) struct Decoded {
    pub(super) uri: String,
    /// As the playlist says, UTC microseconds.
    pub(super) start: i64,
    /// As the object says, microseconds of venue time.
    pub(super) decode_time_us: i64,
}

impl Next {
    pub(super) fn uri(&self) -> &str {
        match self {
            Next::Init(uri) | Next::Media(uri) => uri,
        }
    }
}

impl Track {
    pub(super) fn new(name: String, url: String, mode: Mode, now: i64) -> Track {
        Track {
            name,
            url,
            buffer: Ranges::default(),
            mode,
            list: None,
            asked_at: now,
            due: Some(now),
            directives: true,
            cursor: None,
            loading: None,
            media_due: now,
            inits: BTreeMap::new(),
        }
    }

    /// When something is to be done.
    pub(super) fn dues(&self) -> impl Iterator<Item = i64> {
        let retry = self.loading.as_ref().is_some_and(|l| !l.under_way);
        self.due.into_iter().chain(retry.then_some(self.media_due))
    }

    /// Whether the match has ended and there is nothing after that time.
    pub(super) fn played_out(&self, at: i64) -> bool {
        let ended = self.list.as_ref().is_some_and(|l| l.ended && self.cursor.is_some_and(|c| c >= l.next()));
        ended && self.loading.is_none() && self.buffer.end().is_none_or(|end| end <= at)
    }

    /// If it is time to load the playlist: the query, and whether the server is to hold it.
    pub(super) fn reload(&mut self, now: i64) -> Option<(String, bool)> {
        self.due.take_if(|due| *due <= now)?;
        let mut directives = Directives::default();
        if let Some(list) = self.list.as_ref().filter(|_| self.directives) {
            if self.blocking(list) {
                let next = list.next();
                (directives.msn, directives.part) = (Some(next.msn), Some(next.part));
            }
            // rfc8216bis 6.3.7: only with a playlist no older than half the Skip Boundary.
            let boundary_us = list.can_skip_until.map_or(0, micros);
            directives.skip = now - self.asked_at < boundary_us / 2;
        }
        self.asked_at = now;
        let query = directives.to_string();
        let query = if query.is_empty() { query } else { format!("?{query}") };
        Some((query, directives.msn.is_some()))
    }

    /// Whether to ask the server to hold the next request.
    fn blocking(&self, list: &Playlist) -> bool {
        self.mode == Mode::LowLatency && list.can_block_reload && list.part_target.is_some()
    }

    /// Takes a playlist.
    pub(super) fn playlist(
        &mut self,
        body: Result<Bytes, String>,
        blocking: bool,
        now: i64,
    ) -> Result<Loaded, String> {
        let read = body.and_then(|body| {
            let text = std::str::from_utf8(&body).map_err(|e| format!("{}: {e}", self.url))?;
            read::playlist(text).map_err(|e| format!("{}: {e}", self.url))
        });
        let read = match read {
            Ok(read) => read,
            Err(what) => {
                // Without directives nothing can be held, or refused for what it names.
                (self.directives, self.due) = (false, Some(now + RETRY_US));
                return Err(what);
            }
        };
        let delta = read.skipped > 0;
        let list = match (read, &self.list) {
            (read, Some(before)) if delta => read.complete(before),
            (read, _) => Ok(read),
        };
        let list = match list {
            Ok(list) => list,
            Err(what) => {
                (self.directives, self.due) = (false, Some(now));
                return Err(format!("{}: {what}", self.url));
            }
        };
        let mut faults: Vec<String> =
            check::one(&list).iter().map(|v| format!("{}: {v}", self.url)).collect();
        let mut changed = true;
        if let Some(before) = &self.list {
            faults.extend(check::two(before, &list).iter().map(|v| format!("{}: {v}", self.url)));
            changed = before.next() != list.next() || list.ended;
            if blocking && !changed {
                faults.push(format!("{}: 6.2.5.2: a blocking reload was answered unchanged", self.url));
            }
        }
        let target_us = list.target_duration as i64 * 1_000_000;
        // rfc8216bis 6.3.4, from when the last request was made.
        let pause_us = if changed { target_us } else { target_us / 2 };
        self.due = match () {
            () if list.ended => None,
            () if !self.blocking(&list) => Some((self.asked_at + pause_us).max(now)),
            // An unchanged answer to a blocking reload is a fault; asking again at once would only spin.
            () if blocking && !changed => Some(now + RETRY_US),
            () => Some(now),
        };
        self.directives = true;
        self.list = Some(list);
        Ok(Loaded { delta, faults })
    }

    /// Where playback should begin: the hold-back before the playlist's end.
    pub(super) fn start(&self) -> Option<i64> {
        let list = self.list.as_ref()?;
        let hold_back = match list.part_hold_back {
            Some(hold_back) if self.mode == Mode::LowLatency => hold_back,
            _ => list.hold_back.unwrap_or(3.0 * list.target_duration as f64),
        };
        let spans = spans(list, self.mode);
        let (first, last) = (spans.first()?, spans.last()?);
        Some((last.end - micros(hold_back)).max(first.start))
    }

    /// Begins to load at the last place at or before a time from which can be decoded.
    pub(super) fn begin(&mut self, start: i64) {
        let Some(list) = &self.list else { return };
        let spans = spans(list, self.mode);
        let from = spans.iter().rfind(|s| s.start <= start && s.entry).or(spans.first());
        self.cursor = from.map(|s| s.at);
    }

    /// What to load next, if it is time and there is something. Gaps that are passed over are counted.
    pub(super) fn fetch(&mut self, now: i64, gaps: &mut u64, faults: &mut Vec<String>) -> Option<Next> {
        if self.loading.is_none() {
            self.loading =
                self.choose(gaps, faults).map(|load| Loading { load, attempt: 1, under_way: false });
        }
        let Loading { load, under_way, .. } = self.loading.as_mut().filter(|l| !l.under_way)?;
        if self.media_due > now {
            return None;
        }
        *under_way = true;
        Some(match self.inits.contains_key(&load.map) {
            true => Next::Media(load.uri.clone()),
            false => Next::Init(load.map.clone()),
        })
    }

    fn choose(&mut self, gaps: &mut u64, faults: &mut Vec<String>) -> Option<Load> {
        let (list, cursor) = (self.list.as_ref()?, self.cursor.as_mut()?);
        if cursor.msn < list.media_sequence {
            faults.push(format!("{}: segment {} left the window before it was loaded", self.url, cursor.msn));
            *cursor = Position { msn: list.media_sequence, part: 0 };
        }
        loop {
            match step(list, *cursor, self.mode)? {
                Step::Load(load) => return Some(load),
                Step::Move(after) => *cursor = after,
                Step::Gap(after) => {
                    *gaps += 1;
                    *cursor = after;
                }
            }
        }
    }

    /// Takes an init segment.
    pub(super) fn init(&mut self, uri: String, body: Result<Bytes, String>, now: i64) -> Result<(), String> {
        let scale = body.and_then(|body| object::timescale(&body).map_err(|e| format!("{uri}: {e}")));
        match scale {
            Ok(scale) => {
                self.inits.insert(uri, scale);
                if let Some(loading) = &mut self.loading {
                    loading.under_way = false;
                }
                Ok(())
            }
            Err(what) => Err(self.again(what, now)),
        }
    }

    /// Takes a part or segment.
    pub(super) fn media(&mut self, body: Result<Bytes, String>, now: i64) -> Result<Option<Decoded>, String> {
        let Some(Loading { load, .. }) = self.loading.clone() else { return Ok(None) };
        let decoded =
            body.and_then(|body| object::decode_time(&body).map_err(|e| format!("{}: {e}", load.uri)));
        match decoded {
            Ok(time) => {
                self.loading = None;
                self.cursor = Some(load.after);
                self.buffer.insert(load.start, load.end);
                let scale = i128::from(self.inits.get(&load.map).copied().unwrap_or(1));
                let decode_time_us = i64::try_from(i128::from(time) * 1_000_000 / scale).unwrap_or(i64::MAX);
                Ok(Some(Decoded { uri: load.uri, start: load.start, decode_time_us }))
            }
            Err(what) => Err(self.again(what, now)),
        }
    }

    /// After a failure: once more, or go on without it.
    fn again(&mut self, what: String, now: i64) -> String {
        self.media_due = now + ATTEMPT_EVERY_US;
        match &mut self.loading {
            Some(loading) if loading.attempt < ATTEMPTS => {
                loading.attempt += 1;
                loading.under_way = false;
                what
            }
            loading => {
                self.cursor = loading.take().map(|l| l.load.after).or(self.cursor);
                format!("{what}; given up after {ATTEMPTS} attempts")
            }
        }
    }
}
