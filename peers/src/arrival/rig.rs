//! A door with a sold match and people who bought it, and the processes that ask it.

use std::net::{Ipv4Addr, SocketAddr};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use anyhow::{Context, ensure};
use bytes::Bytes;
use futures_util::future::try_join_all;
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client as Pool;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use store::testing::Server;
use store::{Place, Purchase};
use tokio::net::TcpStream;
use tokio::process::Command;

use super::load::paced::{self, Paces, Tally};
use super::load::{Order, Work, now_ms};
use super::viewers::{MATCH, PRODUCT, account, has_paid};
use crate::cores::Cores;
use crate::http::{get, sample, until};
use crate::nursery::{Child, Nursery, free_port};
use crate::proc;

/// For a door to listen: the first time a key must be found.
const READY_MAX: Duration = Duration::from_secs(60);
/// For a copy of all purchases to be loaded.
const LOADED_MAX: Duration = Duration::from_secs(30);
/// More than any work takes by itself: signing tokens, and answers at the end.
const WORK_MAX: Duration = Duration::from_secs(180);

/// Processes of load so far: each has loopback addresses of its own. After 250 the first ones have long ended.
static PROCESSES: AtomicU8 = AtomicU8::new(0);

/// All that is shared by the measurements.
pub(crate) struct Rig<'a> {
    pub(crate) nursery: &'a Nursery,
    pub(crate) root: &'a Path,
    pub(crate) cores: Cores,
    pub(crate) client: loadgen::http::Client,
    pool: Pool<HttpConnector, Full<Bytes>>,
}

/// Where a door keeps what it keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keeps {
    /// In files.
    Sqlite,
    /// In a server that is started for it, on whichever core.
    Postgres,
}

/// How a door is started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    /// On one core, with the load on the others.
    pub(crate) pinned: bool,
    /// It begins with a copy of all purchases.
    pub(crate) copy: bool,
    /// How many have bought, if they should (see [`has_paid`]).
    pub(crate) accounts: usize,
    pub(crate) keeps: Keeps,
}

/// A door that listens.
pub(crate) struct Door {
    pub(crate) child: Child,
    pub(crate) addr: SocketAddr,
    pub(crate) keys: PathBuf,
    pub(crate) dir: PathBuf,
    admin: String,
    pinned: bool,
    _database: Option<Server>,
}

impl<'a> Rig<'a> {
    /// Before anything is started.
    pub(crate) fn new(nursery: &'a Nursery, root: &'a Path) -> anyhow::Result<Rig<'a>> {
        let pool = Pool::builder(TokioExecutor::new()).build(HttpConnector::new());
        Ok(Rig { nursery, root, cores: Cores::find()?, client: Default::default(), pool })
    }

    /// Starts a door, with the match on sale.
    pub(crate) async fn door(&self, manner: Manner) -> anyhow::Result<Door> {
        let dir = tempfile::Builder::new().prefix("door").tempdir_in(self.nursery.scratch())?.keep();
        let file = |name: &str| dir.join(name).display().to_string();
        let database = match manner.keeps {
            Keeps::Sqlite => None,
            Keeps::Postgres => {
                ensure!(
                    store::testing::is_installed(),
                    "PostgreSQL is missing; scripts/setup.sh arrival installs it"
                );
                Some(Server::start().await)
            }
        };
        let url = match &database {
            None => None,
            Some(server) => Some(server.database("door").await.to_string()),
        };
        let kept = |name: &str| url.clone().unwrap_or_else(|| file(name));
        buy(&Place::from(kept("entitlements.db")), manner.accounts).await?;
        let passes = pass::Document::generate("pavilion", "bench")?;
        std::fs::write(dir.join("passes.json"), serde_json::to_vec(&passes)?)?;
        let (listen, admin) = (here()?, here()?);
        let line = format!(
            "arrival --listen {listen} --admin {admin} --epoch 2026-06-01T00:00:00Z --edge :8081 --scores :8082 \
             --trusted-proxy 127.0.0.0/8"
        );
        let mut args: Vec<String> = line.split_ascii_whitespace().map(str::to_owned).collect();
        for (flag, at) in [
            ("--store", kept("pavilion.db")),
            ("--entitlements", kept("entitlements.db")),
            ("--accounts", kept("accounts.db")),
            ("--journal", file("provisional.journal")),
            ("--keys", file("keys")),
            ("--mail", file("mail")),
            ("--pass-keys", file("passes.json")),
        ] {
            args.extend([flag.to_owned(), at]);
        }
        if !manner.copy {
            args.push("--no-copy".to_owned());
        }
        let name = format!("door {}", listen.port());
        let child = if manner.pinned {
            self.nursery.role_on(self.cores.server, &name, &args)?
        } else {
            self.nursery.role(&name, &args)?
        };
        until("the door listens", READY_MAX, async || {
            child.check()?;
            // Its operators' port comes after the other.
            let both = TcpStream::connect(listen).await.is_ok() && TcpStream::connect(admin).await.is_ok();
            Ok(both.then_some(()))
        })
        .await?;
        let admin = format!("http://{admin}");
        let keys = dir.join("keys");
        let door = Door { child, addr: listen, keys, dir, admin, pinned: manner.pinned, _database: database };
        self.send(Method::PUT, &format!("{}/admin/arrival/catalog", door.admin), &catalog()).await?;
        if manner.copy {
            let known = |metrics: &str| sample(metrics, "arrival_accounts_known") as usize;
            until("all purchases are known", LOADED_MAX, async || {
                Ok((known(&self.metrics(&door).await?) >= paying(manner.accounts)).then_some(()))
            })
            .await?;
        }
        Ok(door)
    }

    /// Sends a document that must be taken.
    pub(crate) async fn send(&self, method: Method, url: &str, body: &Value) -> anyhow::Result<Bytes> {
        let request = Request::builder().method(method).uri(url).header("content-type", "application/json");
        let answer = self.pool.request(request.body(Full::new(body.to_string().into()))?).await?;
        let status = answer.status();
        let said = answer.into_body().collect().await?.to_bytes();
        ensure!(status.is_success(), "{url}: {status} {}", String::from_utf8_lossy(&said));
        Ok(said)
    }

    /// The door's metrics.
    pub(crate) async fn metrics(&self, door: &Door) -> anyhow::Result<String> {
        let text = get(&self.client, &format!("{}/metrics", door.admin)).await?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Viewers ask at a pace; what became of each phase's each pace.
    pub(crate) async fn paced(
        &self,
        door: &Door,
        viewers: Range<usize>,
        logged_in: bool,
        paces: Paces,
    ) -> anyhow::Result<paced::Report> {
        let seconds: f64 = paces.phases.iter().map(|phase| phase.seconds).sum();
        let (keys, work) = (logged_in.then(|| door.keys.clone()), Work::Paced(paces));
        let order = Order { target: door.addr, nth: nth(), keys, viewers, every: 1, work };
        let cores = door.pinned.then(|| self.cores.askers());
        let report = self.work(&order, cores.as_deref(), Duration::from_secs_f64(seconds)).await?;
        door.child.check()?;
        Ok(report)
    }

    /// Runs a process of load to its end.
    async fn work<T: DeserializeOwned>(
        &self,
        order: &Order,
        cores: Option<&str>,
        lasts: Duration,
    ) -> anyhow::Result<T> {
        let name = format!("load {}", order.nth);
        let (asked, answer) = (self.file(&name, "order"), self.file(&name, "json"));
        std::fs::write(&asked, serde_json::to_vec(order)?)?;
        let own = std::env::current_exe()?;
        let mut command = match cores {
            Some(cores) => {
                let mut command = Command::new("taskset");
                command.args(["-c", cores]).arg(own);
                command
            }
            None => Command::new(own),
        };
        command.arg("arrival-load").arg(&asked).stdout(std::fs::File::create(&answer)?);
        let child = self.nursery.start(&name, command)?;
        let done = tokio::time::timeout(lasts + WORK_MAX, child.finished()).await;
        done.with_context(|| format!("the load took longer than {} s", (lasts + WORK_MAX).as_secs()))??;
        serde_json::from_slice(&std::fs::read(&answer)?).context("what the load said cannot be read")
    }

    fn file(&self, name: &str, kind: &str) -> PathBuf {
        self.nursery.scratch().join(format!("{name}.{kind}"))
    }

    /// Several processes of load at once.
    pub(crate) async fn together<T: DeserializeOwned>(
        &self,
        orders: &[Order],
        lasts: Duration,
    ) -> anyhow::Result<Vec<T>> {
        try_join_all(orders.iter().map(|order| self.work(order, None, lasts))).await
    }
}

