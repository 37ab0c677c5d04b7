//! One match, 18,000 sockets: what a delivery costs the server, and when the last one has it.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, ensure};
use tokio::time::{Instant, sleep, sleep_until};

use super::Plan;
use super::audience::now;
use super::crowd::{Crowd, Shape};
use super::pavilion::NAME;
use super::payload::{BYTES, payload};
use super::product::Peer;
use super::rig::{Rig, Seat, Served};
use crate::figure::{Figure, Goal, figures};
use crate::stats;

/// Of the server.
pub(crate) const DELIVERIES: &str = "deliveries_per_cpu_s";
/// From the publication to the last socket.
pub(crate) const FANOUT: &str = "fanout_18k_ms_p99";

/// Between two messages: the dearest peer takes some 300 ms of its core for one.
const EVERY: Duration = Duration::from_millis(500);
/// For the last message to arrive everywhere.
const DRAIN_MAX: Duration = Duration::from_secs(10);
/// After everybody has subscribed.
const SETTLE: Duration = Duration::from_secs(2);

/// One product's rounds.
#[derive(Default)]
struct Row {
    /// Deliveries for each CPU second, a round each.
    rates: Vec<f64>,
    /// Publication to the last socket, a message each.
    last_ms: Vec<f64>,
    fault: Option<String>,
}

/// What a delivery costs.
pub(crate) async fn deliveries(rig: &Rig<'_>, plan: &Plan) -> anyhow::Result<Vec<Figure>> {
    Ok(vec![cost(&rows(rig, plan, Seat::OneCore).await?, plan)?])
}

/// When the last one has it.
pub(crate) async fn fanout(rig: &Rig<'_>, plan: &Plan) -> anyhow::Result<Vec<Figure>> {
    Ok(vec![last(&rows(rig, plan, Seat::AllCores).await?, plan)?])
}

