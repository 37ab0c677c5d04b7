use super::super::limits::{AHEAD_MAX_MS, EARLY_MAX_MS, GAP_MAX_MS, REVISION_MAX, WAITING_MAX};
use super::*;
use crate::catalog::Status;
use crate::{Body, Sport};

const NOW: i64 = 1_764_490_000_000;

struct World {
    core: Core,
    catalog: Catalog,
    out: Vec<Event>,
    now_ms: i64,
}

fn entry(id: &str, status: Status) -> Match {
    Match {
        id: id.into(),
        title: "A v B".into(),
        sport: Sport::Cricket,
        teams: ["A".into(), "B".into()],
        status,
        countries: None,
        cadence_s: None,
        start_ms: NOW,
    }
}

impl World {
    /// Provider a has revisions, q has none.
    fn new() -> World {
        let catalog = Catalog::new([
            entry("demo", Status::Live),
            entry("over", Status::Final),
            entry("soon", Status::Scheduled),
        ]);
        let mut core = Core::new(["q".to_owned()]);
        catalog.matches().for_each(|entry| core.open(entry));
        World { core, catalog, out: Vec::new(), now_ms: NOW }
    }

    /// As after a kill: what is known is what is in the spine.
    fn restarted(self) -> World {
        let mut world = World { now_ms: self.now_ms, ..World::new() };
        self.out.iter().for_each(|event| world.core.recall(event));
        World { out: self.out, ..world }
    }

    fn take(&mut self, provider: &str, statement: Statement) -> Outcome {
        self.core.take(provider, statement, &self.catalog, self.now_ms, &mut self.out)
    }

    /// With a revision: the first ball went for so many runs.
    fn a(&mut self, seq: u64, revision: u32, runs: u32) -> Outcome {
        self.take("a", Statement { revision: Some(revision), ..ball(seq, 1, runs) })
    }

    /// Without one.
    fn q(&mut self, seq: u64, runs: u32) -> Outcome {
        self.take("q", ball(seq, 1, runs))
    }

    /// Something else, so that a number is used.
    fn q_other(&mut self, seq: u64) {
        self.take("q", ball(seq, 1 + seq as u32, 0));
    }

    /// What was published of the first ball: revisions and runs.
    fn published(&self) -> Vec<(u32, u32)> {
        let of = |event: &Event| match &event.body {
            Body::Cricket(crate::cricket::Happening { at, what: crate::cricket::Kind::Delivery(ball) })
                if at.ball == 1 =>
            {
                Some((event.revision, ball.runs))
            }
            _ => None,
        };
        self.out.iter().filter_map(of).collect()
    }
}

fn ball(seq: u64, ball: u32, runs: u32) -> Statement {
    let body = serde_json::json!({"sport": "cricket", "at": {"innings": 1, "over": 0, "ball": ball, "slot": 0},
        "kind": "delivery", "batter": "A", "non_striker": "B", "bowler": "C", "runs": runs});
    let body = serde_json::from_value(body).unwrap();
    Statement { seq, match_id: "demo".into(), venue_ms: NOW, revision: None, body }
}

#[test]
fn the_faster_wins_and_a_higher_revision_supersedes() {
    let mut world = World::new();
    assert_eq!(world.a(1, 1, 4), Outcome::Published);
    assert_eq!(world.q(1, 4), Outcome::Duplicate);
    assert_eq!(world.a(1, 1, 4), Outcome::Duplicate);
    assert_eq!(world.q(2, 6), Outcome::Published, "its second content is revision 2");
    assert_eq!(world.a(2, 2, 6), Outcome::Duplicate);
    assert_eq!(world.a(3, 2, 5), Outcome::Disagrees, "the first content stands");
    assert_eq!(world.a(4, 1, 5), Outcome::Superseded);
    assert_eq!(world.a(5, 4, 3), Outcome::Published, "a revision may be missed");
    assert_eq!(world.a(6, 3, 2), Outcome::Superseded, "and is never published afterwards");
    assert_eq!(world.published(), [(1, 4), (2, 6), (4, 3)]);
    assert_eq!(world.core.contiguous("a"), 6);
}

#[test]
fn a_slow_feed_of_old_contents_publishes_nothing() {
    let mut world = World::new();
    for (revision, runs) in [(1, 4), (2, 6), (3, 5)] {
        world.a(u64::from(revision), revision, runs);
    }
    assert_eq!(world.q(1, 4), Outcome::Superseded);
    assert_eq!(world.q(2, 6), Outcome::Superseded);
    assert_eq!(world.q(3, 5), Outcome::Duplicate);
    assert_eq!(world.q(4, 1), Outcome::Published);
    assert_eq!(world.published().last(), Some(&(4, 1)));
}

