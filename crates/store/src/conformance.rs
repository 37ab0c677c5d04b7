//! What every implementation of a store must do, as one suite. Panics with what went wrong.

pub use crate::entitlements::conformance::entitlements;

use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;

use crate::{Appended, Log, New, Outcome, Registers};

/// The longest that anything here is waited for: a store on a slow disk, with the machine full of tests.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// Runs the suite for [`Registers`] over two handles to one store, as two processes would hold.
pub async fn registers<R: Registers + Clone + 'static>(one: &R, two: &R) {
    assert_eq!(one.get("absent").await.expect("get"), None);

    let Outcome::Won(first) = one.put_if("k", "one", None, None).await.expect("put") else {
        panic!("the first writer of an absent key wins")
    };
    assert_eq!(two.get("k").await.expect("get"), Some(first.clone()), "the other handle sees it");
    assert_eq!(
        two.put_if("k", "two", None, None).await.expect("put"),
        Outcome::Lost(first.clone()),
        "who expects none loses to who was first"
    );
    let Outcome::Won(second) = two.put_if("k", "two", Some(first.version), None).await.expect("put") else {
        panic!("the version that was read may be replaced")
    };
    assert!(second.version > first.version);
    assert_eq!(
        one.put_if("k", "three", Some(first.version), None).await.expect("put"),
        Outcome::Lost(second)
    );

    // A race has one winner, and everyone learns the same value.
    let mut racers = Vec::new();
    for n in 0..16 {
        let store = if n % 2 == 0 { one.clone() } else { two.clone() };
        racers.push(tokio::spawn(async move {
            store.put_if("race", &n.to_string(), None, None).await.expect("put")
        }));
    }
    let (mut winners, mut values) = (0, BTreeSet::new());
    for racer in racers {
        let outcome = racer.await.expect("racer");
        winners += usize::from(matches!(outcome, Outcome::Won(_)));
        values.insert(outcome.into_register().value);
    }
    assert_eq!((winners, values.len()), (1, 1), "one winner, one value");

    // A list holds what begins so and nothing else, in order, from either handle.
    for key in ["match/b", "match/a", "matches", "match", "matc/x"] {
        one.put_if(key, key, None, None).await.expect("put");
    }
    one.put_if("match/gone", "x", None, Some(Duration::ZERO)).await.expect("put");
    let listed = two.list("match/").await.expect("list");
    let listed: Vec<_> = listed.iter().map(|(key, r)| (key.as_str(), r.value.as_str(), r.version)).collect();
    assert_eq!(listed, [("match/a", "match/a", 1), ("match/b", "match/b", 1)]);

    // A key with a lifetime ends, and can be taken anew.
    one.put_if("lease", "mine", None, Some(Duration::from_millis(50))).await.expect("put");
    let deadline = tokio::time::Instant::now() + Duration::from_secs(10);
    while two.get("lease").await.expect("get").is_some() {
        assert!(tokio::time::Instant::now() < deadline, "a lease ends by itself");
        tokio::task::yield_now().await;
    }
    assert!(matches!(two.put_if("lease", "ours", None, None).await.expect("put"), Outcome::Won(_)));
}

