//! One track: what has been delivered of it, what is listed, and what a request finds.

use std::collections::BTreeMap;

use bytes::Bytes;
use hls::Media;
use timeline::name::{InitId, Letter, Token};
use timeline::object::{Defect, Meta};
use timeline::{Position, Ticks, Utc};

use super::expect::Cut;
use super::kept::Kept;
use super::limits::{
    INITS_MAX, JUMPS_APART, PARTS_FETCHABLE, SLOTS_BEFORE_START, WINDOW_GRACE, WINDOW_SEGMENTS_MIN,
};
use super::object::{Object, Slot, same_bytes};
use super::pace::Pace;
use super::refusal::Refusal;
use super::stage::Stage;

/// What became of a delivered object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// It is new.
    New,
    /// It was here already, with the same bytes.
    Same,
    /// Its segment is finished; it is not needed.
    Late,
}

/// What a request for an object finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Its bytes, in order.
    Here(Vec<Bytes>),
    /// It is at or just past the live edge: worth waiting for.
    Soon,
    /// It is not there and will not be.
    Never,
}

/// Parts and segments that came to nothing, since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gaps {
    /// Parts listed with `GAP=YES`.
    pub parts: u64,
    /// Segments listed with `EXT-X-GAP`.
    pub segments: u64,
    /// Segments that began as one pipeline's parts and are served as the other's whole.
    pub healed: u64,
}

/// One track.
#[derive(Debug)]
pub struct Track {
    pub(super) cut: Cut,
    pub(super) media: Media,
    pub(super) kept: Kept,
    pub(super) slots: BTreeMap<u64, Slot>,
    pub(super) stage: Stage,
    pub(super) paces: [Pace; 2],
    /// A discontinuity that its own segment could not say any more, and the next one will.
    pub(super) discontinuity_owed: bool,
    pub(super) wake: Option<Utc>,
    pub(super) version: u64,
    pub(super) gaps: Gaps,
    inits: BTreeMap<InitId, Bytes>,
}

impl Track {
    /// A track of which nothing is here.
    pub fn new(cut: Cut, name: Token) -> Track {
        Track {
            cut,
            media: Media::new(cut.grid, cut.epoch, name),
            kept: Kept::default(),
            slots: BTreeMap::new(),
            stage: Stage::Waiting,
            paces: Default::default(),
            discontinuity_owed: false,
            wake: None,
            version: 0,
            gaps: Gaps::default(),
            inits: BTreeMap::new(),
        }
    }

    /// The playlist as it stands.
    pub fn media(&self) -> &Media {
        &self.media
    }

    /// Grows whenever the playlist changes.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// How a pipeline keeps pace.
    pub fn pace(&self, letter: Letter) -> &Pace {
        &self.paces[letter.index()]
    }

    /// Whether a pipeline owes nothing.
    pub fn live(&self, letter: Letter, now: Utc) -> bool {
        self.pace(letter).live(&self.cut, now)
    }

    /// What came to nothing so far.
    pub fn gaps(&self) -> Gaps {
        self.gaps
    }

    /// Bytes of finished segments.
    pub fn bytes(&self) -> u64 {
        self.kept.bytes()
    }

    /// Length of the media of finished segments, gaps left out.
    pub fn measured(&self) -> Ticks {
        self.kept.media()
    }

    /// Takes an init segment.
    pub fn put_init(&mut self, id: InitId, bytes: Bytes) -> Result<Accepted, Refusal> {
        if let Some(known) = self.inits.get(&id) {
            return if *known == bytes { Ok(Accepted::Same) } else { Err(Refusal::Different) };
        }
        if self.inits.len() >= INITS_MAX {
            let used = |id: &InitId| self.media.segments.iter().any(|s| s.init == *id);
            let free = self.inits.keys().find(|id| !used(id)).copied();
            self.inits.remove(&free.ok_or(Refusal::TooManyInits)?);
        }
        self.inits.insert(id, bytes);
        Ok(Accepted::New)
    }

