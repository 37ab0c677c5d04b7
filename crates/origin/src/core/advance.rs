//! How a track's playlist goes on: one small step at a time, as far as what is here and the clock allow.

use hls::{Open, Part};
use timeline::name::Letter;
use timeline::object::{Defect, Meta};
use timeline::{Position, Utc};

use super::limits::{PART_PATIENCE, SILENCE_PATIENCE, after};
use super::object::{Object, flawed, same_key};
use super::select::{First, select};
use super::stage::{Choice, Event, Making, Shared, Stage};
use super::track::Track;

/// What a step came to: more can be done at once, or not before an instant.
pub(super) enum Step {
    Again,
    Until(Option<Utc>),
}

impl Track {
    /// Goes on as far as possible, and notes when the clock will allow more.
    pub(super) fn advance(&mut self, now: Utc, shared: &mut Shared, events: &mut Vec<Event>) {
        let before = self.media.next();
        self.wake = loop {
            match self.step(now, shared, events) {
                Step::Again => {}
                Step::Until(at) => break at,
            }
        };
        let hint = self.hint(now);
        if self.media.next() != before || self.media.hint != hint || (self.over() && !self.media.ended) {
            self.media.hint = hint;
            self.media.ended = self.over();
            self.version += 1;
        }
    }

    /// The answer to [`Event::Propose`].
    pub(super) fn agreed(&mut self, msn: u64, letter: Letter) {
        if let Stage::Making(making) = &mut self.stage
            && making.msn == msn
            && matches!(making.choice, Choice::Proposed(_))
        {
            making.choice = Choice::Agreed(letter);
        }
    }

    fn over(&self) -> bool {
        matches!(self.stage, Stage::Over)
    }

    fn step(&mut self, now: Utc, shared: &mut Shared, events: &mut Vec<Event>) -> Step {
        let (msn, choice, done) = match &self.stage {
            Stage::Over => return Step::Until(None),
            Stage::Waiting => return self.start(shared),
            Stage::Making(making) => (making.msn, making.choice, making.done),
        };
        if self.media.open.is_none() && shared.end.is_some_and(|end| end < msn) {
            self.stage = Stage::Over;
            self.slots.clear();
            return Step::Again;
        }
        match choice {
            Choice::Undecided => match self.decide(msn, now, shared) {
                Err(until) => Step::Until(until),
                Ok(letter) => {
                    // Of a segment of which nothing is here there is nothing to agree on; after a long
                    // silence that would be thousands of questions at once.
                    if self.slots.contains_key(&msn) {
                        self.stage =
                            Stage::Making(Making { choice: Choice::Proposed(letter), ..Making::new(msn) });
                        events.push(Event::Propose { msn, letter });
                    } else {
                        self.stage =
                            Stage::Making(Making { choice: Choice::Agreed(letter), ..Making::new(msn) });
                    }
                    Step::Again
                }
            },
            Choice::Proposed(_) => Step::Until(None),
            Choice::Agreed(letter) => match done {
                Some(done) => self.finish(msn, letter, done, now, shared, events),
                None => self.list_next(msn, letter, now, shared, events),
            },
        }
    }

    fn start(&mut self, shared: &Shared) -> Step {
        let begun = self.slots.iter().find(|(_, slot)| {
            Letter::ALL.iter().any(|l| slot.side(*l).first().is_some_and(|first| self.ready(first)))
        });
        match begun {
            Some((&msn, _)) if shared.end.is_none_or(|end| msn <= end) => {
                self.slots = self.slots.split_off(&msn);
                self.stage = Stage::Making(Making::new(msn));
                Step::Again
            }
            _ => Step::Until(None),
        }
    }

    /// Whose segment `msn` is to be, or until when to wait with that.
    pub(super) fn decide(&self, msn: u64, now: Utc, shared: &Shared) -> Result<Letter, Option<Utc>> {
        let first = Letter::ALL.map(|letter| {
            let object = self.slots.get(&msn)?.side(letter).first().filter(|o| self.ready(o))?;
            Some(First { arrived: object.arrived, flawed: flawed(&object.meta) })
        });
        match select(first, self.first_expected(msn, now), now) {
            Some(Ok(letter)) => Ok(letter),
            Some(Err(until)) => Err(Some(until)),
            None => match self.overdue(Position { msn, part: 0 }, None, now, shared) {
                Some(at) if at <= now => Ok(self.heard_last()),
                until => Err(until),
            },
        }
    }

    /// When each living pipeline's first part of a segment should be here.
    pub(super) fn first_expected(&self, msn: u64, now: Utc) -> [Option<Utc>; 2] {
        let first = Position { msn, part: 0 };
        Letter::ALL.map(|l| self.live(l, now).then(|| self.pace(l).expected(&self.cut, first)).flatten())
    }

    /// The pipeline that was heard last; A when neither was.
    pub(super) fn heard_last(&self) -> Letter {
        let [a, b] = Letter::ALL.map(|l| self.pace(l).arrived());
        if b > a { Letter::B } else { Letter::A }
    }

