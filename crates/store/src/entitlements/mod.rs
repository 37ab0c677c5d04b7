//! Who bought what, who was let in without a check, and who changed what of it.

pub(crate) mod conformance;
mod postgres;
mod sqlite;

use std::time::Duration;

use async_trait::async_trait;

use crate::{Error, bounded};

pub use postgres::PostgresEntitlements;
pub use sqlite::SqliteEntitlements;

/// Longest account, product, device, match, id or name in bytes: ids are 32, a match's name 64, an identity of another
/// provider at most some 200.
pub const WORD_MAX: usize = 256;
/// Longest document of a change in bytes: as long as a register's value.
pub const DOCUMENT_MAX: usize = 64 * 1024;
/// Purchases of one account that are looked at: a season of day passes, the newest first.
pub const PURCHASES_MAX: usize = 64;
/// Accounts that one check asks for together: their answers are some 100 KB.
pub const ACCOUNTS_MAX: usize = 1_024;
/// Rows given by one page, whatever was asked for.
pub const PAGE_MAX: usize = 4_096;

/// The longest from being asked to the answer, unless set. A viewer's tap has 1.5 s in all; what comes later than this is
/// of no use to them.
const DEADLINE: Duration = Duration::from_millis(750);

/// A product that an account may use from an instant to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Purchase {
    /// Made by the caller; a purchase that comes twice is one.
    pub id: String,
    /// Whose it is.
    pub account: String,
    /// What it is of.
    pub product: String,
    /// UTC, milliseconds: good from then on.
    pub from_ms: i64,
    /// UTC, milliseconds: not good from then on.
    pub until_ms: i64,
    /// UTC, milliseconds, by the writer's clock: when this was written.
    pub changed_ms: i64,
}

/// What a provisional pass turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// They had the right.
    Entitled,
    /// They had not: the pass ends and is not renewed.
    NotEntitled,
    /// Nobody knows who it was: a login that could not be verified, and was not repeated.
    Unverified,
}

impl Verdict {
    /// As it is kept.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Entitled => "entitled",
            Verdict::NotEntitled => "not_entitled",
            Verdict::Unverified => "unverified",
        }
    }

    /// The other way.
    pub fn of(name: &str) -> Option<Verdict> {
        [Verdict::Entitled, Verdict::NotEntitled, Verdict::Unverified].into_iter().find(|v| v.name() == name)
    }
}

/// Somebody who was let in without a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provisional {
    /// The session of the pass; unique.
    pub id: String,
    /// Who says that it is them; none if the login could not be verified.
    pub account: Option<String>,
    /// On which device.
    pub device: String,
    /// What they watch.
    pub r#match: String,
    /// UTC, milliseconds.
    pub issued_ms: i64,
    /// UTC, milliseconds: the pass ends.
    pub until_ms: i64,
    /// Once it was found out: what, and when (UTC, milliseconds).
    pub settled: Option<(Verdict, i64)>,
}

/// How many were let in without a check, and what they turned out to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// All of them.
    pub issued: u64,
    /// Had the right.
    pub entitled: u64,
    /// Had not.
    pub not_entitled: u64,
    /// Nobody knows.
    pub unverified: u64,
}

impl Tally {
    /// Counts so many that turned out to be this, or are not settled.
    fn add(&mut self, verdict: Option<&str>, count: i64) {
        let count = count as u64;
        self.issued += count;
        match verdict.and_then(Verdict::of) {
            Some(Verdict::Entitled) => self.entitled += count,
            Some(Verdict::NotEntitled) => self.not_entitled += count,
            Some(Verdict::Unverified) => self.unverified += count,
            None => {}
        }
    }
}

/// An administrator's change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Unique.
    pub id: String,
    /// UTC, milliseconds.
    pub at_ms: i64,
    /// The operator's name.
    pub who: String,
    /// Of what: `catalog/match/demo`.
    pub what: String,
    /// As it stood; none: it was not there.
    pub before: Option<String>,
    /// As it stands; none: it is gone.
    pub after: Option<String>,
}

