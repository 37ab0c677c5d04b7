//! The playhead: it moves with the wall clock while all tracks have media, and stands otherwise.

use timeline::Utc;

use crate::buffer::{Ranges, common};
use crate::report::{Jump, Stall};

/// A playhead that stands for longer is a stall.
pub const STALL_US: i64 = 250_000;

/// A playhead that stands before a hole goes to the next range after this long, like the page.
pub const JUMP_AFTER_US: i64 = 100_000;

/// How much faster than the clock a playhead moves that has fallen behind, in thousandths. Gentle enough
/// that it empties no buffer that was not going to be empty.
const CATCH_UP_RATE: i64 = 1_100;

/// How far it may fall behind before it hurries: the tolerance that players have.
const CATCH_UP_TOLERANCE_US: i64 = 100_000;

/// Where the viewer is. All times are UTC microseconds: `at` in the media, `now` on the wall.
#[derive(Clone, Debug)]
pub struct Playhead {
    at: i64,
    now: i64,
    standing: Option<i64>,
    /// How far behind the clock it began.
    behind: i64,
    catch_up: bool,
    /// Longer than [`STALL_US`].
    pub stalls: Vec<Stall>,
    /// Holes that were jumped over.
    pub jumps: Vec<Jump>,
    /// All standing, stalls or not.
    pub standing_us: i64,
}

impl Playhead {
    /// Begins to play.
    pub fn begin(at: i64, now: i64, catch_up: bool) -> Playhead {
        Playhead {
            at,
            now,
            standing: None,
            behind: now - at,
            catch_up,
            stalls: Vec::new(),
            jumps: Vec::new(),
            standing_us: 0,
        }
    }

    /// Where it is in the media.
    pub fn at(&self) -> i64 {
        self.at
    }

    /// How far it is behind the clock.
    pub fn latency_us(&self) -> i64 {
        self.now - self.at
    }

