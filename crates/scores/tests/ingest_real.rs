//! Real matches through two bad feeds, killed ingest and all: the card is the one that the file alone gives.

#![allow(clippy::unwrap_used)]

mod ingest_world;

use std::path::PathBuf;

use ingest_world::{START_MS, check, feeds, play, truth};
use scores::{Book, Event, Recording, Sport};

/// For each match. The simulation of the shipped match has more.
const SEEDS: u64 = 24;

/// Real matches are not ours to ship: they are beside the checkout, or where `PAVILION_SHARED_DATA` says.
fn recordings() -> Vec<Recording> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let data = std::env::var_os("PAVILION_SHARED_DATA").map_or_else(beside, PathBuf::from);
    let mut recordings = Vec::new();
    for name in ["1216517.json", "1254115.json", "1254117.json"] {
        let path = data.join("cricsheet").join(name);
        match std::fs::read_to_string(&path) {
            Ok(text) => recordings.push(Recording::from_cricsheet(&text).unwrap()),
            Err(_) => eprintln!("skipped: there is no {} (set PAVILION_SHARED_DATA)", path.display()),
        }
    }
    recordings
}

fn card<'a>(events: impl IntoIterator<Item = &'a Event>) -> serde_json::Value {
    let mut book = Book::new(Sport::Cricket);
    for event in events {
        book.take(event);
    }
    serde_json::to_value(book.card(None)).unwrap()
}

#[test]
fn real_matches_end_with_their_own_card() {
    for recording in recordings() {
        let whole = card(&recording.events("demo", START_MS, 4.0));
        let truth = truth(&recording);
        for seed in 0..SEEDS {
            let (mut feeds, end_ms) = feeds(seed, &recording, seed.is_multiple_of(2));
            let mut rng = fastrand::Rng::with_seed(!seed);
            let kills: Vec<i64> = (0..seed % 4).map(|_| rng.i64(START_MS..end_ms)).collect();
            let world = play(seed, &mut feeds, &kills, end_ms);
            check(seed, &world.spine, &truth);
            assert_eq!(card(&world.spine), whole, "{}, seed {seed}", recording.title);
        }
    }
}
