//! Viewers who are logged in ask to play: the server on one core, the load on the others.

use super::Plan;
use super::load::paced::{Pace, Paces, Phase, Tally};
use super::rig::{Door, Keeps, Manner, Rig, only};
use super::viewers::Ask;
use crate::figure::{Figure, Goal, figures};

/// On the embedded store.
pub(crate) const SQLITE: [&str; 2] = ["play_per_s", "play_ms_p99"];

/// And on PostgreSQL.
pub(crate) const POSTGRES: [&str; 2] = ["play_postgres_per_s", "play_postgres_ms_p99"];

/// The goals.
const PER_S: f64 = 5_000.0;
const P99_MS: f64 = 20.0;

/// Connections: enough that the server always has one to turn to.
pub(crate) const CONNECTIONS: usize = 64;
/// And where requests come at a pace: as many as would be under way if each took a tenth of a second.
const CONNECTIONS_PACED: usize = 512;
/// Enough of them that nobody asks more often than a page would, also at ten times what the door can; and not so many that
/// it forgets tokens that it has checked.
const VIEWERS: usize = 45_000;

/// How a door is started whose plays are measured: its viewers' purchases are known, as they are with the defaults.
pub(crate) const MANNER: Manner =
    Manner { pinned: true, copy: true, accounts: VIEWERS, keeps: Keeps::Sqlite };

/// The same, with all that it keeps in PostgreSQL.
pub(crate) const ON_POSTGRES: Manner = Manner { keeps: Keeps::Postgres, ..MANNER };

/// How many it can, and how long they take at the pace of the goal; on the store that is called so.
pub(crate) async fn measure(
    rig: &Rig<'_>,
    plan: &Plan,
    ids: [&'static str; 2],
    (store, manner): (&str, Manner),
) -> anyhow::Result<Vec<Figure>> {
    let door = rig.door(manner).await?;
    // Tokens are checked for the first time, and the machine is warm.
    flat_out(rig, &door, plan.warm_s).await?;
    let before = door.cpu_seconds()?;
    let most = flat_out(rig, &door, plan.play_s).await?;
    let busy = (door.cpu_seconds()? - before) / plan.play_s;
    let paced = at_pace(rig, &door, PER_S, plan.play_s).await?;
    let per_s = most.accepted.count as f64 / plan.play_s;
    let way = format!(
        "viewers who are logged in and have bought, {VIEWERS} in turn, purchases known, {store}; the server on one core, the load \
         on the others; {} s each",
        plan.play_s
    );
    Ok(vec![
        Figure::new(ids[0], per_s, "plays/s", Goal::AtLeast(PER_S))
            .spoiled(most.blemish())
            .how(format!(
                "{CONNECTIONS} connections that ask as soon as they are answered: p50 {} ms, p99 {}, most {}; {} us of CPU time for \
                 each, its core {:.0} % busy",
                figures(most.accepted.p50),
                figures(most.accepted.p99),
                figures(most.accepted.max),
                figures(busy * 1e6 / per_s),
                busy * 100.0,
            ))
            .how(way.clone()),
        Figure::new(ids[1], paced.accepted.p99, "ms", Goal::AtMost(P99_MS))
            .spoiled(paced.blemish())
            .how(format!(
                "{PER_S} a second, whatever becomes of them, counted from when each was due: p50 {} ms, most {}",
                figures(paced.accepted.p50),
                figures(paced.accepted.max),
            ))
            .how(way),
    ])
}

/// As many as it answers.
pub(crate) async fn flat_out(rig: &Rig<'_>, door: &Door, seconds: f64) -> anyhow::Result<Tally> {
    let paces = vec![Pace { ask: Ask::Play, per_s: None }];
    let paces = Paces { connections: CONNECTIONS, phases: vec![Phase { seconds, paces }] };
    Ok(only(&rig.paced(door, 0..VIEWERS, true, paces).await?)?.clone())
}

async fn at_pace(rig: &Rig<'_>, door: &Door, per_s: f64, seconds: f64) -> anyhow::Result<Tally> {
    let paces = vec![Pace { ask: Ask::Play, per_s: Some(per_s) }];
    let paces = Paces { connections: CONNECTIONS_PACED, phases: vec![Phase { seconds, paces }] };
    Ok(only(&rig.paced(door, 0..VIEWERS, true, paces).await?)?.clone())
}
