//! The storm: everyone asks for the same segment in the moment in which it appears.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use super::Tier;
use crate::config::Config;
use crate::failure::Failure;
use crate::fetch::{Answer, Ask, Fetch};
use crate::handle::{Edge, Plain};
use crate::target::Codings;

/// What became of a storm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Storm {
    /// Viewers who were given the whole segment.
    pub viewers: u64,
    /// Requests that edges answered, of any kind.
    pub edge_requests: u64,
    /// Requests that they sent to the shield.
    pub shield_requests: u64,
    /// Requests that the shield sent to the origin.
    pub origin_requests: u64,
    /// The longest that anyone waited for the first byte.
    pub wait_max: Duration,
}

/// Over how long the viewers arrive: the segment's length.
const SPREAD: Duration = Duration::from_secs(2);

/// How finely their arrivals are told apart.
const TICKS: usize = 2_000;

/// How long the origin takes to begin its answer.
const ORIGIN_TAKES: Duration = Duration::from_millis(120);

/// A segment of 2 s at 1 Mb/s; each edge holds its own copy.
const SEGMENT: &[u8] = &[7; 250_000];

const PATH: &str = "/m/r/p/v/1a.m4s";

/// So many viewers ask for one segment, at random moments of its two seconds, at so many edges behind one shield.
/// Edges and shield are real ones; the time is the runtime's, so in one whose time is paused this takes no longer
/// than it computes.
pub async fn storm(viewers: u64, edges: usize) -> Storm {
    let config = Config::default();
    let origin = Origin::default();
    let shield = Tier::new(Edge::new(&config, Arc::new(origin.clone())));
    let mut crowds = JoinSet::new();
    for at in 0..edges {
        let edge = Edge::new(&config, Arc::new(shield.clone()));
        let share = viewers / edges as u64 + u64::from((at as u64) < viewers % edges as u64);
        crowds.spawn(crowd(edge, share));
    }
    let (mut seen, mut wait_max) = (0, Duration::ZERO);
    while let Some(crowd) = crowds.join_next().await {
        let (whole, wait) = crowd.unwrap_or_default();
        seen += whole;
        wait_max = wait_max.max(wait);
    }
    Storm {
        viewers: seen,
        edge_requests: viewers,
        shield_requests: shield.asked(),
        origin_requests: origin.0.load(Ordering::Relaxed),
        wait_max,
    }
}

/// The viewers of one edge; how many were given the whole segment, and how long the last waited.
async fn crowd(edge: Arc<Edge>, viewers: u64) -> (u64, Duration) {
    let mut arrivals = vec![0_u32; TICKS];
    (0..viewers).for_each(|_| arrivals[fastrand::usize(..TICKS)] += 1);
    let start = Instant::now();
    let mut under_way = JoinSet::new();
    let mut seen = (0, Duration::ZERO);
    let mut count = |wait: Option<Duration>| {
        if let Some(wait) = wait {
            seen = (seen.0 + 1, seen.1.max(wait));
        }
    };
    for (tick, arrivals) in arrivals.into_iter().enumerate() {
        sleep_until(start + SPREAD / TICKS as u32 * tick as u32).await;
        for _ in 0..arrivals {
            // The short way first, as a server goes.
            match hit(&edge) {
                Some(whole) => count(whole.then_some(Duration::ZERO)),
                None => drop(under_way.spawn(watch(edge.clone()))),
            }
        }
        while let Some(watched) = under_way.try_join_next() {
            count(watched.ok().flatten());
        }
    }
    while let Some(watched) = under_way.join_next().await {
        count(watched.ok().flatten());
    }
    seen
}

/// Whether a viewer who finds the segment at hand is given all of it.
fn hit(edge: &Edge) -> Option<bool> {
    let hit = edge.hit(&Plain { path: PATH, query: None, codings: Codings::Plain })?;
    Some(hit.head.status.is_success() && hit.body.len() == SEGMENT.len())
}

/// One viewer; how long it waited, if it was given the whole segment.
async fn watch(edge: Arc<Edge>) -> Option<Duration> {
    let asked = Instant::now();
    let request = Request::get(PATH).body(None).ok()?;
    let mut answer = edge.answer(request).await;
    let wait = asked.elapsed();
    let mut length = 0;
    while let Some(frame) = answer.body_mut().frame().await {
        length += frame.ok()?.into_data().map_or(0, |bytes| bytes.len());
    }
    (answer.status().is_success() && length == SEGMENT.len()).then_some(wait)
}

/// Counts what it is asked, and has the segment.
#[derive(Clone, Default)]
struct Origin(Arc<AtomicU64>);

impl Fetch for Origin {
    fn fetch(&self, _: Ask) -> BoxFuture<'static, Result<Answer, Failure>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Box::pin(async {
            sleep(ORIGIN_TAKES).await;
            let body = Full::new(Bytes::from_static(SEGMENT)).map_err(|never| match never {}).boxed_unsync();
            let mut answer = Response::new(body);
            answer
                .headers_mut()
                .insert(http::header::CACHE_CONTROL, const { http::HeaderValue::from_static("max-age=60") });
            Ok(answer)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn however_many_ask_the_origin_is_asked_once() {
        let storm = storm(50_000, 50).await;
        assert_eq!((storm.viewers, storm.shield_requests, storm.origin_requests), (50_000, 50, 1));
        // Nobody waited for anything but the origin.
        assert!(storm.wait_max <= ORIGIN_TAKES, "{storm:?}");
    }
}
