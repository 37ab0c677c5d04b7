//! Registers in PostgreSQL. What ends, ends by the server's clock, which all have in common.

use std::time::Duration;

use async_trait::async_trait;
use tokio_postgres::Row;

use super::{Pool, Tables, fault};
use crate::place::Url;
use crate::registers::{KEY_MAX, LIST_MAX, VALUE_MAX};
use crate::{Error, Outcome, Register, Registers, bounded};

/// The longest from being asked to the answer: a door reads its levers each second.
const DEADLINE: Duration = Duration::from_millis(750);

/// What ends later than in a century is written as ending then: the server's clock ends somewhere.
const TTL_MAX: Duration = Duration::from_secs(100 * 365 * 86_400);

/// How often a race is run again whose winner was gone before it could be read.
const TRIES_MAX: usize = 4;

/// Keys are compared byte by byte, as everywhere.
const TABLES: Tables = Tables {
    script: "CREATE TABLE IF NOT EXISTS registers (
                key text COLLATE \"C\" PRIMARY KEY, value text NOT NULL, version bigint NOT NULL, expires timestamptz
             );
             CREATE INDEX IF NOT EXISTS registers_expiry ON registers (expires) WHERE expires IS NOT NULL;",
    last: "registers_expiry",
};

const GET: &str = "SELECT key, value, version FROM registers
     WHERE key = $1 AND (expires IS NULL OR expires > clock_timestamp())";

const LIST: &str = "SELECT key, value, version FROM registers
     WHERE key >= $1 AND key < $2 AND (expires IS NULL OR expires > clock_timestamp()) ORDER BY key LIMIT $3";

/// One statement, so that whoever is second waits for the first and then sees what stands.
const PUT: &str = "INSERT INTO registers AS r (key, value, version, expires)
     VALUES ($1, $2, coalesce($3::bigint, 0) + 1, clock_timestamp() + $4::bigint * interval '1 millisecond')
     ON CONFLICT (key) DO UPDATE SET value = excluded.value, version = excluded.version, expires = excluded.expires
     WHERE r.version = $3 OR r.expires <= clock_timestamp()
     RETURNING version";

/// What is over, a few at a time, and none that somebody is at.
const SWEEP: &str = "DELETE FROM registers WHERE key IN (
        SELECT key FROM registers WHERE expires <= clock_timestamp() LIMIT 16 FOR UPDATE SKIP LOCKED)";

/// Registers in a PostgreSQL database. Clones share its connections.
#[derive(Clone)]
pub struct PostgresRegisters(Pool);

impl PostgresRegisters {
    /// Connects when it is needed.
    ///
    /// # Errors
    ///
    /// The URL cannot be read.
    pub fn open(url: &Url) -> Result<PostgresRegisters, Error> {
        PostgresRegisters::open_with(url, DEADLINE)
    }

    /// The same with another deadline.
    ///
    /// # Errors
    ///
    /// The URL cannot be read.
    pub fn open_with(url: &Url, deadline: Duration) -> Result<PostgresRegisters, Error> {
        Ok(PostgresRegisters(Pool::new(url, deadline, TABLES)?))
    }
}

fn register(row: &Row) -> Result<(String, Register), tokio_postgres::Error> {
    let version: i64 = row.try_get(2)?;
    Ok((row.try_get(0)?, Register { value: row.try_get(1)?, version: version as u64 }))
}

#[async_trait]
impl Registers for PostgresRegisters {
    async fn get(&self, key: &str) -> Result<Option<Register>, Error> {
        let row = self.0.row(GET, &[&key]).await?;
        Ok(row.as_ref().map(register).transpose().map_err(fault)?.map(|(_, register)| register))
    }

    async fn list(&self, prefix: &str) -> Result<Vec<(String, Register)>, Error> {
        let (first, last) = crate::sqlite::between(prefix);
        let rows = self.0.rows(LIST, &[&first, &last, &(LIST_MAX as i64)]).await?;
        rows.iter().map(register).collect::<Result<_, _>>().map_err(fault)
    }

    async fn put_if(
        &self,
        key: &str,
        value: &str,
        expected: Option<u64>,
        ttl: Option<Duration>,
    ) -> Result<Outcome, Error> {
        bounded("key", key.len(), KEY_MAX)?;
        bounded("value", value.len(), VALUE_MAX)?;
        let standing = expected.map(|version| version as i64);
        let ttl_ms = ttl.map(|ttl| ttl.min(TTL_MAX).as_millis() as i64);
        let mut lent = self.0.lend().await?;
        if ttl.is_some() {
            lent.count(SWEEP, &[]).await?;
        }
        for _ in 0..TRIES_MAX {
            if let Some(row) = lent.rows(PUT, &[&key, &value, &standing, &ttl_ms]).await?.first() {
                let version: i64 = row.try_get(0).map_err(fault)?;
                return Ok(Outcome::Won(Register { value: value.to_owned(), version: version as u64 }));
            }
            if let Some(other) = lent.rows(GET, &[&key]).await?.first() {
                return Ok(Outcome::Lost(register(other).map_err(fault)?.1));
            }
        }
        Err(Error::Commit("others write and lose the same register all the time".into()))
    }
}
