//! What a hit costs: CPU time of the server on one core, with the load generator on the others.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, ensure};
use loadgen::http::Client;
use tokio::process::Command;

use super::Plan;
use super::origin::Script;
use super::product::Product;
use super::rig::{Manner, Rig, Served, Target};
use super::wrk;
use crate::figure::{Figure, Goal, figures};
use crate::nursery::free_port;
use crate::stats;
use crate::{http, proc};

/// Without TLS: 4 KB and 1 MB.
pub(crate) const PLAIN: [&str; 2] = ["hit_4k_cpu_us", "hit_1m_cpu_us"];
/// With TLS 1.3.
pub(crate) const TLS: [&str; 2] = ["hit_4k_tls_cpu_us", "hit_1m_tls_cpu_us"];

/// A playlist of some twenty segments with parts.
pub(crate) const PLAYLIST_BYTES: usize = 4 << 10;
/// A segment of 2 s at 4 Mb/s.
pub(crate) const SEGMENT_BYTES: usize = 1 << 20;

pub(crate) const PLAYLIST_PATH: &str = "/live/v.m3u8";
/// Also known to [`super::bare`], which looks at nothing else.
pub(crate) const SEGMENT_PATH: &str = "/live/1.m4s";

const OBJECTS: [(&str, usize); 2] = [(PLAYLIST_PATH, PLAYLIST_BYTES), (SEGMENT_PATH, SEGMENT_BYTES)];

/// The responder that does the least, as a peer.
const BARE: &str = "bare";

/// One product's costs of one object.
#[derive(Default)]
struct Costs {
    /// µs a request, a round each.
    micros: Vec<f64>,
    /// Share of its core that was busy.
    busy: Vec<f64>,
    fault: Option<String>,
}

/// Costs of both objects, without or with TLS.
pub(crate) async fn measure(rig: &Rig<'_>, plan: &Plan, tls: bool) -> anyhow::Result<Vec<Figure>> {
    for (path, length) in OBJECTS {
        rig.origin.put(path, Script::whole("max-age=3600", Duration::ZERO, length));
    }
    let mut served = rig.serve_all(Manner { pinned: true, tls }).await?;
    if !tls {
        served.push(bare(rig).await?);
        check_bodies(&served).await?;
    }
    let suites = if tls { suites(&served).await? } else { String::new() };
    let mut measured = Vec::new();
    for (id, (path, length)) in (if tls { TLS } else { PLAIN }).into_iter().zip(OBJECTS) {
        let costs = costs(rig, plan, &served, tls, path, length).await?;
        let figure = figure(id, &costs, tls)?.how(way(plan, length, tls));
        measured.push(if tls { figure.how(suites.clone()) } else { figure });
    }
    Ok(measured)
}

/// Rounds over all who are served, each time beginning with another.
async fn costs(
    rig: &Rig<'_>,
    plan: &Plan,
    served: &[Served],
    tls: bool,
    path: &str,
    length: usize,
) -> anyhow::Result<BTreeMap<&'static str, Costs>> {
    let mut all: BTreeMap<&str, Costs> = served.iter().map(|s| (s.target.name, Costs::default())).collect();
    let scheme = if tls { "https" } else { "http" };
    for round in 0..=plan.hit_rounds {
        for i in 0..served.len() {
            let one = &served[(i + round) % served.len()];
            one.child.check()?;
            let url = format!("{scheme}://{}{}", one.target.addr, one.target.path(path));
            let costs = all.get_mut(one.target.name).context("nobody's costs")?;
            // The first round fills the caches and warms everything up.
            let run = if round == 0 { Duration::from_secs(1) } else { plan.hit };
            let before = (rig.origin.fetches(path), tree_seconds(one)?);
            let load = wrk::run(rig.root, &rig.cores.askers(), &url, run).await?;
            let used = tree_seconds(one)? - before.1;
            if let Err(error) = load.check(length) {
                costs.fault = Some(format!("{error:#}"));
            }
            if round > 0 {
                let fetched = rig.origin.fetches(path) - before.0;
                if fetched > 0 {
                    costs.fault = Some(format!("{fetched} of {} requests were no hits", load.requests));
                }
                costs.micros.push(used * 1e6 / load.requests as f64);
                costs.busy.push(used / load.seconds());
            }
        }
    }
    Ok(all)
}

