//! The one task that decides: it takes what waits, makes what follows from it durable in one append, then answers.

mod rounds;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot, watch};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use super::clock::Clock;
use super::core::{Core, Outcome};
use super::letters::{DeadLetter, Letters, cut};
use super::limits::{BATCH_MAX, TICK};
use super::meters;
use super::spine::{Ending, Spine};
use super::status::{Seen, Status};
use crate::Event;
use crate::catalog::Catalog;
use crate::feeds::{Answer, Range, Rejected, Said, Statement, Unreadable};

/// What a provider said, and its bytes.
pub(super) struct Heard {
    pub(super) raw: bytes::Bytes,
    pub(super) said: Result<Said, Unreadable>,
}

/// What a connection is told.
#[derive(Debug)]
pub(super) enum Tell {
    Ack(u64),
    Resend(Vec<Range>),
    Rejected(Rejected),
}

/// Who is to be answered, and how.
pub(super) enum Reply {
    /// One request, one answer.
    Once(oneshot::Sender<Answer>),
    /// A connection by its number; the permit lets it be read on.
    Connection(u64, OwnedSemaphorePermit),
}

/// What the desk is asked.
pub(super) enum Ask {
    /// A provider said something. `only`: the one match that it may speak of.
    Said { provider: String, only: Option<String>, heard: Vec<Heard>, reply: Reply },
    /// A connection is open; the answer is what is contiguously known.
    Joined { provider: String, connection: u64, tell: mpsc::Sender<Tell>, after: oneshot::Sender<u64> },
    /// It is closed.
    Left { provider: String, connection: u64 },
    /// What stands of a match, for a scorer's page.
    State { provider: String, match_id: String, reply: oneshot::Sender<State> },
    /// How all feeds are.
    Status(oneshot::Sender<Status>),
}

/// What a scorer's page begins with.
pub(super) struct State {
    pub(super) acked: u64,
    pub(super) next_seq: u64,
    pub(super) missing: Vec<Range>,
    pub(super) events: Vec<Event>,
}

struct Connection {
    number: u64,
    tell: mpsc::Sender<Tell>,
    acked: u64,
}

pub(super) struct Desk {
    pub(super) core: Core,
    pub(super) spine: Spine,
    catalog: watch::Receiver<Arc<Catalog>>,
    connections: BTreeMap<String, Vec<Connection>>,
    /// Every feed of the configuration, and whoever else has spoken.
    seen: BTreeMap<String, Seen>,
    /// The same for each match that a provider speaks of.
    spoken: BTreeMap<(String, String), Seen>,
    letters: Letters,
    clock: Clock,
}

/// What came of a batch, before it is durable.
#[derive(Default)]
struct Batch {
    events: Vec<Event>,
    letters: Vec<store::New>,
    replies: Vec<(String, Reply, Vec<Rejected>)>,
}

impl Desk {
    pub(super) fn new(
        core: Core,
        spine: Spine,
        catalog: watch::Receiver<Arc<Catalog>>,
        feeds: impl Iterator<Item = String>,
    ) -> Desk {
        Desk {
            core,
            spine,
            catalog,
            connections: BTreeMap::new(),
            seen: feeds.map(|feed| (feed, Seen::default())).collect(),
            spoken: BTreeMap::new(),
            letters: Letters::default(),
            clock: Clock::new(),
        }
    }

