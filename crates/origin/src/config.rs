//! What an origin is told, beside its listener.

use serde::{Deserialize, Serialize};
use timeline::{CLOCK_HZ, Ticks};

use crate::Error;
use crate::core::Window;

/// An hour: what viewers go back in a match's first half.
const WINDOW_S: u64 = 3_600;
/// An hour of a bitrate ladder of 4.5 Mbit/s and its languages.
const WINDOW_MB: u64 = 2_147;
/// One match with its angles, and the one before it that nobody has cleared away.
const PROGRAMMES_MAX: usize = 4;
/// Below this a player that holds back three target durations has nothing to hold on to.
const WINDOW_S_MIN: u64 = 30;
/// Half a minute of a bitrate ladder.
const WINDOW_MB_MIN: u64 = 32;

/// Configuration of one origin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, clap::Args)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// How far viewers can go back, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = WINDOW_S)]
    pub window_s: u64,
    /// Memory for one programme's media, in MB; when it is full the window becomes shorter
    #[arg(long, value_name = "MB", default_value_t = WINDOW_MB)]
    pub window_mb: u64,
    /// How many programmes are carried at once; one that has ended makes room for a new one
    #[arg(long, value_name = "N", default_value_t = PROGRAMMES_MAX)]
    pub programmes_max: usize,
}

impl Default for Config {
    fn default() -> Self {
        Config { window_s: WINDOW_S, window_mb: WINDOW_MB, programmes_max: PROGRAMMES_MAX }
    }
}

impl Config {
    /// Whether it can work; [`crate::serve`] asks first.
    ///
    /// # Errors
    /// The first thing that is wrong, with what to write instead.
    pub fn check(&self) -> Result<(), Error> {
        if self.window_s < WINDOW_S_MIN || self.window_s > 86_400 {
            return Err(Error::Config(format!(
                "window_s = {}: use {WINDOW_S_MIN} to 86400 seconds",
                self.window_s
            )));
        }
        if self.window_mb < WINDOW_MB_MIN {
            return Err(Error::Config(format!(
                "window_mb = {}: use {WINDOW_MB_MIN} or more",
                self.window_mb
            )));
        }
        if self.programmes_max == 0 {
            return Err(Error::Config("programmes_max = 0: use 1 or more".to_owned()));
        }
        Ok(())
    }

    pub(crate) fn window(&self) -> Window {
        let length = Ticks((self.window_s as i64).saturating_mul(CLOCK_HZ));
        Window { length, bytes: self.window_mb.saturating_mul(1_000_000) }
    }
}
