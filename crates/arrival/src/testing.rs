//! A door for tests: real stores on a disk, of which the database of entitlements can be taken away.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use store::{
    Change, Entitlements, Place, PostgresEntitlements, PostgresRegisters, Provisional, Purchase, Registers,
    Sqlite, SqliteEntitlements, Tally, Verdict,
};
use timeline::Utc;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::Config;
use crate::door::{Door, Stores};
use crate::identity::Viewer;

/// Long past what any condition here takes; reaching it is the failure.
const PATIENCE: Duration = Duration::from_secs(30);

/// A database that can be gone: it answers nothing, whatever it is asked.
pub(crate) struct Mortal {
    inner: Arc<dyn Entitlements>,
    pub(crate) dead: AtomicBool,
    /// How often it was asked what accounts bought.
    pub(crate) checks: AtomicUsize,
}

impl Mortal {
    fn alive(&self) -> Result<&dyn Entitlements, store::Error> {
        if self.dead.load(Ordering::SeqCst) { Err(store::Error::Late) } else { Ok(&*self.inner) }
    }
}

#[async_trait]
impl Entitlements for Mortal {
    async fn put_purchases(&self, purchases: &[Purchase]) -> Result<(), store::Error> {
        self.alive()?.put_purchases(purchases).await
    }
    async fn held(&self, accounts: &[String], now_ms: i64) -> Result<Vec<Purchase>, store::Error> {
        self.checks.fetch_add(1, Ordering::SeqCst);
        self.alive()?.held(accounts, now_ms).await
    }
    async fn changed(
        &self,
        since_ms: i64,
        after: Option<(i64, String)>,
        max: usize,
    ) -> Result<Vec<Purchase>, store::Error> {
        self.alive()?.changed(since_ms, after, max).await
    }
    async fn record(&self, passes: &[Provisional]) -> Result<(), store::Error> {
        self.alive()?.record(passes).await
    }
    async fn settle(&self, verdicts: &[(String, Verdict)], at_ms: i64) -> Result<(), store::Error> {
        self.alive()?.settle(verdicts, at_ms).await
    }
    async fn provisional(&self, since_ms: i64, max: usize) -> Result<Vec<Provisional>, store::Error> {
        self.alive()?.provisional(since_ms, max).await
    }
    async fn tally(&self, since_ms: i64) -> Result<Tally, store::Error> {
        self.alive()?.tally(since_ms).await
    }
    async fn note(&self, changes: &[Change]) -> Result<(), store::Error> {
        self.alive()?.note(changes).await
    }
    async fn changes(&self, before_ms: i64, max: usize) -> Result<Vec<Change>, store::Error> {
        self.alive()?.changes(before_ms, max).await
    }
}

/// An answer.
pub(crate) struct Said {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Said {
    /// The last segment of a problem's type.
    pub(crate) fn problem(&self) -> &str {
        self.body["type"].as_str().and_then(|t| t.strip_prefix("/problems/")).unwrap_or_default()
    }
}

/// An answer whose bytes count.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// A door and its folder.
pub(crate) struct House {
    pub(crate) door: Arc<Door>,
    pub(crate) store: Arc<Mortal>,
    app: Router,
    admin: Router,
    pub(crate) shutdown: CancellationToken,
}

/// What a door is configured with.
pub(crate) fn config(folder: &Path) -> Config {
    Config {
        r#match: "final".parse().unwrap(),
        title: "Final".into(),
        programme: "main".parse().unwrap(),
        epoch: Utc(1_796_000_000_000_000),
        edge: ":8081".parse().unwrap(),
        pass: "open".into(),
        pass_keys: None,
        pass_life: 600,
        pass_renewed: 3_600,
        edge_admins: Vec::new(),
        bind_networks: false,
        scores: Some(":8082".parse().unwrap()),
        feeds: Some(":8087".parse().unwrap()),
        sport: Some("cricket".into()),
        scored: vec!["club:cricket:Club match".parse().unwrap()],
        store: folder.join("pavilion.db").into(),
        entitlements: folder.join("entitlements.db").into(),
        journal: folder.join("provisional.journal"),
        no_copy: true,
        places: crate::whereabouts::Files { home_country: Some("IN".into()), ..Default::default() },
        trusted_proxies: Vec::new(),
        per_address: 1_000_000,
        licence: Some(":8080".parse().unwrap()),
        encrypted: None,
        licences: crate::licence::Config::default(),
        telemetry: Some(":8083".parse().unwrap()),
    }
}

impl House {
    /// Opens a door on a folder. `dead`: the database of entitlements is gone.
    pub(crate) async fn open(folder: &Path, dead: bool) -> House {
        House::with(config(folder), dead).await
    }

