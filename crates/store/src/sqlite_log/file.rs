//! The file and its tables.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use crate::Error;

/// How long one process waits for another's transaction: two ingests may share a file on a slow disk, where a commit
/// takes tens of milliseconds, and a record that cannot be written must be tried for longer than a feed is patient.
const BUSY_MAX: Duration = Duration::from_secs(5);

/// Opens the file, or makes it.
pub(super) fn open(path: &Path) -> Result<Connection, Error> {
    Ok(crate::sqlite::open(path, BUSY_MAX, prepare)?)
}

fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "wal")?;
    // With FULL a commit has reached the disk when it returns: what was acknowledged to a feed survives a power cut.
    connection.pragma_update(None, "synchronous", "full")?;
    connection.execute_batch(
        "CREATE TABLE IF NOT EXISTS topics (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, epoch INTEGER NOT NULL, last INTEGER NOT NULL
         );
         CREATE TABLE IF NOT EXISTS records (
            topic INTEGER NOT NULL, offset INTEGER NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL,
            PRIMARY KEY (topic, offset)
         ) WITHOUT ROWID;
         CREATE UNIQUE INDEX IF NOT EXISTS records_key ON records (topic, key);
         CREATE TABLE IF NOT EXISTS commits (
            topic TEXT NOT NULL, readers TEXT NOT NULL, offset INTEGER NOT NULL, PRIMARY KEY (topic, readers)
         ) WITHOUT ROWID;",
    )
}
