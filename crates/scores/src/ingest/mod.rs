//! From what providers say to each event once: durable, in the spine, in the order in which it is to be told.
//!
//! [`Core`] decides, and is pure. The desk behind [`serve`] is one task round it: it takes what waits, makes it durable in
//! one append, and only then acknowledges. Its state is rebuilt from the spine and from the providers' replays.

mod admin;
mod canon;
pub(crate) mod clock;
mod config;
mod core;
mod delay;
mod desk;
mod history;
mod http;
mod keys;
mod letters;
pub mod limits;
mod meters;
mod sequence;
mod socket;
mod spine;
mod status;

use std::sync::Arc;

use axum::{Extension, Router};
use hyper_util::service::TowerToHyperService;
use store::{Log, Registers};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub use self::config::{Config, FEED_ENV, Feed, Format};
pub use self::core::{Core, Outcome};
pub use self::delay::Delay;
pub use self::letters::{DeadLetter, dead_letters, dead_letters_back};
pub use self::sequence::{Number, Sequence};
pub use self::status::{MatchStatus, ProviderStatus, Spoken, Status};
use crate::Error;
use crate::catalog::Catalog;
use crate::feeds::scorer;

/// The topic of dead letters. No match may have this name.
pub const DEAD_LETTERS: &str = "dead-letters";

/// Takes feeds at `listener` until `shutdown`, without an admin port.
///
/// # Errors
/// As [`Ingest::serve`].
pub async fn serve(
    config: Config,
    listener: TcpListener,
    log: Arc<dyn Log>,
    registers: Arc<dyn Registers>,
    shutdown: CancellationToken,
) -> Result<(), Error> {
    Ingest::new(log, registers).serve(config, listener, shutdown).await
}

/// Ingest before it begins: its admin port can be open by then.
pub struct Ingest {
    log: Arc<dyn Log>,
    registers: Arc<dyn Registers>,
    asks: mpsc::Sender<desk::Ask>,
    waiting: mpsc::Receiver<desk::Ask>,
}

impl Ingest {
    /// On these stores.
    pub fn new(log: Arc<dyn Log>, registers: Arc<dyn Registers>) -> Ingest {
        let (asks, waiting) = mpsc::channel(limits::QUEUE_MAX);
        Ingest { log, registers, asks, waiting }
    }

    /// What the console asks; for the admin port.
    pub fn admin(&self) -> Router {
        admin::router(self.log.clone(), self.registers.clone(), self.asks.clone())
    }

    /// Takes feeds at `listener` until `shutdown`. Fails only if it cannot begin.
    ///
    /// # Errors
    /// The settings cannot be, or the catalog could not be had.
    pub async fn serve(
        self,
        config: Config,
        listener: TcpListener,
        shutdown: CancellationToken,
    ) -> Result<(), Error> {
        run(self, config, listener, shutdown).await
    }
}

async fn run(
    Ingest { log, registers, asks, waiting }: Ingest,
    config: Config,
    listener: TcpListener,
    shutdown: CancellationToken,
) -> Result<(), Error> {
    config.check()?;
    let catalog = Catalog::follow(registers.clone(), shutdown.clone()).await?;
    let wire = config.feeds.iter().filter(|feed| feed.format == Format::Wire);
    let mut core = Core::new(wire.map(|feed| feed.id.clone()));
    let mut spine = spine::Spine::new(log, shutdown.clone());
    // What is live is known before the first word, so that it need not wait.
    let live = catalog.borrow().clone();
    let ids =
        live.matches().filter(|entry| entry.status == crate::catalog::Status::Live).map(|m| m.id.clone());
    if spine.recall(&mut core, &live, &ids.collect()).await.is_err() {
        return Ok(());
    }
    let feeds = config.feeds.iter().map(|feed| feed.id.clone());
    let desk = tokio::spawn(desk::Desk::new(core, spine, catalog, feeds).run(waiting, shutdown.clone()));
    let shared = Arc::new(http::Shared {
        keys: keys::Keys::new(&config.feeds),
        asks,
        registers,
        attempts: scorer::Attempts::default(),
        connections: Default::default(),
        shutdown: shutdown.clone(),
    });
    let bounds = listen::http::Limits {
        connections_max: limits::CONNECTIONS_MAX,
        streams_max: limits::STREAMS_MAX,
        header_time_max: limits::HEADER_TIME_MAX,
        header_bytes_max: limits::HEADER_BYTES_MAX,
        drain_max: limits::DRAIN_MAX,
    };
    let router = http::router(shared);
    let service = |peer: std::net::SocketAddr, place| {
        let peer = http::Peer { ip: peer.ip(), place };
        TowerToHyperService::new(router.clone().layer(Extension(peer)))
    };
    listen::http::serve(listener, bounds, shutdown.clone(), service).await;
    // It ends with the same token; a panic of it is the end of this role too.
    desk.await.map_err(|_| Error::Config("the desk of ingest has failed".into()))
}
