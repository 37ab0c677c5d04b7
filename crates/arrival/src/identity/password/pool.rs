//! Threads that hash. Their number is the memory that hashing takes, and their queue is the wait.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use argon2::Block;
use tokio::sync::oneshot;

use super::phc::{Cost, Hash};
use crate::identity::Error;
use crate::identity::limits::{HASH_WAIT_MS, HASHES_WAITING_PER_THREAD};
use crate::identity::secret;

/// There is too much to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Busy;

/// What comes of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// It is the password.
    pub(crate) good: bool,
    /// And its hash should be made anew, with today's costs.
    pub(crate) old: bool,
}

enum Work {
    Check { hash: Hash, reply: oneshot::Sender<Verdict> },
    Make { salt: [u8; 16], reply: oneshot::Sender<Option<String>> },
}

struct Job {
    password: Vec<u8>,
    deadline: Instant,
    work: Work,
}

/// Hashes passwords.
pub(crate) struct Pool {
    jobs: SyncSender<Job>,
    nobody: Hash,
    done: Arc<AtomicU64>,
}

impl Pool {
    pub(crate) fn start(threads: usize) -> Result<Pool, Error> {
        let threads = threads.max(1);
        let (jobs, waiting) = sync_channel(threads * HASHES_WAITING_PER_THREAD);
        let waiting = Arc::new(Mutex::new(waiting));
        let done = Arc::new(AtomicU64::new(0));
        for _ in 0..threads {
            let (waiting, done) = (waiting.clone(), done.clone());
            std::thread::Builder::new()
                .name("passwords".into())
                .spawn(move || run(&waiting, &done))
                .map_err(Error::Thread)?;
        }
        Ok(Pool { jobs, nobody: Hash::of_nobody(secret::random()?), done })
    }

    /// Hashes that were made, for whatever reason.
    pub(crate) fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Whether that is the password of this hash. Without a hash, or with one that cannot be read, it is not, and
    /// finding that out takes the same work.
    pub(crate) async fn check(&self, password: &str, hash: Option<&str>) -> Result<Verdict, Busy> {
        let hash = hash.and_then(Hash::read).unwrap_or_else(|| self.nobody.clone());
        self.ask(password, |reply| Work::Check { hash, reply }).await
    }

    /// The hash of a new password.
    pub(crate) async fn make(&self, password: &str) -> Result<String, Busy> {
        let salt = secret::random().map_err(|_| Busy)?;
        self.ask(password, |reply| Work::Make { salt, reply }).await?.ok_or(Busy)
    }

    async fn ask<T>(&self, password: &str, work: impl FnOnce(oneshot::Sender<T>) -> Work) -> Result<T, Busy> {
        let (reply, answer) = oneshot::channel();
        let deadline = Instant::now() + Duration::from_millis(HASH_WAIT_MS);
        let job = Job { password: password.as_bytes().to_vec(), deadline, work: work(reply) };
        self.jobs.try_send(job).map_err(|_| Busy)?;
        // A job whose time has passed is dropped by the thread, and its sender with it.
        answer.await.map_err(|_| Busy)
    }
}

fn run(waiting: &Mutex<Receiver<Job>>, done: &AtomicU64) {
    // Kept, so that the kernel need not find and clear 19 MiB for each.
    let mut memory = vec![Block::default(); Cost::blocks()];
    loop {
        let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job { password, deadline, work }) = next else { return };
        if Instant::now() >= deadline {
            continue;
        }
        done.fetch_add(1, Ordering::Relaxed);
        // Who asked may have gone.
        match work {
            Work::Check { hash, reply } => {
                let good = hash.fits(&password, &mut memory);
                let _ = reply.send(Verdict { good, old: hash.is_old() });
            }
            Work::Make { salt, reply } => {
                let _ = reply.send(Hash::make(&password, salt, &mut memory).map(|hash| hash.write()));
            }
        }
        memory.truncate(Cost::blocks());
        memory.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn who_is_not_known_costs_as_much_work() {
        let pool = Pool::start(1).unwrap();
        let hash = pool.make("correct horse").await.unwrap();
        assert_eq!(pool.done(), 1);
        let good = Verdict { good: true, old: false };
        let bad = Verdict { good: false, old: false };
        assert_eq!(pool.check("correct horse", Some(&hash)).await, Ok(good));
        assert_eq!(pool.check("wrong horse", Some(&hash)).await, Ok(bad));
        assert_eq!(pool.done(), 3);
        assert_eq!(pool.check("correct horse", None).await, Ok(bad));
        assert_eq!(pool.check("correct horse", Some("not a hash")).await, Ok(bad));
        assert_eq!(pool.done(), 5);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_full_queue_is_told_at_once() {
        let pool = Arc::new(Pool::start(1).unwrap());
        let asking = (0..HASHES_WAITING_PER_THREAD * 4)
            .map(|_| {
                let pool = pool.clone();
                tokio::spawn(async move { pool.check("x", None).await })
            })
            .collect::<Vec<_>>();
        let mut busy = 0;
        for one in asking {
            busy += usize::from(one.await.unwrap().is_err());
        }
        // Those that found room, and those that ran while the others came.
        assert!(busy >= HASHES_WAITING_PER_THREAD, "{busy}");
        assert!(pool.done() <= HASHES_WAITING_PER_THREAD as u64 * 3);
        assert!(pool.check("x", None).await.is_ok(), "it goes on");
    }
}
