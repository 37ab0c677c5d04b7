//! Cursors: nothing missing, nothing twice, whatever happens.
#![allow(clippy::unwrap_used, reason = "a failed test may panic")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use fanout::Config;
use relay::Update;
use serde_json::{Value, json};
use support::*;
use tokio::time::sleep;

/// A generator of its own, so that a seed is a scenario.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

fn seeds() -> u64 {
    std::env::var("PAVILION_FANOUT_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(40)
}

/// What a client has, of one match.
#[derive(Default)]
struct Seen {
    keys: Vec<(u64, u64)>,
    cursor: String,
}

impl Seen {
    fn take(&mut self, frame: &Value) {
        match frame["type"].as_str() {
            Some("score_event") => {
                self.keys.push((frame["event_id"].as_u64().unwrap(), frame["revision"].as_u64().unwrap()));
                self.cursor = frame["cursor"].as_str().unwrap().to_owned();
            }
            Some("snapshot_required" | "refused" | "error") => panic!("{frame}"),
            _ => {}
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum How {
    WebSocket,
    Sse,
    Poll,
}

/// Takes over what an id says of both matches. It may be further than the last event that was seen, by what was
/// published twice.
fn adopt(seen: &mut [Seen; 2], id: &str) {
    let (a, b) = id.split_once(',').unwrap_or_else(|| panic!("both matches stand in every id: {id}"));
    for (seen, id) in seen.iter_mut().zip([a, b]) {
        seen.cursor = id.rsplit_once(':').expect("a cursor").1.to_owned();
    }
}

/// Follows two matches to their ends, and drops its connection at random moments.
async fn follow(world: Arc<World>, how: How, seed: u64, published: usize) -> [Seen; 2] {
    let mut random = Random(seed);
    let mut seen =
        [Seen { cursor: "1-0".into(), ..Seen::default() }, Seen { cursor: "1-0".into(), ..Seen::default() }];
    let take = |seen: &mut [Seen; 2], frame: &Value| {
        let n = if frame["match_id"] == "a" { 0 } else { 1 };
        seen[n].take(frame);
    };
    while seen.iter().any(|seen| seen.keys.len() < published) {
        // How many frames until it goes away; now and then at once.
        let mut patience = random.below(40);
        match how {
            How::WebSocket => {
                let mut ws = Ws::open(world.at).await;
                ws.subscribe("a", Some(&seen[0].cursor)).await;
                ws.subscribe("b", Some(&seen[1].cursor)).await;
                while patience > 0 && seen.iter().any(|seen| seen.keys.len() < published) {
                    take(&mut seen, &ws.json().await);
                    patience -= 1;
                }
            }
            How::Sse => {
                let mut http = Http::open(world.at).await;
                let last = format!("Last-Event-ID: a:{},b:{}\r\n", seen[0].cursor, seen[1].cursor);
                http.get("/v1/stream?match=a&match=b", &last).await;
                assert_eq!(http.head().await.0, 200);
                while patience > 0 && seen.iter().any(|seen| seen.keys.len() < published) {
                    let (id, frame) = http.event().await.expect("an event");
                    take(&mut seen, &frame);
                    if let Some(id) = id {
                        adopt(&mut seen, &id);
                    }
                    patience -= 1;
                }
            }
            How::Poll => {
                let mut http = Http::open(world.at).await;
                let mut last = format!("a:{},b:{}", seen[0].cursor, seen[1].cursor);
                for _ in 0..1 + patience / 8 {
                    if seen.iter().all(|seen| seen.keys.len() == published) {
                        break;
                    }
                    let path = format!("/v1/stream?mode=poll&match=a&match=b&wait=1&last_event_id={last}");
                    http.get(&path, "").await;
                    let (status, _, body) = http.answer().await;
                    assert_eq!(status, 200, "{body}");
                    let body: Value = serde_json::from_str(&body).unwrap();
                    body["events"].as_array().unwrap().iter().for_each(|frame| take(&mut seen, frame));
                    last = body["last_event_id"].as_str().unwrap().to_owned();
                    adopt(&mut seen, &last);
                }
            }
        }
    }
    seen
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_drop_at_random_have_no_gap_and_no_duplicate() {
    for seed in 1..=seeds() {
        let mut random = Random(seed);
        let config = Config {
            coalesce_ms: [0, 5, 50][random.below(3) as usize],
            workers: 1 + random.below(3) as usize,
            upgrades_per_s: 100_000,
            upgrade_burst: 100_000,
            ..Config::default()
        };
        let world = Arc::new(world(config).await);
        let mut expected = [Vec::new(), Vec::new()];
        let mut plan = Vec::new();
        for event in 1..=60_u64 {
            for (n, name) in ["a", "b"].into_iter().enumerate() {
                // Any event may be corrected later, and anything published twice.
                let old = random.below(event) + 1;
                let revision = expected[n].iter().filter(|(known, _)| *known == old).count() as u64;
                let keys: &[(u64, u64)] = match random.below(6) {
                    0 if old < event => &[(event, 1), (old, revision + 1)],
                    1 => &[(event, 1), (event, 1)],
                    _ => &[(event, 1)],
                };
                for key in keys {
                    plan.push((name, *key));
                    if !expected[n].contains(key) {
                        expected[n].push(*key);
                    }
                }
            }
        }
        // Both have the same number, so that a client knows when it is done.
        for (n, name) in ["a", "b"].into_iter().enumerate() {
            for event in 1_000.. {
                if expected[n].len() >= 80 {
                    break;
                }
                plan.push((name, (event, 1)));
                expected[n].push((event, 1));
            }
        }
        let published = expected[0].len().max(expected[1].len());
        for (n, name) in ["a", "b"].into_iter().enumerate() {
            for event in 2_000.. {
                if expected[n].len() >= published {
                    break;
                }
                plan.push((name, (event, 1)));
                expected[n].push((event, 1));
            }
        }
        let clients: Vec<_> = [How::WebSocket, How::WebSocket, How::WebSocket, How::Sse, How::Poll]
            .into_iter()
            .enumerate()
            .map(|(n, how)| tokio::spawn(follow(world.clone(), how, seed * 100 + n as u64, published)))
            .collect();
        for (n, (name, (event, revision))) in plan.into_iter().enumerate() {
            world.script.publish(name, event, revision as u32, 0);
            match random.below(150) {
                0 => world.script.hang_up(name),
                1..=5 => sleep(Duration::from_millis(random.below(8))).await,
                _ if n % 3 == 0 => tokio::task::yield_now().await,
                _ => {}
            }
        }
        for client in clients {
            let seen = client.await.unwrap();
            for n in 0..2 {
                assert_eq!(seen[n].keys, expected[n], "seed {seed}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_that_means_nothing_here_gets_an_answer_and_then_live_events() {
    let world = world(plain()).await;
    world.script.publish("m", 1, 1, 0);
    world.script.publish("m", 2, 1, 0);
    for bad in ["2-1", "1-99999", "nonsense", "78145327", "1-2x"] {
        let mut ws = Ws::open(world.at).await;
        ws.subscribe("m", Some(bad)).await;
        let snapshot = ws.expect("snapshot_required").await;
        assert_eq!(
            (&snapshot["cursor"], &snapshot["snapshot_url"]),
            (&json!("1-2"), &json!("/v1/matches/m/snapshot?since=1-2"))
        );
        ws.expect("live").await;
        // The other transports say the same.
        let mut sse = Http::open(world.at).await;
        sse.get("/v1/stream?match=m", &format!("Last-Event-ID: m:{bad}\r\n")).await;
        assert_eq!(sse.head().await.0, 200);
        let (id, said) = sse.event().await.unwrap();
        assert_eq!((id.as_deref(), &said), (Some("m:1-2"), &snapshot));
        let mut poll = Http::open(world.at).await;
        poll.get(&format!("/v1/stream?mode=poll&match=m&last_event_id=m:{bad}"), "").await;
        let body: Value = serde_json::from_str(&poll.answer().await.2).unwrap();
        assert_eq!(body, json!({ "events": [snapshot], "last_event_id": "m:1-2" }));
    }
}

/// Another worker, or another edge behind the same address, had the news first.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_is_a_little_ahead_gets_nothing_twice() {
    let world = world(plain()).await;
    world.script.publish("m", 1, 1, 0);
    world.script.publish("m", 2, 1, 0);
    let mut ws = Ws::open(world.at).await;
    ws.subscribe("m", Some("1-3")).await;
    assert_eq!(ws.expect("subscribed").await["cursor"], "1-3");
    ws.expect("live").await;
    let mut poll = Http::open(world.at).await;
    poll.get("/v1/stream?mode=poll&match=m&last_event_id=m:1-3", "").await;
    world.script.publish("m", 3, 1, 0);
    world.script.publish("m", 4, 1, 0);
    assert_eq!(ws.expect("score_event").await["cursor"], "1-4");
    let body: Value = serde_json::from_str(&poll.answer().await.2).unwrap();
    let cursors: Vec<_> = body["events"].as_array().unwrap().iter().map(|event| &event["cursor"]).collect();
    assert_eq!((cursors, &body["last_event_id"]), (vec![&json!("1-4")], &json!("m:1-4")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_life_of_the_log_resets_every_subscription() {
    let world = world(plain()).await;
    world.script.publish("m", 1, 1, 0);
    let mut ws = Ws::open(world.at).await;
    ws.subscribe("m", None).await;
    ws.expect("subscribed").await;
    ws.expect("live").await;
    world.script.reborn("m", 0x2a);
    let snapshot = ws.expect("snapshot_required").await;
    assert_eq!(snapshot["cursor"], "2a-0");
    ws.expect("live").await;
    world.script.publish("m", 1, 1, 0);
    assert_eq!(ws.expect("score_event").await["cursor"], "2a-1");
    // An offset of the old epoch is no place in the new one, though it is there.
    ws.subscribe("m", Some("1-1")).await;
    assert_eq!(ws.expect("snapshot_required").await["cursor"], "2a-1");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_for_a_match_to_begin_gets_its_first_event() {
    let world = world(plain()).await;
    world.script.reborn("m", 0);
    let mut ws = Ws::open(world.at).await;
    ws.subscribe("m", None).await;
    assert_eq!(ws.expect("subscribed").await["cursor"], "0-0");
    ws.expect("live").await;
    let mut poll = Http::open(world.at).await;
    poll.get("/v1/stream?mode=poll&match=m&last_event_id=m:0-0", "").await;
    until("both wait", || world.watching.of("m") == 2).await;
    world.script.reborn("m", 0x2a);
    world.script.publish("m", 1, 1, 0);
    world.script.publish("m", 2, 1, 0);
    for event in [1, 2] {
        let frame = ws.expect("score_event").await;
        assert_eq!((&frame["event_id"], &frame["cursor"]), (&json!(event), &json!(format!("2a-{event}"))));
    }
    let body: Value = serde_json::from_str(&poll.answer().await.2).unwrap();
    assert_eq!(body["events"][0]["event_id"], 1);
    // Who was away meanwhile has missed nothing either.
    ws.subscribe("m", Some("0-0")).await;
    ws.expect("subscribed").await;
    assert_eq!(ws.expect("score_event").await["event_id"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_feed_that_pauses_says_so() {
    let world = world(plain()).await;
    let mut ws = Ws::open(world.at).await;
    ws.subscribe("m", None).await;
    ws.expect("subscribed").await;
    ws.expect("live").await;
    world.script.tell("m", Update::Paused { reason: "lease_lost".into() });
    let paused = ws.expect("feed_paused").await;
    assert_eq!((&paused["reason"], &paused["retry_after_seconds"]), (&json!("lease_lost"), &json!(5)));
    // Who comes meanwhile hears it too.
    let mut late = Ws::open(world.at).await;
    late.subscribe("m", None).await;
    late.expect("feed_paused").await;
    late.expect("subscribed").await;
    late.expect("live").await;
    world.script.tell("m", Update::Resumed);
    ws.expect("feed_resumed").await;
    late.expect("feed_resumed").await;
    // A source that hangs up is asked again, and goes on where it was.
    world.script.publish("m", 1, 1, 0);
    ws.expect("score_event").await;
    world.script.hang_up("m");
    assert_eq!(ws.expect("feed_paused").await["reason"], "shard_lost");
    ws.expect("feed_resumed").await;
    world.script.publish("m", 2, 1, 0);
    assert_eq!(ws.expect("score_event").await["event_id"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_match_that_is_not_to_be_had_is_no_answer_that_hangs() {
    let mut config = plain();
    config.timing.start = Duration::from_millis(100);
    let world = world(config).await;
    world.script.mute("m");
    let mut ws = Ws::open(world.at).await;
    ws.subscribe("m", Some("1-0")).await;
    assert_eq!(ws.expect("feed_paused").await["reason"], "shard_unreachable");
    world.script.publish("m", 1, 1, 0);
    world.script.unmute("m");
    ws.expect("subscribed").await;
    assert_eq!(ws.expect("score_event").await["event_id"], 1);
    ws.expect("live").await;
}

/// A correction is never held back, and what is within the window leaves in one write.
#[tokio::test(flavor = "multi_thread")]
async fn a_window_coalesces_and_collapses_nothing() {
    let world = world(Config { coalesce_ms: 2_000, ..Config::default() }).await;
    let mut ws = Ws::open(world.at).await;
    ws.subscribe("m", None).await;
    ws.expect("subscribed").await;
    ws.expect("live").await;
    let began = std::time::Instant::now();
    world.script.publish("m", 1, 1, 0);
    ws.expect("score_event").await;
    world.script.publish("m", 2, 1, 0);
    world.script.publish("m", 2, 2, 0);
    for revision in [1, 2] {
        let frame = ws.expect("score_event").await;
        assert_eq!((&frame["event_id"], &frame["revision"]), (&json!(2), &json!(revision)));
    }
    assert!(began.elapsed() < Duration::from_secs(2), "a correction waited for the window");
    let began = std::time::Instant::now();
    world.script.publish("m", 3, 1, 0);
    ws.expect("score_event").await;
    assert!(began.elapsed() > Duration::from_millis(500), "nothing was held: {:?}", began.elapsed());
}
