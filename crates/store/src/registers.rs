//! Small values agreed by compare-and-set.

use std::time::Duration;

use async_trait::async_trait;

use crate::Error;

/// Longest key in bytes: four tokens of 64 and a number.
pub(crate) const KEY_MAX: usize = 512;
/// Longest value in bytes: a programme's plan with dozens of tracks stays far below.
pub(crate) const VALUE_MAX: usize = 64 * 1024;

/// Registers listed at once: every match of a season.
pub const LIST_MAX: usize = 10_000;

/// A value and the version that the next compare-and-set must name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// What it holds.
    pub value: String,
    /// Grows with every write of this key.
    pub version: u64,
}

/// How a compare-and-set ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Ours was written.
    Won(Register),
    /// Another stands there; this is it.
    Lost(Register),
}

impl Outcome {
    /// What stands there now, whoever wrote it.
    pub fn into_register(self) -> Register {
        match self {
            Outcome::Won(r) | Outcome::Lost(r) => r,
        }
    }
}

/// Registers shared by every process of a match. All methods are linearisable per key.
#[async_trait]
pub trait Registers: Send + Sync {
    /// The register, if it exists and has not expired.
    async fn get(&self, key: &str) -> Result<Option<Register>, Error>;

    /// The registers whose keys begin so, in the order of their keys, at most [`LIST_MAX`]. Not one instant: each is
    /// as it stood at some moment of the call.
    async fn list(&self, prefix: &str) -> Result<Vec<(String, Register)>, Error>;

    /// Writes `value` if the key is still at version `expected` (`None`: if there is none). With `ttl` the
    /// key ends that long after this write. A version that is gone counts as none.
    async fn put_if(
        &self,
        key: &str,
        value: &str,
        expected: Option<u64>,
        ttl: Option<Duration>,
    ) -> Result<Outcome, Error>;
}
