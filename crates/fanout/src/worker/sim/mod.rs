//! The whole way of the score in simulated time: two bad feeds and ingest, the log, a shard, the relay, two socket edges,
//! viewers of every transport. Every part but the scorer may be killed, every connection cut or gone silent, at any moment.
//!
//! What is ours is what runs: ingest's core, the shard's fold, the relay's two ends over pipes, the feed, and workers that
//! are stepped by hand over socket pairs. The viewers are written here and know only what `docs/client.md` says.
#![allow(clippy::unwrap_used, reason = "a failed test may panic")]

mod edge;
mod ground;
mod viewer;

#[path = "../../../../scores/tests/ingest_world/mod.rs"]
#[allow(dead_code, unreachable_pub, reason = "its own tests use the rest")]
mod ingest_world;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use scores::{Body, Book, Event, EventId, Recording, Sport, recording};

use edge::Edge;
use ground::Ground;
use viewer::{How, Viewer};

/// How finely time passes.
const STEP: Duration = Duration::from_millis(20);
/// How long everything may take to be right after the last fault: silence is noticed after 1.75 s, and there are waits
/// before trying again.
const END_STEPS: u32 = 1_000;
/// Statements of a match: some wickets, reviews and corrections, and few enough for a thousand matches.
const STATEMENTS: usize = 26;

/// What happened over many seeds, so that a world in which nothing goes wrong is noticed.
#[derive(Default)]
struct Tally([AtomicU64; 8]);

/// What is counted.
#[derive(Clone, Copy, Debug)]
enum What {
    ShardKills,
    EdgeKills,
    Cuts,
    Silences,
    Drops,
    Resumes,
    Snapshots,
    Overtaken,
}

impl Tally {
    fn add(&self, what: What, n: u64) {
        self.0[what as usize].fetch_add(n, Ordering::Relaxed);
    }
}

/// What two bad feeds and a killed ingest make of a match, in the order of the log; and what must stand in the end.
fn played(seed: u64, recording: &Recording) -> (Vec<Event>, BTreeMap<EventId, Body>) {
    let mut rng = fastrand::Rng::with_seed(!seed);
    let (mut feeds, end_ms) = ingest_world::feeds(seed, recording, seed.is_multiple_of(2));
    let kills: Vec<i64> = (0..seed % 3).map(|_| rng.i64(ingest_world::START_MS..end_ms)).collect();
    let world = ingest_world::play(seed, &mut feeds, &kills, end_ms);
    let truth = ingest_world::truth(recording);
    ingest_world::check(seed, &world.spine, &truth);
    let mut events = world.spine;
    // Two ingests on one log: a lower revision may be written after a higher one.
    for n in 1..events.len() {
        let overtakes = events[n].revision > 1 && rng.u8(..3) == 0;
        let before = events[..n].iter().rposition(|e| e.event_id == events[n].event_id).filter(|_| overtakes);
        if let Some(before) = before {
            let late = events.remove(before);
            events.insert(n, late);
        }
    }
    (events, truth.into_iter().map(|(id, body)| (id, body.clone())).collect())
}

/// One match. `broken` breaks viewers on purpose, to show that it would be noticed.
fn live(seed: u64, recording: &Recording, tally: &Tally, broken: bool) {
    let (events, truth) = played(seed, recording);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    fastrand::seed(seed);
    let viewers = runtime.block_on(watched(seed, events, &truth, tally, broken));
    let card = seed.is_multiple_of(10).then(|| {
        let mut book = Book::new(Sport::Cricket);
        let events = recording.events(ground::MATCH, ingest_world::START_MS, 4.0);
        events.iter().for_each(|event| {
            book.take(event);
        });
        serde_json::to_value(book.card(None)).unwrap()
    });
    viewers.iter().for_each(|viewer| viewer.check(&truth, card.as_ref()));
}