    /// When a part that is not here is given up. The surer sign is that something newer is here, of either
    /// pipeline; without it the clock decides.
    fn overdue(&self, at: Position, letter: Option<Letter>, now: Utc, shared: &Shared) -> Option<Utc> {
        let newer = self
            .slots
            .range(at.msn..)
            .filter_map(|(msn, slot)| slot.heard_from(if *msn == at.msn { at.part } else { 0 }));
        let by_sign = newer.min().map(|sign| match letter {
            // It has been silent for longer than anyone would wait.
            Some(letter) if !self.live(letter, now) => sign,
            Some(letter) => {
                let expected = self.pace(letter).expected(&self.cut, at);
                after(expected.map_or(sign, |e| e.max(sign)), PART_PATIENCE)
            }
            None => after(sign, PART_PATIENCE),
        });
        let by_clock =
            self.pace(self.heard_last()).expected(&self.cut, at).map(|e| after(e, SILENCE_PATIENCE));
        let by_clock = by_clock.filter(|at| shared.clock_until.is_some_and(|until| *at <= until));
        by_sign.into_iter().chain(by_clock).min()
    }

    fn list_next(
        &mut self,
        msn: u64,
        letter: Letter,
        now: Utc,
        shared: &mut Shared,
        events: &mut Vec<Event>,
    ) -> Step {
        let part = self.media.open.as_ref().map_or(0, |open| open.parts.len() as u32);
        let at = Position { msn, part };
        let side = self.slots.get(&msn).map(|slot| slot.side(letter));
        let object = side.and_then(|side| side.part(part)).filter(|o| self.listable(o)).cloned();
        if object.is_none() {
            // A whole segment is published when a part was lost on the way.
            let lost = side.is_some_and(|side| side.whole.is_some());
            match self.overdue(at, Some(letter), now, shared) {
                _ if lost => {}
                Some(due) if due <= now => {}
                until => return Step::Until(until),
            }
        }
        if self.media.open.is_none() {
            if !self.open(msn, letter, object.as_ref(), shared, events) {
                return Step::Until(None);
            }
            events.push(Event::Chosen(letter));
        } else if object.as_ref().is_some_and(jumps) {
            self.discontinuity_owed = true;
        }
        let last = part + 1 >= self.cut.grid.parts()
            || shared.end == Some(msn) && self.slots.get(&msn).is_some_and(|slot| slot.ends_at(part));
        let listed = match object {
            Some(o) => {
                events.push(Event::Part { encoded_at_us: o.meta.encoded_at_us });
                let (duration, independent) = (o.meta.duration, o.meta.independent);
                Part { index: part, letter, duration, independent, gap: false }
            }
            None => {
                events.push(Event::PartGap);
                self.gaps.parts += 1;
                let duration = self.cut.part(at).duration;
                Part { index: part, letter, duration, independent: false, gap: true }
            }
        };
        if let Some(open) = &mut self.media.open {
            open.parts.push(listed);
        }
        if let Stage::Making(making) = &mut self.stage {
            making.done = last.then_some(now);
        }
        Step::Again
    }

    /// Whether a part can stand in the segment in the making: one segment has one init segment and one key.
    fn listable(&self, object: &Object) -> bool {
        self.ready(object)
            && self.media.open.as_ref().is_none_or(|open| {
                open.init == object.meta.init && same_key(open.key, object.meta.protection)
            })
    }

    /// Begins the playlist's next segment with its first part, or with the gap in its place. Answers false
    /// while there is no init segment to name, which a track that has started always has.
    fn open(
        &mut self,
        msn: u64,
        letter: Letter,
        first: Option<&Object>,
        shared: &mut Shared,
        events: &mut Vec<Event>,
    ) -> bool {
        let before = self.media.segments.back().map(|s| s.init);
        // Behind a gap the segment's other objects say what it will decode with.
        let meta = first.map(|o| &o.meta).or_else(|| self.any_meta(msn, letter));
        let init = meta.map(|meta| meta.init).or(before);
        let key = match meta {
            Some(meta) => meta.protection,
            None => self.media.segments.back().and_then(|s| s.key),
        };
        let Some(init) = init else { return false };
        let jumps = match first {
            Some(first) => jumps(first),
            None => self.slots.get(&msn).is_some_and(|slot| slot.objects().any(jumps)),
        };
        let own = before.is_some_and(|before| before != init || jumps);
        let following = before.is_some() && shared.discontinuities.contains(&msn);
        let discontinuity = own || following || std::mem::take(&mut self.discontinuity_owed);
        if own && !following {
            events.push(Event::Discontinuity { msn });
        }
        let start = self.cut.segment(msn).start;
        self.media.open = Some(Open { msn, start, init, key, discontinuity, parts: Vec::new() });
        true
    }

    fn any_meta(&self, msn: u64, letter: Letter) -> Option<&Meta> {
        let slot = self.slots.get(&msn)?;
        let sides = [slot.side(letter), slot.side(letter.other())];
        let objects = sides.into_iter().flat_map(|s| s.parts.iter().flatten().chain(&s.whole));
        objects.filter(|o| self.ready(o)).map(|o| &o.meta).next()
    }
}

pub(super) fn jumps(object: &Object) -> bool {
    object.meta.defects.contains(&Defect::TimeJump)
}
