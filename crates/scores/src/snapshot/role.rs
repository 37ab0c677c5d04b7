//! All matches of a role.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use metrics::gauge;
use relay::Subscriber;
use store::Registers;
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;

use super::answers::Answers;
use super::follow::Followed;
use super::limits::{HELD_MAX, MATCHES_MAX, REQUESTS_MAX};
use super::problem::Problem;
use super::{Config, Watching};
use crate::Error;
use crate::catalog::{Catalog, Match, Status};
use crate::ingest::clock::Clock;

/// A snapshot role: matches in memory, and answers about them. [`super::router`] asks it.
pub struct Role {
    config: Config,
    subscriber: Subscriber,
    catalog: watch::Receiver<Arc<Catalog>>,
    matches: Mutex<HashMap<String, Member>>,
    pub(super) answers: Answers,
    pub(super) places: Semaphore,
    /// For requests that wait for what is not here yet.
    pub(super) held: Semaphore,
    pub(super) watching: Watching,
    began: Instant,
    clock: Mutex<Clock>,
    shutdown: CancellationToken,
}

struct Member {
    sport: crate::Sport,
    followed: Arc<Followed>,
    stop: CancellationToken,
}

impl Role {
    /// Follows every match that is live, until `shutdown`, and each other one from when it is first asked for.
    ///
    /// # Errors
    /// Settings that cannot be, or a catalog that cannot be read.
    pub async fn start(
        config: Config,
        subscriber: Subscriber,
        registers: Arc<dyn Registers>,
        watching: Watching,
        shutdown: CancellationToken,
    ) -> Result<Arc<Role>, Error> {
        config.check()?;
        let catalog = Catalog::follow(registers, shutdown.clone()).await?;
        let role = Arc::new(Role {
            config,
            subscriber,
            catalog: catalog.clone(),
            matches: Mutex::default(),
            answers: Answers::new(),
            places: Semaphore::new(REQUESTS_MAX),
            held: Semaphore::new(HELD_MAX),
            watching,
            began: Instant::now(),
            clock: Mutex::new(Clock::new()),
            shutdown: shutdown.clone(),
        });
        let (keeping, ending) = (role.clone(), shutdown);
        tokio::spawn(async move { ending.run_until_cancelled(keeping.keep_up(catalog)).await });
        Ok(role)
    }

    /// Since the role's start.
    pub(super) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// UTC in milliseconds, never backwards: a wall clock that is set must not make a feed late, or hide that it is.
    pub(super) fn now_ms(&self) -> i64 {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner).now_ms()
    }

    async fn keep_up(&self, mut catalog: watch::Receiver<Arc<Catalog>>) {
        loop {
            let now = catalog.borrow_and_update().clone();
            self.leave(&now);
            for entry in now.matches().filter(|entry| entry.status == Status::Live) {
                if self.follow(entry).is_err() {
                    tracing::error!(r#match = entry.id, "a live match has no place in memory");
                }
            }
            if catalog.changed().await.is_err() {
                return;
            }
        }
    }

    /// Lets go of matches that are no longer in the catalog, or are other matches now.
    fn leave(&self, catalog: &Catalog) {
        let mut matches = self.matches.lock().unwrap_or_else(PoisonError::into_inner);
        matches.retain(|id, member| {
            let stays = catalog.get(id).is_some_and(|entry| entry.sport == member.sport);
            if !stays {
                member.stop.cancel();
            }
            stays
        });
        gauge!("scores_snapshot_matches").set(matches.len() as f64);
    }

    /// A match of the catalog, in memory from now on.
    pub(super) fn find(&self, id: &str) -> Result<(Match, Arc<Followed>), Problem> {
        let entry = self.catalog.borrow().get(id).cloned();
        let entry = entry.ok_or_else(|| Problem::NoMatch(id.to_owned()))?;
        let followed = self.follow(&entry)?;
        Ok((entry, followed))
    }

    fn follow(&self, entry: &Match) -> Result<Arc<Followed>, Problem> {
        let mut matches = self.matches.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(member) = matches.get(&entry.id) {
            return Ok(member.followed.clone());
        }
        if matches.len() >= MATCHES_MAX {
            return Err(Problem::TooManyMatches);
        }
        let followed = Arc::new(Followed::new(&self.config));
        let stop = self.shutdown.child_token();
        let member = Member { sport: entry.sport, followed: followed.clone(), stop: stop.clone() };
        matches.insert(entry.id.clone(), member);
        let updates = self.subscriber.subscribe(&entry.id, None);
        let (entry, following) = (entry.clone(), followed.clone());
        tokio::spawn(async move { stop.run_until_cancelled(following.follow(&entry, updates)).await });
        Ok(followed)
    }
}
