//! The adapters between Pavilion and what it keeps: each concern is one trait with an embedded
//! implementation and one for a fleet, and one conformance suite that both pass.
//!
//! So far: on SQLite and on PostgreSQL [`Registers`], small values agreed by compare-and-set (anchors, plans, letters, the
//! catalog; later leases and levers), [`Accounts`], who viewers are, and [`Entitlements`], who bought what and who was let
//! in without a check; on SQLite [`Log`], one ordered, durable log a topic (the score's spine); in memory [`Replay`], what
//! was published, for those who come back. Which of them is one word, a [`Place`]. etcd, Kafka and Redis Streams follow
//! with the fleets.

mod accounts;
mod entitlements;
mod log;
mod place;
mod postgres;
mod registers;
mod replay;
mod sqlite;
mod sqlite_log;
mod worker;

pub mod conformance;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use accounts::{
    Account, Accounts, Code, Digest, External, LISTED_MAX, NewSession, PostgresAccounts, Profile, Put,
    Rotated, Rotation, Salt, Session, SqliteAccounts, Taken,
};
pub use entitlements::{
    ACCOUNTS_MAX, Change, DOCUMENT_MAX, Entitlements, PAGE_MAX, PURCHASES_MAX, PostgresEntitlements,
    Provisional, Purchase, SqliteEntitlements, Tally, Verdict, WORD_MAX,
};
pub use log::{APPEND_MAX, Appended, Log, New, READ_MAX, Record, TOPICS_MAX};
pub use place::{Place, Url, shown};
pub use postgres::PostgresRegisters;
pub use registers::{LIST_MAX, Outcome, Register, Registers};
pub use replay::{Bounds, Entry, MemoryReplay, REPLAY_READ_MAX, Replay};
pub use sqlite::Sqlite;
pub use sqlite_log::SqliteLog;

/// What a store can fail with.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database refused or could not be reached.
    #[error("the store failed: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// The blocking worker went away (the process is ending).
    #[error("the store's worker ended")]
    Worker,
    /// A group of writes was not committed; any of them may be tried again.
    #[error("the store could not be written: {0}")]
    Commit(String),
    /// So many wait already that nobody else would be answered in time.
    #[error("the store has more to do than it can")]
    Busy,
    /// No answer before the deadline. A write may have been made, or not.
    #[error("the store did not answer in time")]
    Late,
    /// A database server that cannot be reached, or was lost in the middle: of a write it is not known whether it was made.
    #[error("the database is gone: {0}")]
    Gone(String),
    /// A database server would not do it.
    #[error("the database refused: {message} ({code})")]
    Refused {
        /// SQLSTATE (PostgreSQL, "PostgreSQL Error Codes").
        code: String,
        /// The server's sentence, without what it quotes.
        message: String,
    },
    /// A URL that no database can be found by.
    #[error("the database's URL: {0}")]
    Address(String),
    /// A folder that cannot be made.
    #[error("making the folder {}: {}", .0.display(), .1)]
    Folder(std::path::PathBuf, std::io::Error),
    /// A thread could not be started.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
    /// A key or value over its limit.
    #[error("the {what} has {len} bytes, more than the {max} that one may have")]
    TooLarge {
        /// `key`, `value`, `topic` or `group`.
        what: &'static str,
        /// Its length.
        len: usize,
        /// The limit.
        max: usize,
    },
    /// More records in one append than are taken.
    #[error("{len} records in one append, more than {max}")]
    TooMany {
        /// How many there were.
        len: usize,
        /// The limit.
        max: usize,
    },
}

/// What is too long for any implementation is refused by each.
fn bounded(what: &'static str, len: usize, max: usize) -> Result<(), Error> {
    if len > max { Err(Error::TooLarge { what, len, max }) } else { Ok(()) }
}
