//! What is older than the replay.

use async_trait::async_trait;

use crate::{Error, Message};

/// Messages of a topic, as once published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Where they begin: what was asked for, or later if that is no longer held.
    pub after: u64,
    /// In order. None: there is nothing after `after`.
    pub messages: Vec<Message>,
}

/// Where a publisher reads what its replay no longer holds.
#[async_trait]
pub trait History: Send + Sync {
    /// At most `max` messages after an offset of that epoch of the topic, encoded as they were when they were new.
    async fn read(&self, topic: &str, epoch: u32, after: u64, max: usize) -> Result<Page, Error>;
}
