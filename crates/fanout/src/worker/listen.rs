//! Hearing what clients say.

use std::io::{ErrorKind, Read};
use std::mem;
use std::sync::Arc;

use super::Worker;
use super::socket::{Stage, Viewer};
use crate::frame::{self, Code, Opcode, Said};
use crate::limits::{CLIENT_FRAMES_PER_S_MAX, CONTROL_BYTES_MAX, HEAD_BYTES_MAX, READS_PER_TURN};
use crate::meters::Via;
use crate::ops::Op;
use crate::says::{Encoding, Say};

impl Worker {
    /// Reads what has come, into a buffer that all sockets of the worker share.
    pub(super) fn hear(&mut self, key: usize, to_the_end: bool) {
        for _ in 0..READS_PER_TURN {
            let mut read = mem::take(&mut self.read);
            let result = match self.sockets.get_mut(key) {
                Some(socket) => socket.stream.read(&mut read),
                None => Err(ErrorKind::WouldBlock.into()),
            };
            let len = read.len();
            if let Ok(n) = result {
                self.take_bytes(key, &mut read[..n]);
            }
            self.read = read;
            match result {
                Ok(0) => return self.drop_socket(key),
                // Less than there was room for: that was all. What comes later is told anew (epoll, edge-triggered).
                Ok(n) if n < len && !to_the_end => return,
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return self.drop_socket(key),
            }
        }
        // No viewer says that much at once.
        self.drop_socket(key);
    }

    fn take_bytes(&mut self, key: usize, bytes: &mut [u8]) {
        let Some(socket) = self.sockets.get_mut(key).filter(|_| !bytes.is_empty()) else { return };
        socket.heard = self.now;
        let mut early = socket.more.as_mut().map(|more| mem::take(&mut more.early)).unwrap_or_default();
        if early.is_empty() {
            let used = self.consume(key, bytes);
            self.keep(key, bytes[used..].to_vec());
        } else {
            early.extend_from_slice(bytes);
            let used = self.consume(key, &mut early);
            early.drain(..used);
            self.keep(key, early);
        }
    }

    /// A request, after what came before it was answered; or the first.
    pub(super) fn resume_head(&mut self, key: usize) {
        let early = self.sockets.get_mut(key).and_then(|socket| socket.more.as_mut());
        let Some(mut early) = early.map(|more| mem::take(&mut more.early)) else { return };
        let used = self.consume(key, &mut early);
        early.drain(..used);
        self.keep(key, early);
    }

    /// Keeps what is not whole yet.
    fn keep(&mut self, key: usize, rest: Vec<u8>) {
        let Some(socket) = self.sockets.get_mut(key) else { return };
        if rest.len() > HEAD_BYTES_MAX {
            return self.drop_socket(key);
        }
        if !rest.is_empty() {
            socket.more().early = rest;
        }
        socket.tidy();
    }

    /// Takes what is whole. How many bytes that was.
    fn consume(&mut self, key: usize, bytes: &mut [u8]) -> usize {
        let mut used = 0;
        while used < bytes.len() {
            match self.stage(key) {
                Some(Stage::Head) => match self.take_head(key, &bytes[used..]) {
                    Some(more) => used += more,
                    None => break,
                },
                Some(Stage::Open(Via::WebSocket)) => return used + self.take_frames(key, &mut bytes[used..]),
                // A request that comes early waits for its turn.
                Some(Stage::Open(Via::Poll)) => break,
                Some(Stage::Open(Via::Sse) | Stage::Ending) | None => return bytes.len(),
            }
        }
        used.min(bytes.len())
    }

