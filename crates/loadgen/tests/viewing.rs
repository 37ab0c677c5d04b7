//! What a viewer makes of a match, in simulated time.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests")]

mod ground;

use std::collections::BTreeMap;

use ground::{Ground, MS};
use loadgen::player::Request;
use loadgen::{Mode, Options, Player, Report};
use proptest::strategy::Strategy as _;
use timeline::{Position, Utc};

const S: i64 = 1_000 * MS;

/// The instant that a segment begins.
fn begins(ground: &Ground, msn: u64) -> i64 {
    ground.epoch.plus(ground.grid.segment_start(msn)).0
}

/// Plays until `until`; every request takes 10 ms, or as long as it is held.
fn play(ground: &Ground, player: &mut Player, from: i64, until: i64) {
    let mut held: BTreeMap<u64, Request> = BTreeMap::new();
    let mut now = from;
    while now < until && !player.finished() {
        held.extend(player.poll(now).into_iter().map(|request| (request.id, request)));
        now += 10 * MS;
        let done: Vec<_> = held.values().filter_map(|r| Some((r.id, ground.answer(&r.url, now)?))).collect();
        for (id, answer) in done {
            held.remove(&id);
            player.answer(id, answer, now);
        }
    }
}

/// A viewer who comes in the middle of segment 120 and stays.
fn watch(ground: &Ground, mode: Mode, seconds: i64) -> Report {
    let master = "http://ground/main/hls/master.m3u8".to_owned();
    let from = begins(ground, 120) + 777 * MS;
    let mut player =
        Player::new(Options { master, mode, height: None, language: None, catch_up: true }, from);
    play(ground, &mut player, from, from + seconds * S);
    player.report(from + seconds * S)
}

fn texts(report: &Report) -> Vec<&str> {
    report.faults.iter().map(|f| f.what.as_str()).collect()
}

#[test]
fn low_latency_plays_at_its_hold_back() {
    let seen = watch(&Ground::default(), Mode::LowLatency, 40);
    assert_eq!(texts(&seen), Vec::<&str>::new());
    assert_eq!(
        (seen.stalls.len(), seen.jumps.len(), seen.standing_ms, seen.errors, seen.gaps),
        (0, 0, 0, 0, 0)
    );
    assert_eq!(seen.tracks, ["v720.m3u8", "en.m3u8"]);
    // Three parts, at most one that was being made, and four round trips.
    assert!((960.0..960.0 + 320.0 + 100.0).contains(&seen.latency_ms.p50), "{:?}", seen.latency_ms);
    assert!(seen.startup_ms.unwrap() < 100, "{:?}", seen.startup_ms);
    assert!(seen.played_ms > 39_500);
    // A part and a reload every 320 ms, on two tracks, and no more.
    assert!((240..300).contains(&seen.objects), "{}", seen.objects);
    assert!((240..300).contains(&seen.playlists) && seen.deltas > seen.playlists - 6, "{seen:?}");
}

#[test]
fn ordinary_plays_three_target_durations_behind() {
    let seen = watch(&Ground::default(), Mode::Ordinary, 60);
    assert_eq!(texts(&seen), Vec::<&str>::new());
    assert_eq!((seen.stalls.len(), seen.standing_ms), (0, 0));
    assert!((6_000.0..8_200.0).contains(&seen.latency_ms.p50), "{:?}", seen.latency_ms);
    assert!((40..75).contains(&seen.playlists), "{}", seen.playlists);
}

#[test]
fn parts_that_never_come_are_jumped_over() {
    let ground = Ground { lost: |at| at.msn == 125 && at.part >= 2, ..Ground::default() };
    let seen = watch(&ground, Mode::LowLatency, 40);
    assert_eq!(texts(&seen), Vec::<&str>::new());
    // Four parts of each of two tracks.
    assert_eq!(seen.gaps, 8);
    let [jump] = seen.jumps[..] else { panic!("{:?}", seen.jumps) };
    assert_eq!(jump.over_ms, 1_280);
    assert_eq!(jump.at, Utc(begins(&ground, 125) + 640 * MS));
    assert!(seen.stalls.iter().all(|s| s.length_ms <= 1_920), "{:?}", seen.stalls);

    // Ordinary playback has six seconds: it jumps, and stands no longer than the jump takes.
    let seen = watch(&ground, Mode::Ordinary, 40);
    assert_eq!((seen.gaps, seen.jumps.len(), seen.stalls.len()), (2, 1, 0));
    assert_eq!(seen.standing_ms, 100);
}

