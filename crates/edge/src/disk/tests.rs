//! With real files. Times in them are only numbers here.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use fastrand::Rng;
use tempfile::TempDir;

use super::*;
use crate::limits::{DISK_SEGMENT_ENTRIES_MAX, DISK_SEGMENTS_MAX};

/// What was counted, in the order of [`Meters`].
#[derive(Default)]
struct Counted([Arc<AtomicU64>; 5]);

impl Counted {
    fn meters(&self) -> Meters {
        let [hits, misses, writes, dropped, corrupt] = self.0.clone().map(Counter::from_arc);
        Meters { hits, misses, writes, dropped, corrupt }
    }

    /// Hits, misses, writes, dropped, corrupt.
    fn all(&self) -> [u64; 5] {
        self.0.each_ref().map(|n| n.load(Ordering::Relaxed))
    }
}

/// Object number `n`, of so many bytes.
pub(super) fn object(n: u64, bytes: usize) -> Stored {
    let mut body = Rng::with_seed(n).u64(..).to_le_bytes().repeat(bytes.div_ceil(8));
    body.truncate(bytes);
    let mut headers = HeaderMap::new();
    headers.insert("content-type", "video/mp4".parse().unwrap());
    headers.insert("etag", format!("\"{n}\"").parse().unwrap());
    Stored {
        status: StatusCode::OK,
        headers,
        body: body.into(),
        stored_ms: 1_000 + n,
        born_ms: 900 + n,
        fresh_until_ms: 2_000 + n,
        stale_while_revalidate_until_ms: 3_000 + n,
        stale_if_error_until_ms: 4_000 + n,
    }
}

fn key(n: u64) -> String {
    format!("/m/r/v/{n}a.m4s")
}

/// Nothing here takes longer unless it hangs.
const HANG: Duration = Duration::from_secs(60);

async fn open_with(dir: &Path, bytes_max: u64, counted: &Counted) -> Disk {
    let mut disk = Disk::open_with(dir, bytes_max, counted.meters()).await.unwrap();
    disk.wait_max = HANG;
    disk
}

async fn open(dir: &Path) -> Disk {
    open_with(dir, 1_000_000, &Counted::default()).await
}

/// A folder with objects 0 to `count`, of up to 2,000 bytes each, in segments of 15,625 bytes.
async fn filled(count: u64) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let disk = open(dir.path()).await;
    (0..count).for_each(|n| disk.put(&key(n), original(n)));
    disk.close().await;
    dir
}

/// Waits until so many writes have been counted.
async fn written(counted: &Counted, count: u64) {
    let all = async {
        while counted.all()[2] < count {
            tokio::task::yield_now().await;
        }
    };
    timeout(HANG, all).await.expect("not written");
}

/// Object `n` of a folder that was [`filled`].
fn original(n: u64) -> Stored {
    object(n, n as usize * 97 % 2_000)
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(dir).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

fn bytes_in(dir: &Path) -> u64 {
    files(dir).iter().map(|file| fs::metadata(file).unwrap().len()).sum()
}

fn copy(from: &Path) -> TempDir {
    let to = tempfile::tempdir().unwrap();
    for file in files(from) {
        fs::copy(&file, to.path().join(file.file_name().unwrap())).unwrap();
    }
    to
}

#[tokio::test]
async fn what_was_kept_is_found_by_the_next_process() {
    let dir = tempfile::tempdir().unwrap();
    let counted = Counted::default();
    for round in 0..3 {
        let disk = open_with(dir.path(), 10_000_000, &counted).await;
        for n in 0..round * 100 {
            assert_eq!(disk.get(&key(n)).await, Some(original(n)), "{n}");
        }
        (round * 100..(round + 1) * 100).for_each(|n| disk.put(&key(n), original(n)));
        disk.close().await;
        // It still reads, and takes nothing more.
        assert_eq!(disk.get(&key(0)).await, Some(original(0)));
        disk.put("/m/late", original(1));
        assert_eq!(disk.get("/m/late").await, None);
    }
    assert_eq!(counted.all(), [303, 3, 300, 3, 0]);
}

#[tokio::test]
async fn what_was_written_is_found_after_a_crash() {
    let dir = tempfile::tempdir().unwrap();
    let counted = Counted::default();
    let disk = open_with(dir.path(), 1_000_000, &counted).await;
    (0..100).for_each(|n| disk.put(&key(n), original(n)));
    written(&counted, 100).await;
    // What a killed process leaves: nothing was closed.
    let left = copy(dir.path());
    let next = open(left.path()).await;
    for n in 0..100 {
        assert_eq!(next.get(&key(n)).await, Some(original(n)), "{n}");
    }
}

#[tokio::test]
async fn one_process_has_a_folder() {
    let dir = tempfile::tempdir().unwrap();
    let first = open(dir.path()).await;
    let refused = Disk::open(dir.path(), 1).await.unwrap_err().to_string();
    assert!(refused.starts_with("another edge keeps its objects in "), "{refused}");
    first.close().await;
    let second = open(dir.path()).await;
    // The thread ends by itself when nobody is left to tell it anything.
    drop(second);
    let free = async { while Disk::open(dir.path(), 1).await.is_err() {} };
    timeout(HANG, free).await.expect("not given free");
}

#[tokio::test]
async fn what_cannot_be_a_folder_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let refused = Disk::open(file.path(), 1).await.unwrap_err();
    assert!(matches!(&refused, Error::Disk { path, .. } if path == file.path()), "{refused}");
}

