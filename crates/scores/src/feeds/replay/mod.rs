//! A provider that plays a recording against an ingest, as fast as wanted and as badly as wanted.
//!
//! [`script`] makes what it says of a recording, [`Player`] decides what it sends when (pure; the simulation of ingest's
//! tests uses the same), and [`run`] connects it: over WebSocket for format "push", over HTTP for "wire".

mod config;
mod faults;
mod http;
mod player;
mod script;
mod socket;

use std::time::Duration;

use tokio_util::sync::CancellationToken;

pub use self::config::{Config, KEY_ENV, Match, Outage};
pub use self::faults::Faults;
pub use self::player::Player;
pub use self::script::{Corrections, script};
use crate::Error;
use crate::ingest::Format;

/// The first wait before connecting again, and the longest. Between them, decorrelated jitter: ingest may have ended with
/// all its feeds connected.
const RECONNECT: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// How often a player looks for what is due.
const STEP: Duration = Duration::from_millis(20);

/// Plays until everything is acknowledged, or `shutdown`.
///
/// # Errors
/// The recording cannot be read, or the settings cannot be.
pub async fn run(mut config: Config, shutdown: CancellationToken) -> Result<(), Error> {
    // Outages count from it too.
    config.start_ms.get_or_insert_with(now_ms);
    let mut player = config.player()?;
    let mut wait = RECONNECT.0;
    loop {
        let ended = match config.format {
            Format::Push => socket::play(&config, &mut player, &shutdown).await,
            Format::Wire => http::play(&config, &mut player, &shutdown).await,
        };
        player.disconnected();
        match ended {
            Ended::Done => return Ok(()),
            Ended::Lost { after } => {
                // A connection that held is not like one that was refused.
                if after > RECONNECT.1 {
                    wait = RECONNECT.0;
                }
            }
        }
        wait = wait.mul_f64(1.0 + 2.0 * fastrand::f64()).min(RECONNECT.1);
        tokio::select! {
            () = shutdown.cancelled() => return Ok(()),
            () = tokio::time::sleep(wait.mul_f64(fastrand::f64())) => {}
        }
    }
}

/// Why a connection is over.
enum Ended {
    /// Everything is acknowledged, or we are to end.
    Done,
    /// It was lost, after so long.
    Lost { after: Duration },
}

fn now_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
