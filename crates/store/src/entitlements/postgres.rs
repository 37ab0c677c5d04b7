//! Entitlements in PostgreSQL, for doors on several machines.
//!
//! Every method is one statement, whatever the number of rows, and writes rows in the order of their ids: two doors that
//! write the same ones wait for each other and never crosswise.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use tokio_postgres::Row;

use super::{
    ACCOUNTS_MAX, Change, DEADLINE, Entitlements, PAGE_MAX, PURCHASES_MAX, Provisional, Purchase, Tally,
    Verdict,
};
use super::{changes_taken, few, passes_taken, purchases_taken};
use crate::Error;
use crate::place::Url;
use crate::postgres::{Pool, Tables, fault};

/// Ids are compared byte by byte, as on SQLite: pages go on in the same order whatever language the database speaks.
const TABLES: Tables = Tables {
    script: "CREATE TABLE IF NOT EXISTS purchases (
                id text COLLATE \"C\" PRIMARY KEY, account text COLLATE \"C\" NOT NULL, product text NOT NULL,
                from_ms bigint NOT NULL, until_ms bigint NOT NULL, changed_ms bigint NOT NULL
             );
             CREATE INDEX IF NOT EXISTS purchases_account ON purchases (account, until_ms);
             CREATE INDEX IF NOT EXISTS purchases_changed ON purchases (changed_ms, id);
             CREATE TABLE IF NOT EXISTS provisional (
                id text COLLATE \"C\" PRIMARY KEY, account text, device text NOT NULL, game text NOT NULL,
                issued_ms bigint NOT NULL, until_ms bigint NOT NULL, verdict text, settled_ms bigint
             );
             CREATE INDEX IF NOT EXISTS provisional_issued ON provisional (issued_ms, id);
             CREATE TABLE IF NOT EXISTS changes (
                id text COLLATE \"C\" PRIMARY KEY, at_ms bigint NOT NULL, who text NOT NULL, what text NOT NULL,
                before text, after text
             );
             CREATE INDEX IF NOT EXISTS changes_at ON changes (at_ms, id);",
    last: "changes_at",
};

/// *The* check: for each account one look into an index.
const HELD: &str = "SELECT p.id, p.account, p.product, p.from_ms, p.until_ms, p.changed_ms
     FROM unnest($1::text[]) AS asked (account) CROSS JOIN LATERAL (
        SELECT * FROM purchases WHERE account = asked.account AND until_ms > $2 ORDER BY until_ms DESC LIMIT $3
     ) AS p ORDER BY p.account, p.until_ms DESC";

const CHANGED: &str = "SELECT id, account, product, from_ms, until_ms, changed_ms FROM purchases
     WHERE (changed_ms, id) > ($1, $2) ORDER BY changed_ms, id LIMIT $3";

const PUT_PURCHASES: &str = "INSERT INTO purchases (id, account, product, from_ms, until_ms, changed_ms)
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[])
     ON CONFLICT (id) DO UPDATE SET account = excluded.account, product = excluded.product,
        from_ms = excluded.from_ms, until_ms = excluded.until_ms, changed_ms = excluded.changed_ms
     WHERE excluded.changed_ms >= purchases.changed_ms";

const RECORD: &str = "INSERT INTO provisional (id, account, device, game, issued_ms, until_ms, verdict, settled_ms)
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::text[],
        $8::bigint[])
     ON CONFLICT (id) DO NOTHING";

const SETTLE: &str = "UPDATE provisional AS p SET verdict = v.verdict, settled_ms = $3
     FROM (SELECT id FROM provisional WHERE id = ANY ($1::text[]) AND verdict IS NULL ORDER BY id FOR UPDATE) AS open,
        unnest($1::text[], $2::text[]) AS v (id, verdict)
     WHERE p.id = open.id AND v.id = open.id";

const PROVISIONAL: &str =
    "SELECT id, account, device, game, issued_ms, until_ms, verdict, settled_ms FROM provisional
     WHERE issued_ms >= $1 ORDER BY issued_ms DESC, id DESC LIMIT $2";

