//! Somebody who watches, and knows only what a client is told.

use std::collections::{BTreeMap, HashSet};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use relay::Cursor;
use scores::frame::Said;
use scores::frame::proto::FrameKind;
use scores::{Body, Book, Event, EventId, Sport};
use serde_json::Value;

use super::edge::Edge;
use super::ground::{Ground, MATCH};
use crate::cursor;

/// How long one that was cut stays away at most, in steps.
const AWAY_STEPS: u32 = 20;
/// A request for an upgrade; its fields.
const UPGRADE: &str = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
                       Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    Json,
    Proto,
    Sse,
    Poll,
}

pub(super) struct Viewer {
    seed: u64,
    how: How,
    rng: fastrand::Rng,
    /// Resumes from an older place than it was at.
    broken: bool,
    stream: Option<TcpStream>,
    input: Vec<u8>,
    /// The answer's head was read.
    open: bool,
    away: u32,
    deaf: u32,
    /// `Last-Event-ID`: opaque.
    last: Option<String>,
    /// Where it is, by its events and what it was told.
    at: Option<Cursor>,
    told: HashSet<(u64, u32)>,
    newest: BTreeMap<EventId, Event>,
    /// Connections after the first.
    pub(super) resumes: u64,
    /// Times when what it knew was void.
    pub(super) snapshots: u64,
}

impl Viewer {
    pub(super) fn new(seed: u64, how: How, mut rng: fastrand::Rng, broken: bool) -> Viewer {
        // From its beginning, or from now on.
        let last = rng.bool().then(|| format!("{MATCH}:0-0"));
        Viewer {
            seed,
            how,
            away: rng.u32(..AWAY_STEPS),
            rng,
            broken,
            stream: None,
            input: Vec::new(),
            open: false,
            deaf: 0,
            at: last.as_ref().map(|_| Cursor { epoch: 0, offset: 0 }),
            last,
            told: HashSet::new(),
            newest: BTreeMap::new(),
            resumes: 0,
            snapshots: 0,
        }
    }

    pub(super) fn drop_connection(&mut self) {
        self.stream = None;
        self.away = self.rng.u32(..AWAY_STEPS);
        self.input.clear();
        self.open = false;
    }

    pub(super) fn knows(&self, truth: &BTreeMap<EventId, Body>) -> bool {
        truth.len() == self.newest.len()
            && truth.iter().all(|(id, body)| self.newest.get(id).is_some_and(|event| event.body == *body))
    }

    /// How it stands in the end.
    pub(super) fn check(&self, truth: &BTreeMap<EventId, Body>, card: Option<&Value>) {
        let missing = truth.keys().filter(|id| !self.newest.contains_key(id)).count();
        assert!(self.knows(truth), "{}: it ends wrong, with {missing} missing", self.name());
        if let Some(card) = card {
            let mut book = Book::new(Sport::Cricket);
            self.newest.values().for_each(|event| {
                book.take(event);
            });
            assert_eq!(serde_json::to_value(book.card(None)).unwrap(), *card, "{}", self.name());
        }
    }

    fn name(&self) -> String {
        format!("seed {}, {:?}", self.seed, self.how)
    }

