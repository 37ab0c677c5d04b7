//! What every [`Entitlements`] must do.

use super::{Change, Entitlements, Provisional, Purchase, Tally, Verdict};

/// Runs the suite over two handles to one empty store, as two processes would hold.
pub async fn entitlements(one: &dyn Entitlements, two: &dyn Entitlements) {
    purchases(one, two).await;
    provisional(one, two).await;
    changes(one, two).await;
}

async fn purchases(one: &dyn Entitlements, two: &dyn Entitlements) {
    let accounts = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
    assert_eq!(one.held(&accounts(&["a"]), 0).await.expect("held"), []);
    assert_eq!(one.changed(0, None, 10).await.expect("changed"), []);

    let bought = [bought("p1", "a", 100, 1), bought("p2", "a", 200, 1), bought("p3", "b", 150, 2)];
    one.put_purchases(&bought).await.expect("put");
    one.put_purchases(&bought).await.expect("again");
    let ids = |found: Vec<Purchase>| found.into_iter().map(|p| p.id).collect::<Vec<_>>();
    // Several accounts at once, what ends last first, nothing that is over (from its last millisecond on).
    let mut both = two.held(&accounts(&["a", "b", "none"]), 99).await.expect("held");
    both.sort_by(|x, y| x.account.cmp(&y.account).then(y.until_ms.cmp(&x.until_ms)));
    assert_eq!(both, [bought[1].clone(), bought[0].clone(), bought[2].clone()]);
    assert_eq!(ids(two.held(&accounts(&["a"]), 100).await.expect("held")), ["p2"]);

    // Pages go on after the one before, in the order of the changes.
    assert_eq!(ids(two.changed(0, None, 2).await.expect("changed")), ["p1", "p2"]);
    assert_eq!(ids(two.changed(0, Some((1, "p2".into())), 2).await.expect("changed")), ["p3"]);
    assert_eq!(ids(two.changed(2, None, 9).await.expect("changed")), ["p3"]);

    // A refund moves the end; what is older than what stands changes nothing.
    two.put_purchases(&[Purchase { until_ms: 5, changed_ms: 3, ..bought[1].clone() }]).await.expect("refund");
    one.put_purchases(&[bought[1].clone()]).await.expect("a late copy");
    assert_eq!(ids(one.held(&accounts(&["a"]), 99).await.expect("held")), ["p1"]);
    assert_eq!(ids(one.changed(3, None, 9).await.expect("changed")), ["p2"]);
}

async fn provisional(one: &dyn Entitlements, two: &dyn Entitlements) {
    assert_eq!(one.tally(0).await.expect("tally"), Tally::default());
    let passes = [
        pass("s1", Some("a"), 10),
        pass("s2", None, 20),
        Provisional { settled: Some((Verdict::Entitled, 35)), ..pass("s3", Some("b"), 30) },
    ];
    one.record(&passes).await.expect("record");
    two.record(&passes).await.expect("again");
    assert_eq!(
        two.provisional(0, 10).await.expect("list"),
        [&passes[2], &passes[1], &passes[0]].map(Clone::clone)
    );
    assert_eq!(two.provisional(20, 1).await.expect("list").len(), 1);

    let verdicts = [("s1".to_owned(), Verdict::NotEntitled), ("none".to_owned(), Verdict::Entitled)];
    two.settle(&verdicts, 40).await.expect("settle");
    two.settle(&[("s1".to_owned(), Verdict::Entitled)], 50).await.expect("too late");
    let listed = one.provisional(0, 10).await.expect("list");
    assert_eq!(listed[2].settled, Some((Verdict::NotEntitled, 40)), "the first verdict stands");
    let tally = one.tally(0).await.expect("tally");
    assert_eq!(tally, Tally { issued: 3, entitled: 1, not_entitled: 1, unverified: 0 });
    assert_eq!(one.tally(20).await.expect("tally").issued, 2);
}

async fn changes(one: &dyn Entitlements, two: &dyn Entitlements) {
    let change = |id: &str, at_ms| Change {
        id: id.into(),
        at_ms,
        who: "ada".into(),
        what: "catalog/match/demo".into(),
        before: None,
        after: Some("{}".into()),
    };
    let all = [change("c1", 1), change("c2", 2)];
    one.note(&all).await.expect("note");
    two.note(&all).await.expect("again");
    assert_eq!(two.changes(i64::MAX, 10).await.expect("changes"), [&all[1], &all[0]].map(Clone::clone));
    assert_eq!(two.changes(2, 10).await.expect("changes"), [all[0].clone()]);
    assert_eq!(two.changes(i64::MAX, 1).await.expect("changes"), [all[1].clone()]);
}

fn bought(id: &str, account: &str, until_ms: i64, changed_ms: i64) -> Purchase {
    Purchase {
        id: id.into(),
        account: account.into(),
        product: "season".into(),
        from_ms: 0,
        until_ms,
        changed_ms,
    }
}

fn pass(id: &str, account: Option<&str>, issued_ms: i64) -> Provisional {
    Provisional {
        id: id.into(),
        account: account.map(str::to_owned),
        device: "d".into(),
        r#match: "demo".into(),
        issued_ms,
        until_ms: issued_ms + 100,
        settled: None,
    }
}
