//! The file with the keys, and what becomes of it.

use std::path::PathBuf;
use std::time::SystemTime;

use pass::Gate;
use tokio::time::sleep;
use tracing::{info, warn};

use crate::Error;
use crate::limits::PASS_KEYS_LOOK_EVERY;

/// A file of keys.
pub(super) struct Keys(PathBuf);

impl Keys {
    pub(super) fn of(file: PathBuf) -> Keys {
        Keys(file)
    }

    /// What it says.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is not what it should be.
    pub(super) fn read(&self) -> Result<Gate, Error> {
        let bad = |reason: String| Error::PassKeys { path: self.0.clone(), reason };
        let text = std::fs::read_to_string(&self.0).map_err(|e| bad(e.to_string()))?;
        Gate::from_json(&text).map_err(|e| bad(e.to_string()))
    }

    /// Looks for ever whether it has changed. What is not good is not taken.
    pub(super) async fn watch(&self, changed: impl Fn(Gate)) {
        let mut seen = self.stamp().await;
        loop {
            sleep(PASS_KEYS_LOOK_EVERY).await;
            let stamp = self.stamp().await;
            if stamp == seen {
                continue;
            }
            seen = stamp;
            match self.read() {
                Ok(gate) => {
                    info!(keys = ?gate, "the keys of passes have changed");
                    changed(gate);
                }
                Err(error) => warn!("the keys of passes stay as they were: {error}"),
            }
        }
    }

    async fn stamp(&self) -> Option<(SystemTime, u64)> {
        let of = tokio::fs::metadata(&self.0).await.ok()?;
        Some((of.modified().ok()?, of.len()))
    }
}
