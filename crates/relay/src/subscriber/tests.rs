//! A subscriber before a scripted shard that does what ours would not.

use std::time::Duration;

use bytes::Bytes;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::duplex::Duplex;
use crate::wire::{Frame, Sub, VERSION};
use crate::{Connection, Cursor, Limits, Message, SHARD_LOST, Subscriber, Update};

const HANG: Duration = Duration::from_secs(20);

fn limits() -> Limits {
    Limits {
        retry_min: Duration::from_millis(5),
        retry_max: Duration::from_millis(20),
        connect_max: Duration::from_millis(200),
        window_messages: 8,
        // The script sends no beats.
        silence_max: HANG,
        ..Limits::default()
    }
}

fn cursor(epoch: u32, offset: u64) -> Cursor {
    Cursor { epoch, offset }
}

fn message(offset: u64) -> Message {
    let bytes = Bytes::from_static(b"{}");
    Message { offset, event: offset, revision: 1, ingest_us: 0, json: bytes.clone(), proto: bytes }
}

struct Script(TcpListener);

/// One connection that the script holds.
struct Line(Duplex);

impl Script {
    async fn new() -> (Script, Subscriber) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        (Script(listener), Subscriber::connect(vec![address], "test", limits()))
    }

    async fn accept(&self) -> Line {
        let (socket, _) = timeout(HANG, self.0.accept()).await.expect("nobody comes").unwrap();
        let mut line = Line(Duplex::new(Connection::tcp(socket).unwrap(), "script"));
        assert_eq!(line.heard().await, Frame::Hello { version: VERSION, name: "test".into() });
        line
    }
}

impl Line {
    async fn heard(&mut self) -> Frame {
        let heard = async {
            loop {
                if let Some(frame) = self.0.next().unwrap() {
                    return frame;
                }
                self.0.turn().await.unwrap();
            }
        };
        timeout(HANG, heard).await.expect("nothing is heard")
    }

    /// The number and the cursor of a subscription.
    async fn subscribed(&mut self) -> (Sub, Option<Cursor>) {
        loop {
            match self.heard().await {
                Frame::Subscribe { sub, topic, after } => {
                    assert_eq!(topic, "demo");
                    return (sub, after);
                }
                Frame::Ack { .. } => {}
                frame => panic!("{frame:?}"),
            }
        }
    }

    async fn acked(&mut self) -> Cursor {
        match self.heard().await {
            Frame::Ack { upto, .. } => upto,
            frame => panic!("{frame:?}"),
        }
    }

    fn say(&mut self, frames: impl IntoIterator<Item = Frame>) {
        frames.into_iter().for_each(|frame| self.0.put(&frame));
    }

    /// Until the other side hangs up.
    async fn cut(&mut self) {
        let cut = async { while self.0.turn().await.is_ok() {} };
        timeout(HANG, cut).await.expect("it stays");
    }
}

fn start(sub: Sub, after: Cursor) -> Frame {
    Frame::Start { sub, after, paused: None }
}

fn messages(sub: Sub, offsets: &[u64]) -> Vec<Frame> {
    offsets.iter().map(|offset| Frame::Message { sub, message: message(*offset) }).collect()
}

/// Drives the script's socket while the taker waits.
async fn next(line: &mut Line, updates: &mut mpsc::Receiver<Update>) -> Update {
    let next = async {
        loop {
            tokio::select! {
                biased;
                update = updates.recv() => return update.unwrap(),
                turned = line.0.turn() => turned.unwrap(),
            }
        }
    };
    timeout(HANG, next).await.expect("nothing comes")
}