    /// Moves on to `now`. Call it before every change to the tracks: what is there counts from the call on.
    pub fn advance<'a>(&mut self, now: i64, tracks: impl Iterator<Item = &'a Ranges> + Clone) {
        while self.now < now {
            match common(tracks.clone(), self.at) {
                Some((start, end)) if start <= self.at => self.play(now, end),
                Some((start, _)) => self.before_hole(now, start),
                None => {
                    self.standing.get_or_insert(self.now);
                    self.now = now;
                }
            }
        }
    }

    /// The match is over here: what comes is no stall.
    pub fn finish(&mut self) {
        self.moves_again(self.standing.unwrap_or(self.now));
        self.standing = None;
    }

    /// Ends the record: a playhead that still stands has stood until now.
    pub fn stop(&mut self) {
        self.moves_again(self.now);
    }

    fn play(&mut self, now: i64, end: i64) {
        self.moves_again(self.now);
        let late = self.latency_us() - self.behind;
        let rate = if self.catch_up && late > CATCH_UP_TOLERANCE_US { CATCH_UP_RATE } else { 1_000 };
        let wall = (now - self.now).min(((end - self.at) * 1_000 + rate - 1) / rate);
        self.now += wall;
        self.at = end.min(self.at + wall * rate / 1_000);
    }

    fn before_hole(&mut self, now: i64, next: i64) {
        let since = *self.standing.get_or_insert(self.now);
        let jump = self.now.max(since + JUMP_AFTER_US);
        if jump > now {
            self.now = now;
            return;
        }
        self.now = jump;
        self.jumps.push(Jump { at: Utc(self.at), over_ms: (next - self.at) / 1_000 });
        self.at = next;
        self.moves_again(jump);
    }

    fn moves_again(&mut self, now: i64) {
        let Some(since) = self.standing.take() else { return };
        let stood = now - since;
        self.standing_us += stood;
        if stood > STALL_US {
            self.stalls.push(Stall { at: Utc(self.at), since: Utc(since), length_ms: stood / 1_000 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000;

    fn ranges(of: &[(i64, i64)]) -> Ranges {
        let mut all = Ranges::default();
        for &(start, end) in of {
            all.insert(start * MS, end * MS);
        }
        all
    }

    fn begin() -> Playhead {
        Playhead::begin(0, 0, false)
    }

    #[test]
    fn it_moves_with_the_clock() {
        let mut head = begin();
        head.advance(700 * MS, [&ranges(&[(0, 1_000)])].into_iter());
        assert_eq!((head.at(), head.latency_us()), (700 * MS, 0));
        assert!(head.stalls.is_empty());
    }

    #[test]
    fn it_stands_exactly_as_long_as_nothing_comes() {
        let mut head = begin();
        head.advance(1_300 * MS, [&ranges(&[(0, 1_000)])].into_iter());
        head.advance(2_000 * MS, [&ranges(&[(0, 3_000)])].into_iter());
        let [stall] = head.stalls[..] else { panic!("{:?}", head.stalls) };
        assert_eq!((stall.at, stall.since, stall.length_ms), (Utc(1_000 * MS), Utc(1_000 * MS), 300));
        assert_eq!((head.at(), head.latency_us()), (1_700 * MS, 300 * MS));
    }

    #[test]
    fn a_short_stand_is_no_stall() {
        let mut head = begin();
        head.advance(1_250 * MS, [&ranges(&[(0, 1_000)])].into_iter());
        head.advance(1_300 * MS, [&ranges(&[(0, 3_000)])].into_iter());
        assert!(head.stalls.is_empty());
        assert_eq!(head.standing_us, 250 * MS);
    }

    #[test]
    fn it_jumps_over_a_hole_in_time() {
        let mut head = begin();
        head.advance(1_500 * MS, [&ranges(&[(0, 1_000), (1_320, 3_000)])].into_iter());
        assert_eq!(head.at(), (1_320 + 400) * MS);
        assert_eq!(head.jumps, vec![Jump { at: Utc(1_000 * MS), over_ms: 320 }]);
        assert!(head.stalls.is_empty());
    }

    #[test]
    fn it_cannot_jump_to_what_is_not_there_yet() {
        let mut head = begin();
        head.advance(1_400 * MS, [&ranges(&[(0, 1_000)])].into_iter());
        head.advance(1_500 * MS, [&ranges(&[(0, 1_000), (1_320, 3_000)])].into_iter());
        assert_eq!(head.at(), 1_420 * MS);
        assert_eq!(head.stalls.iter().map(|s| s.length_ms).collect::<Vec<_>>(), vec![400]);
    }

    #[test]
    fn one_track_alone_does_not_play() {
        let mut head = begin();
        head.advance(900 * MS, [&ranges(&[(0, 1_000)]), &ranges(&[(0, 500)])].into_iter());
        head.stop();
        assert_eq!(head.at(), 500 * MS);
        assert_eq!(head.stalls.len(), 1);
    }

    #[test]
    fn a_late_one_hurries_until_it_is_where_it_began() {
        let mut head = Playhead::begin(0, 0, true);
        head.advance(1_000 * MS, [&Ranges::default()].into_iter());
        assert_eq!(head.latency_us(), 1_000 * MS);
        let all = ranges(&[(0, 60_000)]);
        for now in (1_000..30_000).step_by(50) {
            head.advance(now * MS, [&all].into_iter());
        }
        assert!((50 * MS..=CATCH_UP_TOLERANCE_US).contains(&head.latency_us()), "{}", head.latency_us());
        assert_eq!(head.stalls.len(), 1);
    }

    #[test]
    fn the_end_is_no_stall() {
        let mut head = begin();
        head.advance(9_000 * MS, [&ranges(&[(0, 1_000)])].into_iter());
        head.finish();
        head.stop();
        assert!(head.stalls.is_empty());
    }
}