#[test]
fn a_silence_is_a_stall_of_its_length() {
    // For three seconds nothing is listed, then all of it at once.
    fn silence(at: Position) -> i64 {
        let from = at.msn as i64 * 1_920 + i64::from(at.part) * 320 - 125 * 1_920;
        40 * MS + if (0..3_000).contains(&from) { (3_000 - from) * MS } else { 0 }
    }
    let ground = Ground { delay_us: silence, ..Ground::default() };
    let seen = watch(&ground, Mode::LowLatency, 60);
    assert_eq!(texts(&seen), Vec::<&str>::new());
    let [stall] = seen.stalls[..] else { panic!("{:?}", seen.stalls) };
    assert_eq!(stall.at, Utc(begins(&ground, 125)));
    // It had between three parts and four.
    assert!((1_900..=2_400).contains(&stall.length_ms), "{stall:?}");
    // And it is back where it was at the end.
    assert!(seen.latency_ms.p50 < 2_500.0 && seen.latency_ms.max > 2_800.0, "{:?}", seen.latency_ms);

    assert_eq!(watch(&ground, Mode::Ordinary, 60).stalls, vec![]);
}

#[test]
fn the_end_is_seen_and_is_no_stall() {
    for mode in [Mode::LowLatency, Mode::Ordinary] {
        let seen = watch(&Ground { last: 127, ..Ground::default() }, mode, 60);
        assert!(seen.finished);
        assert_eq!((seen.stalls.len(), texts(&seen)), (0, vec![]));
    }
}

#[test]
fn a_packager_that_begins_again_is_seen() {
    fn begin_again(text: String, now: i64) -> String {
        let ground = Ground::default();
        if now < begins(&ground, 124) {
            return text;
        }
        let media = "#EXT-X-MEDIA-SEQUENCE:100\n";
        text.replace(media, "#EXT-X-MEDIA-SEQUENCE:0\n")
    }
    let seen = watch(&Ground { spoil: begin_again, ..Ground::default() }, Mode::Ordinary, 20);
    assert!(texts(&seen).iter().any(|what| what.contains("media sequence steps back")), "{:?}", texts(&seen));
}

#[test]
fn a_decode_time_off_its_date_is_seen() {
    let drift = |msn| if msn >= 123 { 40 * MS } else { 0 };
    let seen = watch(&Ground { drift_us: drift, ..Ground::default() }, Mode::LowLatency, 10);
    assert!(texts(&seen).iter().all(|what| what.contains("40000 µs off its PDT")), "{:?}", texts(&seen));
    assert!(seen.fault_count > 10);
}

#[test]
fn an_unchanged_answer_to_a_blocking_reload_is_seen() {
    // Everything after segment 123 is hidden, though the request was held for it.
    fn stuck(text: String, now: i64) -> String {
        if now < begins(&Ground::default(), 124) {
            return text;
        }
        let end = text.find("#EXT-X-PROGRAM-DATE-TIME:2026-11-29T14:03:58.080Z").unwrap_or(text.len());
        text[..end].to_owned()
    }
    let seen = watch(&Ground { spoil: stuck, ..Ground::default() }, Mode::LowLatency, 14);
    assert!(texts(&seen).iter().any(|what| what.contains("answered unchanged")), "{:?}", texts(&seen));
    // It does not spin.
    assert!(seen.requests < 400, "{}", seen.requests);
}

proptest::proptest! {
    #[test]
    fn no_answer_makes_a_viewer_panic(pieces in proptest::collection::vec(piece(), 0..40)) {
        loadgen::player::fuzz(pieces.concat().as_bytes());
    }
}

fn piece() -> impl proptest::strategy::Strategy<Value = String> {
    proptest::sample::select(vec![
        "\0#EXTM3U\n",
        "#EXT-X-STREAM-INF:BANDWIDTH=9\nx.m3u8\n\0#EXTM3U\n",
        "#EXT-X-TARGETDURATION:2\n",
        "#EXT-X-TARGETDURATION:18446744073709551615\n",
        "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=12,PART-HOLD-BACK=1\n",
        "#EXT-X-PART-INF:PART-TARGET=0.3\n",
        "#EXT-X-MEDIA-SEQUENCE:18446744073709551614\n",
        "#EXT-X-MEDIA-SEQUENCE:7\n",
        "#EXT-X-SKIP:SKIPPED-SEGMENTS=2\n",
        "#EXT-X-PROGRAM-DATE-TIME:-9999-01-01T00:00:00Z\n",
        "#EXT-X-PROGRAM-DATE-TIME:9999-12-30T00:00:00Z\n",
        "#EXT-X-PROGRAM-DATE-TIME:2026-11-29T14:00:00Z\n",
        "#EXT-X-PART:URI=\"p\",DURATION=0.3,INDEPENDENT=YES\n",
        "#EXT-X-PART:URI=\"p\",DURATION=86400,GAP=YES\n",
        "#EXTINF:2,\nx\n",
        "#EXTINF:86400,\nx\n",
        "#EXT-X-GAP\n",
        "#EXT-X-ENDLIST\n",
    ])
    .prop_map(str::to_owned)
}