#[test]
fn a_feed_that_was_right_at_once_stays_right() {
    let mut world = World::new();
    world.a(1, 1, 4);
    world.a(2, 2, 6);
    assert_eq!(world.q(1, 6), Outcome::Duplicate, "its first content is revision 2, by what it says");
    assert_eq!(world.q(2, 5), Outcome::Published);
    assert_eq!(world.published().last(), Some(&(3, 5)));
}

#[test]
fn a_correction_waits_for_the_gap_before_it() {
    let mut world = World::new();
    world.a(1, 1, 4);
    assert_eq!(world.q(2, 6), Outcome::Waits, "number 1 may have been the four");
    assert_eq!(world.q(2, 6), Outcome::Waits);
    assert_eq!(world.q(1, 4), Outcome::Superseded);
    assert_eq!(world.published(), [(1, 4), (2, 6)]);

    // The gap was about something else: then the two feeds disagree, and the first stands.
    let mut world = World::new();
    world.a(1, 1, 4);
    assert_eq!(world.q(2, 6), Outcome::Waits);
    world.q_other(1);
    assert_eq!(world.published(), [(1, 4)]);
    assert_eq!(world.core.gaps("q"), (0, 0));
    assert_eq!(world.q(3, 5), Outcome::Published, "but its next word is a correction");

    // The other feed says it meanwhile.
    let mut world = World::new();
    world.a(1, 1, 4);
    assert_eq!(world.q(2, 6), Outcome::Waits);
    assert_eq!(world.a(2, 2, 6), Outcome::Published);
    world.core.tick(world.now_ms, &mut world.out);
    assert_eq!((world.published(), world.core.gaps("q")), (vec![(1, 4), (2, 6)], (1, 0)));
}

#[test]
fn a_gap_that_does_not_close_loses_no_correction() {
    let mut world = World::new();
    world.a(1, 1, 4);
    assert_eq!(world.q(2, 6), Outcome::Waits);
    world.core.tick(NOW + GAP_MAX_MS - 1, &mut world.out);
    assert_eq!(world.published(), [(1, 4)]);
    world.core.tick(NOW + GAP_MAX_MS, &mut world.out);
    assert_eq!(world.published(), [(1, 4), (2, 6)]);
    // What closes it at last changes nothing; the next is a revision more.
    assert_eq!(world.q(1, 4), Outcome::Superseded);
    assert_eq!(world.q(3, 5), Outcome::Published);
    assert_eq!(world.published(), [(1, 4), (2, 6), (3, 5)]);
}

#[test]
fn what_is_gone_is_waited_for_no_longer() {
    let mut world = World::new();
    world.a(1, 1, 4);
    assert_eq!(world.q(3, 6), Outcome::Waits);
    world.core.gone("q", &[(1, 1)], NOW, &mut world.out);
    assert_eq!((world.core.contiguous("q"), world.core.gaps("q")), (1, (1, 1)));
    world.core.gone("q", &[(2, 2)], NOW, &mut world.out);
    assert_eq!((world.core.contiguous("q"), world.core.gaps("q")), (3, (0, 0)));
    // One that never comes, however often asked for, is gone too.
    assert_eq!(world.q(5, 3), Outcome::Published);
    assert_eq!(world.core.missing("q"), [(4, 4)]);
    let (mut now_ms, mut given_up) = (NOW, Vec::new());
    while given_up.is_empty() {
        now_ms += 1_000;
        world.core.ask("q", now_ms);
        given_up = world.core.give_up("q", now_ms, &mut world.out);
    }
    assert_eq!((given_up, world.core.contiguous("q")), (vec![(4, 4)], 5));
}

#[test]
fn what_a_gap_hid_makes_the_newest_a_revision_more() {
    let mut world = World::new();
    assert_eq!(world.q(1, 4), Outcome::Published);
    assert_eq!(world.q(3, 4), Outcome::Duplicate);
    assert_eq!(world.a(1, 2, 6), Outcome::Published);
    // Between the two fours it had said six: the second four is its third word, and the last.
    assert_eq!(world.q(2, 6), Outcome::Superseded);
    assert_eq!(world.published(), [(1, 4), (2, 6), (3, 4)]);
}

#[test]
fn a_replay_after_a_restart_publishes_nothing_old() {
    let mut world = World::new();
    world.q_other(9);
    assert_eq!(world.q(12, 5), Outcome::Published, "its third word, but the two before are lost for now");
    let mut world = world.restarted();
    assert_eq!(world.core.contiguous("q"), 0);
    assert_eq!(world.q(10, 4), Outcome::Superseded, "never shown: it is older than what stands");
    assert_eq!(world.q(11, 6), Outcome::Superseded);
    assert_eq!(world.q(12, 5), Outcome::Duplicate);
    assert!(world.published().iter().all(|(_, runs)| *runs == 5), "{:?}", world.published());
    assert_eq!(world.a(1, 2, 6), Outcome::Superseded);
    assert_eq!(world.q(13, 1), Outcome::Published);
    let mut world = world.restarted();
    let before = world.out.len();
    for (seq, runs) in [(10, 4), (11, 6), (12, 5), (13, 1), (12, 5)] {
        world.q(seq, runs);
    }
    assert_eq!(world.out.len(), before);
}

