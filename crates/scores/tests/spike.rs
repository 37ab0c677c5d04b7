//! Twenty times the viewers at once, behind the real cache: what reaches the snapshot role.
#![allow(clippy::unwrap_used)]

mod shard_support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::middleware;
use axum::response::Response;
use edge::Edge;
use http::{HeaderValue, Request, StatusCode};
use http_body_util::BodyExt;
use scores::catalog::Status;
use scores::snapshot::{self, Config, Role};
use scores::{Event, Sport};
use shard_support::*;
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Viewers before the spike, and how often each asks: once for what a page begins with, and again.
const VIEWERS: usize = 4;
const EVERY: Duration = Duration::from_millis(200);
const SPIKE: usize = 20;
const BEFORE: Duration = Duration::from_millis(1_500);
const LONG: Duration = Duration::from_secs(3);
const REGIONS: [&str; 3] = ["IN", "GB", "AU"];

/// The role behind a cache, as a socket edge has it.
struct Plane {
    edge: Arc<Edge>,
    reached: Arc<AtomicUsize>,
    _stop: DropGuard,
}

impl Plane {
    /// `kept`: whether the cache may keep what the role says that it may.
    async fn start(ground: &Ground, shard: &Shard, kept: bool) -> Plane {
        let stop = CancellationToken::new();
        let role = Role::start(
            Config::default(),
            subscriber(shard.address),
            ground.registers.clone(),
            Arc::new(|_: &str| 7),
            stop.clone(),
        );
        let reached = Arc::<AtomicUsize>::default();
        let count = reached.clone();
        let router = snapshot::router(role.await.unwrap()).layer(middleware::map_response(
            move |mut response: Response| {
                count.fetch_add(1, Ordering::Relaxed);
                if !kept {
                    let nothing = HeaderValue::from_static("max-age=0");
                    response.headers_mut().insert("cdn-cache-control", nothing);
                }
                std::future::ready(response)
            },
        ));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let upstream = format!("http://{}", listener.local_addr().unwrap());
        let ending = stop.clone();
        tokio::spawn(async move {
            axum::serve(listener, router).with_graceful_shutdown(ending.cancelled_owned()).await.unwrap();
        });
        let config = edge::Config {
            upstream: vec![upstream.parse().unwrap()],
            query: ["at", "since", "region"].map(str::to_owned).to_vec(),
            ..edge::Config::default()
        };
        Plane { edge: Edge::open(&config).await.unwrap(), reached, _stop: stop.drop_guard() }
    }

    async fn get(&self, path: &str) -> (StatusCode, Response<bytes::Bytes>) {
        let request = Request::get(path).header("accept-encoding", "gzip").body(None).unwrap();
        let (parts, body) = self.edge.clone().answer(request).await.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        (parts.status, Response::from_parts(parts, body))
    }
}

/// What the n-th question of a viewer is for: mostly the score, and what a page shows beside it.
fn path(events: &[Event], viewer: usize, n: usize) -> String {
    let region = REGIONS[viewer % REGIONS.len()];
    let at = events[events.len() - 1 - viewer % 2].venue_ms;
    match n % 5 {
        0 | 1 => format!("/v1/matches/demo/snapshot?region={region}"),
        2 => format!("/v1/matches/demo/card?at={at}&region={region}"),
        3 => format!("/v1/matches/demo/moments?region={region}"),
        _ => format!("/v1/matches/demo/watching?region={region}"),
    }
}

/// So many viewers ask for so long. How often they asked.
async fn watched(plane: &Arc<Plane>, events: &Arc<Vec<Event>>, viewers: usize, long: Duration) -> usize {
    let mut watching = tokio::task::JoinSet::new();
    let began = Instant::now();
    for viewer in 0..viewers {
        let (plane, events) = (plane.clone(), events.clone());
        watching.spawn(async move {
            let mut asked = 0;
            let mut next = tokio::time::interval(EVERY);
            while began.elapsed() < long {
                next.tick().await;
                let path = path(&events, viewer, viewer + asked);
                let (status, answer) = plane.get(&path).await;
                assert_eq!(status, StatusCode::OK, "{path}");
                let field = |name: &str| answer.headers().get(name).map(|v| v.to_str().unwrap().to_owned());
                // What is shared at the edge is not shared behind it.
                let private = "private, max-age=10, stale-while-revalidate=30";
                assert_eq!(field("cache-control").as_deref(), Some(private));
                asked += 1;
            }
            asked
        });
    }
    watching.join_all().await.into_iter().sum()
}

/// How many of a spike's requests reach the role, of how many.
async fn spike(kept: bool) -> (usize, usize) {
    let events = demo("demo");
    let ground = Ground::with(&[entry("demo", Sport::Cricket, Status::Live)]).await;
    ground.append(&events[..150]).await;
    let shard = ground.shard().await;
    let plane = Arc::new(Plane::start(&ground, &shard, kept).await);
    while plane.get("/v1/matches/demo/snapshot").await.0 != StatusCode::OK {}
    let asked_about = Arc::new(events[..150].to_vec());
    watched(&plane, &asked_about, VIEWERS, BEFORE).await;
    let before = plane.reached.load(Ordering::Relaxed);
    // The match goes on meanwhile, as fast as the reference reckons with.
    let going_on = async {
        for event in &events[150..154] {
            ground.append(std::slice::from_ref(event)).await;
            tokio::time::sleep(Duration::from_millis(660)).await;
        }
    };
    let (asked, ()) = tokio::join!(watched(&plane, &asked_about, VIEWERS * SPIKE, LONG), going_on);
    (plane.reached.load(Ordering::Relaxed) - before, asked)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_a_twenty_fold_spike_nine_of_ten_never_reach_the_role() {
    let (reached, asked) = spike(true).await;
    println!("{reached} of {asked} reached the role");
    assert!(asked >= VIEWERS * SPIKE, "{asked}");
    assert!(reached * 10 <= asked, "{reached} of {asked} reached the role");
    assert!(reached > 0, "answers are not renewed");
}

/// The measure can fail: with a cache that keeps nothing they do reach it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_lifetimes_a_spike_reaches_the_role() {
    let (reached, asked) = spike(false).await;
    println!("{reached} of {asked} reached the role");
    assert!(reached * 10 > asked, "{reached} of {asked} reached the role");
}
