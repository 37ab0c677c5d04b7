//! On a real server.

use std::sync::Arc;

use super::*;
use crate::testing::Server;
use crate::{Accounts, Entitlements, Place, PostgresAccounts, PostgresEntitlements, Purchase, Registers};

/// Whatever the machine is doing.
const LONG: Duration = Duration::from_secs(60);

fn url(place: &Place) -> &Url {
    let Place::Url(url) = place else { panic!("{place} is no URL") };
    url
}

fn purchase(id: &str, account: &str) -> Purchase {
    Purchase {
        id: id.into(),
        account: account.into(),
        product: "season".into(),
        from_ms: 0,
        until_ms: 10,
        changed_ms: 1,
    }
}

/// All that can share one server does: making it takes longer than the rest.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conforms() {
    let server = Server::start().await;
    let (who, what, words) =
        tokio::join!(server.database("who"), server.database("what"), server.database("words"));
    // Two handles, as two processes would have.
    let open = || PostgresAccounts::open_with(url(&who), LONG).unwrap();
    crate::conformance::accounts(&open(), &open()).await;
    let open = || PostgresEntitlements::open_with(url(&what), LONG).unwrap();
    crate::conformance::entitlements(&open(), &open()).await;
    let open = || PostgresRegisters::open_with(url(&words), LONG).unwrap();
    crate::conformance::registers(&open(), &open()).await;

    many_open_a_new_one_at_once(&server).await;
    wrong_codes_at_once_are_no_more_than_were_allowed(&who).await;
    the_same_rows_twice_and_from_both_sides(&what).await;
    a_stuck_database_is_late_and_then_well(&server, &what).await;
    what_it_refuses_quotes_nobody(&who).await;
    who_goes_away_in_the_middle_leaves_nothing(&who).await;
    who_may_make_no_tables_uses_those_there_are(&server, &what).await;
}

fn open_accounts(place: &Place) -> PostgresAccounts {
    PostgresAccounts::open_with(url(place), LONG).unwrap()
}

async fn many_open_a_new_one_at_once(server: &Server) {
    let place = server.database("fresh").await;
    let opening: Vec<_> = (0..6)
        .map(|n| {
            let (accounts, what) =
                (open_accounts(&place), PostgresEntitlements::open_with(url(&place), LONG));
            tokio::spawn(async move {
                accounts.account("nobody").await?;
                what.unwrap().put_purchases(&[purchase(&format!("p{n}"), "a")]).await
            })
        })
        .collect();
    for one in opening {
        one.await.unwrap().unwrap();
    }
}

async fn wrong_codes_at_once_are_no_more_than_were_allowed(place: &Place) {
    use crate::{Code, Digest, Taken};
    let accounts = open_accounts(place);
    let right = Digest([0; 32]);
    accounts.put_code("g@x", &Code { digest: right, expires_ms: 100, tries: 3 }).await.unwrap();
    let guesses: Vec<_> = (1..=16)
        .map(|n| {
            let accounts = accounts.clone();
            tokio::spawn(async move { accounts.take_code("g@x", &Digest([n; 32]), 1).await.unwrap() })
        })
        .collect();
    for guess in guesses {
        assert_eq!(guess.await.unwrap(), Taken::No);
    }
    assert_eq!(accounts.take_code("g@x", &right, 1).await.unwrap(), Taken::No, "no tries are left");
}

async fn the_same_rows_twice_and_from_both_sides(place: &Place) {
    let store = PostgresEntitlements::open_with(url(place), LONG).unwrap();
    let later = Purchase { until_ms: 20, changed_ms: 2, ..purchase("twice", "t") };
    store.put_purchases(&[purchase("twice", "t"), later.clone(), purchase("twice", "t")]).await.unwrap();
    assert_eq!(store.held(&["t".into()], 0).await.unwrap(), [later], "as one after the other");
    let ids: Vec<_> = (0..200).map(|n| purchase(&format!("both{n}"), "b")).collect();
    let reversed: Vec<_> = ids.iter().rev().cloned().collect();
    let writing: Vec<_> = (0..16)
        .map(|n| {
            let (store, rows) = (store.clone(), if n % 2 == 0 { ids.clone() } else { reversed.clone() });
            tokio::spawn(async move { store.put_purchases(&rows).await })
        })
        .collect();
    for one in writing {
        one.await.unwrap().unwrap();
    }
    assert_eq!(store.held(&["b".into()], 0).await.unwrap().len(), crate::PURCHASES_MAX);
}

