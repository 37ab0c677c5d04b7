//! Writing: everything that a socket is still to get, in one call.

use std::fmt::Write as _;
use std::io::{ErrorKind, Write as _};

use super::socket::{HELD, Socket, Stage};
use super::topics::Topics;
use crate::cursor::{self, Asked};
use crate::frame::{self, Opcode};
use crate::limits::WRITE_BYTES;
use crate::meters::Via;
use crate::ring::Entry;
use crate::says::{Encoding, Say};
use crate::times::Tick;

/// How a socket stands after it was written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pumped {
    /// It has got everything.
    All,
    /// The kernel takes no more.
    Blocked,
    /// It is broken.
    Gone,
}

/// What a worker writes with. It belongs to no socket, so that none has buffers.
#[derive(Debug, Default)]
pub(super) struct Desk {
    out: Vec<u8>,
    text: String,
    /// Events that were given out.
    pub(super) deliveries: u64,
    /// Subscriptions that fell out of their ring.
    pub(super) lost: u64,
}

impl Desk {
    /// Writes what a socket is to get, as long as the kernel takes it.
    pub(super) fn pump(&mut self, socket: &mut Socket, key: usize, topics: &Topics, now: Tick) -> Pumped {
        let encoding = socket.encoding;
        // Nearly always: one event, which lies ready, and nothing else. The cursor moves first.
        if let Some(entry) = only(socket, topics) {
            self.deliveries += 1;
            return write(socket, entry.frame(encoding), now);
        }
        loop {
            self.compose(socket, key, topics);
            if self.out.is_empty() {
                socket.blocked = false;
                socket.tidy();
                return Pumped::All;
            }
            let pumped = write(socket, &self.out, now);
            if pumped != Pumped::All {
                return pumped;
            }
            if self.out.len() < WRITE_BYTES {
                socket.tidy();
                return Pumped::All;
            }
        }
    }

    /// Begins an SSE event that says where the client is, before it is said anything else: a browser keeps that even
    /// if no event follows.
    pub(super) fn id(&mut self, socket: &mut Socket, key: usize, topics: &Topics) {
        self.text.clear();
        ids(&mut self.text, socket, key, topics);
        let control = &mut socket.more().control;
        control.extend_from_slice(b"id: ");
        control.extend_from_slice(self.text.as_bytes());
        control.push(b'\n');
    }

    /// Puts together up to [`WRITE_BYTES`] of what the socket is to get, and moves its cursors.
    fn compose(&mut self, socket: &mut Socket, key: usize, topics: &Topics) {
        self.out.clear();
        if let Some(more) = &mut socket.more {
            self.out.append(&mut more.rest);
            if let Some(ping) = more.ping.take() {
                frame::write(&mut self.out, Opcode::Pong, &ping);
            }
            self.out.append(&mut more.control);
            (more.rest, more.control) = Default::default();
        }
        let Stage::Open(Via::WebSocket | Via::Sse) = socket.stage else { return };
        let single = socket.encoding != Encoding::Sse || socket.subs.len() == 1;
        for n in 0..socket.subs.len() {
            let Some(topic) = topics.get(socket.subs[n].topic) else { continue };
            let Some(ring) = topic.ready() else { continue };
            loop {
                let sub = &mut socket.subs[n];
                if sub.next == HELD || self.out.len() >= WRITE_BYTES {
                    break;
                }
                if sub.turns_live() {
                    self.out.extend_from_slice(&topic.live[socket.encoding as usize]);
                }
                if sub.next < ring.first() {
                    // It was replaying so slowly that the ring went on without it.
                    sub.begin(ring.next(), ring.next());
                    self.lost += 1;
                    Say::snapshot_required(topic.name(), ring.end()).write(socket.encoding, &mut self.out);
                    continue;
                }
                let Some(entry) = ring.get(sub.next) else { break };
                sub.next += 1;
                if entry.frame(socket.encoding).is_empty() {
                    continue;
                }
                self.deliveries += 1;
                if single {
                    self.out.extend_from_slice(entry.frame(socket.encoding));
                } else {
                    self.event(entry, socket, key, topics);
                }
            }
        }
    }

