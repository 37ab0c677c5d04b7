//! Whatever order the objects of A and B arrive in, and whoever dies when, what is listed is valid at every
//! step.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;

use common::*;
use hls::read::Playlist;
use origin::core::limits::{PART_PATIENCE, PREFER_A_WAIT, WHOLE_WAIT};
use origin::core::{Event, Found, Programme, Window};
use proptest::prelude::*;
use timeline::name::Letter;
use timeline::object::Defect;
use timeline::{Position, Utc};

const FIRST: u64 = 1_000;
const SEGMENTS: u64 = 10;
const TRACKS: [&str; 2] = ["v", "en"];
/// Most that a delay differs from its pipeline's own.
const JITTER_MS: i64 = 60;

/// What happens to one pipeline.
#[derive(Clone, Debug)]
struct Pipeline {
    delay_ms: i64,
    /// Killed at, and started again after; in ms since the first segment.
    kills: Vec<(i64, i64)>,
    /// Of a thousand parts, so many are lost on the way.
    loss: u64,
    /// A segment that lost a part is sent again as a whole.
    heals: bool,
}

#[derive(Clone, Debug)]
struct Scenario {
    pipelines: [Pipeline; 2],
    seed: u64,
    /// How the other origins answer: 0 at once and alike, 1 after 30 ms and alike, 2 with any letter.
    agreement: u8,
}

fn pipeline() -> impl Strategy<Value = Pipeline> {
    let kills = prop::collection::vec((0i64..18_000, 0i64..6_000), 0..3);
    let loss = prop::sample::select(vec![0u64, 0, 20, 200]);
    (100i64..400, kills, loss, any::<bool>()).prop_map(|(delay_ms, kills, loss, heals)| Pipeline {
        delay_ms,
        kills,
        loss,
        heals,
    })
}

fn scenario() -> impl Strategy<Value = Scenario> {
    ([pipeline(), pipeline()], any::<u64>(), 0u8..3).prop_map(|(pipelines, seed, agreement)| Scenario {
        pipelines,
        seed,
        agreement,
    })
}

