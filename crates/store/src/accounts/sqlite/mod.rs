//! The embedded accounts: one SQLite file, shared by the processes of one machine.

mod people;
mod sessions;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use rusqlite::Connection;

use super::{
    ANSWER_MAX, Account, Accounts, Code, Digest, External, NewSession, Profile, Put, Rotated, Rotation,
    Session, Taken,
};
use crate::Error;
use crate::worker::Worker;

/// How long one process waits for another's transaction, which takes some milliseconds; well under the time in which
/// an answer is due.
const BUSY_MAX: Duration = Duration::from_millis(500);

/// Threads that read: a slow one (a list) does not hold up the others.
const READERS: usize = 2;

/// Accounts in a SQLite file. Clones share its threads: one that writes, [`READERS`] that read.
#[derive(Clone)]
pub struct SqliteAccounts {
    writer: Worker,
    readers: Arc<[Worker]>,
    next: Arc<AtomicUsize>,
}

impl SqliteAccounts {
    /// Opens the file, or makes it.
    ///
    /// # Errors
    ///
    /// It cannot be opened, or a thread cannot be started.
    pub fn open(path: &Path) -> Result<SqliteAccounts, Error> {
        let open = || crate::sqlite::open(path, BUSY_MAX, prepare);
        let writer = Worker::start("accounts-write", open()?, ANSWER_MAX, true)?;
        let reader = |_| Worker::start("accounts-read", open()?, ANSWER_MAX, false);
        let readers = (0..READERS).map(reader).collect::<Result<_, _>>()?;
        Ok(SqliteAccounts { writer, readers, next: Arc::default() })
    }

    fn reader(&self) -> &Worker {
        // Whichever: they are alike.
        &self.readers[self.next.fetch_add(1, Ordering::Relaxed) % READERS]
    }
}

fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "wal")?;
    // A refresh token that a power cut took back would look like one that was stolen.
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.execute_batch(
        "CREATE TABLE IF NOT EXISTS accounts (
            id TEXT PRIMARY KEY, email TEXT UNIQUE, password TEXT, created_ms INTEGER NOT NULL
         ) WITHOUT ROWID;
         CREATE TABLE IF NOT EXISTS externals (
            issuer TEXT NOT NULL, subject TEXT NOT NULL,
            account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
            PRIMARY KEY (issuer, subject)
         ) WITHOUT ROWID;
         CREATE INDEX IF NOT EXISTS externals_account ON externals (account);
         CREATE TABLE IF NOT EXISTS codes (
            email TEXT PRIMARY KEY, digest BLOB NOT NULL, expires_ms INTEGER NOT NULL, tries INTEGER NOT NULL
         ) WITHOUT ROWID;
         CREATE INDEX IF NOT EXISTS codes_expiry ON codes (expires_ms);
         CREATE TABLE IF NOT EXISTS profiles (
            id TEXT PRIMARY KEY, account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
            name TEXT NOT NULL, language TEXT, created_ms INTEGER NOT NULL
         ) WITHOUT ROWID;
         CREATE INDEX IF NOT EXISTS profiles_account ON profiles (account, created_ms);
         CREATE TABLE IF NOT EXISTS sessions (
            id TEXT PRIMARY KEY, family BLOB NOT NULL UNIQUE,
            account TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
            device TEXT NOT NULL, label TEXT NOT NULL,
            profile TEXT REFERENCES profiles (id) ON DELETE SET NULL,
            created_ms INTEGER NOT NULL, used_ms INTEGER NOT NULL, expires_ms INTEGER NOT NULL,
            token BLOB NOT NULL, last BLOB, salt BLOB, rotated_ms INTEGER, ended_ms INTEGER
         ) WITHOUT ROWID;
         CREATE INDEX IF NOT EXISTS sessions_account ON sessions (account, used_ms);
         CREATE INDEX IF NOT EXISTS sessions_profile ON sessions (profile);
         CREATE INDEX IF NOT EXISTS sessions_expiry ON sessions (expires_ms);",
    )
}

#[async_trait]
impl Accounts for SqliteAccounts {
    async fn create(&self, account: &Account) -> Result<bool, Error> {
        let account = account.clone();
        self.writer.run(move |c| people::create(c, &account)).await
    }

    async fn account(&self, id: &str) -> Result<Option<Account>, Error> {
        let id = id.to_owned();
        self.reader().run(move |c| people::account(c, &id)).await
    }

    async fn by_email(&self, email: &str) -> Result<Option<Account>, Error> {
        let email = email.to_owned();
        self.reader().run(move |c| people::by_email(c, &email)).await
    }

    async fn by_external(&self, external: &External, new: &Account) -> Result<Account, Error> {
        let (external, new) = (external.clone(), new.clone());
        self.writer.run(move |c| people::by_external(c, &external, new)).await
    }

