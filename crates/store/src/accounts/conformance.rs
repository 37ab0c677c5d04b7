//! What every implementation of [`Accounts`] must do.

use std::collections::BTreeSet;

use super::{
    Account, Accounts, Code, Digest, External, NewSession, Profile, Put, Rotated, Rotation, Salt, Session,
    Taken,
};

/// An instant; all others are told from it, in milliseconds.
const T: i64 = 1_800_000_000_000;
const HOUR: i64 = 3_600_000;
const GRACE: i64 = 30_000;

/// Runs the suite for [`Accounts`] over two handles to one empty store, as two processes would hold.
pub async fn accounts<A: Accounts + Clone + 'static>(one: &A, two: &A) {
    people(one, two).await;
    providers(one, two).await;
    codes(one, two).await;
    profiles(one, two).await;
    sessions(one, two).await;
    rotation(one, two).await;
    a_race_for_one_token_has_one_successor(one, two).await;
    what_is_deleted_is_gone(one, two).await;
    what_is_over_is_swept(one, two).await;
}

async fn people<A: Accounts>(one: &A, two: &A) {
    assert_eq!(one.by_email("a@x").await.expect("by_email"), None);
    assert!(one.create(&person("a", Some("a@x"))).await.expect("create"));
    assert!(!two.create(&person("a2", Some("a@x"))).await.expect("create"), "an address is one account's");
    assert!(!two.create(&person("a", Some("other@x"))).await.expect("create"), "an id is one account's");
    assert_eq!(two.account("a2").await.expect("account"), None, "nothing of it was written");
    assert_eq!(two.by_email("a@x").await.expect("by_email"), Some(person("a", Some("a@x"))));
    // Any number have no address.
    assert!(one.create(&person("n1", None)).await.expect("create"));
    assert!(one.create(&person("n2", None)).await.expect("create"));

    assert!(one.set_password("a", "hash 2", None, T).await.expect("set_password"));
    assert!(!one.set_password("nobody", "hash", None, T).await.expect("set_password"));
    assert!(!two.rehash("a", "hash 1", "hash 3").await.expect("rehash"), "it was changed meanwhile");
    assert!(two.rehash("a", "hash 2", "hash 3").await.expect("rehash"));
    let stands = one.account("a").await.expect("account").expect("is there");
    assert_eq!(stands.password.as_deref(), Some("hash 3"));
}

async fn providers<A: Accounts + Clone + 'static>(one: &A, two: &A) {
    let external = |subject: &str| External { issuer: "https://id".into(), subject: subject.into() };
    // Two callbacks at once make one account.
    let mut callers = Vec::new();
    for n in 0..8 {
        let store = if n % 2 == 0 { one.clone() } else { two.clone() };
        let external = external("s1");
        callers.push(tokio::spawn(async move {
            store.by_external(&external, &person(&format!("e{n}"), None)).await.expect("by_external").id
        }));
    }
    let mut ids = BTreeSet::new();
    for caller in callers {
        ids.insert(caller.await.expect("caller"));
    }
    assert_eq!(ids.len(), 1, "one account for one subject");
    let other = one.by_external(&external("s2"), &person("other", None)).await.expect("by_external");
    assert_eq!(other.id, "other");
    let elsewhere = External { issuer: "https://id2".into(), subject: "s1".into() };
    let third = one.by_external(&elsewhere, &person("third", None)).await.expect("by_external");
    assert_eq!(third.id, "third", "another provider's subject is somebody else");
}

