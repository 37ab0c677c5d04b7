//! A server with a source that plays what a test says, and clients.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use fanout::{Admit, Config, Deps, Refusal, Server, Source, Watching};
use futures_util::{SinkExt, StreamExt};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use pass::{Claims, KeySet};
use relay::{Cursor, Message, Update};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{self, Message as Frame};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};
use tokio_util::sync::CancellationToken;

/// Nothing in a test takes this long unless it hangs.
pub const HANG: Duration = Duration::from_secs(60);

/// More than any test publishes.
const CHANNEL: usize = 100_000;

#[derive(Default)]
struct Log {
    epoch: u32,
    messages: Vec<Message>,
    takers: Vec<mpsc::Sender<Update>>,
    /// Nothing is said to who asks.
    mute: bool,
}

impl Log {
    fn tell(&mut self, update: Update) {
        self.takers.retain(|taker| taker.try_send(update.clone()).is_ok());
    }
}

/// A source that plays what a test says.
#[derive(Default)]
pub struct Script(Mutex<HashMap<String, Log>>);

impl Script {
    fn with<T>(&self, topic: &str, act: impl FnOnce(&mut Log) -> T) -> T {
        act(self
            .0
            .lock()
            .unwrap()
            .entry(topic.to_owned())
            .or_insert_with(|| Log { epoch: 1, ..Log::default() }))
    }

    /// Publishes an event; its frame is filled up to that many bytes.
    pub fn publish(&self, topic: &str, event: u64, revision: u32, fill: usize) -> String {
        self.with(topic, |log| {
            let offset = log.messages.len() as u64 + 1;
            let cursor = format!("{:x}-{offset}", log.epoch);
            let json = json!({
                "type": "score_event", "match_id": topic, "event_id": event, "revision": revision,
                "cursor": cursor, "fill": "x".repeat(fill),
            });
            let proto = Bytes::from(format!("{topic} {event}.{revision}"));
            let ingest_us =
                std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_micros();
            let message = Message {
                offset,
                event,
                revision,
                ingest_us: ingest_us as i64,
                json: json.to_string().into(),
                proto,
            };
            log.messages.push(message.clone());
            log.tell(Update::Message(message));
            cursor
        })
    }

    /// Says something to all who follow.
    pub fn tell(&self, topic: &str, update: Update) {
        self.with(topic, |log| log.tell(update));
    }

    /// A new life of the log, with nothing in it.
    pub fn reborn(&self, topic: &str, epoch: u32) {
        self.with(topic, |log| {
            log.epoch = epoch;
            log.messages.clear();
            log.tell(Update::Start { after: Cursor { epoch, offset: 0 } });
            log.tell(Update::Live);
        });
    }

    /// Hangs up on all who follow.
    pub fn hang_up(&self, topic: &str) {
        self.with(topic, |log| log.takers.clear());
    }

    /// Nothing is said any more to who asks.
    pub fn mute(&self, topic: &str) {
        self.with(topic, |log| log.mute = true);
    }

    /// Speaks again to who asked meanwhile.
    pub fn unmute(&self, topic: &str) {
        self.with(topic, |log| {
            log.mute = false;
            for taker in &log.takers {
                play(log, taker, 0);
            }
        });
    }
}

fn play(log: &Log, taker: &mpsc::Sender<Update>, after: usize) {
    let cursor = Cursor { epoch: log.epoch, offset: after as u64 };
    let _ = taker.try_send(Update::Start { after: cursor });
    for message in &log.messages[after..] {
        let _ = taker.try_send(Update::Message(message.clone()));
    }
    let _ = taker.try_send(Update::Live);
}

impl Source for Script {
    fn subscribe(&self, topic: &str, after: Option<Cursor>) -> mpsc::Receiver<Update> {
        let (to, updates) = mpsc::channel(CHANNEL);
        self.with(topic, |log| {
            let known =
                after.filter(|after| after.epoch == log.epoch && after.offset <= log.messages.len() as u64);
            if !log.mute {
                play(log, &to, known.map_or(0, |after| after.offset as usize));
            }
            log.takers.push(to);
        });
        updates
    }
}

