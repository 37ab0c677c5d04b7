//! The rules of choosing, giving up and keeping, one by one, on the pure core.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use common::*;
use origin::core::limits::{PART_PATIENCE, PREFER_A_WAIT, SILENCE_PATIENCE, WINDOW_GRACE};
use origin::core::{Accepted, Event, Found, Programme, Refusal, Window};
use timeline::name::Letter::{self, A, B};
use timeline::object::{Defect, Meta};
use timeline::protection::{Kid, Protection, Scheme};
use timeline::{Position, Ticks, Utc};

struct Origin(Programme);

impl Origin {
    fn new(window: Window) -> Origin {
        let mut programme = Programme::new(announced(), window).unwrap();
        let (id, bytes) = init(0);
        for track in ["v", "en"] {
            programme.put_init(&token(track), id, bytes.clone(), EPOCH).unwrap();
        }
        Origin(programme)
    }

    fn roomy() -> Origin {
        Origin::new(Window { length: hour(), bytes: u64::MAX })
    }

    fn put_meta(&mut self, at: Position, letter: Letter, meta: Meta, now: Utc) -> Result<Accepted, Refusal> {
        let bytes = part_bytes("v", at, letter);
        let put = self.0.put_part(&token("v"), at, letter, meta, bytes, now);
        self.agree(now);
        put
    }

    fn put(&mut self, at: Position, letter: Letter, now: Utc) {
        // Late is the slower pipeline's last part.
        let put = self.put_meta(at, letter, part_meta(at), now);
        assert!(matches!(put, Ok(Accepted::New | Accepted::Late)), "{put:?}");
    }

    /// A segment's parts, each `ms` after it is over.
    fn segment(&mut self, msn: u64, letters: &[Letter], ms: i64) {
        for part in 0..6 {
            for letter in letters {
                self.put(at(msn, part), *letter, later(over(at(msn, part)), ms));
            }
        }
    }

    fn agree(&mut self, now: Utc) {
        for (track, event) in self.0.take_events() {
            if let Event::Propose { msn, letter } = event {
                self.0.agreed(track, msn, letter, now);
            }
        }
    }

    /// Fires every timer that is due until then.
    fn run_to(&mut self, until: Utc) {
        while let Some(now) = self.0.next_deadline().filter(|at| *at <= until) {
            self.0.tick(now);
            self.agree(now);
        }
    }

    fn next(&self) -> Position {
        self.0.snapshot(0).next()
    }

    fn sources(&self) -> Vec<Option<Letter>> {
        self.0.snapshot(0).segments.iter().map(|s| s.source).collect()
    }
}

fn ms(wait: std::time::Duration) -> i64 {
    wait.as_millis() as i64
}

#[test]
fn a_is_preferred_but_not_waited_for_when_dead() {
    let mut o = Origin::roomy();
    o.segment(10, &[A, B], 100);
    // B first, A alive: wait, but not for long.
    let now = later(over(at(11, 0)), 80);
    o.put(at(11, 0), B, now);
    assert_eq!(o.next(), at(11, 0));
    o.run_to(later(now, ms(PREFER_A_WAIT) - 1));
    assert_eq!(o.next(), at(11, 0));
    o.run_to(later(now, ms(PREFER_A_WAIT)));
    assert_eq!(o.next(), at(11, 1), "B's part is listed when A does not come");
    // From then on A is known to be silent.
    for part in 1..6 {
        o.put(at(11, part), B, later(over(at(11, part)), 100));
    }
    o.put(at(12, 0), B, later(over(at(12, 0)), 100));
    assert_eq!(o.next(), at(12, 1), "no wait for the dead");
    assert_eq!(o.sources(), [Some(A), Some(B)]);
}

/// Four segments of both, A's parts `ms` later than B's.
fn with_a_slower_by(ms: i64) -> Vec<Option<Letter>> {
    let mut o = Origin::roomy();
    for msn in 10..14 {
        for part in 0..6 {
            o.put(at(msn, part), B, later(over(at(msn, part)), 50));
            o.put(at(msn, part), A, later(over(at(msn, part)), 50 + ms));
        }
    }
    o.sources()
}