    fn take_frames(&mut self, key: usize, bytes: &mut [u8]) -> usize {
        let mut used = 0;
        while self.stage(key) == Some(Stage::Open(Via::WebSocket)) {
            let Some(socket) = self.sockets.get_mut(key) else { break };
            let mut partial = socket.more.as_mut().and_then(|more| more.partial.take());
            let read = frame::read(&mut bytes[used..], &mut partial);
            if partial.is_some() {
                socket.more().partial = partial;
            }
            match read {
                Ok(None) => break,
                Ok(Some((len, said))) => {
                    used += len;
                    self.take_frame(key, said);
                }
                Err(code) => {
                    self.close(key, code);
                    return bytes.len();
                }
            }
        }
        self.settle(key);
        used
    }

    fn take_frame(&mut self, key: usize, said: Said<'_>) {
        let Some(socket) = self.sockets.get_mut(key) else { return };
        socket.frames = socket.frames.saturating_add(1);
        if socket.frames > CLIENT_FRAMES_PER_S_MAX {
            return self.close(key, Code::Policy);
        }
        match said {
            Said::Text(_) if socket.encoding == Encoding::Proto => self.close(key, Code::Unsupported),
            Said::Binary(_) if socket.encoding != Encoding::Proto => self.close(key, Code::Unsupported),
            Said::Text(text) => self.perform(key, Op::of_json(&text)),
            Said::Binary(bytes) => self.perform(key, Op::of_proto(&bytes)),
            Said::Ping(payload) => {
                let crowded = socket.control_len() + payload.len() > CONTROL_BYTES_MAX / 2;
                let more = socket.more();
                if crowded {
                    more.ping = Some(payload.to_vec());
                } else {
                    frame::write(&mut more.control, Opcode::Pong, payload);
                }
            }
            Said::Pong | Said::Part => {}
            Said::Close(code) => self.close_as(key, code),
        }
    }

    fn perform(&mut self, key: usize, op: Result<Op, Code>) {
        match op {
            Ok(Op::Subscribe { match_id, since }) => {
                if self.tie(key, &match_id, since).is_ok() {
                    self.resolve_all(key);
                }
            }
            Ok(Op::Unsubscribe { match_id }) => self.unsubscribe(key, &match_id),
            Ok(Op::Token { token }) => self.renew(key, &token),
            Ok(Op::Unknown) => {
                self.complain(key, "there are the operations subscribe, unsubscribe and token")
            }
            Err(code) => {
                self.complain(
                    key,
                    "a frame is one operation, such as {\"op\":\"subscribe\",\"match_id\":\"demo\"}",
                );
                self.close(key, code);
            }
        }
    }

    fn complain(&mut self, key: usize, detail: &str) {
        if let Some(socket) = self.sockets.get_mut(key) {
            socket.say(&Say::Error { detail });
        }
    }

    /// Takes a new token of the same viewer. One that does not hold changes nothing: the old one goes on to its end.
    fn renew(&mut self, key: usize, token: &str) {
        let identified = self.identify(Some(token));
        let Some(socket) = self.sockets.get_mut(key) else { return };
        let Some(viewer) = socket.viewer.clone() else { return };
        let (claims, expires) = match identified {
            Ok(known) if known.0.sub == viewer.claims.sub => known,
            Ok(_) => return self.complain(key, "the token is another viewer's"),
            Err(error) => return self.complain(key, &error.to_string()),
        };
        // What a trusted proxy said of the country stays; what the old token said does not.
        let said = viewer.country.clone().filter(|_| viewer.country != viewer.claims.country);
        socket.viewer = Some(Arc::new(Viewer { country: said.or_else(|| claims.country.clone()), claims }));
        (socket.expires, socket.noticed) = (expires, false);
        self.recheck(key);
    }

    /// Writes what was said to a socket, and closes it if it makes us say more than it takes.
    pub(super) fn settle(&mut self, key: usize) {
        let Some(socket) = self.sockets.get(key) else { return };
        if socket.via() == Some(Via::Poll) {
            return self.answer_poll(key);
        }
        self.flow(key);
        if self
            .sockets
            .get(key)
            .is_some_and(|socket| socket.via().is_some() && socket.control_len() > CONTROL_BYTES_MAX)
        {
            self.close(key, Code::Slow);
        }
    }
}
