//! The embedded store: one SQLite file, shared by the processes of one machine.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use crate::registers::{KEY_MAX, LIST_MAX, VALUE_MAX};
use crate::{Error, Outcome, Register, Registers};

/// How long a writer waits for another process's transaction, which takes well under a millisecond.
const BUSY_MAX: Duration = Duration::from_millis(500);

/// How long a file is tried that others are making: all roles of a machine start at once, on a disk that may be slow.
const OPEN_MAX: Duration = Duration::from_secs(5);
/// How often.
const BUSY_EVERY: Duration = Duration::from_millis(10);

/// Registers in a SQLite file.
#[derive(Clone)]
pub struct Sqlite {
    connection: Arc<Mutex<Connection>>,
}

impl Sqlite {
    /// Opens the file, or makes it.
    pub fn open(path: &Path) -> Result<Sqlite, Error> {
        let connection = open(path, BUSY_MAX, prepare)?;
        Ok(Sqlite { connection: Arc::new(Mutex::new(connection)) })
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let connection = self.connection.clone();
        tokio::task::spawn_blocking(move || {
            work(&mut connection.lock().unwrap_or_else(PoisonError::into_inner))
        })
        .await
        .map_err(|_| Error::Worker)?
    }
}

/// Opens a file that others may be making at the same time. `busy_max`: how long a transaction waits for another's.
pub(crate) fn open(
    path: &Path,
    busy_max: Duration,
    prepare: impl Fn(&Connection) -> rusqlite::Result<()>,
) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(busy_max)?;
    let began = Instant::now();
    // Of several processes that open a new file at once, all but one are told at once that it is locked when they ask
    // for a write-ahead log: SQLite does not wait for that lock.
    loop {
        match prepare(&connection) {
            Err(error) if is_busy(&error) && began.elapsed() < OPEN_MAX => std::thread::sleep(BUSY_EVERY),
            prepared => break prepared?,
        }
    }
    Ok(connection)
}

/// Makes a file what it must be.
fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    // A write-ahead log lets several processes read while one writes; with NORMAL a power cut can lose the
    // last transactions but never corrupt, and no register here outlives its match by need.
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "normal")?;
    connection.execute_batch(
        "CREATE TABLE IF NOT EXISTS registers (
            key TEXT PRIMARY KEY, value TEXT NOT NULL, version INTEGER NOT NULL, expires_ms INTEGER
         ) WITHOUT ROWID;
         CREATE INDEX IF NOT EXISTS registers_expiry ON registers (expires_ms) WHERE expires_ms IS NOT NULL;",
    )
}

/// The keys that begin so, as a range that an index can be asked for: names are text, and no text has a character
/// above the last one.
pub(crate) fn between(prefix: &str) -> (String, String) {
    (prefix.to_owned(), format!("{prefix}\u{10ffff}"))
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked)
    )
}

#[async_trait]
impl Registers for Sqlite {
    async fn get(&self, key: &str) -> Result<Option<Register>, Error> {
        let key = key.to_owned();
        self.blocking(move |c| read(c, &key, now_ms())).await
    }

    async fn list(&self, prefix: &str) -> Result<Vec<(String, Register)>, Error> {
        let (first, last) = between(prefix);
        self.blocking(move |c| {
            let mut found = c.prepare_cached(
                "SELECT key, value, version FROM registers
                 WHERE key >= ?1 AND key < ?2 AND (expires_ms IS NULL OR expires_ms > ?3)
                 ORDER BY key LIMIT ?4",
            )?;
            let rows = found.query_map(params![first, last, now_ms(), LIST_MAX as i64], |row| {
                let register = Register { value: row.get(1)?, version: row.get::<_, i64>(2)? as u64 };
                Ok((row.get(0)?, register))
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
        .await
    }

    async fn put_if(
        &self,
        key: &str,
        value: &str,
        expected: Option<u64>,
        ttl: Option<Duration>,
    ) -> Result<Outcome, Error> {
        for (what, len, max) in [("key", key.len(), KEY_MAX), ("value", value.len(), VALUE_MAX)] {
            if len > max {
                return Err(Error::TooLarge { what, len, max });
            }
        }
        let (key, value) = (key.to_owned(), value.to_owned());
        self.blocking(move |c| {
            let now = now_ms();
            let tx = c.transaction_with_behavior(TransactionBehavior::Immediate)?;
            tx.execute("DELETE FROM registers WHERE expires_ms <= ?1", [now])?;
            let standing = read(&tx, &key, now)?;
            if let Some(standing) = standing.filter(|r| expected != Some(r.version)) {
                return Ok(Outcome::Lost(standing));
            }
            let version = expected.unwrap_or(0) + 1;
            let expires =
                ttl.map(|ttl| now.saturating_add(i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX)));
            tx.execute(
                "INSERT OR REPLACE INTO registers (key, value, version, expires_ms) VALUES (?1, ?2, ?3, ?4)",
                params![key, value, version as i64, expires],
            )?;
            tx.commit()?;
            Ok(Outcome::Won(Register { value, version }))
        })
        .await
    }
}

fn read(c: &Connection, key: &str, now: i64) -> Result<Option<Register>, Error> {
    let row = c
        .prepare_cached(
            "SELECT value, version FROM registers WHERE key = ?1 AND (expires_ms IS NULL OR expires_ms > ?2)",
        )?
        .query_row(params![key, now], |row| {
            Ok(Register { value: row.get(0)?, version: row.get::<_, i64>(1)? as u64 })
        })
        .optional()?;
    Ok(row)
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn conforms() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.db");
        // Two handles, as two processes would have.
        let (one, two) = (Sqlite::open(&path).unwrap(), Sqlite::open(&path).unwrap());
        crate::conformance::registers(&one, &two).await;
    }

    #[tokio::test]
    async fn says_what_is_too_large() {
        let dir = tempfile::tempdir().unwrap();
        let store = Sqlite::open(&dir.path().join("store.db")).unwrap();
        let error = store.put_if(&"k".repeat(600), "v", None, None).await.unwrap_err();
        assert!(error.to_string().contains("key has 600 bytes"), "{error}");
    }

    #[test]
    fn a_new_file_is_opened_by_many_at_once() {
        for _ in 0..20 {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("pavilion.db");
            std::thread::scope(|scope| {
                let opening: Vec<_> = (0..8).map(|_| scope.spawn(|| Sqlite::open(&file).map(drop))).collect();
                for opened in opening {
                    opened.join().unwrap().unwrap();
                }
            });
        }
    }
}
