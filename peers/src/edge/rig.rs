//! Where the products stand: one origin, one certificate, and caches that are started before it.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use tokio::process::Command;

use super::client::Conn;
use super::origin::{Origin, Script};
use super::product::{Place, Product};
use crate::air::PASS;
use crate::cores::Cores;
use crate::http::until;
use crate::installed::{give_away, nobody};
use crate::nursery::{Child, Nursery, free_port};

/// For a cache to answer: Varnish compiles its rules, Traffic Server initialises a cache.
const READY_MAX: Duration = Duration::from_secs(30);

/// A small playlist that is there for as long as a benchmark takes.
pub(crate) const WARM: &str = "/live/warm.m3u8";

/// All that is shared by the measurements.
pub(crate) struct Rig<'a> {
    pub(crate) nursery: &'a Nursery,
    pub(crate) root: &'a Path,
    pub(crate) origin: Arc<Origin>,
    pub(crate) cores: Cores,
    /// That are there, Pavilion first.
    pub(crate) products: Vec<Product>,
    /// Caches of the peers, in memory if there is such a file system: so their documentation says for live.
    state: tempfile::TempDir,
}

/// How a product is started.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Manner {
    /// On one core, which is named in [`Cores`].
    pub(crate) pinned: bool,
    /// The target is its TLS listener.
    pub(crate) tls: bool,
}

/// Where a product answers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub(crate) name: &'static str,
    pub(crate) addr: SocketAddr,
    prefix: &'static str,
}

/// A product that answers.
pub(crate) struct Served {
    pub(crate) target: Target,
    pub(crate) child: Child,
}

impl Target {
    /// At that port, with the word that every path begins with.
    pub(crate) fn new(name: &'static str, port: u16, prefix: &'static str) -> Target {
        Target { name, addr: (Ipv4Addr::LOCALHOST, port).into(), prefix }
    }

    /// The origin's path, as it is asked for here.
    pub(crate) fn path(&self, path: &str) -> String {
        format!("{}{path}", self.prefix)
    }
}

