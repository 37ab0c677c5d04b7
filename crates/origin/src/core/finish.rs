//! How a segment is finished, and what is to come next.

use hls::{Hint, Open};
use timeline::name::Letter;
use timeline::{Position, Ticks, Utc};

use super::advance::{Step, jumps};
use super::kept::Finished;
use super::limits::{PREFER_A_WAIT, WHOLE_WAIT, after};
use super::object::{Whole, same_key};
use super::stage::{Choice, Event, Making, Shared, Stage};
use super::track::Track;

impl Track {
    /// Finishes the segment as the best whole that is here. With none, it waits for one as long as the next
    /// segment does not need to begin, and is a gap then.
    pub(super) fn finish(
        &mut self,
        msn: u64,
        letter: Letter,
        done: Utc,
        now: Utc,
        shared: &Shared,
        events: &mut Vec<Event>,
    ) -> Step {
        let Some(open) = &self.media.open else { return Step::Until(None) };
        let best = self.best_whole(open, letter);
        if best.is_none() {
            if let Some(until) = self.completing(open, done, now) {
                return Step::Until(Some(until));
            }
            if let Err(until) = self.decide(msn + 1, now, shared) {
                return Step::Until(until);
            }
        }
        let Some(open) = self.media.open.take() else { return Step::Until(None) };
        let slot = self.slots.remove(&msn).unwrap_or_default();
        if slot.objects().any(jumps) && !open.discontinuity && !self.marked_near(msn) {
            // It came too late to be the segment's first part, or with the letter that was not chosen.
            self.discontinuity_owed = true;
        }
        let parts = open.parts.iter().map(|p| {
            let object = slot.side(letter).part(p.index).filter(|_| !p.gap)?;
            Some(object.bytes.clone())
        });
        let parts = parts.collect();
        let source = best.as_ref().map(|(source, _)| *source);
        let duration = match &best {
            Some((_, whole)) => whole.duration,
            // The last segment of a match may be shorter than the grid says.
            None if shared.end == Some(msn) => open.parts.iter().fold(Ticks(0), |sum, p| sum + p.duration),
            None => self.cut.segment(msn).duration,
        };
        let media = if source.is_some() { duration } else { Ticks(0) };
        let chunks = best.map(|(_, whole)| whole.chunks).unwrap_or_default();
        self.media.segments.push_back(open.close(duration, source));
        self.kept.push(Finished { msn, source, duration: media, chunks, parts_letter: letter, parts });
        self.stage = Stage::Making(Making::new(msn + 1));
        events.push(match source {
            Some(source) if source == letter => Event::Segment,
            Some(_) => {
                self.gaps.healed += 1;
                Event::Healed
            }
            None => {
                self.gaps.segments += 1;
                Event::SegmentGap
            }
        });
        Step::Again
    }

    /// The chosen letter's if all its parts are listed or it is good, else the other's if that is good, else
    /// what there is.
    fn best_whole(&self, open: &Open, letter: Letter) -> Option<(Letter, Whole)> {
        let slot = self.slots.get(&open.msn)?;
        let wholes = [letter, letter.other()].map(|l| {
            let whole = slot.side(l).complete(self.cut.grid.parts())?;
            (whole.init == open.init && same_key(whole.key, open.key)).then_some((l, whole))
        });
        // A segment is the same media as its parts (rfc8216bis 3.2), so flaws that are listed stay.
        let listed = open.parts.iter().all(|part| !part.gap);
        wholes.into_iter().flatten().min_by_key(|(l, whole)| whole.flawed && !(listed && *l == letter))
    }

    /// Until when a living pipeline may still complete the segment, of which it has everything so far.
    fn completing(&self, open: &Open, done: Utc, now: Utc) -> Option<Utc> {
        let slot = self.slots.get(&open.msn)?;
        let until = Letter::ALL.into_iter().filter_map(|letter| {
            let parts = &slot.side(letter).parts;
            let all_so_far = parts.iter().all(|p| p.as_ref().is_some_and(|p| p.meta.init == open.init));
            let next = Position { msn: open.msn, part: parts.len() as u32 };
            let until = self.pace(letter).overdue(&self.cut, next)?;
            (all_so_far && !parts.is_empty() && next.part < self.cut.grid.parts()).then_some(until)
        });
        until.min().map(|until| until.min(after(done, WHOLE_WAIT))).filter(|until| now < *until)
    }

    /// The part that comes next, by the name that it will most likely have.
    pub(super) fn hint(&self, now: Utc) -> Option<Hint> {
        let Stage::Making(making) = &self.stage else { return None };
        let likely = |msn| match self.first_expected(msn, now) {
            [Some(a), Some(b)] if a > after(b, PREFER_A_WAIT / 2) => Letter::B,
            [Some(_), _] => Letter::A,
            [None, Some(_)] => Letter::B,
            // Both are late: still something to ask for, so that players keep waiting here and not by polling.
            [None, None] => self.heard_last(),
        };
        if making.done.is_some() {
            let msn = making.msn + 1;
            return Some(Hint { at: Position { msn, part: 0 }, letter: likely(msn) });
        }
        let letter = match making.choice {
            Choice::Undecided => likely(making.msn),
            Choice::Proposed(letter) | Choice::Agreed(letter) => letter,
        };
        Some(Hint { at: self.position(making.msn), letter })
    }

    fn position(&self, msn: u64) -> Position {
        Position { msn, part: self.media.open.as_ref().map_or(0, |open| open.parts.len() as u32) }
    }
}
