//! Requests and answers, in the runtime's paused time: nothing here really waits.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use common::*;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use origin::limits::{AGREE_MAX, HOLD_MAX};
use origin::{Clock, Config, FixedOrder, LIFETIME_HEADER, LetterKey, Letters, Origin};
use timeline::name::Letter;
use timeline::object::{META_HEADER, Meta};
use timeline::{Position, Utc};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

const BASE: &str = "/final/r1/main";

#[derive(Clone)]
struct Server {
    origin: Arc<Origin>,
    clock: Clock,
}

struct Answer {
    status: StatusCode,
    headers: http::HeaderMap,
    body: Bytes,
}

impl Answer {
    async fn of(response: Response<origin::http::Body>) -> Answer {
        let (parts, body) = response.into_parts();
        Answer {
            status: parts.status,
            headers: parts.headers,
            body: body.collect().await.unwrap().to_bytes(),
        }
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |v| v.to_str().unwrap())
    }

    /// Asserts that this is a problem document with one sentence.
    fn problem(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{}", self.text());
        assert_eq!(self.header("content-type"), "application/problem+json");
        let document: serde_json::Value = serde_json::from_slice(&self.body).unwrap();
        assert_eq!(document["status"], status);
        document["detail"].as_str().unwrap().to_owned()
    }
}

impl Server {
    /// An origin whose clock reads `now`.
    fn at(now: Utc, letters: Arc<dyn Letters>) -> Server {
        let clock = Clock::steady(now);
        let origin = Origin::new(Config::default(), letters, clock, CancellationToken::new());
        Server { origin: Arc::new(origin), clock }
    }

    /// One that has segment 9 and is at the beginning of segment 10.
    async fn on_air() -> Server {
        let server = Server::at(later(over(at(8, 5)), 100), Arc::new(FixedOrder));
        server.announce().await;
        for part in 0..6 {
            for track in ["v", "en"] {
                server.part_in_time(track, at(9, part), Letter::A).await;
            }
        }
        server
    }

