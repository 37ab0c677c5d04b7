//! Pavilion's own roles under test: the socket edge behind a relay that the bench feeds, or behind the whole path from
//! the ingest's door.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use anyhow::Context;
use bytes::Bytes;
use scores::Sport;
use scores::catalog::{self, Match, Status};
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::audience::now;
use super::audience::speech::{Mark, Speech, Step};
use super::payload;
use super::publish::Publisher;
use super::rig::{Rig, Seat, Served, listens};
use crate::nursery::{Child, free_port};

/// As in JSON.
pub(crate) const NAME: &str = "pavilion";

/// The topic that everybody subscribes to: the first match of [`fill`].
const TOPIC: &str = "m0";
/// Sockets of one edge: the files of a process.
const SOCKETS_MAX: usize = 19_000;
/// Nobody is turned away: not admission is measured.
const UPGRADES: u32 = 1_000_000;

/// Starts a role of the binary that listens, on one core if that is named.
async fn start(
    rig: &Rig<'_>,
    name: &str,
    words: &str,
    listen: SocketAddr,
    core: Option<usize>,
) -> anyhow::Result<Child> {
    let mut args: Vec<String> = words.split(' ').map(str::to_owned).collect();
    args.extend(["--listen".to_owned(), listen.to_string()]);
    let child = match core {
        Some(core) => rig.nursery.role_on(core, name, &args)?,
        None => rig.nursery.role(name, &args)?,
    };
    listens(&child, listen).await.with_context(|| name.to_owned())?;
    Ok(child)
}

/// A port here that nobody has.
fn here() -> anyhow::Result<SocketAddr> {
    Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()?)))
}

/// How a socket edge is started.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    /// Where it listens; with others, if they all do (`SO_REUSEPORT`).
    pub(crate) listen: SocketAddr,
    /// Where it takes messages from.
    pub(crate) relay: SocketAddr,
    /// The catalog.
    pub(crate) store: PathBuf,
    /// Its window, in milliseconds; none: its default.
    pub(crate) coalesce_ms: Option<u64>,
}

impl Edge {
    /// One that everybody may see everything of: nobody is asked for a token, as the peers ask nobody.
    pub(crate) async fn open(rig: &Rig<'_>, listen: SocketAddr, relay: SocketAddr) -> anyhow::Result<Edge> {
        let store = rig.dir().join("pavilion.db");
        fill(&store, 1).await.context("the catalog")?;
        Ok(Edge { listen, relay, store, coalesce_ms: None })
    }

    /// Starts it, on one core if that is named.
    pub(crate) async fn start(
        &self,
        rig: &Rig<'_>,
        name: &str,
        core: Option<usize>,
    ) -> anyhow::Result<Child> {
        let mut words = format!(
            "fanout --shard {} --store {} --sockets-max {SOCKETS_MAX} --upgrades-per-s {UPGRADES} --upgrade-burst {UPGRADES}",
            self.relay,
            self.store.display(),
        );
        if let Some(ms) = self.coalesce_ms {
            words += &format!(" --coalesce-ms {ms}");
        }
        start(rig, name, &words, self.listen, core).await
    }
}

/// The whole path: ingest, shard and socket edge, over a store of their own.
pub(crate) struct Path {
    /// Where feeds are taken.
    pub(crate) ingest: SocketAddr,
    /// Where viewers come.
    pub(crate) edge: SocketAddr,
    _roles: [Child; 3],
}

impl Path {
    /// Starts all three; `store` has a catalog in it.
    pub(crate) async fn start(
        rig: &Rig<'_>,
        store: &std::path::Path,
        feeds: &[String],
        coalesce_ms: u64,
    ) -> anyhow::Result<Path> {
        let (ingest, relay, listen) = (here()?, here()?, here()?);
        let stores =
            format!("--store {} --spine {}", store.display(), store.with_extension("spine.db").display());
        let words = format!("ingest {stores} --feed {}", feeds.join(","));
        let first = start(rig, "ingest", &words, ingest, None).await?;
        let second = start(rig, "shard", &format!("shard {stores}"), relay, None).await?;
        let edge = Edge { listen, relay, store: store.to_owned(), coalesce_ms: Some(coalesce_ms) };
        let third = edge.start(rig, "fanout", None).await?;
        Ok(Path { ingest, edge: listen, _roles: [first, second, third] })
    }
}

/// Writes so many live matches, `m0` and on, into a store.
pub(crate) async fn fill(file: &std::path::Path, matches: usize) -> anyhow::Result<()> {
    let registers = store::Sqlite::open(file)?;
    for n in 0..matches {
        let entry = Match {
            id: format!("m{n}"),
            title: format!("Match {n}"),
            sport: Sport::Cricket,
            teams: ["Gulls".to_owned(), "Herons".to_owned()],
            status: Status::Live,
            countries: None,
            cadence_s: None,
            start_ms: (now() / 1_000) as i64,
        };
        catalog::put(&registers, &entry).await?;
    }
    Ok(())
}

/// A relay in this process, for socket edges to take from.
pub(crate) struct Relay {
    publisher: relay::Publisher,
    /// Of the last message.
    offset: u64,
    /// Where edges connect.
    pub(crate) addr: SocketAddr,
    _end: DropGuard,
}

impl Relay {
    /// Listens, with one topic of which nothing is known yet.
    pub(crate) async fn open() -> anyhow::Result<Relay> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let addr = listener.local_addr()?;
        let publisher = relay::Publisher::new(relay::Limits::default(), None);
        publisher.open(TOPIC, 1, relay::Replay::default(), [])?;
        let end = CancellationToken::new();
        let (serving, stop) = (publisher.clone(), end.clone());
        tokio::spawn(async move { serving.serve(listener, stop).await });
        Ok(Relay { publisher, offset: 0, addr, _end: end.drop_guard() })
    }

    /// A new event.
    pub(crate) async fn publish(&mut self, payload: &str) -> anyhow::Result<()> {
        self.offset += 1;
        let bytes = Bytes::copy_from_slice(payload.as_bytes());
        let message = relay::Message {
            offset: self.offset,
            event: self.offset,
            revision: 1,
            ingest_us: i64::try_from(now())?,
            json: bytes.clone(),
            proto: bytes,
        };
        self.publisher.publish(TOPIC, message).context("the relay")
    }
}

/// How its subscribers speak. `mark`: where a message says when it was published, in units of so many microseconds.
pub(crate) fn speech(mark: &str, unit_us: u64) -> Speech {
    Speech {
        path: "/v1/stream".to_owned(),
        protocol: Some("pavilion.scores.json.v1".to_owned()),
        bearer: None,
        greet: Vec::new(),
        subscribe: Some(Step::new(r#"{"op":"subscribe","match_id":"@channel@"}"#, r#""type":"live""#)),
        mark: Mark { text: mark.to_owned(), unit_us },
    }
}

/// One socket edge; it has a worker for each core that it may use.
pub(crate) async fn serve(rig: &Rig<'_>, seat: Seat) -> anyhow::Result<Served> {
    let relay = Relay::open().await?;
    let listen = here()?;
    let edge = Edge::open(rig, listen, relay.addr).await?;
    let child = edge.start(rig, NAME, (seat == Seat::OneCore).then_some(rig.cores.server)).await?;
    Ok(Served {
        seat,
        name: NAME,
        child,
        addr: listen,
        speech: speech(payload::MARK, 1),
        publisher: Some(Publisher::Pavilion(relay)),
    })
}