    /// An event of SSE that says where the client is in each of its matches.
    fn event(&mut self, entry: &Entry, socket: &Socket, key: usize, topics: &Topics) {
        self.text.clear();
        ids(&mut self.text, socket, key, topics);
        self.out.extend_from_slice(b"id: ");
        self.out.extend_from_slice(self.text.as_bytes());
        self.out.extend_from_slice(b"\ndata: ");
        let line = entry.json().iter().map(|b| if matches!(b, b'\n' | b'\r') { b' ' } else { *b });
        self.out.extend(line);
        self.out.extend_from_slice(b"\n\n");
    }
}

/// The event, if it is the only thing that a socket is to get; its cursor is past it then.
fn only<'t>(socket: &mut Socket, topics: &'t Topics) -> Option<&'t Entry> {
    let several = socket.subs.len() > 1 && socket.encoding == Encoding::Sse;
    if socket.more.is_some() || several || !matches!(socket.stage, Stage::Open(Via::WebSocket | Via::Sse)) {
        return None;
    }
    let mut found = None;
    for (n, sub) in socket.subs.iter().enumerate() {
        if sub.next == HELD {
            continue;
        }
        let ring = topics.get(sub.topic)?.ready()?;
        if sub.next >= ring.next() && !sub.is_catching_up() {
            continue;
        }
        let alone = sub.next + 1 == ring.next() && !sub.is_catching_up() && found.is_none();
        if !alone {
            return None;
        }
        found = Some((n, ring.get(sub.next).filter(|entry| !entry.frame(socket.encoding).is_empty())?));
    }
    let (n, entry) = found?;
    socket.subs[n].next += 1;
    Some(entry)
}

/// Bytes of live events that a socket has not got; what was asked to be replayed does not count, and counting ends
/// above `most`.
pub(super) fn owed(socket: &Socket, topics: &Topics, most: usize) -> usize {
    let mut owed = socket.more.as_ref().map_or(0, |more| more.rest.len());
    for sub in socket.subs.iter().filter(|sub| sub.next != HELD) {
        let Some(ring) = topics.get(sub.topic).and_then(|topic| topic.ready()) else { continue };
        let mut at = sub.next.max(sub.counts_from());
        while let Some(entry) = ring.get(at).filter(|_| owed <= most) {
            owed += entry.frame(socket.encoding).len();
            at += 1;
        }
    }
    owed
}

/// Appends where a client is in all its matches: what it brings back as `Last-Event-ID`.
pub(super) fn ids(to: &mut String, socket: &Socket, key: usize, topics: &Topics) {
    for sub in &socket.subs {
        let Some(topic) = topics.get(sub.topic) else { continue };
        match &topic.ring {
            Some(ring) if sub.next != HELD => cursor::push(to, topic.name(), ring.at(sub.next)),
            _ => match topic.waiting.iter().find(|waiting| waiting.key == key).map(|waiting| waiting.asked) {
                Some(Asked::After(cursor)) => cursor::push(to, topic.name(), cursor),
                // It must come back as one that had something, or it would miss what happens until then.
                Some(Asked::Unknown) => {
                    let _ = write!(to, "{}{}:?", if to.is_empty() { "" } else { "," }, topic.name());
                }
                Some(Asked::New) | None => {}
            },
        }
    }
}

/// Writes that, and keeps what is not taken.
fn write(socket: &mut Socket, bytes: &[u8], now: Tick) -> Pumped {
    let taken = loop {
        match socket.stream.write(bytes) {
            Ok(0) => return Pumped::Gone,
            Ok(taken) => break taken,
            Err(error) if error.kind() == ErrorKind::WouldBlock => break 0,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return Pumped::Gone,
        }
    };
    if taken == bytes.len() {
        socket.blocked = false;
        return Pumped::All;
    }
    if !socket.blocked || taken > 0 {
        socket.stuck = now;
    }
    socket.blocked = true;
    socket.more().rest = bytes[taken..].to_vec();
    Pumped::Blocked
}
