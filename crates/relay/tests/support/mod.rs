//! A shard that can be killed, a link that can be frozen or cut, and a taker that checks what it is given.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use relay::{Cursor, History, Limits, Message, Publisher, Replay, Subscriber, Update};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Nothing here takes longer unless it hangs.
pub const HANG: Duration = Duration::from_secs(20);

/// Quick to notice and to come back.
pub fn limits() -> Limits {
    Limits {
        beat_every: Duration::from_millis(50),
        retry_min: Duration::from_millis(5),
        retry_max: Duration::from_millis(50),
        ..Limits::default()
    }
}

/// The message of that offset.
pub fn message(offset: u64) -> Message {
    Message {
        offset,
        event: 1_000 + offset,
        revision: 1,
        ingest_us: i64::MAX,
        json: Bytes::from(format!("{{\"n\":{offset}}}")),
        proto: Bytes::from(offset.to_be_bytes().to_vec()),
    }
}

pub fn cursor(epoch: u32, offset: u64) -> Cursor {
    Cursor { epoch, offset }
}

/// A publisher with its listener; it ends when it is dropped.
pub struct Shard {
    pub publisher: Publisher,
    pub address: SocketAddr,
    _stop: DropGuard,
}

impl Shard {
    pub async fn start(limits: Limits, history: Option<Arc<dyn History>>) -> Shard {
        Shard::on(TcpListener::bind("127.0.0.1:0").await.unwrap(), limits, history)
    }

    /// Where one has been before.
    pub async fn at(address: SocketAddr, limits: Limits) -> Shard {
        // The one before may still be letting go of it.
        let listener = timeout(HANG, async {
            loop {
                match TcpListener::bind(address).await {
                    Ok(listener) => break listener,
                    Err(_) => tokio::task::yield_now().await,
                }
            }
        });
        Shard::on(listener.await.unwrap(), limits, None)
    }

    fn on(listener: TcpListener, limits: Limits, history: Option<Arc<dyn History>>) -> Shard {
        let address = listener.local_addr().unwrap();
        let publisher = Publisher::new(limits, history);
        let stop = CancellationToken::new();
        let (serving, token) = (publisher.clone(), stop.clone());
        tokio::spawn(async move { serving.serve(listener, token).await });
        Shard { publisher, address, _stop: stop.drop_guard() }
    }

    /// Holds these messages of `demo`.
    pub fn open(&self, epoch: u32, offsets: impl IntoIterator<Item = u64>) {
        self.publisher.open("demo", epoch, Replay::default(), offsets.into_iter().map(message)).unwrap();
    }

    pub fn publish(&self, offsets: impl IntoIterator<Item = u64>) {
        for offset in offsets {
            self.publisher.publish("demo", message(offset)).unwrap();
        }
    }

    pub async fn takers(&self, n: usize) {
        let reached = async {
            while self.publisher.takers("demo") != n {
                tokio::task::yield_now().await;
            }
        };
        timeout(HANG, reached).await.unwrap_or_else(|_| panic!("never {n} takers"));
    }
}

pub fn subscriber(address: SocketAddr, limits: Limits) -> Subscriber {
    Subscriber::connect(vec![address.to_string()], "test", limits)
}

pub async fn next(updates: &mut mpsc::Receiver<Update>) -> Update {
    timeout(HANG, updates.recv()).await.expect("nothing comes").expect("it has ended")
}

/// Start, then messages, then live.
pub async fn expect_all(updates: &mut mpsc::Receiver<Update>, after: Cursor, offsets: &[u64]) {
    assert_eq!(next(updates).await, Update::Start { after });
    expect_messages(updates, offsets).await;
    assert_eq!(next(updates).await, Update::Live);
}

pub async fn expect_messages(updates: &mut mpsc::Receiver<Update>, offsets: &[u64]) {
    for offset in offsets {
        assert_eq!(next(updates).await, Update::Message(message(*offset)));
    }
}

/// What a taker knows: everything, once, in order, or it panics.
#[derive(Debug, Default)]
pub struct Taken {
    pub cursor: Option<Cursor>,
    pub offsets: Vec<u64>,
    pub starts: usize,
}

impl Taken {
    pub fn take(&mut self, update: Update) {
        match update {
            Update::Start { after } => {
                self.starts += 1;
                if let Some(cursor) = self.cursor {
                    assert_eq!(after, cursor, "it continues where it was");
                }
                self.cursor = Some(after);
            }
            Update::Message(message) => {
                let cursor = self.cursor.as_mut().expect("a start comes first");
                assert!(message.offset > cursor.offset, "{} after {}", message.offset, cursor.offset);
                cursor.offset = message.offset;
                self.offsets.push(message.offset);
            }
            Update::Live | Update::Paused { .. } | Update::Resumed => {}
        }
    }

    pub async fn until(&mut self, updates: &mut mpsc::Receiver<Update>, offset: u64) {
        while self.cursor.is_none_or(|cursor| cursor.offset < offset) {
            self.take(next(updates).await);
        }
    }
}

/// What the link does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// Passes on.
    Up,
    /// Takes no bytes and gives none; nothing is closed. As a cable that was pulled.
    Frozen,
    /// Every connection is closed, new ones at once.
    Cut,
}

/// Between a taker and its shard.
pub struct Cable {
    pub address: SocketAddr,
    link: watch::Sender<Link>,
}

impl Cable {
    pub async fn to(shard: SocketAddr) -> Cable {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (link, state) = watch::channel(Link::Up);
        tokio::spawn(async move {
            while let Ok((taker, _)) = listener.accept().await {
                let state = state.clone();
                tokio::spawn(async move {
                    let Ok(shard) = TcpStream::connect(shard).await else { return };
                    let (from_taker, to_taker) = taker.into_split();
                    let (from_shard, to_shard) = shard.into_split();
                    let mut cut = state.clone();
                    tokio::select! {
                        () = pass(from_taker, to_shard, state.clone()) => {}
                        () = pass(from_shard, to_taker, state.clone()) => {}
                        _ = cut.wait_for(|link| *link == Link::Cut) => {}
                    }
                });
            }
        });
        Cable { address, link }
    }

    pub fn set(&self, link: Link) {
        self.link.send_replace(link);
    }
}

async fn pass(
    mut from: impl AsyncReadExt + Unpin,
    mut to: impl AsyncWriteExt + Unpin,
    mut link: watch::Receiver<Link>,
) {
    let mut bytes = vec![0; 4_096];
    loop {
        if link.wait_for(|link| *link != Link::Frozen).await.is_err() {
            return;
        }
        let read = match from.read(&mut bytes).await {
            Ok(0) | Err(_) => return,
            Ok(read) => read,
        };
        // What was read is held while the link is frozen.
        if link.wait_for(|link| *link != Link::Frozen).await.is_err() {
            return;
        }
        if to.write_all(&bytes[..read]).await.is_err() {
            return;
        }
    }
}
