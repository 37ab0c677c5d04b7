//! The snapshot role behind a real shard, asked over HTTP.
#![allow(clippy::unwrap_used)]

mod shard_support;

use std::io::Read;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Empty};
use hyper_util::client::legacy::Client as Pool;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use scores::catalog::{self, Status};
use scores::snapshot::{self, Config};
use scores::{Body, Book, Event, Recording, Sport, recording};
use serde_json::{Value, json};
use shard_support::*;
use tokio::net::TcpListener;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

type Client = Pool<HttpConnector, Empty<Bytes>>;

/// A role that ends with the test.
struct Role {
    address: SocketAddr,
    client: Client,
    _stop: DropGuard,
}

#[derive(Debug)]
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {:?}", self.body))
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

impl Role {
    async fn start(ground: &Ground, shard: SocketAddr, config: Config) -> Role {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let serving = snapshot::serve(
            config,
            listener,
            subscriber(shard),
            ground.registers.clone(),
            Arc::new(|id: &str| id.len() as u64),
            stop.clone(),
        );
        tokio::spawn(async move { serving.await.unwrap() });
        Role { address, client: Pool::builder(TokioExecutor::new()).build_http(), _stop: stop.drop_guard() }
    }

    async fn ask(&self, method: Method, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut request = Request::builder().method(method).uri(format!("http://{}{path}", self.address));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = self.client.request(request.body(Empty::new()).unwrap());
        let (parts, body) = timeout(HANG, answer).await.unwrap().unwrap().into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answer { status: parts.status, headers: parts.headers, body }
    }

    async fn get(&self, path: &str) -> Answer {
        self.ask(Method::GET, path, &[]).await
    }

