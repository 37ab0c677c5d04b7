//! SSE, long-poll and the other paths, as HTTP.
#![allow(clippy::unwrap_used, reason = "a failed test may panic")]

mod support;

use serde_json::{Value, json};
use support::*;
use tokio::io::AsyncWriteExt;

/// The same events, in the same order, whichever way one asks.
#[tokio::test(flavor = "multi_thread")]
async fn every_transport_gives_the_same() {
    let world = world(plain()).await;
    for n in 1..=5 {
        world.script.publish("m", n, 1, 0);
    }
    world.script.publish("m", 2, 2, 0);
    let mut ws = Ws::open(world.at).await;
    ws.subscribe("m", Some("1-1")).await;
    let mut sse = Http::open(world.at).await;
    sse.get("/v1/stream?match=m", "Last-Event-ID: m:1-1\r\n").await;
    let (status, fields) = sse.head().await;
    assert_eq!(status, 200);
    for field in
        ["content-type: text/event-stream", "x-accel-buffering: no", "cache-control: no-store, no-transform"]
    {
        assert!(fields.contains(field), "{fields}");
    }
    let (mut by_socket, mut by_sse) = (Vec::new(), Vec::new());
    for _ in 0..7 {
        by_socket.push(ws.json().await);
        by_sse.push(sse.event().await.unwrap().1);
    }
    assert_eq!(by_socket, by_sse);
    let mut poll = Http::open(world.at).await;
    poll.get("/v1/stream?mode=poll&match=m&last_event_id=m:1-1", "").await;
    let (_, fields, body) = poll.answer().await;
    assert!(fields.contains("content-type: application/json") && fields.contains("x-accel-buffering: no"));
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["events"].as_array().unwrap()[..], by_socket[1..6]);
    assert_eq!(body["last_event_id"], "m:1-6");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_poll_waits_and_its_connection_stays() {
    let world = world(plain()).await;
    let mut poll = Http::open(world.at).await;
    poll.get("/v1/stream?mode=poll&match=m", "").await;
    let (_, fields, body) = poll.answer().await;
    assert!(fields.contains("connection: keep-alive"));
    let first = json!({ "type": "subscribed", "match_id": "m", "cursor": "1-0" });
    assert_eq!(
        serde_json::from_str::<Value>(&body).unwrap(),
        json!({ "events": [first], "last_event_id": "m:1-0" })
    );
    // Two at once: the second waits for its turn.
    poll.get("/v1/stream?mode=poll&match=m&last_event_id=m:1-0", "").await;
    poll.get("/v1/stream?mode=poll&match=m&last_event_id=m:1-1&wait=0", "Connection: close\r\n").await;
    until("it waits", || world.watching.of("m") == 1).await;
    world.script.publish("m", 1, 1, 0);
    let body: Value = serde_json::from_str(&poll.answer().await.2).unwrap();
    assert_eq!((&body["events"][0]["event_id"], &body["last_event_id"]), (&json!(1), &json!("m:1-1")));
    let (_, fields, body) = poll.answer().await;
    assert_eq!(body, r#"{"events":[],"last_event_id":"m:1-1"}"#);
    assert!(fields.contains("connection: close"));
    assert_eq!(poll.line().await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn sse_keeps_a_proxy_awake() {
    let mut config = plain();
    config.timing.comment = std::time::Duration::from_millis(500);
    let world = world(config).await;
    let mut sse = Http::open(world.at).await;
    sse.get("/v1/stream?match=m", "").await;
    sse.head().await;
    let retry = sse.line().await.unwrap();
    let ms: u32 = retry.strip_prefix("retry: ").unwrap().parse().unwrap();
    assert!((1_000..5_000).contains(&ms));
    let mut comments = 0;
    while comments < 2 {
        comments += usize::from(sse.line().await.expect("it goes on").starts_with(':'));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn other_paths_are_others_business_and_the_stream_comes_back() {
    let world = world(plain()).await;
    let mut http = Http::open(world.at).await;
    for path in ["/v1/matches/m/snapshot", "/", "/v1/streams"] {
        http.get(path, "").await;
        assert_eq!(http.answer().await.2, format!("other {path} "));
    }
    // A body that came with its head is not lost on the way.
    let post = "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello";
    http.0.get_mut().write_all(post.as_bytes()).await.unwrap();
    assert_eq!(http.answer().await.2, "other /x hello");
    // Browsers ask for both on one connection.
    http.get("/v1/stream?mode=poll&match=m", "").await;
    assert!(http.answer().await.2.contains("subscribed"));
    http.get("/v1/matches/m/snapshot", "").await;
    assert_eq!(http.answer().await.2, "other /v1/matches/m/snapshot ");
    http.get("/v1/stream?match=m", "").await;
    assert_eq!(http.head().await.0, 200);
    assert_eq!(http.event().await.unwrap().1["type"], "subscribed");
    world.script.publish("m", 1, 1, 0);
    assert_eq!(http.event().await.unwrap().1["type"], "live");
    assert_eq!(http.event().await.unwrap().1["event_id"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_answered_is_said_so() {
    let world = world(plain()).await;
    let upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\n";
    let key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    for (request, status) in [
        ("POST /v1/stream HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(), 405),
        ("GET /v1/stream HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(), 400),
        ("GET /v1/stream?match=m HTTP/1.1\r\n\r\n".to_owned(), 400),
        ("GET /v1/stream?match=m HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc".to_owned(), 400),
        ("GET /v1/stream?match=m HTTP/1.1\nHost: x\n\n".to_owned(), 400),
        ("nonsense\r\n\r\n".to_owned(), 400),
        (
            format!("GET /v1/stream HTTP/1.1\r\nHost: x\r\n{upgrade}{key}Sec-WebSocket-Version: 8\r\n\r\n"),
            426,
        ),
        (format!("GET /v1/stream HTTP/1.1\r\nHost: x\r\n{upgrade}Sec-WebSocket-Version: 13\r\n\r\n"), 400),
        (format!("GET /v1/stream HTTP/1.1\r\nHost: x\r\nA: {}\r\n\r\n", "a".repeat(17_000)), 431),
    ] {
        let mut http = Http::open(world.at).await;
        http.0.get_mut().write_all(request.as_bytes()).await.unwrap();
        let (found, fields, body) = http.answer().await;
        assert_eq!(found, status, "{request}");
        assert!(fields.contains("application/problem+json"), "{fields}");
        assert_eq!(serde_json::from_str::<Value>(&body).unwrap()["status"], status);
    }
    let mut http = Http::open(world.at).await;
    let preflight = "OPTIONS /v1/stream HTTP/1.1\r\nHost: x\r\nOrigin: http://a\r\n\r\n";
    http.0.get_mut().write_all(preflight.as_bytes()).await.unwrap();
    let (status, fields) = http.head().await;
    assert_eq!(status, 204);
    assert!(fields.contains("access-control-allow-headers: authorization, content-type, last-event-id"));
}
