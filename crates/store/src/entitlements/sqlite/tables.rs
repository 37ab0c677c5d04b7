//! The file and its tables.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use crate::Error;

/// How long a transaction waits for another process's: several doors may share a file, and a commit on a slow disk takes
/// tens of milliseconds. Whoever waits longer is better answered provisionally.
const BUSY_MAX: Duration = Duration::from_millis(500);

pub(super) fn open(path: &Path) -> Result<Connection, Error> {
    Ok(crate::sqlite::open(path, BUSY_MAX, prepare)?)
}

fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "wal")?;
    // What was paid for, and what was promised in a panic, survives a power cut.
    connection.pragma_update(None, "synchronous", "full")?;
    connection.execute_batch(
        "CREATE TABLE IF NOT EXISTS purchases (
            id TEXT PRIMARY KEY, account TEXT NOT NULL, product TEXT NOT NULL,
            from_ms INTEGER NOT NULL, until_ms INTEGER NOT NULL, changed_ms INTEGER NOT NULL
         ) WITHOUT ROWID;
         CREATE INDEX IF NOT EXISTS purchases_account ON purchases (account, until_ms);
         CREATE INDEX IF NOT EXISTS purchases_changed ON purchases (changed_ms, id);
         CREATE TABLE IF NOT EXISTS provisional (
            id TEXT PRIMARY KEY, account TEXT, device TEXT NOT NULL, game TEXT NOT NULL,
            issued_ms INTEGER NOT NULL, until_ms INTEGER NOT NULL, verdict TEXT, settled_ms INTEGER
         ) WITHOUT ROWID;
         CREATE INDEX IF NOT EXISTS provisional_issued ON provisional (issued_ms, id);
         CREATE TABLE IF NOT EXISTS changes (
            id TEXT PRIMARY KEY, at_ms INTEGER NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL,
            before TEXT, after TEXT
         ) WITHOUT ROWID;
         CREATE INDEX IF NOT EXISTS changes_at ON changes (at_ms, id);",
    )
}
