//! Real Chromium before an encrypted match: `tests/browser/encrypted.mjs`.

#![allow(clippy::unwrap_used, missing_docs)]

use std::path::Path;
use std::process::Command;

use e2e::all::{Match, Options};
use timeline::{Grid, Utc};

/// Segments of a period.
const PERIOD: u64 = 8;
/// The first encrypted segment. A match begins a minute after its epoch, and has this much time to start and to be watched
/// before.
const CLEAR: u64 = 64;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_plays_what_is_encrypted() {
    let (period, clear) = (PERIOD.to_string(), CLEAR.to_string());
    let more = vec!["--drm", "cbcs", "--drm-period", &period, "--drm-clear-lead", &clear];
    let game = Match::start(&Options { more, ..Options::default() }).await;
    // What Shaka cannot begin with is a playlist without a whole segment.
    game.has_a_past().await;
    let grid = Grid::for_frame_rate("25".parse().unwrap()).unwrap();
    let at = |msn: u64| {
        let epoch: Utc = game.ports().epoch;
        (epoch.0 as f64 / 1e3 + grid.segment_start(msn).seconds() * 1e3).to_string()
    };
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("browser/encrypted.mjs");
    // Viewers' browsers are on other machines than encoders.
    let status = Command::new("nice")
        .args(["-n", "10", "node", "--test", "--test-reporter=spec"])
        .arg(suite)
        .env("PAVILION_URL", game.ports().app)
        .env("PAVILION_METRICS", game.ports().metrics)
        .env("JOIN_MS", at(CLEAR))
        .env("ROTATION_MS", at(CLEAR + PERIOD))
        .status()
        .unwrap();
    assert!(status.success(), "{status}");
}
