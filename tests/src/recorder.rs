//! An origin that only writes down what is put to it, and answers as it is told.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use bytes::Bytes;
use timeline::name::{Kind, Letter, Object, Token};
use timeline::object::{META_HEADER, Meta};
use timeline::programme::Programme;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// No object of these tests is larger.
const BODY_MAX: usize = 16 << 20;

/// One request.
#[derive(Clone, Debug)]
pub struct Put {
    /// Below the programme.
    pub name: String,
    /// What the pipeline said of it.
    pub meta: Option<Meta>,
    /// Its body.
    pub body: Bytes,
    /// What was answered.
    pub status: u16,
}

/// What the object is, as its name says.
impl Put {
    /// `None` for the announcement and the end.
    pub fn object(&self) -> Option<Object> {
        self.name.parse().ok()
    }

    /// Whose it is.
    pub fn letter(&self) -> Option<Letter> {
        match self.object()?.kind {
            Kind::Segment { letter, .. } | Kind::Part { letter, .. } => Some(letter),
            Kind::Init(_) => None,
        }
    }
}

/// A part, as both pipelines should make it.
#[derive(Clone, Debug, PartialEq)]
pub struct Covers {
    /// What the pipeline said.
    pub meta_start: i64,
    /// What the pipeline said.
    pub meta_duration: i64,
    /// `tfdt`, in the track's timescale.
    pub start: i64,
    /// In the track's timescale.
    pub duration: u64,
    /// Frames.
    pub samples: u32,
    /// Whether it can be decoded from its first frame.
    pub sync: bool,
}

type Rule = Box<dyn FnMut(&str) -> u16 + Send>;

struct Shared {
    puts: Vec<Put>,
    rule: Rule,
}

/// The origin.
pub struct Recorder {
    /// Where pipelines publish.
    pub url: String,
    shared: Arc<Mutex<Shared>>,
    server: JoinHandle<()>,
}

impl Recorder {
    /// Starts one that takes everything.
    pub async fn start() -> Recorder {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Mutex::new(Shared { puts: Vec::new(), rule: Box::new(|_| 201) }));
        let app = Router::new().fallback(put).with_state(shared.clone());
        let server = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Recorder { url, shared, server }
    }

    /// From now on answers with what the rule says of an object's name.
    pub fn answer(&self, rule: impl FnMut(&str) -> u16 + Send + 'static) {
        self.lock().rule = Box::new(rule);
    }

    /// All requests so far.
    pub fn puts(&self) -> Vec<Put> {
        self.lock().puts.clone()
    }

    /// What was taken, by name. Panics if a name was taken with two bodies.
    pub fn taken(&self) -> BTreeMap<String, Put> {
        let mut taken: BTreeMap<String, Put> = BTreeMap::new();
        for put in self.puts().into_iter().filter(|put| put.status < 300) {
            if let Some(before) = taken.get(&put.name) {
                assert!(before.body == put.body, "{} stands for other bytes the second time", put.name);
            }
            taken.insert(put.name.clone(), put);
        }
        taken
    }

    /// The announcement, if it was taken.
    pub fn programme(&self) -> Option<Programme> {
        let taken = self.taken();
        Some(serde_json::from_slice(&taken.get("programme.json")?.body).unwrap())
    }

    /// The parts that were taken from a pipeline: by track, MSN and part.
    pub fn parts(&self, of: Letter) -> BTreeMap<(Token, u64, u32), Covers> {
        let mut parts = BTreeMap::new();
        for put in self.taken().into_values() {
            let Some(Object { track, kind: Kind::Part { msn, letter, part } }) = put.object() else {
                continue;
            };
            if letter != of {
                continue;
            }
            let meta = put.meta.unwrap();
            assert_eq!(meta.defects, [], "{}", put.name);
            let seen = cmaf::inspect(&put.body).unwrap_or_else(|e| panic!("{}: {e}", put.name));
            let covers = Covers {
                meta_start: meta.start.0,
                meta_duration: meta.duration.0,
                start: seen.start,
                duration: seen.duration,
                samples: seen.samples,
                sync: seen.starts_with_sync,
            };
            assert_eq!(meta.independent, seen.starts_with_sync, "{}", put.name);
            parts.insert((track, msn, part), covers);
        }
        parts
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap()
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn put(State(shared): State<Arc<Mutex<Shared>>>, request: Request<Body>) -> StatusCode {
    let (head, body) = request.into_parts();
    let name: String = head.uri.path().splitn(5, '/').nth(4).unwrap_or_default().to_owned();
    let meta = head.headers.get(META_HEADER).map(|m| serde_json::from_slice(m.as_bytes()).unwrap());
    let Ok(body) = axum::body::to_bytes(body, BODY_MAX).await else { return StatusCode::BAD_REQUEST };
    let mut shared = shared.lock().unwrap();
    let status = (shared.rule)(&name);
    shared.puts.push(Put { name, meta, body, status });
    StatusCode::from_u16(status).unwrap()
}
