//! The benchmarks: each runs the real binary, prints a figure beside its goal, and can write them as JSON.

mod air;
mod arrival;
mod cores;
mod edge;
mod figure;
mod http;
mod installed;
mod machine;
mod nursery;
mod proc;
mod scores;
mod stats;
mod taken;
mod video;
mod wire;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Parser, Subcommand};
use tokio::signal::unix::{SignalKind, signal};

use nursery::Nursery;

/// Measures Pavilion on this machine. Nothing else should be running: the figures are of latency and of cores.
#[derive(Parser)]
#[command(name = "bench", subcommand_required = true, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    bench: Bench,
    /// The program that is measured: a release build.
    #[arg(long, global = true, value_name = "FILE", default_value = "target/release/pavilion")]
    pavilion: PathBuf,
    /// The repository's root: its scripts drive the browser.
    #[arg(long, global = true, value_name = "DIR", default_value = ".")]
    root: PathBuf,
    /// Write the figures here, as JSON.
    #[arg(long, global = true, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Bench {
    /// A match on air: latency from the ground to the screen, Pavilion's own share of the machine, collapsing.
    Video(video::Config),
    /// The edge beside nginx, Varnish, Traffic Server and HAProxy: cost of a hit, crowds, faults, memory.
    Edge(edge::Config),
    /// The socket edge beside Centrifugo, nchan, NATS and uWebSockets: cost of a delivery, memory, latency, sockets.
    Scores(scores::Config),
    /// The door: passes, plays, logins, spikes, the storm of the postmortem, overload.
    Arrival(arrival::Config),
    /// The responder that does the least, for `edge`; ends with its standard input.
    #[command(hide = true)]
    Bare {
        #[arg(long)]
        listen: SocketAddr,
    },
    /// The server of sockets that does the least, for `scores`; ends with its standard input.
    #[command(hide = true)]
    ScoreBare {
        /// For subscribers.
        #[arg(long)]
        listen: SocketAddr,
        /// For the publisher.
        #[arg(long)]
        publish: SocketAddr,
    },
    /// Subscribers, for `scores`.
    #[command(hide = true)]
    ScoreAudience(scores::audience::Config),
    /// Viewers before a door, for `arrival`.
    #[command(hide = true)]
    ArrivalLoad {
        /// What they do, as JSON.
        order: PathBuf,
    },
    /// The door that checks each play at the central store, for `arrival`; ends with its standard input.
    #[command(hide = true)]
    ArrivalNaive {
        #[arg(long)]
        listen: SocketAddr,
        /// Connections to the store.
        #[arg(long)]
        pool: usize,
    },
}

#[tokio::main]
async fn main() -> ExitCode {
    match bench(Cli::parse()).await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn bench(cli: Cli) -> anyhow::Result<ExitCode> {
    // What the benches start of us.
    let part = match cli.bench {
        Bench::Bare { listen } => Some(edge::bare::run(listen)),
        Bench::ScoreBare { listen, publish } => Some(scores::bare::run(listen, publish)),
        Bench::ScoreAudience(ref config) => Some(scores::audience::run(config.clone())),
        Bench::ArrivalLoad { ref order } => Some(arrival::load::run(order)),
        Bench::ArrivalNaive { listen, pool } => Some(arrival::naive::run(listen, pool).await),
        _ => None,
    };
    if let Some(ended) = part {
        return ended.map(|()| ExitCode::SUCCESS);
    }
    let pavilion = std::path::absolute(&cli.pavilion)?;
    anyhow::ensure!(pavilion.is_file(), "there is no {}; ./bench builds it", pavilion.display());
    let nursery = Nursery::new(pavilion)?;
    let mut figures = Vec::new();
    let root = std::path::absolute(&cli.root)?;
    let outcome = tokio::select! {
        whole = async {
            match &cli.bench {
                Bench::Video(config) => video::run(config, &root, &nursery, &mut figures).await,
                Bench::Edge(config) => edge::run(config, &root, &nursery, &mut figures).await,
                Bench::Scores(config) => scores::run(config, &root, &nursery, &mut figures).await,
                Bench::Arrival(config) => arrival::run(config, &root, &nursery, &mut figures).await,
                _ => true,
            }
        } => Some(whole),
        () = interrupted() => None,
    };
    // Whatever was dropped on the way is ending; nothing of it may outlive us.
    nursery.empty().await;
    if let Some(file) = &cli.json {
        let text = serde_json::to_string_pretty(&figures)?;
        std::fs::write(file, text + "\n").with_context(|| format!("writing {}", file.display()))?;
    }
    Ok(match outcome {
        Some(true) => ExitCode::SUCCESS,
        Some(false) => {
            println!("\nWhat could not be measured left its logs in {}", nursery.keep_logs().display());
            ExitCode::FAILURE
        }
        None => ExitCode::from(130),
    })
}

/// Comes back with SIGINT or SIGTERM.
async fn interrupted() {
    let (Ok(mut int), Ok(mut term)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = int.recv() => {}
        _ = term.recv() => {}
    }
}
