//! Both pipelines cut and number alike, whenever they start, and what they publish arrives whole.

#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use e2e::recorder::{Covers, Recorder};
use e2e::roles::{self, Ground};
use e2e::{process, random, until};
use timeline::Position;
use timeline::name::{Kind, Letter, Token};

/// A pipeline's first part comes within this, also on a busy machine.
const FIRST_MAX: Duration = Duration::from_secs(30);
/// How often the pipeline is stopped.
const STOPS: usize = 5;

type Parts = BTreeMap<(Token, u64, u32), Covers>;

/// The newest MSN of which a pipeline has delivered all tracks.
fn newest(parts: &Parts) -> Option<u64> {
    let mut last: BTreeMap<&Token, u64> = BTreeMap::new();
    for (track, msn, _) in parts.keys() {
        last.insert(track, *msn);
    }
    last.values().min().copied()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pipeline_that_is_stopped_numbers_like_one_that_never_was() {
    let mut random = random("numbering");
    let folder = tempfile::tempdir().unwrap();
    let recorder = Recorder::start().await;
    let ground = Ground::start(folder.path(), "320x180");
    let epoch = roles::epoch();
    let start = |letter| roles::pipeline(folder.path(), letter, epoch, &ground, "180@200", &recorder.url);
    let _b = start(Letter::B);
    for stop in 0..STOPS {
        let mut a = start(Letter::A);
        let before = newest(&recorder.parts(Letter::A)).unwrap_or(0);
        until("pipeline A's next segments", FIRST_MAX, async || {
            newest(&recorder.parts(Letter::A)).filter(|now| *now > before)
        })
        .await;
        tokio::time::sleep(Duration::from_millis(random.u64(0..3_000))).await;
        match stop % 3 {
            0 => a.kill(),
            1 => drop(a.end()),
            _ => {
                // Its encoder only: the process goes on numbering.
                let at = newest(&recorder.parts(Letter::A)).unwrap();
                let encoder = process::children(a.pid(), "ffmpeg");
                assert!(process::kill(encoder[0]));
                until("pipeline A with a new encoder", FIRST_MAX, async || {
                    newest(&recorder.parts(Letter::A)).filter(|now| *now > at + 1)
                })
                .await;
            }
        }
    }
    let programme = recorder.programme().unwrap();
    let (a, b) = (recorder.parts(Letter::A), recorder.parts(Letter::B));
    let names: BTreeSet<Token> = programme.tracks.iter().map(|t| t.name.clone()).collect();
    assert_eq!(names, b.keys().map(|(track, ..)| track.clone()).collect());
    // B never stopped: it left nothing out.
    for track in &names {
        let (first, last) = (b.keys().map(|k| k.1).min().unwrap(), newest(&b).unwrap());
        for msn in first..last {
            for part in 0..programme.grid.parts() {
                assert!(b.contains_key(&(track.clone(), msn, part)), "b never made {track} {msn}.{part}");
            }
        }
    }
    let mut compared = BTreeSet::new();
    for (key, of_a) in &a {
        // The grid is exact at 25 frames a second, for sound too.
        let at = Position { msn: key.1, part: key.2 };
        assert_eq!(of_a.meta_start, programme.grid.part_start(at).0, "a {key:?}");
        assert_eq!(of_a.meta_duration, programme.grid.part().0, "a {key:?}");
        if let Some(of_b) = b.get(key) {
            assert_eq!(of_a, of_b, "{key:?}");
            compared.insert(key.1);
        }
    }
    println!("{} parts of a and {} of b; {} segments of both compared", a.len(), b.len(), compared.len());
    assert!(compared.len() > STOPS, "both pipelines made {compared:?}");
    let inits: BTreeSet<String> = recorder.taken().into_keys().filter(|n| n.contains("/init-")).collect();
    assert_eq!(inits.len(), names.len(), "one init segment for each track, of both: {inits:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_origin_that_refuses_or_forgets_still_gets_everything() {
    let folder = tempfile::tempdir().unwrap();
    let recorder = Recorder::start().await;
    let ground = Ground::start(folder.path(), "320x180");
    let pipeline =
        roles::pipeline(folder.path(), Letter::B, roles::epoch(), &ground, "180@200", &recorder.url);
    let segments = async |more: u64| {
        let from = newest(&recorder.parts(Letter::B)).unwrap_or(0);
        until("more segments", FIRST_MAX, async || {
            newest(&recorder.parts(Letter::B)).filter(|now| *now > from + more)
        })
        .await
    };
    until("a first segment", FIRST_MAX, async || newest(&recorder.parts(Letter::B))).await;
    segments(0).await;

    // Overloaded for a moment: every object is refused twice.
    let mut refusals: BTreeMap<String, u32> = BTreeMap::new();
    recorder.answer(move |name| {
        let so_far = refusals.entry(name.to_owned()).or_default();
        *so_far += 1;
        if *so_far <= 2 { 503 } else { 201 }
    });
    segments(1).await;

    // Started again: it knows nothing until it is told.
    let mut known = false;
    let tracks = recorder.programme().unwrap().tracks.len();
    let puts_before = recorder.puts().len();
    recorder.answer(move |name| {
        known |= name == "programme.json";
        if known { 201 } else { 404 }
    });
    let forgotten = segments(2).await;
    let since = recorder.puts().split_off(puts_before);
    let again = |what: &str| since.iter().filter(|p| p.status < 300 && p.name.contains(what)).count();
    // Refusals that come in while it is announced ask for it once more.
    let announced = again("programme.json");
    assert!((1..=3).contains(&announced), "announced {announced} times");
    assert_eq!(again("/init-"), announced * tracks);

    // Loses a part for good: the whole segment is sent in its place.
    let lost = forgotten + 3;
    let name = format!("en/{lost}b.2.m4s");
    recorder.answer({
        let name = name.clone();
        move |n| if n == name { 422 } else { 201 }
    });
    let whole =
        until("the whole segment", FIRST_MAX, async || recorder.taken().remove(&format!("en/{lost}b.m4s")))
            .await;
    let of_parts: Vec<u8> = (0..6)
        .flat_map(|part| {
            let name = format!("en/{lost}b.{part}.m4s");
            recorder.puts().into_iter().find(|p| p.name == name).unwrap().body
        })
        .collect();
    assert!(whole.body == of_parts, "a segment is its parts");
    let wholes = recorder.puts().into_iter().filter_map(|p| p.object());
    let wholes: Vec<_> = wholes.filter(|o| matches!(o.kind, Kind::Segment { .. })).collect();
    assert_eq!(wholes.len(), 1, "only that segment is sent whole: {wholes:?}");

    // Nothing else is missing.
    let parts = recorder.parts(Letter::B);
    let (first, last) = (parts.keys().map(|k| k.1).min().unwrap(), newest(&parts).unwrap());
    for track in recorder.programme().unwrap().tracks {
        for msn in first..last {
            for part in 0..6 {
                let key = (track.name.clone(), msn, part);
                assert!(
                    parts.contains_key(&key) || (track.name.as_str(), msn, part) == ("en", lost, 2),
                    "{key:?}"
                );
            }
        }
    }
    drop(pipeline);
}
