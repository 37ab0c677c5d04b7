//! The score plane as separate processes, and viewers of every transport who write down what they are told.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use http_body_util::{BodyExt, Empty};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use scores::catalog::{self, Match, Status};
use scores::frame::Said;
use scores::{Body, EventId, Sport};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{self, Message};

use crate::program::Program;
use crate::roles::free_tcp_port;

/// The key of every feed here.
const KEY: &str = "0123456789abcdef";
/// How long a viewer waits before it comes back, at most, in milliseconds.
const BACK_MS: u64 = 300;

/// Ingest, shard, snapshot and socket edge.
pub struct Plane {
    folder: PathBuf,
    roles: BTreeMap<&'static str, (Vec<String>, Program)>,
    ingest: u16,
    fanout: u16,
    feeds: u32,
}

impl Plane {
    /// Starts all of it, with one live match in the catalog.
    pub async fn start(folder: &Path, match_id: &str) -> Plane {
        let (store, spine) = (folder.join("store.db"), folder.join("spine.db"));
        let registers = store::Sqlite::open(&store).unwrap();
        let entry = Match {
            id: match_id.to_owned(),
            title: "A match".to_owned(),
            sport: Sport::Cricket,
            teams: ["Home".to_owned(), "Away".to_owned()],
            status: Status::Live,
            countries: None,
            cadence_s: None,
            start_ms: 0,
        };
        catalog::put(&registers, &entry).await.unwrap();
        let [ingest, shard, snapshot, fanout] = [0; 4].map(|_| free_tcp_port());
        let (store, spine) = (store.display().to_string(), spine.display().to_string());
        let at = |port: u16| format!("127.0.0.1:{port}");
        let words = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<String>>();
        let feed = |format: &str| format!("{format}:{format}:{KEY}");
        let mut plane = Plane { folder: folder.to_owned(), roles: BTreeMap::new(), ingest, fanout, feeds: 0 };
        let stores = ["--store", &store, "--spine", &spine];
        let ingest = [
            &["ingest", "--listen", &at(ingest), "--feed", &feed("push"), "--feed", &feed("wire")],
            &stores[..],
        ];
        plane.run("ingest", ingest.concat().iter().map(|w| (*w).to_owned()).collect());
        plane.run("shard", words(&[&["shard", "--listen", &at(shard)], &stores[..]].concat()));
        let of = ["--shard", &at(shard), "--store", &store];
        plane.run("snapshot", words(&[&["snapshot", "--listen", &at(snapshot)], &of[..]].concat()));
        let snapshot = format!("http://{}", at(snapshot));
        let fanout = ["fanout", "--listen", &at(fanout), "--snapshot", &snapshot];
        plane.run("fanout", words(&[&fanout, &of[..]].concat()));
        plane
    }

    fn run(&mut self, role: &'static str, args: Vec<String>) {
        let words: Vec<&str> = args.iter().map(String::as_str).collect();
        let program = Program::start(&self.folder, role, &words);
        self.roles.insert(role, (args, program));
    }

    /// `kill -9`, and starts it again.
    pub fn kill(&mut self, role: &'static str) {
        let (args, mut program) = self.roles.remove(role).unwrap();
        program.kill();
        self.run(role, args);
    }

    /// A provider that plays the shipped match, in one of the two formats.
    pub fn feed(&mut self, format: &str, match_id: &str, more: &[&str]) -> Program {
        self.feeds += 1;
        let ingest = format!("http://127.0.0.1:{}", self.ingest);
        let args = ["feed", "--ingest", &ingest, "--provider", format, "--format", format, "--key", KEY];
        let args = [&args, &["--match", match_id][..], more].concat();
        Program::start(&self.folder, &format!("feed-{}", self.feeds), &args)
    }

    /// The URL of something beside the stream.
    pub fn resource(&self, match_id: &str, what: &str) -> String {
        format!("http://127.0.0.1:{}/v1/matches/{match_id}/{what}", self.fanout)
    }

    /// The URL of ingest.
    pub fn ingest(&self) -> String {
        format!("http://127.0.0.1:{}", self.ingest)
    }

    /// Somebody who watches until dropped.
    pub fn viewer(&self, how: How, match_id: &str) -> Viewer {
        let seen: Arc<Mutex<Seen>> = Arc::default();
        let at = format!("127.0.0.1:{}/v1/stream", self.fanout);
        let (watched, match_id) = (seen.clone(), match_id.to_owned());
        let task = tokio::spawn(async move {
            loop {
                let _ = match how {
                    How::Json | How::Proto => socket(&at, how, &match_id, &watched).await,
                    How::Sse => events(&at, &match_id, &watched).await,
                    How::Poll => poll(&at, &match_id, &watched).await,
                };
                watched.lock().unwrap().here = false;
                tokio::time::sleep(Duration::from_millis(fastrand::u64(10..BACK_MS))).await;
            }
        });
        Viewer { how, seen, task }
    }
}

/// A transport and an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// WebSocket, JSON.
    Json,
    /// WebSocket, Protobuf.
    Proto,
    /// Server-sent events.
    Sse,
    /// Long-poll.
    Poll,
}

/// Somebody who watches.
pub struct Viewer {
    /// By which way.
    pub how: How,
    /// What was seen.
    pub seen: Arc<Mutex<Seen>>,
    task: JoinHandle<()>,
}