/// CPU time of a server and its children.
fn tree_seconds(served: &Served) -> anyhow::Result<f64> {
    // A helper of a server may end while we look; what it used is nothing beside what is measured.
    Ok(proc::tree(served.child.pid())?.into_iter().filter_map(|pid| proc::cpu_seconds(pid).ok()).sum())
}

fn figure(id: &'static str, costs: &BTreeMap<&'static str, Costs>, tls: bool) -> anyhow::Result<Figure> {
    let own = costs.get(Product::Pavilion.name()).context("Pavilion was not measured")?;
    let mut peers = BTreeMap::new();
    let mut beside = Vec::new();
    for (&name, cost) in costs {
        let (low, high) = stats::spread(&cost.micros);
        let busy = stats::median(&cost.busy) * 100.0;
        let mut line = format!("{name} {} to {}, its core {busy:.0} % busy", figures(low), figures(high));
        if let Some(fault) = &cost.fault {
            line += &format!(" ({fault}: not counted)");
        } else if name != Product::Pavilion.name() {
            peers.insert(name, stats::median(&cost.micros));
        }
        beside.push(line);
    }
    let best = peers.iter().filter(|(name, _)| **name != BARE).map(|(_, v)| *v).fold(f64::NAN, f64::min);
    let bare = peers.get(BARE).copied().unwrap_or(f64::NAN);
    let (most, goal) = match (tls, id == PLAIN[0] || id == TLS[0]) {
        (false, small) => {
            let times = if small { 1.25 } else { 1.10 };
            let words = format!(
                "{times:.2} x bare ({}), and less than the best peer ({})",
                figures(times * bare),
                figures(best)
            );
            // A peer that is not there sets no goal; the bare responder always does.
            (if best < times * bare { best } else { times * bare }, words)
        }
        (true, small) => {
            let times = if small { 0.85 } else { 1.0 };
            (times * best, format!("{times:.2} x the best peer ({})", figures(best)))
        }
    };
    let mut figure = Figure::new(id, stats::median(&own.micros), "us", Goal::AtMost(most))
        .spoiled(own.fault.clone())
        .how(format!("goal: at most {goal}"))
        .how(format!("lowest and highest round: {}", beside.join("; ")));
    figure.peers = peers;
    Ok(figure)
}

fn way(plan: &Plan, length: usize, tls: bool) -> String {
    format!(
        "user and system time of the server's processes on one core for each request for {length} bytes{}; median of {} rounds of \
         {} s in turn, {} connections of wrk on the other cores",
        if tls { " over TLS 1.3" } else { "; Pavilion checks its pass" },
        plan.hit_rounds,
        plan.hit.as_secs(),
        wrk::CONNECTIONS,
    )
}

/// This program again, as the responder that does the least.
async fn bare(rig: &Rig<'_>) -> anyhow::Result<Served> {
    let port = free_port()?;
    let mut command = Command::new("taskset");
    command
        .args(["-c", &rig.cores.server.to_string()])
        .arg(std::env::current_exe()?)
        .args(["bare", "--listen", &format!("127.0.0.1:{port}")])
        .stdout(std::process::Stdio::null());
    let served = Served { target: Target::new(BARE, port, ""), child: rig.nursery.start(BARE, command)? };
    rig.answers(&served).await?;
    Ok(served)
}

/// All serve the same bytes.
async fn check_bodies(served: &[Served]) -> anyhow::Result<()> {
    let client = Client::default();
    for one in served {
        for (path, length) in OBJECTS {
            let url = format!("http://{}{}", one.target.addr, one.target.path(path));
            // The second is a hit.
            for _ in 0..2 {
                let same = http::get(&client, &url).await? == super::origin::body(length);
                ensure!(same, "{} gives other bytes for {path} than the origin", one.target.name);
            }
        }
    }
    Ok(())
}

/// Which ciphers were agreed on: figures of different ones could not be compared.
async fn suites(served: &[Served]) -> anyhow::Result<String> {
    let mut suites = Vec::new();
    for one in served {
        let output = Command::new("openssl")
            .args(["s_client", "-brief", "-connect", &one.target.addr.to_string()])
            .stdin(std::process::Stdio::null())
            .output()
            .await?;
        let said =
            String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
        let suite = said.lines().find_map(|line| line.strip_prefix("Ciphersuite: "));
        suites.push(format!("{} {}", one.target.name, suite.unwrap_or("unknown")));
    }
    Ok(format!("ciphers: {}", suites.join(", ")))
}
