//! A few ask at once for what may not be shared: nobody may wait for another's answer.

use std::sync::Arc;
use std::time::Duration;

use super::Plan;
use super::client::{rush, warm};
use super::cold::wrong;
use super::hits::PLAYLIST_BYTES;
use super::origin::{Origin, Script};
use super::rig::{Rig, Served, Target, WARM};
use super::table::{Seen, figure, rounds};
use crate::figure::{Figure, Goal};
use crate::stats;

/// The first time, and once the key is known.
pub(crate) const IDS: [&str; 2] = ["uncacheable_30_ms_max", "uncacheable_known_ms_max"];

/// As the issue says.
const CLIENTS: usize = 30;
const ORIGIN: Duration = Duration::from_millis(100);

/// Both times.
pub(crate) async fn measure(rig: &Rig<'_>, served: &[Served], plan: &Plan) -> Vec<Figure> {
    let [first, known] = rounds(served, &rig.origin, plan.rounds, round).await;
    let way = |when| {
        format!(
            "{CLIENTS} warm connections ask at once for a no-store answer {when}; the slowest of {} rounds",
            plan.rounds
        )
    };
    let of = |id, most, table| figure(id, "ms", Goal::AtMost(most), table, None, |row| stats::max(&row.ms));
    vec![
        of(IDS[0], 215.0, &first).how(way("under a new name")),
        of(IDS[1], 115.0, &known).how(way("under a name that had one before")),
    ]
}

async fn round(target: Target, origin: Arc<Origin>) -> anyhow::Result<[Seen; 2]> {
    let mut conns = warm(target.addr, &target.path(WARM), CLIENTS).await?;
    let path = origin.put_new("json", Script::whole("no-store", ORIGIN, PLAYLIST_BYTES));
    let mut seen = [Seen::default(), Seen::default()];
    let mut before = 0;
    for seen in &mut seen {
        let answers = rush(&mut conns, &target.path(&path)).await?;
        let fetches = origin.fetches(&path) - before;
        // An answer that may not be stored was shared if there were fewer fetches than answers.
        let shared = (fetches < CLIENTS as u64).then(|| format!("{CLIENTS} answers of {fetches} fetches"));
        *seen = Seen {
            ms: answers.iter().map(|a| a.last_ms).collect(),
            fetches,
            origin_ms: origin.took_ms(&path),
            fault: wrong(&answers, PLAYLIST_BYTES).or(shared),
        };
        before += fetches;
    }
    Ok(seen)
}