#[test]
fn a_slower_a_is_preferred_while_that_costs_little() {
    assert_eq!(with_a_slower_by(ms(PREFER_A_WAIT) / 2), [Some(B), Some(A), Some(A), Some(A)]);
    // Never, rather than every now and then in vain.
    assert_eq!(with_a_slower_by(ms(PREFER_A_WAIT) / 2 + 1), [Some(B); 4]);
}

#[test]
fn a_comes_back_at_a_first_part_only() {
    let mut o = Origin::roomy();
    o.segment(10, &[B], 100);
    o.put(at(11, 0), B, later(over(at(11, 0)), 100));
    for part in 1..6 {
        o.put(at(11, part), A, later(over(at(11, part)), 90));
        o.put(at(11, part), B, later(over(at(11, part)), 100));
    }
    o.put(at(12, 0), A, later(over(at(12, 0)), 90));
    let media = o.0.snapshot(0);
    assert_eq!(o.sources(), [Some(B), Some(B)]);
    assert!(media.segments.iter().flat_map(|s| &s.parts).all(|p| p.letter == B && !p.gap));
    assert_eq!(media.open.unwrap().parts[0].letter, A);
}

#[test]
fn a_lost_part_is_a_gap_in_time_and_the_segment_is_the_others() {
    let mut o = Origin::roomy();
    o.segment(10, &[A, B], 100);
    for part in 0..2 {
        for letter in [A, B] {
            o.put(at(11, part), letter, later(over(at(11, part)), 100));
        }
    }
    // A dies. The surer sign is B's part.
    let sign = later(over(at(11, 2)), 100);
    o.put(at(11, 2), B, sign);
    o.run_to(later(sign, ms(PART_PATIENCE) - 1));
    assert_eq!(o.next(), at(11, 2));
    o.run_to(later(sign, ms(PART_PATIENCE)));
    assert_eq!(o.next(), at(11, 3));
    assert!(ms(PART_PATIENCE) < 200, "the design's limit");
    for part in 3..6 {
        o.put(at(11, part), B, later(over(at(11, part)), 100));
        let expected = if part < 5 { at(11, part + 1) } else { at(12, 0) };
        assert_eq!(o.next(), expected, "the dead are not waited for again");
    }
    let media = o.0.snapshot(0);
    assert_eq!(o.sources(), [Some(A), Some(B)]);
    let gaps: Vec<bool> = media.segments[1].parts.iter().map(|p| p.gap).collect();
    assert_eq!(gaps, [false, false, true, true, true, true]);
    assert!(media.segments[1].parts.iter().all(|p| p.letter == A), "parts keep their letter");
    let clock = o.0.clock(sign);
    assert_eq!(
        o.0.tracks()[0].segment(11, B, clock),
        Found::Here((0..6).map(|p| part_bytes("v", at(11, p), B)).collect())
    );
    assert_eq!(o.0.tracks()[0].segment(11, A, clock), Found::Never);
}

#[test]
fn a_late_part_counts_for_the_segment_only() {
    let mut o = Origin::roomy();
    o.segment(10, &[A], 100);
    o.put(at(11, 0), A, later(over(at(11, 0)), 100));
    o.put(at(11, 2), A, later(over(at(11, 2)), 100));
    o.run_to(later(over(at(11, 2)), 100 + ms(PART_PATIENCE)));
    assert_eq!(o.next(), at(11, 3));
    let now = later(over(at(11, 2)), 300);
    o.put(at(11, 1), A, now);
    assert_eq!(o.0.tracks()[0].part(at(11, 1), A, o.0.clock(now)), Found::Never);
    for part in 3..6 {
        o.put(at(11, part), A, later(over(at(11, part)), 100));
    }
    let media = o.0.snapshot(0);
    assert_eq!(media.segments[1].source, Some(A));
    assert!(media.segments[1].parts[1].gap);
}

