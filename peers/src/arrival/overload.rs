//! Ten times as many plays as it can, for a minute.

use anyhow::Context;

use super::Plan;
use super::load::paced::{Pace, Paces, Phase};
use super::play::{self, MANNER};
use super::rig::Rig;
use super::viewers::Ask;
use crate::figure::{Figure, Goal, figures};

/// The figures.
pub(crate) const IDS: [&str; 3] =
    ["overload_goodput_ratio", "overload_accepted_ms_p99", "overload_recovery_s"];

const GOODPUT: f64 = 0.9;
const P99_MS: f64 = 100.0;
const RECOVERY_S: f64 = 5.0;

/// Times what it can.
const FOLD: f64 = 10.0;
/// Offered at least, of that: less would be another test.
const OFFERED_MIN: f64 = 0.9;
/// Before and after, of what it can.
const CALM: f64 = 0.5;
/// Over which they come.
const CONNECTIONS: usize = 4_096;

/// What it does of what it could, how soon, and how soon it is well again.
pub(crate) async fn measure(rig: &Rig<'_>, plan: &Plan) -> anyhow::Result<Vec<Figure>> {
    let door = rig.door(MANNER).await?;
    play::flat_out(rig, &door, plan.warm_s).await?;
    let most = play::flat_out(rig, &door, plan.play_s).await?;
    let could = most.accepted.count as f64 / plan.play_s;
    let phase = |times: f64, seconds| Phase {
        seconds,
        paces: vec![Pace { ask: Ask::Play, per_s: Some(could * times) }],
    };
    let phases = vec![phase(CALM, plan.calm_s), phase(FOLD, plan.overload_s), phase(CALM, plan.calm_s)];
    let paces = Paces { connections: CONNECTIONS, phases };
    let report = rig.paced(&door, 0..MANNER.accounts, true, paces).await?;
    let tally = |n: usize| report.get(n).and_then(|phase| phase.first()).context("the load said too little");
    let (rush, after) = (tally(1)?, tally(2)?);
    let good = rush.accepted.count as f64 / plan.overload_s;
    // Who finds all connections waiting has come, too, and waits before them.
    let offered = (rush.asked + rush.unsent) as f64 / plan.overload_s / could;
    let mut spoiled = most.blemish().or(rush.fault());
    if offered < FOLD * OFFERED_MIN {
        spoiled.get_or_insert(format!("only {} times what it can was offered", figures(offered)));
    }
    if rush.refused.count == 0 {
        spoiled.get_or_insert("nobody was refused, so the load was what was overloaded".to_owned());
    }
    let way = format!(
        "it can {} plays a second ({} connections that ask as soon as they are answered); {} times as many were due for {} s over {CONNECTIONS} connections, \
         and whoever found all of them waiting was not sent ({} a second); of the others {} a second were let in (p50 {} ms) and {} told to come again (p50 {} ms, most {}); \
         the server on one core, SQLite",
        figures(could),
        play::CONNECTIONS,
        figures(offered),
        plan.overload_s,
        figures(rush.unsent as f64 / plan.overload_s),
        figures(good),
        figures(rush.accepted.p50),
        figures(rush.refused.count as f64 / plan.overload_s),
        figures(rush.refused.p50),
        figures(rush.refused.max),
    );
    let figure =
        |id, value, unit, goal| Figure::new(id, value, unit, goal).spoiled(spoiled.clone()).how(way.clone());
    Ok(vec![
        figure(IDS[0], good / could, "of capacity", Goal::AtLeast(GOODPUT)),
        figure(IDS[1], rush.accepted.p99, "ms", Goal::AtMost(P99_MS)),
        figure(IDS[2], after.last_bad_ms / 1e3, "s", Goal::AtMost(RECOVERY_S)).how(format!(
            "after it {} times what it can: until the last that was refused or took more than 100 ms; of {} then {} were let in",
            figures(CALM),
            after.asked,
            after.accepted.count,
        )),
    ])
}
