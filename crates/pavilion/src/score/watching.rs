//! How many watch: socket edges report through the store, whoever tells viewers adds up.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use scores::catalog::Catalog;
use store::Registers;
use tokio_util::sync::CancellationToken;

/// How often edges report and sums are made: a number that people look at, not one that is counted on.
const EVERY: Duration = Duration::from_secs(5);
/// An edge that has not reported for so long is gone, and so are those who watched there.
const LIVES: Duration = Duration::from_secs(20);

/// How many watch a match here.
pub(crate) trait Count: Send + Sync + 'static {
    /// Now.
    fn of(&self, match_id: &str) -> u64;
}

/// Reports one edge's counts until `shutdown`.
pub(crate) async fn report(registers: Arc<dyn Registers>, here: impl Count, shutdown: CancellationToken) {
    let edge = format!("{:016x}", fastrand::u64(..));
    let mut versions: HashMap<String, u64> = HashMap::new();
    while !ended(&shutdown).await {
        let Ok(catalog) = Catalog::load(&*registers).await else { continue };
        for entry in catalog.matches() {
            let (key, count) = (format!("watching/{}/{edge}", entry.id), here.of(&entry.id).to_string());
            let known = versions.get(&key).copied();
            match registers.put_if(&key, &count, known, Some(LIVES)).await {
                Ok(outcome) => drop(versions.insert(key, outcome.into_register().version)),
                Err(error) => tracing::debug!(%error, "how many watch here is not reported"),
            }
        }
    }
}

/// The sum over all edges, as it was at most some seconds ago.
pub(crate) fn sum(
    registers: Arc<dyn Registers>,
    shutdown: CancellationToken,
) -> Arc<dyn Fn(&str) -> u64 + Send + Sync> {
    let sums: Arc<Mutex<HashMap<String, u64>>> = Arc::default();
    let asked = sums.clone();
    tokio::spawn(async move {
        while !ended(&shutdown).await {
            let Ok(all) = registers.list("watching/").await else { continue };
            let mut now: HashMap<String, u64> = HashMap::new();
            for (key, register) in all {
                if let Some(match_id) = key.split('/').nth(1) {
                    *now.entry(match_id.to_owned()).or_default() += register.value.parse().unwrap_or(0);
                }
            }
            *sums.lock().unwrap_or_else(PoisonError::into_inner) = now;
        }
    });
    Arc::new(move |match_id| {
        asked.lock().unwrap_or_else(PoisonError::into_inner).get(match_id).copied().unwrap_or(0)
    })
}

async fn ended(shutdown: &CancellationToken) -> bool {
    tokio::select! {
        () = shutdown.cancelled() => true,
        () = tokio::time::sleep(EVERY) => false,
    }
}