    /// Takes a part.
    pub fn put_part(
        &mut self,
        at: Position,
        letter: Letter,
        meta: Meta,
        bytes: Bytes,
        now: Utc,
    ) -> Result<Accepted, Refusal> {
        if self.finished(at.msn) {
            if self.kept.contradicts_part(at, letter, &bytes) {
                return Err(Refusal::Different);
            }
            // The slower pipeline's last part comes after the segment is finished, and says that it lives.
            let pace = &mut self.paces[letter.index()];
            if pace.last() < Some(at) {
                pace.heard(&self.cut, at, now);
            }
            if meta.defects.contains(&Defect::TimeJump) && !self.marked_near(at.msn) {
                self.discontinuity_owed = true;
            }
            return Ok(Accepted::Late);
        }
        let side = self.slots.entry(at.msn).or_default().side_mut(letter);
        if let Some(known) = side.part(at.part) {
            return if known.bytes == bytes { Ok(Accepted::Same) } else { Err(Refusal::Different) };
        }
        side.insert(at.part, Object { bytes, meta, arrived: now });
        self.paces[letter.index()].heard(&self.cut, at, now);
        self.forget_before_start();
        Ok(Accepted::New)
    }

    /// Whether a discontinuity is owed or has been shown near a segment or since. Both pipelines tell of a jump,
    /// and the slower one must not make a second one of it.
    pub(super) fn marked_near(&self, msn: u64) -> bool {
        let since = msn.saturating_sub(JUMPS_APART);
        let finished =
            self.media.segments.iter().rev().take_while(|s| s.msn >= since).any(|s| s.discontinuity);
        finished || self.discontinuity_owed || self.media.open.as_ref().is_some_and(|open| open.discontinuity)
    }

    /// Takes a whole segment, which stands in for parts that did not arrive.
    pub fn put_segment(
        &mut self,
        msn: u64,
        letter: Letter,
        meta: Meta,
        bytes: Bytes,
        now: Utc,
    ) -> Result<Accepted, Refusal> {
        if self.finished(msn) {
            let contradicts = self.kept.contradicts_segment(msn, letter, &bytes);
            return if contradicts { Err(Refusal::Different) } else { Ok(Accepted::Late) };
        }
        let side = self.slots.entry(msn).or_default().side_mut(letter);
        if let Some(known) = side.complete(self.cut.grid.parts()) {
            return if same_bytes(&known.chunks, &bytes) {
                Ok(Accepted::Same)
            } else {
                Err(Refusal::Different)
            };
        }
        side.whole = Some(Object { bytes, meta, arrived: now });
        self.forget_before_start();
        Ok(Accepted::New)
    }

    /// Whether nothing more is taken for a segment.
    fn finished(&self, msn: u64) -> bool {
        match &self.stage {
            Stage::Waiting => false,
            Stage::Making(making) => msn < making.msn,
            Stage::Over => true,
        }
    }

    fn forget_before_start(&mut self) {
        while matches!(self.stage, Stage::Waiting) && self.slots.len() > SLOTS_BEFORE_START {
            self.slots.pop_first();
        }
    }

    /// An init segment.
    pub fn init(&self, id: InitId) -> Option<&Bytes> {
        self.inits.get(&id)
    }

    /// Whether an object can be decoded with what is here.
    pub(super) fn ready(&self, object: &Object) -> bool {
        self.inits.contains_key(&object.meta.init)
    }

