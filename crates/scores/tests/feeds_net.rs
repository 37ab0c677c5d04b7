//! Feeds over real sockets into a real ingest on a real spine.

#![allow(clippy::unwrap_used)]

mod feeds_common;

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use feeds_common::{Ground, KEY_A, KEY_B, WAIT_MAX, call, wait_for};
use futures_util::{SinkExt, StreamExt};
use http::{Method, StatusCode};
use scores::catalog::{self, Status};
use scores::feeds::{Answer, replay, scorer};
use scores::ingest::{Format, dead_letters};
use scores::{Event, EventId, Recording};
use serde_json::{Value, json};
use store::Log;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_util::sync::CancellationToken;

/// A feed of the start of the shipped match, some hundred times as fast.
fn feed(ground: &Ground, provider: &str, key: &str, format: Format) -> replay::Config {
    replay::Config {
        ingest: ground.url(),
        provider: provider.into(),
        key: key.into(),
        format,
        r#match: "demo".into(),
        recording: replay::Match::File(ground.recording()),
        speed: 300.0,
        start_ms: None,
        loss: 0.05,
        repeat: 0.02,
        reorder_ms: 100,
        delay_ms: 5,
        corrections: 0.15,
        correct_within_ms: 20_000,
        corrections_seed: 1,
        outages: Vec::new(),
        seed: 7,
    }
}

async fn spine(log: &dyn Log) -> Vec<Event> {
    let mut events = Vec::new();
    let mut after = 0;
    loop {
        let records = log.read("demo", after, 1_000).await.unwrap();
        let Some(last) = records.last() else { return events };
        after = last.offset;
        for record in records {
            let event: Event = serde_json::from_slice(&record.value).unwrap();
            assert_eq!(record.key, format!("{}.{}", event.event_id.0, event.revision));
            events.push(event);
        }
    }
}

/// Each (event, revision) once, revisions never backwards, and the end is the recording's.
fn check(events: &[Event], recording: &Recording) {
    let mut once = HashSet::new();
    let mut newest: HashMap<EventId, &Event> = HashMap::new();
    for event in events {
        assert!(once.insert((event.event_id, event.revision)), "twice: {event:?}");
        if let Some(before) = newest.insert(event.event_id, event) {
            assert!(before.revision < event.revision, "backwards: {event:?}");
        }
    }
    let truth: HashMap<EventId, _> =
        recording.statements.iter().map(|timed| (timed.body.event_id(), &timed.body)).collect();
    assert_eq!(newest.len(), truth.len());
    for (id, body) in truth {
        assert_eq!(&newest[&id].body, body);
    }
}

async fn plays(ground: &Ground, feeds: Vec<replay::Config>, kills: usize) {
    let shutdown = CancellationToken::new();
    let mut playing = Vec::new();
    for feed in feeds {
        playing.push(tokio::spawn(replay::run(feed, shutdown.clone())));
    }
    for kill in 1..=kills {
        // In the midst of it, wherever that is.
        let some = kill * 25;
        wait_for("some of the match", async || spine(&*ground.log).await.len() >= some).await;
        ground.kill();
        ground.start();
    }
    for feed in playing {
        tokio::time::timeout(WAIT_MAX, feed).await.expect("a feed is done in time").unwrap().unwrap();
    }
    check(&spine(&*ground.log).await, &ground.recorded());
}

