//! Rows out.

use rusqlite::{Connection, Row, params};

use crate::entitlements::{Change, PURCHASES_MAX, Provisional, Purchase, Tally, Verdict};

const PURCHASE: &str = "SELECT id, account, product, from_ms, until_ms, changed_ms FROM purchases";

fn purchase(row: &Row<'_>) -> rusqlite::Result<Purchase> {
    Ok(Purchase {
        id: row.get(0)?,
        account: row.get(1)?,
        product: row.get(2)?,
        from_ms: row.get(3)?,
        until_ms: row.get(4)?,
        changed_ms: row.get(5)?,
    })
}

/// SQLite is in this process, so a loop over a prepared statement is its way to ask for many at once.
pub(super) fn held(c: &Connection, accounts: &[String], now_ms: i64) -> rusqlite::Result<Vec<Purchase>> {
    let mut one = c.prepare_cached(&format!(
        "{PURCHASE} WHERE account = ?1 AND until_ms > ?2 ORDER BY until_ms DESC LIMIT {PURCHASES_MAX}"
    ))?;
    let mut found = Vec::new();
    for account in accounts {
        for row in one.query_map(params![account, now_ms], purchase)? {
            found.push(row?);
        }
    }
    Ok(found)
}

pub(super) fn changed(
    c: &Connection,
    since_ms: i64,
    after: Option<(i64, String)>,
    max: usize,
) -> rusqlite::Result<Vec<Purchase>> {
    // Every id is above the empty text.
    let (at, id) = after.filter(|(at, _)| *at >= since_ms).unwrap_or((since_ms, String::new()));
    c.prepare_cached(&format!(
        "{PURCHASE} WHERE (changed_ms, id) > (?1, ?2) ORDER BY changed_ms, id LIMIT ?3"
    ))?
    .query_map(params![at, id, max as i64], purchase)?
    .collect()
}

pub(super) fn provisional(c: &Connection, since_ms: i64, max: usize) -> rusqlite::Result<Vec<Provisional>> {
    c.prepare_cached(
        "SELECT id, account, device, game, issued_ms, until_ms, verdict, settled_ms FROM provisional
         WHERE issued_ms >= ?1 ORDER BY issued_ms DESC, id DESC LIMIT ?2",
    )?
    .query_map(params![since_ms, max as i64], |row| {
        let verdict: Option<String> = row.get(6)?;
        let at: Option<i64> = row.get(7)?;
        Ok(Provisional {
            id: row.get(0)?,
            account: row.get(1)?,
            device: row.get(2)?,
            r#match: row.get(3)?,
            issued_ms: row.get(4)?,
            until_ms: row.get(5)?,
            settled: verdict.as_deref().and_then(Verdict::of).zip(at),
        })
    })?
    .collect()
}

pub(super) fn tally(c: &Connection, since_ms: i64) -> rusqlite::Result<Tally> {
    let mut tally = Tally::default();
    let mut counted =
        c.prepare_cached("SELECT verdict, COUNT(*) FROM provisional WHERE issued_ms >= ?1 GROUP BY verdict")?;
    for row in counted.query_map([since_ms], |row| Ok((row.get(0)?, row.get(1)?)))? {
        let (verdict, count): (Option<String>, i64) = row?;
        tally.add(verdict.as_deref(), count);
    }
    Ok(tally)
}

pub(super) fn changes(c: &Connection, before_ms: i64, max: usize) -> rusqlite::Result<Vec<Change>> {
    c.prepare_cached(
        "SELECT id, at_ms, who, what, before, after FROM changes WHERE at_ms < ?1
         ORDER BY at_ms DESC, id DESC LIMIT ?2",
    )?
    .query_map(params![before_ms, max as i64], |row| {
        Ok(Change {
            id: row.get(0)?,
            at_ms: row.get(1)?,
            who: row.get(2)?,
            what: row.get(3)?,
            before: row.get(4)?,
            after: row.get(5)?,
        })
    })?
    .collect()
}
