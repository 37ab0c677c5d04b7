//! Everybody's arrival for one segment, at three edges and a shield.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use anyhow::ensure;
use edge::sim::{Storm, storm};
use futures_util::future::join_all;
use loadgen::http::Client;
use tokio::time::{Instant, sleep_until};

use super::Plan;
use super::client::{Conn, alone};
use super::cold::wrong;
use super::hits::SEGMENT_BYTES;
use super::origin::Script;
use super::rig::Rig;
use crate::air::{LISTEN_MAX, PASS};
use crate::figure::{Figure, Goal, figures};
use crate::http::{get, sample, until};
use crate::nursery::{Child, free_port};
use crate::stats;

/// What reaches the origin.
pub(crate) const ID: &str = "storm_origin_requests";

/// As the issue says: 1/1,000 of two million, over 2 s.
const CLIENTS: usize = 2_000;
const OVER: Duration = Duration::from_secs(2);
const EDGES: usize = 3;
/// What the origin takes, as in the other cases.
const ORIGIN: Duration = Duration::from_millis(120);

/// The whole of it, in simulated time.
const SIMULATED_VIEWERS: u64 = 2_000_000;
const SIMULATED_EDGES: usize = 50;

async fn simulated() -> anyhow::Result<Storm> {
    let storm = || {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
        std::io::Result::Ok(runtime.block_on(storm(SIMULATED_VIEWERS, SIMULATED_EDGES)))
    };
    Ok(tokio::task::spawn_blocking(storm).await??)
}

/// An edge or a shield.
struct Tier {
    port: u16,
    admin: u16,
    child: Child,
}

/// The real part, with the simulated one beside it.
pub(crate) async fn measure(rig: &Rig<'_>, plan: &Plan) -> anyhow::Result<Vec<Figure>> {
    let shield = tier(rig, "shield of the storm", rig.origin.port, false).await?;
    let mut edges = Vec::new();
    for n in 1..=EDGES {
        edges.push(tier(rig, &format!("edge {n} of the storm"), shield.port, true).await?);
    }
    let addrs: Vec<SocketAddr> = edges.iter().map(|e| (Ipv4Addr::LOCALHOST, e.port).into()).collect();
    let (mut ms, mut most, mut fault) = (Vec::new(), 0, None);
    for round in 0..plan.storm_rounds {
        let path = rig.origin.put_new("m4s", Script::whole("max-age=60", ORIGIN, SEGMENT_BYTES));
        let (addrs, asked) = (addrs.clone(), format!("/{PASS}{path}"));
        let seen = alone(move || arrivals(addrs, asked, u64::from(round))).await?;
        ms.extend(seen.0);
        fault = fault.or(seen.1);
        most = most.max(rig.origin.fetches(&path));
    }
    for tier in edges.iter().chain([&shield]) {
        tier.child.check()?;
    }
    let mut passed_on = 0.0;
    for edge in &edges {
        passed_on += fetches(edge).await?;
    }
    let way = format!(
        "{CLIENTS} clients connect and ask for a new segment of {SEGMENT_BYTES} bytes over {} s at {EDGES} edges and a shield, each a \
         process; most requests of {} rounds that reached the origin",
        OVER.as_secs(),
        plan.storm_rounds,
    );
    let all = simulated().await?;
    let beside = format!(
        "{} requests a round reached the shield; connection and last byte in p50 {} ms, p99 {} ms; simulated, at {SIMULATED_EDGES} edges: \
         {} viewers -> {} requests to the shield -> {} to the origin",
        figures(passed_on / f64::from(plan.storm_rounds)),
        figures(stats::median(&ms)),
        figures(stats::p99(&ms)),
        all.viewers,
        all.shield_requests,
        all.origin_requests,
    );
    let as_it_must = (SIMULATED_VIEWERS, SIMULATED_EDGES as u64, 1);
    let simulated = ((all.viewers, all.shield_requests, all.origin_requests) != as_it_must)
        .then(|| "the simulated storm reached farther, or not everyone".to_owned());
    let figure = Figure::new(ID, most as f64, "requests", Goal::Exactly(1.0));
    Ok(vec![figure.spoiled(fault.or(simulated)).how(way).how(beside)])
}

/// All clients arrive, each at a time of its own, the same in every run. From the first packet to the last byte, in
/// ms; and what was wrong with an answer.
async fn arrivals(
    edges: Vec<SocketAddr>,
    path: String,
    seed: u64,
) -> anyhow::Result<(Vec<f64>, Option<String>)> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let began = Instant::now();
    let path = &path;
    let clients = (0..CLIENTS).map(|n| {
        let (at, edge) = (began + OVER.mul_f64(rng.f64()), edges[n % edges.len()]);
        async move {
            sleep_until(at).await;
            let answer = Conn::open(edge).await?.get(path).await?;
            anyhow::Ok((answer, at.elapsed().as_secs_f64() * 1e3))
        }
    });
    let mut ms = Vec::with_capacity(CLIENTS);
    let mut fault = None;
    for client in join_all(clients).await {
        match client {
            Ok((answer, took)) => {
                ms.push(took);
                fault = fault.or(wrong(&[answer], SEGMENT_BYTES));
            }
            Err(error) => fault = fault.or(Some(format!("{error:#}"))),
        }
    }
    Ok((ms, fault))
}

async fn tier(rig: &Rig<'_>, name: &str, upstream: u16, pass: bool) -> anyhow::Result<Tier> {
    let (port, admin) = (free_port()?, free_port()?);
    let line = format!(
        "edge --listen 127.0.0.1:{port} --admin 127.0.0.1:{admin} --upstream http://127.0.0.1:{upstream}"
    );
    let pass = if pass { format!(" --pass {PASS}") } else { String::new() };
    let words: Vec<_> = (line + &pass).split(' ').map(str::to_owned).collect();
    let child = rig.nursery.role(name, &words)?;
    for port in [port, admin] {
        until(&format!("{name} listens"), LISTEN_MAX, async || {
            child.check()?;
            Ok(tokio::net::TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.ok())
        })
        .await?;
    }
    Ok(Tier { port, admin, child })
}

/// What an edge has asked of the shield since its start.
async fn fetches(edge: &Tier) -> anyhow::Result<f64> {
    let url = format!("http://127.0.0.1:{}/metrics", edge.admin);
    let metrics = String::from_utf8_lossy(&get(&Client::default(), &url).await?).into_owned();
    ensure!(metrics.contains("edge_requests_total"), "{url} is not an edge's");
    Ok(sample(&metrics, "edge_upstream_fetches_total"))
}