#[tokio::test]
async fn space_is_bounded_and_the_oldest_leaves() {
    for (bytes_max, size) in [(1_000_000, 1_000), (1_000_000, 100_000), (300_000, 0), (100_000, 99_000)] {
        let dir = tempfile::tempdir().unwrap();
        let counted = Counted::default();
        let disk = open_with(dir.path(), bytes_max, &counted).await;
        let count = 3 * bytes_max / (size as u64 + 300);
        let mut puts = 0;
        for n in 0..count {
            disk.put(&key(n), object(n, size));
            puts += 1;
            if n % 20 == 0 || n + 1 == count {
                // One that is refreshed again and again, and never the oldest.
                disk.put("/m/again", object(n, 10));
                puts += 1;
                written(&counted, puts).await;
                let used = bytes_in(dir.path());
                assert!(used <= bytes_max, "{used} after {n} objects of {size}");
                assert_eq!(disk.get("/m/again").await, Some(object(n, 10)));
            }
        }
        assert_eq!(disk.get(&key(count - 1)).await, Some(object(count - 1, size)));
        assert_eq!(disk.get(&key(0)).await, None);
        // A third of all that was written fits; no more than a few segments of it may be missing.
        let mut found = 0;
        for n in 0..count {
            found += u64::from(disk.get(&key(n)).await.is_some());
        }
        assert!(found * 10 >= count / 3 * 8, "{found} of {count} objects of {size}");
        disk.close().await;
        // The next process may be given less.
        let disk = open_with(dir.path(), bytes_max / 2, &counted).await;
        assert!(bytes_in(dir.path()) <= bytes_max / 2);
        disk.put("/m/huge", object(1, bytes_max as usize));
        disk.close().await;
        assert_eq!(disk.get("/m/huge").await, None);
        assert_eq!(counted.all()[3], 1);
    }
}

#[tokio::test]
async fn segments_are_bounded_in_number_and_in_entries() {
    let dir = tempfile::tempdir().unwrap();
    let counted = Counted::default();
    // What is put is larger than a segment, what is forgotten smaller.
    let disk = open_with(dir.path(), 64_000, &counted).await;
    for n in 0..1_000 {
        disk.put(&key(n), object(n, 1_000));
        disk.forget(&key(n));
    }
    disk.close().await;
    assert!(files(dir.path()).len() <= 2 * DISK_SEGMENTS_MAX + 1);

    let dir = tempfile::tempdir().unwrap();
    let disk = open_with(dir.path(), 100_000_000, &counted).await;
    (0..DISK_SEGMENT_ENTRIES_MAX as u64 + 1).for_each(|n| disk.forget(&key(n)));
    disk.close().await;
    assert_eq!(files(dir.path()).len(), 2 * 2 + 1);
    assert_eq!(counted.all()[3], 0);
}

