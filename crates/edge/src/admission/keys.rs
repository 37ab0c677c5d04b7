//! The file with the keys, and what becomes of it.

use std::path::PathBuf;

use listen::Watched;
use pass::Gate;
use tracing::{info, warn};

use crate::Error;
use crate::limits::PASS_KEYS_LOOK_EVERY;

/// A file of keys.
pub(super) struct Keys(Watched);

impl Keys {
    pub(super) fn of(file: PathBuf) -> Keys {
        Keys(Watched::new(file))
    }

    /// What it says.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is not what it should be.
    pub(super) fn read(&self) -> Result<Gate, Error> {
        let bad = |reason: String| Error::PassKeys { path: self.0.path().to_owned(), reason };
        let text = self.0.read().map_err(|e| bad(e.to_string()))?;
        Gate::from_json(&text).map_err(|e| bad(e.to_string()))
    }

    /// Looks for ever whether it has changed. What is not good is not taken.
    pub(super) async fn watch(&self, changed: impl Fn(Gate)) {
        let look = || match self.read() {
            Ok(gate) => {
                info!(keys = ?gate, "the keys of passes have changed");
                changed(gate);
            }
            Err(error) => warn!("the keys of passes stay as they were: {error}"),
        };
        self.0.changes(PASS_KEYS_LOOK_EVERY, look).await;
    }
}