#[test]
fn another_ingest_has_the_last_word() {
    let mut world = World::new();
    world.a(1, 1, 4);
    // The other one was first with revision 1, and has a 2.
    for (revision, runs) in [(1, 6), (2, 5)] {
        let mut event = world.out[0].clone();
        event.revision = revision;
        event.body = ball(1, 1, runs).body;
        event.provider_id = "b".into();
        world.core.recall(&event);
    }
    assert_eq!(world.a(2, 1, 4), Outcome::Superseded);
    assert_eq!(world.q(1, 6), Outcome::Superseded);
    assert_eq!(world.q(2, 5), Outcome::Duplicate);
}

#[test]
fn what_cannot_be_is_refused_and_the_feed_goes_on() {
    let mut world = World::new();
    let refused = |outcome: Outcome, word: &str| match outcome {
        Outcome::Refused(why) => assert!(why.contains(word), "{why}"),
        other => panic!("{other:?}"),
    };
    let of = |seq, id: &str| Statement { match_id: id.into(), ..ball(seq, 1, 4) };
    refused(world.take("q", of(1, "nowhere")), "no match");
    refused(world.take("q", of(2, "over")), "not live");
    refused(world.take("q", of(3, "soon")), "not live");
    refused(world.take("q", Statement { venue_ms: NOW + AHEAD_MAX_MS + 1, ..ball(4, 1, 4) }), "not happened");
    refused(world.take("q", Statement { venue_ms: NOW - EARLY_MAX_MS - 1, ..ball(5, 1, 4) }), "long before");
    refused(world.take("a", Statement { revision: Some(0), ..ball(1, 1, 4) }), "revision");
    refused(world.take("a", Statement { revision: Some(REVISION_MAX + 1), ..ball(2, 1, 4) }), "revision");
    refused(world.take("q", ball(6, 1, 1_000)), "");
    refused(world.take("q", ball(10_000_000, 1, 4)), "too far ahead");
    assert_eq!(world.q(7, 4), Outcome::Published);
    refused(world.q(7, 6), "something else");
    assert_eq!((world.core.contiguous("q"), world.core.contiguous("a")), (7, 2));
    assert_eq!(world.published(), [(1, 4)]);
}

#[test]
fn a_match_that_is_over_takes_its_replay() {
    let mut world = World::new();
    let event = Event {
        match_id: "over".into(),
        ..{
            world.a(1, 1, 4);
            world.out[0].clone()
        }
    };
    world.core.recall(&event);
    assert_eq!(world.take("q", Statement { match_id: "over".into(), ..ball(1, 1, 4) }), Outcome::Duplicate);
}

#[test]
fn a_match_that_was_forgotten_is_known_again_from_its_spine() {
    let mut world = World::new();
    world.a(1, 1, 4);
    world.q(2, 6);
    assert_eq!(world.core.silent_since(NOW).collect::<Vec<_>>(), ["over", "soon"]);
    world.core.close("demo");
    assert!(!world.core.knows("demo"));
    assert_eq!(world.core.gaps("q"), (1, 0), "its numbers are of all its matches");
    world.core.open(&entry("demo", Status::Live));
    world.out.clone().iter().for_each(|event| world.core.recall(event));
    assert_eq!(world.a(1, 1, 4), Outcome::Duplicate);
    assert_eq!(world.q(1, 4), Outcome::Duplicate);
    assert_eq!(world.q(2, 6), Outcome::Published);
}

#[test]
fn what_waits_is_bounded() {
    let mut world = World::new();
    let balls = WAITING_MAX as u32 + 10;
    for n in 1..=balls {
        world.take("a", Statement { revision: Some(1), ..at(u64::from(n), n, 4) });
    }
    for n in 1..=balls {
        world.take("q", at(u64::from(n) + 1, n, 6));
    }
    assert_eq!(world.core.gaps("q"), (1, WAITING_MAX));
    assert_eq!(world.out.len(), balls as usize + 10, "what has no room counts as the next revision at once");
}

/// The n-th ball of the innings.
fn at(seq: u64, n: u32, runs: u32) -> Statement {
    let mut statement = ball(seq, 1, runs);
    if let Body::Cricket(happening) = &mut statement.body {
        happening.at = crate::cricket::Place::ball(1, n / 6, 1 + n % 6);
    }
    statement
}