impl<'a> Rig<'a> {
    /// An origin, and the products that are installed.
    pub(crate) async fn new(
        nursery: &'a Nursery,
        root: &'a Path,
        products: Vec<Product>,
    ) -> anyhow::Result<Rig<'a>> {
        let memory = Path::new("/dev/shm");
        let state = tempfile::Builder::new().prefix("pavilion-bench-").tempdir_in(if memory.is_dir() {
            memory.to_owned()
        } else {
            std::env::temp_dir()
        })?;
        let origin = Arc::new(Origin::start()?);
        origin.put(WARM, Script::whole("max-age=3600", Duration::ZERO, 4_096));
        let rig = Rig { nursery, root, origin, cores: Cores::find()?, products, state };
        rig.certify().await?;
        // Others' servers may become another user.
        give_away(rig.state.path())?;
        Ok(rig)
    }

    /// Starts a product before the origin, and waits until it answers.
    pub(crate) async fn serve(&self, product: Product, manner: Manner) -> anyhow::Result<Served> {
        let served = match product {
            Product::Pavilion => self.pavilion(manner)?,
            peer => self.peer(peer, manner, self.origin.port)?,
        };
        if manner.tls {
            self.listens(&served).await?;
        } else {
            self.answers(&served).await?;
        }
        Ok(served)
    }

    /// Starts all that can be started; says what cannot.
    pub(crate) async fn serve_all(&self, manner: Manner) -> anyhow::Result<Vec<Served>> {
        let mut all = Vec::new();
        for &product in self.products.iter().filter(|p| !manner.tls || p.has_tls()) {
            match self.serve(product, manner).await {
                Ok(served) => all.push(served),
                // Without Pavilion there is no figure; without a peer there is one peer less.
                Err(error) if product == Product::Pavilion => return Err(error),
                Err(error) => println!("      {} is not measured: {error:#}", product.name()),
            }
        }
        Ok(all)
    }

    /// Starts an edge with a pass, whose checks are part of what is measured.
    fn pavilion(&self, manner: Manner) -> anyhow::Result<Served> {
        let port = free_port()?;
        let mut args = vec![
            "edge".to_owned(),
            "--listen".to_owned(),
            format!("127.0.0.1:{port}"),
            "--upstream".to_owned(),
            format!("http://127.0.0.1:{}", self.origin.port),
            "--pass".to_owned(),
            PASS.to_owned(),
        ];
        if manner.tls {
            let (cert, key) = (self.file("cert.pem"), self.file("key.pem"));
            args.extend(["--tls-cert".to_owned(), cert.display().to_string()]);
            args.extend(["--tls-key".to_owned(), key.display().to_string()]);
        }
        let name = log_name("pavilion", manner);
        let child = if manner.pinned {
            self.nursery.role_on(self.cores.server, &name, &args)?
        } else {
            self.nursery.role(&name, &args)?
        };
        Ok(Served { target: Target::new("pavilion", port, "/open"), child })
    }

    /// Starts an edge on its core with such passes, and waits until it listens.
    pub(crate) async fn edge(&self, name: &'static str, passes: &[&str]) -> anyhow::Result<Served> {
        let port = free_port()?;
        let upstream = format!("http://127.0.0.1:{}", self.origin.port);
        let line = ["edge", "--listen", &format!("127.0.0.1:{port}"), "--upstream", &upstream];
        let args: Vec<String> = line.iter().chain(passes).map(|word| (*word).to_owned()).collect();
        let child = self.nursery.role_on(self.cores.server, name, &args)?;
        let served = Served { target: Target::new(name, port, ""), child };
        self.listens(&served).await?;
        Ok(served)
    }

    /// Starts a peer before any origin.
    pub(crate) fn peer(&self, peer: Product, manner: Manner, origin_port: u16) -> anyhow::Result<Served> {
        let program = peer.program().with_context(|| format!("{} is not installed", peer.package()))?;
        let dir = tempfile::Builder::new().prefix(peer.name()).tempdir_in(self.state.path())?.keep();
        let (port, tls_port) = (free_port()?, free_port()?);
        let place = Place {
            dir: dir.clone(),
            port,
            tls_port,
            origin_port,
            workers: if manner.pinned { 1 } else { self.cores.count() },
            cert: self.file("cert.pem"),
            key: self.file("key.pem"),
            both: self.file("both.pem"),
        };
        let args = peer.configure(&self.root.join("peers/edge"), &place)?;
        give_away(&dir)?;
        let mut command = Command::new("setpriv");
        // Whatever happens to us, it ends.
        command.args(["--pdeathsig", "TERM"]);
        if let Some(nobody) = nobody()? {
            let ids = [format!("--reuid={}", nobody.0), format!("--regid={}", nobody.1)];
            command.args(ids).arg("--clear-groups");
        }
        if manner.pinned {
            command.args(["taskset", "-c", &self.cores.server.to_string()]);
        }
        command.arg(program).args(args).current_dir(&dir);
        let child = self.nursery.service(&log_name(peer.name(), manner), command)?;
        let port = if manner.tls { tls_port } else { port };
        Ok(Served { target: Target::new(peer.name(), port, ""), child })
    }

    /// Waits for a 200.
    pub(crate) async fn answers(&self, served: &Served) -> anyhow::Result<()> {
        let path = served.target.path(WARM);
        until(&format!("{} answers", served.target.name), READY_MAX, async || {
            served.child.check()?;
            let asked = async { Conn::open(served.target.addr).await?.get(&path).await };
            Ok(asked.await.ok().filter(|answer| answer.status == 200).map(drop))
        })
        .await
    }

    /// Waits for a listener.
    pub(crate) async fn listens(&self, served: &Served) -> anyhow::Result<()> {
        until(&format!("{} listens", served.target.name), READY_MAX, async || {
            served.child.check()?;
            Ok(Conn::open(served.target.addr).await.ok().map(drop))
        })
        .await
    }

    /// A file that all may read.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.state.path().join(name)
    }

    /// Makes a certificate for this machine.
    async fn certify(&self) -> anyhow::Result<()> {
        let (cert, key) = (self.file("cert.pem"), self.file("key.pem"));
        let made = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"])
            .args(["-days", "2", "-subj", "/CN=localhost"])
            .args(["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"])
            .arg("-keyout")
            .arg(&key)
            .arg("-out")
            .arg(&cert)
            .output()
            .await
            .context("openssl")?;
        ensure!(made.status.success(), "openssl: {}", String::from_utf8_lossy(&made.stderr));
        let both = std::fs::read_to_string(&cert)? + &std::fs::read_to_string(&key)?;
        std::fs::write(self.file("both.pem"), both)?;
        Ok(())
    }
}

/// Each run of a product has a log of its own.
fn log_name(product: &str, manner: Manner) -> String {
    let pinned = if manner.pinned { ", one core" } else { "" };
    format!("{product}{pinned}{}", if manner.tls { ", TLS" } else { "" })
}
