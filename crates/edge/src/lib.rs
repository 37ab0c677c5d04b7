//! The collapsing cache between an origin and its audience: one upstream fetch for an object, however many
//! ask, and bytes passed on as they arrive. An edge (with a pass) and a shield (without) are this one program.
//!
//! The room never looks inside a body and never parses a playlist: what it knows about names stands in the
//! table of [`rules`].
//!
//! The way of a request, in the order in which it is spent on: [`server`] (connections) → [`handle`] (the
//! whole pipeline in one function) → [`target`] (path to pass and key) → [`admission`] (the
//! pass) → [`store`] (what is held) →
//! [`fill`] (the one fetch) → [`object`] (who reads behind it) → [`respond`] (conditional and Range).
//!
//! Invariants:
//!
//! * The upstream request is made from the cache key alone. Nothing else that a client sends goes upstream, so
//!   nothing outside the key can poison it.
//! * A fill belongs to its object, not to a client: it goes on to its end when the first asker leaves.
//! * A cut fill is an error to each of its readers, never a clean end.
//! * Nobody polls: readers are woken by the arrival.

mod admission;
mod body;
mod cache_control;
mod changed;
mod config;
mod cors;
mod disk;
mod failure;
mod fetch;
mod fields;
mod fill;
pub mod fuzz;
mod handle;
mod head;
mod lifetime;
mod limits;
mod live;
mod log;
mod meters;
mod object;
mod problem;
mod purge;
mod range;
mod recall;
mod respond;
mod rules;
mod server;
mod shed;
pub mod sim;
mod slot;
mod store;
mod target;
mod tier;
mod upstream;
mod vary;

use std::path::PathBuf;
use std::sync::Arc;

use listen::tls::Certificate;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

pub use admission::{Prefix, Revoke, Whereabouts};
pub use body::Body;
pub use config::{Config, Pass, PassIn, Rules, Share, Spread, Upstream};
pub use failure::Failure;
pub use fetch::{Answer, Arriving, Ask, Fetch};
pub use handle::{Edge, Upload};
pub use lifetime::LIFETIME_HEADER;
pub use limits::{HOLD_MAX, MEMORY_MB_MIN};
pub use meters::Outcome;
pub use pass::Place;
pub use purge::{Purge, What};

/// Runs an edge or a shield on a bound listener until `shutdown` is cancelled; then it stops accepting, lets the
/// requests under way end for at most [`limits::DRAIN_MAX`], and returns.
///
/// # Errors
///
/// Only before the first connection is accepted: a configuration that cannot work. Faults of clients and
/// upstreams are answered to those who ask, and never end this function.
pub async fn serve(config: Config, listener: TcpListener, shutdown: CancellationToken) -> Result<(), Error> {
    Server::open(&config, listener).await?.run(shutdown, CancellationToken::new()).await;
    Ok(())
}

impl Edge {
    /// A cache in front of what a configuration names, for an owner that has connections of its own.
    ///
    /// # Errors
    ///
    /// What cannot work.
    pub async fn open(config: &Config) -> Result<Arc<Edge>, Error> {
        config.check()?;
        let (disk, purges) = match &config.disk {
            Some(folder) => {
                (Some(tier::Tier::open(folder, config.disk_mb).await?), purge::Purges::of(folder))
            }
            None => Default::default(),
        };
        let door = admission::Door::new(config)?;
        Ok(Edge::with_all(config, Arc::new(upstream::Upstreams::new(config)?), disk, purges, door))
    }
}

/// A server that has all it needs, and waits only to be run.
pub struct Server {
    listener: TcpListener,
    shared: Arc<server::Shared>,
    quic: Option<quinn::ServerConfig>,
    certificate: Option<Arc<Certificate>>,
}

impl Server {
    /// Opens what a configuration names.
    ///
    /// # Errors
    ///
    /// What cannot work.
    pub async fn open(config: &Config, listener: TcpListener) -> Result<Server, Error> {
        config.check()?;
        let certificate = match (&config.tls_cert, &config.tls_key) {
            (Some(cert), Some(key)) => Some(Certificate::read(cert, key)?),
            _ => None,
        };
        let acceptor = match &certificate {
            Some(certificate) => Some(TlsAcceptor::from(Arc::new(certificate.config(server::ALPN)?))),
            None => None,
        };
        let quic = match &certificate {
            Some(certificate) if config.http3 => {
                Some(server::h3::config(certificate.config(server::h3::ALPN)?)?)
            }
            _ => None,
        };
        let edge = Edge::open(config).await?;
        let shared = Arc::new(server::Shared::new(edge, log::Log::new(config), acceptor));
        Ok(Server { listener, shared, quic, certificate })
    }

