//! Bringing connections in: accepting them, reading what each wants, letting it in or not.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Interest, Token};
use pass::{Claims, LEEWAY_S};
use tracing::{debug, warn};

use super::Worker;
use super::socket::{Socket, Stage, Viewer};
use super::{Order, end};
use crate::admission::retry_after_s;
use crate::cursor::Asked;
use crate::head::{self, Ask, Fault, PROTO, Transport};
use crate::limits::{ACCEPTS_PER_TURN, PREFLIGHT_MAX_AGE_S, REFUSALS_MAX};
use crate::meters::{Via, Why};
use crate::says::Encoding;
use crate::server::Phase;
use crate::times::{NEVER, Tick};

impl Worker {
    /// Takes connections from the kernel and hands each to the worker that has the fewest.
    pub(super) fn accept(&mut self) {
        for _ in 0..ACCEPTS_PER_TURN {
            let Some(listener) = &self.listener else { break };
            match listener.accept() {
                Ok((stream, _)) => self.hand_out(stream),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                Err(error) => {
                    // Mostly: no more files. The next look tries again.
                    warn!(%error, "cannot accept a connection");
                    break;
                }
            }
            if !self.orders.is_empty() {
                // Published meanwhile: that goes first, and the rest is taken in the next turn.
                return;
            }
        }
        self.accepting = false;
    }

    fn hand_out(&mut self, stream: TcpStream) {
        let workers = self.shared.workers.clone();
        let held: usize = workers.iter().map(super::Inbox::load).sum();
        let Some(least) = workers.iter().min_by_key(|worker| worker.load()) else { return };
        if held >= self.shared.config.sockets_max.saturating_add(REFUSALS_MAX) {
            self.shared.meters.refused(Why::Full);
            return;
        }
        least.count();
        if Arc::ptr_eq(&least.load, &self.load) {
            self.add(stream, Vec::new());
        } else if !least.offer(Order::Socket(stream, Vec::new())) {
            least.uncount();
            self.shared.meters.refused(Why::Full);
        }
    }

    /// Takes a connection that this worker was given, and counted for it already.
    pub(super) fn add(&mut self, mut stream: TcpStream, early: Vec<u8>) {
        let entry = self.sockets.vacant_entry();
        let key = entry.key();
        let interest = Interest::READABLE | Interest::WRITABLE;
        if let Err(error) = self.poll.registry().register(&mut stream, Token(key), interest) {
            warn!(%error, "cannot wait for a connection");
            self.load.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        let mut socket = Socket::new(stream, self.now, self.shared.config.timing.head);
        if !early.is_empty() {
            socket.more().early = early;
        }
        entry.insert(socket);
        self.resume_head(key);
    }

    /// Reads the request at the beginning of `bytes`. How many bytes that took; `None`: more are needed.
    pub(super) fn take_head(&mut self, key: usize, bytes: &[u8]) -> Option<usize> {
        let mut room = head::room();
        let head = match head::read(bytes, &mut room) {
            Ok(None) => return None,
            Ok(Some(head)) => head,
            Err(fault) => {
                self.refuse_request(key, fault);
                return Some(bytes.len());
            }
        };
        if !head.is_stream() {
            self.hand_over(key, bytes);
            return Some(bytes.len());
        }
        // Before anything is spent on it.
        if !head.is_preflight()
            && let Some(why) = self.turn_away(key)
        {
            self.refuse(key, 503, why);
            return Some(bytes.len());
        }
        let used = head.len;
        match head.ask(self.shared.config.country_header.as_deref()) {
            Ok(ask) => self.enter(key, ask),
            Err(fault) => self.refuse_request(key, fault),
        }
        Some(used)
    }

    /// Why nobody can be let in now.
    fn turn_away(&self, key: usize) -> Option<Why> {
        if self.shared.phase() >= Phase::Leaving {
            return Some(Why::Draining);
        }
        if self.shared.sockets() >= self.shared.config.sockets_max {
            return Some(Why::Full);
        }
        let known = self.sockets.get(key).is_some_and(|socket| socket.known);
        (!known && !self.shared.bucket.take(Instant::now())).then_some(Why::Rate)
    }

    fn enter(&mut self, key: usize, ask: Ask) {
        if ask.transport == Transport::Preflight {
            let lines = format!(
                "Access-Control-Allow-Methods: GET\r\nAccess-Control-Allow-Headers: authorization, content-type, \
                 last-event-id\r\nAccess-Control-Max-Age: {PREFLIGHT_MAX_AGE_S}\r\n"
            );
            return self.answer(key, 204, &lines, &[]);
        }
        let (claims, expires) = match self.identify(ask.token.as_deref()) {
            Ok(known) => known,
            Err(error) => return self.refuse_with(key, 401, Why::Token, &error.to_string()),
        };
        let now = self.now;
        let timing = &self.shared.config.timing;
        let Some(socket) = self.sockets.get_mut(key) else { return };
        socket.viewer =
            Some(Arc::new(Viewer { country: ask.country.or_else(|| claims.country.clone()), claims }));
        (socket.expires, socket.noticed, socket.known) = (expires, false, true);
        socket.encoding = Encoding::Json;
        let via = match ask.transport {
            Transport::WebSocket { accept, protocol } => {
                if protocol == Some(PROTO) {
                    socket.encoding = Encoding::Proto;
                }
                let protocol = protocol.map(|name| format!("Sec-WebSocket-Protocol: {name}\r\n"));
                let head = format!(
                    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                     Sec-WebSocket-Accept: {accept}\r\n{}\r\n",
                    protocol.unwrap_or_default(),
                );
                socket.more().control.extend_from_slice(head.as_bytes());
                socket.due = now.after(some_of(timing.ping));
                Via::WebSocket
            }
            Transport::Sse => {
                socket.encoding = Encoding::Sse;
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store, no-transform\r\n\
                     X-Accel-Buffering: no\r\nAccess-Control-Allow-Origin: *\r\nConnection: close\r\n\r\n\
                     retry: {}\n\n",
                    // Browsers do not draw it themselves, and would all come back in step.
                    fastrand::u32(1_000..5_000),
                );
                socket.more().control.extend_from_slice(head.as_bytes());
                socket.due = now.after(some_of(timing.comment));
                Via::Sse
            }
            Transport::Poll { wait } => {
                socket.due = now.after(wait);
                socket.more().poll = Some((now.after(wait), ask.keep));
                Via::Poll
            }
            Transport::Preflight => return,
        };
        socket.stage = Stage::Open(via);
        self.shared.meters.sockets(via).increment(1);
        self.shared.enter_socket();
        self.begin(key, via, ask.matches);
    }

