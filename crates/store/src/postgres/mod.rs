//! A PostgreSQL server: a few connections, shared by whoever asks, and never waited for longer than a deadline.
//!
//! Nothing is connected before it is needed, so a door opens while its database is gone. A server that cannot be reached
//! is tried by one caller at a time, with growing pauses; everybody else is told so at once ([`Gate`]).

mod address;
mod gate;
mod registers;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::AbortHandle;
use tokio::time::timeout_at;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, NoTls, Row, Statement};

use self::gate::Gate;
use crate::Error;
use crate::place::Url;

pub use self::registers::PostgresRegisters;

/// Connections of one pool. A statement takes about a millisecond, so these do thousands a second; a server takes a
/// hundred connections unless told otherwise, and a door has three pools.
const CONNECTIONS_MAX: usize = 8;
/// Who waits for a connection. At a millisecond a statement the last of them has an answer in an eighth of a second, well
/// within every deadline; more would hold up those who come next.
const QUEUE_MAX: usize = 1_024;

/// Names the lock under which tables are made, among all programs that use the same database.
const LOCK: &str = "SELECT pg_advisory_xact_lock(7165063351498301)";

/// What an answer is durable by. A database that was told to answer before a write is on a disk is told otherwise here.
const DURABLE: &str = "SELECT set_config('synchronous_commit', 'on', false) \
                       WHERE current_setting('synchronous_commit') = 'off'";

/// What a statement is given.
pub(crate) type Given<'a> = &'a [&'a (dyn ToSql + Sync)];

/// The tables of one concern.
pub(crate) struct Tables {
    /// Makes what is missing; it may run at any time.
    pub(crate) script: &'static str,
    /// What the script makes last: if that is there, all of it is.
    pub(crate) last: &'static str,
}

/// Connections to one database. Clones share them.
#[derive(Clone)]
pub(crate) struct Pool(Arc<Inner>);

struct Inner {
    config: Config,
    tables: Tables,
    made: AtomicBool,
    deadline: Duration,
    /// Of those who have a connection or wait for one.
    places: Semaphore,
    /// Of those who have one.
    turns: Semaphore,
    idle: Mutex<Vec<Link>>,
    gate: Mutex<Gate>,
    /// Of who tries a server that was gone.
    trying: Semaphore,
}

/// A connection and what it has prepared: as many statements as there are in this crate.
struct Link {
    client: Client,
    prepared: HashMap<&'static str, Statement>,
    task: AbortHandle,
}

impl Drop for Link {
    fn drop(&mut self) {
        // By itself it would wait for the answer that nobody waits for any more.
        self.task.abort();
    }
}

impl Link {
    async fn statement(&mut self, sql: &'static str) -> Result<Statement, tokio_postgres::Error> {
        if let Some(known) = self.prepared.get(sql) {
            return Ok(known.clone());
        }
        let statement = self.client.prepare(sql).await?;
        self.prepared.insert(sql, statement.clone());
        Ok(statement)
    }
}

impl Pool {
    /// Does nothing yet. `deadline`: the longest from being asked to the answer.
    pub(crate) fn new(url: &Url, deadline: Duration, tables: Tables) -> Result<Pool, Error> {
        let config = address::read(url.as_str(), deadline, |name| std::env::var_os(name))?;
        Ok(Pool(Arc::new(Inner {
            config,
            tables,
            made: AtomicBool::new(false),
            deadline,
            places: Semaphore::new(CONNECTIONS_MAX + QUEUE_MAX),
            turns: Semaphore::new(CONNECTIONS_MAX),
            idle: Mutex::default(),
            gate: Mutex::default(),
            trying: Semaphore::new(1),
        })))
    }

    /// A connection for several statements, all of them within the deadline.
    pub(crate) async fn lend(&self) -> Result<Lent<'_>, Error> {
        let pool = &*self.0;
        let by = Instant::now() + pool.deadline;
        let place = pool.places.try_acquire().map_err(|_| Error::Busy)?;
        let turn = timeout_at(by.into(), pool.turns.acquire()).await.map_err(|_| Error::Late)?;
        let turn = turn.map_err(|_| Error::Worker)?;
        let link = match pool.idle_link() {
            Some(link) => link,
            None => pool.connect(by).await?,
        };
        Ok(Lent { pool, link: Some(link), by, in_transaction: false, _turn: turn, _place: place })
    }

    /// One statement; its rows.
    pub(crate) async fn rows(&self, sql: &'static str, given: Given<'_>) -> Result<Vec<Row>, Error> {
        self.lend().await?.rows(sql, given).await
    }

    /// One statement; its first row.
    pub(crate) async fn row(&self, sql: &'static str, given: Given<'_>) -> Result<Option<Row>, Error> {
        Ok(self.rows(sql, given).await?.into_iter().next())
    }

    /// One statement; how many rows it changed.
    pub(crate) async fn count(&self, sql: &'static str, given: Given<'_>) -> Result<u64, Error> {
        self.lend().await?.count(sql, given).await
    }
}

impl Inner {
    fn idle(&self) -> MutexGuard<'_, Vec<Link>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn gate(&self) -> MutexGuard<'_, Gate> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One that is still open: a server that ended has closed them all.
    fn idle_link(&self) -> Option<Link> {
        let mut idle = self.idle();
        while let Some(link) = idle.pop() {
            if !link.client.is_closed() {
                return Some(link);
            }
        }
        None
    }