    pub(super) fn step(&mut self, edges: &mut [Edge], ground: &Ground) {
        if self.stream.is_none() {
            if self.away > 0 {
                self.away -= 1;
                return;
            }
            let n = self.rng.usize(..edges.len());
            self.stream = edges[n].connect();
            self.resumes += 1;
            self.ask();
        }
        // Now and then it does not read for a while, and then only a part of what is there.
        if self.deaf > 0 {
            self.deaf -= 1;
            return;
        }
        if self.rng.u32(..60) == 0 {
            self.deaf = self.rng.u32(..20);
        }
        let most = if self.rng.u8(..4) == 0 { self.rng.usize(1..700) } else { 1 << 16 };
        let mut bytes = vec![0; most];
        let read = match &mut self.stream {
            Some(stream) => stream.read(&mut bytes),
            None => return,
        };
        match read {
            Ok(0) => self.drop_connection(),
            Ok(n) => {
                self.input.extend_from_slice(&bytes[..n]);
                self.take(ground);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => self.drop_connection(),
        }
    }

    /// Sends a request.
    fn ask(&mut self) {
        let last = match (&self.last, self.at) {
            (Some(_), Some(at)) if self.broken && at.offset > 1 => {
                Some(format!("{MATCH}:{:x}-{}", at.epoch, at.offset - self.rng.u64(..2)))
            }
            (last, _) => last.clone(),
        };
        let last = last.map(|last| format!("Last-Event-ID: {last}\r\n")).unwrap_or_default();
        let head = match self.how {
            How::Json => format!("GET /v1/stream?match={MATCH} HTTP/1.1\r\nHost: x\r\n{UPGRADE}{last}\r\n"),
            How::Proto => {
                let protocol = "Sec-WebSocket-Protocol: pavilion.scores.proto.v1\r\n";
                format!("GET /v1/stream?match={MATCH} HTTP/1.1\r\nHost: x\r\n{UPGRADE}{protocol}{last}\r\n")
            }
            How::Sse => format!("GET /v1/stream?match={MATCH} HTTP/1.1\r\nHost: x\r\n{last}\r\n"),
            How::Poll => format!("GET /v1/stream?mode=poll&match={MATCH} HTTP/1.1\r\nHost: x\r\n{last}\r\n"),
        };
        let sent = self.stream.as_mut().map(|stream| stream.write_all(head.as_bytes()));
        if !matches!(sent, Some(Ok(()))) {
            self.drop_connection();
        }
    }

    /// Takes what is whole of what has come.
    fn take(&mut self, ground: &Ground) {
        if self.how != How::Poll && !self.open {
            let Some(end) = find(&self.input, b"\r\n\r\n") else { return };
            let head = String::from_utf8(self.input.drain(..end + 4).collect()).unwrap();
            let status = if self.how == How::Sse { "200" } else { "101" };
            assert_eq!(head.split(' ').nth(1), Some(status), "{}: {head}", self.name());
            self.open = true;
        }
        let more = match self.how {
            How::Json | How::Proto => Viewer::frame,
            How::Sse => Viewer::event,
            How::Poll => Viewer::answer,
        };
        while self.stream.is_some() && more(self, ground) {}
    }

    /// A frame of a WebSocket (RFC 6455, 5.2), as servers write them. Whether there was one.
    fn frame(&mut self, ground: &Ground) -> bool {
        let [first, second, ..] = self.input[..] else { return false };
        assert!(first & 0x70 == 0 && first & 0x80 != 0 && second & 0x80 == 0, "{}", self.name());
        let (at, len) = match (second, self.input.get(2..10)) {
            (126, _) if self.input.len() < 4 => return false,
            (126, _) => (4, usize::from(u16::from_be_bytes([self.input[2], self.input[3]]))),
            (127, None) => return false,
            (127, Some(len)) => (10, u64::from_be_bytes(len.try_into().unwrap()) as usize),
            (len, _) => (2, usize::from(len)),
        };
        if self.input.len() < at + len {
            return false;
        }
        let payload: Vec<u8> = self.input.drain(..at + len).skip(at).collect();
        match (first & 0x0f, self.how) {
            (1, How::Json) => self.json(&payload, ground),
            (2, How::Proto) => self.proto(&payload, ground),
            (8, _) => self.drop_connection(),
            (9, _) => {}
            other => panic!("{}: a frame of kind {other:?}", self.name()),
        }
        true
    }

    /// An event of SSE.
    fn event(&mut self, ground: &Ground) -> bool {
        let Some(end) = find(&self.input, b"\n\n") else { return false };
        let event = String::from_utf8(self.input.drain(..end + 2).collect()).unwrap();
        let mut id = None;
        for line in event.lines() {
            match line.split_once(": ") {
                Some(("id", last)) => id = Some(last.to_owned()),
                Some(("data", data)) => self.json(data.as_bytes(), ground),
                _ => {}
            }
        }
        // What the browser keeps is the id alone, whatever the data says.
        if self.stream.is_some() {
            self.last = id.or(self.last.take());
        }
        true
    }

    /// An answer to a long-poll; the next request follows on the same connection.
    fn answer(&mut self, ground: &Ground) -> bool {
        let Some(end) = find(&self.input, b"\r\n\r\n") else { return false };
        let head = std::str::from_utf8(&self.input[..end]).unwrap();
        assert!(head.starts_with("HTTP/1.1 200 "), "{}: {head}", self.name());
        let len = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).unwrap();
        let whole = end + 4 + len.parse::<usize>().unwrap();
        if self.input.len() < whole {
            return false;
        }
        let body: Vec<u8> = self.input.drain(..whole).skip(end + 4).collect();
        let answer: Value = serde_json::from_slice(&body).unwrap();
        for frame in answer["events"].as_array().unwrap() {
            self.json(frame.to_string().as_bytes(), ground);
        }
        if self.stream.is_none() {
            return false;
        }
        let last = answer["last_event_id"].as_str().unwrap();
        self.last = (!last.is_empty()).then(|| last.to_owned()).or(self.last.take());
        self.ask();
        true
    }

