//! One programme: its tracks, and what they share.

use std::collections::HashMap;

use bytes::Bytes;
use hls::{Media, Report};
use timeline::name::{InitId, Letter, Token};
use timeline::object::Meta;
use timeline::programme::Programme as Announced;
use timeline::{Position, Ticks, Utc};

use super::door;
use super::expect::Cut;
use super::limits::{AHEAD_MAX, SILENCE_MAX, WINDOW_GRACE, after};
use super::refusal::Refusal;
use super::stage::{Event, Shared};
use super::track::{Accepted, Track};

/// How much of a programme is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Media time.
    pub length: Ticks,
    /// Bytes of finished segments, all tracks together.
    pub bytes: u64,
}

/// One programme.
#[derive(Debug)]
pub struct Programme {
    announced: Announced,
    window: Window,
    tracks: Vec<Track>,
    by_name: HashMap<Token, usize>,
    shared: Shared,
    events: Vec<(usize, Event)>,
}

impl Programme {
    /// A programme of which nothing is here.
    ///
    /// # Errors
    /// When no programme can be like that.
    pub fn new(announced: Announced, window: Window) -> Result<Programme, Refusal> {
        door::programme(&announced)?;
        let Announced { epoch, grid, .. } = announced;
        let cut = |audio| Cut { grid, epoch, audio };
        let tracks =
            announced.tracks.iter().map(|t| Track::new(cut(!t.is_video()), t.name.clone())).collect();
        let by_name = announced.tracks.iter().enumerate().map(|(i, t)| (t.name.clone(), i)).collect();
        Ok(Programme { announced, window, tracks, by_name, shared: Shared::default(), events: Vec::new() })
    }

    /// As it was announced.
    pub fn announced(&self) -> &Announced {
        &self.announced
    }

    /// Its tracks, in the announced order.
    pub fn tracks(&self) -> &[Track] {
        &self.tracks
    }

    /// A track's place in [`Self::tracks`].
    pub fn find(&self, track: &Token) -> Option<usize> {
        self.by_name.get(track).copied()
    }

    /// The last segment of the match, once it is known.
    pub fn end(&self) -> Option<u64> {
        self.shared.end
    }

    /// Nothing will be added: the match has ended, or every pipeline has been silent for very long.
    pub fn at_rest(&self, now: Utc) -> bool {
        self.tracks.iter().all(|t| t.media().ended)
            || self.shared.clock_until.is_some_and(|until| until < now)
    }

    /// The part on air by the clock.
    pub fn clock(&self, now: Utc) -> Position {
        let at = self.announced.grid.position(now.since(self.announced.epoch));
        at.unwrap_or(Position { msn: 0, part: 0 })
    }

    /// Takes a second announcement.
    ///
    /// # Errors
    /// When it says something else.
    pub fn announce(&self, said: &Announced) -> Result<(), Refusal> {
        door::difference(&self.announced, said).map_or(Ok(()), |what| Err(Refusal::OtherProgramme(what)))
    }

    /// Takes an init segment.
    ///
    /// # Errors
    /// When it is not one, has another's name, or there are too many.
    pub fn put_init(
        &mut self,
        track: &Token,
        id: InitId,
        bytes: Bytes,
        now: Utc,
    ) -> Result<Accepted, Refusal> {
        let i = self.known(track)?;
        door::init(id, &bytes)?;
        let accepted = self.tracks[i].put_init(id, bytes)?;
        self.advance(i, now);
        Ok(accepted)
    }

    /// Takes a part.
    ///
    /// # Errors
    /// When its timing, its bytes or its name are impossible.
    pub fn put_part(
        &mut self,
        track: &Token,
        at: Position,
        letter: Letter,
        meta: Meta,
        bytes: Bytes,
        now: Utc,
    ) -> Result<Accepted, Refusal> {
        let i = self.known(track)?;
        self.in_time(i, at.msn, now)?;
        door::part(&self.tracks[i].cut, at, &meta)?;
        door::media(&meta, &bytes)?;
        self.heard(now);
        let accepted = self.tracks[i].put_part(at, letter, meta, bytes, now)?;
        self.advance(i, now);
        Ok(accepted)
    }

    /// Takes a whole segment.
    ///
    /// # Errors
    /// When its timing, its bytes or its name are impossible.
    pub fn put_segment(
        &mut self,
        track: &Token,
        msn: u64,
        letter: Letter,
        meta: Meta,
        bytes: Bytes,
        now: Utc,
    ) -> Result<Accepted, Refusal> {
        let i = self.known(track)?;
        self.in_time(i, msn, now)?;
        door::segment(&self.tracks[i].cut, msn, &meta)?;
        door::media(&meta, &bytes)?;
        self.heard(now);
        let accepted = self.tracks[i].put_segment(msn, letter, meta, bytes, now)?;
        self.advance(i, now);
        Ok(accepted)
    }

