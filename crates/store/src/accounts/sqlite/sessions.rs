//! Sessions and the rotation of their tokens.

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::Error;
use crate::accounts::{LISTED_MAX, NewSession, Rotated, Rotation, Salt, Session};

/// What a [`Session`] is read from, in the order of [`session_of`].
const COLUMNS: &str = "id, account, device, label, profile, created_ms, used_ms, expires_ms";

fn session_of(row: &Row<'_>) -> rusqlite::Result<Session> {
    Ok(Session {
        id: row.get(0)?,
        account: row.get(1)?,
        device: row.get(2)?,
        label: row.get(3)?,
        profile: row.get(4)?,
        created_ms: row.get(5)?,
        used_ms: row.get(6)?,
        expires_ms: row.get(7)?,
    })
}

pub(super) fn begin(c: &Connection, new: &NewSession, max: usize) -> Result<(), Error> {
    let s = &new.session;
    c.prepare_cached(
        "INSERT INTO sessions (id, account, device, label, profile, created_ms, used_ms, expires_ms, family, token)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?
    .execute(params![
        s.id,
        s.account,
        s.device,
        s.label,
        s.profile,
        s.created_ms,
        s.used_ms,
        s.expires_ms,
        new.family.0,
        new.token.0,
    ])?;
    c.prepare_cached(
        "UPDATE sessions SET ended_ms = ?2 WHERE id IN (
            SELECT id FROM sessions WHERE account = ?1 AND ended_ms IS NULL AND expires_ms > ?2 AND id <> ?4
            ORDER BY used_ms DESC, id LIMIT -1 OFFSET ?3)",
    )?
    .execute(params![s.account, s.created_ms, max.saturating_sub(1) as i64, s.id])?;
    Ok(())
}

pub(super) fn session(c: &Connection, id: &str, now_ms: i64) -> Result<Option<Session>, Error> {
    let mut found = c.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM sessions WHERE id = ?1 AND ended_ms IS NULL AND expires_ms > ?2"
    ))?;
    Ok(found.query_row(params![id, now_ms], session_of).optional()?)
}

pub(super) fn all(c: &Connection, account: &str, now_ms: i64) -> Result<Vec<Session>, Error> {
    let mut found = c.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM sessions WHERE account = ?1 AND ended_ms IS NULL AND expires_ms > ?2
         ORDER BY used_ms DESC, id LIMIT ?3"
    ))?;
    let rows = found.query_map(params![account, now_ms, LISTED_MAX as i64], session_of)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn choose(
    c: &Connection,
    session: &str,
    profile: Option<&str>,
    now_ms: i64,
) -> Result<bool, Error> {
    let chosen = c
        .prepare_cached(
            "UPDATE sessions SET profile = ?2 WHERE id = ?1 AND ended_ms IS NULL AND expires_ms > ?3 AND (
                ?2 IS NULL OR account = (SELECT account FROM profiles WHERE id = ?2))",
        )?
        .execute(params![session, profile, now_ms])?;
    Ok(chosen == 1)
}

pub(super) fn rotate(c: &Connection, r: &Rotation) -> Result<Rotated, Error> {
    struct Chain {
        token: [u8; 32],
        last: Option<[u8; 32]>,
        salt: Option<[u8; 16]>,
        rotated_ms: Option<i64>,
    }
    let found = c
        .prepare_cached(&format!(
            "SELECT {COLUMNS}, token, last, salt, rotated_ms FROM sessions
             WHERE family = ?1 AND ended_ms IS NULL AND expires_ms > ?2"
        ))?
        .query_row(params![r.family.0, r.now_ms], |row| {
            let chain =
                Chain { token: row.get(8)?, last: row.get(9)?, salt: row.get(10)?, rotated_ms: row.get(11)? };
            Ok((session_of(row)?, chain))
        })
        .optional()?;
    let Some((mut session, chain)) = found else { return Ok(Rotated::Unknown) };
    if chain.token == r.token.0 {
        c.prepare_cached(
            "UPDATE sessions SET last = token, token = ?2, salt = ?3, rotated_ms = ?4, used_ms = ?4, expires_ms = ?5
             WHERE id = ?1",
        )?
        .execute(params![session.id, r.successor.0, r.salt.0, r.now_ms, r.expires_ms])?;
        (session.used_ms, session.expires_ms) = (r.now_ms, r.expires_ms);
        return Ok(Rotated::Next(session));
    }
    let within = chain.rotated_ms.is_some_and(|at| r.now_ms.saturating_sub(at) < r.grace_ms);
    if let (Some(salt), true) = (chain.salt, within && chain.last == Some(r.token.0)) {
        return Ok(Rotated::Again(session, Salt(salt)));
    }
    c.prepare_cached("UPDATE sessions SET ended_ms = ?2 WHERE id = ?1")?
        .execute(params![session.id, r.now_ms])?;
    Ok(Rotated::Reused(session))
}

pub(super) fn end(c: &Connection, account: &str, session: &str, now_ms: i64) -> Result<bool, Error> {
    let ended = c
        .prepare_cached(
            "UPDATE sessions SET ended_ms = ?3
             WHERE id = ?1 AND account = ?2 AND ended_ms IS NULL AND expires_ms > ?3",
        )?
        .execute(params![session, account, now_ms])?;
    Ok(ended == 1)
}

pub(super) fn end_others(
    c: &Connection,
    account: &str,
    keep: Option<&str>,
    now_ms: i64,
) -> Result<usize, Error> {
    Ok(c.prepare_cached(
        "UPDATE sessions SET ended_ms = ?3
         WHERE account = ?1 AND (?2 IS NULL OR id <> ?2) AND ended_ms IS NULL AND expires_ms > ?3",
    )?
    .execute(params![account, keep, now_ms])?)
}

pub(super) fn sweep(c: &Connection, now_ms: i64, max: usize) -> Result<usize, Error> {
    Ok(c.prepare_cached(
        "DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE expires_ms <= ?1 LIMIT ?2)",
    )?
    .execute(params![now_ms, max as i64])?)
}