async fn codes<A: Accounts>(one: &A, two: &A) {
    let code = |n: u8| Code { digest: digest(n), expires_ms: T + HOUR, tries: 2 };
    assert_eq!(one.take_code("c@x", &digest(1), T).await.expect("take"), Taken::No);
    one.put_code("c@x", &code(1)).await.expect("put");
    one.put_code("c@x", &code(2)).await.expect("put");
    assert_eq!(two.take_code("c@x", &digest(1), T).await.expect("take"), Taken::No, "the last one counts");
    assert_eq!(two.take_code("d@x", &digest(2), T).await.expect("take"), Taken::No, "for its address");
    assert_eq!(two.take_code("c@x", &digest(2), T).await.expect("take"), Taken::Yes);
    assert_eq!(one.take_code("c@x", &digest(2), T).await.expect("take"), Taken::No, "it is used up");
    one.put_code("c@x", &code(3)).await.expect("put");
    assert_eq!(one.take_code("c@x", &digest(3), T + HOUR).await.expect("take"), Taken::No, "it is over");
    one.put_code("c@x", &code(4)).await.expect("put");
    for wrong in [5, 6] {
        assert_eq!(one.take_code("c@x", &digest(wrong), T).await.expect("take"), Taken::No);
    }
    assert_eq!(two.take_code("c@x", &digest(4), T).await.expect("take"), Taken::No, "no tries are left");
}

async fn profiles<A: Accounts>(one: &A, two: &A) {
    one.create(&person("p", Some("p@x"))).await.expect("create");
    let profile = |id: &str, name: &str, at: i64| Profile {
        id: id.into(),
        account: "p".into(),
        name: name.into(),
        language: Some("ta".into()),
        created_ms: at,
    };
    assert_eq!(one.put_profile(&profile("p1", "Mala", T), 2).await.expect("put"), Put::Made);
    assert_eq!(two.put_profile(&profile("p2", "Ravi", T + 1), 2).await.expect("put"), Put::Made);
    assert_eq!(two.put_profile(&profile("p3", "Third", T + 2), 2).await.expect("put"), Put::Full);
    assert_eq!(two.put_profile(&profile("p1", "Mala K", T + 3), 2).await.expect("put"), Put::Changed);
    let other = Profile { account: "a".into(), ..profile("p1", "Mine now", T) };
    assert_eq!(two.put_profile(&other, 2).await.expect("put"), Put::Absent, "another's stays another's");
    let nobody = Profile { account: "nobody".into(), ..profile("p9", "x", T) };
    assert_eq!(two.put_profile(&nobody, 2).await.expect("put"), Put::Absent);
    let listed = one.profiles("p").await.expect("profiles");
    assert_eq!(listed, [profile("p1", "Mala K", T), profile("p2", "Ravi", T + 1)]);
    assert!(!one.delete_profile("a", "p2").await.expect("delete"), "another's");
    assert!(one.delete_profile("p", "p2").await.expect("delete"));
    assert_eq!(two.profiles("p").await.expect("profiles").len(), 1);
}

async fn sessions<A: Accounts>(one: &A, two: &A) {
    one.create(&person("s", Some("s@x"))).await.expect("create");
    for n in 1..=3 {
        one.begin(&begun("s", n, T + i64::from(n)), 3).await.expect("begin");
    }
    two.begin(&begun("s", 4, T + 4), 3).await.expect("begin");
    let ids = async |store: &A| -> Vec<String> {
        store.sessions("s", T + 9).await.expect("sessions").into_iter().map(|s| s.id).collect()
    };
    assert_eq!(ids(one).await, ["s4", "s3", "s2"], "the one that was used least recently has ended");
    assert_eq!(one.session("s1", T + 9).await.expect("session"), None);
    assert_eq!(two.session("s2", T + 9).await.expect("session"), Some(begun("s", 2, T + 2).session));
    assert_eq!(two.session("s2", T + 2 + HOUR).await.expect("session"), None, "it is over by then");

    assert!(!one.end("a", "s2", T + 9).await.expect("end"), "another's");
    assert!(one.end("s", "s2", T + 9).await.expect("end"));
    assert!(!one.end("s", "s2", T + 9).await.expect("end"), "it has ended");
    assert_eq!(two.end_others("s", Some("s4"), T + 9).await.expect("end_others"), 1);
    assert_eq!(ids(two).await, ["s4"]);

    // A profile is chosen among one's own, and not beyond its life.
    let profile = |id: &str, account: &str| Profile { id: id.into(), account: account.into(), ..a_profile() };
    one.put_profile(&profile("sp", "s"), 5).await.expect("put");
    one.put_profile(&profile("ap", "a"), 5).await.expect("put");
    assert!(!one.choose("s4", Some("ap"), T + 9).await.expect("choose"), "another's");
    assert!(!one.choose("s3", Some("sp"), T + 9).await.expect("choose"), "the session has ended");
    assert!(one.choose("s4", Some("sp"), T + 9).await.expect("choose"));
    let chosen = two.session("s4", T + 9).await.expect("session").expect("goes on");
    assert_eq!(chosen.profile.as_deref(), Some("sp"));
    one.delete_profile("s", "sp").await.expect("delete");
    let chosen = two.session("s4", T + 9).await.expect("session").expect("goes on");
    assert_eq!(chosen.profile, None);

    // A new password ends the others.
    one.begin(&begun("s", 5, T + 5), 3).await.expect("begin");
    assert!(two.set_password("s", "hash 2", Some("s5"), T + 9).await.expect("set_password"));
    assert_eq!(ids(one).await, ["s5"]);
}

