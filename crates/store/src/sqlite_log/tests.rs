use bytes::Bytes;

use super::*;

fn record(key: &str) -> New {
    New { topic: "demo".into(), key: key.into(), value: Bytes::from_static(b"{}") }
}

#[tokio::test(flavor = "multi_thread")]
async fn conforms() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("spine.db");
    // Two handles, as two processes would have.
    let (one, two) = (SqliteLog::open(&path).unwrap(), SqliteLog::open(&path).unwrap());
    crate::conformance::log(&one, &two).await;
}

#[tokio::test]
async fn what_was_answered_is_there_after_the_process_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("spine.db");
    let log = SqliteLog::open(&path).unwrap();
    log.append(&[record("1.1"), record("1.2")]).await.unwrap();
    log.commit("demo", "shard", 2).await.unwrap();
    let epoch = log.epoch("demo").await.unwrap();
    drop(log);

    let log = SqliteLog::open(&path).unwrap();
    let appended = log.append(&[record("1.2"), record("1.3")]).await.unwrap();
    assert_eq!(appended, [Appended { offset: 2, new: false }, Appended { offset: 3, new: true }]);
    assert_eq!(log.committed("demo", "shard").await.unwrap(), 2);
    assert_eq!(log.epoch("demo").await.unwrap(), epoch);
}

#[tokio::test]
async fn a_commit_waits_for_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let connection = file::open(&dir.path().join("spine.db")).unwrap();
    let setting =
        |name: &str| connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, String>(0));
    assert_eq!(setting("journal_mode").unwrap(), "wal");
    let synchronous: i64 = connection.query_row("PRAGMA synchronous", [], |row| row.get(0)).unwrap();
    assert_eq!(synchronous, 2, "FULL");
}

#[tokio::test]
async fn what_is_over_a_limit_is_refused_before_it_is_queued() {
    let dir = tempfile::tempdir().unwrap();
    let log = SqliteLog::open(&dir.path().join("spine.db")).unwrap();
    let large = New { value: Bytes::from(vec![0; RECORD_MAX + 1]), ..record("1.1") };
    let error = log.append(&[record("1.1"), large]).await.unwrap_err();
    assert!(error.to_string().contains("value has 65537 bytes"), "{error}");
    let error = log.append(&vec![record("1.1"); APPEND_MAX + 1]).await.unwrap_err();
    assert!(error.to_string().contains("4097 records"), "{error}");
    assert_eq!(log.read("demo", 0, 10).await.unwrap(), [], "nothing of it was written");
}
