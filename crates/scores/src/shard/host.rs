//! One match: from its log to the relay.

use std::sync::Arc;

use metrics::counter;
use relay::{Jitter, Kept, Message, Publisher};
use store::{Log, Record, Replay};
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::SPINE_LOST;
use super::commit::{self, Given};
use super::config::Config;
use super::fold::Fold;
use super::limits::{FOLD_INLINE_MAX, RECHECK_EVERY, REPLAY_WAIT_MAX, RETRY};
use super::replay;
use crate::Error;
use crate::catalog::Match;

/// The actor of a match.
pub(super) struct Host {
    entry: Match,
    config: Config,
    log: Arc<dyn Log>,
    replay: Arc<dyn Replay>,
    publisher: Publisher,
    changes: watch::Receiver<()>,
    /// The log as far as it was read; none: not at all, or there is none yet.
    read: Option<Read>,
    /// What takers may have been given, for the log to be told.
    given: watch::Sender<Given>,
}

struct Read {
    epoch: u32,
    upto: u64,
    /// The last offset of which a message was made.
    said: u64,
    fold: Fold,
}

/// Ends the commits with the actor.
struct Ends(AbortHandle);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Host {
    pub(super) fn new(
        entry: Match,
        config: Config,
        log: Arc<dyn Log>,
        replay: Arc<dyn Replay>,
        publisher: Publisher,
        changes: watch::Receiver<()>,
    ) -> Host {
        Host { entry, config, log, replay, publisher, changes, read: None, given: watch::Sender::default() }
    }

