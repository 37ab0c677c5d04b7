//! Pavilion's roles of the score, as the bench needs them: assembled from their rooms, and nothing beside them.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use hyper_util::service::TowerToHyperService;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// A role.
#[derive(Clone, Debug, clap::Subcommand)]
pub(crate) enum Role {
    /// The socket edge: everybody may see everything, and nobody is asked for a token; the peers ask nobody either.
    Fanout {
        #[arg(long)]
        listen: SocketAddr,
        #[arg(long)]
        relay: SocketAddr,
        #[command(flatten)]
        config: fanout::Config,
    },
    /// The shard of all matches.
    Shard {
        #[arg(long)]
        listen: SocketAddr,
        #[arg(long)]
        store: PathBuf,
        #[command(flatten)]
        config: scores::shard::Config,
    },
    /// The door for feeds.
    Ingest {
        #[arg(long)]
        listen: SocketAddr,
        #[arg(long)]
        store: PathBuf,
        #[command(flatten)]
        config: scores::ingest::Config,
    },
}

/// Runs until standard input ends.
pub(crate) async fn run(role: Role) -> anyhow::Result<()> {
    let shutdown = CancellationToken::new();
    let ended = shutdown.clone();
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        ended.cancel();
    });
    match role {
        Role::Fanout { listen, relay, config } => edge(listen, relay, config, shutdown).await,
        Role::Shard { listen, store, config } => {
            let listener = tokio::net::TcpListener::bind(listen).await?;
            let (log, registers) = stores(&store)?;
            Ok(scores::shard::serve(config, listener, log, registers, shutdown).await?)
        }
        Role::Ingest { listen, store, config } => {
            let listener = tokio::net::TcpListener::bind(listen).await?;
            let (log, registers) = stores(&store)?;
            Ok(scores::ingest::serve(config, listener, log, registers, shutdown).await?)
        }
    }
}

/// The spine, in a file of its own, and the catalog.
fn stores(file: &Path) -> anyhow::Result<(Arc<store::SqliteLog>, Arc<store::Sqlite>)> {
    let log = store::SqliteLog::open(&file.with_extension("spine.db"))?;
    Ok((Arc::new(log), Arc::new(store::Sqlite::open(file)?)))
}

async fn edge(
    listen: SocketAddr,
    relay: SocketAddr,
    config: fanout::Config,
    shutdown: CancellationToken,
) -> anyhow::Result<()> {
    struct Open;
    impl fanout::Admit for Open {
        fn may(&self, _: &pass::Claims, _: &str, _: Option<&str>) -> Result<(), fanout::Refusal> {
            Ok(())
        }
    }
    struct Taker(relay::Subscriber);
    impl fanout::Source for Taker {
        fn subscribe(&self, topic: &str, after: Option<relay::Cursor>) -> mpsc::Receiver<relay::Update> {
            self.0.subscribe(topic, after)
        }
    }
    let listener = fanout::listen(listen)?;
    let limits = relay::Limits::default();
    let taker = relay::Subscriber::connect(vec![relay.to_string()], "bench", limits);
    let deps = fanout::Deps {
        source: Arc::new(Taker(taker)),
        admit: Arc::new(Open),
        keys: None,
        fallback: fanout::fallback(TowerToHyperService::new(Router::<()>::new())),
    };
    let server = fanout::Server::open(config, listener, deps).await?;
    server.run(shutdown, CancellationToken::new()).await;
    Ok(())
}
