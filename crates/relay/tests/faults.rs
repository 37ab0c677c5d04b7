//! Links that are cut, shards that die, takers that stop reading.
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use relay::{Connection, Limits, Publisher, Replay, Subscriber, Update};
use support::*;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

fn lost() -> Update {
    Update::Paused { reason: "shard_lost".into() }
}

#[tokio::test]
async fn a_shard_that_dies_is_missed_at_once_and_continued_when_it_is_back() {
    let shard = Shard::start(limits(), None).await;
    shard.open(7, 1..=2);
    let subscriber = subscriber(shard.address, limits());
    let mut updates = subscriber.subscribe("demo", None);
    expect_all(&mut updates, cursor(7, 0), &[1, 2]).await;
    let address = shard.address;
    drop(shard);
    assert_eq!(next(&mut updates).await, lost());
    // Who subscribes now is told as well.
    let mut late = subscriber.subscribe("demo", Some(cursor(7, 1)));
    assert_eq!(next(&mut late).await, lost());
    let shard = Shard::at(address, limits()).await;
    shard.open(7, 1..=4);
    for (updates, after, rest) in [(&mut updates, 2, &[3, 4][..]), (&mut late, 1, &[2, 3, 4])] {
        // It may have been there before its topic was.
        let mut update = next(updates).await;
        if update == (Update::Paused { reason: "not_hosted".into() }) {
            update = next(updates).await;
        }
        assert_eq!(update, Update::Start { after: cursor(7, after) });
        assert_eq!(next(updates).await, Update::Resumed);
        expect_messages(updates, rest).await;
        assert_eq!(next(updates).await, Update::Live);
    }
}

/// With the limits that a fleet has.
#[tokio::test]
async fn a_peer_that_is_gone_without_a_word_is_noticed_within_two_seconds() {
    let shard = Shard::start(Limits::default(), None).await;
    shard.open(7, 1..=1);
    let cable = Cable::to(shard.address).await;
    let subscriber = subscriber(cable.address, Limits::default());
    let mut updates = subscriber.subscribe("demo", None);
    expect_all(&mut updates, cursor(7, 0), &[1]).await;
    cable.set(Link::Frozen);
    let began = Instant::now();
    assert_eq!(next(&mut updates).await, lost());
    let taker = began.elapsed();
    shard.takers(0).await;
    let publisher = began.elapsed();
    assert!(taker < Duration::from_millis(2_500), "{taker:?}, of which half a second is this machine's");
    assert!(publisher < Duration::from_millis(2_500), "{publisher:?}");
    shard.publish([2]);
    cable.set(Link::Up);
    assert_eq!(next(&mut updates).await, Update::Start { after: cursor(7, 1) });
    assert_eq!(next(&mut updates).await, Update::Resumed);
    expect_messages(&mut updates, &[2]).await;
}

#[tokio::test]
async fn a_taker_that_stops_reading_costs_a_window_and_nobody_else() {
    let limits = Limits { window_messages: 100, ack_max: Duration::from_millis(300), ..support::limits() };
    let shard = Shard::start(limits.clone(), None).await;
    shard.open(7, 1..=1);
    let subscriber = subscriber(shard.address, limits);
    // Both on one connection.
    let (mut stuck, mut quick) = (subscriber.subscribe("demo", None), subscriber.subscribe("demo", None));
    expect_all(&mut stuck, cursor(7, 0), &[1]).await;
    expect_all(&mut quick, cursor(7, 0), &[1]).await;
    for offset in 2..=2_000 {
        shard.publish([offset]);
        expect_messages(&mut quick, &[offset]).await;
    }
    // The stuck one is let go of, so that it holds up no commit.
    timeout(HANG, shard.publisher.settled("demo", 2_000)).await.unwrap().unwrap();
    shard.takers(1).await;
    assert!(subscriber.is_connected(), "nobody else was cut");
    // It comes back by itself once it reads, and has everything once.
    let mut taken = Taken { cursor: Some(cursor(7, 1)), ..Taken::default() };
    taken.until(&mut stuck, 2_000).await;
    assert_eq!(taken.offsets, (2..=2_000).collect::<Vec<_>>());
    shard.takers(2).await;
}

#[tokio::test]
async fn a_socket_that_takes_nothing_is_cut() {
    let limits = Limits {
        drain_max: Duration::from_millis(300),
        silence_max: HANG,
        ack_max: HANG,
        window_messages: usize::MAX,
        window_bytes: usize::MAX,
        ..support::limits()
    };
    let shard = Shard::start(limits, None).await;
    shard.open(7, 1..=1);
    let mut socket = TcpStream::connect(shard.address).await.unwrap();
    // A greeting of version 1 by "", and a subscription 0 to "demo".
    socket.write_all(&[0, 0, 0, 5, 0, 0, 1, 0, 0]).await.unwrap();
    socket.write_all(b"\x00\x00\x00\x0c\x02\x00\x00\x00\x00\x00\x04demo\x00").await.unwrap();
    shard.takers(1).await;
    // More than any socket's buffers hold.
    for offset in 2..=400 {
        let large = relay::Message { json: vec![0; 200_000].into(), ..message(offset) };
        shard.publisher.publish("demo", large).unwrap();
    }
    shard.takers(0).await;
}

