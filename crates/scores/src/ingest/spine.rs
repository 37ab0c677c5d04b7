//! The core and the spine beside it: what is decided becomes durable, what others wrote becomes known.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use store::{APPEND_MAX, Appended, Log, New, READ_MAX};
use tokio_util::sync::CancellationToken;

use super::core::Core;
use super::limits::APPEND_AGAIN_MAX;
use super::meters;
use crate::Event;
use crate::catalog::Catalog;

/// The first wait after a failure of the store; it doubles.
const AGAIN: Duration = Duration::from_millis(20);

/// The process is ending; whatever was not acknowledged will be said again.
#[derive(Debug)]
pub(super) struct Ending;

/// The spine, and how far of each match the core knows it.
pub(super) struct Spine {
    log: Arc<dyn Log>,
    known: BTreeMap<String, u64>,
    shutdown: CancellationToken,
}

impl Spine {
    pub(super) fn new(log: Arc<dyn Log>, shutdown: CancellationToken) -> Spine {
        Spine { log, known: BTreeMap::new(), shutdown }
    }

    /// Tells the core what stands of these matches and is not known yet. A match that the catalog does not have, or that
    /// has the name of a log of ours, is left out.
    pub(super) async fn recall(
        &mut self,
        core: &mut Core,
        catalog: &Catalog,
        matches: &BTreeSet<String>,
    ) -> Result<(), Ending> {
        for id in matches {
            let Some(entry) = catalog.get(id).filter(|entry| entry.id != super::DEAD_LETTERS) else {
                continue;
            };
            let mut after = self.known.get(id).copied().unwrap_or(0);
            let mut newest_of_scorer = 0;
            // Only a match that is wholly recalled is known.
            let mut events = Vec::new();
            loop {
                let log = self.log.clone();
                let records = self.insist(|| log.read(id, after, READ_MAX)).await?;
                let Some(last) = records.last() else { break };
                after = last.offset;
                for record in records {
                    match serde_json::from_slice::<Event>(&record.value) {
                        Ok(event) => events.push(event),
                        Err(error) => tracing::error!(id, record.offset, %error, "a record cannot be read"),
                    }
                }
            }
            core.open(entry);
            let scorer = format!("scorer-{id}");
            for event in &events {
                core.recall(event);
                if event.provider_id == scorer {
                    newest_of_scorer = newest_of_scorer.max(event.provider_seq);
                }
            }
            if newest_of_scorer > 0 {
                core.resume(&scorer, newest_of_scorer);
            }
            self.known.insert(id.clone(), after);
        }
        Ok(())
    }

    /// The core has forgotten a match.
    pub(super) fn forget(&mut self, match_id: &str) {
        self.known.remove(match_id);
    }

    /// Makes events and dead letters durable, however often it must be tried. Where another ingest was first, its word
    /// is taken over.
    pub(super) async fn append(
        &mut self,
        core: &mut Core,
        catalog: &Catalog,
        events: &[Event],
        letters: Vec<New>,
    ) -> Result<(), Ending> {
        let mut records = letters;
        for event in events {
            // Our own types have string keys only: writing them cannot fail.
            let value = Bytes::from(serde_json::to_vec(event).unwrap_or_default());
            let key = format!("{}.{}", event.event_id.0, event.revision);
            records.push(New { topic: event.match_id.clone(), key, value });
        }
        let mut stale = BTreeSet::new();
        for some in records.chunks(APPEND_MAX) {
            let began = Instant::now();
            let log = self.log.clone();
            let appended = self.insist(|| log.append(some)).await?;
            meters::appended(some.len(), began.elapsed().as_secs_f64());
            for (record, Appended { offset, new }) in some.iter().zip(appended) {
                let Some(known) = self.known.get_mut(&record.topic) else { continue };
                if new && offset == *known + 1 {
                    *known = offset;
                } else {
                    stale.insert(record.topic.clone());
                }
            }
        }
        self.recall(core, catalog, &stale).await
    }

    /// Does it until it is done: a spine that cannot be reached holds feeds back, and loses nothing.
    async fn insist<T, F>(&self, work: impl Fn() -> F) -> Result<T, Ending>
    where
        F: Future<Output = Result<T, store::Error>>,
    {
        let mut wait = AGAIN;
        loop {
            match work().await {
                Ok(done) => return Ok(done),
                Err(error) => {
                    meters::append_failed();
                    tracing::error!(%error, "the spine cannot be reached; feeds are held back");
                }
            }
            tokio::select! {
                () = self.shutdown.cancelled() => return Err(Ending),
                // Full jitter: other processes try the same file.
                () = tokio::time::sleep(wait.mul_f64(fastrand::f64())) => {}
            }
            wait = (wait * 2).min(APPEND_AGAIN_MAX);
        }
    }
}
