//! From a subscription's queue into its receiver's channel.

use std::sync::Arc;

use tokio::sync::{Notify, mpsc};

use super::subs::Shared;
use crate::Update;
use crate::limits::BATCH;

/// Gives a batch when the receiver has taken all of the one before, which is how we learn that it has.
pub(crate) async fn run(shared: Arc<Shared>, key: u64, wake: Arc<Notify>, updates: mpsc::Sender<Update>) {
    while let Ok(places) = updates.reserve_many(BATCH).await {
        let Some(batch) = shared.take(key, BATCH) else { break };
        if batch.is_empty() {
            drop(places);
            tokio::select! {
                () = wake.notified() => continue,
                () = updates.closed() => break,
            }
        }
        for (place, update) in places.zip(batch) {
            place.send(update);
        }
    }
    shared.remove(key);
}