/// Purchases, provisional passes and changes, shared by every process of the door. Whoever asks gets an answer within a
/// deadline of the implementation, or [`Error::Busy`] or [`Error::Late`]: nobody waits without end.
#[async_trait]
pub trait Entitlements: Send + Sync {
    /// Writes purchases, all or none, durably. One whose id stands is replaced (its end may be moved: a refund) unless
    /// what stands was changed later.
    async fn put_purchases(&self, purchases: &[Purchase]) -> Result<(), Error>;

    /// Of these accounts (at most [`ACCOUNTS_MAX`]) the purchases that are not over at that instant, at most
    /// [`PURCHASES_MAX`] of each, those that end last first. In one query: this is *the* check.
    async fn held(&self, accounts: &[String], now_ms: i64) -> Result<Vec<Purchase>, Error>;

    /// Purchases changed at or after an instant, in the order of (`changed_ms`, `id`), after the one named (none: from
    /// the first), at most `max` and [`PAGE_MAX`]: to load a copy and to follow it. Writers' clocks differ and writes
    /// may become visible late, so a follower asks again for the last seconds.
    async fn changed(
        &self,
        since_ms: i64,
        after: Option<(i64, String)>,
        max: usize,
    ) -> Result<Vec<Purchase>, Error>;

    /// Writes provisional passes, all or none, durably. One whose id stands is not written again.
    async fn record(&self, passes: &[Provisional]) -> Result<(), Error>;

    /// Says what passes turned out to be. One that is settled keeps its verdict.
    async fn settle(&self, verdicts: &[(String, Verdict)], at_ms: i64) -> Result<(), Error>;

    /// Provisional passes issued at or after an instant, newest first, at most `max` and [`PAGE_MAX`].
    async fn provisional(&self, since_ms: i64, max: usize) -> Result<Vec<Provisional>, Error>;

    /// How many were issued at or after an instant.
    async fn tally(&self, since_ms: i64) -> Result<Tally, Error>;

    /// Writes down a change, durably. One whose id stands is not written again.
    async fn note(&self, changes: &[Change]) -> Result<(), Error>;

    /// Changes before an instant, newest first, at most `max` and [`PAGE_MAX`].
    async fn changes(&self, before_ms: i64, max: usize) -> Result<Vec<Change>, Error>;
}

/// Refuses what no implementation takes, before anything is queued.
fn purchases_taken(purchases: &[Purchase]) -> Result<(), Error> {
    few(purchases.len(), PAGE_MAX)?;
    words(purchases.iter().flat_map(|p| [&*p.id, &*p.account, &*p.product]))
}

/// The same of provisional passes.
fn passes_taken(passes: &[Provisional]) -> Result<(), Error> {
    few(passes.len(), PAGE_MAX)?;
    let account = |p: &Provisional| p.account.as_ref().map_or(0, String::len);
    passes.iter().try_for_each(|p| bounded("word", account(p), WORD_MAX))?;
    words(passes.iter().flat_map(|p| [&*p.id, &*p.device, &*p.r#match]))
}

/// The same of changes.
fn changes_taken(changes: &[Change]) -> Result<(), Error> {
    few(changes.len(), PAGE_MAX)?;
    words(changes.iter().flat_map(|c| [&*c.id, &*c.who, &*c.what]))?;
    let mut documents = changes.iter().flat_map(|c| [&c.before, &c.after]).flatten();
    documents.try_for_each(|document| bounded("document", document.len(), DOCUMENT_MAX))
}

/// Refuses words that are too long before anything is queued.
fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<(), Error> {
    words.into_iter().try_for_each(|word| bounded("word", word.len(), WORD_MAX))
}

fn few(len: usize, max: usize) -> Result<(), Error> {
    if len > max { Err(Error::TooMany { len, max }) } else { Ok(()) }
}
