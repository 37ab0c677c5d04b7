//! What takers are given: in order, once, and never from the wrong place.
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use relay::{Error, History, Page, Replay, Subscriber, Update};
use support::*;
use tokio::sync::Semaphore;
use tokio::time::timeout;

#[tokio::test]
async fn what_was_comes_first_and_then_what_comes() {
    let shard = Shard::start(limits(), None).await;
    shard.open(7, 1..=3);
    let subscriber = subscriber(shard.address, limits());
    let (mut all, mut rest) =
        (subscriber.subscribe("demo", None), subscriber.subscribe("demo", Some(cursor(7, 2))));
    expect_all(&mut all, cursor(7, 0), &[1, 2, 3]).await;
    expect_all(&mut rest, cursor(7, 2), &[3]).await;
    shard.publish([4, 6]);
    expect_messages(&mut all, &[4, 6]).await;
    expect_messages(&mut rest, &[4, 6]).await;
    drop(all);
    shard.takers(1).await;
    shard.publish([7]);
    expect_messages(&mut rest, &[7]).await;
}

/// centrifuge-go 159, centrifugo 664.
#[tokio::test]
async fn an_epoch_and_an_offset_are_never_taken_apart() {
    let shard = Shard::start(limits(), None).await;
    shard.open(8, 1..=3);
    let subscriber = subscriber(shard.address, limits());
    for (asked, why) in [
        (cursor(7, 2), "an offset that exists, of another epoch"),
        (cursor(7, 900), "an offset that does not, of another epoch"),
        (cursor(8, 4), "an offset that this log has lost"),
        (cursor(0, 0), "no log yet"),
    ] {
        println!("{why}");
        expect_all(&mut subscriber.subscribe("demo", Some(asked)), cursor(8, 0), &[1, 2, 3]).await;
    }

    // While subscribed: the new epoch's first offsets are old numbers, and none of them is taken for known.
    let mut updates = subscriber.subscribe("demo", Some(cursor(8, 3)));
    expect_all(&mut updates, cursor(8, 3), &[]).await;
    shard.open(9, 1..=2);
    expect_all(&mut updates, cursor(9, 0), &[1, 2]).await;
    shard.publish([3]);
    expect_messages(&mut updates, &[3]).await;
    // The same epoch again, as after a pause: everyone goes on.
    shard.open(9, 1..=5);
    expect_messages(&mut updates, &[4, 5]).await;
}

#[tokio::test]
async fn what_has_left_the_replay_is_void_without_a_history() {
    let shard = Shard::start(limits(), None).await;
    let short = Replay { messages_max: 2, ..Replay::default() };
    shard.publisher.open("demo", 7, short, (1..=5).map(message)).unwrap();
    let subscriber = subscriber(shard.address, limits());
    expect_all(&mut subscriber.subscribe("demo", Some(cursor(7, 2))), cursor(7, 3), &[4, 5]).await;
    expect_all(&mut subscriber.subscribe("demo", None), cursor(7, 3), &[4, 5]).await;
    expect_all(&mut subscriber.subscribe("demo", Some(cursor(7, 3))), cursor(7, 3), &[4, 5]).await;
}

/// Holds the first so many messages, and gives a page for each permit.
struct Slow {
    upto: u64,
    gate: Semaphore,
}

#[async_trait]
impl History for Slow {
    async fn read(&self, _: &str, _: u32, after: u64, max: usize) -> Result<Page, Error> {
        self.gate.acquire().await.map_err(|e| Error::History(e.to_string()))?.forget();
        let upto = self.upto.min(after + (max as u64).min(4));
        Ok(Page { after, messages: (after + 1..=upto).map(message).collect() })
    }
}

/// upstash realtime 24.
#[tokio::test]
async fn nothing_that_comes_while_the_history_is_read_is_lost_or_doubled() {
    let history = Arc::new(Slow { upto: 1_000, gate: Semaphore::new(0) });
    let shard = Shard::start(limits(), Some(history.clone())).await;
    let short = Replay { messages_max: 3, ..Replay::default() };
    shard.publisher.open("demo", 7, short, (1..=10).map(message)).unwrap();
    let subscriber = subscriber(shard.address, limits());
    let (mut all, mut newest) =
        (subscriber.subscribe("demo", Some(cursor(7, 1))), subscriber.subscribe("demo", Some(cursor(7, 9))));
    expect_all(&mut newest, cursor(7, 9), &[10]).await;
    let mut taken = Taken { cursor: Some(cursor(7, 1)), ..Taken::default() };
    // Between any two pages the replay moves on, by more than it holds.
    for newest_offset in (11..=40).step_by(5) {
        shard.publish(newest_offset..newest_offset + 5);
        history.gate.add_permits(1);
    }
    history.gate.add_permits(1_000);
    taken.until(&mut all, 40).await;
    assert_eq!((taken.offsets, taken.starts), ((2..=40).collect(), 1));
    expect_messages(&mut newest, &(11..=40).collect::<Vec<_>>()).await;
}

