//! The shell around [`Checks`] and [`Cache`]: asks the store.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use store::Entitlements;
use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;

use super::limits::{NEGATIVE_MS, NEGATIVE_PANIC_MS, POSITIVE_MS, STALE_MS};
use super::{Batch, Cache, Checks, Granted, Held, Known, Refusal, decide};
use crate::catalog::Show;
use crate::panic::Panic;

/// What is decided from what is known.
#[derive(Clone, Debug, PartialEq)]
pub enum Checked<'a> {
    /// They may watch.
    Granted(Granted<'a>),
    /// They may not.
    Refused(Refusal),
    /// It is not known well enough.
    Ask,
}

/// Decides from what is known of an account. `trouble`: the store does not answer, so what is older must do. Pure.
pub fn weigh<'a>(show: &'a Show, known: Option<&Known>, trouble: bool, now_ms: i64) -> Checked<'a> {
    let Some(known) = known else {
        // The best that there is costs nothing: nothing that they may have bought would change that.
        let free = show.offers.first().is_some_and(|(product, _)| product.free);
        return match decide(show, Some(&[]), now_ms) {
            Ok(granted) if free || trouble => Checked::Granted(granted),
            // That nobody is sold it needs no asking either.
            Err(refusal) if show.offers.is_empty() => Checked::Refused(refusal),
            _ => Checked::Ask,
        };
    };
    let age_ms = now_ms - known.at_ms;
    let (good_ms, bad_ms) = if trouble { (STALE_MS, NEGATIVE_PANIC_MS) } else { (POSITIVE_MS, NEGATIVE_MS) };
    match decide(show, Some(&known.held), now_ms) {
        Ok(granted) if age_ms < good_ms || (trouble && granted.product.free) => Checked::Granted(granted),
        Err(refusal) if age_ms < bad_ms => Checked::Refused(refusal),
        _ => Checked::Ask,
    }
}

/// An answer for one who waits; none if there was none.
type Ticket = oneshot::Sender<Option<Arc<[Held]>>>;

/// Asks the store, as seldom as it can.
pub struct Checker {
    store: Arc<dyn Entitlements>,
    cache: Cache,
    checks: Mutex<Checks<Ticket>>,
    wake: Notify,
    panic: Arc<Panic>,
    longest: Duration,
}

