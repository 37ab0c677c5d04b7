//! Accounts, providers' names for them, codes and profiles.

use tokio_postgres::Row;

use super::{Read, all, one};
use crate::Error;
use crate::accounts::{Account, Code, Digest, External, LISTED_MAX, Profile, Put, Taken};
use crate::postgres::{Pool, is_double};

fn account_of(row: &Row) -> Read<Account> {
    Ok(Account {
        id: row.try_get(0)?,
        email: row.try_get(1)?,
        password: row.try_get(2)?,
        created_ms: row.try_get(3)?,
    })
}

fn profile_of(row: &Row) -> Read<Profile> {
    Ok(Profile {
        id: row.try_get(0)?,
        account: row.try_get(1)?,
        name: row.try_get(2)?,
        language: row.try_get(3)?,
        created_ms: row.try_get(4)?,
    })
}

pub(super) async fn create(pool: &Pool, account: &Account) -> Result<bool, Error> {
    const SQL: &str = "INSERT INTO accounts (id, email, password, created_ms) VALUES ($1, $2, $3, $4)
         ON CONFLICT DO NOTHING";
    let Account { id, email, password, created_ms } = account;
    Ok(pool.count(SQL, &[id, email, password, created_ms]).await? == 1)
}

pub(super) async fn account(pool: &Pool, id: &str) -> Result<Option<Account>, Error> {
    const SQL: &str = "SELECT id, email, password, created_ms FROM accounts WHERE id = $1";
    one(&pool.rows(SQL, &[&id]).await?, account_of)
}

pub(super) async fn by_email(pool: &Pool, email: &str) -> Result<Option<Account>, Error> {
    const SQL: &str = "SELECT id, email, password, created_ms FROM accounts WHERE email = $1";
    one(&pool.rows(SQL, &[&email]).await?, account_of)
}

pub(super) async fn by_external(pool: &Pool, external: &External, new: &Account) -> Result<Account, Error> {
    const SQL: &str = "WITH known AS (
            SELECT a.id, a.email, a.password, a.created_ms FROM externals e JOIN accounts a ON a.id = e.account
            WHERE e.issuer = $1 AND e.subject = $2
         ), made AS (
            INSERT INTO accounts (id, email, password, created_ms)
            SELECT $3, $4, $5, $6 WHERE NOT EXISTS (SELECT 1 FROM known)
            RETURNING id, email, password, created_ms
         ), named AS (
            INSERT INTO externals (issuer, subject, account) SELECT $1, $2, id FROM made
         )
         SELECT * FROM known UNION ALL SELECT * FROM made";
    let External { issuer, subject } = external;
    let Account { id, email, password, created_ms } = new;
    let mut lent = pool.lend().await?;
    let mut found = lent.rows(SQL, &[issuer, subject, id, email, password, created_ms]).await;
    if found.as_ref().is_err_and(is_double) {
        // Another callback was first, and nothing of ours was written; now the account is known.
        found = lent.rows(SQL, &[issuer, subject, id, email, password, created_ms]).await;
    }
    let gone = || Error::Commit("the account of a provider's subject is neither there nor made".into());
    one(&found?, account_of)?.ok_or_else(gone)
}

pub(super) async fn set_password(
    pool: &Pool,
    account: &str,
    hash: &str,
    keep: Option<&str>,
    now_ms: i64,
) -> Result<bool, Error> {
    const SQL: &str = "WITH mine AS (SELECT id FROM accounts WHERE id = $1 FOR NO KEY UPDATE), ended AS (
            UPDATE sessions s SET ended_ms = $4 FROM mine
            WHERE s.account = mine.id AND ($3::text IS NULL OR s.id <> $3) AND s.ended_ms IS NULL AND s.expires_ms > $4
         )
         UPDATE accounts a SET password = $2 FROM mine WHERE a.id = mine.id";
    Ok(pool.count(SQL, &[&account, &hash, &keep, &now_ms]).await? == 1)
}

pub(super) async fn rehash(pool: &Pool, account: &str, old: &str, new: &str) -> Result<bool, Error> {
    const SQL: &str = "UPDATE accounts SET password = $3 WHERE id = $1 AND password = $2";
    Ok(pool.count(SQL, &[&account, &old, &new]).await? == 1)
}