    /// Follows the log for ever.
    pub(super) async fn run(mut self) {
        let id = self.entry.id.clone();
        let committing =
            commit::run(self.log.clone(), self.publisher.clone(), id.clone(), self.given.subscribe());
        let _ends = Ends(tokio::spawn(committing).abort_handle());
        let mut jitter = Jitter::new(RETRY.0, RETRY.1, fastrand::Rng::new());
        let mut lost = false;
        loop {
            self.changes.borrow_and_update();
            match self.advance().await {
                Ok(()) => {
                    if std::mem::take(&mut lost) {
                        tracing::info!(r#match = id, "the log is back");
                        jitter.reset();
                        // A match that was made anew is not paused any more.
                        let _ = self.publisher.resumed(&id);
                    }
                    // The end of the look-out is the end of the shard.
                    let _ = tokio::time::timeout(RECHECK_EVERY, self.changes.changed()).await;
                }
                Err(error) => {
                    if !std::mem::replace(&mut lost, true) {
                        counter!("scores_shard_spine_lost_total").increment(1);
                        tracing::error!(r#match = id, %error, "the log cannot be read");
                        // Who takes a match that was not opened yet has been told that it is not hosted.
                        let _ = self.publisher.paused(&id, SPINE_LOST);
                    }
                    tokio::time::sleep(jitter.next_wait()).await;
                }
            }
        }
    }

    /// Reads and publishes what there is.
    async fn advance(&mut self) -> Result<(), Error> {
        loop {
            let Some(read) = &self.read else { return self.rebuild().await };
            let (epoch, upto) = (read.epoch, read.upto);
            let records = self.log.read(&self.entry.id, upto, store::READ_MAX).await?;
            // Asked for after reading, so that what was read is of this epoch or of another that is noticed now.
            if self.log.epoch(&self.entry.id).await? != Some(epoch) {
                tracing::warn!(r#match = self.entry.id, "the log is another one; it is read anew");
                self.read = None;
                continue;
            }
            let Some(last) = records.last().map(|record| record.offset) else { return Ok(()) };
            let mut given = Given { read: last, ..*self.given.borrow() };
            let messages = self.fold(records).await;
            self.keep(&messages).await;
            for message in messages {
                let offset = message.offset;
                match self.publisher.publish(&self.entry.id, message) {
                    Ok(()) => given.published = offset,
                    Err(error) => passed_over(&self.entry.id, offset, &error),
                }
            }
            self.given.send_replace(given);
        }
    }

    /// Reads the log from its beginning, and opens the topic only when all of it is there: a taker that knew more than
    /// the shard would have to think that the log has lost something.
    async fn rebuild(&mut self) -> Result<(), Error> {
        let id = self.entry.id.clone();
        let Some(epoch) = self.log.epoch(&id).await? else {
            // Nothing yet: takers are told so, and start anew with the first event.
            if self.publisher.epoch(&id) != Some(0) {
                self.publisher.open(&id, 0, self.config.window(self.entry.sport), [])?;
            }
            return Ok(());
        };
        let mut kept = Kept::new(self.config.window(self.entry.sport));
        self.read = Some(Read { epoch, upto: 0, said: 0, fold: Fold::new(&id, self.entry.sport, epoch) });
        let read = self.read_all(&id, &mut kept).await;
        if read.is_err() || self.log.epoch(&id).await.ok().flatten() != Some(epoch) {
            self.read = None;
            return read;
        }
        let upto = self.read.as_ref().map_or(0, |read| read.upto);
        let given = Given { published: kept.head(), read: upto };
        self.publisher.open_with(&id, epoch, kept)?;
        self.given.send_replace(given);
        tracing::info!(r#match = id, upto, "a match is hosted");
        Ok(())
    }

    async fn read_all(&mut self, id: &str, kept: &mut Kept) -> Result<(), Error> {
        while let Some(read) = &self.read {
            let records = self.log.read(id, read.upto, store::READ_MAX).await?;
            if records.is_empty() {
                break;
            }
            let messages = self.fold(records).await;
            self.keep(&messages).await;
            for message in messages {
                kept.push(message);
            }
        }
        Ok(())
    }

    /// Gives messages to the replay, before they are published. One that fails costs those who come back a moment: what
    /// it has not is read from the log.
    async fn keep(&mut self, messages: &[Message]) {
        let (Some(read), Some(last)) = (&mut self.read, messages.last()) else { return };
        let after = std::mem::replace(&mut read.said, last.offset);
        let entries: Vec<_> = messages.iter().map(replay::entry).collect();
        let bounds = self.config.replay(self.entry.sport);
        let kept = self.replay.append(&self.entry.id, read.epoch, after, &entries, &bounds);
        let why = match tokio::time::timeout(REPLAY_WAIT_MAX, kept).await {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.to_string(),
            Err(late) => late.to_string(),
        };
        counter!("scores_shard_replay_lost_total").increment(1);
        tracing::warn!(r#match = self.entry.id, why, "the replay has not taken what is published");
    }

    /// Folds what was read; much of it where it keeps no other match waiting.
    async fn fold(&mut self, records: Vec<Record>) -> Vec<Message> {
        let Some(mut read) = self.read.take() else { return Vec::new() };
        let few = records.len() <= FOLD_INLINE_MAX;
        let id = self.entry.id.clone();
        let work = move || {
            let messages = records.iter().filter_map(|record| message(&id, &mut read.fold, record)).collect();
            read.upto = records.last().map_or(read.upto, |record| record.offset);
            (read, messages)
        };
        let (read, messages) = if few {
            work()
        } else {
            match tokio::task::spawn_blocking(work).await {
                Ok(done) => done,
                Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                // The runtime ends, and this task with it.
                Err(_) => std::future::pending().await,
            }
        };
        self.read = Some(read);
        messages
    }
}

/// What is published for a record. One that cannot be read costs itself only.
fn message(id: &str, fold: &mut Fold, record: &Record) -> Option<Message> {
    fold.message(record).unwrap_or_else(|corrupt| {
        passed_over(id, record.offset, &corrupt);
        None
    })
}

fn passed_over(id: &str, offset: u64, error: &dyn std::error::Error) {
    counter!("scores_shard_records_corrupt_total").increment(1);
    tracing::error!(r#match = id, offset, %error, "a record is passed over");
}
