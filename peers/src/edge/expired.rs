//! A crowd asks at once for an object whose lifetime is over.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use super::Plan;
use super::client::{rush, warm};
use super::cold::wrong;
use super::hits::PLAYLIST_BYTES;
use super::origin::{Origin, Script};
use super::rig::{Rig, Served, Target, WARM};
use super::table::{Seen, figure, rounds};
use crate::figure::{Figure, Goal, figures};
use crate::stats;

/// Where a stale answer is allowed while a new one is fetched.
pub(crate) const ID: &str = "expired_50_ms_p99";

/// As the issue says.
const CLIENTS: usize = 50;
const ORIGIN: Duration = Duration::from_millis(100);
/// What may be added to the origin's time where a stale answer is not allowed.
const ADDED_MS: f64 = 5.0;

/// Lifetimes are whole seconds, and some caches count an object of exactly its lifetime as fresh.
const LIFETIME: &str = "max-age=1";
const STALE: &str = "max-age=1, stale-while-revalidate=30";
const EXPIRED: Duration = Duration::from_millis(2_300);

/// With stale answers allowed; beside it without.
pub(crate) async fn measure(rig: &Rig<'_>, served: &[Served], plan: &Plan) -> Vec<Figure> {
    let [stale, strict] = rounds(served, &rig.origin, plan.slow_rounds, round).await;
    let p99 = |row: &super::table::Row| stats::p99(&row.ms);
    let most = ORIGIN.as_secs_f64() * 1e3 + ADDED_MS;
    let strict = figure(ID, "ms", Goal::AtMost(most), &strict, Some(1), p99);
    let allowed = figure(ID, "ms", Goal::AtMost(5.0), &stale, Some(1), p99);
    let verdict = if strict.passes() { "pass" } else { "FAIL" };
    let spoiled = allowed.spoiled.clone().or_else(|| {
        let why = strict.spoiled.clone().unwrap_or_else(|| format!("{} ms", figures(strict.value)));
        (!strict.passes()).then(|| format!("not allowed: {why}"))
    });
    let mut allowed = allowed.spoiled(spoiled).how(format!(
        "{CLIENTS} warm connections ask at once for an object that is 1.3 s over its lifetime of 1 s, {} rounds",
        plan.slow_rounds
    ));
    allowed = allowed.how(format!(
        "{verdict}: where no stale answer is allowed, {} ms (at most {most}); peers: {}",
        figures(strict.value),
        strict.peers.iter().map(|(n, v)| format!("{n} {}", figures(*v))).collect::<Vec<_>>().join(", ")
    ));
    vec![strict.how.into_iter().fold(allowed, Figure::how)]
}

async fn round(target: Target, origin: Arc<Origin>) -> anyhow::Result<[Seen; 2]> {
    let mut conns = warm(target.addr, &target.path(WARM), CLIENTS).await?;
    let paths = [STALE, LIFETIME]
        .map(|cache_control| origin.put_new("json", Script::whole(cache_control, ORIGIN, PLAYLIST_BYTES)));
    for path in &paths {
        rush(&mut conns[..1], &target.path(path)).await?;
    }
    sleep(EXPIRED).await;
    let mut seen = [Seen::default(), Seen::default()];
    for (seen, path) in seen.iter_mut().zip(&paths) {
        let before = origin.fetches(path);
        let answers = rush(&mut conns, &target.path(path)).await?;
        // A fetch in the background has begun by then.
        sleep(2 * ORIGIN).await;
        let fetches = origin.fetches(path) - before;
        let fresh = (fetches == 0).then(|| "it had not expired".to_owned());
        *seen = Seen {
            ms: answers.iter().map(|a| a.last_ms).collect(),
            fetches,
            origin_ms: origin.took_ms(path),
            fault: wrong(&answers, PLAYLIST_BYTES).or(fresh),
        };
    }
    Ok(seen)
}