    /// Subscribes a new socket to what it asked for. One that can do nothing else is refused if it may see none of it.
    fn begin(&mut self, key: usize, via: Via, matches: Vec<(String, Asked)>) {
        let mut refused = None;
        let mut some = false;
        for (name, asked) in matches {
            match self.tie(key, &name, asked) {
                Ok(()) => some = true,
                Err(refusal) => refused = refused.or(Some(refusal)),
            }
        }
        if let Some(refusal) = refused.filter(|_| !some && via != Via::WebSocket) {
            if let Some(socket) = self.sockets.get_mut(key) {
                socket.more = None;
            }
            return self.answer_problem(key, refusal.status, &refusal.title, &refusal.detail);
        }
        self.resolve_all(key);
        self.settle(key);
    }

    /// Who brings that token, and when it ends.
    pub(super) fn identify(&self, token: Option<&str>) -> Result<(Claims, Tick), pass::Error> {
        let Some(keys) = &self.shared.deps.keys else {
            let nobody = Claims { exp: i64::MAX, ..Claims::default() };
            return Ok((nobody, NEVER));
        };
        let keys = keys.borrow().clone();
        let now_s = self.shared.clock.utc_s();
        let claims = keys.verify(token.ok_or(pass::Error::Form)?, now_s)?;
        // From here on the monotonic clock counts: nobody lives longer because a wall clock is set back.
        let left = claims.exp.saturating_add(LEEWAY_S).saturating_sub(now_s).max(0) as u64;
        Ok((claims, self.now.after(Duration::from_secs(left))))
    }

    fn refuse_request(&mut self, key: usize, fault: Fault) {
        self.refuse_with(key, fault.status(), Why::Request, &fault.to_string());
    }

    fn refuse(&mut self, key: usize, status: u16, why: Why) {
        let detail = match why {
            Why::Draining => "this server is being drained; the next one is ready",
            Why::Full => "this server has as many sockets as it can hold",
            _ => "too many connect at once; come back in a moment",
        };
        self.refuse_with(key, status, why, detail);
    }

    fn refuse_with(&mut self, key: usize, status: u16, why: Why, detail: &str) {
        self.shared.meters.refused(why);
        self.answer_problem(key, status, end::reason(status), detail);
    }

    /// Answers with a problem document (RFC 9457), and ends the connection.
    pub(super) fn answer_problem(&mut self, key: usize, status: u16, title: &str, detail: &str) {
        let body = serde_json::json!({ "title": title, "detail": detail, "status": status }).to_string();
        let more = match status {
            401 => "WWW-Authenticate: Bearer\r\n".to_owned(),
            405 => "Allow: GET, OPTIONS\r\n".to_owned(),
            426 => "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n".to_owned(),
            429 | 503 => format!("Retry-After: {}\r\n", retry_after_s()),
            _ => String::new(),
        };
        self.answer(
            key,
            status,
            &format!("Content-Type: application/problem+json\r\n{more}"),
            body.as_bytes(),
        );
    }

    /// Answers, and ends the connection.
    fn answer(&mut self, key: usize, status: u16, lines: &str, body: &[u8]) {
        debug!(status, "a connection is answered and closed");
        let length =
            if status == 204 { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
        let head = format!(
            "HTTP/1.1 {status} {}\r\n{lines}{length}Cache-Control: no-store\r\nAccess-Control-Allow-Origin: *\r\n\
             Access-Control-Expose-Headers: Retry-After\r\nConnection: close\r\n\r\n",
            end::reason(status),
        );
        self.leave(key);
        let due = self.now.after(self.shared.config.timing.close);
        let Some(socket) = self.sockets.get_mut(key) else { return };
        socket.stage = Stage::Ending;
        socket.due = due;
        let control = &mut socket.more().control;
        control.extend_from_slice(head.as_bytes());
        control.extend_from_slice(body);
        self.flow(key);
    }

    /// Another path: hyper has the connection, and what was read of it.
    fn hand_over(&mut self, key: usize, bytes: &[u8]) {
        let Ok(place) = self.shared.fallback_places.clone().try_acquire_owned() else {
            return self.refuse(key, 503, Why::Full);
        };
        let Some(mut socket) = self.sockets.try_remove(key) else { return };
        self.load.fetch_sub(1, Ordering::Relaxed);
        if let Err(error) = self.poll.registry().deregister(&mut socket.stream) {
            return debug!(%error, "cannot let go of a connection");
        }
        let (shared, read) = (self.shared.clone(), bytes.to_vec());
        self.shared.runtime.spawn(crate::server::by_hyper(shared, socket.stream.into(), read, place));
    }
}

/// A part of a duration, at random, so that those who came together are not seen to together for ever.
fn some_of(duration: Duration) -> Duration {
    duration.mul_f64(0.5 + 0.5 * fastrand::f64())
}
