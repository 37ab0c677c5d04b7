//! Tying sockets to matches.

use std::sync::Arc;

use smallvec::SmallVec;

use super::Worker;
use super::socket::{HELD, Sub, Viewer};
use super::topics::Waiting;
use crate::cursor::{Asked, is_match};
use crate::deps::Refusal;
use crate::limits::{MATCHES_PER_SOCKET_MAX, TOPICS_MAX};
use crate::meters::{Via, Why};
use crate::register;
use crate::says::{Encoding, Say};

impl Worker {
    /// Ties a socket to a match, from there; one that it has already is begun again. It waits for
    /// [`Worker::resolve_all`].
    ///
    /// # Errors
    ///
    /// Why not; it is said already.
    pub(super) fn tie(&mut self, key: usize, name: &str, asked: Asked) -> Result<(), Refusal> {
        self.unsubscribe(key, name);
        let result = self.admit(key, name);
        let topic = match result {
            Ok(topic) => topic,
            Err((why, refusal)) => {
                self.shared.meters.refused(why);
                if let Some(socket) = self.sockets.get_mut(key) {
                    socket.say(&Say::refused(name, &refusal));
                }
                return Err(refusal);
            }
        };
        let Some(socket) = self.sockets.get_mut(key) else {
            topic.leave();
            return Ok(());
        };
        self.shared.meters.subscriptions.increment(1);
        let known = self.topics.open(&topic);
        let at = known.subscribers.len() as u32;
        known.subscribers.push(key as u32);
        socket.subs.push(Sub::held(topic.id, at));
        let told = known.paused.is_some();
        if let Some(reason) = &known.paused {
            socket.say(&Say::paused(name, reason));
        }
        known.waiting.push(Waiting { key, asked, since: self.now, told });
        Ok(())
    }

    /// Answers what a socket waits for, as far as it is known. Separate from tying, so that where a client is in all its
    /// matches can be told with the first answer.
    pub(super) fn resolve_all(&mut self, key: usize) {
        let Some(socket) = self.sockets.get(key) else { return };
        let held: SmallVec<[u32; 2]> =
            socket.subs.iter().filter(|sub| sub.next == HELD).map(|sub| sub.topic).collect();
        for id in held {
            let Some(topic) = self.topics.get_mut(id).filter(|topic| topic.ready().is_some()) else {
                continue;
            };
            if let Some(n) = topic.waiting.iter().position(|waiting| waiting.key == key) {
                let waiting = topic.waiting.swap_remove(n);
                self.resolve(key, id, waiting.asked);
            }
        }
    }

    /// Everything that must be so before a match is opened for a viewer; in doubt it is not.
    fn admit(&self, key: usize, name: &str) -> Result<Arc<register::Topic>, (Why, Refusal)> {
        let no = |why, status, title: &str, detail: &str| {
            Err((why, Refusal { status, title: title.to_owned(), detail: detail.to_owned() }))
        };
        let socket = self.sockets.get(key);
        let Some((socket, viewer)) = socket.and_then(|socket| Some((socket, socket.viewer.as_ref()?))) else {
            return no(Why::Entitlement, 403, "Forbidden", "nobody is known at this connection");
        };
        if !is_match(name) {
            return no(Why::Entitlement, 404, "Not Found", "no match can have that id");
        }
        if socket.subs.len() >= MATCHES_PER_SOCKET_MAX {
            let detail = format!("a connection follows at most {MATCHES_PER_SOCKET_MAX} matches");
            return no(Why::Matches, 429, "Too Many Requests", &detail);
        }
        self.entitled(viewer, name).map_err(|refusal| (Why::Entitlement, refusal))?;
        match self.shared.open(name) {
            Some(topic) => Ok(topic),
            None => {
                let detail = format!("more than {TOPICS_MAX} matches are being followed");
                no(Why::Matches, 503, "Service Unavailable", &detail)
            }
        }
    }