impl Drop for Viewer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What a viewer was told.
#[derive(Debug, Default)]
pub struct Seen {
    /// (event, revision) in the order in which they came.
    pub order: Vec<(EventId, u32)>,
    /// What stands of each.
    pub last: BTreeMap<EventId, Body>,
    /// Where to resume.
    pub cursor: Option<String>,
    /// A connection is subscribed.
    pub here: bool,
    /// Connections that were subscribed.
    pub times: u32,
    /// It was told that something is missing although it knew something.
    pub gaps: u32,
}

impl Seen {
    fn event(&mut self, said: Said) {
        self.order.push((said.event_id, said.revision));
        self.last.insert(said.event_id, said.body);
        self.cursor = Some(said.cursor);
    }

    fn control(&mut self, kind: &str, cursor: Option<String>) {
        match kind {
            "subscribed" => (self.here, self.times) = (true, self.times + 1),
            "snapshot_required" => self.gaps += u32::from(!self.order.is_empty()),
            _ => return,
        }
        self.cursor = cursor.or(self.cursor.take());
    }

    fn json(&mut self, text: &[u8]) {
        let frame: Value = serde_json::from_slice(text).unwrap();
        match frame["type"].as_str().unwrap() {
            "score_event" => self.event(Said::from_json(text).unwrap()),
            kind => self.control(kind, frame["cursor"].as_str().map(str::to_owned)),
        }
    }

    fn proto(&mut self, bytes: &[u8]) {
        use scores::frame::proto::FrameKind;
        if let Ok(said) = Said::from_proto(bytes) {
            return self.event(said);
        }
        match scores::frame::decode(bytes).unwrap().kind {
            Some(FrameKind::Subscribed(s)) => self.control("subscribed", Some(s.cursor)),
            Some(FrameKind::SnapshotRequired(s)) => self.control("snapshot_required", Some(s.cursor)),
            _ => {}
        }
    }
}

type Lost = Box<dyn std::error::Error + Send + Sync>;

async fn socket(at: &str, how: How, match_id: &str, seen: &Mutex<Seen>) -> Result<(), Lost> {
    let mut request = format!("ws://{at}").into_client_request()?;
    let protocol = if how == How::Proto { "pavilion.scores.proto.v1" } else { "pavilion.scores.json.v1" };
    request.headers_mut().insert("sec-websocket-protocol", protocol.parse()?);
    let (mut socket, _) = tokio_tungstenite::connect_async(request).await?;
    let subscribe = match (&seen.lock().unwrap().cursor, how) {
        (since, How::Proto) => {
            use scores::frame::proto::{ClientFrame, ClientFrameOp, Subscribe};
            let subscribe = Subscribe {
                match_id: match_id.to_owned(),
                since_event_id: since.clone().unwrap_or_default(),
            };
            let frame = ClientFrame { op: Some(ClientFrameOp::Subscribe(subscribe)) };
            Message::binary(prost::Message::encode_to_vec(&frame))
        }
        (Some(since), _) => text(json!({ "op": "subscribe", "match_id": match_id, "since_event_id": since })),
        (None, _) => text(json!({ "op": "subscribe", "match_id": match_id })),
    };
    socket.send(subscribe).await?;
    while let Some(message) = socket.next().await {
        match message? {
            Message::Text(text) => seen.lock().unwrap().json(text.as_bytes()),
            Message::Binary(bytes) => seen.lock().unwrap().proto(&bytes),
            Message::Close(_) => break,
            _ => {}
        }
    }
    Ok(())
}

fn text(value: Value) -> Message {
    tungstenite::Message::text(value.to_string())
}

async fn get(url: String, last: Option<&str>) -> Result<hyper::Response<hyper::body::Incoming>, Lost> {
    let client: Client<_, Empty<bytes::Bytes>> = Client::builder(TokioExecutor::new()).build_http();
    let mut request = http::Request::get(url).header("accept", "text/event-stream");
    if let Some(last) = last {
        request = request.header("last-event-id", last);
    }
    let answer = client.request(request.body(Empty::new())?).await?;
    if answer.status() != 200 { Err(answer.status().to_string().into()) } else { Ok(answer) }
}

async fn events(at: &str, match_id: &str, seen: &Mutex<Seen>) -> Result<(), Lost> {
    let last = seen.lock().unwrap().cursor.as_ref().map(|cursor| format!("{match_id}:{cursor}"));
    let mut body = get(format!("http://{at}?match={match_id}"), last.as_deref()).await?.into_body();
    let mut lines = Vec::new();
    while let Some(frame) = body.frame().await {
        lines.extend_from_slice(&frame?.into_data().unwrap_or_default());
        while let Some(end) = lines.iter().position(|b| *b == b'\n') {
            let line: Vec<u8> = lines.drain(..=end).collect();
            if let Some(data) = line.strip_prefix(b"data: ") {
                seen.lock().unwrap().json(data);
            }
        }
    }
    Ok(())
}

async fn poll(at: &str, match_id: &str, seen: &Mutex<Seen>) -> Result<(), Lost> {
    loop {
        let last = seen.lock().unwrap().cursor.as_ref().map(|cursor| format!("{match_id}:{cursor}"));
        let answer = get(format!("http://{at}?mode=poll&match={match_id}&wait=5"), last.as_deref()).await?;
        let body = answer.into_body().collect().await?.to_bytes();
        let answer: Value = serde_json::from_slice(&body)?;
        let mut seen = seen.lock().unwrap();
        for frame in answer["events"].as_array().ok_or("no events")? {
            seen.json(frame.to_string().as_bytes());
        }
        seen.here = true;
    }
}
