//! What a socket costs in memory while nothing happens.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Context;
use tokio::time::sleep;

use super::Plan;
use super::crowd::Shape;
use super::pavilion::NAME;
use super::rig::{Rig, Seat, Served};
use crate::figure::{Figure, Goal, figures};

/// Memory of an idle socket.
pub(crate) const ID: &str = "idle_socket_kb";

/// Before the first look, so that what is made once is there.
const BEFORE: usize = 500;
/// After the last handshake, for buffers to be given back; Go returns pages after some collections.
const SETTLE: Duration = Duration::from_secs(5);
/// kB.
const GOAL: f64 = 1.5;

/// Opens them at each product, freshly started, one product after the other.
pub(crate) async fn measure(rig: &Rig<'_>, plan: &Plan) -> anyhow::Result<Vec<Figure>> {
    let mut peers = BTreeMap::new();
    let mut own = None;
    let mut said = Vec::new();
    for served in rig.serve(|peer| peer != super::product::Peer::Bare, Seat::OneCore).await? {
        match kb(rig, &served, plan.idle).await {
            Ok((kb, whole)) => {
                said.push(format!("{} {} (of {} MB)", served.name, figures(kb), figures(whole)));
                if served.name == NAME {
                    own = Some(kb);
                } else {
                    peers.insert(served.name, kb);
                }
            }
            Err(error) if served.name == NAME => return Err(error),
            Err(error) => said.push(format!("{} not measured: {error:#}", served.name)),
        }
    }
    let mut figure = Figure::new(ID, own.context("Pavilion was not measured")?, "kB", Goal::AtMost(GOAL))
        .how(format!(
            "growth of the server's memory (Pss of its processes) over {} sockets that are subscribed to one match and idle, \
             without TLS; what the kernel keeps for a socket is not in it",
            plan.idle
        ))
        .how(said.join("; "));
    figure.peers = peers;
    Ok(vec![figure])
}

/// kB (1,024 bytes) a socket, and MB (10^6 bytes) in all.
async fn kb(rig: &Rig<'_>, served: &Served, sockets: usize) -> anyhow::Result<(f64, f64)> {
    let mut crowd = rig.crowd(served, Shape::ONE).await?;
    crowd.open(BEFORE).await?;
    sleep(SETTLE).await;
    let before = served.pss_bytes()?;
    crowd.open(sockets).await?;
    sleep(SETTLE).await;
    let after = served.pss_bytes()?;
    // Nobody was cut off meanwhile.
    crowd.tally().await?;
    Ok((after.saturating_sub(before) as f64 / 1_024.0 / sockets as f64, after as f64 / 1e6))
}