    pub(crate) async fn with(config: Config, dead: bool) -> House {
        House::at(config, dead, None).await
    }

    /// One that viewers reach by this URL.
    pub(crate) async fn at(config: Config, dead: bool, public_url: Option<&str>) -> House {
        let inner: Arc<dyn Entitlements> = match &config.entitlements {
            Place::File(file) => Arc::new(SqliteEntitlements::open_with(file, PATIENCE).unwrap()),
            Place::Url(url) => Arc::new(PostgresEntitlements::open_with(url, PATIENCE).unwrap()),
        };
        let store = Arc::new(Mortal { inner, dead: AtomicBool::new(dead), checks: AtomicUsize::new(0) });
        let registers: Arc<dyn Registers> = match &config.store {
            Place::File(file) => Arc::new(Sqlite::open(file).unwrap()),
            Place::Url(url) => Arc::new(PostgresRegisters::open_with(url, PATIENCE).unwrap()),
        };
        let stores = Stores { registers, entitlements: store.clone(), patience: PATIENCE };
        let shutdown = CancellationToken::new();
        let identity = crate::identity::for_tests(config.journal.parent().unwrap(), public_url);
        let door = Door::open(config, stores, identity, shutdown.clone()).await.unwrap();
        // A slow machine is no slow database.
        door.panic.gauge().slow_ms = i64::MAX;
        let (app, admin) = (crate::router(door.clone()), crate::admin::router(door.clone()));
        House { door, store, app, admin, shutdown }
    }

    /// A request of a viewer, from an address (in India, unless it says something else).
    pub(crate) async fn ask(&self, method: &str, path: &str, viewer: &Viewer, address: &str) -> Said {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "tv.example:8080")
            .header("pavilion-device-name", viewer.device.as_str())
            .body(Body::empty())
            .unwrap();
        request.extensions_mut().insert(viewer.clone());
        request.extensions_mut().insert(ConnectInfo(SocketAddr::new(address.parse().unwrap(), 1)));
        said(self.app.clone().oneshot(request).await.unwrap()).await
    }

    /// A request as it stands, from an address in India.
    pub(crate) async fn send(&self, request: http::request::Builder) -> Said {
        let mut request = request.header("host", "tv.example:8080").body(Body::empty()).unwrap();
        request.extensions_mut().insert(ConnectInfo(SocketAddr::new(HOME.parse().unwrap(), 1)));
        said(self.app.clone().oneshot(request).await.unwrap()).await
    }

    /// Plays as somebody of whom nothing is known but what they bring.
    pub(crate) async fn play_with(&self, r#match: &str, token: Option<&str>) -> Said {
        let mut request = Request::builder().method("POST").uri(format!("/v1/matches/{match}/play"));
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        self.send(request).await
    }

    pub(crate) async fn play(&self, r#match: &str, viewer: &Viewer) -> Said {
        self.ask("POST", &format!("/v1/matches/{match}/play"), viewer, HOME).await
    }

    /// Posts bytes, as a player does.
    pub(crate) async fn post(
        &self,
        path: &str,
        fields: &[(&str, &str)],
        body: Vec<u8>,
        address: &str,
    ) -> Answer {
        let mut request = Request::builder().method("POST").uri(path);
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        let mut request = request.body(Body::from(body)).unwrap();
        request.extensions_mut().insert(ConnectInfo(SocketAddr::new(address.parse().unwrap(), 1)));
        let answer = self.app.clone().oneshot(request).await.unwrap();
        let (status, headers) = (answer.status(), answer.headers().clone());
        Answer { status, headers, body: answer.into_body().collect().await.unwrap().to_bytes().to_vec() }
    }