    async fn set_password(
        &self,
        account: &str,
        hash: &str,
        keep: Option<&str>,
        now_ms: i64,
    ) -> Result<bool, Error> {
        let (account, hash, keep) = (account.to_owned(), hash.to_owned(), keep.map(str::to_owned));
        self.writer
            .run(move |c| {
                let there = people::set_password(c, &account, &hash)?;
                sessions::end_others(c, &account, keep.as_deref(), now_ms)?;
                Ok(there)
            })
            .await
    }

    async fn rehash(&self, account: &str, old: &str, new: &str) -> Result<bool, Error> {
        let (account, old, new) = (account.to_owned(), old.to_owned(), new.to_owned());
        self.writer.run(move |c| people::rehash(c, &account, &old, &new)).await
    }

    async fn delete(&self, account: &str) -> Result<bool, Error> {
        let account = account.to_owned();
        self.writer.run(move |c| people::delete(c, &account)).await
    }

    async fn put_code(&self, email: &str, code: &Code) -> Result<(), Error> {
        let (email, code) = (email.to_owned(), code.clone());
        self.writer.run(move |c| people::put_code(c, &email, &code)).await
    }

    async fn take_code(&self, email: &str, digest: &Digest, now_ms: i64) -> Result<Taken, Error> {
        let (email, digest) = (email.to_owned(), *digest);
        self.writer.run(move |c| people::take_code(c, &email, &digest, now_ms)).await
    }

    async fn profiles(&self, account: &str) -> Result<Vec<Profile>, Error> {
        let account = account.to_owned();
        self.reader().run(move |c| people::profiles(c, &account)).await
    }

    async fn put_profile(&self, profile: &Profile, max: usize) -> Result<Put, Error> {
        let profile = profile.clone();
        self.writer.run(move |c| people::put_profile(c, &profile, max)).await
    }

    async fn delete_profile(&self, account: &str, id: &str) -> Result<bool, Error> {
        let (account, id) = (account.to_owned(), id.to_owned());
        self.writer.run(move |c| people::delete_profile(c, &account, &id)).await
    }

    async fn begin(&self, new: &NewSession, max: usize) -> Result<(), Error> {
        let new = new.clone();
        self.writer.run(move |c| sessions::begin(c, &new, max)).await
    }

    async fn session(&self, id: &str, now_ms: i64) -> Result<Option<Session>, Error> {
        let id = id.to_owned();
        self.reader().run(move |c| sessions::session(c, &id, now_ms)).await
    }

    async fn sessions(&self, account: &str, now_ms: i64) -> Result<Vec<Session>, Error> {
        let account = account.to_owned();
        self.reader().run(move |c| sessions::all(c, &account, now_ms)).await
    }

    async fn choose(&self, session: &str, profile: Option<&str>, now_ms: i64) -> Result<bool, Error> {
        let (session, profile) = (session.to_owned(), profile.map(str::to_owned));
        self.writer.run(move |c| sessions::choose(c, &session, profile.as_deref(), now_ms)).await
    }

    async fn rotate(&self, rotation: &Rotation) -> Result<Rotated, Error> {
        let rotation = rotation.clone();
        self.writer.run(move |c| sessions::rotate(c, &rotation)).await
    }

    async fn end(&self, account: &str, session: &str, now_ms: i64) -> Result<bool, Error> {
        let (account, session) = (account.to_owned(), session.to_owned());
        self.writer.run(move |c| sessions::end(c, &account, &session, now_ms)).await
    }

    async fn end_others(&self, account: &str, keep: Option<&str>, now_ms: i64) -> Result<usize, Error> {
        let (account, keep) = (account.to_owned(), keep.map(str::to_owned));
        self.writer.run(move |c| sessions::end_others(c, &account, keep.as_deref(), now_ms)).await
    }

    async fn sweep(&self, now_ms: i64, max: usize) -> Result<usize, Error> {
        self.writer
            .run(move |c| Ok(people::sweep_codes(c, now_ms, max)? + sessions::sweep(c, now_ms, max)?))
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn conforms() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("accounts.db");
        // Two handles, as two processes would have.
        let (one, two) = (SqliteAccounts::open(&path).unwrap(), SqliteAccounts::open(&path).unwrap());
        crate::accounts::conformance::accounts(&one, &two).await;
    }

    #[tokio::test]
    async fn a_store_that_is_locked_says_so_soon() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("accounts.db");
        let accounts = SqliteAccounts::open(&path).unwrap();
        let other = rusqlite::Connection::open(&path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let began = std::time::Instant::now();
        let refused = accounts.sweep(0, 1).await.unwrap_err();
        assert!(matches!(refused, Error::Late | Error::Commit(_)), "{refused}");
        assert!(began.elapsed() < Duration::from_secs(5));
        // Reading goes on, and so does writing when it can.
        assert_eq!(accounts.account("nobody").await.unwrap(), None);
        other.execute_batch("ROLLBACK").unwrap();
        assert_eq!(accounts.sweep(0, 1).await.unwrap(), 0);
    }
}