/// centrifuge-go 150, socket.io 5419.
#[tokio::test]
async fn what_comes_again_is_given_once_and_moves_the_cursor() {
    let (script, subscriber) = Script::new().await;
    let mut updates = subscriber.subscribe("demo", None);
    let mut line = script.accept().await;
    let (sub, after) = line.subscribed().await;
    assert_eq!(after, None);
    line.say([start(sub, cursor(7, 0))]);
    line.say(messages(sub, &[1, 2, 2, 1, 3]));
    // On their way to a subscription that is not there.
    line.say(messages(sub + 9, &[4]));
    line.say([Frame::Live { sub }]);
    assert_eq!(next(&mut line, &mut updates).await, Update::Start { after: cursor(7, 0) });
    for offset in 1..=3 {
        assert_eq!(next(&mut line, &mut updates).await, Update::Message(message(offset)));
    }
    assert_eq!(next(&mut line, &mut updates).await, Update::Live);

    drop(line);
    assert_eq!(updates.recv().await, Some(Update::Paused { reason: SHARD_LOST.into() }));
    let mut line = script.accept().await;
    let (sub, after) = line.subscribed().await;
    assert_eq!(after, Some(cursor(7, 3)), "its own cursor, epoch and offset together");
    // A shard that gives again what was never confirmed to it.
    line.say([start(sub, cursor(7, 3))]);
    line.say(messages(sub, &[2, 3, 4]));
    assert_eq!(next(&mut line, &mut updates).await, Update::Start { after: cursor(7, 3) });
    assert_eq!(next(&mut line, &mut updates).await, Update::Resumed);
    assert_eq!(next(&mut line, &mut updates).await, Update::Message(message(4)));

    // A new epoch with an old offset: what comes next is new, whatever its number.
    line.say([start(sub, cursor(8, 1))]);
    line.say(messages(sub, &[2]));
    assert_eq!(next(&mut line, &mut updates).await, Update::Start { after: cursor(8, 1) });
    assert_eq!(next(&mut line, &mut updates).await, Update::Message(message(2)));
    drop(line);
    let mut line = script.accept().await;
    assert_eq!(line.subscribed().await.1, Some(cursor(8, 2)));
}

#[tokio::test]
async fn what_is_confirmed_has_been_taken() {
    let (script, subscriber) = Script::new().await;
    let mut updates = subscriber.subscribe("demo", None);
    let mut line = script.accept().await;
    let (sub, _) = line.subscribed().await;
    line.say([start(sub, cursor(7, 0))]);
    next(&mut line, &mut updates).await;
    assert_eq!(line.acked().await, cursor(7, 0));
    line.say(messages(sub, &[1, 2, 3]));
    for _ in 0..3 {
        next(&mut line, &mut updates).await;
    }
    // However they came together: it ends with the last one, and is never ahead of what was taken.
    let mut acked = cursor(7, 0);
    while acked != cursor(7, 3) {
        let upto = line.acked().await;
        assert!(upto.offset > acked.offset && upto.offset <= 3);
        acked = upto;
    }
    drop(updates);
    assert_eq!(line.heard().await, Frame::Unsubscribe { sub });
}

#[tokio::test]
async fn who_was_dropped_comes_back_when_it_has_drained() {
    let (script, subscriber) = Script::new().await;
    let mut updates = subscriber.subscribe("demo", Some(cursor(7, 0)));
    let mut line = script.accept().await;
    let (sub, _) = line.subscribed().await;
    line.say([start(sub, cursor(7, 0))]);
    line.say(messages(sub, &[1, 2, 3]));
    line.say([Frame::Dropped { sub }]);
    line.say(messages(sub, &[4]));
    let (again, after) = line.subscribed().await;
    assert_eq!(after, Some(cursor(7, 3)));
    assert_ne!(again, sub);
    line.say([start(again, cursor(7, 3))]);
    line.say(messages(again, &[4]));
    let mut offsets = Vec::new();
    while offsets.last() != Some(&4) {
        if let Update::Message(message) = next(&mut line, &mut updates).await {
            offsets.push(message.offset);
        }
    }
    assert_eq!(offsets, [1, 2, 3, 4]);
}

#[tokio::test]
async fn a_shard_that_breaks_the_rules_is_left() {
    let (script, subscriber) = Script::new().await;
    let updates = subscriber.subscribe("demo", None);
    // It does not greet, then greets in another version.
    let (silent, _) = script.0.accept().await.unwrap();
    drop(silent);
    let (other, _) = timeout(HANG, script.0.accept()).await.unwrap().unwrap();
    other.writable().await.unwrap();
    other.try_write(&[0, 0, 0, 5, 0, 0, 99, 0, 0]).unwrap();

    // A message before a start, a frame of takers, more than the window.
    for breaking in 0..3 {
        let mut line = script.accept().await;
        let (sub, _) = line.subscribed().await;
        match breaking {
            0 => line.say(messages(sub, &[1])),
            1 => line.say([Frame::Unsubscribe { sub }]),
            _ => {
                line.say([start(sub, cursor(7, 0))]);
                // Nobody takes them: a batch lies in the channel, a window in the queue.
                line.say(messages(sub, &(1..=1_000).collect::<Vec<_>>()));
            }
        }
        line.cut().await;
    }
    drop(updates);
}
