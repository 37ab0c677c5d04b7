//! A log that can be lost or replaced, a shard that can be killed, and takers that check what they are given.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use relay::{Cursor, Limits, Subscriber, Update};
use scores::catalog::{self, Match, Status};
use scores::{Event, Recording, Sport, recording, shard};
use store::{Appended, Error, Log, MemoryReplay, New, Record, Sqlite, SqliteLog};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Nothing here takes longer unless it hangs, however little of the machine is left for it.
pub const HANG: Duration = Duration::from_secs(90);

pub fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64
}

/// The shipped cricket match, begun a moment ago.
pub fn demo(id: &str) -> Vec<Event> {
    Recording::read(recording::DEMO).unwrap().events(id, now_ms() - 60_000, 100.0)
}

/// A match of the catalog.
pub fn entry(id: &str, sport: Sport, status: Status) -> Match {
    Match {
        id: id.into(),
        title: "Harbour Lights v Mill Town".into(),
        sport,
        teams: ["Harbour Lights".into(), "Mill Town".into()],
        status,
        countries: None,
        cadence_s: None,
        start_ms: now_ms(),
    }
}

pub fn record(event: &Event) -> New {
    New {
        topic: event.match_id.clone(),
        key: format!("{}.{}", event.event_id.0, event.revision),
        value: serde_json::to_vec(event).unwrap().into(),
    }
}

/// A real log behind a switch.
pub struct Spine {
    log: RwLock<SqliteLog>,
    lost: AtomicBool,
}

impl Spine {
    pub fn lose(&self, lost: bool) {
        self.lost.store(lost, Ordering::SeqCst);
    }

    pub fn replace(&self, log: SqliteLog) {
        *self.log.write().unwrap() = log;
    }

    fn log(&self) -> Result<SqliteLog, Error> {
        if self.lost.load(Ordering::SeqCst) {
            Err(Error::Worker)
        } else {
            Ok(self.log.read().unwrap().clone())
        }
    }
}

#[async_trait]
impl Log for Spine {
    async fn append(&self, records: &[New]) -> Result<Vec<Appended>, Error> {
        self.log()?.append(records).await
    }
    async fn read(&self, topic: &str, after: u64, max: usize) -> Result<Vec<Record>, Error> {
        self.log()?.read(topic, after, max).await
    }
    async fn epoch(&self, topic: &str) -> Result<Option<u32>, Error> {
        self.log()?.epoch(topic).await
    }
    async fn committed(&self, topic: &str, group: &str) -> Result<u64, Error> {
        self.log()?.committed(topic, group).await
    }
    async fn commit(&self, topic: &str, group: &str, offset: u64) -> Result<(), Error> {
        self.log()?.commit(topic, group, offset).await
    }
    async fn topics(&self, prefix: &str) -> Result<Vec<String>, Error> {
        self.log()?.topics(prefix).await
    }
    fn changed(&self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        self.log.read().unwrap().changed()
    }
}

/// What outlives a shard.
pub struct Ground {
    pub dir: TempDir,
    pub log: Arc<Spine>,
    pub registers: Arc<Sqlite>,
}

impl Ground {
    pub async fn with(matches: &[Match]) -> Ground {
        // Shown with a test that fails, by what RUST_LOG says.
        let filter = tracing_subscriber::EnvFilter::from_default_env();
        let _ = tracing_subscriber::fmt().with_env_filter(filter).with_test_writer().try_init();
        let dir = tempfile::tempdir().unwrap();
        let log = SqliteLog::open(&dir.path().join("spine.db")).unwrap();
        let registers = Arc::new(Sqlite::open(&dir.path().join("pavilion.db")).unwrap());
        for entry in matches {
            catalog::put(&*registers, entry).await.unwrap();
        }
        let log = Arc::new(Spine { log: RwLock::new(log), lost: AtomicBool::new(false) });
        Ground { dir, log, registers }
    }

