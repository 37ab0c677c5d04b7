//! Two feeds that lose, repeat, reorder, pause and correct, in simulated time: what is published is right.

#![allow(clippy::unwrap_used)]

mod ingest_world;

use std::collections::BTreeMap;

use ingest_world::{START_MS, World, check, feeds, play, truth};
use scores::feeds::replay::{Corrections, Faults, Player, script};
use scores::{Recording, Sport};

const SEEDS: u64 = 1_000;

/// The start of the shipped match: long enough for wickets and reviews, short enough for a thousand of them.
fn recording() -> Recording {
    let mut recording = Recording::read(scores::recording::DEMO).unwrap();
    recording.statements.truncate(60);
    recording
}

fn run(seeds: u64, kills: usize, same_mistakes: bool) {
    let recording = recording();
    let truth = truth(&recording);
    let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
    for seed in 0..seeds {
        let (mut feeds, end_ms) = feeds(seed, &recording, same_mistakes);
        let mut rng = fastrand::Rng::with_seed(!seed);
        let kills: Vec<i64> = (0..kills).map(|_| rng.i64(START_MS..end_ms)).collect();
        let world = play(seed, &mut feeds, &kills, end_ms);
        check(seed, &world.spine, &truth);
        for (outcome, count) in world.outcomes {
            *outcomes.entry(outcome).or_default() += count;
        }
    }
    // Every way was gone, and often.
    for outcome in ["Published", "Duplicate", "Superseded", "Disagrees", "Waits"] {
        let count = outcomes.get(outcome).copied().unwrap_or(0);
        assert!(count > 10, "only {count} of {outcome}: {outcomes:?}");
    }
}

#[test]
fn two_bad_feeds_with_the_same_mistakes_end_right() {
    run(SEEDS, 0, true);
}

#[test]
fn two_bad_feeds_with_mistakes_of_their_own_end_right() {
    run(SEEDS / 4, 0, false);
}

#[test]
fn killing_ingest_loses_and_doubles_nothing() {
    run(SEEDS / 4, 3, true);
}

/// One feed that is away for good: the other alone carries the match.
#[test]
fn one_feed_alone_ends_right() {
    let recording = recording();
    for alone in 0..2 {
        for seed in 0..SEEDS / 10 {
            let (mut feeds, end_ms) = feeds(seed, &recording, true);
            let world = play(seed, &mut feeds[alone..=alone], &[], end_ms);
            check(seed, &world.spine, &truth(&recording));
        }
    }
}

/// The test can fail: without asking again, something is lost.
#[test]
fn a_feed_that_is_not_asked_again_would_lose() {
    let recording = recording();
    let said = script(&recording, "demo", START_MS, 4.0, Corrections::NONE);
    let mut player = Player::new(Sport::Cricket, said.clone(), Faults { loss: 0.05, ..Faults::default() }, 3);
    let mut world = World::new(Sport::Cricket, Vec::new());
    let mut arrived = 0;
    player.connected(START_MS, 0);
    for now_ms in (START_MS..said.last().unwrap().venue_ms + 1_000).step_by(250) {
        player.acked(now_ms, u64::MAX);
        for statement in player.due(now_ms) {
            arrived += 1;
            world.core.take("a", statement, &world.catalog, now_ms, &mut world.spine);
        }
    }
    assert!(arrived < said.len() && world.spine.len() == arrived);
    assert!(!world.core.missing("a").is_empty());
}
