//! Accounts in PostgreSQL, for doors on several machines.
//!
//! Whatever changes several rows of an account locks the account first, so that two doors never wait crosswise. The rest
//! is one statement, or several of which each leaves nothing half done.

mod people;
mod sessions;

use std::time::Duration;

use async_trait::async_trait;
use tokio_postgres::Row;

use super::{
    ANSWER_MAX, Account, Accounts, Code, Digest, External, NewSession, Profile, Put, Rotated, Rotation,
    Session, Taken,
};
use crate::Error;
use crate::place::Url;
use crate::postgres::{Pool, Tables, fault};

const TABLES: Tables = Tables {
    script: "CREATE TABLE IF NOT EXISTS accounts (
                id text COLLATE \"C\" PRIMARY KEY, email text COLLATE \"C\" UNIQUE, password text,
                created_ms bigint NOT NULL
             );
             CREATE TABLE IF NOT EXISTS externals (
                issuer text COLLATE \"C\" NOT NULL, subject text COLLATE \"C\" NOT NULL,
                account text COLLATE \"C\" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
                PRIMARY KEY (issuer, subject)
             );
             CREATE INDEX IF NOT EXISTS externals_account ON externals (account);
             CREATE TABLE IF NOT EXISTS codes (
                email text COLLATE \"C\" PRIMARY KEY, digest bytea NOT NULL, expires_ms bigint NOT NULL,
                tries bigint NOT NULL
             );
             CREATE INDEX IF NOT EXISTS codes_expiry ON codes (expires_ms);
             CREATE TABLE IF NOT EXISTS profiles (
                id text COLLATE \"C\" PRIMARY KEY,
                account text COLLATE \"C\" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
                name text NOT NULL, language text, created_ms bigint NOT NULL
             );
             CREATE INDEX IF NOT EXISTS profiles_account ON profiles (account, created_ms);
             CREATE TABLE IF NOT EXISTS sessions (
                id text COLLATE \"C\" PRIMARY KEY, family bytea NOT NULL UNIQUE,
                account text COLLATE \"C\" NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
                device text NOT NULL, label text NOT NULL,
                profile text COLLATE \"C\" REFERENCES profiles (id) ON DELETE SET NULL,
                created_ms bigint NOT NULL, used_ms bigint NOT NULL, expires_ms bigint NOT NULL,
                token bytea NOT NULL, last bytea, salt bytea, rotated_ms bigint, ended_ms bigint
             );
             CREATE INDEX IF NOT EXISTS sessions_account ON sessions (account, used_ms);
             CREATE INDEX IF NOT EXISTS sessions_profile ON sessions (profile);
             CREATE INDEX IF NOT EXISTS sessions_expiry ON sessions (expires_ms);",
    last: "sessions_expiry",
};

/// Accounts in a PostgreSQL database. Clones share its connections.
#[derive(Clone)]
pub struct PostgresAccounts(Pool);

impl PostgresAccounts {
    /// Connects when it is needed.
    ///
    /// # Errors
    ///
    /// The URL cannot be read.
    pub fn open(url: &Url) -> Result<PostgresAccounts, Error> {
        PostgresAccounts::open_with(url, ANSWER_MAX)
    }

    /// The same with another deadline.
    ///
    /// # Errors
    ///
    /// The URL cannot be read.
    pub fn open_with(url: &Url, deadline: Duration) -> Result<PostgresAccounts, Error> {
        Ok(PostgresAccounts(Pool::new(url, deadline, TABLES)?))
    }
}

type Read<T> = Result<T, tokio_postgres::Error>;

fn all<T>(rows: &[Row], read: impl Fn(&Row) -> Read<T>) -> Result<Vec<T>, Error> {
    rows.iter().map(read).collect::<Read<_>>().map_err(fault)
}

fn one<T>(rows: &[Row], read: impl Fn(&Row) -> Read<T>) -> Result<Option<T>, Error> {
    rows.first().map(read).transpose().map_err(fault)
}

#[async_trait]
impl Accounts for PostgresAccounts {
    async fn create(&self, account: &Account) -> Result<bool, Error> {
        people::create(&self.0, account).await
    }
    async fn account(&self, id: &str) -> Result<Option<Account>, Error> {
        people::account(&self.0, id).await
    }
    async fn by_email(&self, email: &str) -> Result<Option<Account>, Error> {
        people::by_email(&self.0, email).await
    }
    async fn by_external(&self, external: &External, new: &Account) -> Result<Account, Error> {
        people::by_external(&self.0, external, new).await
    }
    async fn set_password(
        &self,
        account: &str,
        hash: &str,
        keep: Option<&str>,
        now_ms: i64,
    ) -> Result<bool, Error> {
        people::set_password(&self.0, account, hash, keep, now_ms).await
    }
    async fn rehash(&self, account: &str, old: &str, new: &str) -> Result<bool, Error> {
        people::rehash(&self.0, account, old, new).await
    }
    async fn delete(&self, account: &str) -> Result<bool, Error> {
        people::delete(&self.0, account).await
    }
    async fn put_code(&self, email: &str, code: &Code) -> Result<(), Error> {
        people::put_code(&self.0, email, code).await
    }
    async fn take_code(&self, email: &str, digest: &Digest, now_ms: i64) -> Result<Taken, Error> {
        people::take_code(&self.0, email, digest, now_ms).await
    }
    async fn profiles(&self, account: &str) -> Result<Vec<Profile>, Error> {
        people::profiles(&self.0, account).await
    }
    async fn put_profile(&self, profile: &Profile, max: usize) -> Result<Put, Error> {
        people::put_profile(&self.0, profile, max).await
    }
    async fn delete_profile(&self, account: &str, id: &str) -> Result<bool, Error> {
        people::delete_profile(&self.0, account, id).await
    }
    async fn begin(&self, new: &NewSession, max: usize) -> Result<(), Error> {
        sessions::begin(&self.0, new, max).await
    }
    async fn session(&self, id: &str, now_ms: i64) -> Result<Option<Session>, Error> {
        sessions::session(&self.0, id, now_ms).await
    }
    async fn sessions(&self, account: &str, now_ms: i64) -> Result<Vec<Session>, Error> {
        sessions::all_of(&self.0, account, now_ms).await
    }
    async fn choose(&self, session: &str, profile: Option<&str>, now_ms: i64) -> Result<bool, Error> {
        sessions::choose(&self.0, session, profile, now_ms).await
    }
    async fn rotate(&self, rotation: &Rotation) -> Result<Rotated, Error> {
        sessions::rotate(&self.0, rotation).await
    }
    async fn end(&self, account: &str, session: &str, now_ms: i64) -> Result<bool, Error> {
        sessions::end(&self.0, account, session, now_ms).await
    }
    async fn end_others(&self, account: &str, keep: Option<&str>, now_ms: i64) -> Result<usize, Error> {
        sessions::end_others(&self.0, account, keep, now_ms).await
    }
    async fn sweep(&self, now_ms: i64, max: usize) -> Result<usize, Error> {
        Ok(people::sweep_codes(&self.0, now_ms, max).await? + sessions::sweep(&self.0, now_ms, max).await?)
    }
}
