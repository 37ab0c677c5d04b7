//! Who viewers are: accounts, how they are recognised, their profiles and where they are signed in.

pub(crate) mod conformance;
mod postgres;
mod sqlite;
mod types;

use std::time::Duration;

use async_trait::async_trait;

pub use postgres::PostgresAccounts;
pub use sqlite::SqliteAccounts;
pub use types::{
    Account, Code, Digest, External, NewSession, Profile, Put, Rotated, Rotation, Salt, Session, Taken,
};

use crate::Error;

/// Sessions of one account, or profiles, listed at once; callers allow fewer.
pub const LISTED_MAX: usize = 256;

/// The longest wait for an answer. A login takes less than a tenth of it on a slow disk; beyond it the store counts as
/// gone, and the door has other answers.
const ANSWER_MAX: Duration = Duration::from_secs(1);

/// Accounts and their sessions, shared by every process of the door.
///
/// Each method is one transaction or as good as one, durable when it has answered. Time is the caller's (UTC,
/// milliseconds), as are all ids; secrets come as digests. [`Error::Busy`] comes at once when there is too much to do, and [`Error::Late`] within a
/// second; then it is not known whether something was written.
#[async_trait]
pub trait Accounts: Send + Sync {
    /// Makes an account. False: there is one with that id or that e-mail address already, and nothing was changed.
    async fn create(&self, account: &Account) -> Result<bool, Error>;

    /// The account, by its id.
    async fn account(&self, id: &str) -> Result<Option<Account>, Error>;

    /// The account with this e-mail address, which the caller has brought into its one form.
    async fn by_email(&self, email: &str) -> Result<Option<Account>, Error>;

    /// The account that is known to an identity provider so; made if there is none.
    async fn by_external(&self, external: &External, new: &Account) -> Result<Account, Error>;

    /// Sets the password hash and ends every session but `keep`. False: there is no such account.
    async fn set_password(
        &self,
        account: &str,
        hash: &str,
        keep: Option<&str>,
        now_ms: i64,
    ) -> Result<bool, Error>;

    /// Replaces a hash by one of the same password, if it still stands there.
    async fn rehash(&self, account: &str, old: &str, new: &str) -> Result<bool, Error>;

    /// Deletes the account and all that hangs on it. False: there was none.
    async fn delete(&self, account: &str) -> Result<bool, Error>;

    /// Keeps a code that was sent to an address, in place of an earlier one.
    async fn put_code(&self, email: &str, code: &Code) -> Result<(), Error>;

    /// Uses the code of an address up, if it is this one; a wrong one costs one of its tries.
    async fn take_code(&self, email: &str, digest: &Digest, now_ms: i64) -> Result<Taken, Error>;

    /// The account's profiles, oldest first.
    async fn profiles(&self, account: &str) -> Result<Vec<Profile>, Error>;

    /// Makes or changes a profile, if the account has fewer than `max`.
    async fn put_profile(&self, profile: &Profile, max: usize) -> Result<Put, Error>;

    /// Deletes a profile; sessions that had chosen it have none. False: the account has none by this id.
    async fn delete_profile(&self, account: &str, id: &str) -> Result<bool, Error>;

    /// Begins a session; of more than `max` that go on, those that were used least recently end.
    async fn begin(&self, new: &NewSession, max: usize) -> Result<(), Error>;

    /// The session, if it goes on at that moment.
    async fn session(&self, id: &str, now_ms: i64) -> Result<Option<Session>, Error>;

    /// The sessions of an account that go on at that moment, the one used last first.
    async fn sessions(&self, account: &str, now_ms: i64) -> Result<Vec<Session>, Error>;

    /// Chooses a profile of the session's account. False: the session or the profile is not there.
    async fn choose(&self, session: &str, profile: Option<&str>, now_ms: i64) -> Result<bool, Error>;

    /// Exchanges a refresh token for its successor; of any number who present the same, all get the same successor, or
    /// all but the first end the family. See [`Rotated`].
    async fn rotate(&self, rotation: &Rotation) -> Result<Rotated, Error>;

    /// Ends one session of an account. False: it has none such that goes on.
    async fn end(&self, account: &str, session: &str, now_ms: i64) -> Result<bool, Error>;

    /// Ends all sessions of an account but `keep`. How many.
    async fn end_others(&self, account: &str, keep: Option<&str>, now_ms: i64) -> Result<usize, Error>;

    /// Forgets sessions and codes that were over at that moment, at most `max` of each. How many.
    async fn sweep(&self, now_ms: i64, max: usize) -> Result<usize, Error>;
}
