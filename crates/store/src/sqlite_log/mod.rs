//! The embedded log: one SQLite file, shared by the processes of one machine.

mod file;
mod watch;
mod write;

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, params};
use tokio::sync::{mpsc, oneshot};

use self::watch::Watch;
use self::write::{JOBS_MAX, Job};
use crate::log::{APPEND_MAX, NAME_MAX, READ_MAX, RECORD_MAX, TOPICS_MAX};
use crate::{Appended, Error, Log, New, Record, bounded};

/// Logs in a SQLite file, which should be their own: each commit waits for the disk.
///
/// One thread writes: what waits while the disk is busy becomes one transaction. Reads have a connection of their own
/// and never wait for it. Clones share both.
#[derive(Clone)]
pub struct SqliteLog {
    jobs: mpsc::Sender<Job>,
    reader: Arc<Mutex<Connection>>,
    watch: Arc<Watch>,
}

impl SqliteLog {
    /// Opens the file, or makes it.
    pub fn open(path: &Path) -> Result<SqliteLog, Error> {
        let writer = file::open(path)?;
        let reader = Arc::new(Mutex::new(file::open(path)?));
        let watch = Watch::start(file::open(path)?)?;
        let (jobs, waiting) = mpsc::channel(JOBS_MAX);
        let wake = watch.clone();
        std::thread::Builder::new()
            .name("log-write".into())
            .spawn(move || write::run(writer, waiting, || wake.wake()))
            .map_err(Error::Thread)?;
        Ok(SqliteLog { jobs, reader, watch })
    }

    async fn job<T>(&self, job: impl FnOnce(oneshot::Sender<Result<T, Error>>) -> Job) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        self.jobs.send(job(reply)).await.map_err(|_| Error::Worker)?;
        answer.await.map_err(|_| Error::Worker)?
    }

    async fn reading<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let reader = self.reader.clone();
        tokio::task::spawn_blocking(move || work(&reader.lock().unwrap_or_else(PoisonError::into_inner)))
            .await
            .map_err(|_| Error::Worker)?
    }
}

#[async_trait]
impl Log for SqliteLog {
    async fn append(&self, records: &[New]) -> Result<Vec<Appended>, Error> {
        if records.len() > APPEND_MAX {
            return Err(Error::TooMany { len: records.len(), max: APPEND_MAX });
        }
        for record in records {
            bounded("topic", record.topic.len(), NAME_MAX)?;
            bounded("key", record.key.len(), NAME_MAX)?;
            bounded("value", record.value.len(), RECORD_MAX)?;
        }
        if records.is_empty() {
            return Ok(Vec::new());
        }
        let records = records.to_vec();
        self.job(|reply| Job::Append { records, reply }).await
    }

    async fn read(&self, topic: &str, after: u64, max: usize) -> Result<Vec<Record>, Error> {
        let topic = topic.to_owned();
        let max = max.min(READ_MAX) as i64;
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        self.reading(move |c| {
            let mut found = c.prepare_cached(
                "SELECT r.offset, r.key, r.value FROM records r JOIN topics t ON t.id = r.topic
                 WHERE t.name = ?1 AND r.offset > ?2 ORDER BY r.offset LIMIT ?3",
            )?;
            let rows = found.query_map(params![topic, after, max], |row| {
                Ok(Record {
                    offset: row.get::<_, i64>(0)? as u64,
                    key: row.get(1)?,
                    value: row.get::<_, Vec<u8>>(2)?.into(),
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
        .await
    }

    async fn epoch(&self, topic: &str) -> Result<Option<u32>, Error> {
        let topic = topic.to_owned();
        self.reading(move |c| {
            let mut found = c.prepare_cached("SELECT epoch FROM topics WHERE name = ?1")?;
            Ok(found.query_row([topic], |row| row.get(0)).optional()?)
        })
        .await
    }

    async fn committed(&self, topic: &str, group: &str) -> Result<u64, Error> {
        let (topic, group) = (topic.to_owned(), group.to_owned());
        self.reading(move |c| {
            let mut found =
                c.prepare_cached("SELECT offset FROM commits WHERE topic = ?1 AND readers = ?2")?;
            let offset = found.query_row([topic, group], |row| row.get::<_, i64>(0)).optional()?;
            Ok(offset.unwrap_or(0) as u64)
        })
        .await
    }

    async fn commit(&self, topic: &str, group: &str, offset: u64) -> Result<(), Error> {
        bounded("topic", topic.len(), NAME_MAX)?;
        bounded("group", group.len(), NAME_MAX)?;
        let (topic, group) = (topic.to_owned(), group.to_owned());
        self.job(|reply| Job::Commit { topic, group, offset, reply }).await
    }

    async fn topics(&self, prefix: &str) -> Result<Vec<String>, Error> {
        let (first, last) = crate::sqlite::between(prefix);
        self.reading(move |c| {
            let mut found = c.prepare_cached(
                "SELECT name FROM topics WHERE name >= ?1 AND name < ?2 ORDER BY name LIMIT ?3",
            )?;
            let rows = found.query_map(params![first, last, TOPICS_MAX as i64], |row| row.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
        .await
    }

    fn changed(&self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(self.watch.changed())
    }
}

#[cfg(test)]
mod tests;