    /// A part by its name. `clock` is the part on air by the clock, and bounds what is worth waiting for
    /// while nothing is here.
    pub fn part(&self, at: Position, letter: Letter, clock: Position) -> Found {
        if at.part >= self.cut.grid.parts() {
            return Found::Never;
        }
        let making = match &self.stage {
            Stage::Waiting => {
                return soon(at.msn, clock.msn.saturating_sub(hls::request::MSN_AHEAD), clock.msn);
            }
            Stage::Over => return self.kept_part(at, letter),
            Stage::Making(making) => making,
        };
        if at.msn < making.msn {
            return self.kept_part(at, letter);
        }
        if at.msn > making.msn {
            return soon(at.msn, making.msn, making.msn);
        }
        let listed = self.media.open.as_ref().and_then(|open| open.parts.get(at.part as usize));
        match listed {
            Some(part) if part.letter == letter && !part.gap => {
                let object = self.slots.get(&at.msn).and_then(|slot| slot.side(letter).part(at.part));
                object.map_or(Found::Never, |o| Found::Here(vec![o.bytes.clone()]))
            }
            Some(_) => Found::Never,
            None if making.done.is_some() || making.agreed().is_some_and(|agreed| agreed != letter) => {
                Found::Never
            }
            None => Found::Soon,
        }
    }

    fn kept_part(&self, at: Position, letter: Letter) -> Found {
        self.kept.part(at, letter).map_or(Found::Never, |bytes| Found::Here(vec![bytes.clone()]))
    }

    /// A whole segment by its name.
    pub fn segment(&self, msn: u64, letter: Letter, clock: Position) -> Found {
        if let Some(chunks) = self.kept.segment(msn, letter) {
            return Found::Here(chunks.to_vec());
        }
        match &self.stage {
            Stage::Waiting => soon(msn, clock.msn.saturating_sub(hls::request::MSN_AHEAD), clock.msn),
            Stage::Over => Found::Never,
            Stage::Making(making) => soon(msn, making.msn, making.msn),
        }
    }

    /// Lets go of what is older than `window`, and of what only the live edge needs.
    pub(super) fn trim(&mut self, window: Ticks) {
        let Some(end) = self.media.end() else { return };
        while self.media.segments.len() > WINDOW_SEGMENTS_MIN
            && self.media.segments.front().is_some_and(|s| end - (s.start + s.duration) > window)
        {
            self.media.pop_front();
        }
        self.kept.forget_before(self.media.first_msn().saturating_sub(WINDOW_GRACE as u64));

        let parts_from = self.media.parts_from();
        for segment in self.media.segments.iter_mut().rev().skip_while(|s| s.msn >= parts_from) {
            if segment.parts.is_empty() {
                break;
            }
            segment.parts = Vec::new();
        }
        let fetchable = PARTS_FETCHABLE * self.cut.grid.target_duration();
        let since = end - Ticks(fetchable as i64 * timeline::CLOCK_HZ);
        let old = self.media.segments.partition_point(|s| s.start + s.duration < since);
        self.kept.forget_parts_before(self.media.first_msn() + old as u64);
    }

    /// Lets go of the oldest segment's bytes, and of the line that points at bytes that will be next to go.
    /// Answers whether there was one to spare.
    pub(super) fn shrink(&mut self, msn: u64) -> bool {
        if self.media.segments.len() <= WINDOW_SEGMENTS_MIN {
            return false;
        }
        while self.media.segments.len() > WINDOW_SEGMENTS_MIN
            && self.media.first_msn() <= msn + WINDOW_GRACE as u64
        {
            self.media.pop_front();
        }
        self.kept.forget_before(msn + 1);
        true
    }

    /// Another track began segment `msn` with a discontinuity: the tracks' discontinuity sequences must agree
    /// (rfc8216bis 6.2.4), so this one follows, a segment later if it has begun that one without.
    pub(super) fn follow_discontinuity(&mut self, msn: u64) {
        let begun = self.media.open.as_ref().filter(|o| o.msn == msn).map(|o| o.discontinuity);
        let finished = || self.media.segments.iter().rev().find(|s| s.msn == msn).map(|s| s.discontinuity);
        if begun.or_else(finished) == Some(false) {
            self.discontinuity_owed = true;
        }
    }
}

/// Worth waiting for between `from` and as far ahead of `edge` as a playlist request may ask.
fn soon(msn: u64, from: u64, edge: u64) -> Found {
    if (from..=edge.saturating_add(hls::request::MSN_AHEAD)).contains(&msn) {
        Found::Soon
    } else {
        Found::Never
    }
}
