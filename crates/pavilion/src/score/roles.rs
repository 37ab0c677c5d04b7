//! The roles of the score plane, each as a process of its own: what connects the rooms that must not know each other.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use relay::{Limits, Subscriber};
use scores::{feeds, ingest, shard, snapshot};
use store::{Log, MemoryReplay, Place, Registers, SqliteLog};
use tokio_util::sync::CancellationToken;

use super::watching;
use crate::cli::WithAdmin;
use crate::{admin, child, roles};

/// Where the embedded stores of the score plane are.
#[derive(Clone, Debug, Args)]
pub(crate) struct Stores {
    /// Where the catalog and the codes of scorers are: a file for SQLite, or postgres://user@host/database.
    #[arg(long, value_name = "FILE|URL", default_value = "var/pavilion.db")]
    store: Place,
    /// File of the embedded spine: every event of every match.
    #[arg(long, default_value = "var/spine.db")]
    spine: PathBuf,
}

impl Stores {
    pub(crate) fn registers(&self) -> anyhow::Result<Arc<dyn Registers>> {
        Ok(self.store.registers()?)
    }

    fn log(&self) -> anyhow::Result<Arc<dyn Log>> {
        roles::make_folder(&self.spine)?;
        Ok(Arc::new(SqliteLog::open(&self.spine)?))
    }
}

/// Settings of `pavilion ingest`.
#[derive(Clone, Debug, Args)]
pub(crate) struct IngestConfig {
    /// Where to listen: providers and scorers' pages send here.
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8087")]
    listen: SocketAddr,
    /// Serve /livez, /readyz, /metrics and the console's questions here.
    #[arg(long, value_name = "ADDR:PORT")]
    admin: Option<SocketAddr>,
    #[command(flatten)]
    stores: Stores,
    #[command(flatten)]
    ingest: ingest::Config,
}

pub(crate) async fn ingest(c: IngestConfig, shutdown: CancellationToken) -> anyhow::Result<()> {
    c.ingest.check()?;
    let listener = roles::listen_shared(c.listen)?;
    let ingest = ingest::Ingest::new(c.stores.log()?, c.stores.registers()?);
    if let Some(at) = c.admin {
        admin::record()?.serve(roles::listen_shared(at)?, ingest.admin(), shutdown.clone());
    }
    Ok(ingest.serve(c.ingest, listener, shutdown).await?)
}

/// Settings of `pavilion shard`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ShardConfig {
    /// Where to listen: socket edges and snapshots connect here.
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8088")]
    listen: SocketAddr,
    /// Serve /livez, /readyz and /metrics here.
    #[arg(long, value_name = "ADDR:PORT")]
    admin: Option<SocketAddr>,
    #[command(flatten)]
    stores: Stores,
    #[command(flatten)]
    shard: shard::Config,
}

pub(crate) async fn shard(c: ShardConfig, shutdown: CancellationToken) -> anyhow::Result<()> {
    c.shard.check()?;
    let listener = roles::listen_shared(c.listen)?;
    roles::health(c.admin, &shutdown).await?;
    let (log, replay) = (c.stores.log()?, Arc::new(MemoryReplay::default()));
    Ok(shard::serve(c.shard, listener, log, replay, c.stores.registers()?, shutdown).await?)
}

/// Settings of `pavilion feed`.
pub(crate) type FeedConfig = feeds::replay::Config;

pub(crate) async fn feed(c: WithAdmin<FeedConfig>, shutdown: CancellationToken) -> anyhow::Result<()> {
    roles::health(c.admin, &shutdown).await?;
    feeds::replay::run(c.role, shutdown.clone()).await?;
    // An all-in-one would start it again, to say all of it again.
    if child::is_supervised() {
        shutdown.cancelled().await;
    }
    Ok(())
}

/// Settings of `pavilion snapshot`.
#[derive(Clone, Debug, Args)]
pub(crate) struct SnapshotConfig {
    /// Where to listen: the caches of socket edges ask here.
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8089")]
    listen: SocketAddr,
    /// Serve /livez, /readyz and /metrics here.
    #[arg(long, value_name = "ADDR:PORT")]
    admin: Option<SocketAddr>,
    /// Shards, as host:port; repeat for those that may take over.
    #[arg(long = "shard", value_name = "HOST:PORT", value_parser = roles::host_port, value_delimiter = ',', default_value = "127.0.0.1:8088")]
    shards: Vec<String>,
    /// Where the catalog is: a file for SQLite, or postgres://user@host/database.
    #[arg(long, value_name = "FILE|URL", default_value = "var/pavilion.db")]
    store: Place,
    #[command(flatten)]
    snapshot: snapshot::Config,
}

pub(crate) async fn snapshot(c: SnapshotConfig, shutdown: CancellationToken) -> anyhow::Result<()> {
    c.snapshot.check()?;
    let listener = roles::listen_shared(c.listen)?;
    roles::health(c.admin, &shutdown).await?;
    let registers = c.store.registers()?;
    let subscriber = Subscriber::connect(c.shards, &c.listen.to_string(), Limits::default());
    let watching = watching::sum(registers.clone(), shutdown.clone());
    Ok(snapshot::serve(c.snapshot, listener, subscriber, registers, watching, shutdown).await?)
}
