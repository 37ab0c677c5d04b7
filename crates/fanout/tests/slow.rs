//! Who does not read: costs its cap and nobody else's latency.
#![allow(clippy::unwrap_used, reason = "a failed test may panic")]

mod support;

use std::time::{Duration, Instant};

use fanout::{Config, UNSENT_BYTES_MAX};
use serde_json::{Value, json};
use support::*;
use tokio::io::AsyncWriteExt;

/// Bytes of an event here.
const EVENT: usize = 2_000;

/// What the kernels of both sides may hold between them with the buffers that are set here, generously.
const KERNEL: usize = 256 << 10;

fn offset(payload: &[u8]) -> usize {
    let frame: Value = serde_json::from_slice(payload).unwrap();
    frame["cursor"].as_str().unwrap().rsplit_once('-').unwrap().1.parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_reader_is_closed_at_its_cap_and_gets_nothing_after() {
    let mut config = plain();
    config.timing.close = HANG;
    let world = world(config).await;
    let mut slow = raw(world.at, Some(4 << 10)).await;
    slow.0.get_mut().write_all(&masked(0x81, br#"{"op":"subscribe","match_id":"m"}"#)).await.unwrap();
    let mut quick = Ws::open(world.at).await;
    quick.subscribe("m", None).await;
    quick.expect("subscribed").await;
    quick.expect("live").await;
    until("both are in", || world.watching.of("m") == 2).await;

    let mut worst = Duration::ZERO;
    let mut published = 0;
    // It leaves its match when it is closed.
    while world.watching.of("m") == 2 {
        let began = Instant::now();
        published += 1;
        world.script.publish("m", published, 1, EVENT);
        quick.expect("score_event").await;
        worst = worst.max(began.elapsed());
        assert!(published < 10_000, "never closed");
    }
    assert!(worst < Duration::from_secs(1), "a slow reader held up a quick one: {worst:?}");
    for _ in 0..50 {
        published += 1;
        world.script.publish("m", published, 1, EVENT);
        quick.expect("score_event").await;
    }
    // Now it reads: what it gets is whole up to a point, then the reason, then nothing.
    let mut got = 0;
    let code = loop {
        match server_frame(&mut slow).await {
            Some((1, payload))
                if payload.starts_with(br#"{"cursor""#)
                    || payload.windows(11).any(|w| w == b"score_event") =>
            {
                got += 1;
                assert_eq!(offset(&payload), got, "a gap before the end");
            }
            Some((8, payload)) => break u16::from_be_bytes([payload[0], payload[1]]),
            Some(_) => {}
            None => panic!("cut without a reason after {got} events"),
        }
    };
    assert_eq!(code, 4000);
    assert_eq!(server_frame(&mut slow).await, None, "something came after the close frame");
    assert!(got * EVENT <= UNSENT_BYTES_MAX + KERNEL, "{got} events were kept for it");

    // It comes back and goes on.
    let mut again = Ws::open(world.at).await;
    again.subscribe("m", Some(&format!("1-{got}"))).await;
    again.expect("subscribed").await;
    for n in got as u64 + 1..=published {
        assert_eq!(again.expect("score_event").await["event_id"], n);
    }
    again.expect("live").await;
}

/// What is replayed because it was asked for is no reason to be closed; pings get their answers however full it is.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_replay_is_whole_and_every_ping_is_answered_under_back_pressure() {
    let world = world(plain()).await;
    const EVENTS: usize = 1_000;
    for n in 1..=EVENTS as u64 {
        world.script.publish("m", n, 1, EVENT);
    }
    let mut slow = raw(world.at, Some(4 << 10)).await;
    let subscribe = br#"{"op":"subscribe","match_id":"m","since_event_id":"1-0"}"#;
    slow.0.get_mut().write_all(&masked(0x81, subscribe)).await.unwrap();
    until("it is in", || world.watching.of("m") == 1).await;
    for n in 0..100_u8 {
        slow.0.get_mut().write_all(&masked(0x89, &[n])).await.unwrap();
    }
    let (mut events, mut pongs, mut live) = (0, 0, false);
    while !live || pongs < 100 {
        match server_frame(&mut slow).await {
            Some((10, payload)) => {
                assert_eq!(payload, [pongs], "a pong was dropped");
                pongs += 1;
            }
            Some((1, payload)) if payload.windows(11).any(|w| w == b"score_event") => {
                events += 1;
                assert_eq!(offset(&payload), events);
            }
            Some((1, payload)) => live |= payload == br#"{"type":"live","match_id":"m"}"#,
            other => panic!("{other:?} after {events} events and {pongs} pongs"),
        }
    }
    assert_eq!(events, EVENTS);
}

/// A source that was away brings much at once: that makes nobody slow.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_source_brings_back_closes_nobody() {
    let world = world(plain()).await;
    let mut slow = raw(world.at, Some(4 << 10)).await;
    slow.0.get_mut().write_all(&masked(0x81, br#"{"op":"subscribe","match_id":"m"}"#)).await.unwrap();
    let mut quick = Ws::open(world.at).await;
    quick.subscribe("m", None).await;
    until("both are in", || world.watching.of("m") == 2).await;
    world.script.hang_up("m");
    const EVENTS: usize = 500;
    for n in 1..=EVENTS as u64 {
        world.script.publish("m", n, 1, EVENT);
    }
    let mut events = 0;
    while events < EVENTS as u64 {
        let frame = quick.json().await;
        if frame["type"] == "score_event" {
            events += 1;
            assert_eq!(frame["event_id"], events);
        }
    }
    world.script.publish("m", EVENTS as u64 + 1, 1, EVENT);
    quick.expect("score_event").await;
    let mut events = 0;
    while events <= EVENTS {
        let (opcode, payload) = server_frame(&mut slow).await.expect("a frame");
        assert_eq!(opcode, 1, "closed after {events} events");
        if payload.windows(11).any(|w| w == b"score_event") {
            events += 1;
            assert_eq!(offset(&payload), events);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_takes_nothing_at_all_is_cut() {
    let mut config = plain();
    config.timing.stall = Duration::from_millis(300);
    let world = world(config).await;
    for n in 1..=1_000 {
        world.script.publish("m", n, 1, EVENT);
    }
    let mut stuck = raw(world.at, Some(4 << 10)).await;
    let subscribe = br#"{"op":"subscribe","match_id":"m","since_event_id":"1-0"}"#;
    stuck.0.get_mut().write_all(&masked(0x81, subscribe)).await.unwrap();
    until("it is in", || world.watching.of("m") == 1).await;
    until("it is cut", || world.watching.of("m") == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_socket_is_noticed_and_a_live_one_is_not() {
    let mut config = plain();
    (config.timing.ping, config.timing.silence) = (Duration::from_millis(500), Duration::from_millis(2_500));
    let world = world(config).await;
    // One never answers pings; the other is a client that does.
    let mut dead = raw(world.at, None).await;
    dead.0.get_mut().write_all(&masked(0x81, br#"{"op":"subscribe","match_id":"m"}"#)).await.unwrap();
    let mut live = Ws::open(world.at).await;
    live.subscribe("m", None).await;
    live.expect("subscribed").await;
    live.expect("live").await;
    until("both are in", || world.watching.of("m") == 2).await;
    let reading = tokio::spawn(async move {
        let frame = live.json().await;
        (live, frame)
    });
    until("the dead one is cut", || world.watching.of("m") == 1).await;
    // It was pinged before.
    let mut pinged = false;
    while let Some((opcode, _)) = server_frame(&mut dead).await {
        pinged |= opcode == 9;
    }
    assert!(pinged);
    world.script.publish("m", 1, 1, 0);
    assert_eq!(reading.await.unwrap().1["type"], "score_event");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_does_not_come_is_not_waited_for() {
    let mut config = plain();
    config.timing.head = Duration::from_millis(300);
    let world = world(config).await;
    let mut http = Http::open(world.at).await;
    http.0.get_mut().write_all(b"GET /v1/stream HTTP/1.1\r\nHost: x\r\nA: ").await.unwrap();
    let began = Instant::now();
    // A byte now and then does not help.
    while http.0.get_mut().write_all(b"a").await.is_ok() && began.elapsed() < HANG {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

/// Thousands are cut at once and come back: nobody who is in suffers, and those who are told to wait are told different
/// times.
#[tokio::test(flavor = "multi_thread")]
async fn two_thousand_come_back_at_once() {
    const STORM: usize = 2_000;
    let config = Config { upgrades_per_s: 1_000, upgrade_burst: 200, ..plain() };
    let world = world(config).await;
    let mut inside = Vec::new();
    for _ in 0..50 {
        let mut ws = Ws::open(world.at).await;
        ws.subscribe("m", Some("1-0")).await;
        ws.expect("subscribed").await;
        ws.expect("live").await;
        inside.push(ws);
    }
    let at = world.at;
    let come = move |since: Option<u64>| async move {
        let mut waits = Vec::new();
        loop {
            let mut http = Http::open(at).await;
            let fields = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
                          Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
            let last = since.map(|offset| format!("Last-Event-ID: m:1-{offset}\r\n")).unwrap_or_default();
            http.get("/v1/stream?match=m", &format!("{fields}{last}")).await;
            let (status, fields) = http.head().await;
            if status == 101 {
                return (http, waits);
            }
            assert_eq!(status, 503);
            let wait: u64 =
                fields.lines().find_map(|line| line.strip_prefix("retry-after: ")).unwrap().parse().unwrap();
            waits.push(wait);
            // A second of the server's is 50 ms here.
            tokio::time::sleep(Duration::from_millis(wait * 50)).await;
        }
    };
    let all = |since| async move {
        let coming: Vec<_> = (0..STORM).map(|_| tokio::spawn(come(since))).collect();
        let mut come = Vec::new();
        for one in coming {
            come.push(one.await.unwrap());
        }
        come
    };
    let first = all(None).await;
    until("all are in", || world.watching.of("m") == STORM + 50).await;
    drop(first);
    // Events go on while they are cut and come back.
    let script = world.script.clone();
    let publishing = tokio::spawn(async move {
        for event in 1..=100 {
            script.publish("m", event, 1, 0);
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    let again = all(Some(0)).await;
    publishing.await.unwrap();
    let waits: Vec<u64> = again.iter().flat_map(|(_, waits)| waits.clone()).collect();
    let mut kinds = waits.clone();
    kinds.sort_unstable();
    kinds.dedup();
    // A slow machine brings them so slowly that hardly any is refused; `admission` has its own test.
    assert!(waits.len() < 100 || kinds.len() >= 4, "they are told to come back together: {kinds:?}");
    for ws in &mut inside {
        for event in 1..=100 {
            assert_eq!(ws.expect("score_event").await["event_id"], event);
        }
    }
    for (mut http, _) in again {
        let mut events = 0;
        while events < 100 {
            let (_, payload) = server_frame(&mut http).await.expect("a frame");
            let frame: Value = serde_json::from_slice(&payload).unwrap_or(json!({}));
            if frame["type"] == "score_event" {
                events += 1;
                assert_eq!(frame["event_id"], events);
            }
        }
    }
}
