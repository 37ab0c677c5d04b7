//! How many sockets this machine holds at once: many servers on one port, many clients, and one message that reaches
//! all of them.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use anyhow::ensure;
use tokio::time::{Instant, sleep};

use super::Plan;
use super::audience::now;
use super::crowd::{Crowd, Shape};
use super::pavilion::{self, Edge, NAME, Relay};
use super::payload::{self, payload};
use super::rig::Rig;
use crate::figure::{Figure, Goal, figures};
use crate::nursery::free_port;
use crate::proc;

/// Sockets that were open when a message reached every one of them.
pub(crate) const ID: &str = "sockets_held";

/// Of the issue.
const GOAL: usize = 200_000;
/// For one message to reach all: a second of both cores.
const ARRIVE_MAX: Duration = Duration::from_secs(60);

/// Opens them, and publishes one message.
pub(crate) async fn measure(rig: &Rig<'_>, plan: &Plan) -> anyhow::Result<Vec<Figure>> {
    let mut relay = Relay::open().await?;
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()?));
    let edge = Edge::open(rig, listen, relay.addr).await?;
    let mut edges = Vec::new();
    for n in 0..plan.servers {
        edges.push(edge.start(rig, &format!("{NAME} {n}"), None).await?);
    }
    let kernel_before = kernel_bytes();
    let speech = pavilion::speech(payload::MARK, 1);
    let shape = Shape { processes: plan.servers, ..Shape::ONE };
    let mut crowd = Crowd::start(rig.nursery, None, listen, &speech, shape).await?;
    let began = Instant::now();
    crowd.open(plan.held).await?;
    let took = began.elapsed();

    let all = crowd.live() as u64;
    let published = Instant::now();
    relay.publish(&payload(now())).await?;
    let mut counts = crowd.tally().await?;
    while counts.deliveries < all && published.elapsed() < ARRIVE_MAX {
        sleep(Duration::from_millis(200)).await;
        counts.add(crowd.tally().await?);
    }
    ensure!(counts.deliveries <= all, "{} deliveries to {all} sockets", counts.deliveries);
    let last_ms = counts.messages.first().map_or(f64::NAN, |message| message.2 as f64 / 1e3);
    let mut pss = 0;
    for edge in &edges {
        edge.check()?;
        pss += proc::pss_bytes(edge.pid())?;
    }
    let kernel = kernel_bytes().saturating_sub(kernel_before);
    let goal = GOAL.min(plan.held);
    Ok(vec![
        Figure::new(ID, counts.deliveries as f64, "sockets", Goal::AtLeast(goal as f64)).how(format!(
            "open at once at {} servers on one port (SO_REUSEPORT), counted by one message that reached them, the last after \
             {} ms; opened in {} s; the servers hold {} MB, both ends of the connections {} MB more of the kernel's slabs",
            plan.servers,
            figures(last_ms),
            figures(took.as_secs_f64()),
            figures(pss as f64 / 1e6),
            figures(kernel as f64 / 1e6),
        )),
    ])
}

/// The kernel's slabs, in which sockets are.
fn kernel_bytes() -> u64 {
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = meminfo.lines().find_map(|line| line.strip_prefix("Slab:"));
    line.and_then(|kb| kb.trim().strip_suffix(" kB")?.parse::<u64>().ok()).unwrap_or(0) * 1_024
}