#[test]
fn a_whole_segment_heals_before_the_next_begins() {
    let mut o = Origin::roomy();
    o.segment(10, &[A], 100);
    for part in [0, 1, 3, 4, 5] {
        o.put(at(11, part), A, later(over(at(11, part)), 100));
    }
    let now = later(over(at(11, 5)), 150);
    o.run_to(now);
    assert_eq!(o.next(), at(11, 6), "all parts are listed, and the segment waits");
    let put = o.0.put_segment(&token("v"), 11, A, segment_meta(11), segment_bytes("v", 11, A), now);
    assert_eq!(put, Ok(Accepted::New));
    assert_eq!(o.sources(), [Some(A), Some(A)]);
    let again = o.0.put_segment(&token("v"), 11, A, segment_meta(11), segment_bytes("v", 11, A), now);
    assert_eq!(again, Ok(Accepted::Late));
}

#[test]
fn a_slower_pipeline_may_complete_the_segment() {
    let mut o = Origin::roomy();
    // B's path is slower by more than a part, so it has none of what A lost when A is at its end.
    for msn in 10..12 {
        for part in 0..7 {
            if part < 6 && (msn, part) != (11, 3) {
                let now = later(over(at(msn, part)), 50);
                o.run_to(now);
                o.put(at(msn, part), A, now);
            }
            if part > 0 {
                let now = later(over(at(msn, part - 1)), 400);
                o.run_to(now);
                o.put(at(msn, part - 1), B, now);
            }
        }
    }
    assert_eq!(o.sources(), [Some(A), Some(B)]);
    assert_eq!(o.next(), at(12, 0));
}

#[test]
fn another_init_never_heals() {
    let mut o = Origin::roomy();
    let (id, bytes) = init(1);
    o.0.put_init(&token("v"), id, bytes, EPOCH).unwrap();
    o.segment(10, &[A], 100);
    for part in 0..6 {
        let now = later(over(at(11, part)), 100);
        if part != 3 {
            o.put(at(11, part), A, now);
        }
        o.put_meta(at(11, part), B, Meta { init: id, ..part_meta(at(11, part)) }, now).unwrap();
        o.run_to(later(now, ms(PART_PATIENCE)));
    }
    o.put(at(12, 0), A, later(over(at(12, 0)), 100));
    assert_eq!(o.sources(), [Some(A), None]);
}

#[test]
fn the_clock_goes_on_when_both_are_silent_and_ends() {
    let mut o = Origin::roomy();
    o.segment(10, &[A, B], 100);
    let due = later(over(at(11, 0)), 100 + ms(SILENCE_PATIENCE));
    o.run_to(later(due, -1));
    assert_eq!(o.next(), at(11, 0));
    o.run_to(due);
    assert_eq!(o.next(), at(11, 1));
    o.run_to(later(over(at(20, 5)), 1_000));
    assert_eq!(o.sources()[1..], [None; 10]);
    // Ten minutes, and then it stands still until someone is back; numbers never skip.
    o.run_to(later(EPOCH, 7_200_000));
    let stood = o.next();
    assert!((320..330).contains(&stood.msn), "{stood:?}");
    assert!(o.0.at_rest(later(EPOCH, 7_200_000)));
    let now = later(over(at(1_000, 0)), 100);
    o.put(at(1_000, 0), B, now);
    o.run_to(later(now, ms(PART_PATIENCE)));
    let media = o.0.snapshot(0);
    assert_eq!(o.next(), at(1_000, 1));
    assert!(media.segments.iter().zip(media.segments.iter().skip(1)).all(|(a, b)| a.msn + 1 == b.msn));
}

#[test]
fn a_good_part_before_a_flawed_one() {
    let mut o = Origin::roomy();
    o.segment(10, &[A, B], 100);
    let now = later(over(at(11, 0)), 100);
    let flawed = with(part_meta(at(11, 0)), &[Defect::Missing]);
    assert_eq!(o.put_meta(at(11, 0), A, flawed, now), Ok(Accepted::New));
    assert_eq!(o.next(), at(11, 0), "B may have it without the flaw");
    o.put(at(11, 0), B, now);
    assert_eq!(o.0.snapshot(0).open.unwrap().parts[0].letter, B);
}