impl Door {
    /// CPU time so far, in seconds.
    pub(crate) fn cpu_seconds(&self) -> anyhow::Result<f64> {
        proc::cpu_seconds(self.child.pid())
    }

    /// A URL of its API.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addr)
    }
}

/// A number for a process of load.
pub(crate) fn nth() -> u8 {
    PROCESSES.fetch_add(1, Ordering::Relaxed)
}

/// A port here that nobody has.
pub(crate) fn here() -> anyhow::Result<SocketAddr> {
    Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()?)))
}

/// Of so many accounts.
pub(crate) fn paying(accounts: usize) -> usize {
    (0..accounts).filter(|n| has_paid(*n)).count()
}

/// What is on sale.
fn catalog() -> Value {
    json!({ "pavilion_catalog": 1, "documents": {
        "match": [{ "id": MATCH, "title": "The Cup", "sport": "cricket", "league": "premier", "teams": ["Chennai", "Kolkata"],
            "status": "live", "start_ms": now_ms(), "languages": ["en", "hi", "ta"] }],
        "programme": [
            { "id": "cup-main", "match": MATCH, "programme": "main", "title": "The Cup" },
            { "id": "cup-bird", "match": MATCH, "programme": "bird", "title": "From above", "angle": true },
        ],
        "plan": [{ "id": "gold", "name": "Gold", "tier": 2, "devices": 2, "height_max": 1080, "angles": true }],
        "product": [{ "id": PRODUCT, "name": "Season ticket", "plan": "gold", "leagues": ["premier"] }],
        "right": [{ "id": "cup-everywhere", "matches": [MATCH] }],
    }})
}

/// Everybody who has paid, bought; before there is a door.
async fn buy(place: &Place, accounts: usize) -> anyhow::Result<()> {
    let store = place.entitlements()?;
    let now = now_ms();
    let bought = |n: usize| Purchase {
        id: format!("p{n}"),
        account: account(n),
        product: PRODUCT.to_owned(),
        from_ms: now - 86_400_000,
        until_ms: now + 86_400_000,
        changed_ms: now - 86_400_000,
    };
    let all: Vec<Purchase> = (0..accounts).filter(|n| has_paid(*n)).map(bought).collect();
    for page in all.chunks(store::PAGE_MAX) {
        store.put_purchases(page).await?;
    }
    Ok(())
}

/// The only pace of the only phase.
pub(crate) fn only(report: &paced::Report) -> anyhow::Result<&Tally> {
    report.first().and_then(|phase| phase.first()).context("the load said nothing")
}
