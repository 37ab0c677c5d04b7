//! An object that is asked for before it exists, and then appears.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{bail, ensure};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use super::Plan;
use super::client::Conn;
use super::hits::PLAYLIST_BYTES;
use super::origin::{Origin, Script};
use super::rig::{Rig, Served, Target, WARM};
use super::table::{Seen, figure, rounds};
use crate::figure::{Figure, Goal};
use crate::stats;

/// From its appearance to the first 200.
pub(crate) const ID: &str = "late_404_ms";

/// A player that is told 404 asks again.
const EVERY: Duration = Duration::from_millis(10);
/// A cache may hold the request instead of saying 404: then it appears meanwhile.
const PATIENCE: Duration = Duration::from_millis(500);
/// A pinned 404 is not waited for longer.
const GIVE_UP: Duration = Duration::from_secs(3);

/// Asks again and again.
pub(crate) async fn measure(rig: &Rig<'_>, served: &[Served], plan: &Plan) -> Vec<Figure> {
    let [table] = rounds(served, &rig.origin, plan.rounds, round).await;
    let way = format!(
        "a new name is asked for and is 404, then there; asked for every {} ms until it is 200; the slowest of {} rounds",
        EVERY.as_millis(),
        plan.rounds,
    );
    vec![figure(ID, "ms", Goal::AtMost(50.0), &table, None, |row| stats::max(&row.ms)).how(way)]
}

async fn round(target: Target, origin: Arc<Origin>) -> anyhow::Result<[Seen; 1]> {
    let mut conn = Conn::open(target.addr).await?;
    conn.get(&target.path(WARM)).await?;
    let path = origin.new_path("m4s");
    let asked = target.path(&path);
    conn.send(&asked).await?;
    let first = timeout(PATIENCE, conn.answer()).await;
    origin.put(&path, Script::whole("max-age=60", Duration::ZERO, PLAYLIST_BYTES));
    let appeared = Instant::now();
    let seen =
        |fetches| Seen { ms: vec![appeared.elapsed().as_secs_f64() * 1e3], fetches, ..Seen::default() };
    match first {
        Ok(answer) => ensure!(answer?.status == 404, "the first answer was no 404"),
        Err(_) => {
            ensure!(
                conn.answer().await?.status == 200,
                "the request was held, and then not answered with 200"
            );
            return Ok([seen(origin.fetches(&path))]);
        }
    }
    let mut asks = interval(EVERY);
    asks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while appeared.elapsed() < GIVE_UP {
        asks.tick().await;
        if conn.get(&asked).await?.status == 200 {
            return Ok([seen(origin.fetches(&path))]);
        }
    }
    bail!("still no 200 after {} s", GIVE_UP.as_secs())
}