    /// A request of an operator.
    pub(crate) async fn admin(&self, method: &str, path: &str, body: impl Into<String>) -> Said {
        let request = Request::builder()
            .method(method)
            .uri(format!("/admin/arrival/{path}"))
            .header("pavilion-operator", "ada");
        said(self.admin.clone().oneshot(request.body(Body::from(body.into())).unwrap()).await.unwrap()).await
    }

    /// Writes documents, which must be taken.
    pub(crate) async fn put(&self, documents: &[(&str, Value)]) {
        for (kind, document) in documents {
            let path = format!("catalog/{kind}/{}", document["id"].as_str().unwrap());
            let said = self.admin("PUT", &path, document.to_string()).await;
            assert_eq!(said.status, StatusCode::OK, "{}", said.body);
        }
    }

    /// A match that is sold: "cup", for two devices at once, in India.
    pub(crate) async fn sell(&self) {
        self.put(&[
            ("plan", json!({"id": "gold", "name": "Gold", "tier": 2, "devices": 2, "height_max": 1080, "angles": true, "languages": ["en", "hi"]})),
            ("match", json!({"id": "cup", "title": "The Cup", "sport": "cricket", "status": "live", "start_ms": 1_796_000_000_000_i64, "languages": ["en", "hi", "ta"]})),
            ("programme", json!({"id": "cup-main", "match": "cup", "programme": "main", "title": "The Cup"})),
            ("programme", json!({"id": "cup-bird", "match": "cup", "programme": "bird", "title": "From above", "angle": true})),
            ("product", json!({"id": "season", "name": "Season ticket", "plan": "gold", "matches": ["cup"]})),
            ("right", json!({"id": "cup-in", "matches": ["cup"], "countries": ["IN"]})),
        ])
        .await;
    }

    /// The account buys the season.
    pub(crate) async fn buy(&self, accounts: &[String]) {
        let bought = accounts.iter().map(|account| {
            json!({"id": format!("p-{account}"), "account": account, "product": "season", "from_ms": 0, "until_ms": 4_000_000_000_000_i64})
        });
        let said = self.admin("POST", "purchases", bought.collect::<Value>().to_string()).await;
        assert_eq!(said.status, StatusCode::OK, "{}", said.body);
    }

    /// The account would buy, with the database gone.
    pub(crate) async fn buy_in_vain(&self, account: &str) {
        let bought = json!({"account": account, "product": "season", "from_ms": 0, "until_ms": 1});
        let said = self.admin("POST", "purchases", bought.to_string()).await;
        assert_eq!(said.status, StatusCode::SERVICE_UNAVAILABLE, "{}", said.body);
    }

    pub(crate) fn kill(&self, dead: bool) {
        self.store.dead.store(dead, Ordering::SeqCst);
    }

    pub(crate) fn checks(&self) -> usize {
        self.store.checks.load(Ordering::SeqCst)
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}

/// An address in India.
pub(crate) const HOME: &str = "192.168.0.7";
/// An address of which nobody knows where it is.
pub(crate) const NOWHERE: &str = "203.0.113.9";

pub(crate) fn viewer(account: Option<&str>, device: &str) -> Viewer {
    Viewer { account: account.map(str::to_owned), device: device.into(), profile: None, provisional: false }
}

async fn said(answer: axum::response::Response) -> Said {
    let (status, headers) = (answer.status(), answer.headers().clone());
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    Said { status, headers, body: serde_json::from_slice(&body).unwrap_or(Value::Null) }
}

/// Waits until something is so.
pub(crate) async fn until(what: &str, mut so: impl AsyncFnMut() -> bool) {
    let began = Instant::now();
    while !so().await {
        assert!(began.elapsed() < PATIENCE, "{what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