/// Lets everybody see everything but what begins with `dark`, and that only from India.
pub struct Door;

impl Admit for Door {
    fn may(&self, _: &Claims, match_id: &str, country: Option<&str>) -> Result<(), Refusal> {
        if match_id.starts_with("dark") && country != Some("IN") {
            let (title, detail) = ("Blackout".to_owned(), "not shown where you are".to_owned());
            return Err(Refusal { status: 451, title, detail });
        }
        Ok(())
    }
}

/// A server that runs.
pub struct World {
    pub at: SocketAddr,
    pub script: Arc<Script>,
    pub watching: Watching,
    pub shutdown: CancellationToken,
    pub leave: CancellationToken,
    pub run: JoinHandle<()>,
}

impl Drop for World {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}

pub async fn world(config: Config) -> World {
    world_with(config, None).await
}

/// One that asks for tokens of these keys.
pub async fn world_with(config: Config, keys: Option<KeySet>) -> World {
    let script = Arc::new(Script::default());
    let other = service_fn(|request: http::Request<Incoming>| async move {
        let path = request.uri().path().to_owned();
        let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
        let text = format!("other {path} {}", String::from_utf8_lossy(&body));
        Ok::<_, std::convert::Infallible>(http::Response::new(Full::new(Bytes::from(text))))
    });
    let deps = Deps {
        source: script.clone(),
        admit: Arc::new(Door),
        keys: keys.map(|keys| watch::channel(Arc::new(keys)).1),
        fallback: fanout::fallback(other),
    };
    let server = Server::open(config, fanout::listen_locally().unwrap(), deps).await.unwrap();
    let (at, watching) = (server.local_addr().unwrap(), server.watch());
    let (shutdown, leave) = (CancellationToken::new(), CancellationToken::new());
    let run = tokio::spawn(server.run(shutdown.clone(), leave.clone()));
    World { at, script, watching, shutdown, leave, run }
}

/// One without a window, so that tests are quick.
pub fn plain() -> Config {
    Config { coalesce_ms: 0, ..Config::default() }
}

