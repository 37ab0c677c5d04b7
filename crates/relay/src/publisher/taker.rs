//! One connection of a taker's.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use metrics::counter;
use tokio::task::JoinSet;

use super::Hub;
use super::sending::{Need, Sending};
use super::topic::Wake;
use crate::duplex::{self, Connection as Carrier, Duplex, Ended};
use crate::limits::{HISTORY_PAGE, HISTORY_READS_MAX, SUBSCRIPTIONS_MAX};
use crate::wire::{Frame, Sub};
use crate::{Cursor, Error, Page};

/// Serves a connection until it ends.
pub(crate) async fn run(hub: Arc<Hub>, number: u64, carrier: Carrier) -> Ended {
    let served = async {
        let mut duplex = Duplex::new(carrier, "publisher");
        let greeted = duplex::within(hub.limits.connect_max, greeting(&mut duplex)).await;
        let name = greeted.ok_or(Ended::Silent)??;
        tracing::debug!(name, number, "a taker has come");
        Connection::new(hub, number, duplex).serve().await
    };
    let Err(ended) = served.await;
    ended
}

async fn greeting(duplex: &mut Duplex) -> Result<String, Ended> {
    loop {
        if let Some(frame) = duplex.next()? {
            return duplex::greeted(frame);
        }
        duplex.turn().await?;
    }
}

/// Whose, after what, and what came.
type Read = (Sub, Cursor, Result<Page, Error>);

struct Connection {
    hub: Arc<Hub>,
    number: u64,
    duplex: Duplex,
    wake: Arc<Wake>,
    subs: HashMap<Sub, Sending>,
    /// Which subscriptions may have something to send, in turn.
    todo: VecDeque<Sub>,
    reads: JoinSet<Read>,
    reads_waiting: VecDeque<(Sub, Cursor)>,
}

impl Connection {
    fn new(hub: Arc<Hub>, number: u64, duplex: Duplex) -> Connection {
        Connection {
            hub,
            number,
            duplex,
            wake: Arc::default(),
            subs: HashMap::new(),
            todo: VecDeque::new(),
            reads: JoinSet::new(),
            reads_waiting: VecDeque::new(),
        }
    }

    async fn serve(&mut self) -> Result<Infallible, Ended> {
        let mut opened = self.hub.opened.subscribe();
        let mut pulse = duplex::pulse(&self.hub.limits);
        loop {
            self.work();
            tokio::select! {
                turned = self.duplex.turn() => turned?,
                () = self.wake.marked() => {
                    for sub in self.wake.take() {
                        self.list(sub);
                    }
                }
                Ok(()) = opened.changed() => self.list_waiting(),
                Some(read) = self.reads.join_next() => self.read_done(read)?,
                _ = pulse.tick() => {
                    let late = self.duplex.pulse(&self.hub.limits)?;
                    self.look_after_subs(late);
                }
            }
            while let Some(frame) = self.duplex.next()? {
                self.heard(frame)?;
            }
        }
    }

    /// Lets subscriptions write in turn, as long as the socket takes it.
    fn work(&mut self) {
        while self.duplex.has_room()
            && let Some(number) = self.todo.pop_front()
        {
            let Some(sub) = self.subs.get_mut(&number) else { continue };
            sub.listed = false;
            match sub.fill(&mut self.duplex, &self.hub, &self.wake) {
                Need::Wake => {}
                Need::Room => self.list(number),
                Need::Read(after) => self.read(number, after),
            }
        }
    }

    fn heard(&mut self, frame: Frame) -> Result<(), Ended> {
        match frame {
            Frame::Subscribe { sub, topic, after } => {
                if self.subs.len() >= SUBSCRIPTIONS_MAX {
                    return Err(Ended::Protocol("too many subscriptions"));
                }
                let sending = Sending::new((self.number, sub), topic, after);
                if self.subs.insert(sub, sending).is_some() {
                    return Err(Ended::Protocol("a subscription's number came twice"));
                }
                self.list(sub);
            }
            // It may have been dropped meanwhile.
            Frame::Unsubscribe { sub } => drop(self.subs.remove(&sub)),
            Frame::Ack { sub, upto } => {
                if let Some(sending) = self.subs.get_mut(&sub) {
                    sending.acked(upto)?;
                    self.list(sub);
                }
            }
            _ => return Err(Ended::Protocol("a frame that only publishers send")),
        }
        Ok(())
    }

    fn list(&mut self, number: Sub) {
        if let Some(sub) = self.subs.get_mut(&number)
            && !std::mem::replace(&mut sub.listed, true)
        {
            self.todo.push_back(number);
        }
    }

    fn list_waiting(&mut self) {
        let waiting: Vec<Sub> = self.subs.iter().filter(|(_, s)| s.is_waiting()).map(|(n, _)| *n).collect();
        for sub in waiting {
            self.list(sub);
        }
    }

    fn read(&mut self, number: Sub, after: Cursor) {
        self.reads_waiting.push_back((number, after));
        self.start_reads();
    }

    fn start_reads(&mut self) {
        while self.reads.len() < HISTORY_READS_MAX
            && let Some((number, after)) = self.reads_waiting.pop_front()
        {
            let Some((sub, history)) = self.subs.get(&number).zip(self.hub.history.clone()) else { continue };
            let topic = sub.name().to_owned();
            self.reads.spawn(async move {
                (number, after, history.read(&topic, after.epoch, after.offset, HISTORY_PAGE).await)
            });
        }
    }

    fn read_done(&mut self, read: Result<Read, tokio::task::JoinError>) -> Result<(), Ended> {
        // Nobody knows whose it was, so all of them come back from their cursors.
        let (number, asked, page) = read.map_err(|_| Ended::Protocol("reading the history panicked"))?;
        if let Some(sub) = self.subs.get_mut(&number) {
            sub.read_done(&mut self.duplex, asked, page);
            self.list(number);
        }
        self.start_reads();
        Ok(())
    }

    /// Lets go of takers that do not drain; for `late` this process could not have heard them.
    fn look_after_subs(&mut self, late: Duration) {
        let ack_max = self.hub.limits.ack_max;
        self.subs.values_mut().for_each(|sub| sub.forgive(late));
        for (number, sub) in self.subs.extract_if(|_, sub| sub.is_stuck(ack_max)) {
            counter!("relay_subscriptions_dropped_total").increment(1);
            tracing::warn!(topic = sub.name(), "a taker does not drain; its subscription is dropped");
            self.duplex.put(&Frame::Dropped { sub: number });
        }
        let again: Vec<_> = self.subs.iter_mut().filter_map(|(n, sub)| Some((*n, sub.retry()?))).collect();
        for (number, after) in again {
            self.read(number, after);
        }
    }
}
