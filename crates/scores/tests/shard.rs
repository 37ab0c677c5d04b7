//! From a log to takers, over real connections.
#![allow(clippy::unwrap_used)]

mod shard_support;

use std::time::Duration;

use relay::{Cursor, Update};
use scores::catalog::{self, Status};
use scores::{Book, Recording, Sport, recording, shard};
use shard_support::*;
use store::{Log, New, Registers, SqliteLog};
use tokio::time::timeout;

fn paused(reason: &'static str) -> impl Fn(&Update) -> bool {
    move |update| matches!(update, Update::Paused { reason: r } if r == reason)
}

#[tokio::test]
async fn what_is_appended_is_published_with_the_score_of_its_moment() {
    let events = demo("demo");
    let ground = Ground::with(&[entry("demo", Sport::Cricket, Status::Live)]).await;
    ground.append(&events[..100]).await;
    let shard = ground.shard().await;
    let subscriber = subscriber(shard.address);
    let mut updates = subscriber.subscribe("demo", None);
    let mut taken = Taken::default();
    taken.until(&mut updates, 100).await;
    ground.append(&events[100..]).await;
    taken.until(&mut updates, events.len()).await;
    assert_eq!(taken.order, keys(&events));

    let mut book = Book::new(Sport::Cricket);
    for event in &events {
        book.take(event);
        let frame = &taken.frames[&(event.event_id.0, event.revision)];
        let score = serde_json::to_value(book.headline(Some(event.event_id))).unwrap();
        assert_eq!(frame["score"], score);
        assert_eq!(
            frame.get("moment").cloned(),
            book.moment(event).map(|m| serde_json::to_value(m).unwrap())
        );
    }
}

/// A shard that is killed at any moment, while the match goes on.
#[tokio::test(flavor = "multi_thread")]
async fn a_shard_killed_at_random_moments_loses_nothing_and_says_nothing_twice() {
    let events = demo("demo");
    for seed in 0..3 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let ground = Ground::with(&[entry("demo", Sport::Cricket, Status::Live)]).await;
        let mut shard = ground.shard().await;
        let subscribers = [subscriber(shard.address), subscriber(shard.address)];
        let takers: Vec<_> = subscribers
            .iter()
            .map(|subscriber| {
                let mut updates = subscriber.subscribe("demo", None);
                let count = events.len();
                tokio::spawn(async move {
                    // A match without a log has a cursor of its own kind, which the first event makes void.
                    let start = |u: &Update| matches!(u, Update::Start { after } if after.epoch != 0);
                    let mut taken = Taken::default();
                    taken.take(until(&mut updates, start).await);
                    taken.until(&mut updates, count).await;
                    (taken, updates)
                })
            })
            .collect();
        let mut appended = 0;
        while appended < events.len() {
            let next = (appended + rng.usize(1..30)).min(events.len());
            ground.append(&events[appended..next]).await;
            appended = next;
            tokio::time::sleep(Duration::from_millis(rng.u64(..40))).await;
            if rng.bool() {
                let address = shard.address;
                drop(shard);
                shard = ground.shard_at(address).await;
            }
        }
        let mut receivers = Vec::new();
        for taker in takers {
            let (taken, updates) = taker.await.unwrap();
            assert_eq!(taken.order, keys(&events), "seed {seed}");
            assert_eq!(taken.repeated, 0, "not even by key");
            receivers.push(updates);
        }
        // And in the end the log knows that all of it was given.
        let committed = async {
            while ground.log.committed("demo", shard::GROUP).await.unwrap() != events.len() as u64 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(HANG, committed).await.expect("it is committed");
    }
}