    /// Takes off a socket what its viewer may no longer see: a blackout may come late, and a new token say less.
    pub(super) fn recheck(&mut self, key: usize) {
        let Some(socket) = self.sockets.get(key) else { return };
        let Some(viewer) = socket.viewer.clone() else { return };
        let name = |sub: &Sub| self.topics.get(sub.topic).map(|topic| topic.name().to_owned());
        let names: Vec<String> = socket.subs.iter().filter_map(name).collect();
        for name in names {
            let Err(refusal) = self.entitled(&viewer, &name) else { continue };
            self.shared.meters.refused(Why::Entitlement);
            self.unsubscribe(key, &name);
            if let Some(socket) = self.sockets.get_mut(key) {
                socket.say(&Say::refused(&name, &refusal));
            }
        }
    }

    fn entitled(&self, viewer: &Viewer, name: &str) -> Result<(), Refusal> {
        if !viewer.claims.matches.as_ref().is_none_or(|list| list.iter().any(|one| one == name)) {
            let detail = "the token is for other matches".to_owned();
            return Err(Refusal { status: 403, title: "Forbidden".to_owned(), detail });
        }
        self.shared.deps.admit.may(&viewer.claims, name, viewer.country.as_deref())
    }

    /// Answers a subscription, now that its match is known.
    pub(super) fn resolve(&mut self, key: usize, id: u32, asked: Asked) {
        let (Some(socket), Some(topic)) = (self.sockets.get_mut(key), self.topics.get(id)) else { return };
        let (Some(ring), poll) = (topic.ready(), socket.via() == Some(Via::Poll)) else { return };
        let (next, say) = match asked {
            Asked::New => (ring.next(), Some(Say::subscribed(topic.name(), ring.end()))),
            Asked::After(cursor) => match ring.after(cursor) {
                // A long-poll knows where it is, and waits for more than that.
                Some(next) => (next, (!poll).then(|| Say::subscribed(topic.name(), cursor))),
                None => (ring.next(), Some(Say::snapshot_required(topic.name(), ring.end()))),
            },
            Asked::Unknown => (ring.next(), Some(Say::snapshot_required(topic.name(), ring.end()))),
        };
        let live_at = ring.next();
        if let Some(sub) = socket.sub(id) {
            sub.begin(next, live_at);
            if poll {
                sub.quietly();
            }
        }
        let Some(say) = say else { return };
        if matches!(say, Say::SnapshotRequired { .. }) {
            self.shared.meters.snapshots.increment(1);
        }
        if socket.encoding == Encoding::Sse && !poll {
            self.desk.id(socket, key, &self.topics);
        }
        socket.say(&say);
    }

    /// Takes a match off a socket, if it is there.
    pub(super) fn unsubscribe(&mut self, key: usize, name: &str) {
        let Some(socket) = self.sockets.get_mut(key) else { return };
        let named = |sub: &Sub| self.topics.get(sub.topic).is_some_and(|topic| topic.name() == name);
        if let Some(n) = socket.subs.iter().position(named) {
            let sub = socket.subs.swap_remove(n);
            self.forget(key, sub);
        }
    }

    /// Takes a socket off a match's list. The last of the list takes its place.
    pub(super) fn forget(&mut self, key: usize, sub: Sub) {
        let Some(topic) = self.topics.get_mut(sub.topic) else { return };
        topic.waiting.retain(|waiting| waiting.key != key);
        topic.subscribers.swap_remove(sub.at as usize);
        if topic.subscribers.is_empty() {
            topic.subscribers = Vec::new();
        }
        if let Some(&moved) = topic.subscribers.get(sub.at as usize)
            && let Some(other) = self.sockets.get_mut(moved as usize).and_then(|socket| socket.sub(sub.topic))
        {
            other.at = sub.at;
        }
        topic.shared.leave();
        self.shared.meters.subscriptions.decrement(1);
    }
}
