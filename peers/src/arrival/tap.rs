//! From a tap on a match to its first picture, in a browser.

use std::fs::File;
use std::time::Duration;

use anyhow::Context;
use serde::Deserialize;
use tokio::process::Command;

use super::Plan;
use super::rig::Rig;
use crate::air::{Air, Picture};
use crate::figure::{Figure, Goal, figures};

/// The figure.
pub(crate) const ID: &str = "tap_to_frame_ms_p95";

const GOAL_MS: f64 = 1_500.0;
/// For a browser to start, and for one tap with the page's load before it.
const START_MAX: Duration = Duration::from_secs(60);
const TAP_MAX: Duration = Duration::from_secs(20);

/// What `tap.mjs` writes.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Seen {
    taps: usize,
    p50_ms: f64,
    p95_ms: f64,
    max_ms: f64,
    /// Of the tap, until the door had answered.
    play_p50_ms: f64,
    /// What the page threw.
    errors: Vec<String>,
}

/// Taps again and again, on a match on air.
pub(crate) async fn measure(rig: &Rig<'_>, picture: &Picture, plan: &Plan) -> anyhow::Result<Vec<Figure>> {
    let air = Air::start(rig.nursery, picture, &rig.client).await?;
    let answer = rig.nursery.scratch().join("tap.json");
    let mut node = Command::new("node");
    node.arg(rig.root.join("peers/tap.mjs")).args(["demo", &plan.taps.to_string()]);
    // The browser's profile goes with our other files.
    node.env("PAVILION_URL", &air.app).env("TMPDIR", rig.nursery.scratch()).stdout(File::create(&answer)?);
    let page = rig.nursery.start("tap", node)?;
    let within = START_MAX + TAP_MAX * u32::try_from(plan.taps)?;
    let done = tokio::time::timeout(within, page.finished()).await;
    done.with_context(|| format!("the page took longer than {} s", within.as_secs()))??;
    air.check()?;
    let seen: Seen =
        serde_json::from_slice(&std::fs::read(&answer)?).context("what the page said cannot be read")?;
    let thrown = seen.errors.first().map(|thrown| format!("the page threw: {thrown}"));
    Ok(vec![Figure::new(ID, seen.p95_ms, "ms", Goal::AtMost(GOAL_MS)).spoiled(thrown).how(format!(
        "from a click on the match's card to the first frame of its picture on screen, {} times in Chromium, each from a home page that \
         was loaded anew: p50 {} ms, most {}; the door had answered after {} (p50); {picture}, encoded on the same machine",
        seen.taps,
        figures(seen.p50_ms),
        figures(seen.max_ms),
        figures(seen.play_p50_ms),
    ))])
}
