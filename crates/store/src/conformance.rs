//! What every implementation of a store must do, as one suite. Panics with what went wrong.

pub use crate::entitlements::conformance::entitlements;

use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;

pub use crate::accounts::conformance::accounts;
use crate::{Appended, Bounds, Entry, Error, Log, New, Outcome, REPLAY_READ_MAX, Registers, Replay};

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

/// Runs the suite for [`Replay`] over two handles to one store, as two processes would hold.
pub async fn replay<R: Replay + Clone + 'static>(one: &R, two: &R) {
    let wide = Bounds { entries_max: 1_000, bytes_max: 1 << 20, ttl: Duration::from_secs(3_600) };
    let append = async |replay: &R, epoch, after, offsets: &[u64], bounds: &Bounds| {
        let entries: Vec<_> = offsets.iter().map(|offset| entry(*offset)).collect();
        replay.append("m1", epoch, after, &entries, bounds).await.expect("append");
    };
    // What is asked for from either handle: offsets, if the replay can say.
    let offsets = async |epoch, after, max| {
        let (from_one, from_two) =
            (one.read("m1", epoch, after, max).await, two.read("m1", epoch, after, max).await);
        let read = from_one.expect("read");
        assert_eq!(read, from_two.expect("read"), "both handles see the same");
        if let Some(read) = &read {
            assert!(read.iter().all(|found| *found == entry(found.offset)), "as they were written");
        }
        read.map(|read| read.iter().map(|found| found.offset).collect::<Vec<_>>())
    };

    // What is not there cannot be read, and is no error.
    assert_eq!(offsets(7, 0, 10).await, None);
    one.forget("m1").await.expect("forget");

    // In order, after a cursor, bounded; a number that was left out is a position too.
    append(one, 7, 0, &[1, 2, 5], &wide).await;
    assert_eq!(offsets(7, 0, 10).await, Some(vec![1, 2, 5]));
    assert_eq!(offsets(7, 0, 2).await, Some(vec![1, 2]));
    assert_eq!(offsets(7, 3, 10).await, Some(vec![5]));
    assert_eq!(offsets(7, 5, 10).await, None, "whether there is more it does not know");
    assert_eq!(offsets(7, u64::MAX, 10).await, None);
    assert_eq!(offsets(8, 0, 10).await, None, "an offset of another epoch says nothing");
    assert_eq!(two.read("m2", 7, 0, 10).await.expect("read"), None, "topics are apart");

    // A writer that was restarted says all of it again, and goes on.
    append(two, 7, 0, &[1, 2, 5, 6], &wide).await;
    append(two, 7, 6, &[], &wide).await;
    append(one, 7, 6, &[9], &wide).await;
    assert_eq!(offsets(7, 0, 10).await, Some(vec![1, 2, 5, 6, 9]));

    // It has no holes: what was not told of voids what was before.
    append(one, 7, 11, &[12], &wide).await;
    assert_eq!(offsets(7, 9, 10).await, None);
    assert_eq!(offsets(7, 11, 10).await, Some(vec![12]));

    // Each bound lets the oldest go, and never the newest.
    append(one, 7, 12, &[13, 14, 15], &Bounds { entries_max: 2, ..wide }).await;
    assert_eq!((offsets(7, 12, 9).await, offsets(7, 13, 9).await), (None, Some(vec![14, 15])));
    append(one, 7, 15, &[16], &Bounds { bytes_max: 1, ..wide }).await;
    assert_eq!((offsets(7, 14, 9).await, offsets(7, 15, 9).await), (None, Some(vec![16])));
    // Entries are a second apart.
    append(one, 7, 16, &[17, 18, 19], &Bounds { ttl: Duration::from_millis(1_500), ..wide }).await;
    assert_eq!((offsets(7, 16, 9).await, offsets(7, 17, 9).await), (None, Some(vec![18, 19])));

    // Another life begins anew, also with smaller numbers.
    append(two, 8, 0, &[1, 2], &wide).await;
    assert_eq!((offsets(7, 18, 9).await, offsets(8, 0, 9).await), (None, Some(vec![1, 2])));

    // A read gives no more than it may.
    let many: Vec<u64> = (3..=REPLAY_READ_MAX as u64 + 10).collect();
    append(one, 8, 2, &many, &Bounds { entries_max: usize::MAX, bytes_max: usize::MAX, ..wide }).await;
    assert_eq!(offsets(8, 0, usize::MAX).await.map(|all| all.len()), Some(REPLAY_READ_MAX));

    // What is too long is refused, and nothing of it is kept.
    let long = Entry { values: vec![Bytes::from(vec![0; 1 << 20])], ..entry(5_001) };
    let refused = one.append("m3", 1, 0, &[entry(1), long], &wide).await;
    assert!(matches!(refused, Err(Error::TooLarge { what: "value", .. })), "{refused:?}");
    assert_eq!(two.read("m3", 1, 0, 10).await.expect("read"), None);

    one.forget("m1").await.expect("forget");
    assert_eq!(offsets(8, 0, 10).await, None);
}

/// Each a second after the one before it.
fn entry(offset: u64) -> Entry {
    Entry {
        offset,
        key: format!("{offset}.1"),
        at_us: offset as i64 * 1_000_000,
        values: vec![Bytes::from(format!("json {offset}")), Bytes::from(format!("proto {offset}"))],
    }
}

fn record(topic: &str, key: &str, value: &str) -> New {
    New { topic: topic.into(), key: key.into(), value: Bytes::copy_from_slice(value.as_bytes()) }
}

fn at(offset: u64, new: bool) -> Appended {
    Appended { offset, new }
}