    async fn request(&self, method: Method, path: &str, headers: &[(&str, &str)], body: Bytes) -> Answer {
        let mut request = Request::builder().method(method).uri(format!("{BASE}/{path}"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Answer::of(self.origin.answer(request.body(Full::new(body)).unwrap()).await).await
    }

    async fn get(&self, path: &str) -> Answer {
        self.request(Method::GET, path, &[], Bytes::new()).await
    }

    fn later_get(&self, path: &str) -> tokio::task::JoinHandle<Answer> {
        let (server, path) = (self.clone(), path.to_owned());
        tokio::spawn(async move { server.get(&path).await })
    }

    async fn put(&self, path: &str, meta: Option<&Meta>, body: impl Into<Bytes>) -> Answer {
        let meta = meta.map(|m| serde_json::to_string(m).unwrap());
        let headers: Vec<(&str, &str)> = meta.iter().map(|m| (META_HEADER, m.as_str())).collect();
        self.request(Method::PUT, path, &headers, body.into()).await
    }

    async fn announce(&self) {
        let programme = serde_json::to_vec(&announced()).unwrap();
        assert_eq!(self.put("programme.json", None, programme).await.status, 204);
        let (id, bytes) = init(0);
        for track in ["v", "en"] {
            assert_eq!(self.put(&format!("{track}/init-{id}.mp4"), None, bytes.clone()).await.status, 204);
        }
    }

    async fn part(&self, track: &str, at: Position, letter: Letter) {
        let path = format!("{track}/{}{letter}.{}.m4s", at.msn, at.part);
        let put = self.put(&path, Some(&part_meta(at)), part_bytes(track, at, letter)).await;
        assert_eq!(put.status, 204, "{}", put.text());
    }

    /// Puts a part 100 ms after it is over.
    async fn part_in_time(&self, track: &str, at: Position, letter: Letter) {
        self.clock.sleep_until(later(over(at), 100)).await;
        self.part(track, at, letter).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_blocking_reload_is_released_by_the_part_and_shared() {
    let s = Server::on_air().await;
    let waiting: Vec<_> = (0..50).map(|_| s.later_get("hls/v.m3u8?_HLS_msn=10&_HLS_part=1")).collect();
    let whole = s.later_get("hls/v.m3u8?_HLS_msn=10");
    s.part_in_time("v", at(10, 0), Letter::A).await;
    tokio::task::yield_now().await;
    assert!(waiting.iter().all(|w| !w.is_finished()), "not what was asked for");
    s.part_in_time("v", at(10, 1), Letter::A).await;
    let mut texts = Vec::new();
    for answer in waiting {
        let answer = answer.await.unwrap();
        assert_eq!(answer.status, 200);
        assert!(answer.text().contains("v/10a.1.m4s"), "{}", answer.text());
        assert_eq!(answer.header("cache-control"), "public, max-age=12");
        assert_eq!(answer.header("content-type"), "application/vnd.apple.mpegurl");
        assert_eq!(answer.header("priority"), "u=1");
        texts.push(answer.body);
    }
    // One rendering for all: the very same bytes.
    assert!(texts.iter().all(|t| t.as_ptr() == texts[0].as_ptr()));
    for part in 2..6 {
        assert!(!whole.is_finished());
        s.part_in_time("v", at(10, part), Letter::A).await;
    }
    assert!(whole.await.unwrap().text().contains("v/10a.m4s"));
    assert_eq!(hls::check::one(&hls::read::playlist(s.get("hls/v.m3u8").await.text()).unwrap()), []);
}

#[tokio::test(start_paused = true)]
async fn what_is_not_there_in_time_is_503_and_what_is_too_far_is_400() {
    let s = Server::on_air().await;
    for far in ["_HLS_msn=12", "_HLS_part=1", "_HLS_msn=x", "_HLS_msn=11&_HLS_part=5", "_HLS_skip=no"] {
        let answer = s.get(&format!("hls/v.m3u8?{far}")).await;
        answer.problem(400);
        assert_eq!(answer.header("cache-control"), "no-store");
    }
    // Past the clock's gaps, once it stands still.
    s.clock.sleep_until(later(over(at(1_000, 0)), 0)).await;
    let next = hls::read::playlist(s.get("hls/v.m3u8").await.text()).unwrap().next();
    let began = Instant::now();
    let late = s.get(&format!("hls/v.m3u8?_HLS_msn={}", next.msn)).await;
    late.problem(503);
    assert!(began.elapsed() >= HOLD_MAX && began.elapsed() < HOLD_MAX + Duration::from_millis(100));
    let after: u64 = late.header("retry-after").parse().unwrap();
    assert!((1..=4).contains(&after));
}

#[tokio::test(start_paused = true)]
async fn a_hinted_part_is_held_until_it_is_there_or_will_not_be() {
    let s = Server::on_air().await;
    let (a, b) = (s.later_get("v/10a.0.m4s"), s.later_get("v/10b.0.m4s"));
    let next = s.later_get("v/10a.1.m4s");
    s.part_in_time("v", at(10, 0), Letter::A).await;
    let a = a.await.unwrap();
    assert_eq!((a.status, a.body.clone()), (StatusCode::OK, part_bytes("v", at(10, 0), Letter::A)));
    assert_eq!(a.header("content-type"), "video/mp4");
    assert_eq!(a.header("priority"), "u=3, i");
    assert!(a.header("cache-control").contains("immutable"));
    let b = b.await.unwrap();
    b.problem(404);
    assert_eq!(b.header("cache-control"), "no-store", "at the live edge nothing absent is cached");
    assert!(!next.is_finished());
    s.part_in_time("v", at(10, 1), Letter::A).await;
    assert_eq!(next.await.unwrap().status, 200);
    s.get("v/13a.0.m4s").await.problem(404);
    s.get("v/10a.6.m4s").await.problem(404);
    let old = s.get("v/3a.m4s").await;
    old.problem(404);
    assert_eq!(old.header(LIFETIME_HEADER), "1000");
    assert_eq!(s.get("en/9a.m4s").await.header("content-type"), "audio/mp4");
    assert_eq!(s.get("v/9a.m4s").await.body, segment_bytes("v", 9, Letter::A));
    let (id, bytes) = init(0);
    assert_eq!(s.get(&format!("v/init-{id}.mp4")).await.body, bytes);
}

#[tokio::test(start_paused = true)]
async fn deltas_compressed_forms_head_and_cors() {
    let s = Server::on_air().await;
    for msn in 10..20 {
        for part in 0..6 {
            s.part_in_time("v", at(msn, part), Letter::A).await;
        }
    }
    let whole = s.get("hls/v.m3u8").await;
    let delta = s.get("hls/v.m3u8?_HLS_skip=YES").await;
    assert!(delta.text().contains("#EXT-X-SKIP:SKIPPED-SEGMENTS="), "{}", delta.text());
    let read = |a: &Answer| hls::read::playlist(a.text()).unwrap();
    assert_eq!(read(&delta).complete(&read(&whole)).unwrap().segments.len(), read(&whole).segments.len());
    // Nobody waited for this one, so it is good until the next part is due.
    assert_eq!(whole.header(LIFETIME_HEADER), "320");
    assert_eq!(whole.header("access-control-allow-origin"), "*");

    for (accepted, coding) in [("gzip", "gzip"), ("gzip, br", "br")] {
        let small =
            s.request(Method::GET, "hls/v.m3u8", &[("accept-encoding", accepted)], Bytes::new()).await;
        assert_eq!((small.header("content-encoding"), small.header("vary")), (coding, "accept-encoding"));
        let mut text = String::new();
        match coding {
            "gzip" => flate2::read::GzDecoder::new(&small.body[..]).read_to_string(&mut text).unwrap(),
            _ => brotli::Decompressor::new(&small.body[..], 4_096).read_to_string(&mut text).unwrap(),
        };
        assert_eq!(text, whole.text());
        assert!(small.body.len() * 4 < whole.body.len());
    }

    let head = s.request(Method::HEAD, "hls/v.m3u8", &[], Bytes::new()).await;
    assert_eq!((head.status, head.body.len()), (StatusCode::OK, 0));
    assert_eq!(head.header("content-length"), whole.body.len().to_string());
    let preflight = s.request(Method::OPTIONS, "hls/v.m3u8", &[], Bytes::new()).await;
    assert_eq!(preflight.status, 204);
    assert_eq!(s.request(Method::DELETE, "v/9a.m4s", &[], Bytes::new()).await.status, 405);

    let master = s.get("hls/master.m3u8").await;
    let master = hls::read::multivariant(master.text()).unwrap();
    assert_eq!(hls::check::multivariant(&master), []);
    let bits = 11 * segment_bytes("v", 10, Letter::A).len() as u64 * 8;
    // Audio's last ten segments are gaps and do not count: it is still as announced.
    let measured = (bits as f64 / (11.0 * 1.92)) as u64 + 700_000;
    let said = master.variants[0].average_bandwidth.unwrap();
    assert!(said.abs_diff(measured) < measured / 50, "{said} {measured}");
}

#[tokio::test(start_paused = true)]
async fn announcements_are_idempotent_and_never_change() {
    let s = Server::at(later(over(at(9, 5)), 0), Arc::new(FixedOrder));
    let meta = part_meta(at(9, 5));
    s.put("v/9a.5.m4s", Some(&meta), part_bytes("v", at(9, 5), Letter::A)).await.problem(404);
    s.announce().await;
    s.announce().await;
    let mut other = announced();
    other.tracks.pop();
    let said = s.put("programme.json", None, serde_json::to_vec(&other).unwrap()).await.problem(409);
    assert!(said.contains("tracks"), "{said}");
    s.put("programme.json", None, "{}").await.problem(400);
    other.tracks.clear();
    let body = Bytes::from(serde_json::to_vec(&other).unwrap());
    let request = Request::put("/final/r1/second/programme.json").body(Full::new(body)).unwrap();
    Answer::of(s.origin.answer(request).await).await.problem(422);
}

#[tokio::test(start_paused = true)]
async fn garbage_is_refused_with_a_sentence_and_harms_nothing() {
    let s = Server::on_air().await;
    let meta = part_meta(at(10, 0));
    let good = part_bytes("v", at(10, 0), Letter::A);
    s.put("v/10a.0.m4s", None, good.clone()).await.problem(400);
    s.request(Method::PUT, "v/10a.0.m4s", &[(META_HEADER, "{\"start\":")], good.clone()).await.problem(400);
    s.put("v/10a.0.m4s", Some(&meta), "nonsense").await.problem(422);
    s.put("v/10a.0.m4s", Some(&meta), vec![0; 9 << 20]).await.problem(413);
    s.put("v/10a.1.m4s", Some(&meta), good.clone()).await.problem(422);
    s.put("v/99a.0.m4s", Some(&part_meta(at(99, 0))), good.clone()).await.problem(422);
    s.put("fr/10a.0.m4s", Some(&meta), good.clone()).await.problem(404);
    s.put("v/10c.0.m4s", Some(&meta), good.clone()).await.problem(404);
    s.put("v/../../x", None, good.clone()).await.problem(404);
    s.put("end", None, "{\"last_msn\": -1}").await.problem(400);
    s.put("end", None, "{\"last_msn\": 4000000000}").await.problem(422);
    s.put("hls/v.m3u8", None, "#EXTM3U").await.problem(405);
    s.get("dash/v.m3u8").await.problem(404);
    s.get("hls/fr.m3u8").await.problem(404);
    s.get("%2e%2e/etc").await.problem(404);
    s.put("v/9a.0.m4s", Some(&part_meta(at(9, 0))), good).await.problem(409);
    s.part_in_time("v", at(10, 0), Letter::A).await;
    assert!(s.get("hls/v.m3u8?_HLS_msn=10&_HLS_part=0").await.text().contains("v/10a.0.m4s"));
}

#[tokio::test(start_paused = true)]
async fn an_empty_origin_holds() {
    let s = Server::at(later(over(at(9, 5)), 0), Arc::new(FixedOrder));
    // Nobody has announced anything yet: that is for the pipelines to do within a part or two.
    let early = s.later_get("hls/v.m3u8");
    let part = s.later_get("v/10b.0.m4s");
    tokio::time::sleep(Duration::from_millis(50)).await;
    s.announce().await;
    s.get("hls/v.m3u8?_HLS_msn=13").await.problem(400);
    s.get("v/13a.0.m4s").await.problem(404);
    s.part_in_time("v", at(10, 0), Letter::B).await;
    assert!(early.await.unwrap().text().contains("v/10b.0.m4s"));
    assert_eq!(part.await.unwrap().status, 200);
    // What does not come is unavailable, not absent.
    let began = Instant::now();
    s.get("hls/en.m3u8").await.problem(503);
    assert!(began.elapsed() < HOLD_MAX + Duration::from_millis(100));
    let unknown = Request::get("/other/r1/main/hls/v.m3u8").body(Full::new(Bytes::new())).unwrap();
    Answer::of(s.origin.answer(unknown).await).await.problem(404);
}

#[tokio::test(start_paused = true)]
async fn the_end_is_said_and_stays() {
    let s = Server::on_air().await;
    for part in 0..6 {
        s.part_in_time("v", at(10, part), Letter::A).await;
        s.part_in_time("en", at(10, part), Letter::A).await;
    }
    let waiting = s.later_get("hls/v.m3u8?_HLS_msn=11");
    tokio::task::yield_now().await;
    assert_eq!(s.put("end", None, "{\"last_msn\":10}").await.status, 204);
    assert_eq!(s.put("end", None, "{\"last_msn\":10}").await.status, 204);
    let ended = waiting.await.unwrap();
    assert!(ended.text().contains("#EXT-X-ENDLIST") && !ended.text().contains("PRELOAD-HINT"));
    // Tells a pipeline that it may go.
    s.put("v/11a.0.m4s", Some(&part_meta(at(11, 0))), part_bytes("v", at(11, 0), Letter::A))
        .await
        .problem(410);
    let status = s.get("status.json").await;
    let status: serde_json::Value = serde_json::from_slice(&status.body).unwrap();
    assert_eq!(status["ended"], true);
    assert_eq!(status["tracks"][0]["segments"], 2);
    assert_eq!(status["part_ready"]["p99_ms"], 100.0);
}

/// Another origin that has not answered yet, or has chosen B.
struct Store(Option<Letter>);

#[async_trait::async_trait]
impl Letters for Store {
    async fn agree(&self, key: &LetterKey, proposal: Letter) -> Letter {
        assert!(key.to_string().starts_with("letter/final/r1/main/"));
        match self.0 {
            Some(letter) if key.msn > 9 => {
                tokio::time::sleep(Duration::from_millis(5)).await;
                letter
            }
            Some(_) => proposal,
            None => std::future::pending().await,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_store_costs_no_more_than_its_limit() {
    let s = Server::at(later(over(at(8, 5)), 100), Arc::new(Store(None)));
    s.announce().await;
    s.part_in_time("v", at(9, 0), Letter::A).await;
    let began = Instant::now();
    assert!(s.get("hls/v.m3u8").await.text().contains("v/9a.0.m4s"));
    assert!(began.elapsed() <= AGREE_MAX + Duration::from_millis(2));
}

#[tokio::test(start_paused = true)]
async fn the_agreed_letter_counts() {
    let s = Server::at(later(over(at(8, 5)), 100), Arc::new(Store(Some(Letter::B))));
    s.announce().await;
    for part in 0..6 {
        s.part_in_time("v", at(9, part), Letter::A).await;
    }
    s.part_in_time("v", at(10, 0), Letter::A).await;
    s.part("v", at(10, 0), Letter::B).await;
    let list = s.get("hls/v.m3u8?_HLS_msn=10&_HLS_part=0").await;
    assert!(list.text().contains("v/10b.0.m4s") && !list.text().contains("v/10a.0.m4s"), "{}", list.text());
}