    /// The match ends with segment `last_msn`. Of two different ends the later one counts while nothing has
    /// ended; what is listed already stays.
    pub fn put_end(&mut self, last_msn: u64, now: Utc) -> Result<(), Refusal> {
        let clock = self.clock(now).msn;
        if last_msn > clock.saturating_add(AHEAD_MAX) {
            return Err(Refusal::Ahead { msn: last_msn, clock });
        }
        let listed = self.tracks.iter().filter_map(|t| t.media().last()).map(|last| last.msn).max();
        self.shared.end = self.shared.end.max(Some(last_msn)).max(listed);
        self.advance_all(now);
        Ok(())
    }

    /// The answer to [`Event::Propose`].
    pub fn agreed(&mut self, track: usize, msn: u64, letter: Letter, now: Utc) {
        if let Some(found) = self.tracks.get_mut(track) {
            found.agreed(msn, letter);
            self.advance(track, now);
        }
    }

    /// The clock has gone on.
    pub fn tick(&mut self, now: Utc) {
        self.advance_all(now);
    }

    /// When [`Self::tick`] is needed next, if nothing arrives.
    pub fn next_deadline(&self) -> Option<Utc> {
        self.tracks.iter().filter_map(|t| t.wake).min()
    }

    /// What happened since it was last asked, by track.
    pub fn take_events(&mut self) -> Vec<(usize, Event)> {
        std::mem::take(&mut self.events)
    }

    /// A track's playlist as it stands, with how far the others are.
    pub fn snapshot(&self, track: usize) -> Media {
        let mut media = self.tracks[track].media().clone();
        if media.ended {
            // Nothing is added, so nothing is to be reported either; and an ended playlist may not change.
            return media;
        }
        let others = self.tracks.iter().enumerate().filter(|(i, _)| *i != track);
        media.reports = others
            .filter_map(|(_, t)| Some(Report { track: t.media().track.clone(), last: t.media().last()? }))
            .collect();
        media
    }

    /// Bytes of finished segments.
    pub fn bytes(&self) -> u64 {
        self.tracks.iter().map(Track::bytes).sum()
    }

    fn known(&self, track: &Token) -> Result<usize, Refusal> {
        self.find(track).ok_or_else(|| Refusal::UnknownTrack(track.clone()))
    }

    fn in_time(&self, track: usize, msn: u64, now: Utc) -> Result<(), Refusal> {
        let clock = self.clock(now).msn;
        if msn > clock.saturating_add(AHEAD_MAX) {
            return Err(Refusal::Ahead { msn, clock });
        }
        if let Some(end) = self.shared.end.filter(|end| msn > *end) {
            return Err(Refusal::AfterEnd { msn, end });
        }
        let media = self.tracks[track].media();
        let first = match media.last() {
            Some(_) => media.first_msn(),
            // Nothing is listed yet: an origin that starts late still wants the present, not the past.
            None => self.announced.grid.next_segment(now.since(self.announced.epoch) - self.window.length),
        };
        if msn < first { Err(Refusal::Old { msn, first }) } else { Ok(()) }
    }

    fn heard(&mut self, now: Utc) {
        self.shared.clock_until = Some(after(now, SILENCE_MAX));
    }

    fn advance_all(&mut self, now: Utc) {
        for track in 0..self.tracks.len() {
            self.advance(track, now);
        }
    }

    fn advance(&mut self, track: usize, now: Utc) {
        let mut events = Vec::new();
        self.tracks[track].advance(now, &mut self.shared, &mut events);
        for event in events {
            if let Event::Discontinuity { msn } = event {
                self.shared.discontinuities.insert(msn);
                // Tracks are never further apart than the window's grace.
                while self.shared.discontinuities.len() > WINDOW_GRACE {
                    self.shared.discontinuities.pop_first();
                }
                for (i, other) in self.tracks.iter_mut().enumerate() {
                    if i != track {
                        other.follow_discontinuity(msn);
                    }
                }
            }
            self.events.push((track, event));
        }
        self.tracks[track].trim(self.window.length);
        self.shrink();
    }

    /// Keeps the bytes within bounds: the oldest segment of all tracks goes first.
    fn shrink(&mut self) {
        while self.bytes() > self.window.bytes {
            let Some(oldest) = self.tracks.iter().filter_map(|t| t.kept.first_msn()).min() else { return };
            let mut shrunk = false;
            for track in &mut self.tracks {
                shrunk |= track.shrink(oldest);
            }
            if !shrunk {
                return;
            }
        }
    }
}
