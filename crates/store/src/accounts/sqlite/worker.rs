//! A thread with a connection. What waits while it is busy is one transaction, so that many writes share one wait for
//! the disk; each is undone alone if it fails.

use std::time::{Duration, Instant};

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::{mpsc, oneshot};

use crate::Error;

/// Jobs that wait for a thread. At some 50 µs each, the last of them is answered in 50 ms; whoever comes then is told at
/// once that there is too much to do, rather than after a wait that nobody sits through.
const JOBS_MAX: usize = 1_024;

/// Jobs of one transaction: it must not keep another process from writing for long.
const GROUP_MAX: usize = 128;

/// The longest wait for an answer. A login takes less than a tenth of it on a slow disk; beyond it the store counts as
/// gone, and the door has other answers.
const ANSWER_MAX: Duration = Duration::from_secs(1);

/// Tells who asked, with what came of the transaction.
type Deliver = Box<dyn FnOnce(Result<(), &rusqlite::Error>) + Send>;

/// What is done: whether it went well, and how to say so.
type Work = Box<dyn FnOnce(&Connection) -> (bool, Deliver) + Send>;

struct Job {
    deadline: Instant,
    work: Work,
}

/// Asks the thread; it ends with the last of its handles.
#[derive(Clone)]
pub(super) struct Worker(mpsc::Sender<Job>);

impl Worker {
    pub(super) fn writes(connection: Connection) -> Result<Worker, Error> {
        Worker::start("accounts-write", connection, write)
    }

    pub(super) fn reads(connection: Connection) -> Result<Worker, Error> {
        Worker::start("accounts-read", connection, read)
    }

    fn start(
        name: &str,
        mut connection: Connection,
        run: impl Fn(&mut Connection, &mut Vec<Job>) + Send + 'static,
    ) -> Result<Worker, Error> {
        let (jobs, mut waiting) = mpsc::channel(JOBS_MAX);
        std::thread::Builder::new()
            .name(name.into())
            .spawn(move || {
                let mut group: Vec<Job> = Vec::with_capacity(GROUP_MAX);
                while waiting.blocking_recv_many(&mut group, GROUP_MAX) > 0 {
                    // Nobody waits for these any more. Who asked sees its sender dropped.
                    let now = Instant::now();
                    group.retain(|job| now < job.deadline);
                    run(&mut connection, &mut group);
                    group.clear();
                }
            })
            .map_err(Error::Thread)?;
        Ok(Worker(jobs))
    }

    pub(super) async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        let work = move |connection: &Connection| -> (bool, Deliver) {
            let done = work(connection);
            let good = done.is_ok();
            let deliver = move |committed: Result<(), &rusqlite::Error>| {
                let done = match committed {
                    Ok(()) => done,
                    Err(error) => Err(Error::Commit(error.to_string())),
                };
                // Who asked may have gone.
                let _ = reply.send(done);
            };
            (good, Box::new(deliver))
        };
        let job = Job { deadline: Instant::now() + ANSWER_MAX, work: Box::new(work) };
        self.0.try_send(job).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => Error::Busy,
            mpsc::error::TrySendError::Closed(_) => Error::Worker,
        })?;
        match tokio::time::timeout(ANSWER_MAX, answer).await {
            Ok(Ok(done)) => done,
            Ok(Err(_)) | Err(_) => Err(Error::Late),
        }
    }
}

fn read(connection: &mut Connection, group: &mut Vec<Job>) {
    for job in group.drain(..) {
        let (_, deliver) = (job.work)(connection);
        deliver(Ok(()));
    }
}

fn write(connection: &mut Connection, group: &mut Vec<Job>) {
    let mut delivers = Vec::with_capacity(group.len());
    let committed = transact(connection, group, &mut delivers);
    for deliver in delivers {
        deliver(committed.as_ref().copied());
    }
}

fn transact(
    connection: &mut Connection,
    group: &mut Vec<Job>,
    delivers: &mut Vec<Deliver>,
) -> rusqlite::Result<()> {
    let mut tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for job in group.drain(..) {
        let mut own = tx.savepoint()?;
        let (good, deliver) = (job.work)(&own);
        if !good {
            own.rollback()?;
        }
        own.commit()?;
        delivers.push(deliver);
    }
    tx.commit()
}
