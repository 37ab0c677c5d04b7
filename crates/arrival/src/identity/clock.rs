//! The time, which tests set.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// UTC in milliseconds.
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// The machine's.
pub(crate) fn system() -> Clock {
    Arc::new(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}