#[tokio::test(flavor = "multi_thread")]
async fn two_bad_feeds_over_the_network_end_right() {
    let ground = Ground::new().await;
    ground.start();
    let feeds = vec![feed(&ground, "a", KEY_A, Format::Push), feed(&ground, "b", KEY_B, Format::Wire)];
    plays(&ground, feeds, 0).await;
    let status = ground.status().await;
    for provider in &status.providers {
        assert_eq!((provider.gaps, provider.waiting), (0, 0), "{provider:?}");
        assert_eq!(provider.contiguous, provider.newest);
    }
    assert_eq!(status.matches[0].happenings, last_words(&ground.recorded()).len());
    assert!(dead_letters(&*ground.log, 0).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn killing_ingest_in_between_loses_and_doubles_nothing() {
    let ground = Ground::new().await;
    ground.start();
    let feeds = vec![feed(&ground, "a", KEY_A, Format::Push), feed(&ground, "b", KEY_B, Format::Wire)];
    plays(&ground, feeds, 3).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn either_format_alone_carries_the_match_through_an_outage_and_a_kill() {
    for (provider, key, format) in [("a", KEY_A, Format::Push), ("b", KEY_B, Format::Wire)] {
        let ground = Ground::new().await;
        ground.start();
        let outages = vec!["0.5+0.5".parse().unwrap()];
        plays(&ground, vec![replay::Config { outages, ..feed(&ground, provider, key, format) }], 1).await;
    }
}

fn line(seq: u64, ball: u32, revision: u32, runs: u32) -> Value {
    json!({"seq": seq, "match": "demo", "at": feeds_common::now(), "revision": revision, "body": {"sport": "cricket",
        "at": {"innings": 1, "over": 0, "ball": ball, "slot": 0}, "kind": "delivery", "batter": "A", "non_striker": "B",
        "bowler": "C", "runs": runs}})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scorer_enters_a_match_with_a_code() {
    let ground = Ground::new().await;
    ground.start();
    let code = scorer::issue(&*ground.registers, "demo", scorer::CODE_LIVES).await.unwrap();
    let open = format!("{}/v1/feeds/scorer/open", ground.url());
    let attempt = |code: &str| json!({"match": "demo", "code": code}).to_string();

    let wrong = call(Method::POST, &open, "", "application/json", attempt("AAAAAAAA")).await;
    assert_eq!(wrong.status, StatusCode::FORBIDDEN);
    let opened = call(Method::POST, &open, "", "application/json", attempt(&code)).await;
    assert_eq!(opened.status, StatusCode::OK);
    let token = opened.json()["token"].as_str().unwrap().to_owned();
    assert_eq!(opened.json()["feed"], "scorer-demo");
    let again = call(Method::POST, &open, "", "application/json", attempt(&code)).await;
    assert_eq!(again.status, StatusCode::FORBIDDEN, "a code works once");

    let feed = format!("{}/v1/feeds/scorer-demo", ground.url());
    let push = async |lines: &[Value]| -> Answer {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let answer = call(Method::POST, &feed, &token, "application/x-ndjson", text).await;
        assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
        serde_json::from_value(answer.json()).unwrap()
    };
    assert_eq!(push(&[line(1, 1, 1, 4), line(2, 2, 1, 0)]).await.acked, 2);
    // Undone, entered anew; one that is skipped is missed; one of another match is not taken.
    let withdrawn = json!({"seq": 3, "match": "demo", "at": feeds_common::now(), "event_id": 1_000_002_000_u64, "revision": 2,
        "body": {"sport": "withdrawn", "event_id": 1_000_002_000_u64, "reason": "scorer_error"}});
    let mut other = line(4, 1, 1, 1);
    other["match"] = "other".into();
    let answer = push(&[withdrawn, other, line(6, 2, 3, 6)]).await;
    assert_eq!((answer.acked, answer.missing), (4, vec![(5, 5)]));
    assert_eq!(answer.rejected.iter().map(|r| r.seq).collect::<Vec<_>>(), [Some(4)]);
    assert_eq!(push(&[line(5, 1, 2, 6), line(1, 1, 1, 4)]).await.acked, 6);

    // The phone was reloaded, and ingest was killed.
    ground.kill();
    ground.start();
    let state = format!("{}/v1/feeds/scorer/state?match=demo", ground.url());
    let answer = call(Method::GET, &state, &token, "", String::new()).await;
    assert_eq!(answer.status, StatusCode::OK);
    let stands = answer.json();
    assert_eq!((&stands["next_seq"], &stands["acked"]), (&json!(7), &json!(6)));
    let runs: Vec<_> =
        stands["statements"].as_array().unwrap().iter().map(|s| s["body"]["runs"].clone()).collect();
    assert_eq!(runs, [6, 6]);
    let answer = push(&[line(7, 3, 1, 1)]).await;
    assert_eq!((answer.acked, answer.missing), (7, vec![]));
    assert_eq!(spine(&*ground.log).await.len(), 6);

    for (path, token) in [(&feed, "wrong"), (&state, "wrong"), (&feed, KEY_A), (&feed, "")] {
        let method = if path == &state { Method::GET } else { Method::POST };
        let refused = call(method, path, token, "application/x-ndjson", String::new()).await;
        assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn codes_cannot_be_tried_for_ever() {
    let ground = Ground::new().await;
    ground.start();
    let open = format!("{}/v1/feeds/scorer/open", ground.url());
    let mut last = StatusCode::FORBIDDEN;
    for _ in 0..6 {
        let body = json!({"match": "demo", "code": "AAAAAAAA"}).to_string();
        let answer = call(Method::POST, &open, "", "application/json", body).await;
        last = answer.status;
        if last == StatusCode::TOO_MANY_REQUESTS {
            assert!(answer.headers["retry-after"].to_str().unwrap().parse::<u64>().unwrap() > 0);
        }
        assert_eq!(answer.headers["access-control-allow-origin"], "*", "the page must be able to read it");
    }
    assert_eq!(last, StatusCode::TOO_MANY_REQUESTS);
    let preflight = call(Method::OPTIONS, &open, "", "", String::new()).await;
    assert_eq!(preflight.status, StatusCode::NO_CONTENT);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_taken_is_a_dead_letter_and_the_feed_goes_on() {
    let ground = Ground::new().await;
    let late = catalog::Match { id: "over".into(), status: Status::Final, ..feeds_common::entry() };
    catalog::put(&*ground.registers, &late).await.unwrap();
    ground.start();
    let feed = format!("{}/v1/feeds/a", ground.url());
    let mut football = line(3, 1, 1, 0);
    football["body"] = json!({"sport": "football", "which": {"side": "home", "nth": 1}, "clock": "1:00", "kind": "goal",
        "player": null, "own": false, "penalty": false});
    let of = |seq, name: &str| {
        let mut line = line(seq, 1, 1, 0);
        line["match"] = name.into();
        line
    };
    let mut future = line(7, 3, 1, 0);
    future["at"] = "2999-01-01T00:00:00Z".into();
    let lines = [
        line(1, 1, 1, 4).to_string(),
        r#"{"seq":2,"match":"demo","nonsense"#.to_string(),
        football.to_string(),
        of(4, "nowhere").to_string(),
        of(5, "over").to_string(),
        line(6, 1, 1, 99).to_string(),
        future.to_string(),
        line(8, 2, 0, 1).to_string(),
        "not even that".to_string(),
        line(9, 2, 1, 1).to_string(),
    ];
    let call = |body: String| call(Method::POST, &feed, KEY_A, "application/x-ndjson", body);
    for _ in 0..2 {
        let answer = call(lines.join("\n")).await;
        assert_eq!(answer.status, StatusCode::OK);
        let answer: Answer = serde_json::from_value(answer.json()).unwrap();
        assert_eq!((answer.acked, answer.missing), (9, vec![]));
        let rejected: Vec<_> = answer.rejected.iter().map(|r| r.seq).collect();
        assert_eq!(rejected, [Some(2), Some(3), Some(4), Some(5), Some(6), Some(7), Some(8), None]);
    }
    assert_eq!(spine(&*ground.log).await.len(), 2);
    let letters = ground.admin("/admin/dead-letters?after=0").await;
    let letters = letters["dead_letters"].as_array().unwrap();
    assert_eq!(letters.len(), 8, "said twice, kept once");
    let why: Vec<_> = letters.iter().map(|letter| letter["why"].as_str().unwrap()).collect();
    for (n, word) in
        [(1, "another sport"), (2, "no match"), (3, "not live"), (5, "not happened yet"), (6, "revision")]
    {
        assert!(why[n].contains(word), "{why:?}");
    }
    assert_eq!(letters[7]["said"], "not even that");
    let page = ground.admin("/admin/dead-letters?after=7").await;
    assert_eq!((page["after"].clone(), page["dead_letters"].as_array().unwrap().len()), (json!(8), 1));
    // The console begins with the newest.
    let mut pages = Vec::new();
    let mut before = json!(0);
    while !before.is_null() {
        let page = ground.admin(&format!("/admin/dead-letters?before={before}&limit=3")).await;
        let letters = page["dead_letters"].as_array().unwrap().iter();
        pages.push(letters.map(|letter| letter["offset"].as_u64().unwrap()).collect::<Vec<_>>());
        before = page["before"].clone();
    }
    assert_eq!(pages, [vec![8, 7, 6], vec![5, 4, 3], vec![2, 1]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_console_is_told_how_feeds_are() {
    let ground = Ground::new().await;
    ground.start();
    let empty = ground.admin("/admin/dead-letters?before=0").await;
    assert_eq!((&empty["before"], &empty["dead_letters"]), (&Value::Null, &json!([])));
    let told = ground.admin("/admin/feeds").await;
    let silent: Vec<_> =
        told["providers"].as_array().unwrap().iter().map(|p| (&p["provider"], &p["silent_ms"])).collect();
    let never = Value::Null;
    assert_eq!(silent, [(&json!("a"), &never), (&json!("b"), &never)], "a feed that never came is told of");

    let mut other = line(2, 2, 1, 0);
    other["match"] = "nowhere".into();
    let said = [line(1, 1, 1, 4), other, line(5, 3, 1, 1)].map(|line| line.to_string()).join("\n");
    let feed = format!("{}/v1/feeds/a", ground.url());
    let answer = call(Method::POST, &feed, KEY_A, "application/x-ndjson", said).await;
    assert_eq!(answer.status, StatusCode::OK);
    let told = ground.admin("/admin/feeds").await;
    let a = &told["providers"][0];
    assert_eq!((&a["contiguous"], &a["newest"], &a["missing"]), (&json!(2), &json!(5), &json!([[3, 4]])));
    assert_eq!(a["matches"].as_array().unwrap().len(), 1, "not of one that nobody has: {a}");
    assert_eq!(a["matches"][0]["match_id"], "demo");
    assert!(a["matches"][0]["silent_ms"].as_u64().is_some() && a["matches"][0]["age_ms"].as_u64().is_some());
    let demo = &told["matches"][0];
    assert_eq!(
        (&demo["match_id"], &demo["happenings"], &demo["delayed"]),
        (&json!("demo"), &json!(2), &json!(false))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_right_key_and_format_is_taken() {
    let ground = Ground::new().await;
    ground.start();
    let at = |path: &str| format!("{}{path}", ground.url());
    let ndjson = "application/x-ndjson";
    for (method, path, key, kind, status) in [
        (Method::POST, "/v1/feeds/a", "", ndjson, StatusCode::UNAUTHORIZED),
        (Method::POST, "/v1/feeds/a", KEY_B, ndjson, StatusCode::UNAUTHORIZED),
        (Method::POST, "/v1/feeds/nobody", KEY_A, ndjson, StatusCode::UNAUTHORIZED),
        (Method::POST, "/v1/feeds/b", KEY_B, ndjson, StatusCode::UNSUPPORTED_MEDIA_TYPE),
        (Method::GET, "/v1/feeds/a", KEY_A, "", StatusCode::UPGRADE_REQUIRED),
        (Method::GET, "/v1/feeds/a", "", "", StatusCode::UNAUTHORIZED),
        (Method::GET, "/v1/feeds", "", "", StatusCode::UNAUTHORIZED),
        (Method::GET, "/v1/nothing", "", "", StatusCode::NOT_FOUND),
        (Method::GET, "/livez", "", "", StatusCode::OK),
    ] {
        let answer = call(method, &at(path), key, kind, String::new()).await;
        assert_eq!(answer.status, status, "{path}");
    }
    let large = call(Method::POST, &at("/v1/feeds/a"), KEY_A, ndjson, "x".repeat(2 << 20)).await;
    assert_eq!(large.status, StatusCode::PAYLOAD_TOO_LARGE);
}

/// Two ingests on one spine, each with a feed of its own: together as one.
#[tokio::test(flavor = "multi_thread")]
async fn two_ingests_publish_each_revision_once() {
    let ground = Ground::new().await;
    ground.start();
    let other = ground.twin().await;
    other.start();
    let feeds = [feed(&ground, "a", KEY_A, Format::Push), feed(&other, "b", KEY_B, Format::Wire)];
    let shutdown = CancellationToken::new();
    let playing: Vec<_> = feeds.map(|feed| tokio::spawn(replay::run(feed, shutdown.clone()))).into();
    for feed in playing {
        tokio::time::timeout(WAIT_MAX, feed).await.expect("a feed is done in time").unwrap().unwrap();
    }
    // One may have been a moment ahead in the other's memory; the contents are right all the same.
    let mut newest: HashMap<EventId, Event> = HashMap::new();
    for event in spine(&*ground.log).await {
        let standing = newest.entry(event.event_id).or_insert_with(|| event.clone());
        if event.revision > standing.revision {
            *standing = event;
        }
    }
    for timed in last_words(&ground.recorded()) {
        assert_eq!(newest[&timed.0].body, timed.1);
    }
}

fn last_words(recording: &Recording) -> HashMap<EventId, scores::Body> {
    recording.statements.iter().map(|timed| (timed.body.event_id(), timed.body.clone())).collect()
}

/// No acknowledgement before it is durable: while the spine cannot be written, the provider hears nothing, and what it
/// said is taken when it can be.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_acknowledged_that_is_not_durable() {
    let ground = Ground::new().await;
    ground.start();
    ground.set_failing(true);
    let feed = format!("{}/v1/feeds/a", ground.url());
    let asked = tokio::spawn(async move {
        call(Method::POST, &feed, KEY_A, "application/x-ndjson", line(1, 1, 1, 4).to_string()).await
    });
    let answered = async {
        while !asked.is_finished() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_millis(700), answered)
        .await
        .expect_err("no answer while the disk fails");
    assert!(spine(&*ground.log).await.is_empty());
    ground.set_failing(false);
    let answer = tokio::time::timeout(WAIT_MAX, asked).await.unwrap().unwrap();
    assert_eq!(answer.json()["acked"], 1);
    assert_eq!(spine(&*ground.log).await.len(), 1);
}

type Socket = tokio_tungstenite::WebSocketStream<tokio_tungstenite::MaybeTlsStream<tokio::net::TcpStream>>;

async fn connect(ground: &Ground, key: &str) -> Result<Socket, StatusCode> {
    let url = format!("{}/v1/feeds/a", ground.url().replace("http", "ws"));
    let mut request = url.into_client_request().unwrap();
    request.headers_mut().insert("authorization", format!("Bearer {key}").parse().unwrap());
    match tokio_tungstenite::connect_async(request).await {
        Ok((socket, _)) => Ok(socket),
        Err(tokio_tungstenite::tungstenite::Error::Http(answer)) => Err(answer.status()),
        Err(error) => panic!("{error}"),
    }
}

/// What ingest says until this is said.
async fn until(socket: &mut Socket, said: Value) -> Vec<Value> {
    let mut before = Vec::new();
    let reading = async {
        loop {
            let message = socket.next().await.expect("the connection holds").unwrap();
            let Message::Text(text) = message else { continue };
            let message: Value = serde_json::from_str(&text).unwrap();
            if message == said {
                break;
            }
            before.push(message);
        }
    };
    tokio::time::timeout(WAIT_MAX, reading).await.unwrap_or_else(|_| panic!("never said: {said}"));
    before
}

/// The format to the letter, with a client that is not ours.
#[tokio::test(flavor = "multi_thread")]
async fn a_provider_is_told_what_it_must_know() {
    let ground = Ground::new().await;
    ground.start();
    assert_eq!(connect(&ground, KEY_B).await.err(), Some(StatusCode::UNAUTHORIZED));
    let mut socket = connect(&ground, KEY_A).await.unwrap();
    until(&mut socket, json!({"hello": {"after": 0}})).await;
    for seq in [1, 2, 4] {
        socket.send(Message::text(line(seq, seq as u32, 1, 1).to_string())).await.unwrap();
    }
    let before = until(&mut socket, json!({"resend": [[3, 3]]})).await;
    assert_eq!(before.last(), Some(&json!({"ack": 2})), "{before:?}");
    socket.send(Message::text(r#"{"seq":3,"match":"#)).await.unwrap();
    socket.send(Message::text(r#"{"seq":3,"match":7}"#)).await.unwrap();
    let before = until(&mut socket, json!({"ack": 4})).await;
    let rejected: Vec<_> = before.iter().filter_map(|message| message.get("rejected")).collect();
    assert!(rejected.contains(&&json!(3)), "{before:?}");
    // Several in one message; what is gone is not asked for.
    let lines = format!("{}\n{}\n", line(7, 5, 1, 1), json!({"gone": [[5, 6]]}));
    socket.send(Message::text(lines)).await.unwrap();
    until(&mut socket, json!({"ack": 7})).await;
    let status = ground.status().await;
    assert_eq!((status.providers[0].connections, status.providers[0].contiguous), (1, 7));
    socket.close(None).await.unwrap();

    let mut socket = connect(&ground, KEY_A).await.unwrap();
    until(&mut socket, json!({"hello": {"after": 7}})).await;
    ground.kill();
    ground.start();
    let mut socket = connect(&ground, KEY_A).await.unwrap();
    until(&mut socket, json!({"hello": {"after": 0}})).await;
    let events = spine(&*ground.log).await;
    assert_eq!(events.iter().map(|event| event.provider_seq).collect::<Vec<_>>(), [1, 2, 4, 7]);
}
