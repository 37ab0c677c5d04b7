//! `kill -9` of a pipeline, or of its encoder, while viewers watch.

#![allow(clippy::unwrap_used, missing_docs)]

use std::time::Duration;

use e2e::all::{Match, Options};
use e2e::{follow, process, random, setting};
use loadgen::{Mode, Report};
use timeline::name::Letter;
use timeline::{FrameRate, Grid, Utc};
use tokio::sync::watch;

/// Moments at which something is killed, over all matches.
const KILLS: usize = 200;
/// Matches on air at once: what one waits for, another uses the time of. On slow cores four are too many.
const MATCHES: usize = 3;
/// Longest time without a new frame for a low-latency viewer: a segment.
const STALL_MS_MAX: i64 = 1_920;
/// A killed pipeline is back within this: its restart, the feed's next keyframe, its probe, the next boundary.
const BACK_MAX: Duration = Duration::from_secs(30);

/// What dies, and whose; a process dies only every fourth time, so that it counts as healthy in between and its
/// restart is not held back.
const VICTIMS: [(Letter, bool); 4] =
    [(Letter::A, true), (Letter::B, false), (Letter::A, false), (Letter::B, true)];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn viewers_go_on_when_a_pipeline_or_its_encoder_is_killed() {
    let kills = setting("PAVILION_KILLS", KILLS);
    let mut random = random("failover");
    let mut games = tokio::task::JoinSet::new();
    let matches = setting("PAVILION_MATCHES", MATCHES).min(kills);
    for n in 0..matches {
        let own = kills / matches + usize::from(n < kills % matches);
        games.spawn(one(n, own, fastrand::Rng::with_seed(random.u64(..))));
    }
    let mut wrong = Vec::new();
    while let Some(found) = games.join_next().await {
        wrong.extend(found.unwrap());
    }
    assert!(wrong.is_empty(), "{} things are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Puts a match on air, kills, and says what viewers saw that they should not.
async fn one(n: usize, kills: usize, mut random: fastrand::Rng) -> Vec<String> {
    let game = Match::start(&Options::default()).await;
    game.has_a_past().await;
    let (stop, stopped) = watch::channel(false);
    let leave = |mut stopped: watch::Receiver<bool>| async move {
        let _ = stopped.wait_for(|stop| *stop).await;
    };
    let viewer = |mode| {
        let options =
            loadgen::Options { master: game.master(), mode, height: None, language: None, catch_up: true };
        tokio::spawn(loadgen::watch(options, leave(stopped.clone())))
    };
    let (ordinary, low) = (viewer(Mode::Ordinary), viewer(Mode::LowLatency));
    let grid = Grid::for_frame_rate(FrameRate { num: 25, den: 1 }).unwrap();
    let (web, master, epoch) = (game.web.clone(), game.master(), game.ports().epoch);
    let follower = {
        let stop = leave(stopped.clone());
        tokio::spawn(async move { follow::follow(&web, &master, epoch, grid, stop).await })
    };
    let mut gaps = Vec::new();
    let position = |at: Utc| grid.position(at.since(epoch));
    for kill in 0..kills {
        let (letter, whole) = VICTIMS[(n + kill) % VICTIMS.len()];
        // Anywhere in a segment.
        tokio::time::sleep(Duration::from_millis(random.u64(0..1_920))).await;
        let victim = if whole { game.pipeline(letter).await } else { game.encoder(letter).await };
        let before = game.status().await;
        assert!(process::kill(victim), "match {n}: nothing was there to kill");
        let what = if whole { "the process" } else { "the encoder" };
        println!("match {n}: killed {what} of {letter} at {}.{}", before.clock.msn, before.clock.part);
        game.back(letter, before.clock, BACK_MAX).await;
        let after = game.status().await;
        let [from, to] = [&before, &after].map(|at| epoch.plus(grid.part_start(at.clock)));
        gaps.extend(
            after
                .tracks
                .iter()
                .zip(&before.tracks)
                .filter(|(now, then)| now.gaps_segments > then.gaps_segments)
                .map(|(now, _)| (format!("{}: {} segments are gaps", now.name, now.gaps_segments), from, to)),
        );
    }
    let status = game.status().await;
    stop.send(true).unwrap();
    let (ordinary, low) = (ordinary.await.unwrap().unwrap(), low.await.unwrap().unwrap());
    let seen = follower.await.unwrap();
    let trouble = game.trouble();
    println!(
        "match {n}: {kills} kills, the machine stood still or the ground was late {} times",
        trouble.len()
    );
    for track in &status.tracks {
        println!("  {}: {} part gaps, {} segment gaps", track.name, track.gaps_parts, track.gaps_segments);
    }
    tell("ordinary", &ordinary);
    tell("low latency", &low);

    let mut wrong = Vec::new();
    // What the machine is to blame for is said, not counted.
    let mut saw = |what: String, from: Utc, length_ms: i64| {
        if trouble.excuses(from, Utc(from.0 + length_ms * 1_000)) {
            println!("match {n}, excused by the machine: {what}");
        } else {
            wrong.push(what);
        }
    };
    for stall in &ordinary.stalls {
        let what = format!("an ordinary viewer stalled at {:?}: {stall:?}", position(stall.at));
        saw(what, stall.since, stall.length_ms);
    }
    for jump in &ordinary.jumps {
        let what = format!("an ordinary viewer lost some of the match at {:?}: {jump:?}", position(jump.at));
        saw(what, jump.at, jump.over_ms);
    }
    for stall in low.stalls.iter().filter(|s| s.length_ms > STALL_MS_MAX) {
        let what = format!("a low-latency viewer stalled at {:?}: {stall:?}", position(stall.at));
        saw(what, stall.since, stall.length_ms);
    }
    for jump in low.jumps.iter().filter(|j| j.over_ms > STALL_MS_MAX) {
        let what =
            format!("a low-latency viewer lost more than a segment at {:?}: {jump:?}", position(jump.at));
        saw(what, jump.at, jump.over_ms);
    }
    for (what, from, to) in gaps {
        saw(what, from, (to.0 - from.0) / 1_000);
    }
    for report in [&ordinary, &low] {
        wrong.extend(report.faults.iter().map(|f| format!("a viewer saw: {f:?}")));
    }
    wrong.extend(seen.faults.iter().map(|f| format!("a playlist is wrong: {f}")));
    wrong.iter_mut().for_each(|w| *w = format!("match {n} ({} troubles of the machine): {w}", trouble.len()));
    if !wrong.is_empty() {
        let log = game.program.log();
        let telling = log.lines().filter(|line| line.contains("WARN") || line.contains("encoder started"));
        println!("match {n}, epoch {epoch}:\n{}", telling.collect::<Vec<_>>().join("\n"));
    }
    wrong
}

fn tell(who: &str, report: &Report) {
    println!(
        "  {who}: played {} s, {} stalls {:?} ms, {} jumps, latency {:?}",
        report.played_ms / 1_000,
        report.stalls.len(),
        report.stalls.iter().map(|s| s.length_ms).max().unwrap_or(0),
        report.jumps.len(),
        report.latency_ms
    );
    assert!(report.startup_ms.is_some(), "{who} never saw a picture: {report:?}");
}
