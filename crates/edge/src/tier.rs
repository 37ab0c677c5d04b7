//! The disk as the store sees it: there, or not yet there.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, Weak};

use tokio::time::sleep;
use tracing::{info, warn};

use crate::Error;
use crate::disk::Disk;
use crate::limits::DISK_TRY_EVERY;

/// A disk that may still belong to the process before this one.
#[derive(Debug)]
pub(crate) struct Tier(OnceLock<Disk>);

impl Tier {
    /// Opens a folder. If another process has it, as the one that this one replaces has for a few seconds more, it is
    /// taken once it is free; until then there is no disk.
    ///
    /// # Errors
    ///
    /// It cannot be used at all.
    pub(crate) async fn open(folder: &Path, mb: u64) -> Result<Arc<Tier>, Error> {
        let tier = Arc::new(Tier(OnceLock::new()));
        match Disk::open(folder, mb).await {
            Ok(disk) => tier.take(disk),
            Err(busy @ Error::DiskBusy(_)) => {
                warn!("{busy}; it is taken when it is free");
                tokio::spawn(wait(Arc::downgrade(&tier), folder.to_owned(), mb));
            }
            Err(error) => return Err(error),
        }
        Ok(tier)
    }

    fn take(&self, disk: Disk) {
        let _ = self.0.set(disk);
    }

    /// The disk, if it is there.
    pub(crate) fn get(&self) -> Option<&Disk> {
        self.0.get()
    }
}

async fn wait(tier: Weak<Tier>, folder: PathBuf, mb: u64) {
    loop {
        sleep(DISK_TRY_EVERY).await;
        let Some(tier) = tier.upgrade() else { return };
        match Disk::open(&folder, mb).await {
            Ok(disk) => {
                info!(folder = %folder.display(), "the disk is ours");
                return tier.take(disk);
            }
            Err(Error::DiskBusy(_)) => {}
            Err(error) => return warn!(%error, "going on without a disk"),
        }
    }
}
