//! A file that is read again when it has changed.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

type Stamp = Option<(SystemTime, u64)>;

/// A small file that others replace while we run, such as one with keys.
#[derive(Debug)]
pub struct Watched {
    path: PathBuf,
    /// When it was written, and how long it is, as far as was looked.
    seen: Mutex<Stamp>,
}

impl Watched {
    /// That file, as it is now: what is changed from here on is noticed.
    pub fn new(path: PathBuf) -> Watched {
        let seen = Mutex::new(std::fs::metadata(&path).ok().and_then(stamp));
        Watched { path, seen }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What stands in it. Blocks for as long as a small file takes.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is no text.
    pub fn read(&self) -> io::Result<String> {
        std::fs::read_to_string(&self.path)
    }

    /// Looks for ever, so often, whether it has changed, and says so.
    pub async fn changes(&self, every: Duration, mut changed: impl FnMut()) {
        loop {
            tokio::time::sleep(every).await;
            let now = tokio::fs::metadata(&self.path).await.ok().and_then(stamp);
            let before =
                std::mem::replace(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner), now);
            if before != now {
                changed();
            }
        }
    }
}

fn stamp(of: std::fs::Metadata) -> Stamp {
    Some((of.modified().ok()?, of.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_change_is_noticed_from_the_start_and_once() {
        let path = std::env::temp_dir().join(format!("pavilion-watched-{}", std::process::id()));
        std::fs::write(&path, "one").unwrap();
        let file = Watched::new(path.clone());
        std::fs::write(&path, "three").unwrap();
        let (said, mut heard) = tokio::sync::mpsc::unbounded_channel();
        let looking = file.changes(Duration::from_millis(1), || said.send(file.read().ok()).unwrap());
        tokio::select! {
            () = looking => {}
            () = async {
                assert_eq!(heard.recv().await.unwrap().as_deref(), Some("three"), "changed before anybody looked");
                std::fs::remove_file(&path).unwrap();
                assert_eq!(heard.recv().await.unwrap(), None);
                std::fs::write(&path, "four").unwrap();
                assert_eq!(heard.recv().await.unwrap().as_deref(), Some("four"));
            } => {}
        }
        std::fs::remove_file(&path).unwrap();
    }
}
