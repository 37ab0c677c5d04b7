//! A crowd at three edges and a shield: what reaches the origin.

use std::time::Duration;

use anyhow::Context;
use loadgen::http::Client;
use loadgen::swarm::{Ask, Options};
use tokio::net::TcpStream;

use super::Plan;
use super::counting::Counting;
use super::hour::Hour;
use super::latency::unanswered;
use crate::air::{LISTEN_MAX, PASS};
use crate::figure::{Figure, Goal, figures};
use crate::http::until;
use crate::nursery::{Child, Nursery, free_port};

/// Requests that reach the origin for one new part.
pub(crate) const REQUESTS: &str = "origin_requests_per_part";

/// As the issue says.
const CLIENTS: usize = 2_000;
const EDGES: usize = 3;
/// A round of 2,000 answers takes under a second on two free cores; this is for a busy machine.
const ROUND_MAX: Duration = Duration::from_secs(12);

/// Two thousand clients ask for the same new part, and then for the playlist that lists it.
pub(crate) async fn requests(
    hour: &Hour,
    nursery: &Nursery,
    client: &Client,
    plan: &Plan,
) -> anyhow::Result<Figure> {
    let (authority, path) =
        hour.base.strip_prefix("http://").and_then(|b| b.split_once('/')).context("not a programme's URL")?;
    let counting = Counting::open(authority, &hour.side()).await?;
    let mut tiers = Vec::new();
    let shield = tier(nursery, "shield of the crowd", &counting.url, None, &mut tiers).await?;
    let mut edges = Vec::new();
    // The smallest picture: it is requests that are counted, and the clients share the machine with the edges.
    let track = hour.programme.tracks.iter().rfind(|t| t.is_video()).context("no picture")?;
    for n in 1..=EDGES {
        let edge = tier(nursery, &format!("edge {n} of the crowd"), &shield, Some(PASS), &mut tiers).await?;
        edges.push(format!("{edge}/{PASS}/{path}/hls/{}.m3u8", track.name));
    }
    let gaps_before = hour.gaps(client).await?;
    let mut spoiled = None;
    let mut answers = 0;
    let mut slowest: f64 = 0.0;
    for ask in [Ask::Part, Ask::Playlist] {
        let rounds = plan.collapse_rounds;
        let options = Options { edges: edges.clone(), reference: None, clients: CLIENTS, rounds, ask };
        let report =
            tokio::time::timeout(ROUND_MAX * rounds, loadgen::swarm(options, std::future::pending())).await;
        let report = report.context("the crowd is too slow on this machine")??;
        spoiled = spoiled.or(unanswered(report.errors, &report.faults));
        answers += report.answers;
        slowest = slowest.max(report.latency_ms.p99);
    }
    hour.check()?;
    let gaps = hour.gaps(client).await? - gaps_before;
    if gaps > 0 {
        spoiled = Some(format!("{gaps} parts were gaps: this machine was too busy to publish on time"));
    }
    tiers.iter().try_for_each(Child::check)?;
    let parts = counting.count(|url| url.ends_with(".m4s"));
    let lists = counting.count(|url| url.contains("_HLS_msn="));
    let way = format!(
        "{CLIENTS} clients on {EDGES} edges and a shield, each a process, asked together for {} new parts of {} and for as many \
         blocking playlists ({answers} answers)",
        plan.collapse_rounds, track.name,
    );
    let beside = format!(
        "counted by URL before the origin: {} requests for {} parts, {} for {} playlists, at most {} for any one; the last of \
         2,000 had it {} ms (p99) after the first",
        parts.requests,
        parts.urls,
        lists.requests,
        lists.urls,
        parts.most.max(lists.most),
        figures(slowest),
    );
    let each = parts.each().max(lists.each());
    Ok(Figure::new(REQUESTS, each, "requests", Goal::Exactly(1.0)).spoiled(spoiled).how(way).how(beside))
}

/// Starts an edge or a shield and waits until it listens; answers its address.
async fn tier(
    nursery: &Nursery,
    name: &str,
    upstream: &str,
    pass: Option<&str>,
    tiers: &mut Vec<Child>,
) -> anyhow::Result<String> {
    let listen = format!("127.0.0.1:{}", free_port()?);
    let mut args = vec!["edge", "--listen", &listen, "--upstream", upstream];
    args.extend(pass.iter().flat_map(|pass| ["--pass", pass]));
    let child = nursery.role(name, &args.into_iter().map(str::to_owned).collect::<Vec<_>>())?;
    until("an edge listens", LISTEN_MAX, async || {
        child.check()?;
        Ok(TcpStream::connect(&listen).await.ok())
    })
    .await?;
    tiers.push(child);
    Ok(format!("http://{listen}"))
}
