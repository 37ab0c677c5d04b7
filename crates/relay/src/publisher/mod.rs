//! The shard's side: topics, and the takers that come for them.

mod sending;
mod taker;
mod topic;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

use metrics::{counter, gauge};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::limits::{
    ACCEPT_REST, FRAME_BYTES_MAX, REASON_BYTES_MAX, TAKERS_MAX, TOPIC_BYTES_MAX, TOPICS_MAX, TRIM_EVERY,
};
use crate::{Connection, Error, History, Kept, Limits, Message, Replay, wire};
use topic::Topic;

/// What connections share.
pub(crate) struct Hub {
    limits: Limits,
    history: Option<Arc<dyn History>>,
    topics: RwLock<HashMap<String, Arc<Topic>>>,
    /// Grows with every topic that is opened, for those who wait for one.
    opened: watch::Sender<u64>,
    connections: AtomicU64,
}

impl Hub {
    fn topic(&self, name: &str) -> Option<Arc<Topic>> {
        self.topics.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }
}

/// Publishes topics to whoever connects. Clones are handles to one publisher.
#[derive(Clone)]
pub struct Publisher {
    hub: Arc<Hub>,
}

impl Publisher {
    /// Without a history, what has left the replay is gone: a taker that asks for it starts anew.
    pub fn new(limits: Limits, history: Option<Arc<dyn History>>) -> Publisher {
        let hub = Hub {
            limits,
            history,
            topics: RwLock::default(),
            opened: watch::Sender::new(0),
            connections: AtomicU64::new(0),
        };
        Publisher { hub: Arc::new(hub) }
    }

