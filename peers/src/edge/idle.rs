//! What a connection costs in memory while its player waits for the next segment.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Context;
use tokio::time::sleep;

use super::Plan;
use super::client::{alone, warm};
use super::product::Product;
use super::rig::{Manner, Rig, Served, WARM};
use crate::figure::{Figure, Goal, figures};
use crate::proc;

/// Memory of an idle connection.
pub(crate) const ID: &str = "idle_conn_kb";

/// Before the first look, so that what is made once is there.
const BEFORE: usize = 64;
/// After the last request, for buffers to be given back.
const SETTLE: Duration = Duration::from_secs(2);

/// Opens them at each product, freshly started, one product after the other.
pub(crate) async fn measure(rig: &Rig<'_>, plan: &Plan) -> anyhow::Result<Vec<Figure>> {
    let served = rig.serve_all(Manner::default()).await?;
    let mut all = BTreeMap::new();
    let mut said = Vec::new();
    for one in &served {
        match kb(one, plan.idle_conns).await {
            Ok((kb, whole)) => {
                all.insert(one.target.name, kb);
                said.push(format!("{} {} (of {} MB)", one.target.name, figures(kb), figures(whole)));
            }
            Err(error) if one.target.name == Product::Pavilion.name() => return Err(error),
            Err(error) => said.push(format!("{} not measured: {error:#}", one.target.name)),
        }
    }
    let own = all.remove(Product::Pavilion.name()).context("Pavilion was not measured")?;
    let least = all.values().copied().fold(f64::NAN, f64::min);
    let mut figure = Figure::new(ID, own, "kB", Goal::AtMost(least))
        .how(format!(
            "growth of the resident memory of all its processes over {} connections, each idle after one hit; the least of all is \
             the goal; what the kernel keeps for a socket is not in it",
            plan.idle_conns
        ))
        .how(said.join("; "));
    figure.peers = all;
    Ok(vec![figure])
}

/// kB (1,024 bytes) a connection, and MB (10^6 bytes) in all.
async fn kb(served: &Served, conns: usize) -> anyhow::Result<(f64, f64)> {
    let (target, pid) = (served.target, served.child.pid());
    alone(move || async move {
        let path = target.path(WARM);
        let mut open = warm(target.addr, &path, BEFORE).await?;
        sleep(SETTLE).await;
        let before = rss(pid)?;
        open.extend(warm(target.addr, &path, conns).await?);
        sleep(SETTLE).await;
        let after = rss(pid)?;
        let grown = after.saturating_sub(before) as f64;
        drop(open);
        Ok((grown / 1_024.0 / conns as f64, after as f64 / 1e6))
    })
    .await
}

/// Of a process and its children.
fn rss(pid: u32) -> anyhow::Result<u64> {
    proc::tree(pid)?.into_iter().map(proc::rss_bytes).sum()
}
