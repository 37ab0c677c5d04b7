//! A copy of all purchases, if they fit: loaded once, then followed by what changes. Whoever bought before is known when
//! they come, so the first ball is no question to the store.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::Checker;
use super::limits::{FOLLOW_EVERY, OVERLAP_MS};
use crate::Error;
use crate::catalog::keep_stopped;

/// Loads and follows until `shutdown`. What fails is done again.
pub(crate) async fn follow(checker: Arc<Checker>, shutdown: CancellationToken) {
    let mut since_ms = None;
    loop {
        if since_ms.is_none() {
            checker.cache().begin();
        }
        let now_ms = crate::now_ms();
        match take(&checker, since_ms.unwrap_or(i64::MIN), now_ms).await {
            Ok(last_ms) => {
                // Never past what is now: a writer whose clock is ahead must not hide the others.
                since_ms =
                    Some(last_ms.map_or(now_ms, |last| last.min(now_ms)).max(since_ms.unwrap_or(i64::MIN)));
                checker.cache().followed(now_ms);
                metrics::gauge!("arrival_accounts_known").set(checker.cache().len() as f64);
            }
            Err(error) => tracing::warn!(%error, "purchases are not followed"),
        }
        if keep_stopped(&shutdown, FOLLOW_EVERY).await {
            break;
        }
    }
}

/// Takes in what was changed since then, and gives the instant of the last change.
async fn take(checker: &Checker, since_ms: i64, now_ms: i64) -> Result<Option<i64>, Error> {
    let since_ms = since_ms.saturating_sub(OVERLAP_MS);
    let mut after = None;
    loop {
        let page = checker.store().changed(since_ms, after.clone(), store::PAGE_MAX).await?;
        let Some(last) = page.last() else { return Ok(after.map(|(at, _)| at)) };
        let full = page.len() >= store::PAGE_MAX;
        after = Some((last.changed_ms, last.id.clone()));
        for mut purchase in page {
            let account = std::mem::take(&mut purchase.account);
            checker.cache().apply(&account, purchase.into(), now_ms);
        }
        if !full {
            return Ok(after.map(|(at, _)| at));
        }
    }
}
