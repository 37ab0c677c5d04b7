//! From the encoder to the origin, and from there to a waiting client.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::Context;
use loadgen::http::Client;
use loadgen::swarm::{Ask, Options};
use timeline::programme::Programme;

use super::Plan;
use crate::air::{Air, Status};
use crate::figure::{Figure, Goal, figures};
use crate::http::{get, json, sample, until};

/// Encoder output to servable part at the origin.
pub(crate) const PART_READY: &str = "part_ready_ms_p99";
/// Origin to waiting client.
pub(crate) const EDGE_ADD: &str = "edge_add_ms_p99";

/// Between two looks at the origin's ready times. The origin remembers 1,000 parts, 45 s of seven tracks, so each
/// part is seen several times and none is missed.
const ASK_EVERY: Duration = Duration::from_secs(5);
/// For the parts that settle a match: a minute, on a machine that keeps up.
const SETTLE_MAX: Duration = Duration::from_secs(180);
/// Clients at one edge: a small crowd, so that what is measured is the way and not this program.
const CLIENTS: usize = 50;

/// What was seen while nobody watched.
pub(crate) struct Quiet {
    seconds: f64,
    p99_ms: f64,
    p50_ms: f64,
    parts: f64,
    within: f64,
    /// Segments served as A's, and as B's.
    letters: [f64; 2],
    spoiled: Option<String>,
    /// Cores of each role, without its children.
    pub(crate) cores: BTreeMap<&'static str, f64>,
}

/// Watches the origin and the cores of all roles for a while.
pub(crate) async fn quiet(air: &Air, client: &Client, plan: &Plan) -> anyhow::Result<Quiet> {
    let metrics = async || {
        Ok::<_, anyhow::Error>(String::from_utf8_lossy(&get(client, &air.metrics).await?).into_owned())
    };
    until("the match settles", SETTLE_MAX, async || {
        air.check()?;
        Ok((sample(&metrics().await?, "origin_parts_total") >= plan.settle_parts).then_some(()))
    })
    .await?;
    let before = metrics().await?;
    let gaps = async || {
        let status: Status = json(client, &format!("{}/status.json", air.origin)).await?;
        Ok::<_, anyhow::Error>((status.tracks.iter().map(|t| t.gaps_parts).sum::<u64>(), status.part_ready))
    };
    let (gaps_before, _) = gaps().await?;
    let cores = air.cores()?;
    let began = Instant::now();
    let mut asks = tokio::time::interval(ASK_EVERY);
    asks.tick().await;
    let (mut p99_ms, mut p50_ms, mut gaps_after) = (f64::NAN, f64::NAN, gaps_before);
    while began.elapsed() < plan.quiet {
        asks.tick().await;
        let (gaps, ready) = gaps().await?;
        let p99 = ready.p99_ms.with_context(|| format!("no ready times of {} parts", ready.parts))?;
        // The worst thousand in a row: never less than the percentile of all of them.
        p99_ms = p99_ms.max(p99);
        (p50_ms, gaps_after) = (ready.p50_ms.unwrap_or(f64::NAN), gaps);
    }
    let (cores, seconds) = (cores.used()?, began.elapsed().as_secs_f64());
    air.check()?;
    let after = metrics().await?;
    let more = |key: &str| sample(&after, key) - sample(&before, key);
    let parts = more("origin_part_ready_seconds_count");
    let within = more("origin_part_ready_seconds_bucket{le=\"0.02\"}") / parts;
    let letters = ["a", "b"].map(|l| more(&format!("origin_letters_total{{letter=\"{l}\"}}")));
    let spoiled = (gaps_after > gaps_before).then(|| format!("{} parts were gaps", gaps_after - gaps_before));
    Ok(Quiet { seconds, p99_ms, p50_ms, parts, within, letters, spoiled, cores })
}

impl Quiet {
    /// How it was measured, in the words that both of its figures share.
    pub(crate) fn over(&self) -> String {
        format!("over {:.0} s, {:.0} parts of all tracks, no audience", self.seconds, self.parts)
    }

    /// Why its figures say nothing, if they do.
    pub(crate) fn spoiled(&self) -> Option<String> {
        self.spoiled.clone()
    }

    /// Its figure.
    pub(crate) fn part_ready(&self) -> Figure {
        let way = format!(
            "from the encoder's last byte to the listed part, as the origin counts it, {}; the worst 1,000 in a row",
            self.over()
        );
        let [a, b] = self.letters;
        let beside = format!(
            "p50 {} ms; {:.2} % within 20 ms; {a:.0} segments served as A's, {b:.0} as B's",
            figures(self.p50_ms),
            100.0 * self.within
        );
        Figure::new(PART_READY, self.p99_ms, "ms", Goal::AtMost(20.0))
            .spoiled(self.spoiled())
            .how(way)
            .how(beside)
    }
}

/// A crowd at the edge, which waits for parts of the best picture, and one client at the origin.
pub(crate) async fn edge_add(air: &Air, plan: &Plan) -> anyhow::Result<Figure> {
    let track = best(&air.programme)?;
    let playlist = |base: &str| format!("{base}/hls/{track}.m3u8");
    let options = Options {
        edges: vec![playlist(&air.edge)],
        reference: Some(playlist(&air.origin)),
        clients: CLIENTS,
        rounds: plan.edge_rounds,
        ask: Ask::Part,
    };
    let cores = air.cores()?;
    let report = loadgen::swarm(options, std::future::pending()).await?;
    let cores = cores.used()?;
    air.check()?;
    let of = report.latency_ms;
    let way = format!(
        "from when a client at the origin has the whole part until {CLIENTS} clients have it through shield and edge; \
         {} parts of {track}, {} answers of {} KB",
        report.rounds,
        report.answers,
        report.bytes / report.answers.max(1) as u64 / 1_000,
    );
    let beside = format!(
        "p50 {} ms, most {} ms; meanwhile shield {} and edge {} cores",
        figures(of.p50),
        figures(of.max),
        figures(cores["shield"]),
        figures(cores["edge"]),
    );
    let figure = Figure::new(EDGE_ADD, of.p99, "ms", Goal::AtMost(10.0));
    Ok(figure.spoiled(unanswered(report.errors, &report.faults)).how(way).how(beside))
}

/// What makes a crowd's figure worthless.
pub(crate) fn unanswered(errors: usize, faults: &[String]) -> Option<String> {
    let fault = faults.first().map(String::as_str).unwrap_or("no reason given");
    (errors > 0 || !faults.is_empty())
        .then(|| format!("{errors} requests were not answered with 200: {fault}"))
}

/// The first picture of the ladder.
fn best(programme: &Programme) -> anyhow::Result<&str> {
    let track = programme.tracks.iter().find(|t| t.is_video()).context("the programme has no picture")?;
    Ok(track.name.as_str())
}
