use super::*;
use crate::identity::limits::{PROFILES_MAX, SESSIONS_MAX};

#[tokio::test(flavor = "multi_thread")]
async fn an_account_is_made_and_signed_in_to() {
    let door = Door::new();
    let made = door.account(MALA).await;
    let me = door.ask("GET", "/me", made.text("token"), Value::Null).await;
    assert_eq!(me.status, StatusCode::OK, "{}", me.body);
    assert_eq!((me.text("email"), me.text("account")), (MALA, made.text("account")));
    // The device that it had before stays the same one.
    let device = door.ask("POST", "/device", "", Value::Null).await;
    let body = json!({
        "email": " Mala.Kumar@Example.ORG", "password": PASSWORD, "device_token": device.text("device_token"),
        "label": "Television",
    });
    let login = door.ask("POST", "/login", "", body).await;
    assert_eq!(login.status, StatusCode::OK, "{}", login.body);
    assert_eq!(login.text("device"), device.text("device"));
    assert_eq!(login.text("account"), made.text("account"));
    assert_eq!(login.body["provisional"], false);

    let listed = door.ask("GET", "/sessions", login.text("token"), Value::Null).await;
    let labels: Vec<_> =
        listed.body.as_array().unwrap().iter().map(|s| (&s["label"], &s["current"])).collect();
    assert_eq!(labels.len(), 2);
    assert!(labels.contains(&(&json!("Television"), &json!(true))), "{labels:?}");
    assert!(labels.contains(&(&json!("First"), &json!(false))), "{labels:?}");
}

/// The same answer and the same work for an address that has an account, one that has none, and one without a password.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_learns_who_has_an_account() {
    let door = Door::new();
    door.account(MALA).await;
    let external = store::External { issuer: "https://id".into(), subject: "s".into() };
    let without = store::Account {
        id: "w".into(),
        email: Some("no-password@example.org".into()),
        password: None,
        created_ms: T,
    };
    door.identity.accounts().by_external(&external, &without).await.unwrap();
    let mut answers = Vec::new();
    for email in [MALA, "nobody@example.org", "no-password@example.org"] {
        let before = door.work();
        let login = door.login(email, "wrong horse").await;
        assert_eq!(door.work() - before, 1, "one hash for {email}");
        let register = door.ask("POST", "/register", "", json!({ "email": email })).await;
        assert_eq!(door.work() - before, 1, "none for {email}");
        door.code();
        let confirm = json!({ "email": email, "code": "WRONG", "password": PASSWORD });
        let confirm = door.ask("POST", "/register/confirm", "", confirm).await;
        assert_eq!(door.work() - before, 2, "one for {email}");
        answers.push([login, register, confirm].map(|a| (a.status, a.body)));
    }
    assert_eq!(answers[0][0].0, StatusCode::UNAUTHORIZED);
    assert_eq!((&answers[1], &answers[2]), (&answers[0], &answers[0]));
}

#[tokio::test(flavor = "multi_thread")]
async fn guessing_is_slow_whoever_is_guessed() {
    let door = Door::new();
    door.account(MALA).await;
    for email in [MALA, "nobody@example.org"] {
        for _ in 0..10 {
            assert_eq!(door.login(email, "wrong horse").await.status, StatusCode::UNAUTHORIZED);
        }
        let before = door.work();
        let refused = door.login(email, PASSWORD).await;
        assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS, "{}", refused.body);
        let wait: u32 = refused.headers["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((30..60).contains(&wait), "{wait}");
        assert_eq!(door.work(), before, "and costs nothing");
    }
    door.later(30_000);
    assert_eq!(door.login(MALA, PASSWORD).await.status, StatusCode::OK);
    // The right password costs none of the tries.
    door.later(3_600_000);
    for _ in 0..15 {
        assert_eq!(door.login(MALA, PASSWORD).await.status, StatusCode::OK);
    }
}

