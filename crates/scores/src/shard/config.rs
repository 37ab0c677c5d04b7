//! What a shard is told, beside its listener and its stores.

use std::time::Duration;

use relay::Limits;
use serde::{Deserialize, Serialize};
use store::Bounds;

use super::limits::{REPLAY_MB, WINDOW_BYTES, WINDOW_MESSAGES};
use crate::{Error, Sport};

/// Some 50,000 messages.
const REPLAY_MB_USUAL: usize = 64;
/// Events a second that the reference reckons with for one match, at its busiest.
const RATE: f64 = 1.5;
/// Over that.
const HEADROOM: f64 = 2.0;

/// Configuration of one shard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, clap::Args)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Memory for one match's replay, in MB; what is older is read from the log again
    #[arg(long, value_name = "MB", default_value_t = REPLAY_MB_USUAL)]
    pub replay_mb: usize,
}

impl Default for Config {
    fn default() -> Self {
        Config { replay_mb: REPLAY_MB_USUAL }
    }
}

impl Config {
    /// Whether it can work; [`super::serve`] asks first.
    ///
    /// # Errors
    /// What is wrong, with what to write instead.
    pub fn check(&self) -> Result<(), Error> {
        if REPLAY_MB.contains(&self.replay_mb) {
            return Ok(());
        }
        let (least, most) = (REPLAY_MB.start(), REPLAY_MB.end());
        Err(Error::Config(format!("replay_mb = {}: use {least} to {most}", self.replay_mb)))
    }

    /// How much of a match is kept for those who come back: for as long as such a match may last, at the reference's rate
    /// twice over (its section on the replay buffer), within the memory that is allowed.
    pub(super) fn replay(&self, sport: Sport) -> Bounds {
        let ttl = lasts(sport);
        Bounds {
            entries_max: (ttl.as_secs_f64() * RATE * HEADROOM) as usize,
            bytes_max: self.replay_mb.saturating_mul(1_000_000),
            ttl,
        }
    }

    /// How much of it stands in the relay.
    pub(super) fn window(&self, sport: Sport) -> relay::Replay {
        relay::Replay { messages_max: WINDOW_MESSAGES, bytes_max: WINDOW_BYTES, ttl: lasts(sport) }
    }

    pub(super) fn relay(&self) -> Limits {
        Limits::default()
    }
}

fn lasts(sport: Sport) -> Duration {
    match sport {
        Sport::Football => Duration::from_secs(7_200),
        // A Test; the catalog does not know formats, and shorter ones are bounded by what happens in them.
        Sport::Cricket => Duration::from_secs(5 * 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replay_is_as_long_as_its_sport() {
        let config = Config::default();
        assert_eq!(config.replay(Sport::Football).entries_max, 21_600, "the reference has about 20 K");
        assert_eq!(config.replay(Sport::Cricket).entries_max, 1_296_000, "the reference has about 1.4 M");
        assert!(config.check().is_ok());
        let error = Config { replay_mb: 0 }.check().unwrap_err();
        assert_eq!(error.to_string(), "replay_mb = 0: use 1 to 1024");
    }
}
