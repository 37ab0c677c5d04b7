//! One run: an edge, its origin, its clients, and a record of it all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::HeaderValue;
use tokio::task::JoinSet;
use tokio::time::{Duration, Instant, sleep, sleep_until};

use super::client::{self, Seen};
use super::origin::{Fetched, Origin};
use super::scenario::Scenario;
use crate::config::{Config, Rules};
use crate::handle::Edge;
use crate::purge::{Purge, What};
use crate::store::Store;

/// The first segment of every path that clients ask a live edge for.
pub(super) const PASS: &str = "word";

/// Memory of an edge that has little: some ten objects.
const SMALL: u64 = 40_000;

/// When all that is under way has come to its end: a hold twice over and the slowest body.
const ENDED: Duration = Duration::from_secs(120);

pub(super) struct World {
    pub(super) scenario: Arc<Scenario>,
    pub(super) start: Instant,
    pub(super) edge: Arc<Edge>,
    tags: Mutex<HashMap<String, HeaderValue>>,
    seen: Mutex<Vec<Seen>>,
    over: Mutex<Option<u64>>,
}

/// What happened.
pub(super) struct Record {
    pub(super) scenario: Arc<Scenario>,
    pub(super) start: Instant,
    pub(super) fetched: Vec<Fetched>,
    pub(super) seen: Vec<Seen>,
    pub(super) purges: Vec<(Instant, Purge)>,
    /// More bytes than may be.
    pub(super) over: Option<u64>,
    /// Bytes, requests and answers for one client that are held when everyone has gone and all was purged.
    pub(super) left: (u64, usize, usize),
}

impl World {
    pub(super) fn saw(&self, seen: Seen) {
        let used = self.edge.store.size().1;
        if self.scenario.small && used > SMALL {
            *lock(&self.over) = Some(used);
        }
        lock(&self.seen).push(seen);
    }

    pub(super) fn tags(&self) -> MutexGuard<'_, HashMap<String, HeaderValue>> {
        lock(&self.tags)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Plays a scenario in a runtime of its own.
pub(super) fn play(scenario: &Scenario) -> Record {
    fastrand::seed(scenario.chance);
    let scenario = Arc::new(scenario.clone());
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(run(scenario))
}

async fn run(scenario: Arc<Scenario>) -> Record {
    let start = Instant::now();
    let origin = Origin::new(scenario.clone(), start);
    let config = Config {
        rules: if scenario.web { Rules::Web } else { Rules::Live },
        pass: (!scenario.web).then(|| PASS.parse().unwrap()),
        ..Config::default()
    };
    let mut edge = Edge::new(&config, Arc::new(origin.clone()));
    if scenario.small {
        Arc::get_mut(&mut edge).unwrap().store = Store::new(SMALL, None, Default::default());
    }
    let world = Arc::new(World {
        scenario: scenario.clone(),
        start,
        edge: edge.clone(),
        tags: Mutex::default(),
        seen: Mutex::default(),
        over: Mutex::default(),
    });
    let mut clients = JoinSet::new();
    for (at, client) in scenario.clients.iter().enumerate() {
        (0..client.times).for_each(|_| drop(clients.spawn(client::play(world.clone(), at))));
    }
    for (at_ms, purge) in scenario.purges.clone() {
        let edge = edge.clone();
        clients.spawn(async move {
            sleep_until(start + Duration::from_millis(at_ms.into())).await;
            edge.purge(&purge);
        });
    }
    while let Some(ended) = clients.join_next().await {
        if let Err(panic) = ended.map_err(tokio::task::JoinError::into_panic) {
            std::panic::resume_unwind(panic);
        }
    }
    sleep(ENDED).await;
    edge.purge(&Purge { what: What::All(true), soft: false });
    let (requests, alone) = edge.under_way();
    let left = (edge.store.size().1, requests, alone);
    let seen = std::mem::take(&mut *lock(&world.seen));
    let over = *lock(&world.over);
    let purges = scenario
        .purges
        .iter()
        .map(|(ms, purge)| (start + Duration::from_millis(u64::from(*ms)), purge.clone()));
    Record { start, fetched: origin.log(), seen, purges: purges.collect(), over, left, scenario }
}
