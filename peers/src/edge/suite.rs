//! The npm package `http-cache-tests`, or a later checkout of it: its server as the origin, its client before a cache,
//! its own rules as judge.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, ensure};
use serde::Deserialize;
use tokio::net::TcpStream;
use tokio::process::Command;

use super::product::Product;
use super::rig::{Manner, Rig, Served, Target};
use crate::figure::{Figure, Goal};
use crate::http::until;
use crate::nursery::{Child, free_port};

/// Required tests that pass.
pub(crate) const ID: &str = "cache_tests_passed";

/// Of some 160; beside Pavilion's only when asked for, because each takes minutes.
const GOAL: f64 = 150.0;
const PEERS: [Product; 4] = [Product::Apache, Product::Nginx, Product::TrafficServer, Product::Varnish];

/// Of what the suite says of a failure: the start tells it.
const WHY_CHARS: usize = 100;
/// For the suite's server to listen.
const LISTEN_MAX: Duration = Duration::from_secs(20);
/// For all of the suite: it has some 700 tests, 25 at once, many of which pause for 3 s; one may take 10 s.
const SUITE_MAX: Duration = Duration::from_secs(900);

/// What the judge says.
#[derive(Debug, Deserialize)]
struct Account {
    required: u64,
    passed: u64,
    /// Likewise, where a dependency that failed is not held against a test.
    alone: u64,
    failed: Vec<Failed>,
}

#[derive(Debug, Deserialize)]
struct Failed {
    id: String,
    name: String,
    verdict: String,
    why: String,
}

/// The suite, and what to run of it: a later one keeps its engine in a folder.
struct Suite {
    dir: PathBuf,
    engine: &'static str,
    judge: PathBuf,
}

/// Runs it against Pavilion, and against peers. `checkout`: instead of the npm package.
pub(crate) async fn measure(
    rig: &Rig<'_>,
    checkout: Option<&Path>,
    with_peers: bool,
) -> anyhow::Result<Vec<Figure>> {
    let suite = Suite::find(rig.root, checkout)?;
    let own = suite.account(rig, Product::Pavilion).await?;
    let mut figure = Figure::new(ID, own.passed as f64, "tests", Goal::AtLeast(GOAL)).how(format!(
        "of {} required tests of {}, by the suite's own rules ({} if a failed dependency is not held against a test); through \
         pavilion edge --rules web --query '*'",
        own.required,
        if checkout.is_some() { "a checkout of http-cache-tests" } else { "npm's http-cache-tests" },
            own.alone,
    ));
    for failed in &own.failed {
        let why: String = failed.why.chars().take(WHY_CHARS).collect();
        figure = figure.how(format!("{} {} ({}): {why}", failed.verdict, failed.id, failed.name));
    }
    for peer in PEERS.into_iter().filter(|_| with_peers) {
        match suite.account(rig, peer).await {
            Ok(theirs) => drop(figure.peers.insert(peer.name(), theirs.passed as f64)),
            Err(error) => figure = figure.how(format!("{} is not measured: {error:#}", peer.name())),
        }
    }
    Ok(vec![figure])
}

impl Suite {
    fn find(root: &Path, checkout: Option<&Path>) -> anyhow::Result<Suite> {
        let here = root.join("peers/edge/cache-tests");
        let dir = match checkout {
            Some(dir) => std::path::absolute(dir)?,
            None => here.join("node_modules/http-cache-tests"),
        };
        ensure!(
            dir.join("tests").is_dir(),
            "there is no http-cache-tests in {}; scripts/setup.sh edge installs it",
            dir.display()
        );
        let engine = if dir.join("test-engine").is_dir() { "test-engine/" } else { "" };
        Ok(Suite { dir, engine, judge: here.join("judge.mjs") })
    }

    /// One run, with a server and a cache of its own.
    async fn account(&self, rig: &Rig<'_>, product: Product) -> anyhow::Result<Account> {
        let (_server, origin) = self.server(rig, product).await?;
        let served = cache(rig, product, origin)?;
        rig.listens(&served).await?;
        // A name would be asked for over IPv6 too.
        let base = format!("http://{}", served.target.addr);
        let run = Command::new("node")
            .args(["--no-warnings", &format!("{}cli.mjs", self.engine)])
            .current_dir(&self.dir)
            // The suite is told by npm's variables; an empty id is all tests.
            .env("npm_config_base", &base)
            .env("npm_config_id", "")
            .env("npm_package_config_id", "")
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let run = tokio::time::timeout(SUITE_MAX, run)
            .await
            .context("the suite takes too long")?
            .context("node")?;
        ensure!(run.status.success(), "the suite: {}", String::from_utf8_lossy(&run.stderr));
        served.child.check()?;
        let results = rig.nursery.scratch().join(format!("cache-tests, {}.json", product.name()));
        std::fs::write(&results, &run.stdout)?;
        let judged = Command::new("node").arg(&self.judge).arg(&self.dir).arg(&results).output().await?;
        ensure!(judged.status.success(), "the judge: {}", String::from_utf8_lossy(&judged.stderr));
        Ok(serde_json::from_slice(&judged.stdout)?)
    }

    /// The suite's own origin; its port.
    async fn server(&self, rig: &Rig<'_>, product: Product) -> anyhow::Result<(Child, u16)> {
        let port = free_port()?;
        let name = format!("origin of cache-tests, {}", product.name());
        let mut command = Command::new("setpriv");
        command
            .args(["--pdeathsig", "TERM", "node", &format!("{}server/server.mjs", self.engine)])
            .current_dir(&self.dir)
            .env("npm_config_protocol", "http")
            .env("npm_config_port", port.to_string())
            .env("npm_config_pidfile", rig.nursery.scratch().join(format!("{name}.pid")));
        let child = rig.nursery.service(&name, command)?;
        until("the suite's server listens", LISTEN_MAX, async || {
            child.check()?;
            Ok(TcpStream::connect(("127.0.0.1", port)).await.ok())
        })
        .await?;
        Ok((child, port))
    }
}

fn cache(rig: &Rig<'_>, product: Product, origin: u16) -> anyhow::Result<Served> {
    if product != Product::Pavilion {
        return rig.peer(product, Manner::default(), origin);
    }
    let port = free_port()?;
    let line =
        format!("edge --listen 127.0.0.1:{port} --upstream http://127.0.0.1:{origin} --rules web --query *");
    let words: Vec<_> = line.split(' ').map(str::to_owned).collect();
    let child = rig.nursery.role("pavilion, cache-tests", &words)?;
    Ok(Served { target: Target::new(product.name(), port, ""), child })
}
