//! What passes cost: a check by itself, and hits of an edge that checks them against hits of one that knows a word.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context;
use pass::cat::{Claims, Match, Part, Renewal};
use pass::{Ask, Document, Gate};

use super::hits::{PLAYLIST_BYTES, PLAYLIST_PATH};
use super::origin::Script;
use super::product::Product;
use super::rig::{Rig, Served};
use super::wrk;
use crate::figure::{Figure, Goal, figures};
use crate::nursery::Nursery;
use crate::{air, proc, stats};

/// The figures.
pub(crate) const IDS: [&str; 2] = ["pass_check_us", "edge_with_pass_ratio"];

const CHECK_US: f64 = 3.0;
const RATIO: f64 = 0.95;

/// Viewers of the edge that is measured, each with a pass of their own: many times those who ask at one instant.
const PASSES: usize = 2_000;
/// Checks of one round, and rounds.
const CHECKS: u32 = 50_000;
const ROUNDS: usize = 5;

/// A check the first time, and pairs of hits.
pub(crate) async fn measure(
    nursery: &Nursery,
    root: &Path,
    pairs: usize,
    pair_s: u64,
) -> anyhow::Result<Vec<Figure>> {
    let document = Document::generate("pavilion", "bench")?;
    let gate = Gate::new(&document)?;
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() as i64;
    let tokens: Vec<String> =
        (0..PASSES).map(|n| gate.sign(&claims(n, now_s), now_s)).collect::<Result<_, _>>()?;
    let length = tokens.first().map_or(0, String::len);
    let check = tokio::task::spawn_blocking({
        let tokens = tokens.clone();
        move || check_us(&gate, &tokens, now_s)
    })
    .await??;
    let check = Figure::new(IDS[0], check, "us", Goal::AtMost(CHECK_US)).how(format!(
        "a Common Access Token of {length} characters that was not seen before, with all its claims, by the library; median of {ROUNDS} \
         rounds of {CHECKS}"
    ));

    let rig = Rig::new(nursery, root, vec![Product::Pavilion]).await?;
    rig.origin.put(PLAYLIST_PATH, Script::whole("max-age=3600", Duration::ZERO, PLAYLIST_BYTES));
    let keys = rig.file("passes.json");
    std::fs::write(&keys, serde_json::to_vec(&document)?)?;
    let word = rig.edge("edge with a word", &["--pass", air::PASS]).await?;
    let checked = rig.edge("edge with passes", &["--pass-keys", &keys.display().to_string()]).await?;
    let (with_word, with_pass) = (rig.file("word.txt"), rig.file("passes.txt"));
    std::fs::write(&with_word, lines((0..PASSES).map(|_| air::PASS)))?;
    std::fs::write(&with_pass, lines(tokens.iter().map(String::as_str)))?;
    let (mut ratios, mut micros) = (Vec::new(), [Vec::new(), Vec::new()]);
    // The first pair fills the caches.
    for pair in 0..=pairs {
        let run = Duration::from_secs(pair_s);
        let mut both = [0.0; 2];
        for n in [pair % 2, 1 - pair % 2] {
            let (edge, file) = [(&word, &with_word), (&checked, &with_pass)][n];
            both[n] = cost_us(&rig, edge, file, run).await.with_context(|| edge.target.name)?;
        }
        if pair > 0 {
            ratios.push(both[0] / both[1]);
            micros.iter_mut().zip(both).for_each(|(all, one)| all.push(one));
        }
    }
    let (low, high) = stats::spread(&ratios);
    let ratio = Figure::new(IDS[1], stats::median(&ratios), "of without", Goal::AtLeast(RATIO)).how(format!(
        "hits of {PLAYLIST_BYTES} bytes a second of one core's time, with {PASSES} passes in turn over with the word '{}': {} us against {} us \
         each; median of {pairs} pairs of {pair_s} s, {} to {}; {} connections of wrk on the other cores",
        air::PASS,
        figures(stats::median(&micros[1])),
        figures(stats::median(&micros[0])),
        figures(low),
        figures(high),
        wrk::CONNECTIONS,
    ));
    Ok(vec![check, ratio])
}

/// The playlist's path with each of the passes.
fn lines<'a>(passes: impl Iterator<Item = &'a str>) -> String {
    passes.map(|pass| format!("/{pass}{PLAYLIST_PATH}\n")).collect()
}

/// What play gives a viewer.
fn claims(n: usize, now_s: i64) -> Claims {
    Claims {
        session: Some(format!("{n:032x}")),
        expires_s: now_s + 3_600,
        not_before_s: Some(now_s - 60),
        issued_s: Some(now_s),
        id: Some(vec![7; 16]),
        uri: vec![(Part::Path, Match::Prefix("/live/".into()))],
        renewal: Some(Renewal { add_s: 600, window_s: 120 }),
        ..Claims::default()
    }
}

/// Microseconds for each: opened and looked at, as an edge does with one that it does not know.
fn check_us(gate: &Gate, tokens: &[String], now_s: i64) -> anyhow::Result<f64> {
    let ask = Ask::get(PLAYLIST_PATH, now_s);
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let began = Instant::now();
        for n in 0..CHECKS as usize {
            let pass = gate.open(black_box(&tokens[n % tokens.len()]), &ask);
            let admitted = pass.and_then(|pass| pass.admits(&ask));
            anyhow::ensure!(admitted.is_ok(), "a pass that we signed is refused: {admitted:?}");
        }
        rounds.push(began.elapsed().as_secs_f64() * 1e6 / f64::from(CHECKS));
    }
    Ok(stats::median(&rounds))
}

/// CPU time of an edge for each hit, in microseconds.
async fn cost_us(rig: &Rig<'_>, edge: &Served, paths: &Path, run: Duration) -> anyhow::Result<f64> {
    edge.child.check()?;
    let url = format!("http://{}/", edge.target.addr);
    let before = proc::cpu_seconds(edge.child.pid())?;
    let load = wrk::run_paths(rig.root, &rig.cores.askers(), &url, run, paths).await?;
    let used = proc::cpu_seconds(edge.child.pid())? - before;
    load.check(PLAYLIST_BYTES)?;
    Ok(used * 1e6 / load.requests as f64)
}
