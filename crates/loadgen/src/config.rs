//! An audience from the command line.

use std::time::Duration;

use serde::Serialize;

use crate::player::Options;
use crate::report::Report;
use crate::{Error, http, watch};

/// How a viewer plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Parts, blocking reloads and delta updates, PART-HOLD-BACK behind the end.
    LowLatency,
    /// Segments and reloads by the clock, HOLD-BACK behind the end.
    Ordinary,
}

/// A simulated audience.
#[derive(Clone, Debug, clap::Args)]
pub struct Config {
    /// Address of a multivariant playlist, such as http://127.0.0.1:8081/dev/final/r/main/hls/master.m3u8
    pub url: String,
    /// How many viewers
    #[arg(long, default_value_t = 1)]
    pub clients: usize,
    /// How long they watch; until Ctrl-C without it
    #[arg(long)]
    pub seconds: Option<u64>,
    /// How they play
    #[arg(long, value_enum, default_value = "low-latency")]
    pub mode: Mode,
    /// Height of the picture to choose
    #[arg(long)]
    pub height: Option<u64>,
    /// Language of the sound to choose
    #[arg(long)]
    pub language: Option<String>,
}

/// What an audience has seen.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Viewers.
    pub clients: usize,
    /// How they played.
    pub mode: Mode,
    /// Viewers who saw a picture.
    pub started: usize,
    /// Viewers who saw it stall.
    pub stalled: usize,
    /// Stalls of all.
    pub stalls: usize,
    /// The longest stall.
    pub stall_ms_max: i64,
    /// Requests of all.
    pub requests: u64,
    /// Those that failed.
    pub errors: u64,
    /// Bytes received by all.
    pub bytes: u64,
    /// Faults of all.
    pub faults: u64,
    /// Each viewer's account.
    pub reports: Vec<Report>,
}

/// Over how long an audience arrives: everyone at one instant is what [`crate::swarm`] is for.
const ARRIVAL: Duration = Duration::from_secs(2);

/// Watches until `seconds` are over, the match has ended, or `shutdown` comes.
///
/// # Errors
/// [`Error::Url`] for an address that cannot be asked. What goes wrong later is in the reports.
pub async fn run(config: Config, shutdown: impl Future<Output = ()>) -> Result<Summary, Error> {
    http::check(&config.url)?;
    let options = Options {
        master: config.url,
        mode: config.mode,
        height: config.height,
        language: config.language,
        catch_up: true,
    };
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let mut viewers = tokio::task::JoinSet::new();
    for i in 0..config.clients {
        let (options, mut stopped) = (options.clone(), stopped.clone());
        let later = ARRIVAL.mul_f64(i as f64 / config.clients as f64);
        viewers.spawn(async move {
            let leave = async move {
                // An error is a dropped sender: also a reason to leave.
                let _ = stopped.wait_for(|&stop| stop).await;
            };
            tokio::pin!(leave);
            tokio::select! {
                () = tokio::time::sleep(later) => {}
                () = &mut leave => return Ok(Report::default()),
            }
            watch::watch(options, leave).await
        });
    }
    let over = async {
        match config.seconds {
            Some(seconds) => tokio::time::sleep(Duration::from_secs(seconds)).await,
            None => std::future::pending().await,
        }
    };
    tokio::pin!(over, shutdown);
    let mut reports = Vec::with_capacity(config.clients);
    let mut leaving = false;
    loop {
        tokio::select! {
            () = &mut over, if !leaving => leaving = true,
            () = &mut shutdown, if !leaving => leaving = true,
            seen = viewers.join_next() => match seen {
                Some(Ok(report)) => reports.push(report?),
                // A viewer that panicked is a bug of ours: let it be seen.
                Some(Err(gone)) => std::panic::resume_unwind(gone.into_panic()),
                None => break,
            },
        }
        if leaving {
            stop.send_replace(true);
        }
    }
    Ok(summary(config.mode, reports))
}

fn summary(mode: Mode, reports: Vec<Report>) -> Summary {
    let stalls = || reports.iter().flat_map(|r| &r.stalls);
    Summary {
        clients: reports.len(),
        mode,
        started: reports.iter().filter(|r| r.startup_ms.is_some()).count(),
        stalled: reports.iter().filter(|r| !r.stalls.is_empty()).count(),
        stalls: stalls().count(),
        stall_ms_max: stalls().map(|s| s.length_ms).max().unwrap_or(0),
        requests: reports.iter().map(|r| r.requests).sum(),
        errors: reports.iter().map(|r| r.errors).sum(),
        bytes: reports.iter().map(|r| r.bytes).sum(),
        faults: reports.iter().map(|r| r.fault_count).sum(),
        reports,
    }
}