/// Any number, the same for the same question (splitmix64).
fn dice(seed: u64, question: &[u64]) -> u64 {
    question.iter().fold(seed, |state, n| {
        let mut z = state.wrapping_add(*n).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Object {
    Part(usize, Position, Letter),
    Whole(usize, u64, Letter),
    Agreed(usize, u64, Letter),
}

/// A segment of a track that a pipeline delivered without a loss.
type Perfect = (usize, u64, Letter);

/// The deliveries in order of arrival, and which segments each pipeline delivered without a loss.
fn deliveries(s: &Scenario) -> (Vec<(Utc, Object)>, Vec<Perfect>) {
    let mut all = Vec::new();
    let mut perfect = Vec::new();
    let start = EPOCH.plus(grid().segment_start(FIRST));
    for letter in Letter::ALL {
        let p = &s.pipelines[letter.index()];
        let up = |at: Utc| {
            !p.kills.iter().any(|(from, down)| (later(start, *from)..later(start, from + down)).contains(&at))
        };
        // After a start a pipeline begins at the next segment.
        let mut running = [true; TRACKS.len()];
        for msn in FIRST..FIRST + SEGMENTS {
            for (track, running) in running.iter_mut().enumerate() {
                *running |= up(EPOCH.plus(grid().segment_start(msn)));
                let mut lost = false;
                let mut dead = false;
                for part in 0..grid().parts() {
                    let position = at(msn, part);
                    let question = [letter.index() as u64, track as u64, msn, u64::from(part)];
                    let jitter = (dice(s.seed, &question) % JITTER_MS as u64) as i64;
                    let arrives = later(over(position), p.delay_ms + jitter);
                    *running &= up(over(position)) && up(arrives);
                    dead |= !*running;
                    if dead {
                        continue;
                    }
                    let fate = dice(s.seed ^ 1, &question) % 1_000;
                    if fate < p.loss {
                        lost = true;
                        continue;
                    }
                    all.push((arrives, Object::Part(track, position, letter)));
                    if fate.is_multiple_of(7) {
                        all.push((later(arrives, 40), Object::Part(track, position, letter)));
                    }
                }
                let done = later(over(at(msn, grid().parts() - 1)), p.delay_ms + JITTER_MS + 100);
                match (dead, lost) {
                    (false, true) if p.heals => all.push((done, Object::Whole(track, msn, letter))),
                    (false, false) => perfect.push((track, msn, letter)),
                    _ => {}
                }
            }
        }
    }
    all.sort_by_key(|(at, _)| *at);
    (all, perfect)
}

struct Run {
    programme: Programme,
    scenario: Scenario,
    /// Answers of the other origins that are on their way.
    answers: Vec<(Utc, Object)>,
    /// The playlist of each track when last looked at.
    seen: Vec<Option<Playlist>>,
    /// When each part was first here, by either pipeline.
    here: BTreeMap<(usize, Position), Utc>,
}

impl Run {
    fn new(scenario: Scenario) -> Run {
        let window = Window { length: hour(), bytes: u64::MAX };
        let mut programme = Programme::new(announced(), window).unwrap();
        let (id, bytes) = init(0);
        for track in TRACKS {
            programme.put_init(&token(track), id, bytes.clone(), EPOCH).unwrap();
        }
        Run { programme, scenario, answers: vec![], seen: vec![None; 2], here: BTreeMap::new() }
    }

    /// Lets the clock run, with every timer firing when it is due.
    fn run_to(&mut self, until: Utc) {
        loop {
            let answer = self.answers.iter().map(|(at, _)| *at).min();
            let next = answer.into_iter().chain(self.programme.next_deadline()).min();
            let Some(now) = next.filter(|at| *at < until) else { return };
            if answer == Some(now) {
                let i = self.answers.iter().position(|(at, _)| *at == now).unwrap();
                if let (_, Object::Agreed(track, msn, letter)) = self.answers.remove(i) {
                    self.programme.agreed(track, msn, letter, now);
                }
            } else {
                self.programme.tick(now);
                let next = self.programme.next_deadline();
                assert!(next.is_none_or(|next| next > now), "the timer is due again at once");
            }
            self.settle(now);
        }
    }

    fn deliver(&mut self, now: Utc, object: Object) {
        let defect = |track: usize, msn, part: u32, letter: Letter| {
            // Flawed, but of full length, at times; and a jump of the feed's clock in both.
            let flaw =
                dice(self.scenario.seed ^ 2, &[track as u64, msn, u64::from(part), letter as u64]) % 40;
            let jump = part == 0 && dice(self.scenario.seed ^ 3, &[msn]).is_multiple_of(12);
            let flaw = (flaw == 0).then_some(Defect::Missing);
            flaw.into_iter().chain(jump.then_some(Defect::TimeJump)).collect::<Vec<_>>()
        };
        match object {
            Object::Part(track, at, letter) => {
                let meta = with(part_meta(at), &defect(track, at.msn, at.part, letter));
                let bytes = part_bytes(TRACKS[track], at, letter);
                let put = self.programme.put_part(&token(TRACKS[track]), at, letter, meta, bytes, now);
                put.unwrap();
                self.here.entry((track, at)).or_insert(now);
            }
            Object::Whole(track, msn, letter) => {
                let bytes = segment_bytes(TRACKS[track], msn, letter);
                let name = token(TRACKS[track]);
                self.programme.put_segment(&name, msn, letter, segment_meta(msn), bytes, now).unwrap();
            }
            Object::Agreed(..) => unreachable!(),
        }
        self.settle(now);
    }

    /// Answers what the core asks, and checks everything that can be seen.
    fn settle(&mut self, now: Utc) {
        loop {
            let events = self.programme.take_events();
            if events.is_empty() {
                break;
            }
            for (track, event) in events {
                let Event::Propose { msn, letter } = event else { continue };
                match self.scenario.agreement {
                    0 => self.programme.agreed(track, msn, letter, now),
                    1 => self.answers.push((later(now, 30), Object::Agreed(track, msn, letter))),
                    _ => {
                        let roll = dice(self.scenario.seed ^ 4, &[track as u64, msn]);
                        let letter = if roll.is_multiple_of(4) { letter.other() } else { letter };
                        let wait = (roll / 4 % 50) as i64;
                        self.answers.push((later(now, wait), Object::Agreed(track, msn, letter)));
                    }
                }
            }
        }
        for track in 0..TRACKS.len() {
            self.check(track, now);
        }
    }

    fn check(&mut self, track: usize, now: Utc) {
        let media = self.programme.snapshot(track);
        if media.last().is_none() {
            return;
        }
        let list = hls::read::playlist(&hls::render(&media, false, &hls::flavour::FLAVOURS[0])).unwrap();
        let mut violations = hls::check::one(&list);
        if let Some(earlier) = &self.seen[track] {
            violations.extend(hls::check::two(earlier, &list));
        }
        assert!(violations.is_empty(), "{track} at {now}: {violations:?}");

        let core = &self.programme.tracks()[track];
        let clock = self.programme.clock(now);
        for segment in media.segments.iter() {
            if let Some(letter) = segment.source {
                let Found::Here(chunks) = core.segment(segment.msn, letter, clock) else {
                    panic!("segment {} is listed and not there", segment.msn);
                };
                let bytes: Vec<u8> = chunks.iter().flat_map(|c| c.to_vec()).collect();
                assert_eq!(bytes, segment_bytes(TRACKS[track], segment.msn, letter));
            }
        }
        let closed = media.segments.iter().filter(|s| s.msn >= media.parts_from()).map(|s| (s.msn, &s.parts));
        for (msn, parts) in closed.chain(media.open.iter().map(|o| (o.msn, &o.parts))) {
            for part in parts {
                let found = core.part(at(msn, part.index), part.letter, clock);
                match part.gap {
                    true => assert_eq!(found, Found::Never),
                    false => {
                        let bytes = part_bytes(TRACKS[track], at(msn, part.index), part.letter);
                        assert_eq!(found, Found::Here(vec![bytes]));
                    }
                }
            }
        }
        if let Some(hint) = media.hint {
            assert_ne!(core.part(hint.at, hint.letter, clock), Found::Never, "{hint:?}");
        }

        // Nothing that is here waits for what will not come any longer than all the waits there are.
        let spread = 300 + JITTER_MS;
        let waits = (PREFER_A_WAIT + PART_PATIENCE + WHOLE_WAIT).as_millis() as i64 + 50 + spread;
        let overdue = self
            .here
            .iter()
            .find(|((t, at), since)| *t == track && *at >= media.next() && later(**since, waits) < now);
        assert_eq!(overdue, None, "{track} stands at {:?} at {now}", media.next());
        self.seen[track] = Some(list);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn valid_at_every_step(scenario in scenario()) {
        let (deliveries, perfect) = deliveries(&scenario);
        let mut run = Run::new(scenario);
        for (now, object) in deliveries {
            run.run_to(now);
            run.deliver(now, object);
        }
        let last = FIRST + SEGMENTS - 1;
        let end = later(over(at(last, grid().parts() - 1)), 400);
        run.run_to(end);
        run.programme.put_end(last, end).unwrap();
        run.settle(end);
        run.run_to(later(end, 60_000));
        for (track, name) in TRACKS.iter().enumerate() {
            let media = run.programme.snapshot(track);
            let Some(first) = media.segments.front().map(|s| s.msn) else { continue };
            prop_assert!(media.ended, "{} has not ended", name);
            prop_assert_eq!(media.segments.back().unwrap().msn, last);
            // Whatever one pipeline delivered whole and in time is no gap for ordinary players.
            for (_, msn, letter) in perfect.iter().filter(|(t, msn, _)| *t == track && *msn >= first) {
                let segment = &media.segments[(msn - first) as usize];
                prop_assert!(segment.source.is_some(), "{} {} was delivered whole by {}", name, msn, letter);
            }
        }
    }
}
