//! The origin: its programmes, and what they share.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use timeline::name::ProgrammePath;
use timeline::programme::Programme as Announced;
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::config::Config;
use crate::core::{Accepted, Programme, Refusal};
use crate::letters::Letters;
use crate::limits::{HELD_MAX, HOLD_MAX};
use crate::live::Live;

/// An origin without its listener; [`Self::answer`] is all that a server needs.
pub struct Origin {
    config: Config,
    clock: Clock,
    letters: Arc<dyn Letters>,
    shutdown: CancellationToken,
    programmes: RwLock<HashMap<ProgrammePath, Arc<Live>>>,
    announced: watch::Sender<()>,
    places: Semaphore,
    started: Instant,
}

impl Origin {
    /// An origin with nothing on air. Its timers run until `shutdown`.
    pub fn new(
        config: Config,
        letters: Arc<dyn Letters>,
        clock: Clock,
        shutdown: CancellationToken,
    ) -> Origin {
        Origin {
            config,
            clock,
            letters,
            shutdown,
            programmes: RwLock::default(),
            announced: watch::Sender::new(()),
            places: Semaphore::new(HELD_MAX),
            started: Instant::now(),
        }
    }

    pub(crate) fn clock(&self) -> Clock {
        self.clock
    }

    pub(crate) fn places(&self) -> &Semaphore {
        &self.places
    }

    pub(crate) fn shutdown(&self) -> &CancellationToken {
        &self.shutdown
    }

    /// Notices when a programme is announced.
    pub(crate) fn announced(&self) -> watch::Receiver<()> {
        self.announced.subscribe()
    }

    /// Until when an unknown programme may be one that its pipelines have not announced yet: they notice a
    /// restart with their next part.
    pub(crate) fn empty_until(&self) -> Instant {
        self.started + HOLD_MAX
    }

    pub(crate) fn find(&self, path: &ProgrammePath) -> Option<Arc<Live>> {
        self.programmes.read().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }

    /// Takes an announcement.
    pub(crate) fn announce(&self, path: &ProgrammePath, said: Announced) -> Result<Accepted, Refusal> {
        let mut programmes = self.programmes.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(live) = programmes.get(path) {
            return live.look(|known, _| known.announce(&said)).map(|()| Accepted::Same);
        }
        let programme = Programme::new(said, self.config.window())?;
        let most = self.config.programmes_max;
        if programmes.len() >= most {
            let now = self.clock.now();
            let at_rest = programmes.iter().find(|(_, live)| live.look(|p, _| p.at_rest(now)));
            let gone = at_rest.map(|(path, _)| path.clone()).ok_or(Refusal::Full(most))?;
            if let Some(live) = programmes.remove(&gone) {
                tracing::info!(programme = %gone, "makes room for another");
                live.end();
            }
        }
        tracing::info!(programme = %path, "announced");
        let live = Live::start(path.clone(), programme, self.letters.clone(), self.clock, &self.shutdown);
        programmes.insert(path.clone(), live);
        self.announced.send_replace(());
        Ok(Accepted::New)
    }
}
