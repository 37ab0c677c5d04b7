//! Accounts that cannot be reached: who signs in may watch, and everything else fails politely.

use std::sync::atomic::{AtomicBool, AtomicU64};

use async_trait::async_trait;
use store::{Account, Code, Digest, External, NewSession, Profile, Put, Rotated, Rotation, Session, Taken};

use super::*;

/// A store that can be taken away.
#[derive(Clone)]
pub(super) struct Gone {
    inner: Arc<dyn Accounts>,
    gone: Arc<AtomicBool>,
    asked: Arc<AtomicU64>,
}

impl Gone {
    pub(super) fn new(inner: Arc<dyn Accounts>) -> Gone {
        Gone { inner, gone: Arc::default(), asked: Arc::default() }
    }

    pub(super) fn go(&self) {
        self.gone.store(true, Ordering::SeqCst);
    }

    fn come_back(&self) {
        self.gone.store(false, Ordering::SeqCst);
    }

    pub(super) fn asked(&self) -> u64 {
        self.asked.load(Ordering::SeqCst)
    }

    fn there(&self) -> Result<&dyn Accounts, store::Error> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if self.gone.load(Ordering::SeqCst) { Err(store::Error::Busy) } else { Ok(&*self.inner) }
    }
}

type Done<T> = Result<T, store::Error>;

