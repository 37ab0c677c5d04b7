//! Where the products stand: each on one core, its subscribers on the others; or all of them on all cores.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use tokio::net::TcpStream;
use tokio::process::Command;

use super::audience::speech::Speech;
use super::crowd::{Crowd, Shape};
use super::pavilion;
use super::product::{Peer, Place};
use super::publish::Publisher;
use crate::cores::Cores;
use crate::http::until;
use crate::installed::{give_away, nobody};
use crate::nursery::{Child, Nursery, free_port};
use crate::proc;

/// For a server to listen.
const READY_MAX: Duration = Duration::from_secs(20);

/// All that is shared by the measurements.
pub(crate) struct Rig<'a> {
    pub(crate) nursery: &'a Nursery,
    pub(crate) root: &'a Path,
    pub(crate) cores: Cores,
    /// That are there.
    pub(crate) peers: Vec<Peer>,
    state: tempfile::TempDir,
}

/// Where servers and subscribers run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seat {
    /// The server on one core, subscribers on the others: for what a delivery costs.
    OneCore,
    /// Both on all cores, as many workers as there are: for how soon everybody has it.
    AllCores,
}

/// A server that listens.
pub(crate) struct Served {
    pub(crate) seat: Seat,
    pub(crate) name: &'static str,
    pub(crate) child: Child,
    pub(crate) addr: SocketAddr,
    pub(crate) speech: Speech,
    pub(crate) publisher: Option<Publisher>,
}

impl<'a> Rig<'a> {
    /// Before anything is started.
    pub(crate) fn new(nursery: &'a Nursery, root: &'a Path, peers: Vec<Peer>) -> anyhow::Result<Rig<'a>> {
        let state = tempfile::Builder::new().prefix("pavilion-scores-").tempdir()?;
        // Others' servers may become another user.
        give_away(state.path())?;
        Ok(Rig { nursery, root, cores: Cores::find()?, peers, state })
    }

    /// Starts Pavilion and, one after the other, the peers that `which` says; says what cannot be started.
    pub(crate) async fn serve(
        &self,
        which: impl Fn(Peer) -> bool,
        seat: Seat,
    ) -> anyhow::Result<Vec<Served>> {
        let mut served = vec![pavilion::serve(self, seat).await.context("Pavilion")?];
        for peer in self.peers.iter().copied().filter(|peer| which(*peer)) {
            match self.peer(peer, seat).await {
                Ok(one) => served.push(one),
                Err(error) => println!("      {} is not measured: {error:#}", peer.name()),
            }
        }
        Ok(served)
    }

    async fn peer(&self, peer: Peer, seat: Seat) -> anyhow::Result<Served> {
        let program = peer.program(self.root).context("it is not installed")?;
        let dir = tempfile::Builder::new().prefix(peer.name()).tempdir_in(self.state.path())?.keep();
        let workers = self.cores(seat).split(',').count();
        let place = Place { dir: dir.clone(), port: free_port()?, publish: free_port()?, workers };
        let args = peer.configure(&self.root.join("peers/scores"), &place)?;
        give_away(&dir)?;
        let child = if peer == Peer::Bare {
            let mut command = Command::new("taskset");
            command
                .arg("-c")
                .arg(self.cores(seat))
                .arg(&program)
                .args(args)
                .stdout(std::process::Stdio::null());
            self.nursery.start(peer.name(), command)?
        } else {
            let mut command = Command::new("setpriv");
            // Whatever happens to us, it ends.
            command.args(["--pdeathsig", "TERM"]);
            // Nobody may not look into the folder that Python may be in.
            if let Some((user, group)) = nobody()?.filter(|_| peer != Peer::Socketify) {
                let ids = [format!("--reuid={user}"), format!("--regid={group}")];
                command.args(ids).arg("--clear-groups");
            }
            command.args(["taskset", "-c", &self.cores(seat)]);
            command.arg(program).args(args).current_dir(&dir);
            self.nursery.service(peer.name(), command)?
        };
        let here = |port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let (addr, publishers) = (here(place.port), here(place.publish));
        listens(&child, addr).await?;
        if matches!(peer, Peer::Bare | Peer::Nats) {
            listens(&child, publishers).await?;
        }
        let publisher = Publisher::open(peer, addr, publishers).await?;
        Ok(Served { seat, name: peer.name(), child, addr, speech: peer.speech(), publisher })
    }

    /// Those that serve, as taskset(1) takes them.
    fn cores(&self, seat: Seat) -> String {
        match seat {
            Seat::OneCore => self.cores.server.to_string(),
            Seat::AllCores => format!("{},{}", self.cores.server, self.cores.askers()),
        }
    }

    /// Subscribers of one process, where the server's seat leaves them.
    pub(crate) async fn crowd(&self, served: &Served, shape: Shape) -> anyhow::Result<Crowd> {
        let others = (served.seat == Seat::OneCore).then(|| self.cores.askers());
        Crowd::start(self.nursery, others.as_deref(), served.addr, &served.speech, shape).await
    }

    /// A file of this run.
    pub(crate) fn dir(&self) -> &Path {
        self.state.path()
    }
}

impl Served {
    /// CPU time of the server's processes, in seconds.
    pub(crate) fn cpu_seconds(&self) -> anyhow::Result<f64> {
        proc::tree(self.child.pid())?.into_iter().map(proc::cpu_seconds).sum()
    }

    /// What the server's processes hold alone, and their share of what they hold together: bytes.
    pub(crate) fn pss_bytes(&self) -> anyhow::Result<u64> {
        proc::tree(self.child.pid())?.into_iter().map(proc::pss_bytes).sum()
    }
}

/// Waits for a listener.
pub(crate) async fn listens(child: &Child, addr: SocketAddr) -> anyhow::Result<()> {
    until("it listens", READY_MAX, async || {
        child.check()?;
        Ok(TcpStream::connect(addr).await.ok().map(drop))
    })
    .await
}