async fn rotation<A: Accounts>(one: &A, two: &A) {
    one.create(&person("r", Some("r@x"))).await.expect("create");
    one.begin(&begun("r", 20, T), 9).await.expect("begin");
    // Token n gives token n + 1, by salt n.
    let rotation = |from: u8, salt: u8, now_ms: i64| Rotation {
        family: digest(20),
        token: digest(from),
        successor: digest(from + 1),
        salt: Salt([salt; 16]),
        now_ms,
        grace_ms: GRACE,
        expires_ms: now_ms + HOUR,
    };
    let unknown = Rotation { family: digest(99), ..rotation(120, 1, T) };
    assert_eq!(one.rotate(&unknown).await.expect("rotate"), Rotated::Unknown);

    let Rotated::Next(session) = one.rotate(&rotation(120, 1, T + 1)).await.expect("rotate") else {
        panic!("the token that stands is exchanged")
    };
    assert_eq!((session.id.as_str(), session.used_ms, session.expires_ms), ("r20", T + 1, T + 1 + HOUR));
    // The answer was lost: the same again, with the salt of the first time.
    let again = two.rotate(&rotation(120, 2, T + GRACE)).await.expect("rotate");
    let Rotated::Again(_, salt) = again else { panic!("within the grace: {again:?}") };
    assert!(salt == Salt([1; 16]), "the salt of the exchange that counted");
    // The successor is used: that it was lost is no excuse any more.
    assert!(matches!(two.rotate(&rotation(121, 3, T + GRACE)).await.expect("rotate"), Rotated::Next(_)));
    let reused = one.rotate(&rotation(120, 4, T + GRACE)).await.expect("rotate");
    assert!(matches!(&reused, Rotated::Reused(s) if s.id == "r20"), "{reused:?}");
    // And nothing of the family opens anything now.
    for from in [120, 121, 122] {
        assert_eq!(two.rotate(&rotation(from, 5, T + GRACE)).await.expect("rotate"), Rotated::Unknown);
    }
    assert_eq!(two.session("r20", T + GRACE).await.expect("session"), None);

    // After the grace the last token is an old one too.
    one.begin(&begun("r", 21, T), 9).await.expect("begin");
    let rotation = |now_ms: i64| Rotation { family: digest(21), ..rotation(121, 1, now_ms) };
    assert!(matches!(one.rotate(&rotation(T)).await.expect("rotate"), Rotated::Next(_)));
    assert!(matches!(one.rotate(&rotation(T + GRACE)).await.expect("rotate"), Rotated::Reused(_)));
    // A session that was not used in time is over.
    one.begin(&begun("r", 22, T), 9).await.expect("begin");
    let late = Rotation { family: digest(22), token: digest(122), ..rotation(T + HOUR) };
    assert_eq!(one.rotate(&late).await.expect("rotate"), Rotated::Unknown);
}

