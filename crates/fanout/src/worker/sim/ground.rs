//! The log, the shard that follows it, and the ways to it.

use std::future::poll_fn;
use std::io::{Error, ErrorKind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use async_trait::async_trait;
use relay::{Connection, Cursor, History, Kept, Limits, Message, Page, Publisher, Replay};
use scores::shard::Fold;
use scores::{Event, Sport};
use store::Record;
use tokio::task::JoinSet;

pub(super) const MATCH: &str = "demo";

/// How long a shard is gone at most, in steps.
const DOWN_STEPS: u32 = 25;

/// What is durable.
struct Log {
    epoch: u32,
    records: Vec<Record>,
    fold: Fold,
    /// What a shard makes of the records; none for those that were overtaken.
    messages: Vec<Option<Message>>,
    /// Whether shards fold by themselves, which takes longer than all the rest, and are held against that.
    folds: bool,
}

impl Log {
    fn new(epoch: u32, folds: bool) -> Log {
        let fold = Fold::new(MATCH, Sport::Cricket, epoch);
        Log { epoch, records: Vec::new(), fold, messages: Vec::new(), folds }
    }

    /// Its epoch; 0 while there is no record, and so no log.
    fn life(&self) -> u32 {
        if self.records.is_empty() { 0 } else { self.epoch }
    }

    fn append(&mut self, event: &Event) {
        let record = Record {
            offset: self.records.len() as u64 + 1,
            key: format!("{}.{}", event.event_id.0, event.revision),
            value: serde_json::to_vec(event).unwrap().into(),
        };
        self.messages.push(self.fold.message(&record).unwrap());
        self.records.push(record);
    }

    /// What a shard that has just been started has to publish after an offset.
    fn made_after(&self, after: u64) -> Vec<Message> {
        let known = || self.messages[after as usize..].iter().flatten().cloned();
        if self.folds {
            let mut fold = Fold::new(MATCH, Sport::Cricket, self.epoch);
            let (old, new) = self.records.split_at(after as usize);
            old.iter().for_each(|record| fold.note(record));
            let made: Vec<Message> = new.iter().filter_map(|record| fold.message(record).unwrap()).collect();
            assert_eq!(made, known().collect::<Vec<_>>(), "the same records give the same messages");
            return made;
        }
        known().collect()
    }
}

/// What has left the replay.
struct Past(Arc<Mutex<Log>>);

#[async_trait]
impl History for Past {
    async fn read(&self, _: &str, epoch: u32, after: u64, max: usize) -> Result<Page, relay::Error> {
        let log = self.0.lock().unwrap();
        if log.life() != epoch || after > log.records.len() as u64 {
            return Err(relay::Error::History("the log is another one".into()));
        }
        let mut messages = log.made_after(after);
        messages.truncate(max);
        Ok(Page { after, messages })
    }
}

struct Shard {
    publisher: Publisher,
    epoch: u32,
    upto: usize,
    takers: JoinSet<()>,
    /// Set for connections that are to fall silent without being cut.
    silent: Vec<Arc<AtomicBool>>,
    pipe_bytes: usize,
}

impl Shard {
    /// As the shard's actor does it: the topic is opened when all of the log was read.
    fn rebuild(&mut self, log: &Log) {
        let mut kept = Kept::new(replay());
        for message in log.made_after(0) {
            kept.push(message);
        }
        (self.epoch, self.upto) = (log.life(), log.records.len());
        self.publisher.open_with(MATCH, log.life(), kept).unwrap();
    }

    fn connect(&mut self) -> Connection {
        let (theirs, ours) = tokio::io::duplex(self.pipe_bytes);
        let (read, write) = tokio::io::split(ours);
        let (publisher, silent) = (self.publisher.clone(), Arc::new(AtomicBool::new(false)));
        self.silent.push(silent.clone());
        let mut serving =
            Box::pin(async move { publisher.serve_one(Connection::new(read, write), "edge").await });
        self.takers.spawn(poll_fn(move |context| match silent.load(Ordering::Relaxed) {
            true => Poll::Pending,
            false => serving.as_mut().poll(context),
        }));
        let (read, write) = tokio::io::split(theirs);
        Connection::new(read, write)
    }
}

/// Small, so that who was away needs the log.
fn replay() -> Replay {
    Replay { messages_max: 12, bytes_max: 1 << 20, ttl: Duration::from_secs(3_600 * 24 * 365 * 100) }
}

/// All of it.
pub(super) struct Ground {
    log: Arc<Mutex<Log>>,
    shard: Arc<Mutex<Option<Shard>>>,
    rng: fastrand::Rng,
    down_steps: u32,
}

impl Ground {
    pub(super) fn new(mut rng: fastrand::Rng, folds: bool) -> Ground {
        let log = Log::new(rng.u32(1..), folds);
        Ground { log: Arc::new(Mutex::new(log)), shard: Arc::default(), rng, down_steps: 0 }
    }

    /// Makes an event durable.
    pub(super) fn append(&mut self, event: &Event) {
        self.log.lock().unwrap().append(event);
    }

    /// The log is made anew, with all that was in it and in another life.
    pub(super) fn begin_anew(&mut self) {
        let mut log = self.log.lock().unwrap();
        let mut anew = Log::new(self.rng.u32(1..), log.folds);
        for record in &log.records {
            anew.append(&serde_json::from_slice(&record.value).unwrap());
        }
        *log = anew;
    }

    pub(super) fn start_shard(&mut self) {
        let limits = Limits { window_messages: self.rng.usize(2..40), ..Limits::default() };
        let past = Past(self.log.clone());
        let mut shard = Shard {
            publisher: Publisher::new(limits, Some(Arc::new(past))),
            epoch: 0,
            upto: 0,
            takers: JoinSet::new(),
            silent: Vec::new(),
            pipe_bytes: self.rng.usize(200..20_000),
        };
        shard.rebuild(&self.log.lock().unwrap());
        *self.shard.lock().unwrap() = Some(shard);
    }

    pub(super) fn kill_shard(&mut self) {
        *self.shard.lock().unwrap() = None;
        self.down_steps = self.rng.u32(1..DOWN_STEPS);
    }

    /// Cuts all connections, in the middle of whatever they carry.
    pub(super) fn cut(&mut self) {
        if let Some(shard) = &mut *self.shard.lock().unwrap() {
            shard.takers.abort_all();
        }
    }

    /// Nothing more comes from the shard on its connections, and nothing is read.
    pub(super) fn fall_silent(&mut self) {
        if let Some(shard) = &*self.shard.lock().unwrap() {
            shard.silent.iter().for_each(|silent| silent.store(true, Ordering::Relaxed));
        }
    }

    pub(super) fn is_here(&self) -> bool {
        self.shard.lock().unwrap().is_some()
    }

    /// The shard follows the log, or comes back.
    pub(super) fn step(&mut self) {
        if !self.is_here() {
            self.down_steps = self.down_steps.saturating_sub(1);
            if self.down_steps == 0 {
                self.start_shard();
            }
            return;
        }
        let log = self.log.lock().unwrap();
        if let Some(shard) = &mut *self.shard.lock().unwrap() {
            if shard.epoch != log.life() {
                shard.rebuild(&log);
            }
            for message in log.messages[shard.upto..].iter().flatten() {
                shard.publisher.publish(MATCH, message.clone()).unwrap();
            }
            shard.upto = log.messages.len();
        }
    }

    /// How a socket edge connects.
    pub(super) fn dial(
        &self,
    ) -> impl Fn() -> std::future::Ready<std::io::Result<Connection>> + Send + Sync + 'static {
        let shard = self.shard.clone();
        move || {
            let connection = shard.lock().unwrap().as_mut().map(Shard::connect);
            std::future::ready(connection.ok_or_else(|| Error::from(ErrorKind::ConnectionRefused)))
        }
    }

    /// What a snapshot says of everything up to a cursor: the newest of each event.
    pub(super) fn snapshot(&self, cursor: Cursor) -> Option<Vec<Message>> {
        let log = self.log.lock().unwrap();
        let upto = usize::try_from(cursor.offset).ok()?;
        if cursor.offset > 0 && (cursor.epoch != log.life() || upto > log.messages.len()) {
            return None;
        }
        Some(log.messages[..upto].iter().flatten().cloned().collect())
    }

    /// How many records were overtaken, and published by nobody.
    pub(super) fn overtaken(&self) -> u64 {
        self.log.lock().unwrap().messages.iter().filter(|message| message.is_none()).count() as u64
    }
}