#[test]
fn a_changed_init_or_a_jump_is_a_discontinuity_on_every_track() {
    let mut o = Origin::roomy();
    let (id, bytes) = init(1);
    o.0.put_init(&token("v"), id, bytes, EPOCH).unwrap();
    o.segment(10, &[A], 100);
    let now = later(over(at(11, 0)), 100);
    for position in (0..6).map(|part| at(10, part)).chain([at(11, 0)]) {
        let (bytes, now) = (part_bytes("en", position, A), later(over(position), 100));
        o.0.put_part(&token("en"), position, A, part_meta(position), bytes, now).unwrap();
        o.agree(now);
    }
    let changed = Meta { init: id, ..part_meta(at(11, 0)) };
    o.put_meta(at(11, 0), A, changed, now).unwrap();
    assert!(o.0.snapshot(0).open.unwrap().discontinuity);
    // Audio has begun segment 11 already, so it says the same one later.
    let audio = o.0.snapshot(1);
    assert_eq!(audio.open.map(|o| (o.msn, o.discontinuity)), Some((11, false)));
    o.run_to(later(over(at(12, 0)), 1_000));
    let audio = o.0.snapshot(1);
    assert_eq!(audio.open.map(|o| (o.msn, o.discontinuity)), Some((12, true)));
}

#[test]
fn a_key_changes_without_a_discontinuity_and_never_within_a_segment() {
    let mut o = Origin::roomy();
    let key = |n| Protection { scheme: Scheme::Cbcs, kid: Kid([n; 16]), checksum: None, next: None };
    for position in (0..12).map(|n| at(10 + u64::from(n / 6), n % 6)) {
        // A part of 11 says another key than the segment's others, and is as good as lost.
        let n = if position == at(11, 3) { 3 } else { position.msn as u8 };
        let (meta, now) = (part_meta(position), later(over(position), 100));
        o.put_meta(position, A, Meta { protection: Some(key(n)), ..meta }, now).unwrap();
        o.run_to(later(now, ms(PART_PATIENCE)));
    }
    o.put(at(12, 0), A, later(over(at(12, 0)), 100));
    let media = o.0.snapshot(0);
    assert_eq!(o.sources(), [Some(A), None]);
    let keys: Vec<_> =
        media.segments.iter().map(|s| s.key).chain([media.open.as_ref().unwrap().key]).collect();
    assert_eq!(keys, [Some(key(10)), Some(key(11)), None]);
    assert!(media.segments[1].parts[3].gap);
    assert!(media.segments.iter().all(|s| !s.discontinuity));
}

#[test]
fn impossible_timing_and_bytes_are_refused() {
    let mut o = Origin::roomy();
    let now = later(over(at(10, 0)), 100);
    let good = part_meta(at(10, 0));
    let off = |ticks| Meta { start: good.start + Ticks(ticks), ..good.clone() };
    let refused = |o: &mut Origin, position, meta| o.put_meta(position, A, meta, now).unwrap_err().reason();
    assert_eq!(refused(&mut o, at(10, 0), off(1)), "start");
    assert_eq!(refused(&mut o, at(10, 0), off(-3_600)), "start");
    assert_eq!(refused(&mut o, at(10, 0), off(i64::MAX)), "start");
    assert_eq!(refused(&mut o, at(10, 0), Meta { duration: Ticks(0), ..good.clone() }), "duration");
    assert_eq!(refused(&mut o, at(10, 0), Meta { duration: Ticks(28_801), ..good.clone() }), "duration");
    assert_eq!(refused(&mut o, at(10, 6), good.clone()), "no-such-part");
    assert_eq!(refused(&mut o, at(14, 0), part_meta(at(14, 0))), "ahead");
    assert_eq!(refused(&mut o, at(u64::MAX, 0), good.clone()), "ahead");
    let audio = |ticks| Meta { start: good.start + Ticks(ticks), ..good.clone() };
    let mut put = |meta, bytes| o.0.put_part(&token("en"), at(10, 0), A, meta, bytes, now);
    assert_eq!(put(audio(1_921), part_bytes("en", at(10, 0), A)).unwrap_err().reason(), "start");
    assert_eq!(put(audio(0), "<html>".into()).unwrap_err().reason(), "media");
    assert_eq!(put(audio(1_920), part_bytes("en", at(10, 0), A)), Ok(Accepted::New));
    assert_eq!(put(audio(0), part_bytes("en", at(10, 0), A)), Ok(Accepted::Same));
    assert_eq!(put(audio(0), part_bytes("en", at(10, 1), A)), Err(Refusal::Different));
    let unknown = o.0.put_part(&token("fr"), at(10, 0), A, good, part_bytes("fr", at(10, 0), A), now);
    assert_eq!(unknown.unwrap_err().reason(), "unknown-track");
    let (id, _) = init(0);
    assert_eq!(o.0.put_init(&token("v"), id, init(1).1, now).unwrap_err().reason(), "init-name");
}

