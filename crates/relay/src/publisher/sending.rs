//! One subscription of one connection: a position in a topic, and what may be sent from there.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::Hub;
use super::topic::{Key, State, Topic, Wake};
use crate::duplex::{Duplex, Ended};
use crate::limits::HISTORY_REST;
use crate::replay::size;
use crate::wire::{self, Frame, Sub};
use crate::{Cursor, Message, NOT_HOSTED, Page};

/// What a subscription waits for after [`Sending::fill`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// To be woken: by a message, an acknowledgement, a topic.
    Wake,
    /// For the socket to take what is written.
    Room,
    /// For the history after that cursor.
    Read(Cursor),
}

/// A subscription.
pub(crate) struct Sending {
    key: Key,
    name: String,
    topic: Option<Arc<Topic>>,
    /// What it asked for; once started, the last that it was sent.
    at: Option<Cursor>,
    started: bool,
    live: bool,
    told: Option<String>,
    /// From the history, to be sent before what the replay has.
    backlog: VecDeque<Message>,
    reading: Option<Cursor>,
    read_again_at: Option<Instant>,
    /// Sent and not confirmed: offsets and bytes.
    unconfirmed: VecDeque<(u64, usize)>,
    unconfirmed_bytes: usize,
    progress_at: Instant,
    /// It stands in its connection's list of what to do.
    pub(crate) listed: bool,
}

impl Sending {
    pub(crate) fn new(key: Key, name: String, asked: Option<Cursor>) -> Sending {
        Sending {
            key,
            name,
            topic: None,
            at: asked,
            started: false,
            live: false,
            told: None,
            backlog: VecDeque::new(),
            reading: None,
            read_again_at: None,
            unconfirmed: VecDeque::new(),
            unconfirmed_bytes: 0,
            progress_at: Instant::now(),
            listed: false,
        }
    }

