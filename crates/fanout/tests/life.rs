//! Who is let in, for how long, and how it ends.
#![allow(clippy::unwrap_used, reason = "a failed test may panic")]

mod support;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fanout::Config;
use pass::{Claims, KeySet, Signer};
use serde_json::json;
use support::*;
use tokio_tungstenite::tungstenite;

fn token(signer: &Signer, sub: &str, seconds: i64, country: Option<&str>) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64;
    let country = country.map(str::to_owned);
    signer.sign(&Claims { sub: sub.to_owned(), exp: now + seconds, country, ..Claims::default() }).unwrap()
}

fn keys(signer: &Signer) -> Option<KeySet> {
    Some(KeySet::from_jwks(&signer.jwks()).unwrap())
}

fn status(refused: Result<Ws, tungstenite::Error>) -> u16 {
    match refused {
        Err(tungstenite::Error::Http(answer)) => answer.status().as_u16(),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("was let in"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_good_token_nobody_is_let_in() {
    let signer = Signer::generate("k").unwrap();
    let world = world_with(plain(), keys(&signer)).await;
    let other = Signer::generate("k").unwrap();
    assert_eq!(status(Ws::open_with(world.at, "/v1/stream", &[]).await), 401);
    for bad in [token(&other, "v", 60, None), token(&signer, "v", -60, None), "a.b.c".into()] {
        let field = format!("Bearer {bad}");
        assert_eq!(status(Ws::open_with(world.at, "/v1/stream", &[("authorization", &field)]).await), 401);
        let mut sse = Http::open(world.at).await;
        sse.get(&format!("/v1/stream?match=m&access_token={bad}"), "").await;
        let (status, fields, body) = sse.answer().await;
        assert_eq!(status, 401, "{body}");
        assert!(
            fields.contains("www-authenticate: bearer") && fields.contains("access-control-allow-origin: *")
        );
    }
    let good = token(&signer, "v", 60, None);
    let mut ws =
        Ws::open_with(world.at, &format!("/v1/stream?match=m&access_token={good}"), &[]).await.unwrap();
    ws.expect("subscribed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_renewed_in_band_or_it_ends() {
    let signer = Signer::generate("k").unwrap();
    let mut config = plain();
    config.timing.notice = Duration::from_secs(3);
    let world = world_with(config, keys(&signer)).await;
    let open = |seconds| {
        let path = format!("/v1/stream?match=m&access_token={}", token(&signer, "v", seconds, None));
        async move { Ws::open_with(world.at, &path, &[]).await.unwrap() }
    };
    let (mut kept, mut ended) = (open(1).await, open(1).await);
    let path = format!("/v1/stream?match=m&access_token={}", token(&signer, "v", 1, None));
    let mut sse = Http::open(world.at).await;
    sse.get(&path, "").await;
    for ws in [&mut kept, &mut ended] {
        ws.expect("subscribed").await;
        ws.expect("live").await;
        let notice = ws.expect("token_expiring").await;
        assert!(notice["in_seconds"].as_u64().unwrap() <= 3, "{notice}");
    }
    // Others' tokens and bad ones change nothing.
    kept.say(json!({ "op": "token", "token": token(&signer, "w", 60, None) })).await;
    kept.expect("error").await;
    kept.say(json!({ "op": "token", "token": "x" })).await;
    kept.expect("error").await;
    kept.say(json!({ "op": "token", "token": token(&signer, "v", 60, None) })).await;
    assert_eq!(ended.close_code().await, Some(4001));
    assert_eq!(sse.head().await.0, 200);
    let mut last = json!(null);
    while let Some((_, event)) = sse.event().await {
        last = event;
    }
    assert_eq!(last["type"], "error", "the stream says why it ends: {last}");
    world.script.publish("m", 1, 1, 0);
    kept.expect("score_event").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn blackouts_fail_closed() {
    let signer = Signer::generate("k").unwrap();
    let world = world_with(plain(), keys(&signer)).await;
    let with = |country| format!("access_token={}", token(&signer, "v", 900, country));
    for (event, country) in [(1, None), (2, Some("GB"))] {
        let mut ws = Ws::open_with(world.at, &format!("/v1/stream?{}", with(country)), &[]).await.unwrap();
        ws.subscribe("dark", None).await;
        let refused = ws.expect("refused").await;
        assert_eq!((&refused["status"], &refused["match_id"]), (&json!(451), &json!("dark")));
        ws.subscribe("m", None).await;
        ws.expect("subscribed").await;
        ws.expect("live").await;
        world.script.publish("dark", event, 1, 0);
        world.script.publish("m", event, 1, 0);
        assert_eq!(ws.expect("score_event").await["match_id"], "m");
        let mut sse = Http::open(world.at).await;
        sse.get(&format!("/v1/stream?match=dark&{}", with(country)), "").await;
        assert_eq!(sse.answer().await.0, 451);
        let mut poll = Http::open(world.at).await;
        poll.get(&format!("/v1/stream?mode=poll&match=dark&{}", with(country)), "").await;
        assert_eq!(poll.answer().await.0, 451);
    }
    // A header is believed only if it is named in the configuration.
    let mut sse = Http::open(world.at).await;
    sse.get(&format!("/v1/stream?match=dark&{}", with(None)), "X-Country: IN\r\n").await;
    assert_eq!(sse.answer().await.0, 451);
    let mut ws =
        Ws::open_with(world.at, &format!("/v1/stream?match=dark&{}", with(Some("IN"))), &[]).await.unwrap();
    ws.expect("subscribed").await;
    ws.expect("live").await;
    // A new token that says another country takes away what it was for.
    ws.say(json!({ "op": "token", "token": token(&signer, "v", 900, Some("GB")) })).await;
    ws.expect("refused").await;
    until("it is taken off", || world.watching.of("dark") == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_for_some_matches_is_for_no_others() {
    let signer = Signer::generate("k").unwrap();
    let world = world_with(plain(), keys(&signer)).await;
    let claims =
        Claims { sub: "v".into(), exp: i64::MAX / 2, matches: Some(vec!["a".into()]), ..Claims::default() };
    let path = format!("/v1/stream?match=a&match=b&access_token={}", signer.sign(&claims).unwrap());
    let mut ws = Ws::open_with(world.at, &path, &[]).await.unwrap();
    let refused = ws.expect("refused").await;
    assert_eq!((&refused["match_id"], &refused["status"]), (&json!("b"), &json!(403)));
    assert_eq!(ws.expect("subscribed").await["match_id"], "a");
}

#[tokio::test(flavor = "multi_thread")]
async fn matches_of_a_socket_are_bounded() {
    let world = world(plain()).await;
    let mut ws = Ws::open(world.at).await;
    for n in 0..fanout::MATCHES_PER_SOCKET_MAX {
        ws.subscribe(&format!("m{n}"), None).await;
        ws.expect("subscribed").await;
        ws.expect("live").await;
    }
    ws.subscribe("more", None).await;
    assert_eq!(ws.expect("refused").await["status"], 429);
    ws.subscribe("a/b", None).await;
    assert_eq!(ws.expect("refused").await["status"], 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_comes_too_fast_is_told_when_to_come_back() {
    let world = world(Config { upgrades_per_s: 1, upgrade_burst: 3, ..plain() }).await;
    let mut inside = Vec::new();
    let mut refused = 0;
    for _ in 0..10 {
        match Ws::open_with(world.at, "/v1/stream?match=m", &[]).await {
            Ok(ws) => inside.push(ws),
            Err(tungstenite::Error::Http(answer)) => {
                refused += 1;
                assert_eq!(answer.status(), 503);
                let after: u32 = answer.headers()["retry-after"].to_str().unwrap().parse().unwrap();
                assert!((1..=8).contains(&after));
                assert_eq!(answer.headers()["content-type"], "application/problem+json");
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert!(inside.len() >= 3 && refused >= 1);
    world.script.publish("m", 1, 1, 0);
    for ws in &mut inside {
        ws.expect("subscribed").await;
        ws.expect("live").await;
        ws.expect("score_event").await;
    }
    // A poll goes on on its connection without asking again; one that is in is never refused.
    drop(inside);
    let mut poll = loop {
        let mut poll = Http::open(world.at).await;
        poll.get("/v1/stream?mode=poll&match=m", "").await;
        if poll.answer().await.0 == 200 {
            break poll;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    for _ in 0..10 {
        poll.get("/v1/stream?mode=poll&match=m", "").await;
        assert_eq!(poll.answer().await.0, 200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sockets_are_bounded() {
    let world = world(Config { sockets_max: 2, ..plain() }).await;
    let one = Ws::open(world.at).await;
    let _two = Ws::open(world.at).await;
    assert_eq!(status(Ws::open_with(world.at, "/v1/stream", &[]).await), 503);
    drop(one);
    let began = std::time::Instant::now();
    while Ws::open_with(world.at, "/v1/stream", &[]).await.is_err() {
        assert!(began.elapsed() < HANG);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drain_turns_new_ones_away_and_lets_old_ones_be() {
    let mut world = world(plain()).await;
    let mut old = Ws::open(world.at).await;
    old.subscribe("m", None).await;
    old.expect("subscribed").await;
    old.expect("live").await;
    world.leave.cancel();
    let began = std::time::Instant::now();
    let refused = loop {
        match Ws::open_with(world.at, "/v1/stream", &[]).await {
            Err(tungstenite::Error::Http(answer)) => break answer,
            _ => assert!(began.elapsed() < HANG),
        }
    };
    assert_eq!(refused.status(), 503);
    assert!(refused.headers().contains_key("retry-after"));
    world.script.publish("m", 1, 1, 0);
    old.expect("score_event").await;
    old.subscribe("n", None).await;
    old.expect("subscribed").await;
    assert!(!world.run.is_finished());
    drop(old);
    tokio::time::timeout(HANG, &mut world.run).await.expect("it ends with its last socket").unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_end_is_said_to_everybody() {
    let mut world = world(plain()).await;
    let mut ws = Ws::open(world.at).await;
    ws.subscribe("m", None).await;
    ws.expect("subscribed").await;
    let mut sse = Http::open(world.at).await;
    sse.get("/v1/stream?match=m", "").await;
    assert_eq!(sse.head().await.0, 200);
    let mut poll = Http::open(world.at).await;
    poll.get("/v1/stream?mode=poll&match=m&last_event_id=m:1-0", "").await;
    until("all are in", || world.watching.of("m") == 3).await;
    world.shutdown.cancel();
    assert_eq!(ws.close_code().await, Some(1001));
    while sse.event().await.is_some() {}
    let (status, fields, body) = poll.answer().await;
    assert_eq!((status, body.as_str()), (200, r#"{"events":[],"last_event_id":"m:1-0"}"#));
    assert!(fields.contains("connection: close"));
    tokio::time::timeout(HANG, &mut world.run).await.expect("it ends").unwrap();
}
