//! Ends: of a socket, of a worker.

use std::net::Shutdown;
use std::sync::atomic::Ordering;

use super::Worker;
use super::socket::Stage;
use crate::frame::{self, Code};
use crate::meters::Via;
use crate::says::Say;
use crate::server::Phase;

impl Worker {
    /// Closes a socket for that reason: what it was being given is finished, the reason follows, and nothing after it.
    pub(super) fn close(&mut self, key: usize, code: Code) {
        let Some(socket) = self.sockets.get_mut(key) else { return };
        match socket.stage {
            Stage::Open(Via::WebSocket) => {
                self.shared.meters.closed(code);
                self.close_as(key, Some(code as u16));
            }
            Stage::Open(Via::Sse) => {
                self.shared.meters.closed(code);
                if code == Code::Expired {
                    socket.say(&Say::Error { detail: "the token has expired; come back with another" });
                }
                self.finish(key);
            }
            Stage::Open(Via::Poll) => {
                let now = self.now;
                if let Some(poll) = &mut socket.more().poll {
                    *poll = (now, false);
                }
                self.answer_poll(key);
            }
            Stage::Head => self.drop_socket(key),
            Stage::Ending => {}
        }
    }

    /// Closes a WebSocket with that code, or with none.
    pub(super) fn close_as(&mut self, key: usize, code: Option<u16>) {
        let Some(socket) = self.sockets.get_mut(key) else { return };
        frame::write_close(&mut socket.more().control, code);
        self.finish(key);
    }

    /// Lets out what is left, and then ends.
    fn finish(&mut self, key: usize) {
        self.leave(key);
        let due = self.now.after(self.shared.config.timing.close);
        let Some(socket) = self.sockets.get_mut(key) else { return };
        (socket.stage, socket.due) = (Stage::Ending, due);
        if let Some(more) = &mut socket.more {
            (more.partial, more.early) = Default::default();
        }
        self.flow(key);
    }

    /// Everything was written: if it was the end, the client is told so, and is waited for to close its side. Closing at
    /// once with something unread would reset the connection, and lose what is on its way.
    pub(super) fn shut(&mut self, key: usize) {
        let Some(socket) = self.sockets.get_mut(key) else { return };
        if socket.stage == Stage::Ending && !socket.shut {
            socket.shut = true;
            if socket.stream.shutdown(Shutdown::Write).is_err() {
                self.drop_socket(key);
            }
        }
    }

    /// Takes a socket out of all lists and counts.
    pub(super) fn leave(&mut self, key: usize) {
        let Some(socket) = self.sockets.get_mut(key) else { return };
        let (via, subs) = (socket.via(), std::mem::take(&mut socket.subs));
        socket.viewer = None;
        if let Some(via) = via {
            self.shared.meters.sockets(via).decrement(1);
            self.shared.leave_socket();
        }
        for sub in subs {
            self.forget(key, sub);
        }
    }

    /// Cuts a connection.
    pub(super) fn drop_socket(&mut self, key: usize) {
        self.leave(key);
        if self.sockets.try_remove(key).is_some() {
            self.load.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Does what the server's phase asks, once.
    pub(super) fn follow_phase(&mut self) {
        let phase = self.shared.phase();
        if phase == self.phase {
            return;
        }
        self.phase = phase;
        if phase >= Phase::Ending {
            self.listener = None;
            let keys: Vec<usize> = self.sockets.iter().map(|(key, _)| key).collect();
            keys.into_iter().for_each(|key| self.close(key, Code::GoingAway));
        }
    }

    /// Whether there is nothing more to do.
    pub(super) fn is_over(&self) -> bool {
        self.phase == Phase::Over || (self.phase == Phase::Ending && self.sockets.is_empty())
    }

    /// Cuts what is still there.
    pub(super) fn drop_all(&mut self) {
        let keys: Vec<usize> = self.sockets.iter().map(|(key, _)| key).collect();
        keys.into_iter().for_each(|key| self.drop_socket(key));
    }
}

/// HTTP's name of a status.
pub(super) fn reason(status: u16) -> &'static str {
    http::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason()).unwrap_or("Error")
}