impl Checker {
    /// Begins to ask when somebody waits, until `shutdown`. `longest`: that anybody waits.
    pub fn start(
        store: Arc<dyn Entitlements>,
        cache: Cache,
        panic: Arc<Panic>,
        longest: Duration,
        shutdown: CancellationToken,
    ) -> Arc<Checker> {
        let checker =
            Arc::new(Checker { store, cache, checks: Mutex::default(), wake: Notify::new(), panic, longest });
        let asking = checker.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = asking.run() => {}
                () = shutdown.cancelled() => {}
            }
        });
        checker
    }

    /// What is known here.
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    pub(crate) fn store(&self) -> &dyn Entitlements {
        &*self.store
    }

    fn checks(&self) -> MutexGuard<'_, Checks<Ticket>> {
        self.checks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the store what an account bought. None: there was no answer in time, or there is no asking now.
    pub async fn check(&self, account: &str) -> Option<Arc<[Held]>> {
        if self.panic.gauge().is_panic() {
            return None;
        }
        let (ticket, answer) = oneshot::channel();
        if self.checks().ask(account, ticket).is_err() {
            // More wait than could be answered in time.
            self.panic.observe(false, 0, crate::now_ms());
            return None;
        }
        self.wake.notify_one();
        match tokio::time::timeout(self.longest, answer).await {
            Ok(answer) => answer.ok().flatten(),
            Err(_) => {
                self.panic.observe(false, 0, crate::now_ms());
                None
            }
        }
    }

    async fn run(self: &Arc<Self>) {
        loop {
            let (batch, next_ms) = {
                let mut checks = self.checks();
                (checks.due(crate::now_ms()), checks.next_ms())
            };
            if let Some(batch) = batch {
                let asking = self.clone();
                tokio::spawn(async move { asking.ask(batch).await });
                continue;
            }
            let wait = next_ms.map(|at| Duration::from_millis((at - crate::now_ms()).max(1) as u64));
            tokio::select! {
                () = self.wake.notified() => {}
                () = tokio::time::sleep(wait.unwrap_or_default()), if wait.is_some() => {}
            }
        }
    }

    async fn ask(&self, batch: Batch) {
        let began = Instant::now();
        metrics::counter!("arrival_entitlement_checks_total").increment(1);
        metrics::counter!("arrival_entitlement_checked_accounts_total")
            .increment(batch.accounts.len() as u64);
        let answer = self.store.held(&batch.accounts, batch.asked_ms).await;
        self.panic.observe(answer.is_ok(), began.elapsed().as_millis() as i64, crate::now_ms());
        let waiting = self.checks().done(&batch);
        self.wake.notify_one();
        match answer {
            Ok(bought) => {
                let mut held: std::collections::HashMap<String, Vec<Held>> = Default::default();
                for mut purchase in bought {
                    let account = std::mem::take(&mut purchase.account);
                    held.entry(account).or_default().push(purchase.into());
                }
                for (account, tickets) in waiting {
                    let all = held.remove(&account).unwrap_or_default();
                    self.cache.put(&account, all.clone(), batch.asked_ms);
                    let all: Arc<[Held]> = all.into();
                    tickets.into_iter().for_each(|ticket| drop(ticket.send(Some(all.clone()))));
                }
            }
            Err(error) => {
                tracing::warn!(%error, accounts = batch.accounts.len(), "a check was not answered");
                // Dropping a ticket is its answer, for those who would be asked for next as well once it is a panic.
                drop(waiting);
                if self.panic.gauge().is_panic() {
                    drop(self.checks().give_up());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{Catalog, Copy, Kind};

    const NOW: i64 = 1_796_000_000_000;

    fn show(free: &[bool]) -> Show {
        let mut catalog = Catalog::default();
        let document =
            serde_json::json!({"id": "final", "title": "Final", "status": "live", "start_ms": NOW});
        catalog.insert(Kind::Match, "final", &document.to_string()).unwrap();
        for (tier, free) in free.iter().enumerate() {
            let id = format!("p{tier}");
            let plan = serde_json::json!({"id": id, "name": id, "tier": tier});
            catalog.insert(Kind::Plan, &id, &plan.to_string()).unwrap();
            let product = serde_json::json!({"id": id, "name": id, "plan": id, "free": free});
            catalog.insert(Kind::Product, &id, &product.to_string()).unwrap();
        }
        Copy::of(catalog).show("final").unwrap().as_ref().clone()
    }

    fn known(product: Option<&str>, age_ms: i64) -> Known {
        let held = product.map(|p| Held { id: p.into(), product: p.into(), from_ms: 0, until_ms: i64::MAX });
        Known { held: held.into_iter().collect::<Vec<_>>().into(), at_ms: NOW - age_ms }
    }

    /// The plan, or why not, or `ask`.
    fn said(show: &Show, known: Option<Known>, trouble: bool) -> String {
        match weigh(show, known.as_ref(), trouble, NOW) {
            Checked::Granted(granted) => granted.plan.id.clone(),
            Checked::Refused(_) => "refused".into(),
            Checked::Ask => "ask".into(),
        }
    }

    #[test]
    fn the_store_is_asked_only_if_the_answer_could_be_another() {
        let sold = show(&[false]);
        assert_eq!(said(&sold, None, false), "ask");
        assert_eq!(said(&sold, Some(known(Some("p0"), POSITIVE_MS - 1)), false), "p0");
        assert_eq!(said(&sold, Some(known(Some("p0"), POSITIVE_MS)), false), "ask");
        assert_eq!(said(&sold, Some(known(None, NEGATIVE_MS - 1)), false), "refused");
        assert_eq!(said(&sold, Some(known(None, NEGATIVE_MS)), false), "ask", "they may be at the till");
        assert_eq!(said(&show(&[true]), None, false), "p0", "free needs no asking");
        assert_eq!(said(&show(&[true, false]), None, false), "ask", "they may have something better");
        assert_eq!(said(&show(&[]), None, false), "refused", "nobody is sold it");
    }

    #[test]
    fn in_trouble_what_is_older_must_do_and_what_is_free_is() {
        let sold = show(&[false]);
        assert_eq!(said(&sold, Some(known(Some("p0"), STALE_MS - 1)), true), "p0");
        assert_eq!(said(&sold, Some(known(Some("p0"), STALE_MS)), true), "ask");
        assert_eq!(said(&sold, Some(known(None, NEGATIVE_PANIC_MS - 1)), true), "refused");
        assert_eq!(said(&sold, Some(known(None, NEGATIVE_PANIC_MS)), true), "ask");
        assert_eq!(said(&sold, None, true), "ask");
        assert_eq!(said(&show(&[true, false]), None, true), "p0");
        assert_eq!(said(&show(&[true, false]), Some(known(None, STALE_MS)), true), "p0");
    }
}
