//! What the field notes say must not happen, where it takes a look inside; the rest is in `tests/field_notes.rs`.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::header::{CACHE_CONTROL, HeaderValue};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use tokio::time::{Duration, Instant, sleep, sleep_until};

use super::broken::{Broken, breaking};
use crate::body::Body;
use crate::config::{Config, Rules};
use crate::failure::Failure;
use crate::fetch::{Answer, Ask, Fetch};
use crate::fill;
use crate::handle::{Edge, Plain};
use crate::shed::Class;
use crate::store::{Found, Store};
use crate::target::Codings;

/// Answers everything in one way, at once.
struct Same(StatusCode, &'static str);

impl Fetch for Same {
    fn fetch(&self, _: Ask) -> BoxFuture<'static, Result<Answer, Failure>> {
        let body = Full::new(Bytes::from_static(b"x")).map_err(|never| match never {}).boxed_unsync();
        let mut answer = Response::new(body);
        *answer.status_mut() = self.0;
        answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static(self.1));
        Box::pin(async { Ok(answer) })
    }
}

fn edge(rules: Rules, memory: u64, fetch: Same) -> Arc<Edge> {
    let mut edge = Edge::new(&Config { rules, ..Config::default() }, Arc::new(fetch));
    Arc::get_mut(&mut edge).unwrap().store = Store::new(memory, None, Default::default());
    edge
}

async fn get(edge: &Arc<Edge>, target: &str, fields: &[(&'static str, &str)]) -> Response<Body> {
    let mut request = Request::get(target);
    for (name, value) in fields {
        request = request.header(*name, *value);
    }
    edge.clone().answer(request.body(None).unwrap()).await
}

/// When each of many objects, cached at one instant for 16 s, is fresh no longer: the largest number of them within
/// a twentieth of a second.
async fn most_that_expire_at_once() -> usize {
    const COUNT: usize = 200;
    let edge = edge(Rules::Live, 10_000_000, Same(StatusCode::OK, "max-age=16"));
    let start = Instant::now();
    for n in 0..COUNT {
        get(&edge, &format!("/m/{n}.m4s"), &[]).await.into_body().collect().await.unwrap();
    }
    let mut fresh = COUNT;
    let mut most = 0;
    for tick in 0..=400 {
        sleep_until(start + Duration::from_millis(tick * 50)).await;
        let is_fresh = |n: &usize| {
            let path = format!("/m/{n}.m4s");
            edge.hit(&Plain { path: &path, query: None, codings: Codings::Plain }).is_some()
        };
        let now = (0..COUNT).filter(is_fresh).count();
        most = most.max(fresh - now);
        fresh = now;
    }
    assert_eq!(fresh, 0);
    most
}

#[tokio::test(start_paused = true)]
async fn what_is_cached_at_one_instant_does_not_expire_at_one() {
    // Spread over a second, some ten of two hundred fall on each twentieth.
    let most = most_that_expire_at_once().await;
    assert!(most < 40, "{most} of 200");
    let _broken = breaking(Some(Broken::NoJitter));
    assert_eq!(most_that_expire_at_once().await, 200, "without jitter this test sees nothing");
}

#[tokio::test(start_paused = true)]
async fn a_fill_that_is_ended_is_an_error_to_its_readers_and_the_next_begins_anew() {
    struct Slow;
    impl Fetch for Slow {
        fn fetch(&self, _: Ask) -> BoxFuture<'static, Result<Answer, Failure>> {
            Box::pin(async {
                sleep(Duration::from_secs(1)).await;
                Err(Failure::Unreachable)
            })
        }
    }
    let edge = Edge::new(&Config::default(), Arc::new(Slow));
    let find = || edge.store.find("i/m/1.m4s", Class::Live, &HeaderMap::new(), Instant::now());
    // Before it has begun, and inside.
    for begun in [false, true] {
        let Found::New(object) = find() else { panic!() };
        let mut reader = object.reader();
        let filling = fill::run(edge.clone(), object);
        if begun {
            let task = tokio::spawn(filling);
            sleep(Duration::from_millis(500)).await;
            task.abort();
        } else {
            drop(filling);
        }
        assert_eq!(reader.head().await.unwrap_err(), Failure::Cut);
    }
    assert!(matches!(find(), Found::New(_)));
}

#[tokio::test]
async fn names_of_what_is_not_there_cost_no_memory() {
    let edge = edge(Rules::Live, 100_000, Same(StatusCode::NOT_FOUND, ""));
    for n in 0..1_000 {
        assert_eq!(get(&edge, &format!("/m/x{n}"), &[]).await.status(), 404);
    }
    assert_eq!(edge.store.size(), (0, 0));
}

/// What is remembered of a name is bounded like what is kept under it, at two KB each.
#[tokio::test]
async fn names_of_what_may_not_be_shared_are_within_the_bound() {
    let edge = edge(Rules::Live, 100_000, Same(StatusCode::OK, "no-store"));
    for n in 0..1_000 {
        get(&edge, &format!("/m/x{n}"), &[]).await;
    }
    let (entries, bytes) = edge.store.size();
    assert!((10..50).contains(&entries) && bytes <= 100_000, "{entries} entries, {bytes} bytes");
}

#[tokio::test]
async fn what_clients_send_along_is_within_the_bound() {
    let edge = edge(Rules::Web, 100_000, Same(StatusCode::OK, "max-age=60"));
    let long = "x".repeat(8_000);
    for n in 0..100 {
        get(&edge, &format!("/m/x{n}"), &[("x-long", &long)]).await.into_body().collect().await.unwrap();
    }
    let (entries, bytes) = edge.store.size();
    assert!((1..=12).contains(&entries) && bytes <= 100_000, "{entries} entries, {bytes} bytes");
}
