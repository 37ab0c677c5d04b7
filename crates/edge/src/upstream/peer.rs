//! One upstream: asked within its bound, and judged by what comes.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::pending;
use http::{HeaderMap, Method};
use http_body_util::BodyExt;
use metrics::{Counter, Gauge, counter, gauge};
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, timeout};
use tracing::{debug, info, warn};

use super::breaker::Breaker;
use super::health::Health;
use super::watched::Watched;
use super::worth::Worth;
use crate::failure::Failure;
use crate::fetch::{Answer, Ask, Fetch};
use crate::limits::{HEALTH_MAX, HOLD_MAX, UPSTREAM_REQUESTS_MAX};

/// An upstream and what is thought of it.
pub(super) struct Peer {
    name: String,
    link: Box<dyn Fetch>,
    places: Arc<Semaphore>,
    standing: Mutex<Standing>,
    /// Follows from `standing`.
    well: watch::Sender<bool>,
    fetches: Counter,
    failures: Counter,
    ejected: Gauge,
}

struct Standing {
    breaker: Breaker,
    health: Health,
}

impl Peer {
    /// One of which no evil is known. `link` reaches it, and `name` is what people call it.
    pub(super) fn new(name: String, link: Box<dyn Fetch>) -> Arc<Peer> {
        let ejected = gauge!("edge_upstream_ejected", "upstream" => name.clone());
        ejected.set(0.0);
        Arc::new(Peer {
            fetches: counter!("edge_upstream_fetches_total"),
            failures: counter!("edge_upstream_failures_total", "upstream" => name.clone()),
            ejected,
            name,
            link,
            places: Arc::new(Semaphore::new(UPSTREAM_REQUESTS_MAX)),
            standing: Mutex::new(Standing {
                breaker: Breaker::new(Instant::now()),
                health: Health::default(),
            }),
            well: watch::Sender::new(true),
        })
    }

    /// Whether it is asked like any other.
    pub(super) fn is_well(&self) -> bool {
        *self.well.borrow()
    }

    /// Of two that are not well, the one with the lesser is the less bad: one that only said so itself, then the
    /// one that may be tried sooner.
    pub(super) fn due(&self) -> Option<Instant> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner).breaker.due()
    }

    /// Comes back when it stops being well; never, if it is not well to begin with.
    pub(super) async fn fell(&self) {
        let mut well = self.well.subscribe();
        let was_well = *well.borrow_and_update();
        if !was_well || well.wait_for(|well| !well).await.is_err() {
            pending().await
        }
    }

    /// Whether whoever asks this must try it now ([`Peer::try_again`]): of all who ask exactly one must.
    pub(super) fn begin_trial(&self, now: Instant) -> bool {
        let mut begins = false;
        self.judge(|standing| begins = standing.breaker.begin_trial(now));
        begins
    }

    /// A trial, to its verdict. Nobody waits for its answer.
    pub(super) async fn try_again(self: Arc<Self>, ask: Ask) {
        let asked = Instant::now();
        match timeout(HOLD_MAX, self.clone().ask(ask)).await {
            Ok(Ok(answer)) if Worth::of(&answer) > Worth::Failing => self.good(asked),
            // It was judged where it failed, unless there was no place for it.
            Ok(_) => {}
            Err(_) => self.bad(asked),
        }
    }

    /// Asks it, unless its bound is reached. The answer's body tells by itself how it ends.
    pub(super) async fn ask(self: Arc<Self>, ask: Ask) -> Result<Answer, Failure> {
        let place = self.places.clone().try_acquire_owned().map_err(|_| Failure::Busy)?;
        self.fetches.increment(1);
        // When a request with a body breaks, its sender may have broken it.
        let telling = ask.body.is_none();
        let asked = Instant::now();
        let answer = self.link.fetch(ask).await;
        match answer {
            Ok(answer) => {
                let failing = Worth::of(&answer) == Worth::Failing;
                if failing {
                    debug!(upstream = self.name, status = %answer.status(), "upstream fails");
                    self.bad(asked);
                }
                let peer = (!failing).then_some(self);
                Ok(answer.map(|body| Watched::new(body, peer, asked, place).boxed_unsync()))
            }
            Err(why) => {
                if telling || why == Failure::Unreachable {
                    self.bad(asked);
                }
                Err(why)
            }
        }
    }

    /// Whether it answers this path with a 2xx. Costs no place: an upstream with much to do is not unwell.
    pub(super) async fn says_well(&self, path: &str) -> bool {
        let (method, headers) = (Method::GET, HeaderMap::new());
        let ask = Ask { method, target: path.to_owned(), headers, body: None, hedge: false };
        let answer = timeout(HEALTH_MAX, self.link.fetch(ask)).await;
        answer.is_ok_and(|answer| answer.is_ok_and(|answer| answer.status().is_success()))
    }

    /// What its health check brought.
    pub(super) fn heard(&self, well: bool) {
        self.judge(|standing| standing.health.heard(well));
    }

    /// What was asked at `asked` was answered well.
    pub(super) fn good(&self, asked: Instant) {
        self.judge(|standing| standing.breaker.good(asked, Instant::now()));
    }

    /// What was asked at `asked` was not.
    pub(super) fn bad(&self, asked: Instant) {
        self.failures.increment(1);
        self.judge(|standing| standing.breaker.bad(asked, Instant::now(), fastrand::f32()));
    }

    fn judge(&self, change: impl FnOnce(&mut Standing)) {
        // Neither of the two can be left half changed.
        let mut standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut standing);
        let well = standing.breaker.is_closed() && standing.health.is_well();
        let changed = self.well.send_if_modified(|was| std::mem::replace(was, well) != well);
        if changed {
            self.ejected.set(if well { 0.0 } else { 1.0 });
            match well {
                true => info!(upstream = self.name, "upstream is well again"),
                false => warn!(upstream = self.name, "upstream is not well; others are asked first"),
            }
        }
    }
}
