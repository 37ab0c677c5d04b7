//! One thread with one connection to SQLite and a bounded queue: never more work than it can do before its deadline.

use std::time::{Duration, Instant};

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::{mpsc, oneshot};

use crate::Error;

/// Work that waits. At half a millisecond each the last of them is done within the deadline; more would be waited for
/// in vain.
const QUEUE_MAX: usize = 1_024;

/// Work of one transaction: it must not keep another process from writing for long.
const GROUP_MAX: usize = 128;

/// One piece of work, which answers by itself.
struct Job {
    /// True: it was done and may be committed. The answer is kept until then.
    work: Box<dyn FnOnce(&Connection) -> Done + Send>,
    by: Instant,
}

/// Work that was done, and answers when told that its transaction was committed.
type Done = Box<dyn FnOnce(Result<(), String>) + Send>;

/// A handle to the thread, which ends with the last of them.
#[derive(Clone)]
pub(crate) struct Worker {
    jobs: mpsc::Sender<Job>,
    deadline: Duration,
}

impl Worker {
    /// `writes`: what waits becomes one transaction, so that many share one wait for the disk. `deadline`: the longest from
    /// being asked to the answer; what would come later is not begun.
    pub(crate) fn start(
        name: &str,
        connection: Connection,
        deadline: Duration,
        writes: bool,
    ) -> Result<Worker, Error> {
        let (jobs, waiting) = mpsc::channel(QUEUE_MAX);
        std::thread::Builder::new()
            .name(name.into())
            .spawn(move || run(connection, waiting, writes))
            .map_err(Error::Thread)?;
        Ok(Worker { jobs, deadline })
    }

    /// Runs this on the thread.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        let work = Box::new(move |c: &Connection| -> Done {
            let outcome = savepoint(c, work);
            Box::new(move |committed| {
                let outcome = match committed {
                    Ok(()) => outcome,
                    Err(why) => Err(Error::Commit(why)),
                };
                // Nobody may be waiting any more; that is their affair.
                let _ = reply.send(outcome);
            })
        });
        let by = Instant::now() + self.deadline;
        self.jobs.try_send(Job { work, by }).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => Error::Busy,
            mpsc::error::TrySendError::Closed(_) => Error::Worker,
        })?;
        match tokio::time::timeout_at(by.into(), answer).await {
            Ok(Ok(outcome)) => outcome,
            // The thread dropped it: it was not begun in time.
            Ok(Err(_)) | Err(_) => Err(Error::Late),
        }
    }
}

/// What fails within a group takes back only its own.
fn savepoint<T>(c: &Connection, work: impl FnOnce(&Connection) -> Result<T, Error>) -> Result<T, Error> {
    if c.is_autocommit() {
        return work(c);
    }
    c.execute_batch("SAVEPOINT one")?;
    match work(c) {
        Ok(done) => Ok(c.execute_batch("RELEASE one").map(|()| done)?),
        Err(error) => {
            c.execute_batch("ROLLBACK TO one; RELEASE one")?;
            Err(error)
        }
    }
}

fn run(mut connection: Connection, mut jobs: mpsc::Receiver<Job>, writes: bool) {
    let mut group = Vec::with_capacity(GROUP_MAX);
    while jobs.blocking_recv_many(&mut group, if writes { GROUP_MAX } else { 1 }) > 0 {
        // Dropping a job is its answer.
        group.retain(|job| job.by > Instant::now());
        if !writes {
            group.drain(..).for_each(|job| (job.work)(&connection)(Ok(())));
            continue;
        }
        match connection.transaction_with_behavior(TransactionBehavior::Immediate) {
            Ok(tx) => {
                let done: Vec<Done> = group.drain(..).map(|job| (job.work)(&tx)).collect();
                let committed = tx.commit().map_err(|error| error.to_string());
                done.into_iter().for_each(|answer| answer(committed.clone()));
            }
            // Those who wait are told that they are late; the reason is the same for all.
            Err(_) => group.clear(),
        }
    }
}