    /// What answers.
    pub fn edge(&self) -> Arc<Edge> {
        self.shared.edge.clone()
    }

    /// Serves until `shutdown`, as [`serve`] does, or until `leave`: then another process has the listener too. New
    /// connections are its business; those that are open may ask once more and are told that this was the last
    /// time, so that none of them is closed under a request.
    pub async fn run(self, shutdown: CancellationToken, leave: CancellationToken) {
        let Server { listener, shared, quic, certificate } = self;
        let watched = async {
            match &certificate {
                Some(certificate) => certificate.watch().await,
                None => std::future::pending().await,
            }
        };
        let keys = shared.edge.clone();
        // The folder is for the process that comes after.
        let edge = shared.edge.clone();
        let (stopped, left) = (shutdown.clone(), leave.clone());
        let closed = async {
            tokio::select! {
                () = stopped.cancelled() => {}
                () = left.cancelled() => {}
            }
            edge.store.close().await;
        };
        tokio::select! {
            _ = async { tokio::join!(server::run(shared, listener, quic, shutdown, leave), closed) } => {}
            () = watched => {}
            () = keys.watch_pass_keys() => {}
        }
    }
}

/// What this room can refuse at its start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No upstream is named.
    #[error("there is no upstream to fetch from; give --upstream http://host:port")]
    NoUpstream,
    /// Not an upstream.
    #[error("'{0}' is not an upstream; write it like http://10.0.0.5:8085, without a path")]
    Upstream(String),
    /// Not a pass.
    #[error("the pass must be 1 to 512 of A-Z, a-z, 0-9, '-', '_', '~' and '.', and not begin with a '.'")]
    Pass,
    /// A file of keys that cannot be used.
    #[error("cannot use {path} for passes: {reason}")]
    PassKeys {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Passes that would be part of keys, or of requests to the upstream.
    #[error(
        "passes in fields need --rules live, and no --query that keeps them; write them into the path (--pass-in path)"
    )]
    PassIn,
    /// More networks than are told apart.
    #[error("a session may be seen from 1 to {} networks", admission::NETWORKS_LIMIT_MAX)]
    PassNetworks,
    /// No more sessions can be revoked at one time.
    #[error("{0} sessions are revoked already; wait until some of them would have ended")]
    Revoked(usize),
    /// Not a network.
    #[error("'{0}' is not a network; write it like 10.0.0.0/8 or 2001:db8::/32")]
    Front(String),
    /// Too small a memory bound.
    #[error("{0} MB of memory are too few for live segments; give --memory-mb {MEMORY_MB_MIN} or more")]
    Memory(u64),
    /// HTTP/3 without a certificate.
    #[error("HTTP/3 needs a certificate; give --tls-cert and --tls-key, or leave out --http3")]
    Http3,
    /// The cryptography of TLS has not what QUIC needs.
    #[error("HTTP/3 cannot be spoken: {0}")]
    Quic(#[from] quinn::crypto::rustls::NoInitialCipherSuite),
    /// Not a path.
    #[error("'{0}' is not a path to ask an upstream for; write it like /livez")]
    Health(String),
    /// Not a parameter's name.
    #[error(
        "'{0}' is not the name of a query parameter; use letters, digits, '-', '.', '_' and '~', or * for all"
    )]
    Query(String),
    /// Not a share.
    #[error("{0} is not a share of requests; give 0 (none) to 1 (all)")]
    Share(f64),
    /// Another process keeps objects there.
    #[error("another edge keeps its objects in {0}; give each a folder of its own")]
    DiskBusy(PathBuf),
    /// The disk tier cannot be opened.
    #[error("cannot keep objects in {path}: {reason}")]
    Disk {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Only one of certificate and key is given.
    #[error("TLS needs both --tls-cert and --tls-key")]
    TlsPair,
    /// A certificate or key that cannot be used.
    #[error(transparent)]
    Tls(#[from] listen::tls::Error),
}
