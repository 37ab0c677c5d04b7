//! The file in which it stands who was let in without a check, on this machine's own disk: it must not need the database
//! whose absence it is for. A line is on the disk before its viewer is let in.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use tokio::sync::{mpsc, oneshot};

use super::ledger::{Ledger, Line};
use super::limits::{JOURNAL_BYTES, JOURNAL_DEADLINE, JOURNAL_QUEUE_MAX};
use crate::Error;

/// Lines to write, and who waits for them.
enum Job {
    Lines(String, oneshot::Sender<bool>),
    /// Everything in it is settled.
    Begin,
}

/// A handle to the thread that writes; it ends with the last of them.
#[derive(Clone)]
pub(crate) struct Journal {
    jobs: mpsc::Sender<Job>,
}

impl Journal {
    /// Opens the file, or makes it, and says what is pending in it.
    ///
    /// # Errors
    ///
    /// It cannot be read or written.
    pub(crate) fn open(path: &Path) -> Result<(Journal, Ledger), Error> {
        let failed = |why: std::io::Error| Error::Journal { file: path.to_owned(), why };
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(failed)?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(failed)?;
        let ledger = Ledger::read(&String::from_utf8_lossy(&text));
        if text.last().is_some_and(|last| *last != b'\n') {
            // The rest of a line that was cut must not spoil the next.
            file.write_all(b"\n").map_err(failed)?;
        }
        let (jobs, waiting) = mpsc::channel(JOURNAL_QUEUE_MAX);
        std::thread::Builder::new()
            .name("journal".into())
            .spawn(move || run(file, waiting))
            .map_err(failed)?;
        Ok((Journal { jobs }, ledger))
    }

    /// Writes lines; true: they are on the disk. False: the disk failed, or is too slow, or too many wait.
    pub(crate) async fn write(&self, lines: &[Line]) -> bool {
        let (reply, answer) = oneshot::channel();
        let text = lines.iter().map(Line::text).collect();
        if self.jobs.try_send(Job::Lines(text, reply)).is_err() {
            return false;
        }
        matches!(tokio::time::timeout(JOURNAL_DEADLINE, answer).await, Ok(Ok(true)))
    }

    /// Begins it anew if it is long and nobody writes meanwhile. To be called while everything in it is settled and nobody
    /// can be let in: whoever comes later is written after it.
    pub(crate) fn begin(&self) {
        // If the queue is full it is not quiet.
        let _ = self.jobs.try_send(Job::Begin);
    }
}

fn run(mut file: File, mut jobs: mpsc::Receiver<Job>) {
    let mut group = Vec::with_capacity(JOURNAL_QUEUE_MAX);
    while jobs.blocking_recv_many(&mut group, JOURNAL_QUEUE_MAX) > 0 {
        let mut text = String::new();
        let mut begin = false;
        for job in &group {
            match job {
                Job::Lines(lines, _) => text.push_str(lines),
                Job::Begin => begin = true,
            }
        }
        // Lines that came meanwhile are of viewers who are let in: then it is not all settled.
        let written = if begin && text.is_empty() { shorten(&mut file) } else { append(&mut file, &text) };
        if let Err(error) = &written {
            tracing::error!(%error, "the journal of provisional passes cannot be written");
        }
        for job in group.drain(..) {
            // Nobody may be waiting any more: a pass that is in the journal and was not given is settled like others.
            if let Job::Lines(_, reply) = job {
                let _ = reply.send(written.is_ok());
            }
        }
    }
}

fn append(file: &mut File, text: &str) -> std::io::Result<()> {
    file.write_all(text.as_bytes())?;
    file.sync_data()
}

fn shorten(file: &mut File) -> std::io::Result<()> {
    if file.seek(SeekFrom::End(0))? > JOURNAL_BYTES {
        file.set_len(0)?;
        file.sync_data()?;
    }
    Ok(())
}