const TALLY: &str = "SELECT verdict, count(*) FROM provisional WHERE issued_ms >= $1 GROUP BY verdict";

const NOTE: &str = "INSERT INTO changes (id, at_ms, who, what, before, after)
     SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[])
     ON CONFLICT (id) DO NOTHING";

const CHANGES: &str = "SELECT id, at_ms, who, what, before, after FROM changes WHERE at_ms < $1
     ORDER BY at_ms DESC, id DESC LIMIT $2";

/// Entitlements in a PostgreSQL database. Clones share its connections.
#[derive(Clone)]
pub struct PostgresEntitlements(Pool);

impl PostgresEntitlements {
    /// Connects when it is needed.
    ///
    /// # Errors
    ///
    /// The URL cannot be read.
    pub fn open(url: &Url) -> Result<PostgresEntitlements, Error> {
        PostgresEntitlements::open_with(url, DEADLINE)
    }

    /// The same with another deadline.
    ///
    /// # Errors
    ///
    /// The URL cannot be read.
    pub fn open_with(url: &Url, deadline: Duration) -> Result<PostgresEntitlements, Error> {
        Ok(PostgresEntitlements(Pool::new(url, deadline, TABLES)?))
    }
}

type Read<T> = Result<T, tokio_postgres::Error>;

fn purchase(row: &Row) -> Read<Purchase> {
    Ok(Purchase {
        id: row.try_get(0)?,
        account: row.try_get(1)?,
        product: row.try_get(2)?,
        from_ms: row.try_get(3)?,
        until_ms: row.try_get(4)?,
        changed_ms: row.try_get(5)?,
    })
}

fn pass(row: &Row) -> Read<Provisional> {
    let verdict: Option<&str> = row.try_get(6)?;
    Ok(Provisional {
        id: row.try_get(0)?,
        account: row.try_get(1)?,
        device: row.try_get(2)?,
        r#match: row.try_get(3)?,
        issued_ms: row.try_get(4)?,
        until_ms: row.try_get(5)?,
        settled: verdict.and_then(Verdict::of).zip(row.try_get(7)?),
    })
}

fn change(row: &Row) -> Read<Change> {
    Ok(Change {
        id: row.try_get(0)?,
        at_ms: row.try_get(1)?,
        who: row.try_get(2)?,
        what: row.try_get(3)?,
        before: row.try_get(4)?,
        after: row.try_get(5)?,
    })
}

fn all<T>(rows: &[Row], read: impl Fn(&Row) -> Read<T>) -> Result<Vec<T>, Error> {
    rows.iter().map(read).collect::<Read<_>>().map_err(fault)
}

/// One field of each, as a column.
fn column<'a, R, T>(rows: &[&'a R], field: impl Fn(&'a R) -> T) -> Vec<T> {
    rows.iter().map(|row| field(row)).collect()
}

/// By id, and of those with the same id the first.
fn first_of_each<'a, R>(rows: &'a [R], id: impl Fn(&'a R) -> &'a str) -> Vec<&'a R> {
    let mut by_id = BTreeMap::new();
    for row in rows {
        by_id.entry(id(row)).or_insert(row);
    }
    by_id.into_values().collect()
}

#[async_trait]
impl Entitlements for PostgresEntitlements {
    async fn put_purchases(&self, purchases: &[Purchase]) -> Result<(), Error> {
        purchases_taken(purchases)?;
        // A statement writes a row once; of the same id what would stand after all of them.
        let mut by_id = BTreeMap::new();
        for p in purchases {
            let stands = by_id.entry(&*p.id).or_insert(p);
            if p.changed_ms >= stands.changed_ms {
                *stands = p;
            }
        }
        let rows: Vec<_> = by_id.into_values().collect();
        let (ids, accounts) = (column(&rows, |p| &*p.id), column(&rows, |p| &*p.account));
        let (products, from) = (column(&rows, |p| &*p.product), column(&rows, |p| p.from_ms));
        let (until, changed) = (column(&rows, |p| p.until_ms), column(&rows, |p| p.changed_ms));
        self.0.count(PUT_PURCHASES, &[&ids, &accounts, &products, &from, &until, &changed]).await.map(drop)
    }

