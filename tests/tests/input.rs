//! Feeds that are not the generated ground: files, and clocks that wrap, jump and stutter.

#![allow(clippy::unwrap_used, missing_docs)]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use e2e::all::{Match, Options};
use e2e::feeds::{Bend, Feed, shifted};
use e2e::follow::{self, Seen};
use e2e::{roles, until};
use hls::read;
use timeline::anchor::PTS_MODULUS;
use timeline::{FrameRate, Grid};

/// A file plays, or is refused, within this.
const FILE_MAX: Duration = Duration::from_secs(60);
/// Files at once.
const TOGETHER: usize = 3;
/// Segments that may be missing until an encoder has started again: it takes three of them here, and more when the
/// machine is busy.
const RESTART_SEGMENTS_MAX: usize = 8;
/// How long a feed with a strange clock is watched after the strange moment.
const AFTER: Duration = Duration::from_secs(12);

fn files() -> Option<PathBuf> {
    let repository = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let data = std::env::var_os("PAVILION_SHARED_DATA").map(PathBuf::from);
    let media = data.unwrap_or_else(|| repository.join("../shared/data")).join("media");
    media.is_dir().then_some(media)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_play_or_are_refused_in_a_sentence() {
    let Some(folder) = files() else {
        println!("skipped: no shared media (PAVILION_SHARED_DATA)");
        return;
    };
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    let mut wrong = Vec::new();
    for some in files.chunks(TOGETHER) {
        let tries: Vec<_> = some.iter().cloned().map(|file| tokio::spawn(play(file))).collect();
        for tried in tries {
            wrong.extend(tried.await.unwrap().err());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Three good segments, or a refusal.
async fn play(file: PathBuf) -> Result<(), String> {
    let name = file.file_name().unwrap().to_string_lossy().into_owned();
    let input = file.display().to_string();
    let mut game = Match::launch(&Options { more: vec!["--input", &input, "--loop"], ..Options::default() });
    let began = Instant::now();
    while began.elapsed() < FILE_MAX {
        if let Some(status) = game.program.ended() {
            let log = game.program.log();
            let last = log.lines().last().unwrap_or_default();
            println!("{name}: refused: {last}");
            let sentence = last.starts_with("pavilion: ") && !log.contains("panicked");
            return if !status.success() && sentence {
                Ok(())
            } else {
                Err(format!("{name}: {status}: {log}"))
            };
        }
        if let Some(ended) = good_segments(&game).await {
            println!("{name}: plays after {:?}", began.elapsed());
            return ended.map_err(|e| format!("{name}: {e}"));
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let log = game.program.log();
    let tail: Vec<&str> = log.lines().rev().take(12).collect();
    Err(format!("{name}: neither plays nor is refused after {FILE_MAX:?}:\n  {}", tail.join("\n  ")))
}

/// Once every track has three segments with media.
async fn good_segments(game: &Match) -> Option<Result<(), String>> {
    game.try_status().await?;
    let master = game.web.try_get(&game.master()).await.ok().filter(|a| a.status == 200)?;
    assert!(!master.body.is_empty());
    for url in follow::tracks(&game.web, &game.master()).await {
        // A track that has not begun is not there yet.
        let answer = game.web.try_get(&url).await.ok().filter(|a| a.status == 200)?;
        let list = read::playlist(&answer.text()).unwrap();
        let wrong = hls::check::one(&list);
        if !wrong.is_empty() {
            return Some(Err(format!("{url}: {wrong:?}")));
        }
        if list.segments.iter().filter(|s| !s.gap).count() < 3 {
            return None;
        }
    }
    Some(Ok(()))
}

/// Puts a bent feed on air and follows it for [`AFTER`] after `event` seconds.
async fn follow_bent(event: Duration, bend: Bend) -> (Seen, Match) {
    let port = roles::free_udp_port();
    let feed = Feed::start(port, bend);
    let game = Match::start(&Options { more: vec!["--input", &feed.url], ..Options::default() }).await;
    let grid = Grid::for_frame_rate(FrameRate { num: 25, den: 1 }).unwrap();
    let stop = tokio::time::sleep(event + AFTER);
    let seen = follow::follow(&game.web, &game.master(), game.ports().epoch, grid, stop).await;
    println!("{seen:#?}");
    drop(feed);
    (seen, game)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrap_of_the_feed_s_clock_leaves_no_mark() {
    // On air within 20 s, and the wrap at 25.
    let to_wrap = 25 * 90_000;
    let (mut first, mut wrapped) = (None, None);
    let (watch, seen_wrap) = tokio::sync::watch::channel(false);
    let bend: Bend = Box::new(move |stamp, _, since| {
        let first = *first.get_or_insert(stamp);
        let bent = shifted(stamp, PTS_MODULUS - to_wrap - first as i64);
        if wrapped.is_none() && bent < PTS_MODULUS as u64 / 2 && since.as_secs() > 5 {
            wrapped = Some(since);
            watch.send_replace(true);
        }
        bent
    });
    let (seen, game) = follow_bent(Duration::from_secs(25), bend).await;
    assert!(*seen_wrap.borrow(), "the clock wrapped");
    assert_eq!(seen.faults, Vec::<String>::new());
    for (name, span) in &seen.tracks {
        assert_eq!((span.gaps, span.discontinuities), (0, 0), "{name}: {span:?}");
        assert!(span.last - span.first > 10, "{name}: {span:?}");
    }
    assert!(!game.program.log().contains("encoder ended"), "the encoder went on");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_jump_of_the_feed_s_clock_is_one_discontinuity() {
    let jump_at = Duration::from_secs(25);
    let bend: Bend =
        Box::new(move |stamp, _, since| shifted(stamp, if since < jump_at { 0 } else { 20_000 * 90_000 }));
    let (seen, _game) = follow_bent(jump_at, bend).await;
    assert_eq!(seen.faults, Vec::<String>::new());
    for (name, span) in &seen.tracks {
        assert_eq!(span.discontinuities, 1, "{name}: {span:?}");
        // The encoder starts again; what is missing until then is marked as missing.
        assert!(span.gaps <= RESTART_SEGMENTS_MAX && span.last - span.first > 10, "{name}: {span:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stray_timestamp_harms_nobody() {
    // Three frames of the tenth second carry the stamp of another day.
    let bend: Bend = Box::new(|stamp, frame, _| match frame {
        Some(frame) if frame > 500 && frame % 100 == 0 => shifted(stamp, 12_345 * 90_000),
        _ => stamp,
    });
    let (seen, game) = follow_bent(Duration::from_secs(20), bend).await;
    assert_eq!(seen.faults, Vec::<String>::new());
    for (name, span) in &seen.tracks {
        assert_eq!((span.gaps, span.discontinuities), (0, 0), "{name}: {span:?}");
    }
    let on_air = until("the playlist's end near the clock", AFTER, async || {
        let status = game.try_status().await?;
        let behind = |t: &e2e::all::Track| t.last.is_some_and(|l| l.msn + 1 >= status.clock.msn);
        status.tracks.iter().all(behind).then_some(())
    });
    on_air.await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_feed_that_begins_damaged_goes_on_air_with_its_first_whole_keyframe() {
    let feed = Feed::start(roles::free_udp_port(), Box::new(|stamp, _, _| stamp));
    feed.damage(true);
    let game = Match::launch(&Options { more: vec!["--input", &feed.url], ..Options::default() });
    until("the pipelines' first look", FILE_MAX, async || {
        game.program.log().contains("told nothing yet").then_some(())
    })
    .await;
    feed.damage(false);
    let played = until("three segments", FILE_MAX, async || good_segments(&game).await).await;
    assert_eq!(played, Ok(()), "{}", game.program.log());
}
