//! A ground for feeds: a spine, a catalog, and an ingest that can be killed and started again on the same port.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use scores::catalog::{self, Match, Status};
use scores::ingest::{self, Config};
use scores::{Recording, Sport};
use serde_json::Value;
use store::{Appended, Log, New, Record, Registers, Sqlite, SqliteLog};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// The longest that anything here takes, on a machine that is full of tests.
pub(crate) const WAIT_MAX: Duration = Duration::from_secs(90);
pub(crate) const KEY_A: &str = "aaaaaaaaaaaaaaaaaaaa";
pub(crate) const KEY_B: &str = "bbbbbbbbbbbbbbbbbbbb";
/// Happenings that are played: some wickets and reviews.
const PLAYED: usize = 100;

pub(crate) struct Ground {
    dir: Arc<tempfile::TempDir>,
    pub(crate) log: Arc<SqliteLog>,
    pub(crate) registers: Arc<Sqlite>,
    port: AtomicU16,
    admin: AtomicU16,
    failing: Arc<AtomicBool>,
    life: Mutex<Option<Runtime>>,
}

impl Ground {
    pub(crate) async fn new() -> Ground {
        let ground = Ground::at(Arc::new(tempfile::tempdir().unwrap()));
        catalog::put(&*ground.registers, &entry()).await.unwrap();
        std::fs::write(ground.recording(), ground.recorded().write()).unwrap();
        ground
    }

    /// Another ingest on the same stores.
    pub(crate) async fn twin(&self) -> Ground {
        Ground::at(self.dir.clone())
    }

    fn at(dir: Arc<tempfile::TempDir>) -> Ground {
        Ground {
            log: Arc::new(SqliteLog::open(&dir.path().join("spine.db")).unwrap()),
            registers: Arc::new(Sqlite::open(&dir.path().join("store.db")).unwrap()),
            dir,
            port: AtomicU16::new(0),
            admin: AtomicU16::new(0),
            failing: Arc::default(),
            life: Mutex::new(None),
        }
    }

    /// Starts ingest, as a process of its own would: with handles of its own, on a runtime of its own.
    pub(crate) fn start(&self) {
        let spine = SqliteLog::open(&self.dir.path().join("spine.db")).unwrap();
        let log: Arc<dyn Log> = Arc::new(Moody { log: spine, failing: self.failing.clone() });
        let registers: Arc<dyn Registers> =
            Arc::new(Sqlite::open(&self.dir.path().join("store.db")).unwrap());
        let feeds = [format!("a:push:{KEY_A}"), format!("b:wire:{KEY_B}")];
        let config = Config { feeds: feeds.iter().map(|feed| feed.parse().unwrap()).collect() };
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let listener = self.bind(&runtime);
        let ingest = ingest::Ingest::new(log, registers);
        let admin = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        admin.set_nonblocking(true).unwrap();
        self.admin.store(admin.local_addr().unwrap().port(), Ordering::Relaxed);
        let router = ingest.admin();
        runtime.spawn(async move { axum::serve(TcpListener::from_std(admin).unwrap(), router).await });
        runtime.spawn(ingest.serve(config, listener, CancellationToken::new()));
        *self.life.lock().unwrap() = Some(runtime);
    }

    /// The port of the life before may be held for a moment longer.
    fn bind(&self, runtime: &Runtime) -> TcpListener {
        let began = std::time::Instant::now();
        loop {
            let port = self.port.load(Ordering::Relaxed);
            let bound = std::net::TcpListener::bind(("127.0.0.1", port));
            match bound {
                Ok(listener) => {
                    self.port.store(listener.local_addr().unwrap().port(), Ordering::Relaxed);
                    listener.set_nonblocking(true).unwrap();
                    let _inside = runtime.enter();
                    return TcpListener::from_std(listener).unwrap();
                }
                Err(error) => assert!(began.elapsed() < WAIT_MAX, "{error}"),
            }
            std::thread::yield_now();
        }
    }