    /// Serves takers on a bound listener until `shutdown`; then every connection is closed.
    pub async fn serve(&self, listener: TcpListener, shutdown: CancellationToken) {
        let open = Arc::new(Semaphore::new(TAKERS_MAX));
        // Dropped with this function, so that a publisher that is gone is gone for its takers.
        let mut takers = JoinSet::new();
        let mut trim = tokio::time::interval(TRIM_EVERY);
        trim.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            // With no place left, the kernel's queue holds who comes next.
            let accepted = tokio::select! {
                () = shutdown.cancelled() => break,
                _ = trim.tick() => {
                    self.trim();
                    continue;
                }
                Some(_) = takers.join_next() => continue,
                accepted = async { (open.clone().acquire_owned().await, listener.accept().await) } => accepted,
            };
            let (place, (socket, peer)) = match accepted {
                (Ok(place), Ok(accepted)) => (place, accepted),
                (_, Err(error)) => {
                    tracing::warn!(%error, "cannot accept a taker");
                    tokio::time::sleep(ACCEPT_REST).await;
                    continue;
                }
                (Err(_), _) => break,
            };
            let (publisher, shutdown) = (self.clone(), shutdown.clone());
            takers.spawn(async move {
                if let Ok(connection) = Connection::tcp(socket) {
                    let peer = peer.to_string();
                    shutdown.run_until_cancelled(publisher.serve_one(connection, &peer)).await;
                }
                drop(place);
            });
        }
        drop(listener);
        while takers.join_next().await.is_some() {}
    }

    /// Serves one taker, over whatever connection it came, until that ends. `peer` is for logs.
    pub async fn serve_one(&self, connection: Connection, peer: &str) {
        let number = self.hub.connections.fetch_add(1, Ordering::Relaxed);
        gauge!("relay_takers").increment(1.0);
        // Also when this is dropped.
        let _gone = Gone;
        let ended = taker::run(self.hub.clone(), number, connection).await;
        counter!("relay_takers_ended_total", "reason" => ended.reason()).increment(1);
        tracing::info!(peer, reason = %ended, "a taker's connection ended");
    }

    /// Lets go of what is too old in topics where nothing happens any more.
    fn trim(&self) {
        let topics = self.hub.topics.read().unwrap_or_else(PoisonError::into_inner);
        topics.values().for_each(|topic| topic.state().ring.trim(now_us()));
    }

    /// Offers a topic with what it holds so far, or begins it anew: with another epoch every taker starts anew.
    ///
    /// # Errors
    /// A name that is too long, or too many topics.
    pub fn open(
        &self,
        topic: &str,
        epoch: u32,
        replay: Replay,
        messages: impl IntoIterator<Item = Message>,
    ) -> Result<(), Error> {
        let mut kept = Kept::new(replay);
        for message in messages {
            kept.push(message);
        }
        self.open_with(topic, epoch, kept)
    }

    /// The same, with what was kept while it was read.
    ///
    /// # Errors
    /// As [`Publisher::open`].
    pub fn open_with(&self, topic: &str, epoch: u32, mut kept: Kept) -> Result<(), Error> {
        within("topic", topic.len(), TOPIC_BYTES_MAX)?;
        kept.trim(now_us());
        let mut topics = self.hub.topics.write().unwrap_or_else(PoisonError::into_inner);
        match topics.get(topic) {
            Some(standing) => standing.reopen(epoch, kept),
            None if topics.len() >= TOPICS_MAX => {
                return Err(Error::TooMany { what: "topics", max: TOPICS_MAX });
            }
            None => drop(topics.insert(topic.to_owned(), Arc::new(Topic::new(epoch, kept)))),
        }
        gauge!("relay_topics").set(topics.len() as f64);
        drop(topics);
        self.hub.opened.send_modify(|n| *n = n.wrapping_add(1));
        Ok(())
    }

    /// Takes a topic away; takers are told that it is not hosted.
    pub fn close(&self, topic: &str) {
        let mut topics = self.hub.topics.write().unwrap_or_else(PoisonError::into_inner);
        let closed = topics.remove(topic);
        gauge!("relay_topics").set(topics.len() as f64);
        drop(topics);
        if let Some(closed) = closed {
            closed.close();
        }
    }

    /// Gives the next message to every taker.
    ///
    /// # Errors
    /// No such topic, a message that no frame can carry, or an offset that is not new.
    pub fn publish(&self, topic: &str, message: Message) -> Result<(), Error> {
        wire::fits(&message).map_err(|len| Error::TooLarge { what: "message", len, max: FRAME_BYTES_MAX })?;
        let offset = message.offset;
        self.topic(topic)?.publish(message, now_us()).map_err(|head| Error::Backwards {
            topic: topic.to_owned(),
            offset,
            head,
        })?;
        counter!("relay_published_total").increment(1);
        Ok(())
    }

    /// Tells every taker that nothing will come for a while, and why (a word; 128 bytes at most).
    ///
    /// # Errors
    /// No such topic, or a reason that is too long.
    pub fn paused(&self, topic: &str, reason: &str) -> Result<(), Error> {
        within("reason", reason.len(), REASON_BYTES_MAX)?;
        self.topic(topic)?.pause(Some(reason.to_owned()));
        Ok(())
    }

    /// Tells every taker that it goes on; nothing if it was not paused.
    ///
    /// # Errors
    /// No such topic.
    pub fn resumed(&self, topic: &str) -> Result<(), Error> {
        self.topic(topic)?.pause(None);
        Ok(())
    }

    /// The offset up to which every live taker has confirmed all; none without a live taker. Live is who has once had
    /// everything and was not dropped since.
    ///
    /// # Errors
    /// No such topic.
    pub fn acked(&self, topic: &str) -> Result<Option<u64>, Error> {
        Ok(self.topic(topic)?.state().acked())
    }

    /// Returns when every live taker has confirmed that offset (at once without a live taker).
    ///
    /// # Errors
    /// No such topic.
    pub async fn settled(&self, topic: &str, offset: u64) -> Result<(), Error> {
        let topic = self.topic(topic)?;
        let mut settled = topic.settled();
        // The sender lives as long as `topic`, so the wait cannot fail.
        let done = |_: &u64| topic.state().acked().is_none_or(|acked| acked >= offset);
        let _ = settled.wait_for(done).await;
        Ok(())
    }

    /// The epoch of a topic; none if it is not hosted.
    pub fn epoch(&self, topic: &str) -> Option<u32> {
        self.hub.topic(topic).map(|topic| topic.state().epoch)
    }

    /// Subscriptions to a topic, catching up or live.
    pub fn takers(&self, topic: &str) -> usize {
        self.hub.topic(topic).map_or(0, |topic| topic.state().takers())
    }

    fn topic(&self, name: &str) -> Result<Arc<Topic>, Error> {
        self.hub.topic(name).ok_or_else(|| Error::NoTopic(name.to_owned()))
    }
}

/// One taker less.
struct Gone;

impl Drop for Gone {
    fn drop(&mut self) {
        gauge!("relay_takers").decrement(1.0);
    }
}

fn within(what: &'static str, len: usize, max: usize) -> Result<(), Error> {
    if len <= max { Ok(()) } else { Err(Error::TooLarge { what, len, max }) }
}

fn now_us() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}