    async fn connect(&self, by: Instant) -> Result<Link, Error> {
        let now = Instant::now();
        if by.saturating_duration_since(now) < self.deadline / 2 {
            // Whoever waited so long for their turn has too little left to say anything about the server.
            return Err(Error::Late);
        }
        if let Some(why) = self.gate().closed(now) {
            return Err(Error::Gone(why));
        }
        let doubt = self.gate().in_doubt();
        let _alone = match doubt {
            Some(why) => Some(self.trying.try_acquire().map_err(|_| Error::Gone(why))?),
            None => None,
        };
        let opened = timeout_at(by.into(), self.open()).await.unwrap_or(Err(Error::Late));
        match &opened {
            Ok(_) => self.gate().opened(),
            Err(error) => self.gate().failed(error.to_string(), Instant::now(), fastrand::f64()),
        }
        opened
    }

    async fn open(&self) -> Result<Link, Error> {
        let (client, connection) = self.config.connect(NoTls).await.map_err(fault)?;
        // What it fails with is told to whoever asks.
        let task = tokio::spawn(async move { drop(connection.await) }).abort_handle();
        let link = Link { client, prepared: HashMap::new(), task };
        link.client.batch_execute(DURABLE).await.map_err(fault)?;
        if !self.made.load(Ordering::Acquire) {
            self.make(&link.client).await.map_err(fault)?;
            self.made.store(true, Ordering::Release);
        }
        Ok(link)
    }

    /// Makes the tables, unless they are there: others may be at the same, and a user who may not make any may use them.
    async fn make(&self, client: &Client) -> Result<(), tokio_postgres::Error> {
        let there = "SELECT to_regclass($1::text) IS NOT NULL";
        if client.query_one(there, &[&self.tables.last]).await?.try_get(0)? {
            return Ok(());
        }
        // Several statements sent as one are one transaction.
        client.batch_execute(&format!("BEGIN; {LOCK}; {} COMMIT", self.tables.script)).await
    }
}

/// A connection that goes back when this is dropped.
pub(crate) struct Lent<'p> {
    pool: &'p Inner,
    link: Option<Link>,
    by: Instant,
    in_transaction: bool,
    _turn: SemaphorePermit<'p>,
    _place: SemaphorePermit<'p>,
}

impl Lent<'_> {
    pub(crate) async fn rows(&mut self, sql: &'static str, given: Given<'_>) -> Result<Vec<Row>, Error> {
        let link = self.link.as_mut().ok_or(Error::Late)?;
        let answer = timeout_at(self.by.into(), async {
            let statement = link.statement(sql).await?;
            link.client.query(&statement, given).await
        });
        let answer = answer.await;
        self.judge(answer.ok())
    }

    pub(crate) async fn count(&mut self, sql: &'static str, given: Given<'_>) -> Result<u64, Error> {
        let link = self.link.as_mut().ok_or(Error::Late)?;
        let answer = timeout_at(self.by.into(), async {
            let statement = link.statement(sql).await?;
            link.client.execute(&statement, given).await
        });
        let answer = answer.await;
        self.judge(answer.ok())
    }

    /// Until [`Lent::commit`] nothing holds; whoever is dropped before takes it all back, with the connection.
    pub(crate) async fn begin(&mut self) -> Result<(), Error> {
        self.in_transaction = true;
        self.say("BEGIN").await
    }

    pub(crate) async fn commit(&mut self) -> Result<(), Error> {
        self.say("COMMIT").await?;
        self.in_transaction = false;
        Ok(())
    }

    async fn say(&mut self, word: &str) -> Result<(), Error> {
        let link = self.link.as_ref().ok_or(Error::Late)?;
        let answer = timeout_at(self.by.into(), link.client.batch_execute(word)).await;
        self.judge(answer.ok())
    }

    /// What an answer means for the connection: it goes on only if the server is there and at peace with us.
    fn judge<T>(&mut self, answer: Option<Result<T, tokio_postgres::Error>>) -> Result<T, Error> {
        match answer {
            None => {
                self.link = None;
                Err(Error::Late)
            }
            Some(Err(error)) => {
                if !error.code().is_some_and(is_ours) {
                    self.link = None;
                }
                Err(fault(error))
            }
            Some(Ok(value)) => Ok(value),
        }
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        // Whoever went away in the middle of a statement leaves a connection whose next answer is for nobody, which is in
        // order; in the middle of a transaction, one that must not be used.
        if let Some(link) = self.link.take().filter(|link| !self.in_transaction && !link.client.is_closed()) {
            self.pool.idle().push(link);
        }
    }
}

/// The statement was wrong (22: data, 23: integrity, 40: rolled back, cancelled by the deadline), not the connection.
/// Everything else may be a server that was demoted or is ending.
fn is_ours(code: &SqlState) -> bool {
    ["22", "23", "40"].iter().any(|class| code.code().starts_with(class)) || *code == SqlState::QUERY_CANCELED
}

/// Whether a row was there already.
pub(crate) fn is_double(error: &Error) -> bool {
    matches!(error, Error::Refused { code, .. } if code == SqlState::UNIQUE_VIOLATION.code())
}

/// What is said of a failure. Never a detail: it quotes rows, and rows hold addresses of people.
pub(crate) fn fault(error: tokio_postgres::Error) -> Error {
    match error.as_db_error() {
        Some(db) if *db.code() == SqlState::QUERY_CANCELED => Error::Late,
        Some(db) => Error::Refused { code: db.code().code().to_owned(), message: db.message().to_owned() },
        None => {
            let why = std::error::Error::source(&error).map(|why| format!(": {why}")).unwrap_or_default();
            Error::Gone(format!("{error}{why}"))
        }
    }
}

#[cfg(test)]
mod tests;