pub(super) async fn delete(pool: &Pool, account: &str) -> Result<bool, Error> {
    const SQL: &str =
        "WITH code AS (DELETE FROM codes WHERE email = (SELECT email FROM accounts WHERE id = $1))
         DELETE FROM accounts WHERE id = $1";
    Ok(pool.count(SQL, &[&account]).await? == 1)
}

pub(super) async fn put_code(pool: &Pool, email: &str, code: &Code) -> Result<(), Error> {
    const SQL: &str = "INSERT INTO codes (email, digest, expires_ms, tries) VALUES ($1, $2, $3, $4)
         ON CONFLICT (email) DO UPDATE SET digest = excluded.digest, expires_ms = excluded.expires_ms,
         tries = excluded.tries";
    let digest = &code.digest.0[..];
    pool.count(SQL, &[&email, &digest, &code.expires_ms, &i64::from(code.tries)]).await.map(drop)
}

/// Each try is paid for before it is judged, so that many at once are no more than were allowed.
pub(super) async fn take_code(
    pool: &Pool,
    email: &str,
    digest: &Digest,
    now_ms: i64,
) -> Result<Taken, Error> {
    const TRY: &str = "UPDATE codes SET tries = tries - 1 WHERE email = $1 AND tries > 0
         RETURNING digest = $2 AND expires_ms > $3";
    const USE_UP: &str = "DELETE FROM codes WHERE email = $1 AND digest = $2";
    let digest = &digest.0[..];
    let mut lent = pool.lend().await?;
    let right = one(&lent.rows(TRY, &[&email, &digest, &now_ms]).await?, |row| row.try_get(0))?;
    if right == Some(true) && lent.count(USE_UP, &[&email, &digest]).await? == 1 {
        return Ok(Taken::Yes);
    }
    Ok(Taken::No)
}

pub(super) async fn sweep_codes(pool: &Pool, now_ms: i64, max: usize) -> Result<usize, Error> {
    const SQL: &str = "DELETE FROM codes WHERE email IN (
            SELECT email FROM codes WHERE expires_ms <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)";
    Ok(pool.count(SQL, &[&now_ms, &(max as i64)]).await? as usize)
}

pub(super) async fn profiles(pool: &Pool, account: &str) -> Result<Vec<Profile>, Error> {
    const SQL: &str = "SELECT id, account, name, language, created_ms FROM profiles WHERE account = $1
         ORDER BY created_ms, id LIMIT $2";
    all(&pool.rows(SQL, &[&account, &(LISTED_MAX as i64)]).await?, profile_of)
}

pub(super) async fn put_profile(pool: &Pool, profile: &Profile, max: usize) -> Result<Put, Error> {
    const LOCK: &str = "SELECT 1 FROM accounts WHERE id = $1 FOR NO KEY UPDATE";
    const CHANGE: &str = "UPDATE profiles SET name = $3, language = $4 WHERE id = $1 AND account = $2";
    const COUNT: &str = "SELECT count(*) FROM profiles WHERE account = $1";
    const MAKE: &str =
        "INSERT INTO profiles (id, account, name, language, created_ms) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (id) DO NOTHING";
    const THERE: &str = "SELECT 1 FROM profiles WHERE id = $1";
    let Profile { id, account, name, language, created_ms } = profile;
    let mut lent = pool.lend().await?;
    lent.begin().await?;
    let put = if lent.rows(LOCK, &[account]).await?.is_empty() {
        Put::Absent
    } else if lent.count(CHANGE, &[id, account, name, language]).await? == 1 {
        Put::Changed
    } else if !lent.rows(THERE, &[id]).await?.is_empty() {
        Put::Absent
    } else if one(&lent.rows(COUNT, &[account]).await?, |row| row.try_get::<_, i64>(0))? >= Some(max as i64) {
        Put::Full
    } else if lent.count(MAKE, &[id, account, name, language, created_ms]).await? == 1 {
        Put::Made
    } else {
        Put::Absent
    };
    lent.commit().await?;
    Ok(put)
}

pub(super) async fn delete_profile(pool: &Pool, account: &str, id: &str) -> Result<bool, Error> {
    const SQL: &str = "DELETE FROM profiles WHERE id = $1 AND account = $2";
    Ok(pool.count(SQL, &[&id, &account]).await? == 1)
}