#[tokio::test]
async fn bytes_that_are_no_frames_end_their_connection_only() {
    let shard = Shard::start(limits(), None).await;
    shard.open(7, 1..=1);
    let subscriber = subscriber(shard.address, limits());
    let mut updates = subscriber.subscribe("demo", None);
    expect_all(&mut updates, cursor(7, 0), &[1]).await;
    for bytes in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        &[0, 0, 0, 5, 0, 0, 9, 0, 0],
        &[0, 0, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 1, 99],
        &[0, 0, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 5, 7, 0, 0, 0, 0],
    ] {
        let mut socket = TcpStream::connect(shard.address).await.unwrap();
        socket.write_all(bytes).await.unwrap();
        let closed = async {
            let mut buffer = [0; 256];
            while tokio::io::AsyncReadExt::read(&mut socket, &mut buffer).await.is_ok_and(|n| n > 0) {}
        };
        timeout(HANG, closed).await.expect("it is closed");
    }
    shard.publish([2]);
    expect_messages(&mut updates, &[2]).await;
}

/// Cut, frozen and killed at random moments, while messages come.
#[tokio::test(flavor = "multi_thread")]
async fn whatever_happens_to_links_and_shards_everything_comes_once() {
    const MESSAGES: u64 = 3_000;
    for seed in 0..4 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let limits =
            Limits { silence_max: Duration::from_millis(150), window_messages: 50, ..support::limits() };
        let mut shard = Shard::start(limits.clone(), None).await;
        shard.open(7, []);
        let (mut takers, mut cables) = (Vec::new(), Vec::new());
        for _ in 0..2 {
            let cable = Cable::to(shard.address).await;
            let subscriber = subscriber(cable.address, limits.clone());
            let mut updates = subscriber.subscribe("demo", None);
            cables.push(cable);
            takers.push(tokio::spawn(async move {
                let mut taken = Taken::default();
                taken.until(&mut updates, MESSAGES).await;
                drop(subscriber);
                taken
            }));
        }
        let mut published = 0;
        while published < MESSAGES {
            let until = (published + rng.u64(1..200)).min(MESSAGES);
            for offset in published + 1..=until {
                shard.publish([offset]);
                if rng.u8(..) < 16 {
                    tokio::task::yield_now().await;
                }
            }
            published = until;
            let cable = &cables[rng.usize(..cables.len())];
            match rng.u8(..4) {
                0 => cable.set(Link::Cut),
                1 => cable.set(Link::Frozen),
                2 => {
                    let address = shard.address;
                    drop(shard);
                    shard = Shard::at(address, limits.clone()).await;
                    shard.open(7, 1..=published);
                }
                _ => {}
            }
            tokio::time::sleep(Duration::from_millis(rng.u64(..30))).await;
            cables.iter().for_each(|cable| cable.set(Link::Up));
        }
        for taker in takers {
            let taken = taker.await.unwrap();
            assert_eq!(taken.offsets, (1..=MESSAGES).collect::<Vec<_>>(), "seed {seed}");
        }
        timeout(HANG, shard.publisher.settled("demo", MESSAGES)).await.unwrap().unwrap();
    }
}

/// A machine that has no time for us: seconds pass between any two turns of the process. Everything takes longer, and
/// nothing is taken for dead: above all not a connection that is being made, or there would never be one.
#[tokio::test(start_paused = true)]
async fn a_process_that_hardly_runs_is_connected_all_the_same() {
    let publisher = Publisher::new(limits(), None);
    publisher.open("demo", 7, Replay::default(), [1, 2].map(message)).unwrap();
    let (shard, dialled) = (publisher.clone(), Arc::new(AtomicUsize::new(0)));
    let dials = dialled.clone();
    let dial = move || {
        dials.fetch_add(1, Ordering::Relaxed);
        let (theirs, ours) = tokio::io::duplex(4_096);
        let carried = |(read, write)| Connection::new(read, write);
        let (shard, ours) = (shard.clone(), carried(tokio::io::split(ours)));
        tokio::spawn(async move { shard.serve_one(ours, "test").await });
        async move {
            // As with a real network, it takes some turns.
            for _ in 0..5 {
                tokio::task::yield_now().await;
            }
            Ok(carried(tokio::io::split(theirs)))
        }
    };
    let subscriber = Subscriber::connect_by(dial, "test", limits());
    let mut updates = subscriber.subscribe("demo", None);
    let mut seen = Vec::new();
    for turn in 0..2_000 {
        tokio::time::advance(Duration::from_secs(2)).await;
        seen.extend(std::iter::from_fn(|| updates.try_recv().ok()));
        if turn == 1_000 {
            assert_eq!(publisher.takers("demo"), 1);
            publisher.publish("demo", message(3)).unwrap();
        }
    }
    let [first, second, third] = [1, 2, 3].map(|n| Update::Message(message(n)));
    assert_eq!(seen, [Update::Start { after: cursor(7, 0) }, first, second, Update::Live, third]);
    assert_eq!(dialled.load(Ordering::Relaxed), 1, "and is not cut");
}
