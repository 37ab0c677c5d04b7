//! An object that arrives slowly, as live segments do: who comes later reads what is there, and who leaves takes
//! nothing away.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::Plan;
use super::client::Conn;
use super::cold::wrong;
use super::origin::{Content, Origin, Script, body};
use super::rig::{Rig, Served, Target, WARM};
use super::table::{Seen, figure, rounds};
use crate::figure::{Figure, Goal};
use crate::stats;

/// From the request to the first byte for one who comes in the middle.
pub(crate) const JOIN: &str = "join_drip_ms";
/// What reaches the origin when the first leaves.
pub(crate) const LEAVES: &str = "first_leaves_fetches";

/// 2 s, as the issue says.
const PIECES: u32 = 20;
const PIECE_BYTES: usize = 5_000;
const EVERY: Duration = Duration::from_millis(100);
const WHOLE: usize = PIECE_BYTES * PIECES as usize;

const EARLY: Duration = Duration::from_millis(250);
const MIDDLE: Duration = Duration::from_millis(500);

/// One joins.
pub(crate) async fn join(rig: &Rig<'_>, served: &[Served], plan: &Plan) -> Vec<Figure> {
    let [table] = rounds(served, &rig.origin, plan.slow_rounds, join_round).await;
    let way = format!(
        "a segment of {WHOLE} bytes drips for 2 s; to the first byte for one who asks at 0.5 s, the slowest of {} rounds",
        plan.slow_rounds,
    );
    let join = figure(JOIN, "ms", Goal::AtMost(2.0), &table, Some(1), |row| stats::max(&row.ms));
    vec![join.how(way)]
}

/// The first leaves.
pub(crate) async fn leaves(rig: &Rig<'_>, served: &[Served], plan: &Plan) -> Vec<Figure> {
    let [after, before] = rounds(served, &rig.origin, plan.slow_rounds, leaves_round).await;
    let way = "two ask for the drip at 0 and 0.25 s, the first leaves at 0.5 s, the second has all of it";
    let alone = figure(LEAVES, "fetches", Goal::Exactly(1.0), &before, None, |row| row.most_fetches());
    let leaves = figure(LEAVES, "fetches", Goal::Exactly(1.0), &after, None, |row| row.most_fetches());
    let mut peers: Vec<_> = alone.peers.iter().map(|(name, n)| format!("{name} {n}")).collect();
    peers.insert(0, format!("pavilion {}", alone.value));
    vec![leaves.how(way).how(format!(
        "fetches when the first leaves at 0.25 s and the second comes only at 0.5 s: {}",
        peers.join(", ")
    ))]
}

async fn join_round(target: Target, origin: Arc<Origin>) -> anyhow::Result<[Seen; 1]> {
    let (mut first, mut second) = two(&target).await?;
    let began = Instant::now();
    let path = drip(&origin);
    let asked = target.path(&path);
    let later = async {
        sleep_until(began + MIDDLE).await;
        second.get(&asked).await
    };
    let (first, later) = tokio::try_join!(first.get(&asked), later)?;
    let fault = wrong(&[first, later], WHOLE);
    Ok([Seen { ms: vec![later.first_ms], fetches: origin.fetches(&path), fault, ..Seen::default() }])
}

/// The first leaves after the second has come, and before.
async fn leaves_round(target: Target, origin: Arc<Origin>) -> anyhow::Result<[Seen; 2]> {
    let mut seen = [Seen::default(), Seen::default()];
    for (seen, (leaves, comes)) in seen.iter_mut().zip([(MIDDLE, EARLY), (EARLY, MIDDLE)]) {
        let (mut first, mut second) = two(&target).await?;
        let began = Instant::now();
        let path = drip(&origin);
        let asked = target.path(&path);
        let gone = async {
            // Having seen the head or not: it has asked.
            first.send(&asked).await?;
            let _ = tokio::time::timeout_at(began + leaves, first.head()).await;
            sleep_until(began + leaves).await;
            drop(first);
            anyhow::Ok(())
        };
        let stays = async {
            sleep_until(began + comes).await;
            second.get(&asked).await
        };
        let ((), stays) = tokio::try_join!(gone, stays)?;
        let fault = wrong(&[stays], WHOLE);
        *seen = Seen { ms: vec![stays.last_ms], fetches: origin.fetches(&path), fault, ..Seen::default() };
    }
    Ok(seen)
}

/// Two connections that have been used.
async fn two(target: &Target) -> anyhow::Result<(Conn, Conn)> {
    let (mut first, mut second) = (Conn::open(target.addr).await?, Conn::open(target.addr).await?);
    first.get(&target.path(WARM)).await?;
    second.get(&target.path(WARM)).await?;
    Ok((first, second))
}

fn drip(origin: &Origin) -> String {
    let content = Content::Drip { pieces: PIECES, piece: body(PIECE_BYTES), every: EVERY };
    origin.put_new("m4s", Script { delay: Duration::ZERO, cache_control: "max-age=60", content })
}
