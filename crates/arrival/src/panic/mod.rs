//! Panic, in two directions. **Positive**: when the entitlement store is slow or gone, or an operator says so, who wants
//! to watch is let in for minutes, it is written down durably here, and settled afterwards. **Negative**: settings and
//! the like are politely refused. Where a viewer is never depends on any of this.
//!
//! [`gauge`] says whether there is a panic, [`ledger`] who was let in by it, [`journal`] keeps that on the disk, and
//! [`settle`] finds out what they were.

mod admin;
mod gauge;
mod journal;
mod ledger;
pub(crate) mod limits;
mod settle;

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use store::{Provisional, Registers};

pub(crate) use admin::router;
pub use gauge::{Gauge, Lever, Positive};
pub(crate) use journal::Journal;
pub use ledger::{Ledger, Line};
pub(crate) use settle::run;

use crate::Error;
use crate::identity::Viewer;
use limits::PROVISIONAL_MS;

/// Where the lever stands in the registers.
pub(crate) const LEVER: &str = "lever/panic";

/// The state of this door's panic.
pub struct Panic {
    gauge: Mutex<Gauge>,
    ledger: Mutex<Ledger>,
    journal: Journal,
}

impl Panic {
    /// With a journal, of which everything that is pending will be settled.
    ///
    /// # Errors
    ///
    /// The journal cannot be read or written.
    pub fn open(journal: &Path) -> Result<Panic, Error> {
        let (journal, ledger) = Journal::open(journal)?;
        Ok(Panic { gauge: Mutex::default(), ledger: Mutex::new(ledger), journal })
    }

    /// The gauge, now.
    pub fn gauge(&self) -> MutexGuard<'_, Gauge> {
        self.gauge.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// See [`Gauge::observe`].
    pub fn observe(&self, answered: bool, took_ms: i64, now_ms: i64) {
        let mut gauge = self.gauge();
        let before = gauge.is_panic();
        gauge.observe(answered, took_ms, now_ms);
        if gauge.is_panic() != before {
            tracing::warn!(
                panic = !before,
                "the entitlement store is {}",
                if before { "well again" } else { "slow or gone" }
            );
            metrics::gauge!("arrival_panic").set(f64::from(u8::from(!before)));
        }
    }

    /// Lets a viewer in without a check, once it is written down. None: that cannot be done now.
    pub async fn let_in(&self, viewer: &Viewer, id: &str, r#match: &str, now_ms: i64) -> Option<Provisional> {
        if !self.ledger().reserve() {
            metrics::counter!("arrival_provisional_refused_total").increment(1);
            return None;
        }
        let pass = Provisional {
            id: id.to_owned(),
            account: viewer.account.clone().filter(|_| !viewer.provisional),
            device: viewer.device.clone(),
            r#match: r#match.to_owned(),
            issued_ms: now_ms,
            until_ms: now_ms + PROVISIONAL_MS,
            settled: None,
        };
        let reserved = Reserved { panic: self, pass: Some(pass.clone()) };
        let durable = self.journal.write(&[Line::issued(&pass)]).await;
        reserved.written(durable);
        metrics::counter!("arrival_provisional_total").increment(u64::from(durable));
        durable.then_some(pass)
    }

    /// Passes that can be settled.
    pub(crate) fn due(&self, now_ms: i64, max: usize) -> Vec<Provisional> {
        self.ledger().due(now_ms, max)
    }

    /// The store has these.
    pub(crate) async fn settled(&self, passes: &[Provisional]) {
        // If the lines are lost, the store is told again after the next start, and keeps what it has.
        self.journal.write(&settle::lines(passes)).await;
        let mut ledger = self.ledger();
        for pass in passes {
            if let Some((verdict, _)) = pass.settled {
                ledger.settle(&pass.id, verdict);
                metrics::counter!("arrival_provisional_settled_total", "verdict" => verdict.name())
                    .increment(1);
            }
        }
    }

    /// Keeps the journal short.
    pub(crate) fn tidy(&self) {
        let ledger = self.ledger();
        if ledger.is_settled() {
            self.journal.begin();
        }
    }

    /// Reads the lever. What cannot be read changes nothing.
    pub(crate) async fn follow(&self, registers: &dyn Registers) -> Result<(), Error> {
        let lever = match registers.get(LEVER).await? {
            None => Lever::default(),
            Some(register) => match serde_json::from_str(&register.value) {
                Ok(lever) => lever,
                Err(error) => {
                    tracing::error!(%error, "the lever cannot be read");
                    return Ok(());
                }
            },
        };
        self.gauge().lever = lever;
        Ok(())
    }
}

/// A place in the ledger, for a pass that is being written down.
struct Reserved<'a> {
    panic: &'a Panic,
    pass: Option<Provisional>,
}

impl Reserved<'_> {
    fn written(mut self, durable: bool) {
        if let Some(pass) = self.pass.take() {
            self.panic.ledger().written(pass, durable);
        }
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        // The viewer went away. Whether the line stands is not known; if it does, settling it harms nobody.
        if let Some(pass) = self.pass.take() {
            self.panic.ledger().written(pass, true);
        }
    }
}