/// One machine cannot have the whole pool.
#[tokio::test(flavor = "multi_thread")]
async fn one_client_is_held_back_and_another_is_not() {
    let door = Door::new();
    let from = async |client: &str, n: usize| {
        let body = json!({ "email": format!("v{n}@example.org") });
        door.ask_with("POST", "/register", &[("x-client", client)], body).await.status
    };
    let mut n = 0;
    while from("192.0.2.1", n).await == StatusCode::ACCEPTED {
        n += 1;
        assert!(n < 1_000);
    }
    assert_eq!(n, 60);
    assert_eq!(from("192.0.2.1", n).await, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(from("192.0.2.2", n).await, StatusCode::ACCEPTED);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_is_good_once_and_for_a_while() {
    let door = Door::new();
    let confirm = async |code: &str| {
        let body = json!({ "email": MALA, "code": code, "password": PASSWORD });
        door.ask("POST", "/register/confirm", "", body).await.status
    };
    door.ask("POST", "/register", "", json!({ "email": MALA })).await;
    let code = door.code();
    door.later(20 * 60_000);
    assert_eq!(confirm(&code).await, StatusCode::UNAUTHORIZED, "it is too old");
    door.ask("POST", "/register", "", json!({ "email": MALA })).await;
    let code = door.code();
    assert_eq!(confirm(&code.to_lowercase()).await, StatusCode::OK);
    assert_eq!(confirm(&code).await, StatusCode::UNAUTHORIZED, "it is used up");
    // Wrong ones use it up too.
    door.later(3_600_000);
    door.ask("POST", "/register", "", json!({ "email": MALA })).await;
    let code = door.code();
    for _ in 0..5 {
        assert_eq!(confirm("00000000").await, StatusCode::UNAUTHORIZED);
    }
    assert_eq!(confirm(&code).await, StatusCode::UNAUTHORIZED);
}

/// A forgotten password: the code of the mailbox is enough, and whoever is signed in is signed out.
#[tokio::test(flavor = "multi_thread")]
async fn a_forgotten_password_is_chosen_anew() {
    let door = Door::new();
    let old = door.account(MALA).await;
    door.ask("POST", "/register", "", json!({ "email": MALA })).await;
    let body = json!({ "email": MALA, "code": door.code(), "password": "another horse" });
    let new = door.ask("POST", "/register/confirm", "", body).await;
    assert_eq!((new.status, new.text("account")), (StatusCode::OK, old.text("account")));
    assert_eq!(door.login(MALA, PASSWORD).await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(door.login(MALA, "another horse").await.status, StatusCode::OK);
    assert_eq!(door.refresh(old.text("refresh_token")).await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(door.ask("GET", "/me", old.text("token"), Value::Null).await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_password_signs_out_everywhere_else() {
    let door = Door::new();
    let here = door.account(MALA).await;
    let there = door.login(MALA, PASSWORD).await;
    let change = async |current: &str, new: &str| {
        let body = json!({ "current": current, "new": new });
        door.ask("PUT", "/me/password", here.text("token"), body).await.status
    };
    assert_eq!(change("wrong horse", "another horse").await, StatusCode::FORBIDDEN);
    assert_eq!(change(PASSWORD, "short").await, StatusCode::BAD_REQUEST);
    assert_eq!(change(PASSWORD, "another horse").await, StatusCode::NO_CONTENT);
    assert_eq!(door.refresh(there.text("refresh_token")).await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(door.refresh(here.text("refresh_token")).await.status, StatusCode::OK);
    assert_eq!(door.login(MALA, "another horse").await.status, StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_household_has_profiles() {
    let door = Door::new();
    let mala = door.account(MALA).await;
    let other = door.account("ravi@example.org").await;
    let mut ids = Vec::new();
    for n in 0..PROFILES_MAX {
        let body = json!({ "name": format!("P{n}"), "language": "ta-IN" });
        let made = door.ask("POST", "/profiles", mala.text("token"), body).await;
        assert_eq!(made.status, StatusCode::CREATED, "{}", made.body);
        ids.push(made.text("id").to_owned());
    }
    let full = door.ask("POST", "/profiles", mala.text("token"), json!({ "name": "More" })).await;
    assert_eq!(full.status, StatusCode::CONFLICT, "{}", full.body);
    let first = format!("/profiles/{}", ids[0]);
    let renamed = door.ask("PUT", &first, mala.text("token"), json!({ "name": "Amma" })).await;
    assert_eq!((renamed.status, &renamed.body["language"]), (StatusCode::OK, &Value::Null));
    for (method, path) in [("PUT", first.as_str()), ("PUT", "/profiles/new"), ("DELETE", &first)] {
        let foreign = door.ask(method, path, other.text("token"), json!({ "name": "Mine" })).await;
        assert_eq!(foreign.status, StatusCode::NOT_FOUND, "{method} {path}");
    }
    // The one that is chosen stands in the tokens from then on.
    let chosen = door.ask("POST", &format!("{first}/choose"), mala.text("token"), Value::Null).await;
    assert_eq!((chosen.status, chosen.text("profile")), (StatusCode::OK, ids[0].as_str()));
    let claims = door.identity.verify(chosen.text("token")).unwrap();
    assert_eq!(claims.prf.as_ref(), Some(&ids[0]));
    let next = door.refresh(mala.text("refresh_token")).await;
    assert_eq!(next.text("profile"), ids[0]);
    assert_eq!(
        door.ask("DELETE", &first, mala.text("token"), Value::Null).await.status,
        StatusCode::NO_CONTENT
    );
    let listed = door.ask("GET", "/profiles", mala.text("token"), Value::Null).await;
    assert_eq!(listed.body.as_array().unwrap().len(), PROFILES_MAX - 1);
    let next = door.refresh(next.text("refresh_token")).await;
    assert_eq!(next.body.get("profile"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_device_is_signed_out_from_another() {
    let door = Door::new();
    let phone = door.account(MALA).await;
    let lost = door.login(MALA, PASSWORD).await;
    let other = door.account("ravi@example.org").await;
    let id = door.ask("GET", "/me", lost.text("token"), Value::Null).await.text("session").to_owned();
    let path = format!("/sessions/{id}");
    let end = async |token: &str| door.ask("DELETE", &path, token, Value::Null).await.status;
    assert_eq!(end(other.text("token")).await, StatusCode::NOT_FOUND, "not another's");
    assert_eq!(end(phone.text("token")).await, StatusCode::NO_CONTENT);
    assert_eq!(end(phone.text("token")).await, StatusCode::NOT_FOUND);
    assert_eq!(door.refresh(lost.text("refresh_token")).await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(
        door.ask("GET", "/me", lost.text("token"), Value::Null).await.status,
        StatusCode::UNAUTHORIZED
    );
    // All at once; and no account has more than so many.
    for _ in 0..SESSIONS_MAX {
        door.later(1_000);
        assert_eq!(door.login(MALA, PASSWORD).await.status, StatusCode::OK);
    }
    let last = door.login(MALA, PASSWORD).await;
    let listed = door.ask("GET", "/sessions", last.text("token"), Value::Null).await;
    assert_eq!(listed.body.as_array().unwrap().len(), SESSIONS_MAX);
    let ended = door.ask("DELETE", "/sessions", last.text("token"), Value::Null).await;
    assert_eq!(ended.body, json!({ "ended": SESSIONS_MAX - 1 }));
    let logout = json!({ "refresh_token": last.text("refresh_token") });
    for _ in 0..2 {
        assert_eq!(door.ask("POST", "/logout", "", logout.clone()).await.status, StatusCode::NO_CONTENT);
    }
    assert_eq!(
        door.ask("GET", "/me", last.text("token"), Value::Null).await.status,
        StatusCode::UNAUTHORIZED
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_account_is_gone() {
    let door = Door::new();
    let mala = door.account(MALA).await;
    let delete = async |body: Value| door.ask("DELETE", "/me", mala.text("token"), body).await.status;
    assert_eq!(delete(Value::Null).await, StatusCode::FORBIDDEN);
    assert_eq!(delete(json!({ "password": "wrong horse" })).await, StatusCode::FORBIDDEN);
    assert_eq!(delete(json!({ "password": PASSWORD })).await, StatusCode::NO_CONTENT);
    assert_eq!(delete(json!({ "password": PASSWORD })).await, StatusCode::UNAUTHORIZED);
    assert_eq!(door.refresh(mala.text("refresh_token")).await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(door.login(MALA, PASSWORD).await.status, StatusCode::UNAUTHORIZED);
    let anew = door.account(MALA).await;
    assert_ne!(anew.text("account"), mala.text("account"));
}