#[tokio::test]
async fn an_offset_is_committed_when_every_live_taker_has_it() {
    let events = demo("demo");
    let ground = Ground::with(&[entry("demo", Sport::Cricket, Status::Live)]).await;
    ground.append(&events[..1]).await;
    let shard = ground.shard().await;
    let (one, two) = (subscriber(shard.address), subscriber(shard.address));
    let (mut quick, mut slow) = (one.subscribe("demo", None), two.subscribe("demo", None));
    until(&mut quick, |u| *u == Update::Live).await;
    until(&mut slow, |u| *u == Update::Live).await;
    let committed = |offset| {
        let log = ground.log.clone();
        async move {
            while log.committed("demo", shard::GROUP).await.unwrap() != offset {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    };
    timeout(HANG, committed(1)).await.unwrap();
    ground.append(&events[1..2]).await;
    until(&mut quick, |u| matches!(u, Update::Message(m) if m.offset == 2)).await;
    assert!(timeout(Duration::from_millis(1_500), committed(2)).await.is_err(), "one has not taken it");
    until(&mut slow, |u| matches!(u, Update::Message(m) if m.offset == 2)).await;
    timeout(HANG, committed(2)).await.unwrap();
}

#[tokio::test]
async fn a_record_that_cannot_be_read_stops_nobody() {
    let events = demo("demo");
    let ground = Ground::with(&[entry("demo", Sport::Cricket, Status::Live)]).await;
    let bad =
        |key: &str, value: &'static [u8]| New { topic: "demo".into(), key: key.into(), value: value.into() };
    ground.append(&events[..2]).await;
    ground.log.append(&[bad("x", b"\x00\xff"), bad("9.9", b"{\"match_id\":\"demo\"}")]).await.unwrap();
    ground.append(&events[2..3]).await;
    let shard = ground.shard().await;
    let subscriber = subscriber(shard.address);
    let mut updates = subscriber.subscribe("demo", None);
    let mut taken = Taken::default();
    taken.until(&mut updates, 3).await;
    assert_eq!(taken.cursor.unwrap().offset, 5);
    // While it is live, too; and at the very end of the log.
    ground.log.append(&[bad("y", b"[]")]).await.unwrap();
    ground.append(&events[3..4]).await;
    taken.until(&mut updates, 4).await;
    ground.log.append(&[bad("z", b"[]")]).await.unwrap();
    let committed = async {
        while ground.log.committed("demo", shard::GROUP).await.unwrap() != 8 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    // Nobody was given the last one, so nobody is waited for.
    timeout(HANG, committed).await.unwrap();
    assert_eq!(taken.order, keys(&events[..4]));
}

#[tokio::test]
async fn a_log_that_is_lost_is_said_and_is_continued_by_itself() {
    let events = demo("demo");
    let ground = Ground::with(&[entry("demo", Sport::Cricket, Status::Live)]).await;
    ground.append(&events[..5]).await;
    let shard = ground.shard().await;
    let subscriber = subscriber(shard.address);
    let mut updates = subscriber.subscribe("demo", None);
    let mut taken = Taken::default();
    taken.until(&mut updates, 5).await;
    ground.log.lose(true);
    until(&mut updates, paused(shard::SPINE_LOST)).await;
    ground.log.lose(false);
    assert_eq!(next(&mut updates).await, Update::Resumed);
    ground.append(&events[5..9]).await;
    taken.until(&mut updates, 9).await;
    assert_eq!(taken.order, keys(&events[..9]));

    // And one that comes back as another log: everything is void, epoch and offset together.
    let before = taken.cursor.unwrap();
    let other = SqliteLog::open(&ground.dir.path().join("other.db")).unwrap();
    other.append(&events[..12].iter().map(record).collect::<Vec<_>>()).await.unwrap();
    ground.log.replace(other);
    let start = until(&mut updates, |u| matches!(u, Update::Start { .. })).await;
    let Update::Start { after } = start else { unreachable!() };
    assert_ne!(after.epoch, before.epoch);
    assert_eq!(after.offset, 0);
    let mut anew = Taken { cursor: Some(after), ..Taken::default() };
    anew.until(&mut updates, 12).await;
    assert_eq!(anew.order, keys(&events[..12]));
}

#[tokio::test]
async fn matches_come_and_go_with_the_catalog() {
    let ground = Ground::with(&[]).await;
    let shard = ground.shard().await;
    let subscriber = subscriber(shard.address);
    let mut updates = subscriber.subscribe("late", None);
    until(&mut updates, paused(relay::NOT_HOSTED)).await;
    catalog::put(&*ground.registers, &entry("late", Sport::Cricket, Status::Scheduled)).await.unwrap();
    // Nothing has been said of it yet, and that is said.
    let nothing = Update::Start { after: Cursor { epoch: 0, offset: 0 } };
    until(&mut updates, |u| *u == nothing).await;
    until(&mut updates, |u| *u == Update::Live).await;
    let events = demo("late");
    ground.append(&events[..3]).await;
    let start = until(&mut updates, |u| matches!(u, Update::Start { .. })).await;
    let mut taken = Taken::default();
    taken.take(start);
    assert_ne!(taken.cursor.unwrap().epoch, 0);
    taken.until(&mut updates, 3).await;
    assert_eq!(taken.order, keys(&events[..3]));

    // Taken out, and entered again.
    let late = ground.registers.get("match/late").await.unwrap().unwrap();
    ground.registers.put_if("match/late", "gone", Some(late.version), None).await.unwrap();
    until(&mut updates, paused(relay::NOT_HOSTED)).await;
    catalog::put(&*ground.registers, &entry("late", Sport::Cricket, Status::Live)).await.unwrap();
    taken.take(until(&mut updates, |u| matches!(u, Update::Start { .. })).await);
    ground.append(&events[3..5]).await;
    taken.until(&mut updates, 5).await;
    assert_eq!(taken.order, keys(&events[..5]));
}

/// A year after the match nothing of it is in the replay: the log is read, and gives the same bytes.
#[tokio::test]
async fn what_has_left_the_replay_is_read_from_the_log_alike() {
    for (json, sport) in [(recording::DEMO, Sport::Cricket), (recording::FOOTBALL, Sport::Football)] {
        let old = Recording::read(json).unwrap().events("demo", 1_700_000_000_000, 1.0);
        let new: Vec<_> = old.iter().cloned().map(|e| scores::Event { ingest_ms: now_ms(), ..e }).collect();
        let mut seen = Vec::new();
        for events in [&old, &new] {
            let ground = Ground::with(&[entry("demo", sport, Status::Final)]).await;
            ground.append(events).await;
            let shard = ground.shard().await;
            let subscriber = subscriber(shard.address);
            let mut updates = subscriber.subscribe("demo", None);
            let mut taken = Taken::default();
            taken.until(&mut updates, events.len()).await;
            assert_eq!(taken.order, keys(events));
            // In the middle, too.
            let middle = Cursor { offset: events.len() as u64 / 2, ..taken.cursor.unwrap() };
            let mut updates = subscriber.subscribe("demo", Some(middle));
            let mut rest = Taken { cursor: Some(middle), ..Taken::default() };
            rest.until(&mut updates, events.len() - middle.offset as usize).await;
            assert!(rest.frames.iter().all(|(key, frame)| taken.frames[key] == *frame));
            for frame in taken.frames.values_mut() {
                frame.as_object_mut().unwrap().retain(|name, _| name != "cursor" && name != "ingest_ms");
            }
            seen.push(taken.frames);
        }
        assert_eq!(seen[0], seen[1]);
    }
}

/// Two ingests on one log: for some milliseconds neither knows what the other writes, and a lower revision lands after a
/// higher one. Nobody is told it: neither who is there, nor who comes late, nor by a shard that was started anew.
#[tokio::test]
async fn a_lower_revision_that_lands_late_is_told_to_nobody() {
    let events = demo("demo");
    let at = |n: usize, revision| scores::Event { revision, ..events[n].clone() };
    let log = [at(0, 2), at(1, 1), at(0, 1), at(2, 3), at(2, 2), at(2, 1), at(0, 3), at(1, 2), at(3, 1)];
    let told = [at(0, 2), at(1, 1), at(2, 3), at(0, 3), at(1, 2), at(3, 1)];
    let ground = Ground::with(&[entry("demo", Sport::Cricket, Status::Live)]).await;
    ground.append(&log[..2]).await;
    let shard = ground.shard().await;
    let (address, live) = (shard.address, subscriber(shard.address));
    let mut updates = live.subscribe("demo", None);
    let mut taken = Taken::default();
    taken.until(&mut updates, 2).await;
    for event in &log[2..] {
        ground.append(std::slice::from_ref(event)).await;
    }
    taken.until(&mut updates, told.len()).await;
    assert_eq!((&taken.order, taken.repeated), (&keys(&told), 0));

    // What was passed over is committed all the same, and a cursor that stands on it is as good as any.
    ground.append(&[at(3, 2), at(4, 2), at(4, 1)]).await;
    taken.until(&mut updates, told.len() + 2).await;
    let committed = async {
        while ground.log.committed("demo", shard::GROUP).await.unwrap() != log.len() as u64 + 3 {
            // Taking is confirming.
            let _ = timeout(Duration::from_millis(5), updates.recv()).await;
        }
    };
    timeout(HANG, committed).await.unwrap();
    drop(shard);
    let _shard = ground.shard_at(address).await;
    let late = subscriber(address);
    let on_it = Cursor { epoch: taken.cursor.unwrap().epoch, offset: 3 };
    let mut rest = Taken { cursor: Some(on_it), ..Taken::default() };
    rest.until(&mut late.subscribe("demo", Some(on_it)), 6).await;
    assert_eq!(rest.order, [&keys(&told[2..])[..], &keys(&[at(3, 2), at(4, 2)])].concat());
    assert!(rest.frames.iter().all(|(key, frame)| taken.frames.get(key).is_none_or(|known| known == frame)));
}
