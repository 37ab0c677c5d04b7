//! Spreading what feeds say over the sockets.

use std::mem;
use std::sync::Arc;

use super::Worker;
use super::pump::{Pumped, owed};
use super::socket::{HELD, Stage};
use super::topics::Waiting;
use crate::cursor::Asked;
use crate::feed::core::Note;
use crate::frame::Code;
use crate::limits::UNSENT_BYTES_MAX;
use crate::meters::Via;
use crate::register;
use crate::ring::Ring;
use crate::says::{Encoding, Say};
use crate::times::utc_us;

/// More than this at once is a source that was away and has come back: nobody is slow who has not taken that yet.
/// It is judged by what comes after, and by whether it takes anything at all.
const LARGE_BYTES: usize = UNSENT_BYTES_MAX / 2;

impl Worker {
    /// Takes what is new of a match. Events are written by [`Worker::flush`]; what else there is comes after those
    /// before it.
    pub(super) fn note(&mut self, shared: &Arc<register::Topic>, note: Note) {
        let id = shared.id;
        let topic = self.topics.open(shared);
        match note {
            Note::Events(entries) => {
                let Some(ring) = &mut topic.ring else { return };
                for entry in entries.iter() {
                    ring.push(entry.clone());
                }
                if !topic.loading && !mem::replace(&mut topic.dirty, true) {
                    self.dirty.push(id);
                }
            }
            Note::Begin(after) => {
                self.flush();
                self.void(id, Ring::new(after));
            }
            Note::First(after) => {
                let ring = Ring::new(after);
                let next = ring.next();
                topic.flushed = Some(next);
                (topic.ring, topic.loading) = (Some(ring), true);
                for &key in &topic.subscribers {
                    let sub = self.sockets.get_mut(key as usize).and_then(|socket| socket.sub(id));
                    if let Some(sub) = sub.filter(|sub| sub.next != HELD) {
                        sub.begin(next, next);
                        sub.quietly();
                    }
                }
            }
            Note::Live => {
                topic.loading = false;
                // Whoever waits for nothing but the first events gets them with all others.
                if !mem::replace(&mut topic.dirty, true) {
                    self.dirty.push(id);
                }
                for waiting in mem::take(&mut topic.waiting) {
                    self.resolve(waiting.key, id, waiting.asked);
                    self.settle(waiting.key);
                }
            }
            Note::Paused(reason) => {
                self.flush();
                self.tell_all(id, &Say::paused(&shared.name, &reason));
                if let Some(topic) = self.topics.get_mut(id) {
                    topic.paused = Some(reason);
                }
            }
            Note::Resumed => {
                self.flush();
                self.tell_all(id, &Say::FeedResumed { match_id: &shared.name });
                if let Some(topic) = self.topics.get_mut(id) {
                    topic.paused = None;
                }
            }
        }
    }

    /// Whoever is subscribed must begin anew, once the match is known again.
    fn void(&mut self, id: u32, ring: Ring) {
        let Some(topic) = self.topics.get_mut(id) else { return };
        topic.flushed = None;
        topic.ring = Some(ring);
        topic.loading = true;
        for &key in &topic.subscribers {
            let sub = self.sockets.get_mut(key as usize).and_then(|socket| socket.sub(id));
            if let Some(sub) = sub.filter(|sub| sub.next != HELD) {
                sub.next = HELD;
                let (key, asked) = (key as usize, Asked::Unknown);
                topic.waiting.push(Waiting { key, asked, since: self.now, told: topic.paused.is_some() });
            }
        }
    }

    /// A control frame for everybody in a match.
    fn tell_all(&mut self, id: u32, say: &Say<'_>) {
        let Some(topic) = self.topics.get(id) else { return };
        let (frames, keys) = (say.all(), topic.subscribers.clone());
        for key in keys {
            let key = key as usize;
            let Some(socket) = self.sockets.get_mut(key) else { continue };
            match socket.stage {
                Stage::Open(Via::Poll) => {
                    socket.say(say);
                    self.settle(key);
                }
                Stage::Open(_) => {
                    let encoding = socket.encoding as usize;
                    socket.more().control.extend_from_slice(&frames[encoding]);
                    self.settle(key);
                }
                Stage::Head | Stage::Ending => {}
            }
        }
    }

    /// Writes what is new to all whom it concerns: one call a socket, whatever came.
    pub(super) fn flush(&mut self) {
        if self.dirty.is_empty() {
            return;
        }
        let dirty = mem::take(&mut self.dirty);
        for &id in &dirty {
            let Some(topic) = self.topics.get_mut(id) else { continue };
            topic.dirty = false;
            self.spread(id);
        }
        self.dirty = dirty;
        self.dirty.clear();
    }

    fn spread(&mut self, id: u32) {
        let Some(topic) = self.topics.get_mut(id) else { return };
        let keys = mem::take(&mut topic.subscribers);
        let next = topic.ring.as_ref().map_or(0, Ring::next);
        // What was loaded is old, and nobody was waiting for it.
        let from = topic.flushed.replace(next).unwrap_or(next);
        let forgiven =
            topic.ring.as_ref().filter(|ring| ring.bytes_since(from) > LARGE_BYTES).map(Ring::next);
        // Ends are kept for later: they change the list that is walked.
        let (mut gone, mut slow, mut polls) = (Vec::new(), Vec::new(), Vec::new());
        for &key in &keys {
            let key = key as usize;
            let Some(socket) = self.sockets.get_mut(key) else { continue };
            if let (Some(until), Some(sub)) = (forgiven, socket.sub(id)) {
                sub.forgive(until);
            }
            match socket.stage {
                Stage::Open(Via::Poll) => polls.push(key),
                Stage::Open(_) if socket.blocked => {
                    if owed(socket, &self.topics, UNSENT_BYTES_MAX) > UNSENT_BYTES_MAX {
                        slow.push(key);
                    }
                }
                Stage::Open(_) => match self.desk.pump(socket, key, &self.topics, self.now) {
                    Pumped::All => {}
                    Pumped::Gone => gone.push(key),
                    Pumped::Blocked => {
                        if owed(socket, &self.topics, UNSENT_BYTES_MAX) > UNSENT_BYTES_MAX {
                            slow.push(key);
                        }
                    }
                },
                Stage::Head | Stage::Ending => {}
            }
        }
        if let Some(topic) = self.topics.get_mut(id) {
            topic.subscribers = keys;
        }
        self.measure(id, from);
        gone.into_iter().for_each(|key| self.drop_socket(key));
        slow.into_iter().for_each(|key| self.close(key, Code::Slow));
        polls.into_iter().for_each(|key| self.answer_poll(key));
    }

    /// How old the events were when the last socket had them.
    fn measure(&self, id: u32, from: u64) {
        let Some(topic) = self.topics.get(id).filter(|topic| !topic.subscribers.is_empty()) else { return };
        let Some(ring) = topic.ready() else { return };
        let now_us = utc_us();
        for entry in (from.max(ring.first())..ring.next()).filter_map(|offset| ring.get(offset)) {
            if !entry.frame(Encoding::Json).is_empty() {
                self.shared.meters.flush.record((now_us - entry.ingest_us).max(0) as f64 / 1e6);
            }
        }
    }
}
