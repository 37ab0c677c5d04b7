//! Noticing what any process has appended.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::watch;

use crate::Error;

/// How often the file is looked at for what *other* processes wrote; our own appends wake at once. A look takes a few
/// microseconds and reads shared memory only.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// How often it is looked at while nobody waits.
const LOOK_IDLE_EVERY: Duration = Duration::from_millis(20);

/// The longest that [`Watch::changed`] sleeps: for who asked for it too late, between an append and a read.
const CHANGED_MAX: Duration = Duration::from_millis(250);

/// A count of changes, of which only its growth means something.
pub(super) struct Watch {
    seen: watch::Sender<u64>,
}

impl Watch {
    /// Looks from a thread of its own until the last handle is gone.
    pub(super) fn start(connection: Connection) -> Result<Arc<Watch>, Error> {
        let watch = Arc::new(Watch { seen: watch::Sender::new(0) });
        let handle = Arc::downgrade(&watch);
        std::thread::Builder::new()
            .name("log-watch".into())
            .spawn(move || {
                let mut last = None;
                while let Some(watch) = handle.upgrade() {
                    // It changes when another connection has committed, of whatever process.
                    match connection.query_row("PRAGMA data_version", [], |row| row.get::<_, i64>(0)) {
                        Ok(version) if last != Some(version) => {
                            last = Some(version);
                            watch.wake();
                        }
                        // A look that failed is made again: the next append or CHANGED_MAX wakes meanwhile.
                        Ok(_) | Err(_) => {}
                    }
                    let waited_for = watch.seen.receiver_count() > 0;
                    drop(watch);
                    std::thread::sleep(if waited_for { LOOK_EVERY } else { LOOK_IDLE_EVERY });
                }
            })
            .map_err(Error::Thread)?;
        Ok(watch)
    }

    /// There may be something new.
    pub(super) fn wake(&self) {
        self.seen.send_modify(|seen| *seen = seen.wrapping_add(1));
    }

    /// See [`crate::Log::changed`]. A new receiver has seen all that was before this call.
    pub(super) fn changed(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut seen = self.seen.subscribe();
        async move {
            // Neither the end of the log nor that of the wait is news; the reader finds out.
            let _ = tokio::time::timeout(CHANGED_MAX, seen.changed()).await;
        }
    }
}