    async fn held(&self, accounts: &[String], now_ms: i64) -> Result<Vec<Purchase>, Error> {
        few(accounts.len(), ACCOUNTS_MAX)?;
        all(&self.0.rows(HELD, &[&accounts, &now_ms, &(PURCHASES_MAX as i64)]).await?, purchase)
    }

    async fn changed(
        &self,
        since_ms: i64,
        after: Option<(i64, String)>,
        max: usize,
    ) -> Result<Vec<Purchase>, Error> {
        // Every id is above the empty text.
        let (at, id) = after.filter(|(at, _)| *at >= since_ms).unwrap_or((since_ms, String::new()));
        all(&self.0.rows(CHANGED, &[&at, &id, &(max.min(PAGE_MAX) as i64)]).await?, purchase)
    }

    async fn record(&self, passes: &[Provisional]) -> Result<(), Error> {
        passes_taken(passes)?;
        let rows = first_of_each(passes, |p| &p.id);
        let (ids, accounts) = (column(&rows, |p| &*p.id), column(&rows, |p| p.account.as_deref()));
        let (devices, games) = (column(&rows, |p| &*p.device), column(&rows, |p| &*p.r#match));
        let (issued, until) = (column(&rows, |p| p.issued_ms), column(&rows, |p| p.until_ms));
        let verdicts = column(&rows, |p| p.settled.map(|(verdict, _)| verdict.name()));
        let settled = column(&rows, |p| p.settled.map(|(_, at)| at));
        let given: crate::postgres::Given<'_> =
            &[&ids, &accounts, &devices, &games, &issued, &until, &verdicts, &settled];
        self.0.count(RECORD, given).await.map(drop)
    }

    async fn settle(&self, verdicts: &[(String, Verdict)], at_ms: i64) -> Result<(), Error> {
        few(verdicts.len(), PAGE_MAX)?;
        let rows = first_of_each(verdicts, |(id, _)| id);
        let (ids, verdicts) = (column(&rows, |(id, _)| &**id), column(&rows, |(_, verdict)| verdict.name()));
        self.0.count(SETTLE, &[&ids, &verdicts, &at_ms]).await.map(drop)
    }

    async fn provisional(&self, since_ms: i64, max: usize) -> Result<Vec<Provisional>, Error> {
        all(&self.0.rows(PROVISIONAL, &[&since_ms, &(max.min(PAGE_MAX) as i64)]).await?, pass)
    }

    async fn tally(&self, since_ms: i64) -> Result<Tally, Error> {
        let mut tally = Tally::default();
        for row in self.0.rows(TALLY, &[&since_ms]).await? {
            tally.add(row.try_get(0).map_err(fault)?, row.try_get(1).map_err(fault)?);
        }
        Ok(tally)
    }

    async fn note(&self, changes: &[Change]) -> Result<(), Error> {
        changes_taken(changes)?;
        let rows = first_of_each(changes, |c| &c.id);
        let (ids, at) = (column(&rows, |c| &*c.id), column(&rows, |c| c.at_ms));
        let (who, what) = (column(&rows, |c| &*c.who), column(&rows, |c| &*c.what));
        let (before, after) = (column(&rows, |c| c.before.as_deref()), column(&rows, |c| c.after.as_deref()));
        self.0.count(NOTE, &[&ids, &at, &who, &what, &before, &after]).await.map(drop)
    }

    async fn changes(&self, before_ms: i64, max: usize) -> Result<Vec<Change>, Error> {
        all(&self.0.rows(CHANGES, &[&before_ms, &(max.min(PAGE_MAX) as i64)]).await?, change)
    }
}
