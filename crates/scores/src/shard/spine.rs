//! What has left the replay, from the log.

use std::sync::Arc;

use async_trait::async_trait;
use relay::{Error, History, Page};
use store::Log;
use tokio::sync::watch;

use super::fold::Fold;
use crate::catalog::Catalog;

/// The logs of all matches as a history: what was published is made again, alike.
pub(super) struct Spine {
    pub(super) log: Arc<dyn Log>,
    pub(super) catalog: watch::Receiver<Arc<Catalog>>,
}

#[async_trait]
impl History for Spine {
    async fn read(&self, topic: &str, epoch: u32, after: u64, max: usize) -> Result<Page, Error> {
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
