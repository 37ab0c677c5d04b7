//! Real Chromium before a match: the suites of `tests/browser`.

#![allow(clippy::unwrap_used, missing_docs)]

use std::path::{Path, PathBuf};
use std::process::Command;

use e2e::all::{Match, Options};
use e2e::setting;

/// Seconds that each player watches each profile.
const SECONDS: usize = 30;
/// Kills while each player watches.
const KILLS: usize = 4;
/// Of node and the browsers.
const NICE: &str = "10";
/// How long a pass is good before it is renewed: each watching sees some renewals.
const PASS_LIFE_S: &str = "12";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_plays() {
    let options = Options {
        // Two pipelines, two rungs and Chromium on two slow cores, with something to spare.
        size: "480x270",
        ladder: "270@500,180@300",
        scores: true,
        passes: true,
        // Renewed every ten seconds or so, in all suites.
        more: vec!["--pass-life", PASS_LIFE_S, "--pass-renewed", "40"],
    };
    let game = Match::start(&options).await;
    game.has_a_past().await;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("browser");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut suites: Vec<PathBuf> = files.filter(|f| f.to_string_lossy().ends_with(".test.mjs")).collect();
    suites.sort();
    assert!(!suites.is_empty());
    // Viewers' browsers are on other machines than encoders: while one starts, the match goes on.
    let status = Command::new("nice")
        .args(["-n", NICE, "node", "--test", "--test-concurrency=1", "--test-reporter=spec"])
        .args(suites)
        .env("PAVILION_URL", game.ports().app)
        .env("PAVILION_VAR", game.folder())
        .env("PASS_LIFE_S", PASS_LIFE_S)
        .env("SECONDS", setting("BROWSER_SECONDS", SECONDS).to_string())
        .env("BROWSER_KILLS", setting("BROWSER_KILLS", KILLS).to_string())
        .status()
        .unwrap();
    assert!(status.success(), "{status}");
}
