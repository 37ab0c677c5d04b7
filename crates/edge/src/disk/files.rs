//! The names and files of a folder.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::limits::DISK_JOURNAL_BYTES_MAX;

/// The file that says whose the folder is. It stays when it is given free: whoever waits for it has it open.
const LOCK: &str = "pavilion-lock";

/// A segment's two files.
const KINDS: [&str; 2] = ["records", "journal"];

/// Takes a folder, for as long as the file that is returned is open.
///
/// # Errors
///
/// It cannot be made or written to, or another process has it.
pub(super) fn take(dir: &Path) -> io::Result<File> {
    fs::create_dir_all(dir)?;
    let lock = File::options().create(true).truncate(false).write(true).open(dir.join(LOCK))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(io::ErrorKind::ResourceBusy.into()),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// The segments of a folder, oldest first.
pub(super) fn segments(dir: &Path) -> io::Result<Vec<u64>> {
    let mut ids: Vec<u64> = fs::read_dir(dir)?
        .filter_map(|entry| entry.ok()?.file_name().to_str().and_then(id))
        // So that there is always a next one.
        .filter(|id| *id < u64::MAX / 2)
        .collect();
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

/// Makes a segment: its records (to read too) and its journal.
pub(super) fn create(dir: &Path, id: u64) -> io::Result<[File; 2]> {
    let [records, journal] = paths(dir, id);
    let records = File::options().read(true).write(true).create_new(true).open(records)?;
    Ok([records, File::create_new(journal)?])
}

/// Opens a segment's records, and reads its journal.
pub(super) fn open(dir: &Path, id: u64) -> io::Result<(File, Vec<u8>)> {
    let [records, journal] = paths(dir, id);
    let mut bytes = Vec::new();
    File::open(journal)?.take(DISK_JOURNAL_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok((File::open(records)?, bytes))
}

/// Removes a segment, or what is there of it.
pub(super) fn remove(dir: &Path, id: u64) -> io::Result<()> {
    let removed = paths(dir, id).map(|path| match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    });
    removed.into_iter().collect()
}

fn paths(dir: &Path, id: u64) -> [PathBuf; 2] {
    KINDS.map(|kind| dir.join(name(id, kind)))
}

fn name(id: u64, kind: &str) -> String {
    format!("pavilion-{id:08}.{kind}")
}

/// The segment of a file's name. Only the very spelling that we give it counts, so that nobody else's file is
/// taken for ours.
fn id(file: &str) -> Option<u64> {
    let id = file.strip_prefix("pavilion-")?.split_once('.')?.0.parse().ok()?;
    KINDS.iter().any(|kind| name(id, kind) == file).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_spelling_is_ours() {
        for n in [0, 7, 99_999_999, 100_000_000] {
            assert!(KINDS.iter().all(|kind| id(&name(n, kind)) == Some(n)));
        }
        for other in [
            "",
            "pavilion-lock",
            "pavilion-7.records",
            "pavilion-00000007.recordsx",
            "pavilion-+0000007.journal",
        ] {
            assert_eq!(id(other), None, "{other}");
        }
    }
}