    fn json(&mut self, text: &[u8], ground: &Ground) {
        let frame: Value = serde_json::from_slice(text).unwrap();
        match frame["type"].as_str().unwrap() {
            "score_event" => self.said(Said::from_json(text).unwrap()),
            kind => self.control(kind, frame["cursor"].as_str(), ground),
        }
    }

    fn proto(&mut self, bytes: &[u8], ground: &Ground) {
        if let Ok(said) = Said::from_proto(bytes) {
            return self.said(said);
        }
        match scores::frame::decode(bytes).unwrap().kind.unwrap() {
            FrameKind::Subscribed(said) => self.control("subscribed", Some(&said.cursor), ground),
            FrameKind::SnapshotRequired(said) => {
                self.control("snapshot_required", Some(&said.cursor), ground);
            }
            FrameKind::ScoreEvent(_) => panic!("{}: an event that cannot be read", self.name()),
            _ => {}
        }
    }

    fn control(&mut self, kind: &str, cursor: Option<&str>, ground: &Ground) {
        assert_ne!(kind, "error", "{}", self.name());
        assert_ne!(kind, "refused", "{}", self.name());
        let void = match kind {
            "subscribed" => self.at.is_none(),
            "snapshot_required" => true,
            _ => return,
        };
        let cursor = cursor::read(cursor.unwrap()).unwrap();
        if void {
            self.snapshots += 1;
            // A log that was made anew meanwhile: this connection will say so, or the next one.
            let Some(snapshot) = ground.snapshot(cursor) else { return self.drop_connection() };
            self.told.clear();
            self.newest.clear();
            for message in snapshot {
                self.told.insert((message.event, message.revision));
                let said = Said::from_json(&message.json).unwrap();
                self.newest.insert(said.event_id, event(said));
            }
        } else if !self.broken {
            let nowhere = self.at == Some(Cursor { epoch: 0, offset: 0 });
            assert!(
                nowhere || self.at == Some(cursor),
                "{}: told {cursor}, was at {:?}",
                self.name(),
                self.at
            );
        }
        self.stand(cursor);
    }

    fn stand(&mut self, cursor: Cursor) {
        self.at = Some(cursor);
        if self.how != How::Sse {
            self.last = Some(format!("{MATCH}:{cursor}"));
        }
    }

    fn said(&mut self, said: Said) {
        let name = self.name();
        let cursor = cursor::read(&said.cursor).unwrap();
        let before = self.at.unwrap_or_else(|| panic!("{name}: an event before anything was said of it"));
        let begins = before == Cursor { epoch: 0, offset: 0 };
        assert!(begins || cursor.epoch == before.epoch, "{name}: another life of the log in silence");
        assert!(cursor.offset > before.offset, "{name}: {cursor} after {before}");
        let key = (said.event_id.0, said.revision);
        assert!(self.told.insert(key), "{name}: {key:?} is told twice");
        let newest = self.newest.get(&said.event_id).map_or(0, |event| event.revision);
        assert!(said.revision > newest, "{name}: {key:?} after revision {newest}");
        assert_eq!(said.correction, said.revision > 1);
        self.newest.insert(said.event_id, event(said));
        self.stand(cursor);
    }
}

fn event(said: Said) -> Event {
    Event {
        match_id: said.match_id,
        event_id: said.event_id,
        revision: said.revision,
        provider_id: String::new(),
        provider_seq: 0,
        venue_ms: said.venue_ms,
        ingest_ms: said.ingest_ms,
        body: said.body,
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|some| some == what)
}
