//! Long-polls: one answer with what there is, and the connection waits for the next request.

use super::Worker;
use super::pump::ids;
use super::socket::{HELD, Stage};
use crate::limits::{KEEP_ALIVE_MAX, POLL_BYTES_MAX};
use crate::meters::Via;
use crate::says::Say;

impl Worker {
    /// Answers a long-poll, if there is something to answer with, or its time is over.
    pub(super) fn answer_poll(&mut self, key: usize) {
        let Some(socket) = self.sockets.get_mut(key) else { return };
        let Stage::Open(Via::Poll) = socket.stage else { return };
        let (now, topics) = (self.now, &self.topics);
        let Some((until, keep)) = socket.more.as_ref().and_then(|more| more.poll) else { return };
        let mut says = std::mem::take(&mut socket.more().says);
        let over = now >= until;
        let mut bytes: usize = says.iter().map(String::len).sum();
        let mut events: Vec<&[u8]> = Vec::new();
        for sub in &mut socket.subs {
            let Some(topic) = topics.get(sub.topic) else { continue };
            if let (true, Some(reason)) = (over, &topic.paused) {
                let say = Say::paused(topic.name(), reason).json();
                if !says.contains(&say) {
                    says.push(say);
                }
            }
            let Some(ring) = topic.ready().filter(|_| sub.next != HELD) else { continue };
            if sub.next < ring.first() {
                says.push(Say::snapshot_required(topic.name(), ring.end()).json());
                sub.next = ring.next();
            }
            while let Some(entry) = ring.get(sub.next).filter(|_| bytes < POLL_BYTES_MAX) {
                sub.next += 1;
                if !entry.json().is_empty() {
                    bytes += entry.json().len();
                    events.push(entry.json());
                }
            }
        }
        if says.is_empty() && events.is_empty() && !over {
            return;
        }
        self.desk.deliveries += events.len() as u64;
        let mut body = String::from("{\"events\":[").into_bytes();
        for one in says.iter().map(String::as_bytes).chain(events) {
            if !body.ends_with(b"[") {
                body.push(b',');
            }
            body.extend_from_slice(one);
        }
        let mut id = String::new();
        ids(&mut id, socket, key, topics);
        body.extend_from_slice(format!("],\"last_event_id\":\"{id}\"}}").as_bytes());
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
             X-Accel-Buffering: no\r\nAccess-Control-Allow-Origin: *\r\nConnection: {}\r\n\r\n",
            body.len(),
            if keep { "keep-alive" } else { "close" },
        );
        let more = socket.more();
        more.poll = None;
        more.control.extend_from_slice(head.as_bytes());
        more.control.extend_from_slice(&body);
        self.shared.meters.sockets(Via::Poll).decrement(1);
        self.shared.leave_socket();
        socket.stage = if keep { Stage::Head } else { Stage::Ending };
        socket.due = now.after(if keep { KEEP_ALIVE_MAX } else { self.shared.config.timing.close });
        for sub in std::mem::take(&mut socket.subs) {
            self.forget(key, sub);
        }
        self.flow(key);
        if keep {
            self.resume_head(key);
        }
    }
}