    /// Asks until the answer is as wanted.
    async fn until(&self, path: &str, wanted: impl Fn(&Answer) -> bool) -> Answer {
        let asking = async {
            loop {
                let answer = self.get(path).await;
                if wanted(&answer) {
                    break answer;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(HANG, asking).await.unwrap_or_else(|_| panic!("{path} never is as wanted"))
    }
}

fn book(events: &[Event]) -> Book {
    let mut book = Book::new(Sport::Cricket);
    events.iter().for_each(|event| {
        book.take(event);
    });
    book
}

/// A few deliveries later something that happened before them is corrected.
fn corrected(events: &mut Vec<Event>) {
    let last = events.last().unwrap().clone();
    let old = events[events.len() / 2].clone();
    let body = Body::Withdrawn { event_id: old.event_id, reason: "scorer_error".into() };
    events.push(Event { revision: old.revision + 1, venue_ms: last.venue_ms, body, ..old });
}

const SNAPSHOT: &str = "/v1/matches/demo/snapshot";

#[tokio::test]
async fn what_is_said_is_what_the_events_fold_to() {
    let mut events = demo("demo");
    events.truncate(120);
    corrected(&mut events);
    let ground = Ground::with(&[entry("demo", Sport::Cricket, Status::Live)]).await;
    ground.append(&events).await;
    let shard = ground.shard().await;
    let role = Role::start(&ground, shard.address, Config::default()).await;

    let all = events.len();
    let snapshot = role.until(SNAPSHOT, |answer| answer.status == StatusCode::OK).await;
    let said = snapshot.json();
    let epoch = store::Log::epoch(&*ground.log, "demo").await.unwrap().unwrap();
    assert_eq!(said["as_of_event_id"], format!("{epoch:x}-{all}"));
    assert_eq!(said["score"], serde_json::to_value(book(&events).headline(None)).unwrap());
    assert_eq!((&said["status"], &said["sport"]), (&json!("live"), &json!("cricket")));
    assert_eq!((&said["match_id"], &said["feed_delayed"]), (&json!("demo"), &json!(false)));
    let recent = said["recent"].as_array().unwrap();
    let cursors: Vec<_> = recent.iter().map(|frame| frame["cursor"].clone()).collect();
    let newest: Vec<_> = (all - 9..=all).map(|offset| json!(format!("{epoch:x}-{offset}"))).collect();
    assert_eq!(cursors, newest);
    assert!(recent[9]["correction"].as_bool().unwrap());

    // At the time of any event: what was known of the field then, and where to go on from there.
    for n in [0, 1, all / 2, all - 2] {
        let at = events[n].venue_ms;
        let card = role.get(&format!("/v1/matches/demo/card?at={at}")).await.json();
        let until = events.iter().position(|e| e.venue_ms > at).unwrap_or(all);
        assert_eq!(card["cursor"], format!("{epoch:x}-{until}"), "{n}");
        assert_eq!(card["upto"], format!("{epoch:x}-{all}"));
        assert_eq!(card["card"], serde_json::to_value(book(&events).card(Some(at))).unwrap());
        assert_eq!(card["score"], serde_json::to_value(book(&events).headline_at(Some(at))).unwrap());
    }
    let card = role.get("/v1/matches/demo/card").await.json();
    assert_eq!(card["card"], serde_json::to_value(book(&events).card(None)).unwrap());
    assert_eq!(card["cursor"], card["upto"]);
    let moments = role.get("/v1/matches/demo/moments").await.json();
    assert_eq!(moments["moments"], serde_json::to_value(book(&events).moments()).unwrap());
    assert!(!moments["moments"].as_array().unwrap().is_empty());
    assert_eq!(role.get("/v1/matches/demo/watching").await.json(), json!({ "watching": 4 }));
}

#[tokio::test]
async fn an_answer_says_who_may_keep_it_and_is_not_sent_to_who_has_it() {
    let events = demo("demo");
    let ground = Ground::with(&[entry("demo", Sport::Cricket, Status::Live)]).await;
    ground.append(&events[..60]).await;
    let shard = ground.shard().await;
    let role = Role::start(&ground, shard.address, Config::default()).await;
    let plain = role.until(SNAPSHOT, |answer| answer.status == StatusCode::OK).await;
    assert_eq!(plain.header("cache-control"), Some("private, max-age=10, stale-while-revalidate=30"));
    assert_eq!(plain.header("cdn-cache-control"), Some("max-age=1"));
    assert_eq!(plain.header("vary"), Some("accept-encoding"));
    assert_eq!(plain.header("access-control-allow-origin"), Some("*"));
    assert_eq!((plain.header("content-encoding"), plain.header("x-snapshot-stale")), (None, None));

    let small = role.ask(Method::GET, SNAPSHOT, &[("accept-encoding", "gzip, br")]).await;
    assert_eq!(small.header("content-encoding"), Some("br"));
    let mut read = Vec::new();
    brotli::Decompressor::new(&small.body[..], 4_096).read_to_end(&mut read).unwrap();
    assert_eq!(read, plain.body);
    let gzip = role.ask(Method::GET, SNAPSHOT, &[("accept-encoding", "br;q=0, gzip")]).await;
    assert_eq!(gzip.header("content-encoding"), Some("gzip"));
    let mut unzipped = Vec::new();
    flate2::read::GzDecoder::new(&gzip.body[..]).read_to_end(&mut unzipped).unwrap();
    assert_eq!(unzipped, plain.body);
    assert!(gzip.body.len() * 2 < plain.body.len());
    let (tag, zipped) = (plain.header("etag").unwrap(), gzip.header("etag").unwrap());
    let smallest = small.header("etag").unwrap();
    assert!(tag != zipped && zipped != smallest && smallest != tag, "they are other bytes");

    for known in [tag, zipped, smallest, &format!("\"x\", W/{tag}"), "*"] {
        let answer = role.ask(Method::GET, SNAPSHOT, &[("if-none-match", known)]).await;
        assert_eq!((answer.status, answer.body.len()), (StatusCode::NOT_MODIFIED, 0), "{known}");
        assert_eq!(answer.header("etag"), Some(tag));
        assert_eq!(answer.header("cdn-cache-control"), Some("max-age=1"));
    }
    let head = role.ask(Method::HEAD, SNAPSHOT, &[]).await;
    assert_eq!((head.status, head.body.len()), (StatusCode::OK, 0));
    assert_eq!(head.header("content-length"), Some(plain.body.len().to_string().as_str()));
    assert_eq!(head.header("etag"), Some(tag));

    // What happens changes the tag.
    ground.append(&events[60..61]).await;
    let cursor = plain.json()["as_of_event_id"].as_str().unwrap().replace("-60", "-61");
    let path = format!("{SNAPSHOT}?since={cursor}");
    let next = role.ask(Method::GET, &path, &[("if-none-match", tag)]).await;
    assert_eq!((next.status, &next.json()["as_of_event_id"]), (StatusCode::OK, &json!(cursor)));
}

#[tokio::test]
async fn what_is_not_there_and_what_is_not_understood_is_a_problem_document() {
    let ground = Ground::with(&[entry("demo", Sport::Cricket, Status::Scheduled)]).await;
    let shard = ground.shard().await;
    let role = Role::start(&ground, shard.address, Config::default()).await;
    for (method, path, status) in [
        (Method::GET, "/v1/matches/other/snapshot", 404),
        (Method::GET, "/v1/matches/demo/nothing", 404),
        (Method::GET, "/v1/matches", 404),
        (Method::GET, "/v1/matches/demo/card?at=now", 400),
        (Method::GET, "/v1/matches/demo/card?since=x", 400),
        (Method::POST, "/v1/matches/demo/snapshot", 405),
    ] {
        let answer = role.ask(method, path, &[]).await;
        assert_eq!(answer.status.as_u16(), status, "{path}");
        assert_eq!(answer.header("content-type"), Some("application/problem+json"));
        assert_eq!(answer.json()["status"], status);
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    }
    let preflight = role.ask(Method::OPTIONS, SNAPSHOT, &[]).await;
    assert_eq!(preflight.status, StatusCode::NO_CONTENT);
    assert_eq!(
        preflight.header("access-control-allow-headers"),
        Some("authorization, content-type, last-event-id")
    );

    // A match that has not begun is there, with nothing in it, and is asked for only when somebody asks.
    let nothing = role.until(SNAPSHOT, |answer| answer.status == StatusCode::OK).await.json();
    assert_eq!((&nothing["status"], &nothing["as_of_event_id"]), (&json!("scheduled"), &json!("0-0")));
    assert_eq!(nothing["recent"], json!([]));
    ground.append(&demo("demo")[..1]).await;
    role.until(SNAPSHOT, |answer| answer.json()["recent"].as_array().is_some_and(|r| r.len() == 1)).await;
    // And so is one that is entered while the role runs.
    catalog::put(&*ground.registers, &entry("new", Sport::Football, Status::Live)).await.unwrap();
    role.until("/v1/matches/new/snapshot", |answer| answer.status == StatusCode::OK).await;
}

#[tokio::test]
async fn without_the_relay_memory_is_served_and_says_that_it_is_old() {
    let events = demo("demo");
    let ground = Ground::with(&[entry("demo", Sport::Cricket, Status::Live)]).await;
    ground.append(&events[..40]).await;
    let shard = ground.shard().await;
    let role = Role::start(&ground, shard.address, Config::default()).await;
    let fresh = role.until(SNAPSHOT, |answer| answer.status == StatusCode::OK).await;
    let cursor = fresh.json()["as_of_event_id"].as_str().unwrap().to_owned();
    let ahead = format!("{SNAPSHOT}?since={}", cursor.replace("-40", "-45"));

    // A cursor that does not come is waited for, and not lied about.
    let behind = role.get(&ahead).await;
    assert_eq!(behind.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!((1..=4).contains(&behind.header("retry-after").unwrap().parse::<u32>().unwrap()));

    let address = shard.address;
    drop(shard);
    let is_stale = |answer: &Answer| answer.header("x-snapshot-stale") == Some("true");
    let stale = role.until(SNAPSHOT, is_stale).await;
    assert_eq!((stale.status, &stale.body), (StatusCode::OK, &fresh.body));
    let tag = stale.header("etag").unwrap().to_owned();
    let known = role.ask(Method::GET, SNAPSHOT, &[("if-none-match", &tag)]).await;
    assert_eq!((known.status, known.header("x-snapshot-stale")), (StatusCode::NOT_MODIFIED, Some("true")));
    assert!(is_stale(&role.get(&ahead).await), "nothing newer will come, so what there is is given at once");

    ground.append(&events[40..45]).await;
    let shard = ground.shard_at(address).await;
    let back = role.until(&ahead, |answer| answer.status == StatusCode::OK && !is_stale(answer)).await;
    assert_eq!(back.json()["score"], serde_json::to_value(book(&events[..45]).headline(None)).unwrap());

    // The spine, not the relay: the same.
    ground.log.lose(true);
    role.until(SNAPSHOT, is_stale).await;
    ground.log.lose(false);
    role.until(SNAPSHOT, |answer| !is_stale(answer)).await;
    drop(shard);
}

#[tokio::test]
async fn a_role_that_never_had_a_match_says_when_to_come_back() {
    let ground = Ground::with(&[entry("demo", Sport::Cricket, Status::Live)]).await;
    let nobody = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let role = Role::start(&ground, nobody, Config::default()).await;
    let answer = role.get(SNAPSHOT).await;
    assert_eq!(
        (answer.status, answer.header("cache-control")),
        (StatusCode::SERVICE_UNAVAILABLE, Some("no-store"))
    );
    assert!((1..=4).contains(&answer.header("retry-after").unwrap().parse::<u32>().unwrap()));
}

#[tokio::test]
async fn each_resource_of_each_match_has_a_limit_of_its_own() {
    let matches = ["demo", "two"].map(|id| entry(id, Sport::Cricket, Status::Live));
    let ground = Ground::with(&matches).await;
    let events = demo("demo");
    ground.append(&events[..200]).await;
    ground.append(&demo("two")[..200]).await;
    let shard = ground.shard().await;
    let config = Config { cards_per_s: 1, ..Config::default() };
    let role = Role::start(&ground, shard.address, config).await;
    for path in [SNAPSHOT, "/v1/matches/two/snapshot"] {
        role.until(path, |answer| answer.status == StatusCode::OK).await;
    }
    // Moments long past are folded as often as that, each once.
    let of = |id: &str, n: usize| format!("/v1/matches/{id}/card?at={}", events[n].venue_ms);
    let mut asked = (0..100).map(|n| of("demo", n));
    let refused = loop {
        let path = asked.next().expect("none is refused");
        let answer = role.get(&path).await;
        if answer.status != StatusCode::OK {
            break (path, answer);
        }
    };
    let (path, refused) = refused;
    assert_eq!((refused.status, &refused.json()["status"]), (StatusCode::TOO_MANY_REQUESTS, &json!(429)));
    assert!((1..=4).contains(&refused.header("retry-after").unwrap().parse::<u32>().unwrap()));
    let others = [SNAPSHOT, "/v1/matches/demo/moments", "/v1/matches/demo/watching", &of("two", 0)];
    for path in others {
        assert_eq!(role.get(path).await.status, StatusCode::OK, "{path}");
    }
    role.until(&path, |answer| answer.status == StatusCode::OK).await;
}

/// `card?at=` can be asked with any number of values, each of which goes past every cache. Between two happenings they are
/// all one card, which is folded once; what is in memory is given to everybody, and what people watch is always folded.
#[tokio::test]
async fn one_rude_client_denies_cards_to_nobody() {
    let mut events = demo("demo");
    events.truncate(240);
    let ground = Ground::with(&[entry("demo", Sport::Cricket, Status::Live)]).await;
    ground.append(&events[..230]).await;
    let shard = ground.shard().await;
    // One is folded now and then, so that nobody is helped by the rate.
    let role = Role::start(&ground, shard.address, Config { cards_per_s: 1, ..Config::default() }).await;
    role.until(SNAPSHOT, |answer| answer.status == StatusCode::OK).await;
    let mut rng = fastrand::Rng::with_seed(7);
    let times = events[0].venue_ms - 60_000..events[229].venue_ms + 3_600_000;
    let mut refused = 0;
    for n in 0..400 {
        let rude = role.get(&format!("/v1/matches/demo/card?at={}", rng.i64(times.clone()))).await;
        refused += usize::from(rude.status == StatusCode::TOO_MANY_REQUESTS);
        assert!(matches!(rude.status, StatusCode::OK | StatusCode::TOO_MANY_REQUESTS), "{rude:?}");
        if n % 40 == 0 {
            // The match goes on, and those who watch it ask for what they see: each of them is answered.
            ground.append(&events[230 + n / 40..231 + n / 40]).await;
            let seen = events[rng.usize(200..230)].venue_ms + rng.i64(0..50);
            for path in [format!("/v1/matches/demo/card?at={seen}"), "/v1/matches/demo/card".into()] {
                assert_eq!(role.get(&path).await.status, StatusCode::OK, "{path}, after {n}");
            }
        }
    }
    assert!(refused > 0, "the rude one is not held back at all");
}

#[tokio::test]
async fn between_two_happenings_there_is_one_card() {
    let events = demo("demo");
    let ground = Ground::with(&[entry("demo", Sport::Cricket, Status::Live)]).await;
    ground.append(&events[..90]).await;
    let shard = ground.shard().await;
    let role = Role::start(&ground, shard.address, Config::default()).await;
    role.until(SNAPSHOT, |answer| answer.status == StatusCode::OK).await;
    let card = async |at: i64, coding: &str| {
        let path = format!("/v1/matches/demo/card?at={at}");
        role.ask(Method::GET, &path, &[("accept-encoding", coding)]).await
    };
    let n = (0..80).rev().find(|n| events[*n].venue_ms + 10 < events[n + 1].venue_ms).unwrap();
    let at = events[n].venue_ms;
    let (first, second, next) =
        (card(at, "").await, card(at + 9, "").await, card(events[n + 1].venue_ms, "").await);
    assert_eq!((&first.body, first.header("etag")), (&second.body, second.header("etag")));
    assert_ne!(first.body, next.body);
    let gzip = card(at + 9, "gzip").await;
    assert_eq!(gzip.header("content-encoding"), Some("gzip"));
    let mut unzipped = Vec::new();
    flate2::read::GzDecoder::new(&gzip.body[..]).read_to_end(&mut unzipped).unwrap();
    assert_eq!(unzipped, first.body);
    let known = [("if-none-match", gzip.header("etag").unwrap())];
    let path = format!("/v1/matches/demo/card?at={at}");
    assert_eq!(role.ask(Method::GET, &path, &known).await.status, StatusCode::NOT_MODIFIED);
    // Before everything nothing had happened, however long before.
    let nothing = card(i64::MIN, "").await;
    assert_eq!(nothing.json()["cursor"].as_str().unwrap().split_once('-').unwrap().1, "0");
    assert_eq!(nothing.body, card(events[0].venue_ms - 1, "").await.body);
}

/// Who asks for cursors that do not come is held for a second. However many do, others are answered meanwhile.
#[tokio::test]
async fn who_waits_for_what_does_not_come_is_in_nobodys_way() {
    const WAITING: usize = 1_200;
    let events = demo("demo");
    let ground = Ground::with(&[entry("demo", Sport::Cricket, Status::Live)]).await;
    ground.append(&events[..40]).await;
    let shard = ground.shard().await;
    let role = Arc::new(Role::start(&ground, shard.address, Config::default()).await);
    let fresh = role.until(SNAPSHOT, |answer| answer.status == StatusCode::OK).await;
    let cursor = fresh.json()["as_of_event_id"].as_str().unwrap().replace("-40", "-45");
    let mut waiting = tokio::task::JoinSet::new();
    for _ in 0..WAITING {
        let (role, path) = (role.clone(), format!("{SNAPSHOT}?since={cursor}"));
        waiting.spawn(async move { role.get(&path).await.status });
    }
    let mut asked = 0;
    while !waiting.is_empty() {
        assert_eq!(role.get(SNAPSHOT).await.status, StatusCode::OK, "after {asked}");
        asked += 1;
        while let Some(status) = waiting.try_join_next() {
            assert_eq!(status.unwrap(), StatusCode::SERVICE_UNAVAILABLE);
        }
    }
    assert!(asked > 10, "asked {asked} times while they waited");
}

/// Three cadences and a minute after the last ball.
#[tokio::test]
async fn a_feed_that_is_late_is_said_to_be() {
    let start_ms = now_ms() - 3_600_000;
    let old: Vec<_> = Recording::read(recording::DEMO)
        .unwrap()
        .events("demo", start_ms, 1_000.0)
        .into_iter()
        .take(20)
        .map(|event| Event { ingest_ms: event.venue_ms + 500, ..event })
        .collect();
    let ground = Ground::with(&[entry("demo", Sport::Cricket, Status::Live)]).await;
    ground.append(&old).await;
    let shard = ground.shard().await;
    let role = Role::start(&ground, shard.address, Config::default()).await;
    let is_delayed =
        |wanted: bool| move |a: &Answer| a.status == StatusCode::OK && a.json()["feed_delayed"] == wanted;
    role.until(SNAPSHOT, is_delayed(true)).await;
    // The catalog says that it is over.
    catalog::put(&*ground.registers, &entry("demo", Sport::Cricket, Status::Final)).await.unwrap();
    role.until(SNAPSHOT, is_delayed(false)).await;
}

/// Everybody at once, while the match goes on: p99 at most 30 ms is the goal; here it is only printed, since what else
/// this machine does is not ours.
#[tokio::test(flavor = "multi_thread")]
async fn everybody_at_once_is_answered_from_one_rendering() {
    let events = demo("demo");
    let ground = Ground::with(&[entry("demo", Sport::Cricket, Status::Live)]).await;
    ground.append(&events[..200]).await;
    let shard = ground.shard().await;
    let rate = u32::MAX;
    let role = Role::start(
        &ground,
        shard.address,
        Config { snapshots_per_s: rate, cards_per_s: rate, ..Config::default() },
    );
    let role = Arc::new(role.await);
    role.until(SNAPSHOT, |answer| answer.status == StatusCode::OK).await;
    let mut asking = Vec::new();
    for n in 0..16_usize {
        let (role, at) = (role.clone(), events[150 + n % 8].venue_ms);
        asking.push(tokio::spawn(async move {
            let mut took = Vec::new();
            for path in
                [SNAPSHOT.to_owned(), format!("/v1/matches/demo/card?at={at}")].iter().cycle().take(200)
            {
                let began = std::time::Instant::now();
                let answer = role.ask(Method::GET, path, &[("accept-encoding", "gzip")]).await;
                assert_eq!(answer.status, StatusCode::OK);
                took.push(began.elapsed());
            }
            took
        }));
    }
    for event in &events[200..210] {
        ground.append(std::slice::from_ref(event)).await;
    }
    let mut took = Vec::new();
    for asked in asking {
        took.extend(asked.await.unwrap());
    }
    took.sort();
    println!("p50 {:?}, p99 {:?} of {}", took[took.len() / 2], took[took.len() * 99 / 100], took.len());
}