#[test]
fn the_window_is_bounded_by_time_and_by_bytes() {
    let window = Window { length: Ticks(90_000 * 60), bytes: u64::MAX };
    let mut o = Origin::new(window);
    o.segment(10, &[A], 100);
    let jump = with(part_meta(at(11, 0)), &[Defect::TimeJump]);
    o.put_meta(at(11, 0), A, jump, later(over(at(11, 0)), 100)).unwrap();
    assert!(o.0.snapshot(0).open.unwrap().discontinuity);
    for part in 1..6 {
        o.put(at(11, part), A, later(over(at(11, part)), 100));
    }
    for msn in 12..100 {
        o.segment(msn, &[A], 100);
    }
    let media = o.0.snapshot(0);
    assert_eq!(media.discontinuity_sequence, 1, "counted as it leaves");
    assert_eq!(media.segments.len(), 60 * 100 / 192 + 1);
    let (first, clock) = (media.first_msn(), o.0.clock(over(at(99, 5))));
    let find = |o: &Origin, msn| o.0.tracks()[0].segment(msn, A, clock);
    assert!(matches!(find(&o, first - WINDOW_GRACE as u64), Found::Here(_)), "outlives its line");
    assert_eq!(find(&o, first - WINDOW_GRACE as u64 - 1), Found::Never);
    assert!(matches!(
        o.put_meta(at(first - 1, 0), A, part_meta(at(first - 1, 0)), over(at(99, 5))),
        Err(Refusal::Old { .. })
    ));
    // Parts are fetchable for about twice as long as they are listed, and then only segments are.
    let parts_from = media.parts_from();
    assert!(matches!(o.0.tracks()[0].part(at(parts_from - 2, 0), A, clock), Found::Here(_)));
    assert_eq!(o.0.tracks()[0].part(at(parts_from - 5, 0), A, clock), Found::Never);

    let each = segment_bytes("v", 10, A).len() as u64;
    let mut o = Origin::new(Window { length: hour(), bytes: 30 * each });
    for msn in 10..100 {
        o.segment(msn, &[A], 100);
    }
    assert!(o.0.bytes() <= 30 * each);
    let media = o.0.snapshot(0);
    assert_eq!(media.segments.back().unwrap().msn, 99);
    assert!(media.segments.len() >= 20, "{}", media.segments.len());
}

#[test]
fn an_hour_of_seven_tracks_costs_little_beside_its_bytes() {
    // What is held for a segment beside its media: its line, its name, and a list of six chunks.
    let chunk = std::mem::size_of::<bytes::Bytes>();
    let finished = std::mem::size_of::<origin::core::kept::Finished>() + 6 * (chunk + 64);
    let line = std::mem::size_of::<hls::Segment>();
    // Twice the line: in the core, and in the version that is shared.
    let hour = 7 * 1_900 * (finished + 2 * line);
    assert!(hour < 30 << 20, "{hour}");
}
