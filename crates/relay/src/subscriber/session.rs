//! Connections, one after the other, and what is said on them.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use metrics::{counter, gauge};
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::subs::{Phase, Shared};
use crate::duplex::{self, Connection, Duplex, Ended};
use crate::limits::{SETTLED_AFTER, TOPIC_BYTES_MAX, TOPICS_MAX};
use crate::wire::{Frame, Sub};
use crate::{Jitter, Limits, NOT_HOSTED, TOO_MANY};

/// A connection under way.
pub(crate) type Dialing = Pin<Box<dyn Future<Output = io::Result<Connection>> + Send>>;

/// Where a connection may be had.
pub(crate) struct Target {
    /// For logs.
    address: String,
    dial: Box<dyn Fn() -> Dialing + Send + Sync>,
}

impl Target {
    pub(crate) fn new(address: String, dial: Box<dyn Fn() -> Dialing + Send + Sync>) -> Target {
        Target { address, dial }
    }

    /// `host:port`.
    pub(crate) fn tcp(address: String) -> Target {
        let to = address.clone();
        let dial = move || -> Dialing {
            let to = to.clone();
            Box::pin(async move { Connection::tcp(TcpStream::connect(to).await?) })
        };
        Target::new(address, Box::new(dial))
    }
}

/// Connects, and again, for ever.
pub(crate) async fn run(shared: Arc<Shared>, targets: Vec<Target>, name: String, limits: Limits) {
    let mut jitter = Jitter::new(limits.retry_min, limits.retry_max, fastrand::Rng::new());
    // With no address there is never a connection, and everyone is told so.
    for target in targets.iter().cycle() {
        let address = &target.address;
        let began = Instant::now();
        let Err(ended) = connected(&shared, target, &name, &limits).await;
        shared.lock().lost();
        counter!("relay_connections_lost_total", "reason" => ended.reason()).increment(1);
        gauge!("relay_connected").set(0.0);
        if began.elapsed() > SETTLED_AFTER {
            jitter.reset();
        }
        let wait = jitter.next_wait();
        tracing::warn!(address, reason = %ended, wait_ms = wait.as_millis() as u64, "no connection to the shard");
        tokio::time::sleep(wait).await;
    }
    shared.lock().lost();
}

async fn connected(
    shared: &Shared,
    target: &Target,
    name: &str,
    limits: &Limits,
) -> Result<Infallible, Ended> {
    let greeted = async {
        let mut duplex = Duplex::new((target.dial)().await?, name);
        loop {
            if let Some(frame) = duplex.next()? {
                duplex::greeted(frame)?;
                return Ok::<_, Ended>(duplex);
            }
            duplex.turn().await?;
        }
    };
    let duplex = duplex::within(limits.connect_max, greeted).await.ok_or(Ended::Silent)??;
    gauge!("relay_connected").set(1.0);
    shared.lock().connected();
    let mut session = Session { shared, duplex, keys: HashMap::new(), next: 0 };
    session.serve(limits).await
}

struct Session<'a> {
    shared: &'a Shared,
    duplex: Duplex,
    /// Whose a number of this connection is.
    keys: HashMap<Sub, u64>,
    next: Sub,
}

impl Session<'_> {
    async fn serve(&mut self, limits: &Limits) -> Result<Infallible, Ended> {
        let mut pulse = duplex::pulse(limits);
        loop {
            self.tell();
            tokio::select! {
                turned = self.duplex.turn() => turned?,
                () = self.shared.wake.notified() => {}
                _ = pulse.tick() => {
                    self.duplex.pulse(limits)?;
                }
            }
            while let Some(frame) = self.duplex.next()? {
                self.heard(frame)?;
            }
        }
    }

    /// Writes what the shard must know, as long as the socket takes it.
    fn tell(&mut self) {
        let mut subs = self.shared.lock();
        for sub in subs.gone.drain(..) {
            self.keys.remove(&sub);
            self.duplex.put(&Frame::Unsubscribe { sub });
        }
        while self.duplex.has_room()
            && let Some(key) = subs.changed.pop_first()
        {
            let Some(subscription) = subs.all.get_mut(&key) else { continue };
            match subscription.phase {
                // What it has not taken yet would only grow.
                Phase::Wanted if !subscription.is_drained() => {}
                Phase::Wanted if subscription.topic.len() > TOPIC_BYTES_MAX => subscription.pause(NOT_HOSTED),
                Phase::Wanted if self.keys.len() >= TOPICS_MAX => subscription.pause(TOO_MANY),
                Phase::Wanted => {
                    let sub = self.next;
                    self.next = self.next.wrapping_add(1);
                    self.keys.insert(sub, key);
                    subscription.phase = Phase::Asked(sub);
                    subscription.confirmed = None;
                    let (topic, after) = (subscription.topic.clone(), subscription.cursor);
                    self.duplex.put(&Frame::Subscribe { sub, topic, after });
                }
                Phase::Asked(_) => {}
                Phase::Running(sub) => {
                    let taken = subscription.taken.filter(|_| subscription.taken != subscription.confirmed);
                    if let Some(upto) = taken {
                        subscription.confirmed = Some(upto);
                        self.duplex.put(&Frame::Ack { sub, upto });
                    }
                }
            }
        }
    }

    fn heard(&mut self, frame: Frame) -> Result<(), Ended> {
        let sub = match &frame {
            Frame::Start { sub, .. }
            | Frame::Message { sub, .. }
            | Frame::Live { sub }
            | Frame::Paused { sub, .. }
            | Frame::Resumed { sub }
            | Frame::Dropped { sub } => *sub,
            _ => return Err(Ended::Protocol("a frame that only takers send")),
        };
        // On its way when it was unsubscribed.
        let Some(key) = self.keys.get(&sub) else { return Ok(()) };
        let mut subs = self.shared.lock();
        let Some(subscription) = subs.all.get_mut(key) else { return Ok(()) };
        match frame {
            Frame::Start { after, paused, .. } => subscription.start(sub, after, paused),
            Frame::Message { message, .. } => {
                if !subscription.message(message, self.shared.queue_max)? {
                    counter!("relay_redelivered_total").increment(1);
                }
            }
            Frame::Live { .. } => subscription.live(),
            Frame::Paused { reason, .. } => subscription.pause(&reason),
            Frame::Resumed { .. } => subscription.resume(),
            _ => {
                subscription.phase = Phase::Wanted;
                subs.changed.insert(*key);
                self.keys.remove(&sub);
            }
        }
        Ok(())
    }
}