#[tokio::test]
async fn the_last_one_holds_and_the_forgotten_one_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let disk = open(dir.path()).await;
    for n in 0..100 {
        disk.put(&key(n), object(n, 1_000));
        disk.put(&key(n), object(n + 500, 1_000));
        if n % 2 == 0 {
            disk.forget(&key(n));
        }
        if n % 4 == 0 {
            disk.put(&key(n), object(n + 700, 1_000));
        }
    }
    disk.close().await;
    for disk in [disk, open(dir.path()).await] {
        for n in 0..100 {
            let expected = match n % 4 {
                0 => Some(object(n + 700, 1_000)),
                2 => None,
                _ => Some(object(n + 500, 1_000)),
            };
            assert_eq!(disk.get(&key(n)).await, expected, "{n}");
        }
    }
}

#[tokio::test]
async fn what_is_there_already_is_not_written_again() {
    let dir = tempfile::tempdir().unwrap();
    let counted = Counted::default();
    for _ in 0..3 {
        let disk = open_with(dir.path(), 1_000_000, &counted).await;
        disk.put(&key(1), object(1, 1_000));
        disk.close().await;
    }
    let refreshed = Stored { stored_ms: 5_000, ..object(1, 1_000) };
    let disk = open_with(dir.path(), 1_000_000, &counted).await;
    disk.put(&key(1), refreshed.clone());
    disk.close().await;
    assert_eq!(disk.get(&key(1)).await, Some(refreshed));
    assert_eq!(counted.all(), [1, 0, 2, 0, 0]);
}

#[tokio::test]
async fn other_files_are_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let others = ["notes.txt", "pavilion-1.records", "pavilion-00000001.records.bak", "pavilion-x.journal"];
    for other in others {
        fs::write(dir.path().join(other), "mine").unwrap();
    }
    fs::create_dir(dir.path().join("folder")).unwrap();
    // This one is in the way: it cannot be read, nor removed.
    fs::create_dir(dir.path().join("pavilion-00000001.journal")).unwrap();
    let disk = open_with(dir.path(), 10_000, &Counted::default()).await;
    (0..100).for_each(|n| disk.put(&key(n), object(n, 1_000)));
    disk.close().await;
    assert_eq!(disk.get(&key(99)).await, Some(object(99, 1_000)));
    for other in others {
        assert_eq!(fs::read_to_string(dir.path().join(other)).unwrap(), "mine");
    }
}

#[tokio::test(start_paused = true)]
async fn a_disk_that_hangs_is_waited_for_no_longer_than_the_limit() {
    let dir = tempfile::tempdir().unwrap();
    let counted = Counted::default();
    let disk = Disk::open_with(dir.path(), 1_000_000, counted.meters()).await.unwrap();
    disk.put(&key(1), object(1, 1_000));
    written(&counted, 1).await;
    let hanging = disk.reads.clone().acquire_many_owned(DISK_READS_MAX).await.unwrap();
    let asked = tokio::time::Instant::now();
    assert_eq!(disk.get(&key(1)).await, None);
    assert!((DISK_WAIT_MAX..2 * DISK_WAIT_MAX).contains(&asked.elapsed()));
    drop(hanging);
    assert_eq!(disk.read(&key(1)).await, Some(object(1, 1_000)));
    assert_eq!(counted.all(), [0, 1, 1, 0, 0]);
}

#[tokio::test]
async fn a_write_that_fails_is_dropped_and_harms_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let counted = Counted::default();
    let disk = open_with(dir.path(), 1_000_000, &counted).await;
    disk.put(&key(1), object(1, 1_000));
    written(&counted, 1).await;
    // The next segment cannot be made: its name is taken.
    fs::create_dir(dir.path().join("pavilion-00000002.records")).unwrap();
    disk.put(&key(2), object(2, 20_000));
    disk.put(&key(1), object(3, 1_000));
    disk.close().await;
    // Nor is an older one found in place of one that was dropped.
    assert_eq!(disk.get(&key(1)).await, None);
    assert_eq!(counted.all(), [0, 1, 1, 2, 0]);
}

