//! A copy of all purchases, if they fit: loaded once, then followed by what changes. Whoever bought before is known when
//! they come, so the first ball is no question to the store.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::Checker;
use super::limits::{CLOCKS_MS, FOLLOW_EVERY, OVERLAP_MS};
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
                since_ms = Some(next(since_ms, last_ms, now_ms));
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

/// From when on it is looked next: from the last change, by its writer's clock, but never past what is now (a writer whose
/// clock is ahead must not hide the others), and not for ever from an old one: thousands may have been written at once.
fn next(since_ms: Option<i64>, last_ms: Option<i64>, now_ms: i64) -> i64 {
    let last = last_ms.map_or(now_ms, |last| last.min(now_ms));
    last.max(now_ms - CLOCKS_MS).max(since_ms.unwrap_or(i64::MIN))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writers_whose_clocks_differ_are_followed_and_old_changes_are_not_read_again_and_again() {
        let now = 1_000_000_000;
        assert_eq!(next(None, None, now), now);
        assert_eq!(next(None, Some(now + 5_000), now), now, "a clock that is ahead");
        assert_eq!(next(Some(now - 9_000), Some(now - 7_000), now), now - 7_000, "one that is behind");
        assert_eq!(next(None, Some(now - 86_400_000), now), now - CLOCKS_MS, "yesterday's import");
        assert_eq!(next(Some(now), Some(now - 5), now), now, "never back");
    }
}