    /// Works until `shutdown`. What waits then was not acknowledged.
    pub(super) async fn run(mut self, mut asks: mpsc::Receiver<Ask>, shutdown: CancellationToken) {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let done = tokio::select! {
                () = shutdown.cancelled() => break,
                ask = asks.recv() => match ask {
                    Some(ask) => self.batch(ask, &mut asks).await,
                    None => break,
                },
                _ = tick.tick() => self.tick().await,
            };
            if done.is_err() {
                break;
            }
        }
    }

    /// This and what waits behind it, up to a bound, as one append.
    async fn batch(&mut self, first: Ask, asks: &mut mpsc::Receiver<Ask>) -> Result<(), Ending> {
        let (mut said, mut statements) = (Vec::new(), 0);
        let mut next = Some(first);
        while let Some(ask) = next.take() {
            match ask {
                Ask::Said { provider, only, heard, reply } => {
                    statements += heard.len();
                    said.push((provider, only, heard, reply));
                }
                other => self.other(other).await?,
            }
            if statements < BATCH_MAX {
                next = asks.try_recv().ok();
            }
        }
        if said.is_empty() {
            return Ok(());
        }
        let catalog = self.catalog.borrow().clone();
        let touched = said.iter().flat_map(|(_, _, heard, _)| heard).filter_map(|heard| match &heard.said {
            Ok(Said::Statement(statement)) => Some(statement.match_id.clone()),
            _ => None,
        });
        let touched: BTreeSet<String> = touched.collect();
        // Another ingest may have written: what it published must not be published again, nor overtaken.
        self.spine.recall(&mut self.core, &catalog, &touched).await?;
        let mut batch = Batch::default();
        for (provider, only, heard, reply) in said {
            let mut rejected = Vec::new();
            for Heard { raw, said } in heard {
                if let Err(Unreadable { seq, why }) =
                    self.hear(&provider, only.as_deref(), said, &catalog, &mut batch.events)
                {
                    let at_ms = self.clock.now_ms();
                    let letter = DeadLetter {
                        provider: provider.clone(),
                        seq,
                        why: why.clone(),
                        said: cut(&raw),
                        at_ms,
                    };
                    batch.letters.extend(self.letters.write(&letter));
                    rejected.push(Rejected { seq, why });
                }
            }
            batch.replies.push((provider, reply, rejected));
        }
        self.spine.append(&mut self.core, &catalog, &batch.events, batch.letters).await?;
        self.answer(batch.replies);
        Ok(())
    }

    fn hear(
        &mut self,
        provider: &str,
        only: Option<&str>,
        said: Result<Said, Unreadable>,
        catalog: &Catalog,
        publish: &mut Vec<Event>,
    ) -> Result<(), Unreadable> {
        let now_ms = self.clock.now_ms();
        let seen = self.seen.entry(provider.to_owned()).or_default();
        seen.last_ms = Some(now_ms);
        let (seq, why) = match said {
            Ok(Said::Gone(ranges)) => {
                self.core.gone(provider, &ranges, now_ms, publish);
                return Ok(());
            }
            Ok(Said::Statement(statement)) if only.is_some_and(|only| only != statement.match_id) => {
                (Some(statement.seq), "this feed is of another match".to_owned())
            }
            Ok(Said::Statement(statement)) => {
                let Statement { seq, ref match_id, venue_ms, .. } = statement;
                let (match_id, age_ms) = (match_id.clone(), now_ms - venue_ms);
                seen.age_ms = Some(age_ms);
                let outcome = self.core.take(provider, statement, catalog, now_ms, publish);
                meters::decided(provider, &match_id, &outcome, age_ms);
                match outcome {
                    Outcome::Refused(why) => return Err(Unreadable { seq: Some(seq), why }),
                    // What is refused may name a match that nobody has.
                    _ => {
                        let spoken = Seen { last_ms: Some(now_ms), age_ms: Some(age_ms) };
                        self.spoken.insert((provider.to_owned(), match_id), spoken);
                        return Ok(());
                    }
                }
            }
            Err(Unreadable { seq, why }) => (seq, why),
        };
        if let Some(seq) = seq {
            self.core.unreadable(provider, seq, now_ms, publish);
        }
        Err(Unreadable { seq, why })
    }

    /// Everything decided is durable: now it may be said.
    fn answer(&mut self, replies: Vec<(String, Reply, Vec<Rejected>)>) {
        let now_ms = self.clock.now_ms();
        let mut pushed = BTreeSet::new();
        for (provider, reply, rejected) in replies {
            match reply {
                Reply::Once(reply) => {
                    // Who asks over HTTP is told of every gap each time; this counts how often.
                    self.core.ask(&provider, now_ms);
                    let (acked, missing) = (self.core.contiguous(&provider), self.core.missing(&provider));
                    // Who no longer waits will ask again.
                    let _ = reply.send(Answer { acked, missing, rejected });
                }
                Reply::Connection(number, permit) => {
                    let connections = self.connections.get(&provider).into_iter().flatten();
                    if let Some(connection) = connections.into_iter().find(|c| c.number == number) {
                        for rejected in rejected {
                            let _ = connection.tell.try_send(Tell::Rejected(rejected));
                        }
                    }
                    pushed.insert(provider);
                    drop(permit);
                }
            }
        }
        for provider in pushed {
            self.acknowledge(&provider);
        }
    }

    /// Acknowledgements are cumulative: one that does not fit is said again by the next tick.
    fn acknowledge(&mut self, provider: &str) {
        let contiguous = self.core.contiguous(provider);
        for connection in self.connections.get_mut(provider).into_iter().flatten() {
            if connection.acked != contiguous && connection.tell.try_send(Tell::Ack(contiguous)).is_ok() {
                connection.acked = contiguous;
            }
        }
    }

    async fn other(&mut self, ask: Ask) -> Result<(), Ending> {
        match ask {
            Ask::Said { .. } => {}
            Ask::Joined { provider, connection: number, tell, after } => {
                let acked = self.core.contiguous(&provider);
                let _ = after.send(acked);
                self.connections.entry(provider).or_default().push(Connection { number, tell, acked });
            }
            Ask::Left { provider, connection } => {
                self.connections.entry(provider).or_default().retain(|known| known.number != connection);
            }
            Ask::State { provider, match_id, reply } => {
                let catalog = self.catalog.borrow().clone();
                self.spine.recall(&mut self.core, &catalog, &BTreeSet::from([match_id.clone()])).await?;
                let _ = reply.send(State {
                    acked: self.core.contiguous(&provider),
                    next_seq: self.core.newest_seq(&provider) + 1,
                    missing: self.core.missing(&provider),
                    events: self.core.standing(&match_id).cloned().collect(),
                });
            }
            Ask::Status(reply) => drop(reply.send(self.status())),
        }
        Ok(())
    }
}
