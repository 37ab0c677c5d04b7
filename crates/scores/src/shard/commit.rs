//! What the log is told of what takers have.

use std::sync::Arc;

use metrics::counter;
use relay::Publisher;
use store::Log;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::GROUP;
use super::limits::{ACK_WAIT_MAX, COMMIT_EVERY};

/// How far a match is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Given {
    /// The last offset that takers were given.
    pub(super) published: u64,
    /// The last that was read; what lies between could not be published.
    pub(super) read: u64,
}

/// Commits each offset that was given once every live taker has it. What was not committed when a shard is killed is
/// given again by the next one: it gives everything again, and each taker says how much of it it has.
pub(super) async fn run(
    log: Arc<dyn Log>,
    publisher: Publisher,
    topic: String,
    mut given: watch::Receiver<Given>,
) {
    let mut committed = Given::default();
    loop {
        let Ok(target) = given.wait_for(|given| *given != committed).await.map(|given| *given) else {
            return;
        };
        if timeout(ACK_WAIT_MAX, publisher.settled(&topic, target.published)).await.is_err() {
            counter!("scores_shard_unacknowledged_total").increment(1);
            tracing::warn!(
                r#match = topic,
                offset = target.published,
                "a taker did not confirm; the offset is committed all the same"
            );
        }
        match log.commit(&topic, GROUP, target.read).await {
            Ok(()) => committed = target,
            Err(error) => {
                tracing::warn!(r#match = topic, %error, "an offset could not be committed; again in a moment")
            }
        }
        sleep(COMMIT_EVERY).await;
    }
}
