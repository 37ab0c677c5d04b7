//! Ground to screen: what a browser shows, read off its pixels.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use serde::Deserialize;
use tokio::process::Command;

use super::Plan;
use crate::air::Air;
use crate::figure::{Figure, Goal, figures};
use crate::nursery::Nursery;

/// The figures.
pub(crate) const IDS: [&str; 3] = ["glass_ll_ms_p95", "glass_balanced_ms_p95", "glass_hls_ms_p95"];

/// Latency profiles of the page, with their goals.
pub(crate) const PROFILES: [Profile; 3] = [
    Profile { id: IDS[0], name: "live", goal_ms: 2_000.0 },
    Profile { id: IDS[1], name: "balanced", goal_ms: 4_500.0 },
    Profile { id: IDS[2], name: "steady", goal_ms: 9_000.0 },
];

/// The page's players, by their names in its address.
const PLAYERS: [(&str, &str); 2] = [("hls", "hls.js"), ("shaka", "Shaka Player")];

/// For a browser to start, and a player to show its first picture.
const START_MAX: Duration = Duration::from_secs(90);
/// Pictures without a readable code that say nothing: one that was being drawn, or a frame of another rung.
const UNREADABLE_MAX: f64 = 0.02;

/// A latency profile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Profile {
    /// Of its figure.
    pub(crate) id: &'static str,
    name: &'static str,
    goal_ms: f64,
}

/// Fewer looks a second than this would miss what happens between them.
const SAMPLES_A_SECOND_MIN: u64 = 10;

/// What `glass.mjs` writes.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Seen {
    samples: u64,
    unreadable: u64,
    p50_ms: f64,
    p95_ms: f64,
    max_ms: f64,
    /// Height of the rung at the end.
    level: Option<u64>,
    stalls: u64,
    longest_frame_gap_ms: f64,
    widened_ms: f64,
    dropped: u64,
    frames: u64,
    /// The player began anew on the way.
    restarted: bool,
    /// What the page threw.
    errors: Vec<String>,
}

/// Watches in each player; the worse one is the figure.
pub(crate) async fn glass(
    air: &Air,
    profile: Profile,
    root: &Path,
    nursery: &Nursery,
    plan: &Plan,
) -> anyhow::Result<Figure> {
    let players = if plan.quick { &PLAYERS[..1] } else { &PLAYERS[..] };
    let mut worst: f64 = 0.0;
    let mut spoiled = None;
    let mut beside = Vec::new();
    for (player, called) in players {
        let seen = watch(air, profile, player, root, nursery, plan)
            .await
            .with_context(|| format!("{called}, {}", profile.name))?;
        air.check()?;
        worst = worst.max(seen.p95_ms);
        if seen.unreadable as f64 > UNREADABLE_MAX * seen.samples as f64 {
            spoiled =
                Some(format!("{called}: {} of {} pictures could not be read", seen.unreadable, seen.samples));
        }
        if seen.samples < SAMPLES_A_SECOND_MIN * plan.watch.as_secs() {
            spoiled =
                Some(format!("{called}: only {} looks at the picture; the page had no time", seen.samples));
        }
        if seen.restarted {
            spoiled = Some(format!("{called}: the player began anew while it was watched"));
        }
        if let Some(thrown) = seen.errors.first() {
            spoiled = Some(format!("{called}: the page threw: {thrown}"));
        }
        let rung = seen.level.map_or("?".to_owned(), |height| format!("{height}p"));
        beside.push(format!(
            "{called}: p95 {} ms, p50 {}, most {}; {} stalls, longest without a new frame {} ms, widened by {} ms, \
             {} of {} frames dropped, rung {rung}",
            figures(seen.p95_ms), figures(seen.p50_ms), figures(seen.max_ms), seen.stalls,
            figures(seen.longest_frame_gap_ms), figures(seen.widened_ms), seen.dropped, seen.frames,
        ));
    }
    let way = format!(
        "age of the picture on screen in Chromium, profile {}, 20 times a second for {} s after {} s: the venue time is read off \
         the pixels{}",
        profile.name,
        plan.watch.as_secs(),
        plan.settle.as_secs(),
        if players.len() > 1 { "; the worse of two players" } else { "" },
    );
    let figure =
        Figure::new(profile.id, worst, "ms", Goal::AtMost(profile.goal_ms)).spoiled(spoiled).how(way);
    Ok(beside.into_iter().fold(figure, Figure::how))
}

async fn watch(
    air: &Air,
    profile: Profile,
    player: &str,
    root: &Path,
    nursery: &Nursery,
    plan: &Plan,
) -> anyhow::Result<Seen> {
    let name = format!("page {player} {}", profile.name);
    let answer = nursery.scratch().join(format!("{name}.json"));
    let mut node = Command::new("node");
    node.arg(root.join("peers/glass.mjs")).args(["demo", player, profile.name]);
    node.args([plan.settle, plan.watch].map(|d| d.as_secs().to_string()));
    // The browser's profile goes with our other files.
    node.env("PAVILION_URL", &air.app).env("TMPDIR", nursery.scratch()).stdout(File::create(&answer)?);
    let page = nursery.start(&name, node)?;
    let within = START_MAX + plan.settle + plan.watch;
    let done = tokio::time::timeout(within, page.finished()).await;
    done.with_context(|| format!("the page took longer than {} s", within.as_secs()))??;
    serde_json::from_slice(&std::fs::read(&answer)?).context("what the page said cannot be read")
}