async fn watched(
    seed: u64,
    events: Vec<Event>,
    truth: &BTreeMap<EventId, Body>,
    tally: &Tally,
    broken: bool,
) -> Vec<Viewer> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut ground = Ground::new(rng.fork(), seed.is_multiple_of(10));
    let early = rng.usize(..=events.len() / 2);
    events[..early].iter().for_each(|event| ground.append(event));
    ground.start_shard();
    let window = Duration::from_millis([0, 60, 200][rng.usize(..3)]);
    let mut edges = Vec::new();
    for _ in 0..2 {
        edges.push(Edge::start(&ground, window).await);
    }
    let mut viewers: Vec<Viewer> = [How::Json, How::Proto, How::Sse, How::Poll]
        .map(|how| Viewer::new(seed, how, rng.fork(), broken))
        .into();
    let mut waiting = events[early..].iter().peekable();
    let mut calm = 0;
    while calm < END_STEPS {
        if waiting.peek().is_some() {
            for _ in 0..[0, 0, 1, 1, 2, 6][rng.usize(..6)] {
                waiting.next().into_iter().for_each(|event| ground.append(event));
            }
            match rng.u32(..90) {
                0 => {
                    tally.add(What::ShardKills, 1);
                    ground.kill_shard();
                }
                1 => {
                    tally.add(What::EdgeKills, 1);
                    let n = rng.usize(..edges.len());
                    edges[n].kill();
                    edges[n] = Edge::start(&ground, window).await;
                }
                2 => {
                    tally.add(What::Cuts, 1);
                    ground.cut();
                }
                3 => {
                    tally.add(What::Silences, 1);
                    ground.fall_silent();
                }
                4 if seed.is_multiple_of(8) => ground.begin_anew(),
                5..=14 => {
                    tally.add(What::Drops, 1);
                    let n = rng.usize(..viewers.len());
                    viewers[n].drop_connection();
                }
                _ => {}
            }
        } else {
            calm += 1;
            // A client whose connection is well has no reason to be anywhere else.
            if ground.is_here() && viewers.iter().all(|viewer| viewer.knows(truth)) {
                break;
            }
        }
        ground.step();
        tokio::time::sleep(STEP).await;
        for viewer in &mut viewers {
            viewer.step(&mut edges, &ground);
        }
        edges.iter_mut().for_each(Edge::step);
    }
    for viewer in &viewers {
        tally.add(What::Resumes, viewer.resumes);
        tally.add(What::Snapshots, viewer.snapshots);
    }
    tally.add(What::Overtaken, ground.overtaken());
    viewers
}

fn recording() -> Recording {
    let mut recording = Recording::read(recording::DEMO).unwrap();
    recording.statements.truncate(STATEMENTS);
    recording
}

/// All seeds, on all cores.
fn over(seeds: u64) -> Tally {
    let (recording, tally, next) = (recording(), Tally::default(), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds {
                        break;
                    }
                    live(seed, &recording, &tally, false);
                }
            });
        }
    });
    tally
}

#[test]
fn every_viewer_ends_right_and_is_told_each_revision_once_and_never_backwards() {
    let tally = over(1_000);
    // Everything that can go wrong did, and often.
    for what in [
        What::ShardKills,
        What::EdgeKills,
        What::Cuts,
        What::Silences,
        What::Drops,
        What::Resumes,
        What::Snapshots,
        What::Overtaken,
    ] {
        let count = tally.0[what as usize].load(Ordering::Relaxed);
        println!("{what:?}: {count}");
        assert!(count > 100, "only {count} of {what:?}");
    }
}

/// It can fail: viewers that forget where they were do not end right, or are told things twice.
#[test]
fn a_viewer_that_resumes_from_the_wrong_place_is_noticed() {
    let recording = recording();
    let noticed = (0..10).filter(|seed| {
        let run = || live(*seed, &recording, &Tally::default(), true);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err()
    });
    assert!(noticed.count() > 0);
}
