//! The whole door of identity, asked as clients ask it.

mod accounts;
mod cookies;
mod described;
mod devices;
mod input;
mod logs;
mod rotation;
mod store_gone;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use ::http::{HeaderMap, Request, StatusCode};
use axum::body::Body;
use axum::{Extension, Router};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use self::store_gone::Gone;
use super::*;
use crate::whereabouts::Client;

/// When tests begin.
const T: i64 = 1_800_000_000_000;
const MALA: &str = "mala.kumar@example.org";
const PASSWORD: &str = "correct horse battery";

fn config(folder: &Path) -> Config {
    Config {
        accounts: folder.join("accounts.db").into(),
        keys: folder.join("keys"),
        mail: folder.join("mail"),
        // RSA keys take a second to find.
        token_algorithm: Algorithm::Eddsa,
        hash_threads: 1,
        ..Config::default()
    }
}

/// An identity in a folder, and its clock.
pub(super) fn identity(folder: &Path, change: impl FnOnce(&mut Config)) -> (Identity, Arc<AtomicI64>) {
    let mut config = config(folder);
    change(&mut config);
    let accounts = config.accounts.accounts().unwrap();
    with(config, accounts)
}

fn with(config: Config, accounts: Arc<dyn Accounts>) -> (Identity, Arc<AtomicI64>) {
    let at = Arc::new(AtomicI64::new(T));
    let clock = at.clone();
    let identity = Identity::with(config, accounts, Arc::new(move || clock.load(Ordering::SeqCst)));
    (identity.unwrap(), at)
}

/// Says which address a request comes from, as the whole door does.
async fn from(mut request: Request<Body>) -> Request<Body> {
    let address = request.headers().get("x-client").map(|at| at.to_str().unwrap().parse().unwrap());
    request.extensions_mut().insert(Client(address));
    request
}

/// A door with a store that can be taken away.
struct Door {
    folder: tempfile::TempDir,
    identity: Identity,
    app: Router,
    at: Arc<AtomicI64>,
    store: Gone,
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Value,
}

impl Answer {
    fn text(&self, name: &str) -> &str {
        self.body[name].as_str().unwrap_or_else(|| panic!("no {name} in {}", self.body))
    }

    /// The value of a cookie that was set.
    fn cookie(&self, name: &str) -> Option<String> {
        let lines = self.headers.get_all("set-cookie").iter().map(|line| line.to_str().unwrap());
        lines
            .filter_map(|line| line.strip_prefix(name)?.strip_prefix('='))
            .next()
            .map(|rest| rest.split(';').next().unwrap_or_default().to_owned())
    }
}

impl Door {
    fn new() -> Door {
        Door::configured(|_| {})
    }

    fn configured(change: impl FnOnce(&mut Config)) -> Door {
        let folder = tempfile::tempdir().unwrap();
        let mut config = config(folder.path());
        change(&mut config);
        let store = Gone::new(config.accounts.accounts().unwrap());
        let (identity, at) = with(config, Arc::new(store.clone()));
        let app = super::router(identity.clone())
            .layer(Extension(identity.clone()))
            .layer(axum::middleware::map_request(from));
        Door { folder, identity, app, at, store }
    }

    fn later(&self, ms: i64) {
        self.at.fetch_add(ms, Ordering::SeqCst);
    }

    /// Hashes made so far.
    fn work(&self) -> u64 {
        self.identity.hashes()
    }

    async fn send(&self, request: Request<Body>) -> Answer {
        let answer = self.app.clone().oneshot(request).await.unwrap();
        let (parts, body) = answer.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
        Answer { status: parts.status, headers: parts.headers, body }
    }

    /// Asks with these header fields, below `/v1/identity`.
    async fn ask_with(&self, method: &str, path: &str, fields: &[(&str, &str)], body: Value) -> Answer {
        let mut request =
            Request::builder().method(method).uri(format!("/v1/identity{path}")).header("host", "tv.example");
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        let body = match body {
            Value::Null => Body::empty(),
            body => {
                request = request.header("content-type", "application/json");
                Body::from(body.to_string())
            }
        };
        self.send(request.body(body).unwrap()).await
    }

    /// Asks with a bearer token; an empty one is none.
    async fn ask(&self, method: &str, path: &str, token: &str, body: Value) -> Answer {
        let bearer = format!("Bearer {token}");
        let fields = [("authorization", bearer.as_str())];
        self.ask_with(method, path, if token.is_empty() { &[] } else { &fields }, body).await
    }

    /// The code of the one mail that waits.
    fn code(&self) -> String {
        let files: Vec<_> = std::fs::read_dir(self.folder.path().join("mail/new")).unwrap().collect();
        assert_eq!(files.len(), 1, "one mail");
        let file = files.into_iter().next().unwrap().unwrap().path();
        let mail = std::fs::read_to_string(&file).unwrap();
        std::fs::remove_file(file).unwrap();
        mail.lines().find_map(|line| line.strip_prefix("    ")).unwrap().to_owned()
    }

    /// Makes an account; the answer of having signed in.
    async fn account(&self, email: &str) -> Answer {
        let sent = self.ask("POST", "/register", "", json!({ "email": email })).await;
        assert_eq!(sent.status, StatusCode::ACCEPTED, "{}", sent.body);
        let body = json!({ "email": email, "code": self.code(), "password": PASSWORD, "label": "First" });
        let signed_in = self.ask("POST", "/register/confirm", "", body).await;
        assert_eq!(signed_in.status, StatusCode::OK, "{}", signed_in.body);
        signed_in
    }

    async fn login(&self, email: &str, password: &str) -> Answer {
        self.ask("POST", "/login", "", json!({ "email": email, "password": password })).await
    }

    async fn refresh(&self, token: &str) -> Answer {
        self.ask("POST", "/refresh", "", json!({ "refresh_token": token })).await
    }
}