/// Waits until it is so.
pub async fn until(what: &str, mut is: impl FnMut() -> bool) {
    let waited = timeout(HANG, async {
        while !is() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    assert!(waited.await.is_ok(), "never: {what}");
}

/// A WebSocket of a foreign library.
pub struct Ws(pub WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Ws {
    pub async fn open(at: SocketAddr) -> Ws {
        Ws::open_with(at, "/v1/stream", &[]).await.unwrap()
    }

    pub async fn open_with(
        at: SocketAddr,
        path: &str,
        fields: &[(&str, &str)],
    ) -> Result<Ws, tungstenite::Error> {
        let mut request = format!("ws://{at}{path}").into_client_request().unwrap();
        for (name, value) in fields {
            let name = http::HeaderName::from_bytes(name.as_bytes()).unwrap();
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        let opened = timeout(HANG, tokio_tungstenite::connect_async(request)).await.expect("an answer");
        opened.map(|(socket, _)| Ws(socket))
    }

    pub async fn say(&mut self, value: Value) {
        self.0.send(Frame::text(value.to_string())).await.unwrap();
    }

    pub async fn subscribe(&mut self, match_id: &str, since: Option<&str>) {
        self.say(json!({ "op": "subscribe", "match_id": match_id, "since_event_id": since })).await;
    }

    /// The next frame that is not a ping; `None` at the end.
    pub async fn frame(&mut self) -> Option<Frame> {
        let next = async {
            loop {
                match self.0.next().await {
                    Some(Ok(Frame::Ping(_) | Frame::Pong(_))) => {}
                    Some(Ok(frame)) => return Some(frame),
                    Some(Err(_)) | None => return None,
                }
            }
        };
        timeout(HANG, next).await.expect("a frame")
    }

    pub async fn json(&mut self) -> Value {
        match self.frame().await {
            Some(Frame::Text(text)) => serde_json::from_str(&text).unwrap(),
            other => panic!("not text: {other:?}"),
        }
    }

    /// The next frame, which must be of that type.
    pub async fn expect(&mut self, kind: &str) -> Value {
        let value = self.json().await;
        assert_eq!(value["type"], kind, "{value}");
        value
    }

    /// The code with which the server closes, whatever comes before.
    pub async fn close_code(&mut self) -> Option<u16> {
        loop {
            match self.frame().await {
                Some(Frame::Close(close)) => return close.map(|close| close.code.into()),
                Some(_) => {}
                None => return None,
            }
        }
    }
}

/// A connection on which a test writes HTTP itself.
pub struct Http(pub BufReader<TcpStream>);

impl Http {
    pub async fn open(at: SocketAddr) -> Http {
        Http(BufReader::new(TcpStream::connect(at).await.unwrap()))
    }

    pub async fn get(&mut self, path: &str, fields: &str) {
        let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\n{fields}\r\n");
        self.0.get_mut().write_all(request.as_bytes()).await.unwrap();
    }

    pub async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = timeout(HANG, self.0.read_line(&mut line)).await.expect("a line");
        (read.ok()? > 0).then(|| line.trim_end().to_owned())
    }

    /// Status and fields of an answer.
    pub async fn head(&mut self) -> (u16, String) {
        let status = self.line().await.expect("an answer");
        let mut fields = String::new();
        while let Some(line) = self.line().await.filter(|line| !line.is_empty()) {
            fields += &(line.to_lowercase() + "\n");
        }
        (status.split(' ').nth(1).unwrap().parse().unwrap(), fields)
    }

    /// An answer with a length.
    pub async fn answer(&mut self) -> (u16, String, String) {
        let (status, fields) = self.head().await;
        let len = fields.lines().find_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; len.map_or(0, |len| len.parse().unwrap())];
        timeout(HANG, self.0.read_exact(&mut body)).await.expect("a body").unwrap();
        (status, fields, String::from_utf8(body).unwrap())
    }

    /// The next event of SSE: its id, if it has one, and its data.
    pub async fn event(&mut self) -> Option<(Option<String>, Value)> {
        let (mut id, mut data) = (None, None);
        loop {
            let line = self.line().await?;
            match line.split_once(": ") {
                Some(("id", text)) => id = Some(text.to_owned()),
                Some(("data", text)) => data = Some(serde_json::from_str(text).unwrap()),
                _ if line.is_empty() && data.is_some() => return Some((id, data.unwrap())),
                _ => {}
            }
        }
    }
}

/// A frame as a client writes it.
pub fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first];
    match payload.len() {
        len @ 0..126 => frame.push(0x80 | len as u8),
        len @ 126..0x1_0000 => {
            frame.push(0x80 | 126);
            frame.extend((len as u16).to_be_bytes());
        }
        len => {
            frame.push(0x80 | 127);
            frame.extend((len as u64).to_be_bytes());
        }
    }
    let mask = [7, 11, 13, 17];
    frame.extend(mask);
    frame.extend(payload.iter().zip(mask.iter().cycle()).map(|(b, m)| b ^ m));
    frame
}

/// A WebSocket on which a test writes frames itself.
pub async fn raw(at: SocketAddr, receive_bytes: Option<usize>) -> Http {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    if let Some(bytes) = receive_bytes {
        socket.set_recv_buffer_size(bytes as u32).unwrap();
    }
    let mut http = Http(BufReader::with_capacity(1, socket.connect(at).await.unwrap()));
    let fields = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
                  Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    http.get("/v1/stream", fields).await;
    assert_eq!(http.head().await.0, 101);
    http
}

/// The next frame that a server wrote: opcode and payload.
pub async fn server_frame(http: &mut Http) -> Option<(u8, Vec<u8>)> {
    let read = async {
        let first = http.0.read_u8().await.ok()?;
        let len = match http.0.read_u8().await.ok()? {
            126 => usize::from(http.0.read_u16().await.ok()?),
            127 => http.0.read_u64().await.ok()? as usize,
            len => usize::from(len),
        };
        let mut payload = vec![0; len];
        http.0.read_exact(&mut payload).await.ok()?;
        Some((first & 0x0f, payload))
    };
    timeout(HANG, read).await.expect("a frame")
}
