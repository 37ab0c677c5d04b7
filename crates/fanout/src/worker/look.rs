//! Keeping time: a wheel over the slab. In each step a tenth of the sockets is looked at, so each is seen once a second,
//! and no socket has a timer.

use std::mem;
use std::time::Instant;

use super::Worker;
use super::socket::Stage;
use crate::frame::{self, Code, Opcode};
use crate::limits::{STEP, STEPS};
use crate::meters::Via;
use crate::says::Say;

impl Worker {
    /// One step.
    pub(super) fn look(&mut self) {
        // Missed steps are not made up for: whatever is due stays due.
        self.next_look = Instant::now() + STEP;
        self.step = (self.step + 1) % STEPS;
        // In case the kernel had no files for the last one that wanted in.
        self.accepting = self.listener.is_some();
        let mut key = self.step as usize;
        while key < self.sockets.capacity() {
            if self.sockets.contains(key) {
                self.look_at(key);
            }
            key += STEPS as usize;
        }
        self.look_at_waiting();
    }

    fn look_at(&mut self, key: usize) {
        let (now, timing) = (self.now, self.shared.config.timing.clone());
        let Some(socket) = self.sockets.get_mut(key) else { return };
        socket.frames = 0;
        if socket.blocked && now >= socket.stuck.after(timing.stall) {
            self.shared.meters.stalled.increment(1);
            return self.drop_socket(key);
        }
        if socket.via().is_some() && now >= socket.expires {
            return self.close(key, Code::Expired);
        }
        if socket.via() == Some(Via::WebSocket) && now >= socket.heard.after(timing.silence) {
            self.shared.meters.silent.increment(1);
            return self.drop_socket(key);
        }
        if socket.via() == Some(Via::WebSocket)
            && !socket.noticed
            && now.after(timing.notice) >= socket.expires
        {
            socket.noticed = true;
            let in_seconds = now.until(socket.expires).as_secs();
            socket.say(&Say::TokenExpiring { in_seconds });
            self.settle(key);
        }
        if self.sockets.get(key).is_none_or(|socket| now < socket.due) {
            return;
        }
        self.recheck(key);
        let Some(socket) = self.sockets.get_mut(key) else { return };
        match socket.stage {
            Stage::Head | Stage::Ending => self.drop_socket(key),
            Stage::Open(Via::Poll) => self.answer_poll(key),
            Stage::Open(Via::WebSocket) => {
                socket.due = now.after(timing.ping);
                // One that is blocked is judged by what it takes.
                if !socket.blocked {
                    frame::write(&mut socket.more().control, Opcode::Ping, &[]);
                    self.flow(key);
                }
            }
            Stage::Open(Via::Sse) => {
                socket.due = now.after(timing.comment);
                if !socket.blocked {
                    socket.more().control.extend_from_slice(b":\n\n");
                    self.flow(key);
                }
            }
        }
    }

    /// Who waits for a match that is not to be had is told so: no question stays without an answer.
    fn look_at_waiting(&mut self) {
        let (now, start) = (self.now, self.shared.config.timing.start);
        let mut late = Vec::new();
        for topic in self.topics.waiting() {
            for waiting in topic.waiting.iter_mut().filter(|waiting| now >= waiting.since.after(start)) {
                if !mem::replace(&mut waiting.told, true) {
                    late.push((waiting.key, topic.shared.clone()));
                }
            }
        }
        for (key, topic) in late {
            if let Some(socket) = self.sockets.get_mut(key) {
                socket.say(&Say::paused(&topic.name, "shard_unreachable"));
            }
            self.settle(key);
        }
    }
}
