//! A crowd asks at once for an object that nobody has asked for before.

use std::sync::Arc;
use std::time::Duration;

use super::Plan;
use super::client::{Answer, rush, warm};
use super::hits::{PLAYLIST_BYTES, SEGMENT_BYTES};
use super::origin::{Origin, Script};
use super::rig::{Rig, Served, Target, WARM};
use super::table::{Seen, figure, rounds};
use crate::figure::{Figure, Goal};
use crate::stats;

/// Of 4 KB: to the last byte, and what reached the origin.
pub(crate) const SMALL: [&str; 2] = ["cold_200_ms_p99", "cold_200_fetches"];
/// Of 1 MB.
pub(crate) const LARGE: &str = "cold_200_1m_ms_p99";

/// As the issue says.
const CLIENTS: usize = 200;
const ORIGIN: Duration = Duration::from_millis(120);

/// A playlist or a part.
pub(crate) async fn small(rig: &Rig<'_>, served: &[Served], plan: &Plan) -> Vec<Figure> {
    let [table] =
        rounds(served, &rig.origin, plan.rounds, |target, origin| round(target, origin, PLAYLIST_BYTES))
            .await;
    let way = way(plan, PLAYLIST_BYTES);
    let ms = figure(SMALL[0], "ms", Goal::AtMost(125.0), &table, None, |row| stats::p99(&row.ms));
    let fetches = figure(SMALL[1], "fetches", Goal::Exactly(1.0), &table, None, |row| row.most_fetches());
    vec![ms.how(way.clone()), fetches.how(way)]
}

/// A segment.
pub(crate) async fn large(rig: &Rig<'_>, served: &[Served], plan: &Plan) -> Vec<Figure> {
    let [table] =
        rounds(served, &rig.origin, plan.rounds, |target, origin| round(target, origin, SEGMENT_BYTES)).await;
    let ms = figure(LARGE, "ms", Goal::AtMost(200.0), &table, Some(1), |row| stats::p99(&row.ms));
    vec![ms.how(way(plan, SEGMENT_BYTES))]
}

async fn round(target: Target, origin: Arc<Origin>, length: usize) -> anyhow::Result<[Seen; 1]> {
    let mut conns = warm(target.addr, &target.path(WARM), CLIENTS).await?;
    let path = origin.put_new("m4s", Script::whole("max-age=60", ORIGIN, length));
    let answers = rush(&mut conns, &target.path(&path)).await?;
    Ok([Seen {
        ms: answers.iter().map(|a| a.last_ms).collect(),
        fetches: origin.fetches(&path),
        origin_ms: origin.took_ms(&path),
        fault: wrong(&answers, length),
    }])
}

/// What is wrong with the first answer that is not a whole 200.
pub(crate) fn wrong(answers: &[Answer], length: usize) -> Option<String> {
    let wrong = answers.iter().find(|a| a.status != 200 || a.bytes != length as u64)?;
    Some(format!("an answer was {} with {} of {length} bytes", wrong.status, wrong.bytes))
}

fn way(plan: &Plan, length: usize) -> String {
    format!(
        "{CLIENTS} warm connections ask at once for one new object of {length} bytes, {} rounds; from the request to the last byte",
        plan.rounds,
    )
}
