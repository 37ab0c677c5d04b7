//! Accounts, providers' names for them, codes and profiles.

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::Error;
use crate::accounts::{Account, Code, Digest, External, LISTED_MAX, Profile, Put, Taken};

fn account_of(row: &Row<'_>) -> rusqlite::Result<Account> {
    Ok(Account { id: row.get(0)?, email: row.get(1)?, password: row.get(2)?, created_ms: row.get(3)? })
}

pub(super) fn create(c: &Connection, account: &Account) -> Result<bool, Error> {
    let Account { id, email, password, created_ms } = account;
    let made = c
        .prepare_cached(
            "INSERT INTO accounts (id, email, password, created_ms) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
        )?
        .execute(params![id, email, password, created_ms])?;
    Ok(made == 1)
}

pub(super) fn account(c: &Connection, id: &str) -> Result<Option<Account>, Error> {
    let mut found = c.prepare_cached("SELECT id, email, password, created_ms FROM accounts WHERE id = ?1")?;
    Ok(found.query_row([id], account_of).optional()?)
}

pub(super) fn by_email(c: &Connection, email: &str) -> Result<Option<Account>, Error> {
    let mut found =
        c.prepare_cached("SELECT id, email, password, created_ms FROM accounts WHERE email = ?1")?;
    Ok(found.query_row([email], account_of).optional()?)
}

pub(super) fn by_external(c: &Connection, external: &External, new: Account) -> Result<Account, Error> {
    let External { issuer, subject } = external;
    let known = c
        .prepare_cached(
            "SELECT a.id, a.email, a.password, a.created_ms FROM externals e JOIN accounts a ON a.id = e.account
             WHERE e.issuer = ?1 AND e.subject = ?2",
        )?
        .query_row([issuer, subject], account_of)
        .optional()?;
    if let Some(known) = known {
        return Ok(known);
    }
    c.prepare_cached("INSERT INTO accounts (id, email, password, created_ms) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![new.id, new.email, new.password, new.created_ms])?;
    c.prepare_cached("INSERT INTO externals (issuer, subject, account) VALUES (?1, ?2, ?3)")?
        .execute([issuer, subject, &new.id])?;
    Ok(new)
}

pub(super) fn set_password(c: &Connection, account: &str, hash: &str) -> Result<bool, Error> {
    let changed =
        c.prepare_cached("UPDATE accounts SET password = ?2 WHERE id = ?1")?.execute([account, hash])?;
    Ok(changed == 1)
}

pub(super) fn rehash(c: &Connection, account: &str, old: &str, new: &str) -> Result<bool, Error> {
    let changed = c
        .prepare_cached("UPDATE accounts SET password = ?3 WHERE id = ?1 AND password = ?2")?
        .execute([account, old, new])?;
    Ok(changed == 1)
}

pub(super) fn delete(c: &Connection, account: &str) -> Result<bool, Error> {
    c.prepare_cached("DELETE FROM codes WHERE email = (SELECT email FROM accounts WHERE id = ?1)")?
        .execute([account])?;
    Ok(c.prepare_cached("DELETE FROM accounts WHERE id = ?1")?.execute([account])? == 1)
}

pub(super) fn put_code(c: &Connection, email: &str, code: &Code) -> Result<(), Error> {
    c.prepare_cached(
        "INSERT INTO codes (email, digest, expires_ms, tries) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (email) DO UPDATE SET digest = excluded.digest, expires_ms = excluded.expires_ms,
         tries = excluded.tries",
    )?
    .execute(params![email, code.digest.0, code.expires_ms, code.tries])?;
    Ok(())
}

pub(super) fn take_code(c: &Connection, email: &str, digest: &Digest, now_ms: i64) -> Result<Taken, Error> {
    let used = c
        .prepare_cached(
            "DELETE FROM codes WHERE email = ?1 AND digest = ?2 AND expires_ms > ?3 AND tries > 0",
        )?
        .execute(params![email, digest.0, now_ms])?;
    if used == 1 {
        return Ok(Taken::Yes);
    }
    c.prepare_cached("UPDATE codes SET tries = tries - 1 WHERE email = ?1 AND tries > 0")?
        .execute([email])?;
    Ok(Taken::No)
}

pub(super) fn sweep_codes(c: &Connection, now_ms: i64, max: usize) -> Result<usize, Error> {
    Ok(c.prepare_cached(
        "DELETE FROM codes WHERE email IN (SELECT email FROM codes WHERE expires_ms <= ?1 LIMIT ?2)",
    )?
    .execute(params![now_ms, max as i64])?)
}

pub(super) fn profiles(c: &Connection, account: &str) -> Result<Vec<Profile>, Error> {
    let mut found = c.prepare_cached(
        "SELECT id, account, name, language, created_ms FROM profiles WHERE account = ?1
         ORDER BY created_ms, id LIMIT ?2",
    )?;
    let rows = found.query_map(params![account, LISTED_MAX as i64], |row| {
        Ok(Profile {
            id: row.get(0)?,
            account: row.get(1)?,
            name: row.get(2)?,
            language: row.get(3)?,
            created_ms: row.get(4)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn put_profile(c: &Connection, profile: &Profile, max: usize) -> Result<Put, Error> {
    let Profile { id, account, name, language, created_ms } = profile;
    let owner: Option<String> = c
        .prepare_cached("SELECT account FROM profiles WHERE id = ?1")?
        .query_row([id], |row| row.get(0))
        .optional()?;
    match owner {
        Some(owner) if owner == *account => {
            c.prepare_cached("UPDATE profiles SET name = ?2, language = ?3 WHERE id = ?1")?
                .execute(params![id, name, language])?;
            return Ok(Put::Changed);
        }
        Some(_) => return Ok(Put::Absent),
        None => {}
    }
    let there: i64 = c
        .prepare_cached("SELECT count(*) FROM accounts WHERE id = ?1")?
        .query_row([account], |row| row.get(0))?;
    let count: i64 = c
        .prepare_cached("SELECT count(*) FROM profiles WHERE account = ?1")?
        .query_row([account], |row| row.get(0))?;
    if there == 0 {
        return Ok(Put::Absent);
    }
    if count >= max as i64 {
        return Ok(Put::Full);
    }
    c.prepare_cached(
        "INSERT INTO profiles (id, account, name, language, created_ms) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?
    .execute(params![id, account, name, language, created_ms])?;
    Ok(Put::Made)
}

pub(super) fn delete_profile(c: &Connection, account: &str, id: &str) -> Result<bool, Error> {
    let gone =
        c.prepare_cached("DELETE FROM profiles WHERE id = ?1 AND account = ?2")?.execute([id, account])?;
    Ok(gone == 1)
}