async fn rows(rig: &Rig<'_>, plan: &Plan, seat: Seat) -> anyhow::Result<BTreeMap<&'static str, Row>> {
    let mut stands = Vec::new();
    for served in rig.serve(Peer::publishes, seat).await? {
        let mut crowd = rig.crowd(&served, Shape::ONE).await?;
        match crowd.open(plan.sockets).await {
            Ok(()) => stands.push((served, crowd)),
            Err(error) if served.name == NAME => return Err(error),
            Err(error) => println!("      {} is not measured: {error:#}", served.name),
        }
    }
    sleep(SETTLE).await;
    let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
    // The first round warms everything up. Each begins with another product.
    for round in 0..=plan.rounds {
        for n in 0..stands.len() {
            let at = (n + round) % stands.len();
            let (served, crowd) = &mut stands[at];
            let row = rows.entry(served.name).or_default();
            if row.fault.is_some() {
                continue;
            }
            let messages = if round == 0 { 3 } else { plan.messages };
            match one(served, crowd, messages).await {
                Ok((rate, last_ms)) if round > 0 => {
                    row.rates.push(rate);
                    row.last_ms.extend(last_ms);
                }
                Ok(_) => {}
                Err(error) => row.fault = Some(format!("{error:#}")),
            }
        }
    }
    Ok(rows)
}

/// A round: deliveries for each CPU second, and the time to the last socket for each message.
async fn one(served: &mut Served, crowd: &mut Crowd, messages: usize) -> anyhow::Result<(f64, Vec<f64>)> {
    crowd.tally().await?;
    let before = served.cpu_seconds()?;
    let publisher = served.publisher.as_mut().context("nobody publishes")?;
    let mut at = Instant::now();
    for _ in 0..messages {
        sleep_until(at).await;
        publisher.publish(&payload(now())).await?;
        at += EVERY;
    }
    let expected = (messages * crowd.live()) as u64;
    let until = Instant::now() + DRAIN_MAX;
    let mut counts = crowd.tally().await?;
    while counts.deliveries < expected && Instant::now() < until {
        // A look costs the audience a millisecond, so it is rare.
        sleep(EVERY / 2).await;
        counts.add(crowd.tally().await?);
    }
    let used = served.cpu_seconds()? - before;
    ensure!(
        counts.deliveries == expected,
        "{} of {expected} deliveries arrived within {} s",
        counts.deliveries,
        DRAIN_MAX.as_secs()
    );
    let last = counts.messages.iter().map(|(_, _, late_us)| *late_us as f64 / 1e3).collect();
    Ok((counts.deliveries as f64 / used, last))
}

fn cost(rows: &BTreeMap<&str, Row>, plan: &Plan) -> anyhow::Result<Figure> {
    let rate = |name: &str| rows.get(name).map_or(f64::NAN, |row| stats::median(&row.rates));
    let floors =
        [("bare", 0.85), ("nchan", 1.1), ("centrifugo", 2.0)].map(|(name, times)| (name, times, rate(name)));
    // A peer that is not there sets no goal; the bare loop always does.
    let goal = floors.iter().map(|(_, times, rate)| times * rate).fold(f64::NAN, f64::max);
    let words: Vec<_> =
        floors.iter().map(|(name, times, rate)| format!("{times} x {name} ({})", figures(*rate))).collect();
    let own = rows.get(NAME).context("Pavilion was not measured")?;
    let beside = rows.iter().map(|(name, row)| {
        let (low, high) = stats::spread(&row.rates);
        let us = 1e6 / stats::median(&row.rates);
        let fault = row.fault.as_ref().map_or(String::new(), |fault| format!(" ({fault}: not counted)"));
        format!("{name} {} to {}, {} us each{fault}", figures(low), figures(high), figures(us))
    });
    let mut figure = Figure::new(DELIVERIES, rate(NAME), "deliveries", Goal::AtLeast(goal.round()))
        .spoiled(own.fault.clone().or(missing(&["bare", "nchan", "centrifugo"], rows)))
        .how(format!(
            "for each second of CPU (user and system) of the server's processes on one core; {} sockets subscribed to one \
             match, {BYTES} bytes twice a second, median of {} rounds in turn",
            plan.sockets, plan.rounds
        ))
        .how(format!("goal: at least {}", words.join(", ")))
        .how(format!("lowest and highest round: {}", beside.collect::<Vec<_>>().join("; ")));
    figure.peers = peers(rows, |row| stats::median(&row.rates));
    Ok(figure)
}

fn last(rows: &BTreeMap<&str, Row>, plan: &Plan) -> anyhow::Result<Figure> {
    let own = rows.get(NAME).context("Pavilion was not measured")?;
    let peers = peers(rows, |row| stats::p99(&row.last_ms));
    let best = peers.values().copied().fold(f64::NAN, f64::min);
    let beside = rows.iter().map(|(name, row)| {
        let ms = &row.last_ms;
        format!(
            "{name} {}/{}/{}",
            figures(stats::median(ms)),
            figures(stats::p99(ms)),
            figures(stats::max(ms))
        )
    });
    let mut figure = Figure::new(FANOUT, stats::p99(&own.last_ms), "ms", Goal::AtMost(0.9 * best))
        .spoiled(own.fault.clone().or(missing(&["bare", "nchan", "centrifugo", "nats"], rows)))
        .how(format!(
            "from the publication of a message to its arrival at the last of {} sockets, {} messages, servers and sockets on all cores; goal: 0.9 x the best \
             peer ({})",
            plan.sockets,
            own.last_ms.len(),
            figures(best)
        ))
        .how(format!("ms p50/p99/max: {}", beside.collect::<Vec<_>>().join("; ")));
    figure.peers = peers;
    Ok(figure)
}

/// Of the peers that delivered everything.
fn peers(rows: &BTreeMap<&str, Row>, value: impl Fn(&Row) -> f64) -> BTreeMap<&'static str, f64> {
    let name = |name: &str| Peer::ALL.into_iter().map(Peer::name).find(|n| *n == name);
    let sound = rows.iter().filter(|(_, row)| row.fault.is_none());
    sound.filter_map(|(n, row)| Some((name(n)?, value(row)))).collect()
}

/// What the goal speaks of and was not measured: then nothing is shown.
fn missing(names: &[&str], rows: &BTreeMap<&str, Row>) -> Option<String> {
    let gone: Vec<_> =
        names.iter().filter(|n| rows.get(**n).is_none_or(|row| row.fault.is_some())).copied().collect();
    (!gone.is_empty()).then(|| format!("not measured: {}", gone.join(", ")))
}
