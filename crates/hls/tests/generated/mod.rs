//! Matches as an origin could see them: for any sequence of segments with any of their parts missing, any
//! change of letter, init segment and window, the snapshot after each part.

use hls::{Hint, Media, Open, Part, Report};
use proptest::prelude::*;
use timeline::name::{InitId, Letter, Token};
use timeline::protection::{Kid, Next, Protection, Scheme};
use timeline::{CLOCK_HZ, Grid, Position, Ticks, Utc};

/// One segment of a match.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    /// For each part, whether it comes.
    pub(crate) comes: Vec<bool>,
    pub(crate) letter: Letter,
    /// Whose whole segment is listed when parts are missing; `None`: nobody's.
    pub(crate) whole: Option<Letter>,
    pub(crate) time_jump: bool,
    pub(crate) new_init: bool,
    /// Encrypted from here on with another key, or not any more.
    pub(crate) new_key: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Match {
    pub(crate) grid: Grid,
    pub(crate) audio: bool,
    pub(crate) first_msn: u64,
    pub(crate) window: usize,
    pub(crate) segments: Vec<Made>,
}

fn letter() -> impl Strategy<Value = Letter> {
    prop::sample::select(vec![Letter::A, Letter::B])
}

fn made() -> impl Strategy<Value = Made> {
    let comes = prop::collection::vec(prop::bool::weighted(0.9), 8);
    let rare = || prop::bool::weighted(0.1);
    (comes, letter(), prop::option::of(letter()), rare(), rare(), rare()).prop_map(
        |(comes, letter, whole, time_jump, new_init, new_key)| Made {
            comes,
            letter,
            whole,
            time_jump,
            new_init,
            new_key,
        },
    )
}

pub(crate) fn any_match() -> impl Strategy<Value = Match> {
    let rates = vec!["24000/1001", "24", "25", "30000/1001", "30", "50", "60000/1001", "60"];
    let rate = prop::sample::select(rates);
    (rate, any::<bool>(), 0u64..1 << 30, 6usize..20, prop::collection::vec(made(), 1..30)).prop_map(
        |(rate, audio, first_msn, window, segments)| {
            let grid = Grid::for_frame_rate(rate.parse().unwrap()).unwrap();
            Match { grid, audio, first_msn, window, segments }
        },
    )
}

/// Of key `n`; before every second key the next one is announced.
pub(crate) fn protection(n: u8) -> Protection {
    let kid = |n| Kid([n; 16]);
    let next = n.is_multiple_of(2).then(|| Next { kid: kid(n + 1), msn: 1 << 31 });
    Protection { scheme: Scheme::Cbcs, kid: kid(n), checksum: None, next }
}

pub(crate) fn token(s: &str) -> Token {
    s.parse().unwrap()
}

impl Match {
    /// Where a part begins in this match's track.
    fn start(&self, at: Position) -> Ticks {
        let at = self.grid.part_start(at);
        if self.audio { Ticks(Grid::audio_frame_at_or_after(at) * timeline::grid::AAC_FRAME.0) } else { at }
    }

    /// The snapshot after each part.
    pub(crate) fn snapshots(&self) -> Vec<Media> {
        let epoch: Utc = "2026-11-29T14:00:00.040Z".parse().unwrap();
        let mut media = Media::new(self.grid, epoch, token("v720"));
        let mut taken = Vec::new();
        let mut init = 1;
        let mut keys = 0;
        for (msn, made) in (self.first_msn..).zip(&self.segments) {
            let first = media.segments.is_empty();
            init += u32::from(made.new_init);
            keys += u8::from(made.new_key);
            let discontinuity = !first && (made.time_jump || made.new_init);
            let mut open = Open {
                msn,
                start: self.start(Position { msn, part: 0 }),
                init: InitId(init),
                key: (!keys.is_multiple_of(4)).then(|| protection(keys)),
                discontinuity,
                parts: vec![],
            };
            for part in 0..self.grid.parts() {
                let at = Position { msn, part };
                let duration = self.start(self.grid.next(at)) - self.start(at);
                let gap = !made.comes[part as usize];
                open.parts.push(Part {
                    index: part,
                    letter: made.letter,
                    duration,
                    independent: part == 0 || self.audio,
                    gap,
                });
                let next = self.grid.next(at);
                media.hint = Some(Hint { at: next, letter: made.letter });
                media.reports = vec![Report { track: token("en"), last: at }];
                if next.part > 0 {
                    media.open = Some(open.clone());
                    taken.push(media.clone());
                }
            }
            media.open = None;
            let complete = made.comes.iter().take(self.grid.parts() as usize).all(|&comes| comes);
            let source = if complete { Some(made.letter) } else { made.whole };
            let duration = self.start(Position { msn: msn + 1, part: 0 }) - open.start;
            media.segments.push_back(open.close(duration, source));
            while media.segments.len() > self.window {
                media.pop_front();
            }
            taken.push(media.clone());
        }
        media.ended = true;
        taken.push(media);
        taken
    }
}

/// Decimal seconds as exact units of 10 µs.
pub(crate) fn tens_of_us(seconds: f64) -> i64 {
    (seconds * 100_000.0).round() as i64
}

pub(crate) fn nearest_tens_of_us(ticks: Ticks) -> i64 {
    (ticks.0 as f64 * 100_000.0 / CLOCK_HZ as f64).round() as i64
}
