//! The command line: one subcommand a role.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

use crate::score::{roles as scores, socket_edge as fanout};
use crate::settings::Sources;
use crate::{all, child, roles, settings};

/// Puts a live match in front of millions: from the contribution feed to the screen.
///
/// Every role is a subcommand; `pavilion run` starts them all on this machine. Each flag can also stand in a
/// configuration file (table of the role's name, see `pavilion config`) or in the environment
/// (PAVILION_{ROLE}_{FLAG}); a flag beats the environment, which beats the file.
#[derive(Parser)]
#[command(name = "pavilion", version, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// Configuration file (TOML).
    #[arg(long, global = true, value_name = "FILE", env = "PAVILION_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Write logs as JSON, one object a line.
    #[arg(long, global = true, env = "PAVILION_LOG_JSON")]
    pub(crate) log_json: bool,
    /// What to log: error, warn, info, debug, or a filter such as origin=debug,info.
    #[arg(long, global = true, value_name = "FILTER", default_value = "info", env = "PAVILION_LOG")]
    pub(crate) log: String,
    #[command(subcommand)]
    pub(crate) role: Role,
}

#[derive(Subcommand)]
pub(crate) enum Role {
    /// Everything on this machine: a ground, two pipelines, origin, shield, edge, the score plane and the viewer's page.
    Run(all::Config),
    /// The ground: a generated contribution feed, or a relay of one, over two paths.
    Stadium(WithAdmin<stadium::Config>),
    /// One of two pipelines: receives the feed, encodes, packages, publishes.
    Pipeline(WithAdmin<pipeline::Config>),
    /// The origin: takes both pipelines' objects, serves LL-HLS.
    Origin(roles::OriginConfig),
    /// An edge, or a shield (the same program without a pass, pointed at an origin).
    Edge(roles::EdgeConfig),
    /// The viewer's page and its API.
    Arrival(Box<roles::ArrivalConfig>),
    /// Takes what providers and scorers say of a match; makes each event once, and durable.
    Ingest(scores::IngestConfig),
    /// Publishes each match's events to socket edges and snapshots.
    Shard(scores::ShardConfig),
    /// Snapshots, cards and key moments.
    Snapshot(scores::SnapshotConfig),
    /// A socket edge: scores over WebSocket, SSE and long-poll.
    Fanout(fanout::FanoutConfig),
    /// A provider that plays a recorded match to an ingest.
    Feed(WithAdmin<scores::FeedConfig>),
    /// The operators' page: roles, feeds, dead letters, scorers' codes.
    Console(roles::ConsoleConfig),
    /// A simulated audience.
    Loadgen(loadgen::Config),
    /// Tells the origins that the match is over: playlists get their end, pipelines stop.
    End(roles::EndConfig),
    /// Signs the set of keys for another day, with a pin's key that is kept away from the app.
    Pin(roles::PinConfig),
    /// Shows a role's settings as they are in force, and where each comes from.
    Config {
        /// The role, then its flags as you would give them.
        #[arg(
            required = true,
            trailing_var_arg = true,
            allow_hyphen_values = true,
            value_name = "ROLE [FLAGS]"
        )]
        words: Vec<String>,
    },
    /// Prints a completion script for a shell.
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
}

/// A role that listens to nobody still has its health and metrics.
#[derive(Clone, Debug, Args)]
pub(crate) struct WithAdmin<T: Args> {
    /// Serve /livez, /readyz and /metrics here.
    #[arg(long, value_name = "ADDR:PORT")]
    pub(crate) admin: Option<SocketAddr>,
    #[command(flatten)]
    pub(crate) role: T,
}

/// Runs what was asked for.
pub(crate) fn dispatch(matches: &ArgMatches, sources: &Sources) -> anyhow::Result<()> {
    let cli = match Cli::from_arg_matches(matches) {
        Ok(cli) => cli,
        Err(error) => error.exit(),
    };
    match &cli.role {
        Role::Config { words } => return settings::show(words, cli.config.as_deref()),
        Role::Completions { shell } => {
            clap_complete::generate(*shell, &mut Cli::command(), "pavilion", &mut io::stdout());
            return Ok(());
        }
        _ => {}
    }
    log(&cli)?;
    if let Some(file) = &sources.file {
        tracing::debug!(file = %file.display(), "settings read");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("starting")?;
    let result = runtime.block_on(async {
        let shutdown = CancellationToken::new();
        tokio::spawn(signals(shutdown.clone()));
        child::end_with_parent(shutdown.clone());
        match cli.role {
            Role::Run(config) => all::run(config, shutdown).await,
            Role::Stadium(c) => roles::stadium(c, shutdown).await,
            Role::Pipeline(c) => roles::pipeline(c, shutdown).await,
            Role::Origin(c) => roles::origin(c, shutdown).await,
            Role::Edge(c) => roles::edge(c, shutdown).await,
            Role::Arrival(c) => roles::arrival(*c, shutdown).await,
            Role::Ingest(c) => scores::ingest(c, shutdown).await,
            Role::Shard(c) => scores::shard(c, shutdown).await,
            Role::Snapshot(c) => scores::snapshot(c, shutdown).await,
            Role::Fanout(c) => fanout::fanout(c, shutdown).await,
            Role::Feed(c) => scores::feed(c, shutdown).await,
            Role::Console(c) => roles::console(c, shutdown).await,
            Role::Loadgen(c) => roles::loadgen(c, shutdown).await,
            Role::End(c) => roles::end(c).await,
            Role::Pin(c) => roles::pin(&c),
            Role::Config { .. } | Role::Completions { .. } => Ok(()),
        }
    });
    // A read of standard input cannot be interrupted, and nothing else is worth waiting for.
    runtime.shutdown_background();
    result
}

fn log(cli: &Cli) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(&cli.log).with_context(|| {
        format!("'{}' is not a log filter; write info, debug, or origin=debug,info", cli.log)
    })?;
    let json = if cli.log_json { "true" } else { "false" };
    let _ = child::LOG.set(vec![("PAVILION_LOG", cli.log.clone()), ("PAVILION_LOG_JSON", json.to_owned())]);
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    if cli.log_json {
        builder.json().flatten_event(true).init();
    } else {
        builder.with_ansi(io::IsTerminal::is_terminal(&io::stderr())).init();
    }
    Ok(())
}

/// The first SIGINT or SIGTERM ends gently; a second one at once.
async fn signals(shutdown: CancellationToken) {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut int), Ok(mut term)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return;
    };
    for _ in 0..2 {
        tokio::select! {
            _ = int.recv() => {}
            _ = term.recv() => {}
        }
        if shutdown.is_cancelled() {
            std::process::exit(130);
        }
        shutdown.cancel();
    }
}