    /// Ends it without a word: every task is dropped where it stands.
    pub(crate) fn kill(&self) {
        self.life.lock().unwrap().take().expect("it was started").shutdown_background();
    }

    /// The spine of this ground's ingest cannot be written, or can be again.
    pub(crate) fn set_failing(&self, failing: bool) {
        self.failing.store(failing, Ordering::Relaxed);
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port.load(Ordering::Relaxed))
    }

    pub(crate) fn recording(&self) -> PathBuf {
        self.dir.path().join("recording.json")
    }

    pub(crate) fn recorded(&self) -> Recording {
        let mut recording = Recording::read(scores::recording::DEMO).unwrap();
        recording.statements.truncate(PLAYED);
        recording
    }

    pub(crate) async fn status(&self) -> ingest::Status {
        let answer = call(Method::GET, &format!("{}/v1/feeds", self.url()), KEY_A, "", String::new()).await;
        serde_json::from_value(answer.json()).unwrap()
    }

    /// What the admin port answers.
    pub(crate) async fn admin(&self, path: &str) -> Value {
        let url = format!("http://127.0.0.1:{}{path}", self.admin.load(Ordering::Relaxed));
        let answer = call(Method::GET, &url, "", "", String::new()).await;
        assert_eq!(answer.status, StatusCode::OK);
        answer.json()
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        // A runtime must not be dropped where a test waits.
        if let Some(runtime) = self.life.lock().unwrap().take() {
            runtime.shutdown_background();
        }
    }
}

pub(crate) fn entry() -> Match {
    Match {
        id: "demo".into(),
        title: "A v B".into(),
        sport: Sport::Cricket,
        teams: ["A".into(), "B".into()],
        status: Status::Live,
        countries: None,
        cadence_s: None,
        start_ms: 0,
    }
}

/// RFC 3339.
pub(crate) fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    timeline::Utc(since.as_micros() as i64).to_string()
}

/// Waits for a condition.
pub(crate) async fn wait_for(what: &str, mut met: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !met().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(WAIT_MAX, waiting).await.unwrap_or_else(|_| panic!("{what} does not come"));
}

#[derive(Debug)]
pub(crate) struct Called {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    body: Bytes,
}

impl Called {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.body))
    }
}

pub(crate) async fn call(method: Method, url: &str, bearer: &str, kind: &str, body: String) -> Called {
    let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
    let mut request = Request::builder().method(method).uri(url);
    if !bearer.is_empty() {
        request = request.header(header::AUTHORIZATION, format!("Bearer {bearer}"));
    }
    if !kind.is_empty() {
        request = request.header(header::CONTENT_TYPE, kind);
    }
    let answer = client.request(request.body(Full::from(body)).unwrap()).await.unwrap();
    let (parts, body) = answer.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    Called { status: parts.status, headers: parts.headers, body }
}

/// A spine whose disk fails when it is told to.
struct Moody {
    log: SqliteLog,
    failing: Arc<AtomicBool>,
}

#[async_trait]
impl Log for Moody {
    async fn append(&self, records: &[New]) -> Result<Vec<Appended>, store::Error> {
        if self.failing.load(Ordering::Relaxed) {
            return Err(store::Error::Commit("the disk is full".into()));
        }
        self.log.append(records).await
    }

    async fn read(&self, topic: &str, after: u64, max: usize) -> Result<Vec<Record>, store::Error> {
        self.log.read(topic, after, max).await
    }

    async fn epoch(&self, topic: &str) -> Result<Option<u32>, store::Error> {
        self.log.epoch(topic).await
    }

    async fn committed(&self, topic: &str, group: &str) -> Result<u64, store::Error> {
        self.log.committed(topic, group).await
    }

    async fn commit(&self, topic: &str, group: &str, offset: u64) -> Result<(), store::Error> {
        self.log.commit(topic, group, offset).await
    }

    async fn topics(&self, prefix: &str) -> Result<Vec<String>, store::Error> {
        self.log.topics(prefix).await
    }

    fn changed(&self) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> {
        self.log.changed()
    }
}
