use super::*;

/// Whatever the machine is doing.
const LONG: Duration = Duration::from_secs(60);

fn purchase(id: &str) -> Purchase {
    Purchase {
        id: id.into(),
        account: "a".into(),
        product: "season".into(),
        from_ms: 0,
        until_ms: 10,
        changed_ms: 1,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn conforms() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("entitlements.db");
    // Two handles, as two processes would have.
    let open = || SqliteEntitlements::open_with(&path, LONG).unwrap();
    let (one, two) = (open(), open());
    crate::conformance::entitlements(&one, &two).await;
}

#[tokio::test]
async fn what_is_over_a_limit_is_refused_before_it_is_queued() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteEntitlements::open(&dir.path().join("entitlements.db")).unwrap();
    let error = store.put_purchases(&[purchase(&"x".repeat(257))]).await.unwrap_err();
    assert!(error.to_string().contains("257"), "{error}");
    let error = store.held(&vec![String::new(); ACCOUNTS_MAX + 1], 0).await.unwrap_err();
    assert!(matches!(error, Error::TooMany { .. }), "{error}");
}

/// A thread that is stuck answers nobody, and nobody waits for it longer than the deadline; nor do more than the queue
/// holds.
#[tokio::test(flavor = "multi_thread")]
async fn a_stuck_database_is_late_and_then_busy_and_then_well() {
    let dir = tempfile::tempdir().unwrap();
    let store =
        SqliteEntitlements::open_with(&dir.path().join("entitlements.db"), Duration::from_secs(2)).unwrap();
    let (release, stuck) = std::sync::mpsc::channel::<()>();
    let (began, begun) = tokio::sync::oneshot::channel();
    let blocking = store.clone();
    let blocked = tokio::spawn(async move {
        blocking
            .read(move |_| {
                let _ = began.send(());
                let _ = stuck.recv();
                Ok(())
            })
            .await
    });
    begun.await.unwrap();
    let accounts = vec!["a".to_owned()];
    let waiting: Vec<_> = (0..1_024)
        .map(|_| {
            let (store, accounts) = (store.clone(), accounts.clone());
            tokio::spawn(async move { store.held(&accounts, 0).await })
        })
        .collect();
    let mut outcomes = Vec::new();
    for one in waiting {
        outcomes.push(one.await.unwrap());
    }
    assert!(
        outcomes.iter().all(|o| matches!(o, Err(Error::Late))),
        "they waited for a deadline, not for ever"
    );
    assert!(matches!(store.held(&accounts, 0).await, Err(Error::Busy)), "the queue is bounded");
    assert!(matches!(blocked.await.unwrap(), Err(Error::Late)));
    release.send(()).unwrap();
    while !matches!(store.held(&accounts, 0).await, Ok(ref found) if found.is_empty()) {
        tokio::task::yield_now().await;
    }
}
