//! What has left the relay's window, from the replay.
#![allow(clippy::unwrap_used)]

mod shard_support;

use std::sync::Arc;

use async_trait::async_trait;
use scores::catalog::Status;
use scores::{Event, Sport, shard};
use shard_support::*;
use store::{Bounds, Entry, Error, Replay};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// More than the relay's own window holds.
const REVISIONS: u32 = 9;

/// A match of many corrections: every happening again and again.
fn corrected() -> Vec<Event> {
    let mut once = demo("demo");
    // Its own corrections would be the same revisions again.
    once.retain(|event| event.revision == 1);
    (1..=REVISIONS)
        .flat_map(|revision| once.iter().map(move |event| Event { revision, ..event.clone() }))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_taker_gets_all_though_the_log_is_away() {
    let events = corrected();
    assert!(events.len() > 2_048);
    let ground = Ground::with(&[entry("demo", Sport::Cricket, Status::Live)]).await;
    // What was there before the shard, and what came after it had begun.
    let (before, after) = events.split_at(events.len() - 100);
    for some in before.chunks(1_000) {
        ground.append(some).await;
    }
    let shard = ground.shard().await;
    let subscriber = subscriber(shard.address);
    let mut early = subscriber.subscribe("demo", None);
    let mut taken = Taken::default();
    taken.until(&mut early, before.len()).await;
    ground.append(after).await;
    taken.until(&mut early, events.len()).await;

    ground.log.lose(true);
    let mut late = subscriber.subscribe("demo", None);
    let mut again = Taken::default();
    again.until(&mut late, events.len()).await;
    assert_eq!(again.order, keys(&events));
    assert_eq!(again.frames, taken.frames, "the same bytes");
    assert_eq!(again.repeated, 0);
}

/// A replay that does not answer.
struct Mute;

#[async_trait]
impl Replay for Mute {
    async fn append(&self, _: &str, _: u32, _: u64, _: &[Entry], _: &Bounds) -> Result<(), Error> {
        std::future::pending().await
    }
    async fn read(&self, _: &str, _: u32, _: u64, _: usize) -> Result<Option<Vec<Entry>>, Error> {
        std::future::pending().await
    }
    async fn forget(&self, _: &str) -> Result<(), Error> {
        Err(Error::Worker)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_that_is_lost_costs_nobody_a_message() {
    let events = corrected();
    let ground = Ground::with(&[entry("demo", Sport::Cricket, Status::Live)]).await;
    for some in events.chunks(1_000) {
        ground.append(some).await;
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (log, registers, stop) = (ground.log.clone(), ground.registers.clone(), CancellationToken::new());
    let serving =
        shard::serve(shard::Config::default(), listener, log, Arc::new(Mute), registers, stop.clone());
    let serving = tokio::spawn(serving);
    let subscriber = subscriber(address);
    let mut updates = subscriber.subscribe("demo", None);
    let mut taken = Taken::default();
    taken.until(&mut updates, events.len()).await;
    assert_eq!((taken.order, taken.repeated), (keys(&events), 0));
    stop.cancel();
    serving.await.unwrap().unwrap();
}