#[tokio::test]
async fn a_history_that_fails_is_asked_again_and_one_that_has_less_says_so() {
    struct Flaky(std::sync::atomic::AtomicU32);
    #[async_trait]
    impl History for Flaky {
        async fn read(&self, _: &str, _: u32, after: u64, _: usize) -> Result<Page, Error> {
            match self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
                0 => Err(Error::History("away".into())),
                // It has lost 1 and 2; 4 and 5 could not be published.
                _ if after < 3 => Ok(Page { after: 2, messages: vec![message(3)] }),
                _ => Ok(Page { after, messages: vec![] }),
            }
        }
    }
    let shard = Shard::start(limits(), Some(Arc::new(Flaky(0.into())))).await;
    let short = Replay { messages_max: 1, ..Replay::default() };
    shard.publisher.open("demo", 7, short, [3, 6, 7].map(message)).unwrap();
    let mut updates = subscriber(shard.address, limits()).subscribe("demo", None);
    assert!(updates.is_empty());
    // The subscriber must live as long as the receiver.
    drop(updates);
    let subscriber = subscriber(shard.address, limits());
    updates = subscriber.subscribe("demo", None);
    expect_all(&mut updates, cursor(7, 2), &[3, 7]).await;
}

#[tokio::test]
async fn a_pause_is_told_to_those_who_are_there_and_those_who_come() {
    let shard = Shard::start(limits(), None).await;
    let subscriber = subscriber(shard.address, limits());
    let mut early = subscriber.subscribe("demo", None);
    assert_eq!(next(&mut early).await, Update::Paused { reason: "not_hosted".into() });
    shard.open(7, 1..=1);
    assert_eq!(next(&mut early).await, Update::Start { after: cursor(7, 0) });
    assert_eq!(next(&mut early).await, Update::Resumed);
    expect_messages(&mut early, &[1]).await;
    assert_eq!(next(&mut early).await, Update::Live);

    let lost = || Update::Paused { reason: "spine_lost".into() };
    shard.publisher.paused("demo", "spine_lost").unwrap();
    assert_eq!(next(&mut early).await, lost());
    let mut late = subscriber.subscribe("demo", Some(cursor(7, 1)));
    assert_eq!(next(&mut late).await, Update::Start { after: cursor(7, 1) });
    assert_eq!(next(&mut late).await, lost());
    assert_eq!(next(&mut late).await, Update::Live);
    shard.publisher.resumed("demo").unwrap();
    assert_eq!((next(&mut early).await, next(&mut late).await), (Update::Resumed, Update::Resumed));

    shard.publisher.close("demo");
    assert_eq!(next(&mut early).await, Update::Paused { reason: "not_hosted".into() });
    shard.open(7, 1..=2);
    assert_eq!(next(&mut early).await, Update::Start { after: cursor(7, 1) });
    assert_eq!(next(&mut early).await, Update::Resumed);
    expect_messages(&mut early, &[2]).await;
}

#[tokio::test]
async fn the_shard_knows_what_every_live_taker_has_taken() {
    let shard = Shard::start(limits(), None).await;
    shard.open(7, 1..=2);
    assert_eq!(shard.publisher.acked("demo"), Ok(None), "nobody is there");
    shard.publisher.settled("demo", 2).await.unwrap();

    let (one, two) = (subscriber(shard.address, limits()), subscriber(shard.address, limits()));
    let (mut quick, mut slow) = (one.subscribe("demo", None), two.subscribe("demo", Some(cursor(7, 2))));
    expect_all(&mut quick, cursor(7, 0), &[1, 2]).await;
    expect_all(&mut slow, cursor(7, 2), &[]).await;
    shard.publish([3]);
    expect_messages(&mut quick, &[3]).await;
    let settled = shard.publisher.settled("demo", 3);
    tokio::pin!(settled);
    assert!(timeout(Duration::from_millis(200), &mut settled).await.is_err(), "one has not taken it");
    expect_messages(&mut slow, &[3]).await;
    timeout(HANG, settled).await.expect("both have").unwrap();
    assert_eq!(shard.publisher.acked("demo"), Ok(Some(3)));

    // Who goes is not waited for.
    shard.publish([4]);
    expect_messages(&mut quick, &[4]).await;
    drop((slow, two));
    timeout(HANG, shard.publisher.settled("demo", 4)).await.unwrap().unwrap();
}

#[tokio::test]
async fn what_no_frame_can_carry_and_what_goes_backwards_is_refused() {
    let shard = Shard::start(limits(), None).await;
    let p = &shard.publisher;
    assert_eq!(p.publish("demo", message(1)), Err(Error::NoTopic("demo".into())));
    shard.open(7, 1..=2);
    assert_eq!(
        p.publish("demo", message(2)),
        Err(Error::Backwards { topic: "demo".into(), offset: 2, head: 2 })
    );
    let huge = relay::Message { json: vec![0; 300_000].into(), ..message(3) };
    assert!(matches!(p.publish("demo", huge), Err(Error::TooLarge { what: "message", .. })));
    assert!(p.open(&"x".repeat(300), 1, Replay::default(), []).is_err());
    assert!(p.paused("demo", &"x".repeat(300)).is_err());
    let subscriber = subscriber(shard.address, limits());
    let mut long = subscriber.subscribe(&"x".repeat(300), None);
    assert_eq!(next(&mut long).await, Update::Paused { reason: "not_hosted".into() });
    expect_all(&mut subscriber.subscribe("demo", None), cursor(7, 0), &[1, 2]).await;
}

#[tokio::test]
async fn another_address_is_tried_and_a_receiver_ends_with_its_subscriber() {
    let shard = Shard::start(limits(), None).await;
    shard.open(7, 1..=1);
    let gone = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let addresses = vec![gone.to_string(), shard.address.to_string()];
    let subscriber = Subscriber::connect(addresses, "test", limits());
    let mut updates = subscriber.subscribe("demo", None);
    let mut taken = Taken::default();
    taken.until(&mut updates, 1).await;
    assert!(subscriber.is_connected());
    drop(subscriber);
    let ended = async { while updates.recv().await.is_some() {} };
    timeout(HANG, ended).await.expect("it ends");
    shard.takers(0).await;
}
