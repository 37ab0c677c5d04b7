//! Settling: who was let in without a check is checked as soon as the store answers, and the store is tried by the same
//! questions.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use store::{Provisional, Verdict};
use tokio_util::sync::CancellationToken;

use super::Panic;
use super::ledger::Line;
use super::limits::{SETTLE_EVERY, SETTLE_MAX};
use crate::catalog::{Copy, Keeper, keep_stopped};
use crate::entitlement::{Checker, Held, decide};

/// Settles and tries until `shutdown`.
pub(crate) async fn run(
    panic: Arc<Panic>,
    checker: Arc<Checker>,
    keeper: Arc<Keeper>,
    shutdown: CancellationToken,
) {
    while !keep_stopped(&shutdown, SETTLE_EVERY).await {
        let due = panic.due(crate::now_ms(), SETTLE_MAX);
        let in_panic = panic.gauge().bad_since_ms().is_some();
        if due.is_empty() && !in_panic {
            panic.tidy();
            continue;
        }
        settle(&panic, &checker, &keeper.copy(), &due).await;
    }
}

/// Asks the store for these, and writes down what they were. Without any, the store is tried.
pub(crate) async fn settle(panic: &Panic, checker: &Checker, copy: &Copy, due: &[Provisional]) {
    let mut accounts: Vec<String> = due.iter().filter_map(|p| p.account.clone()).collect();
    accounts.sort();
    accounts.dedup();
    // What they had when they were let in: a purchase that has ended since counts.
    let then_ms = due.iter().map(|p| p.issued_ms).min().unwrap_or(i64::MAX);
    let began = Instant::now();
    let asked = checker.store().held(&accounts, then_ms).await;
    panic.observe(asked.is_ok(), began.elapsed().as_millis() as i64, crate::now_ms());
    let (Ok(bought), false) = (asked, due.is_empty()) else { return };
    let mut held: HashMap<&str, Vec<Held>> = accounts.iter().map(|a| (a.as_str(), Vec::new())).collect();
    for purchase in bought {
        if let Some(all) = held.get_mut(purchase.account.as_str()) {
            all.push(purchase.into());
        }
    }
    let now_ms = crate::now_ms();
    for (account, all) in &held {
        // Whoever is not entitled is so at renewal, with the panic over or not.
        checker.cache().put(account, all.clone(), now_ms);
    }
    let settled: Vec<_> = due
        .iter()
        .map(|pass| {
            let verdict = verdict(copy, pass, pass.account.as_deref().and_then(|a| held.get(a)));
            Provisional { settled: Some((verdict, now_ms)), ..pass.clone() }
        })
        .collect();
    if let Err(error) = checker.store().record(&settled).await {
        tracing::warn!(%error, "provisional passes are not settled yet");
        return panic.observe(false, 0, crate::now_ms());
    }
    panic.settled(&settled).await;
}

fn verdict(copy: &Copy, pass: &Provisional, held: Option<&Vec<Held>>) -> Verdict {
    match (held, copy.show(&pass.r#match)) {
        (None, _) => Verdict::Unverified,
        (Some(held), Some(show)) if decide(show, Some(held), pass.issued_ms).is_ok() => Verdict::Entitled,
        (Some(_), _) => Verdict::NotEntitled,
    }
}

/// The lines that say so.
pub(crate) fn lines(settled: &[Provisional]) -> Vec<Line> {
    settled.iter().map(|pass| Line::Settled { id: pass.id.clone() }).collect()
}
