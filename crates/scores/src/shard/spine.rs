//! What has left the relay's window: from the replay, and what has left that too, from the log.

use std::sync::Arc;

use async_trait::async_trait;
use relay::{Error, History, Message, Page};
use store::{Log, Replay};
use tokio::sync::watch;
use tokio::time::timeout;

use super::fold::Fold;
use super::limits::REPLAY_WAIT_MAX;
use super::replay;
use crate::catalog::Catalog;

/// The logs of all matches as a history: what was published is made again, alike.
pub(super) struct Spine {
    pub(super) log: Arc<dyn Log>,
    pub(super) replay: Arc<dyn Replay>,
    pub(super) catalog: watch::Receiver<Arc<Catalog>>,
}

#[async_trait]
impl History for Spine {
    async fn read(&self, topic: &str, epoch: u32, after: u64, max: usize) -> Result<Page, Error> {
        if let Some(messages) = self.replayed(topic, epoch, after, max).await {
            return Ok(Page { after, messages });
        }
        let failed = |error: &dyn std::fmt::Display| Error::History(error.to_string());
        let sport = self.catalog.borrow().get(topic).map(|entry| entry.sport);
        let sport = sport.ok_or_else(|| failed(&"the match has left the catalog"))?;
        let (mut fold, mut messages, mut upto) = (Fold::new(topic, sport, epoch), Vec::new(), 0);
        while messages.len() < max {
            let records = self.log.read(topic, upto, store::READ_MAX).await.map_err(|e| failed(&e))?;
            let Some(last) = records.last().map(|record| record.offset) else { break };
            upto = last;
            let folding = tokio::task::spawn_blocking(move || {
                for record in records {
                    if record.offset <= after {
                        fold.note(&record);
                    } else if messages.len() < max {
                        // A record that cannot be read was counted when it was new.
                        messages.extend(fold.message(&record).ok().flatten());
                    }
                }
                (fold, messages)
            });
            (fold, messages) = folding.await.map_err(|e| failed(&e))?;
        }
        if self.log.epoch(topic).await.map_err(|e| failed(&e))? != Some(epoch) {
            return Err(failed(&"the log is another one"));
        }
        Ok(Page { after, messages })
    }
}

impl Spine {
    /// What the replay says; none if it cannot, or not now.
    async fn replayed(&self, topic: &str, epoch: u32, after: u64, max: usize) -> Option<Vec<Message>> {
        let why = match timeout(REPLAY_WAIT_MAX, self.replay.read(topic, epoch, after, max)).await {
            Ok(Ok(entries)) => return entries?.into_iter().map(replay::message).collect(),
            Ok(Err(error)) => error.to_string(),
            Err(late) => late.to_string(),
        };
        tracing::warn!(r#match = topic, why, "the replay cannot be read; the log is");
        None
    }
}