    pub async fn append(&self, events: &[Event]) {
        self.log.append(&events.iter().map(record).collect::<Vec<_>>()).await.unwrap();
    }

    pub async fn shard(&self) -> Shard {
        self.shard_at("127.0.0.1:0".parse().unwrap()).await
    }

    pub async fn shard_at(&self, address: SocketAddr) -> Shard {
        // The one before may still be letting go of it.
        let listener = timeout(HANG, async {
            loop {
                match TcpListener::bind(address).await {
                    Ok(listener) => break listener,
                    Err(_) => tokio::task::yield_now().await,
                }
            }
        });
        let listener = listener.await.unwrap();
        let address = listener.local_addr().unwrap();
        let config = shard::Config::default();
        let serving = shard::serve(
            config,
            listener,
            self.log.clone(),
            Arc::new(MemoryReplay::default()),
            self.registers.clone(),
            CancellationToken::new(),
        );
        Shard { address, task: tokio::spawn(async move { serving.await.unwrap() }) }
    }
}

/// A shard in a task. Dropped, it is gone in the middle of whatever it did.
pub struct Shard {
    pub address: SocketAddr,
    task: JoinHandle<()>,
}

impl Drop for Shard {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Quick to come back.
pub fn limits() -> Limits {
    Limits {
        beat_every: Duration::from_millis(100),
        retry_min: Duration::from_millis(5),
        retry_max: Duration::from_millis(50),
        ..Limits::default()
    }
}

pub fn subscriber(address: SocketAddr) -> Subscriber {
    Subscriber::connect(vec![address.to_string()], "test", limits())
}

pub async fn next(updates: &mut mpsc::Receiver<Update>) -> Update {
    timeout(HANG, updates.recv()).await.expect("nothing comes").expect("it has ended")
}

/// Takes until the update comes that is waited for.
pub async fn until(updates: &mut mpsc::Receiver<Update>, wanted: impl Fn(&Update) -> bool) -> Update {
    loop {
        let update = next(updates).await;
        if wanted(&update) {
            return update;
        }
    }
}

/// What a taker was given.
#[derive(Debug, Default)]
pub struct Taken {
    pub cursor: Option<Cursor>,
    /// Each (event, revision) and its frame.
    pub frames: BTreeMap<(u64, u32), serde_json::Value>,
    /// In the order of coming, after dropping by key.
    pub order: Vec<(u64, u32)>,
    pub newest: BTreeMap<u64, u32>,
    pub repeated: usize,
}

impl Taken {
    pub fn take(&mut self, update: Update) {
        match update {
            Update::Start { after } => {
                if let Some(cursor) = self.cursor {
                    assert_eq!(after, cursor, "it continues where it was");
                }
                self.cursor = Some(after);
            }
            Update::Message(message) => {
                let cursor = self.cursor.as_mut().unwrap();
                assert!(message.offset > cursor.offset);
                cursor.offset = message.offset;
                let frame: serde_json::Value = serde_json::from_slice(&message.json).unwrap();
                assert_eq!(frame["cursor"], cursor.to_string());
                assert_eq!(
                    (&frame["event_id"], &frame["revision"]),
                    (&message.event.into(), &message.revision.into())
                );
                let key = (message.event, message.revision);
                if self.frames.insert(key, frame).is_some() {
                    self.repeated += 1;
                    return;
                }
                self.order.push(key);
                let newest = self.newest.entry(message.event).or_default();
                assert!(message.revision > *newest, "revisions never go backwards");
                *newest = message.revision;
            }
            Update::Live | Update::Paused { .. } | Update::Resumed => {}
        }
    }

    pub async fn until(&mut self, updates: &mut mpsc::Receiver<Update>, events: usize) {
        while self.order.len() < events {
            self.take(next(updates).await);
        }
    }
}

pub fn keys(events: &[Event]) -> Vec<(u64, u32)> {
    events.iter().map(|event| (event.event_id.0, event.revision)).collect()
}
