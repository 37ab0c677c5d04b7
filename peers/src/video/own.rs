//! Pavilion's own share of a machine, without its encoders.

use std::time::Instant;

use loadgen::http::Client;

use super::Plan;
use super::hour::Hour;
use super::latency::Quiet;
use crate::air::Cores;
use crate::figure::{Figure, Goal, figures};
use crate::proc;

/// CPU of two pipelines and an origin.
pub(crate) const CORES: &str = "own_cores";
/// Their memory, without media.
pub(crate) const RSS: &str = "own_rss_mb";

/// The two pipelines, as roles are called here.
pub(crate) const PIPELINES: [&str; 2] = ["pipeline a", "pipeline b"];

/// Their share while nobody watches.
pub(crate) fn cores(quiet: &Quiet) -> Figure {
    let of = |name: &str| quiet.cores.get(name).copied().unwrap_or(f64::NAN);
    let [a, b] = PIPELINES.map(of);
    let origin = of("origin");
    let way = format!(
        "user and system time of the processes pipeline a ({}), pipeline b ({}) and origin ({}), {}",
        figures(a),
        figures(b),
        figures(origin),
        quiet.over(),
    );
    let beside = format!(
        "children (ffmpeg, SRT) are not counted; beside it shield {}, edge {}, page {}, and the ground {} (it draws the picture)",
        figures(of("shield")),
        figures(of("edge")),
        figures(of("page")),
        figures(of("ground")),
    );
    Figure::new(CORES, a + b + origin, "cores", Goal::AtMost(0.05))
        .spoiled(quiet.spoiled())
        .how(way)
        .how(beside)
}

/// Memory of an origin whose window is full, and of the pipelines.
pub(crate) async fn rss(hour: &Hour, pipelines: u64, client: &Client, plan: &Plan) -> anyhow::Result<Figure> {
    let cores = Cores::start([("origin", hour.pid())])?;
    let began = Instant::now();
    let mut looks = tokio::time::interval(std::time::Duration::from_secs(1));
    let (mut own, mut rss, mut media, mut seconds, mut gaps) = (0, 0, 0, 0.0, 0);
    while began.elapsed() < plan.full {
        looks.tick().await;
        hour.check()?;
        let status = hour.status(client).await?;
        let now = proc::rss_bytes(hour.pid())?;
        // The most that was seen.
        if now.saturating_sub(status.window_bytes) > own {
            (own, rss, media) = (now.saturating_sub(status.window_bytes), now, status.window_bytes);
        }
        seconds = status.tracks.iter().map(|t| t.segments).min().unwrap_or(0) as f64 * hour.segment_s();
        gaps = status.tracks.iter().map(|t| t.gaps_parts).sum();
    }
    let mb = |bytes: u64| bytes as f64 / 1e6;
    let way = format!(
        "resident memory of an origin with {seconds:.0} s in its window ({} MB) less the media in it ({} MB, as status.json says), \
         and of the two pipelines ({} MB)",
        figures(mb(rss)),
        figures(mb(media)),
        figures(mb(pipelines)),
    );
    let beside = format!(
        "the window: the match's parts, recorded, stamped anew and published by both letters ({} MB sent in {:.0} s), then at the pace \
         of the clock, which takes the origin {} cores",
        figures(mb(hour.sent_bytes())),
        hour.filled_in().as_secs_f64(),
        figures(cores.used()?["origin"]),
    );
    let spoiled = if gaps > 0 {
        Some(format!("{gaps} parts were gaps"))
    } else if seconds + 2.0 * hour.segment_s() < plan.window.as_secs_f64() {
        Some(format!("the window is only {seconds:.0} s long"))
    } else {
        None
    };
    Ok(Figure::new(RSS, mb(own + pipelines), "MB", Goal::AtMost(300.0)).spoiled(spoiled).how(way).how(beside))
}
