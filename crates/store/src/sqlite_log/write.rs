//! The one thread that writes: whatever waits becomes one transaction, so that many appends share one wait for the disk.

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use tokio::sync::{mpsc, oneshot};

use crate::{Appended, Error, New};

/// Writes that wait for the thread; whoever comes next waits to get into the queue.
pub(super) const JOBS_MAX: usize = 256;

/// What the thread is asked for.
pub(super) enum Job {
    Append { records: Vec<New>, reply: oneshot::Sender<Result<Vec<Appended>, Error>> },
    Commit { topic: String, group: String, offset: u64, reply: oneshot::Sender<Result<(), Error>> },
}

impl Job {
    /// Nobody may be waiting any more; that is their affair.
    fn answer(self, outcome: Result<Vec<Appended>, Error>) {
        match self {
            Job::Append { reply, .. } => drop(reply.send(outcome)),
            Job::Commit { reply, .. } => drop(reply.send(outcome.map(drop))),
        }
    }
}

/// Writes until every handle is gone. `wrote` is called after each commit.
pub(super) fn run(mut connection: Connection, mut jobs: mpsc::Receiver<Job>, wrote: impl Fn()) {
    let mut group = Vec::with_capacity(JOBS_MAX);
    while jobs.blocking_recv_many(&mut group, JOBS_MAX) > 0 {
        match transact(&mut connection, &group) {
            Ok(appended) => {
                wrote();
                group.drain(..).zip(appended).for_each(|(job, appended)| job.answer(Ok(appended)));
            }
            Err(error) => {
                let why = error.to_string();
                group.drain(..).for_each(|job| job.answer(Err(Error::Commit(why.clone()))));
            }
        }
    }
}

fn transact(connection: &mut Connection, group: &[Job]) -> rusqlite::Result<Vec<Vec<Appended>>> {
    let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let appended = group
        .iter()
        .map(|job| match job {
            Job::Append { records, .. } => records.iter().map(|record| append(&tx, record)).collect(),
            Job::Commit { topic, group, offset, .. } => {
                commit(&tx, topic, group, *offset).map(|()| Vec::new())
            }
        })
        .collect::<Result<_, _>>()?;
    tx.commit()?;
    Ok(appended)
}

fn append(tx: &Transaction<'_>, record: &New) -> rusqlite::Result<Appended> {
    let topic: Option<(i64, i64)> = tx
        .prepare_cached("SELECT id, last FROM topics WHERE name = ?1")?
        .query_row([&record.topic], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let (topic, last) = match topic {
        Some(known) => known,
        None => {
            // Never 0, which stands for no epoch in clients that have none.
            let epoch = fastrand::u32(1..);
            tx.prepare_cached("INSERT INTO topics (name, epoch, last) VALUES (?1, ?2, 0)")?
                .execute(params![record.topic, epoch])?;
            (tx.last_insert_rowid(), 0)
        }
    };
    let known: Option<i64> = tx
        .prepare_cached("SELECT offset FROM records WHERE topic = ?1 AND key = ?2")?
        .query_row(params![topic, record.key], |row| row.get(0))
        .optional()?;
    if let Some(offset) = known {
        return Ok(Appended { offset: offset as u64, new: false });
    }
    let offset = last + 1;
    tx.prepare_cached("INSERT INTO records (topic, offset, key, value) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![topic, offset, record.key, &record.value[..]])?;
    tx.prepare_cached("UPDATE topics SET last = ?2 WHERE id = ?1")?.execute(params![topic, offset])?;
    Ok(Appended { offset: offset as u64, new: true })
}

fn commit(tx: &Transaction<'_>, topic: &str, group: &str, offset: u64) -> rusqlite::Result<()> {
    let offset = i64::try_from(offset).unwrap_or(i64::MAX);
    tx.prepare_cached(
        "INSERT INTO commits (topic, readers, offset) VALUES (?1, ?2, ?3)
         ON CONFLICT DO UPDATE SET offset = max(offset, excluded.offset)",
    )?
    .execute(params![topic, group, offset])?;
    Ok(())
}
