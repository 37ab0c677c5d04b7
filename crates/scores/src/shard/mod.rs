//! The shard: one actor for each match follows the match's log from its beginning, encodes each event once, appends it to the
//! replay, and gives it to the relay.
//!
//! * `fold`: from a record to a message; pure. `host`: the actor. `commit`: what the log is told.
//! * `spine`: what has left the relay's window, from the replay or again from the log.
//!
//! Invariants:
//!
//! * A shard keeps nothing: it is made anew from the log, and what it makes is the same bytes every time. Killing it
//!   loses nothing, and a taker that comes back continues after the cursor that it has.
//! * It says that it is silent: while the log cannot be read, takers are told `spine_lost`.
//! * An offset is committed when every live taker has it, or has been given up on.
//! * A record that cannot be read is counted, logged and passed over; it never stops a match.

mod commit;
mod config;
mod fold;
mod host;
mod limits;
mod replay;
mod spine;

use std::collections::HashMap;
use std::sync::Arc;

use metrics::{counter, gauge};
use relay::Publisher;
use store::{Log, Registers, Replay};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::{Id, JoinSet};
use tokio_util::sync::CancellationToken;

pub use config::Config;
pub use fold::{Corrupt, Fold};

use crate::catalog::Catalog;
use crate::{Error, Sport};
use host::Host;
use spine::Spine;

/// What [`relay::Update::Paused`] says while the log cannot be read.
pub const SPINE_LOST: &str = "spine_lost";
/// As whom the shard commits in the log.
pub const GROUP: &str = "shard";

/// Hosts every match of the catalog on a bound listener until `shutdown`. New matches appear by themselves.
///
/// # Errors
/// Only at the start: settings that cannot be, or a catalog that cannot be read. A log that cannot be read is waited for.
pub async fn serve(
    config: Config,
    listener: TcpListener,
    log: Arc<dyn Log>,
    replay: Arc<dyn Replay>,
    registers: Arc<dyn Registers>,
    shutdown: CancellationToken,
) -> Result<(), Error> {
    config.check()?;
    let catalog = Catalog::follow(registers, shutdown.clone()).await?;
    let spine = Spine { log: log.clone(), replay: replay.clone(), catalog: catalog.clone() };
    let publisher = Publisher::new(config.relay(), Some(Arc::new(spine)));
    let (changed, changes) = watch::channel(());
    // Ends with this function.
    let mut watching = JoinSet::new();
    watching.spawn(watch_log(log.clone(), changed));
    let hosts = Hosts { config, log, replay, publisher: publisher.clone(), changes, running: HashMap::new() };
    tokio::join!(publisher.serve(listener, shutdown.clone()), hosts.run(catalog, shutdown));
    Ok(())
}

/// One look-out for all matches. What is asked for before waking is not missed by those who read after waking.
async fn watch_log(log: Arc<dyn Log>, changed: watch::Sender<()>) {
    loop {
        let next = log.changed();
        changed.send_replace(());
        next.await;
    }
}

/// The actors, and what each is about.
struct Hosts {
    config: Config,
    log: Arc<dyn Log>,
    replay: Arc<dyn Replay>,
    publisher: Publisher,
    changes: watch::Receiver<()>,
    running: HashMap<String, Running>,
}

struct Running {
    sport: Sport,
    task: Id,
    stop: CancellationToken,
}

impl Hosts {
    async fn run(mut self, mut catalog: watch::Receiver<Arc<Catalog>>, shutdown: CancellationToken) {
        let mut tasks = JoinSet::new();
        loop {
            let now = catalog.borrow_and_update().clone();
            self.follow(&now, &mut tasks);
            tokio::select! {
                () = shutdown.cancelled() => break,
                changed = catalog.changed() => if changed.is_err() { break },
                Some(ended) = tasks.join_next_with_id() => self.ended(ended).await,
            }
        }
        // Takers must not be told that matches are no longer hosted: the publisher's end says that the shard is lost.
        tasks.shutdown().await;
    }

    /// Stops who is no longer wanted, starts who is missing.
    fn follow(&mut self, catalog: &Catalog, tasks: &mut JoinSet<()>) {
        for (id, running) in &self.running {
            // A match under another sport is another match.
            if catalog.get(id).is_none_or(|entry| entry.sport != running.sport) {
                running.stop.cancel();
            }
        }
        for entry in catalog.matches() {
            if self.running.contains_key(&entry.id) {
                continue;
            }
            let stop = CancellationToken::new();
            let host = Host::new(
                entry.clone(),
                self.config.clone(),
                self.log.clone(),
                self.replay.clone(),
                self.publisher.clone(),
                self.changes.clone(),
            );
            let stopped = stop.clone();
            let task = tasks.spawn(async move {
                stopped.run_until_cancelled(host.run()).await;
            });
            self.running.insert(entry.id.clone(), Running { sport: entry.sport, task: task.id(), stop });
        }
        gauge!("scores_shard_matches").set(self.running.len() as f64);
    }

    /// An actor that was stopped takes its topic with it. One that was not has panicked: it is made anew, after a rest,
    /// and no other match notices.
    async fn ended(&mut self, ended: Result<(Id, ()), tokio::task::JoinError>) {
        let (task, error) = match ended {
            Ok((task, ())) => (task, None),
            Err(error) => (error.id(), Some(error)),
        };
        let Some((id, running)) = self.running.extract_if(|_, running| running.task == task).next() else {
            return;
        };
        if running.stop.is_cancelled() {
            self.publisher.close(&id);
            if let Err(error) = self.replay.forget(&id).await {
                tracing::warn!(r#match = id, %error, "the replay keeps a match that has left");
            }
            return;
        }
        counter!("scores_shard_restarts_total").increment(1);
        tracing::error!(r#match = id, ?error, "a match's shard failed; it is made anew");
        // The topic stays, so that takers keep what they have; it is opened anew when the log has been read. A match that
        // was never opened has nothing to pause.
        let _ = self.publisher.paused(&id, SPINE_LOST);
        tokio::time::sleep(limits::RESTART_REST).await;
    }
}