#[async_trait]
impl Accounts for Gone {
    async fn create(&self, account: &Account) -> Done<bool> {
        self.there()?.create(account).await
    }
    async fn account(&self, id: &str) -> Done<Option<Account>> {
        self.there()?.account(id).await
    }
    async fn by_email(&self, email: &str) -> Done<Option<Account>> {
        self.there()?.by_email(email).await
    }
    async fn by_external(&self, external: &External, new: &Account) -> Done<Account> {
        self.there()?.by_external(external, new).await
    }
    async fn set_password(&self, account: &str, hash: &str, keep: Option<&str>, now_ms: i64) -> Done<bool> {
        self.there()?.set_password(account, hash, keep, now_ms).await
    }
    async fn rehash(&self, account: &str, old: &str, new: &str) -> Done<bool> {
        self.there()?.rehash(account, old, new).await
    }
    async fn delete(&self, account: &str) -> Done<bool> {
        self.there()?.delete(account).await
    }
    async fn put_code(&self, email: &str, code: &Code) -> Done<()> {
        self.there()?.put_code(email, code).await
    }
    async fn take_code(&self, email: &str, digest: &Digest, now_ms: i64) -> Done<Taken> {
        self.there()?.take_code(email, digest, now_ms).await
    }
    async fn profiles(&self, account: &str) -> Done<Vec<Profile>> {
        self.there()?.profiles(account).await
    }
    async fn put_profile(&self, profile: &Profile, max: usize) -> Done<Put> {
        self.there()?.put_profile(profile, max).await
    }
    async fn delete_profile(&self, account: &str, id: &str) -> Done<bool> {
        self.there()?.delete_profile(account, id).await
    }
    async fn begin(&self, new: &NewSession, max: usize) -> Done<()> {
        self.there()?.begin(new, max).await
    }
    async fn session(&self, id: &str, now_ms: i64) -> Done<Option<Session>> {
        self.there()?.session(id, now_ms).await
    }
    async fn sessions(&self, account: &str, now_ms: i64) -> Done<Vec<Session>> {
        self.there()?.sessions(account, now_ms).await
    }
    async fn choose(&self, session: &str, profile: Option<&str>, now_ms: i64) -> Done<bool> {
        self.there()?.choose(session, profile, now_ms).await
    }
    async fn rotate(&self, rotation: &Rotation) -> Done<Rotated> {
        self.there()?.rotate(rotation).await
    }
    async fn end(&self, account: &str, session: &str, now_ms: i64) -> Done<bool> {
        self.there()?.end(account, session, now_ms).await
    }
    async fn end_others(&self, account: &str, keep: Option<&str>, now_ms: i64) -> Done<usize> {
        self.there()?.end_others(account, keep, now_ms).await
    }
    async fn sweep(&self, now_ms: i64, max: usize) -> Done<usize> {
        self.there()?.sweep(now_ms, max).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_that_cannot_be_verified_is_for_watching_only() {
    let door = Door::new();
    let mala = door.account(MALA).await;
    let device = door.ask("POST", "/device", "", Value::Null).await;
    door.store.go();
    // Whoever says whatever: nothing is known of anybody.
    for (email, password) in [(MALA, PASSWORD), (MALA, "wrong horse"), ("nobody@example.org", PASSWORD)] {
        let body =
            json!({ "email": email, "password": password, "device_token": device.text("device_token") });
        let login = door.ask("POST", "/login", "", body).await;
        assert_eq!(login.status, StatusCode::ACCEPTED, "{}", login.body);
        assert_eq!(login.text("device"), device.text("device"));
        assert_eq!((&login.body["provisional"], login.body.get("account")), (&json!(true), None));
        assert_eq!(login.body.get("refresh_token"), None);
        let claims = door.identity.verify(login.text("token")).unwrap();
        assert!(claims.prv && claims.sid.is_none() && claims.sub.starts_with("device:"), "{claims:?}");
        let me = door.ask("GET", "/me", login.text("token"), Value::Null).await;
        assert_eq!(me.body, json!({ "device": device.text("device"), "provisional": true }));
        // It opens nothing of an account, now or later.
        let profiles = door.ask("GET", "/profiles", login.text("token"), Value::Null).await;
        assert_eq!(profiles.status, StatusCode::UNAUTHORIZED);
    }
    // Who is signed in already goes on watching: with the token there is, and then provisionally.
    let refreshed = door.refresh(mala.text("refresh_token")).await;
    assert_eq!((refreshed.status, &refreshed.body["provisional"]), (StatusCode::ACCEPTED, &json!(true)));
    // Settings and signing out fail politely.
    let token = mala.text("token");
    for (method, path, body) in [
        ("GET", "/me", Value::Null),
        ("DELETE", "/me", json!({ "password": PASSWORD })),
        ("PUT", "/me/password", json!({ "current": PASSWORD, "new": "another horse" })),
        ("GET", "/profiles", Value::Null),
        ("POST", "/profiles", json!({ "name": "P" })),
        ("GET", "/sessions", Value::Null),
        ("DELETE", "/sessions", Value::Null),
        ("POST", "/logout", Value::Null),
        ("POST", "/register", json!({ "email": "new@example.org" })),
        ("POST", "/register/confirm", json!({ "email": MALA, "code": "X", "password": PASSWORD })),
    ] {
        let answer = door.ask(method, path, token, body).await;
        assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE, "{method} {path}: {}", answer.body);
        assert_eq!(answer.body["type"], "/problems/accounts-unavailable");
        let wait: u32 = answer.headers["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((1..=5).contains(&wait), "{wait}");
    }
    // It is back: nothing was lost, and nobody has to sign in again.
    door.store.come_back();
    let refreshed = door.refresh(mala.text("refresh_token")).await;
    assert_eq!((refreshed.status, refreshed.text("account")), (StatusCode::OK, mala.text("account")));
    assert_eq!(door.login(MALA, PASSWORD).await.status, StatusCode::OK);
}

/// Too many logins are no reason to let anybody watch: that is what an attacker could bring about.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_queue_of_hashes_lets_nobody_in() {
    let door = Arc::new(Door::new());
    let mut asking = Vec::new();
    for n in 0..200 {
        let door = door.clone();
        asking.push(tokio::spawn(async move {
            let body = json!({ "email": format!("v{n}@example.org"), "password": PASSWORD });
            let client = format!("192.0.2.{n}");
            door.ask_with("POST", "/login", &[("x-client", &client)], body).await
        }));
    }
    let mut shed = 0;
    for one in asking {
        let answer = one.await.unwrap();
        match answer.status {
            StatusCode::UNAUTHORIZED => {}
            StatusCode::SERVICE_UNAVAILABLE => {
                assert_eq!(answer.body["type"], "/problems/busy");
                assert!(answer.headers.contains_key("retry-after"));
                shed += 1;
            }
            other => panic!("{other}: {}", answer.body),
        }
    }
    assert!(shed > 0, "some were told to come back");
}
