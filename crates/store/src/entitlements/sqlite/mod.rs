//! The embedded store: one SQLite file.

mod read;
mod tables;
mod write;

use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use rusqlite::Connection;

use super::{ACCOUNTS_MAX, Change, DEADLINE, Entitlements, PAGE_MAX, Provisional, Purchase, Tally, Verdict};
use super::{changes_taken, few, passes_taken, purchases_taken};
use crate::Error;
use crate::worker::Worker;

/// Entitlements in a SQLite file. One thread writes, and whatever waits for it becomes one transaction; another reads.
/// Clones share both.
#[derive(Clone)]
pub struct SqliteEntitlements {
    writer: Worker,
    reader: Worker,
}

impl SqliteEntitlements {
    /// Opens the file, or makes it.
    ///
    /// # Errors
    ///
    /// The file cannot be opened, or no thread started.
    pub fn open(path: &Path) -> Result<SqliteEntitlements, Error> {
        SqliteEntitlements::open_with(path, DEADLINE)
    }

    /// The same with another deadline: whoever asks gets an answer, or that there is none, within it.
    ///
    /// # Errors
    ///
    /// The file cannot be opened, or no thread started.
    pub fn open_with(path: &Path, deadline: Duration) -> Result<SqliteEntitlements, Error> {
        let writer = Worker::start("entitlement-write", tables::open(path)?, deadline, true)?;
        let reader = Worker::start("entitlement-read", tables::open(path)?, deadline, false)?;
        Ok(SqliteEntitlements { writer, reader })
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, Error> {
        self.reader.run(|c| Ok(work(c)?)).await
    }

    async fn write(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<()> + Send + 'static,
    ) -> Result<(), Error> {
        self.writer.run(|c| Ok(work(c)?)).await
    }
}

#[async_trait]
impl Entitlements for SqliteEntitlements {
    async fn put_purchases(&self, purchases: &[Purchase]) -> Result<(), Error> {
        purchases_taken(purchases)?;
        let purchases = purchases.to_vec();
        self.write(move |c| purchases.iter().try_for_each(|p| write::purchase(c, p))).await
    }

    async fn held(&self, accounts: &[String], now_ms: i64) -> Result<Vec<Purchase>, Error> {
        few(accounts.len(), ACCOUNTS_MAX)?;
        let accounts = accounts.to_vec();
        self.read(move |c| read::held(c, &accounts, now_ms)).await
    }

    async fn changed(
        &self,
        since_ms: i64,
        after: Option<(i64, String)>,
        max: usize,
    ) -> Result<Vec<Purchase>, Error> {
        self.read(move |c| read::changed(c, since_ms, after, max.min(PAGE_MAX))).await
    }

    async fn record(&self, passes: &[Provisional]) -> Result<(), Error> {
        passes_taken(passes)?;
        let passes = passes.to_vec();
        self.write(move |c| passes.iter().try_for_each(|p| write::provisional(c, p))).await
    }

    async fn settle(&self, verdicts: &[(String, Verdict)], at_ms: i64) -> Result<(), Error> {
        few(verdicts.len(), PAGE_MAX)?;
        let verdicts = verdicts.to_vec();
        self.write(move |c| {
            verdicts.iter().try_for_each(|(id, verdict)| write::verdict(c, id, *verdict, at_ms))
        })
        .await
    }

    async fn provisional(&self, since_ms: i64, max: usize) -> Result<Vec<Provisional>, Error> {
        self.read(move |c| read::provisional(c, since_ms, max.min(PAGE_MAX))).await
    }

    async fn tally(&self, since_ms: i64) -> Result<Tally, Error> {
        self.read(move |c| read::tally(c, since_ms)).await
    }

    async fn note(&self, changes: &[Change]) -> Result<(), Error> {
        changes_taken(changes)?;
        let changes = changes.to_vec();
        self.write(move |c| changes.iter().try_for_each(|change| write::change(c, change))).await
    }

    async fn changes(&self, before_ms: i64, max: usize) -> Result<Vec<Change>, Error> {
        self.read(move |c| read::changes(c, before_ms, max.min(PAGE_MAX))).await
    }
}

#[cfg(test)]
mod tests;