/// Nobody waits for a table that somebody else has locked longer than the deadline, more than the queue are told at once,
/// and the server has forgotten them too.
async fn a_stuck_database_is_late_and_then_well(server: &Server, place: &Place) {
    let store = PostgresEntitlements::open_with(url(place), Duration::from_secs(3)).unwrap();
    let asked = ["a".to_owned()];
    store.held(&asked, 0).await.unwrap();
    let other = server.client("what").await.unwrap();
    other.batch_execute("BEGIN; LOCK TABLE purchases").await.unwrap();
    let waiting: Vec<_> = (0..CONNECTIONS_MAX + QUEUE_MAX + 100)
        .map(|_| {
            let (store, asked) = (store.clone(), asked.clone());
            tokio::spawn(async move { store.held(&asked, 0).await })
        })
        .collect();
    let (mut busy, mut late) = (0, 0);
    for one in waiting {
        match one.await.unwrap() {
            Err(Error::Busy) => busy += 1,
            Err(Error::Late | Error::Gone(_)) => late += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(busy >= 100 && late >= CONNECTIONS_MAX, "{busy} busy, {late} late");
    other.batch_execute("ROLLBACK").await.unwrap();
    let began = Instant::now();
    while store.held(&asked, 0).await.is_err() {
        assert!(began.elapsed() < LONG, "it is well again");
        tokio::task::yield_now().await;
    }
}

async fn what_it_refuses_quotes_nobody(place: &Place) {
    use crate::{Account, External};
    let accounts = open_accounts(place);
    let person =
        |id: &str| Account { id: id.into(), email: Some("ann@q".into()), password: None, created_ms: 1 };
    assert!(accounts.create(&person("q1")).await.unwrap());
    let external = External { issuer: "https://id".into(), subject: "q".into() };
    let refused = accounts.by_external(&external, &person("q2")).await.unwrap_err();
    assert!(refused.to_string().contains("23505"), "{refused}");
    assert!(!format!("{refused} {refused:?}").contains("ann@q"), "{refused:?}");
    // A text that no PostgreSQL takes is refused, and the connection goes on.
    assert!(matches!(accounts.by_email("a\0b").await, Err(Error::Refused { .. })));
}

/// A viewer who closes the page in the middle of a transaction.
async fn who_goes_away_in_the_middle_leaves_nothing(place: &Place) {
    let pool = Pool::new(url(place), LONG, Tables { script: "", last: "sessions_expiry" }).unwrap();
    let mut lent = pool.lend().await.unwrap();
    lent.begin().await.unwrap();
    lent.count("DELETE FROM accounts", &[]).await.unwrap();
    drop(lent);
    assert_eq!(pool.0.idle().len(), 0, "it is not used again");
    assert!(pool.row("SELECT 1 FROM accounts LIMIT 1", &[]).await.unwrap().is_some());
    assert_eq!(pool.0.idle().len(), 1);
    // In the middle of a statement the connection is kept, and the next answer is the next one's.
    let asleep =
        tokio::time::timeout(Duration::from_millis(1), pool.row("SELECT 1, pg_sleep(0.2)", &[])).await;
    assert!(asleep.is_err());
    let row = pool.row("SELECT 2", &[]).await.unwrap().unwrap();
    assert_eq!(row.get::<_, i32>(0), 2);
    assert_eq!(pool.0.idle().len(), 1);
}

async fn who_may_make_no_tables_uses_those_there_are(server: &Server, place: &Place) {
    let owner = server.client("what").await.unwrap();
    owner
        .batch_execute("CREATE ROLE reader LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
        .await
        .unwrap();
    let place = Place::from(String::from(place.clone()).replace("pavilion@", "reader@"));
    let store = PostgresEntitlements::open_with(url(&place), LONG).unwrap();
    store.held(&["a".into()], 0).await.unwrap();
    assert!(matches!(store.put_purchases(&[purchase("x", "x")]).await, Err(Error::Refused { .. })));
}

/// What was acknowledged is there after a crash; meanwhile everybody is told at once that there is no database.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_killed_fails_fast_and_loses_nothing() {
    let mut server = Server::start().await;
    let place = server.database("what").await;
    let store = Arc::new(PostgresEntitlements::open_with(url(&place), LONG).unwrap());
    let writing: Vec<_> = (0..4)
        .map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                let mut written = Vec::new();
                for n in 0.. {
                    let one = purchase(&format!("{writer}-{n}"), &format!("{writer}"));
                    match store.put_purchases(std::slice::from_ref(&one)).await {
                        Ok(()) => written.push(one.id),
                        Err(error) => {
                            assert!(matches!(error, Error::Gone(_) | Error::Refused { .. }), "{error}");
                            return written;
                        }
                    }
                }
                written
            })
        })
        .collect();
    let began = Instant::now();
    while store.changed(0, None, 100).await.unwrap().len() < 100 {
        assert!(began.elapsed() < LONG);
    }
    server.kill();
    let mut written = Vec::new();
    for writer in writing {
        written.extend(writer.await.unwrap());
    }
    assert!(written.len() >= 90, "{}", written.len());

    // Far sooner than the deadline, however many ask.
    let began = Instant::now();
    let asking: Vec<_> = (0..500)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move { store.held(&["0".into()], 0).await })
        })
        .collect();
    for one in asking {
        assert!(matches!(one.await.unwrap(), Err(Error::Gone(_))));
    }
    assert!(began.elapsed() < LONG / 4, "{:?}", began.elapsed());

    // A handle that is opened meanwhile is as good as one that was there before.
    let other = PostgresEntitlements::open_with(url(&place), LONG).unwrap();
    assert!(matches!(other.tally(0).await, Err(Error::Gone(_))));
    server.start_again().await;
    for store in [&*store, &other] {
        let began = Instant::now();
        while store.tally(0).await.is_err() {
            assert!(began.elapsed() < LONG, "it is back");
            tokio::task::yield_now().await;
        }
    }
    let (mut there, mut after) = (std::collections::BTreeSet::new(), None);
    loop {
        let page = store.changed(0, after, crate::PAGE_MAX).await.unwrap();
        let Some(last) = page.last() else { break };
        after = Some((last.changed_ms, last.id.clone()));
        there.extend(page.into_iter().map(|p| p.id));
    }
    let lost: Vec<_> = written.iter().filter(|id| !there.contains(*id)).collect();
    assert!(lost.is_empty(), "{lost:?}");
    let registers = PostgresRegisters::open_with(url(&place), LONG).unwrap();
    assert_eq!(registers.get("k").await.unwrap(), None);
}
