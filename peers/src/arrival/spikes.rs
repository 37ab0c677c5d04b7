//! Everybody goes to the home page at once, and everybody opens the watch page at once.

use super::Plan;
use super::load::paced::{Pace, Paces, Phase, Tally};
use super::play::MANNER;
use super::rig::Rig;
use super::viewers::Ask;
use crate::figure::{Figure, Goal};

/// Refused, lost or wrong in either spike; and how long the slowest but one in a hundred took.
pub(crate) const IDS: [&str; 2] = ["spikes_refused", "spikes_ms_p99"];

/// Nobody notices what is below it: a fifth of what a tap may take to feel immediate.
const UNNOTICED_MS: f64 = 20.0;

/// Visits a second before the spikes. In them: four times the home pages, then five times the watch pages with their plays,
/// two thousand requests a second more.
const HOMES_PER_S: f64 = 200.0;
const WATCHES_PER_S: f64 = 200.0;
const HOME_FOLD: f64 = 4.0;
const WATCH_FOLD: f64 = 5.0;
const CONNECTIONS: usize = 1_024;

/// Both spikes, each after a calm.
pub(crate) async fn measure(rig: &Rig<'_>, plan: &Plan) -> anyhow::Result<Vec<Figure>> {
    let door = rig.door(MANNER).await?;
    let phase = |homes: f64, watches: f64| {
        let pace = |ask, per_s| Pace { ask, per_s: Some(per_s) };
        let paces = vec![
            pace(Ask::Home, homes),
            pace(Ask::Matches, homes),
            pace(Ask::Watch, watches),
            pace(Ask::Play, watches),
        ];
        Phase { seconds: plan.spike_s, paces }
    };
    let calm = phase(HOMES_PER_S, WATCHES_PER_S);
    let phases = vec![
        calm.clone(),
        phase(HOMES_PER_S * HOME_FOLD, WATCHES_PER_S),
        calm.clone(),
        phase(HOMES_PER_S, WATCHES_PER_S * WATCH_FOLD),
        calm,
    ];
    let report =
        rig.paced(&door, 0..MANNER.accounts, true, Paces { connections: CONNECTIONS, phases }).await?;
    let worst = |phase: &[Tally]| phase.iter().map(|tally| tally.accepted.p99).fold(0.0, f64::max);
    let bad =
        |tally: &Tally| tally.refused.count + tally.unsent + tally.lost + tally.others.values().sum::<u64>();
    let (mut refused, mut p99) = (0, 0.0_f64);
    for spike in report.iter().skip(1).step_by(2) {
        refused += spike.iter().map(bad).sum::<u64>();
        p99 = p99.max(worst(spike));
    }
    let way = format!(
        "{HOMES_PER_S} home pages and {WATCHES_PER_S} watch pages a second (document, and list or play), then {HOME_FOLD} times the home pages, \
         then {WATCH_FOLD} times the watch pages, {} s each; the server on one core; p99 of each phase: {:?} ms",
        plan.spike_s,
        report.iter().map(|phase| (worst(phase) * 100.0).round() / 100.0).collect::<Vec<_>>(),
    );
    Ok(vec![
        Figure::new(IDS[0], refused as f64, "requests", Goal::Exactly(0.0)).how(way.clone()),
        Figure::new(IDS[1], p99, "ms", Goal::AtMost(UNNOTICED_MS)).how(way),
    ])
}
