//! Origins agree on letters through the lease store.

use std::time::Duration;

use async_trait::async_trait;
use origin::{LetterKey, Letters};
use store::{Registers, Sqlite};
use timeline::name::Letter;

/// A letter matters while its segment can be chosen; origins that come later read the objects themselves.
const KEEP_FOR: Duration = Duration::from_secs(120);

/// Letters by compare-and-set.
pub(crate) struct Agreed(pub(crate) Sqlite);

#[async_trait]
impl Letters for Agreed {
    async fn agree(&self, key: &LetterKey, proposal: Letter) -> Letter {
        let put = self.0.put_if(&key.to_string(), &proposal.to_string(), None, Some(KEEP_FOR)).await;
        match put {
            Ok(outcome) => outcome.into_register().value.parse().unwrap_or(proposal),
            Err(error) => {
                tracing::warn!(%error, "the lease store did not answer; the fixed order decides");
                proposal
            }
        }
    }
}