    fn sub(&self) -> Sub {
        self.key.1
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Writes as much as the taker may have now.
    pub(crate) fn fill(&mut self, duplex: &mut Duplex, hub: &Hub, wake: &Arc<Wake>) -> Need {
        loop {
            let Some(topic) = self.topic(hub, wake) else {
                self.tell_paused(duplex, Some(NOT_HOSTED));
                return Need::Wake;
            };
            let mut state = topic.state();
            if state.closed {
                drop(state);
                self.detach();
                continue;
            }
            if self.reading.is_some() {
                return Need::Wake;
            }
            // Only the pair is a place: an offset of another epoch, or one that this log never reached, says nothing.
            let known = |at: &Cursor| at.epoch == state.epoch && at.offset <= state.ring.head();
            let cursor = match self.at.filter(|at| self.started && known(at)) {
                Some(cursor) => cursor,
                None => {
                    self.forget_sent();
                    let offset = self.at.filter(known).map_or(0, |at| at.offset);
                    let wanted = Cursor { epoch: state.epoch, offset };
                    if offset < state.ring.after() && hub.history.is_some() {
                        return self.read(wanted);
                    }
                    let offset = offset.max(state.ring.after());
                    self.start(duplex, &mut state, Cursor { offset, ..wanted });
                    continue;
                }
            };
            let paused = state.paused.clone();
            self.tell_paused(duplex, paused.as_deref());
            if !duplex.has_room() {
                return Need::Room;
            }
            if !self.may_send(hub) {
                return Need::Wake;
            }
            let from_ring = || state.ring.from(cursor.offset).map(|mut messages| messages.next().cloned());
            match self.backlog.pop_front().map_or_else(from_ring, |message| Some(Some(message))) {
                Some(Some(message)) => self.send(duplex, cursor.epoch, &message),
                Some(None) => {
                    if !self.live {
                        self.live = true;
                        state.is_live(self.key);
                        duplex.put(&Frame::Live { sub: self.sub() });
                    }
                    return Need::Wake;
                }
                // What comes next has left the replay.
                None if hub.history.is_some() => return self.read(cursor),
                None => self.started = false,
            }
        }
    }

    /// What the history said to [`Need::Read`].
    pub(crate) fn read_done(&mut self, duplex: &mut Duplex, asked: Cursor, page: Result<Page, crate::Error>) {
        if self.reading != Some(asked) {
            return;
        }
        self.reading = None;
        let page = match page {
            Ok(page) => page,
            Err(error) => {
                tracing::warn!(topic = self.name, %error, "the history cannot be read; it is tried again");
                self.read_again_at = Some(Instant::now() + HISTORY_REST);
                self.reading = Some(asked);
                return;
            }
        };
        let Some(topic) = self.topic.clone() else { return };
        let mut state = topic.state();
        if state.epoch != asked.epoch {
            return;
        }
        let begins = Cursor { epoch: asked.epoch, offset: page.after.max(asked.offset) };
        if !self.started || begins != asked {
            self.start(duplex, &mut state, begins);
        }
        // The history may know what the topic does not yet; the replay gives that in its time.
        let below = state.ring.after();
        self.backlog.extend(page.messages.into_iter().filter(|m| m.offset <= below && wire::fits(m).is_ok()));
        if self.backlog.is_empty() {
            // Nothing lies between here and the replay: the records there could not be published.
            self.at = Some(Cursor { offset: begins.offset.max(below), ..begins });
        }
    }

    /// The taker has everything up to there.
    pub(crate) fn acked(&mut self, upto: Cursor) -> Result<(), Ended> {
        let Some(at) = self.at.filter(|at| self.started && at.epoch == upto.epoch) else { return Ok(()) };
        if upto.offset > at.offset {
            return Err(Ended::Protocol("it confirmed what it was not sent"));
        }
        let confirmed = self.unconfirmed.partition_point(|(offset, _)| *offset <= upto.offset);
        if confirmed > 0 {
            self.unconfirmed_bytes -=
                self.unconfirmed.drain(..confirmed).map(|(_, bytes)| bytes).sum::<usize>();
            self.progress_at = Instant::now();
        }
        if let Some(topic) = &self.topic {
            topic.ack(self.key, upto.epoch, upto.offset);
        }
        Ok(())
    }

    /// Gives the taker that much more time.
    pub(crate) fn forgive(&mut self, late: Duration) {
        self.progress_at += late;
    }

    /// Whether the taker has confirmed nothing for too long.
    pub(crate) fn is_stuck(&self, ack_max: Duration) -> bool {
        !self.unconfirmed.is_empty() && self.progress_at.elapsed() > ack_max
    }

    /// What to read again, if it is time.
    pub(crate) fn retry(&mut self) -> Option<Cursor> {
        self.read_again_at.take_if(|at| *at <= Instant::now()).and(self.reading)
    }

    /// Whether it waits for its topic to be hosted.
    pub(crate) fn is_waiting(&self) -> bool {
        self.topic.is_none()
    }

    fn topic(&mut self, hub: &Hub, wake: &Arc<Wake>) -> Option<Arc<Topic>> {
        if self.topic.is_none() {
            self.topic = hub.topic(&self.name);
            if let Some(topic) = &self.topic {
                topic.enter(self.key, wake);
            }
        }
        self.topic.clone()
    }

    fn detach(&mut self) {
        if let Some(topic) = self.topic.take() {
            topic.leave(self.key);
        }
        self.started = false;
        (self.reading, self.read_again_at) = (None, None);
    }

    fn forget_sent(&mut self) {
        self.started = false;
        self.live = false;
        self.backlog.clear();
        self.unconfirmed.clear();
        self.unconfirmed_bytes = 0;
    }

    fn start(&mut self, duplex: &mut Duplex, state: &mut State, after: Cursor) {
        self.forget_sent();
        self.at = Some(after);
        self.started = true;
        self.told.clone_from(&state.paused);
        state.begins(self.key, after.offset);
        duplex.put(&Frame::Start { sub: self.sub(), after, paused: state.paused.clone() });
    }

    fn read(&mut self, after: Cursor) -> Need {
        self.reading = Some(after);
        Need::Read(after)
    }

    fn may_send(&self, hub: &Hub) -> bool {
        let limits = &hub.limits;
        self.unconfirmed.len() < limits.window_messages
            && (self.unconfirmed.is_empty() || self.unconfirmed_bytes < limits.window_bytes)
    }

    fn send(&mut self, duplex: &mut Duplex, epoch: u32, message: &Message) {
        // The position moves first: whatever happens to these bytes, they are not sent twice on this connection.
        self.at = Some(Cursor { epoch, offset: message.offset });
        if self.unconfirmed.is_empty() {
            self.progress_at = Instant::now();
        }
        self.unconfirmed.push_back((message.offset, size(message)));
        self.unconfirmed_bytes += size(message);
        wire::message(duplex.output(), self.sub(), message);
    }

    fn tell_paused(&mut self, duplex: &mut Duplex, paused: Option<&str>) {
        if self.told.as_deref() == paused {
            return;
        }
        self.told = paused.map(str::to_owned);
        let sub = self.sub();
        duplex.put(&match paused {
            Some(reason) => Frame::Paused { sub, reason: reason.to_owned() },
            None => Frame::Resumed { sub },
        });
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        self.detach();
    }
}