async fn a_race_for_one_token_has_one_successor<A: Accounts + Clone + 'static>(one: &A, two: &A) {
    one.begin(&begun("r", 30, T), 9).await.expect("begin");
    let mut racers = Vec::new();
    for n in 0..16_u8 {
        let store = if n % 2 == 0 { one.clone() } else { two.clone() };
        let rotation = Rotation {
            family: digest(30),
            token: digest(130),
            successor: digest(200 + n),
            salt: Salt([n; 16]),
            now_ms: T + 1,
            grace_ms: GRACE,
            expires_ms: T + HOUR,
        };
        racers.push(tokio::spawn(async move { (n, store.rotate(&rotation).await.expect("rotate")) }));
    }
    let (mut winners, mut salts) = (0, BTreeSet::new());
    for racer in racers {
        match racer.await.expect("racer") {
            (n, Rotated::Next(_)) => {
                winners += 1;
                salts.insert(n);
            }
            (_, Rotated::Again(_, salt)) => drop(salts.insert(salt.0[0])),
            (_, other) => panic!("{other:?}"),
        }
    }
    assert_eq!((winners, salts.len()), (1, 1), "one winner, one successor");
}

async fn what_is_deleted_is_gone<A: Accounts>(one: &A, two: &A) {
    let external = External { issuer: "https://id".into(), subject: "gone".into() };
    one.by_external(&external, &person("g", Some("g@x"))).await.expect("by_external");
    one.begin(&begun("g", 40, T), 9).await.expect("begin");
    one.put_profile(&Profile { id: "gp".into(), account: "g".into(), ..a_profile() }, 5).await.expect("put");
    one.put_code("g@x", &Code { digest: digest(1), expires_ms: T + HOUR, tries: 2 }).await.expect("put");
    assert!(two.delete("g").await.expect("delete"));
    assert!(!two.delete("g").await.expect("delete"));
    assert_eq!(one.account("g").await.expect("account"), None);
    assert_eq!(one.session("g40", T).await.expect("session"), None);
    assert!(one.profiles("g").await.expect("profiles").is_empty());
    assert_eq!(one.take_code("g@x", &digest(1), T).await.expect("take"), Taken::No);
    let anew = one.by_external(&external, &person("g2", None)).await.expect("by_external");
    assert_eq!(anew.id, "g2", "who comes again is somebody new");
}

async fn what_is_over_is_swept<A: Accounts>(one: &A, two: &A) {
    one.create(&person("w", None)).await.expect("create");
    for n in 50..53 {
        one.begin(&begun("w", n, T), 9).await.expect("begin");
    }
    while two.sweep(T + HOUR - 1, 100).await.expect("sweep") > 0 {}
    assert_eq!(one.sessions("w", T).await.expect("sessions").len(), 3, "they go on for a millisecond");
    assert!(two.sweep(T + HOUR, 2).await.expect("sweep") > 0);
    while two.sweep(T + HOUR, 2).await.expect("sweep") > 0 {}
    assert!(one.sessions("w", T).await.expect("sessions").is_empty());
}

fn digest(n: u8) -> Digest {
    Digest([n; 32])
}

fn person(id: &str, email: Option<&str>) -> Account {
    Account { id: id.into(), email: email.map(str::to_owned), password: Some("hash 1".into()), created_ms: T }
}

fn a_profile() -> Profile {
    Profile { id: String::new(), account: String::new(), name: "P".into(), language: None, created_ms: T }
}

/// Session `n` of an account: its family is digest `n`, its first token digest `100 + n`, and it lasts an hour.
fn begun(account: &str, n: u8, at: i64) -> NewSession {
    let session = Session {
        id: format!("{account}{n}"),
        account: account.into(),
        device: "d".into(),
        label: "A phone".into(),
        profile: None,
        created_ms: at,
        used_ms: at,
        expires_ms: at + HOUR,
    };
    NewSession { session, family: digest(n), token: digest(100 + n) }
}
