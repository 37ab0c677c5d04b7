//! Rows in.

use rusqlite::{Connection, params};

use crate::entitlements::{Change, Provisional, Purchase, Verdict};

pub(super) fn purchase(c: &Connection, p: &Purchase) -> rusqlite::Result<()> {
    c.prepare_cached(
        "INSERT INTO purchases (id, account, product, from_ms, until_ms, changed_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (id) DO UPDATE SET account = excluded.account, product = excluded.product,
            from_ms = excluded.from_ms, until_ms = excluded.until_ms, changed_ms = excluded.changed_ms
         WHERE excluded.changed_ms >= purchases.changed_ms",
    )?
    .execute(params![p.id, p.account, p.product, p.from_ms, p.until_ms, p.changed_ms])
    .map(drop)
}

pub(super) fn provisional(c: &Connection, p: &Provisional) -> rusqlite::Result<()> {
    let (verdict, settled_ms) = p.settled.map(|(verdict, at)| (verdict.name(), at)).unzip();
    c.prepare_cached(
        "INSERT INTO provisional (id, account, device, game, issued_ms, until_ms, verdict, settled_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (id) DO NOTHING",
    )?
    .execute(params![p.id, p.account, p.device, p.r#match, p.issued_ms, p.until_ms, verdict, settled_ms])
    .map(drop)
}

pub(super) fn verdict(c: &Connection, id: &str, verdict: Verdict, at_ms: i64) -> rusqlite::Result<()> {
    c.prepare_cached(
        "UPDATE provisional SET verdict = ?2, settled_ms = ?3 WHERE id = ?1 AND verdict IS NULL",
    )?
    .execute(params![id, verdict.name(), at_ms])
    .map(drop)
}

pub(super) fn change(c: &Connection, change: &Change) -> rusqlite::Result<()> {
    c.prepare_cached(
        "INSERT INTO changes (id, at_ms, who, what, before, after) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (id) DO NOTHING",
    )?
    .execute(params![change.id, change.at_ms, change.who, change.what, change.before, change.after])
    .map(drop)
}