#[tokio::test]
async fn what_has_rotted_is_counted_once_and_may_be_kept_again() {
    let dir = tempfile::tempdir().unwrap();
    let counted = Counted::default();
    let disk = open_with(dir.path(), 1_000_000, &counted).await;
    disk.put(&key(1), object(1, 1_000));
    written(&counted, 1).await;
    let records = dir.path().join("pavilion-00000001.records");
    let mut bytes = fs::read(&records).unwrap();
    bytes[500] ^= 1;
    fs::write(&records, bytes).unwrap();
    assert_eq!(disk.get(&key(1)).await, None);
    assert_eq!(disk.get(&key(1)).await, None);
    disk.put(&key(1), object(1, 1_000));
    written(&counted, 2).await;
    assert_eq!(disk.get(&key(1)).await, Some(object(1, 1_000)));
    assert_eq!(counted.all(), [1, 2, 2, 0, 1]);
}

/// What may happen to a file.
fn damage(file: &Path, random: &mut Rng) -> String {
    let mut bytes = fs::read(file).unwrap();
    let at = random.usize(..=bytes.len());
    let what = match random.u8(..10) {
        0 => {
            fs::remove_file(file).unwrap();
            return format!("{file:?} removed");
        }
        1 => {
            bytes.truncate(at);
            format!("cut at {at}")
        }
        2 => {
            bytes.extend(std::iter::repeat_with(|| random.u8(..)).take(at));
            format!("{at} bytes longer")
        }
        3 => {
            bytes[at..].fill(0);
            format!("nought from {at}")
        }
        _ if bytes.is_empty() => return String::new(),
        _ => {
            let (at, flip) = (at % bytes.len(), random.u8(1..));
            bytes[at] ^= flip;
            format!("{at} flipped by {flip}")
        }
    };
    fs::write(file, bytes).unwrap();
    format!("{file:?} {what}")
}

#[tokio::test]
async fn whatever_happens_to_the_files_no_wrong_byte_comes_out() {
    const OBJECTS: u64 = 60;
    let whole = filled(OBJECTS).await;
    let (mut lost, mut corrupt) = (0, 0);
    for seed in 0..200 {
        let mut random = Rng::with_seed(seed);
        let dir = copy(whole.path());
        // Every file, or one alone.
        let files = files(dir.path());
        let alone = random.bool().then(|| random.usize(..files.len()));
        let chosen = files.iter().enumerate().filter(|(i, _)| alone.is_none_or(|alone| alone == *i));
        let damages: Vec<_> = chosen.map(|(_, file)| damage(file, &mut random)).collect();
        let counted = Counted::default();
        let disk = open_with(dir.path(), 1_000_000, &counted).await;
        for n in 0..OBJECTS {
            match disk.get(&key(n)).await {
                Some(stored) => assert_eq!(stored, original(n), "seed {seed}: {damages:?}"),
                None => lost += 1,
            }
        }
        corrupt += counted.all()[4];
        // It works on, and what is written now is not harmed by what lies there.
        (0..OBJECTS).for_each(|n| disk.put(&key(n), object(n + 500, 500)));
        disk.close().await;
        for disk in [disk, open(dir.path()).await] {
            for n in 0..OBJECTS {
                let expected = Some(object(n + 500, 500));
                assert_eq!(disk.get(&key(n)).await, expected, "seed {seed}: {damages:?}");
            }
        }
    }
    // The damage was seen; and most of what was not damaged was found.
    assert!(corrupt > 50 && (100..OBJECTS * 200 / 2).contains(&lost), "{lost} lost, {corrupt} corrupt");
}

/// Puts, forgets and restarts in any order, against a map.
#[tokio::test]
async fn it_is_a_map_that_may_lose_only_the_oldest() {
    for seed in 0..20 {
        let mut random = Rng::with_seed(seed);
        let dir = tempfile::tempdir().unwrap();
        let mut disk = open_with(dir.path(), 10_000_000, &Counted::default()).await;
        let mut expected: HashMap<u64, Stored> = HashMap::new();
        for step in 0..300 {
            let n = random.u64(..20);
            match random.u8(..20) {
                0 => {
                    disk.close().await;
                    drop(disk);
                    disk = open_with(dir.path(), 10_000_000, &Counted::default()).await;
                    for n in 0..20 {
                        assert_eq!(disk.get(&key(n)).await.as_ref(), expected.get(&n), "seed {seed}, {step}");
                    }
                }
                1..5 => {
                    disk.forget(&key(n));
                    expected.remove(&n);
                }
                _ => {
                    let stored = object(step, random.usize(..5_000));
                    disk.put(&key(n), stored.clone());
                    expected.insert(n, stored);
                }
            }
        }
    }
}