/// Runs the suite for [`Log`] over two handles to one store, as two processes would hold.
pub async fn log<L: Log + Clone + 'static>(one: &L, two: &L) {
    // What is not there is empty, not an error.
    assert_eq!(one.epoch("m1").await.expect("epoch"), None);
    assert_eq!(one.read("m1", 0, 10).await.expect("read"), []);
    assert_eq!(one.committed("m1", "shard").await.expect("committed"), 0);
    assert_eq!(one.append(&[]).await.expect("append"), []);

    // Offsets are from 1, per topic, in the order of the append.
    let appended =
        one.append(&[record("m1", "a", "1"), record("m2", "a", "x"), record("m1", "b", "2")]).await;
    assert_eq!(appended.expect("append"), [at(1, true), at(1, true), at(2, true)]);

    // A key is written once, within one append too, whatever it says and through whichever handle.
    let again =
        two.append(&[record("m1", "b", "other"), record("m1", "c", "3"), record("m1", "c", "4")]).await;
    assert_eq!(again.expect("append"), [at(2, false), at(3, true), at(3, false)]);
    let read = one.read("m1", 0, 10).await.expect("read");
    let read: Vec<_> = read.iter().map(|r| (r.offset, r.key.as_str(), &r.value[..])).collect();
    assert_eq!(read, [(1, "a", &b"1"[..]), (2, "b", b"2"), (3, "c", b"3")]);

    // Reads begin after an offset and are bounded; past the end is empty.
    let some = two.read("m1", 1, 1).await.expect("read");
    assert_eq!(some.iter().map(|r| r.offset).collect::<Vec<_>>(), [2]);
    assert_eq!(two.read("m1", 3, 10).await.expect("read"), []);
    assert_eq!(two.read("m1", u64::MAX, 10).await.expect("read"), []);

    // A topic has one epoch, the same for all; another topic has another life.
    let epoch = one.epoch("m1").await.expect("epoch").expect("there are records");
    assert_ne!(epoch, 0);
    assert_eq!(two.epoch("m1").await.expect("epoch"), Some(epoch));
    assert_eq!(two.topics("m").await.expect("topics"), ["m1", "m2"]);
    assert_eq!(two.topics("m2").await.expect("topics"), ["m2"]);
    assert!(two.topics("n").await.expect("topics").is_empty());

    // A commit is a group's own, and never goes back.
    one.commit("m1", "shard", 2).await.expect("commit");
    one.commit("m1", "shard", 1).await.expect("commit");
    assert_eq!(two.committed("m1", "shard").await.expect("committed"), 2);
    assert_eq!(two.committed("m1", "audit").await.expect("committed"), 0);
    assert_eq!(two.committed("m2", "shard").await.expect("committed"), 0);

    a_waiting_reader_is_woken(one, two).await;
    concurrent_appends_lose_nothing(one, two).await;
}

/// The other handle's append wakes who asked before reading; so does its own.
async fn a_waiting_reader_is_woken<L: Log + Clone + 'static>(one: &L, two: &L) {
    for (n, (writer, reader)) in [(one, two), (two, one), (one, one)].into_iter().enumerate() {
        let reader = reader.clone();
        let after = n as u64;
        let waiting = tokio::spawn(async move {
            loop {
                let changed = reader.changed();
                let found = reader.read("wake", after, 1).await.expect("read");
                match found.into_iter().next() {
                    Some(found) => return found,
                    None => changed.await,
                }
            }
        });
        writer.append(&[record("wake", &n.to_string(), "now")]).await.expect("append");
        let found = tokio::time::timeout(WAIT_MAX, waiting).await.expect("woken").expect("reader");
        assert_eq!((found.offset, found.key), (after + 1, n.to_string()));
    }
}

/// Two processes with four tasks each append the same 200 keys: each stands once, and all agree on where.
async fn concurrent_appends_lose_nothing<L: Log + Clone + 'static>(one: &L, two: &L) {
    const KEYS: usize = 200;
    let tasks: Vec<_> = (0..8)
        .map(|n| {
            let log = if n % 2 == 0 { one.clone() } else { two.clone() };
            tokio::spawn(async move {
                let mut places = vec![at(0, false); KEYS];
                // Each in an order of its own, a few at a time.
                let order: Vec<usize> = (0..KEYS).map(|k| (k * 7 + n * 31) % KEYS).collect();
                for few in order.chunks(3) {
                    let records: Vec<_> = few.iter().map(|k| record("race", &k.to_string(), "v")).collect();
                    let appended = log.append(&records).await.expect("append");
                    for (key, place) in few.iter().zip(appended) {
                        places[*key] = place;
                    }
                }
                places
            })
        })
        .collect();
    let mut everyone = Vec::new();
    for task in tasks {
        everyone.push(task.await.expect("appender"));
    }
    for key in 0..KEYS {
        let firsts = everyone.iter().filter(|places| places[key].new).count();
        let places: BTreeSet<u64> = everyone.iter().map(|places| places[key].offset).collect();
        assert_eq!((firsts, places.len()), (1, 1), "key {key} stands once, at one place");
    }
    let stands = two.read("race", 0, KEYS + 1).await.expect("read");
    assert!(stands.iter().map(|r| r.offset).eq(1..=KEYS as u64), "offsets have no holes");
    let keys: BTreeSet<&str> = stands.iter().map(|r| r.key.as_str()).collect();
    assert_eq!(keys.len(), KEYS);
}

fn record(topic: &str, key: &str, value: &str) -> New {
    New { topic: topic.into(), key: key.into(), value: Bytes::copy_from_slice(value.as_bytes()) }
}

fn at(offset: u64, new: bool) -> Appended {
    Appended { offset, new }
}
