//! The score plane of the all-in-one: each role a child, so that any of them can be killed and come back.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context;
use scores::catalog::{self, Match, Status};
use scores::feeds::replay;
use scores::feeds::scorer;
use scores::{Recording, Sport, ingest, recording};
use socket2::{Domain, Protocol, Socket, Type};
use store::Registers;

use crate::all;
use crate::child::Child;

/// The match without a picture, for whoever wants to score one by hand.
pub(crate) const CLUB: &str = "club";
/// How long after the start the first ball is on its way: both pipelines are on air before it.
const FIRST_BALL: Duration = Duration::from_secs(15);

/// A port that is ours until this is dropped: bound, but not listened on, so that a child that shares it gets every
/// connection, also after it was killed and started again.
pub(crate) struct Reserved {
    pub(crate) port: u16,
    _socket: Socket,
}

impl Reserved {
    pub(crate) fn new(host: Ipv4Addr, port: u16) -> anyhow::Result<Reserved> {
        let at = SocketAddr::from((host, port));
        let bind = || -> std::io::Result<Reserved> {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
            socket.set_reuse_port(true)?;
            socket.set_reuse_address(true)?;
            socket.bind(&at.into())?;
            let port = socket.local_addr()?.as_socket().map_or(0, |at| at.port());
            Ok(Reserved { port, _socket: socket })
        };
        bind().with_context(|| format!("cannot have {at}; is another one running? give another port"))
    }
}

/// Where the roles are, and what they share.
pub(crate) struct Plane {
    fanout: Reserved,
    ingest: Reserved,
    shard: Reserved,
    snapshot: Reserved,
    /// Folder of the keys that sign viewers' tokens.
    keys: PathBuf,
    spine: PathBuf,
    /// When the generated match begins: UTC, milliseconds.
    pub(crate) starts_ms: i64,
    /// Keys of both providers.
    providers: [String; 2],
}

impl Plane {
    /// Reserves ports.
    pub(crate) fn new(port: u16, var: &Path, keys: &Path) -> anyhow::Result<Plane> {
        let at = |offset: u16| if port == 0 { 0 } else { port.saturating_add(offset) };
        let (public, own) = (Ipv4Addr::UNSPECIFIED, Ipv4Addr::LOCALHOST);
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
        let secret = || -> anyhow::Result<String> {
            let mut bytes = [0; 16];
            getrandom::fill(&mut bytes).context("asking the system for randomness")?;
            Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
        };
        Ok(Plane {
            fanout: Reserved::new(public, at(2))?,
            ingest: Reserved::new(public, at(7))?,
            shard: Reserved::new(own, at(8))?,
            snapshot: Reserved::new(own, 0)?,
            keys: keys.to_owned(),
            spine: var.join("spine.db"),
            starts_ms: (now + FIRST_BALL).as_millis() as i64,
            providers: [secret()?, secret()?],
        })
    }

    /// Writes both matches into the catalog, and makes a code for the scorer of the one without a picture.
    pub(crate) async fn fill(
        &self,
        registers: &dyn Registers,
        id: &str,
        title: &str,
        generated: bool,
    ) -> anyhow::Result<String> {
        let unknown = || ["Home", "Away"].map(str::to_owned);
        let teams = if generated { Recording::read(recording::DEMO)?.teams } else { unknown() };
        let entry = |id: &str, title: &str, teams: [String; 2]| Match {
            id: id.to_owned(),
            title: title.to_owned(),
            sport: Sport::Cricket,
            teams,
            status: Status::Live,
            countries: None,
            cadence_s: None,
            start_ms: self.starts_ms,
        };
        catalog::put(registers, &entry(id, title, teams)).await?;
        catalog::put(registers, &entry(CLUB, "Club match", unknown())).await?;
        Ok(scorer::issue(registers, CLUB, scorer::CODE_LIVES).await?)
    }

    /// What each role is started with. With a feed of the user's own nobody plays a match to it.
    pub(crate) fn children(&self, store: &Path, id: &str, generated: bool) -> Vec<Child> {
        let stores = |args: &mut Vec<String>| {
            args.extend(all::words(["--store", &store.display().to_string()]));
            args.extend(all::words(["--spine", &self.spine.display().to_string()]));
        };
        let (public, own) = (|port: u16| format!("0.0.0.0:{port}"), |port: u16| format!("127.0.0.1:{port}"));
        let shard = own(self.shard.port);
        let mut take = all::words(["ingest", "--listen", &public(self.ingest.port)]);
        stores(&mut take);
        let formats = ["push", "wire"];
        let feeds = formats.iter().zip(&self.providers);
        let feeds: Vec<_> = feeds.map(|(format, key)| format!("{format}:{format}:{key}")).collect();
        let feeds = vec![(ingest::FEED_ENV, feeds.join(","))];
        let mut publish = all::words(["shard", "--listen", &shard]);
        stores(&mut publish);
        let mut snapshot = all::words(["snapshot", "--listen", &own(self.snapshot.port), "--shard", &shard]);
        snapshot.extend(all::words(["--store", &store.display().to_string()]));
        let mut fanout = all::words(["fanout", "--listen", &public(self.fanout.port), "--shard", &shard]);
        let snapshots = format!("http://127.0.0.1:{}", self.snapshot.port);
        fanout.extend(all::words(["--snapshot", &snapshots, "--store", &store.display().to_string()]));
        let [pin, by] = ["pin.jws", "pin.json"].map(|file| self.keys.join(file).display().to_string());
        fanout.extend(all::words(["--keys", &pin, "--keys-pinned-by", &by]));
        let mut children = vec![
            Child { name: "ingest", args: take, secrets: feeds },
            Child::new("shard", publish),
            Child::new("snapshot", snapshot),
            Child::new("fanout", fanout),
        ];
        if generated {
            for (name, (format, key)) in
                ["feed-a", "feed-b"].into_iter().zip(formats.iter().zip(&self.providers))
            {
                let ingest = format!("http://127.0.0.1:{}", self.ingest.port);
                let mut feed =
                    all::words(["feed", "--ingest", &ingest, "--provider", format, "--format", format]);
                feed.extend(all::words(["--match", id]));
                feed.extend(all::words(["--start-ms", &self.starts_ms.to_string()]));
                let secrets = vec![(replay::KEY_ENV, key.clone())];
                children.push(Child { name, args: feed, secrets });
            }
        }
        children
    }

    /// For programs that look for the roles.
    pub(crate) fn ports(&self) -> serde_json::Value {
        serde_json::json!({
            "scores": format!("http://127.0.0.1:{}", self.fanout.port),
            "feeds": format!("http://127.0.0.1:{}", self.ingest.port),
            "scorer_match": CLUB,
            "starts_ms": self.starts_ms,
        })
    }

    /// The ports that viewers and scorers come to.
    pub(crate) fn public(&self) -> (u16, u16) {
        (self.fanout.port, self.ingest.port)
    }
}
