//! Sessions and the rotation of their tokens.

use tokio_postgres::Row;

use super::{Read, all, one};
use crate::Error;
use crate::accounts::{LISTED_MAX, NewSession, Rotated, Rotation, Salt, Session};
use crate::postgres::Pool;

fn session_of(row: &Row) -> Read<Session> {
    Ok(Session {
        id: row.try_get(0)?,
        account: row.try_get(1)?,
        device: row.try_get(2)?,
        label: row.try_get(3)?,
        profile: row.try_get(4)?,
        created_ms: row.try_get(5)?,
        used_ms: row.try_get(6)?,
        expires_ms: row.try_get(7)?,
    })
}

pub(super) async fn begin(pool: &Pool, new: &NewSession, max: usize) -> Result<(), Error> {
    const LOCK: &str = "SELECT 1 FROM accounts WHERE id = $1 FOR NO KEY UPDATE";
    const BEGIN: &str = "INSERT INTO sessions
            (id, account, device, label, profile, created_ms, used_ms, expires_ms, family, token)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    const END: &str = "UPDATE sessions SET ended_ms = $2 WHERE id IN (
            SELECT id FROM sessions WHERE account = $1 AND ended_ms IS NULL AND expires_ms > $2 AND id <> $4
            ORDER BY used_ms DESC, id OFFSET $3)";
    let s = &new.session;
    let (family, token) = (&new.family.0[..], &new.token.0[..]);
    let mut lent = pool.lend().await?;
    lent.begin().await?;
    lent.rows(LOCK, &[&s.account]).await?;
    let given: crate::postgres::Given<'_> = &[
        &s.id,
        &s.account,
        &s.device,
        &s.label,
        &s.profile,
        &s.created_ms,
        &s.used_ms,
        &s.expires_ms,
        &family,
        &token,
    ];
    lent.count(BEGIN, given).await?;
    lent.count(END, &[&s.account, &s.created_ms, &(max.saturating_sub(1) as i64), &s.id]).await?;
    lent.commit().await
}

pub(super) async fn session(pool: &Pool, id: &str, now_ms: i64) -> Result<Option<Session>, Error> {
    const SQL: &str =
        "SELECT id, account, device, label, profile, created_ms, used_ms, expires_ms FROM sessions
         WHERE id = $1 AND ended_ms IS NULL AND expires_ms > $2";
    one(&pool.rows(SQL, &[&id, &now_ms]).await?, session_of)
}

pub(super) async fn all_of(pool: &Pool, account: &str, now_ms: i64) -> Result<Vec<Session>, Error> {
    const SQL: &str =
        "SELECT id, account, device, label, profile, created_ms, used_ms, expires_ms FROM sessions
         WHERE account = $1 AND ended_ms IS NULL AND expires_ms > $2 ORDER BY used_ms DESC, id LIMIT $3";
    all(&pool.rows(SQL, &[&account, &now_ms, &(LISTED_MAX as i64)]).await?, session_of)
}

pub(super) async fn choose(
    pool: &Pool,
    session: &str,
    profile: Option<&str>,
    now_ms: i64,
) -> Result<bool, Error> {
    const SQL: &str =
        "UPDATE sessions SET profile = $2 WHERE id = $1 AND ended_ms IS NULL AND expires_ms > $3 AND (
            $2::text IS NULL OR account = (SELECT account FROM profiles WHERE id = $2))";
    Ok(pool.count(SQL, &[&session, &profile, &now_ms]).await? == 1)
}

/// The exchange is one statement: of any number who present the same token it finds the token for the first of them only.
/// What is decided for the others stays true, as no token comes back.
pub(super) async fn rotate(pool: &Pool, r: &Rotation) -> Result<Rotated, Error> {
    const EXCHANGE: &str = "UPDATE sessions
         SET last = token, token = $3, salt = $4, rotated_ms = $5, used_ms = $5, expires_ms = $6
         WHERE family = $1 AND token = $2 AND ended_ms IS NULL AND expires_ms > $5
         RETURNING id, account, device, label, profile, created_ms, used_ms, expires_ms";
    const FIND: &str =
        "SELECT id, account, device, label, profile, created_ms, used_ms, expires_ms, last, salt, rotated_ms
         FROM sessions WHERE family = $1 AND ended_ms IS NULL AND expires_ms > $2";
    const END: &str = "UPDATE sessions SET ended_ms = $2 WHERE id = $1 AND ended_ms IS NULL";
    let (family, token, successor) = (&r.family.0[..], &r.token.0[..], &r.successor.0[..]);
    let salt = &r.salt.0[..];
    let mut lent = pool.lend().await?;
    let exchanged =
        lent.rows(EXCHANGE, &[&family, &token, &successor, &salt, &r.now_ms, &r.expires_ms]).await?;
    if let Some(session) = one(&exchanged, session_of)? {
        return Ok(Rotated::Next(session));
    }
    let found = one(&lent.rows(FIND, &[&family, &r.now_ms]).await?, |row| {
        let last: Option<&[u8]> = row.try_get(8)?;
        let salt: Option<&[u8]> = row.try_get(9)?;
        let rotated_ms: Option<i64> = row.try_get(10)?;
        let within = rotated_ms.is_some_and(|at| r.now_ms.saturating_sub(at) < r.grace_ms);
        let salt = salt.and_then(|salt| salt.try_into().ok()).filter(|_| within && last == Some(token));
        Ok((session_of(row)?, salt.map(Salt)))
    })?;
    match found {
        None => Ok(Rotated::Unknown),
        Some((session, Some(salt))) => Ok(Rotated::Again(session, salt)),
        Some((session, None)) => {
            lent.count(END, &[&session.id, &r.now_ms]).await?;
            Ok(Rotated::Reused(session))
        }
    }
}

pub(super) async fn end(pool: &Pool, account: &str, session: &str, now_ms: i64) -> Result<bool, Error> {
    const SQL: &str = "UPDATE sessions SET ended_ms = $3
         WHERE id = $1 AND account = $2 AND ended_ms IS NULL AND expires_ms > $3";
    Ok(pool.count(SQL, &[&session, &account, &now_ms]).await? == 1)
}

pub(super) async fn end_others(
    pool: &Pool,
    account: &str,
    keep: Option<&str>,
    now_ms: i64,
) -> Result<usize, Error> {
    const SQL: &str = "WITH mine AS (SELECT id FROM accounts WHERE id = $1 FOR NO KEY UPDATE)
         UPDATE sessions s SET ended_ms = $3 FROM mine
         WHERE s.account = mine.id AND ($2::text IS NULL OR s.id <> $2) AND s.ended_ms IS NULL AND s.expires_ms > $3";
    Ok(pool.count(SQL, &[&account, &keep, &now_ms]).await? as usize)
}

pub(super) async fn sweep(pool: &Pool, now_ms: i64, max: usize) -> Result<usize, Error> {
    const SQL: &str = "DELETE FROM sessions WHERE id IN (
            SELECT id FROM sessions WHERE expires_ms <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)";
    Ok(pool.count(SQL, &[&now_ms, &(max as i64)]).await? as usize)
}
