//! What a snapshot role is told, beside its listener, its relay and its stores.

use serde::{Deserialize, Serialize};

use crate::Error;

/// An edge asks once a second for each of its regions.
const SNAPSHOTS_PER_S: u32 = 500;
/// Viewers who go back in time ask for moments of their own.
const CARDS_PER_S: u32 = 200;
/// Asked for as seldom as a page is opened, and shared.
const OTHERS_PER_S: u32 = 100;

/// Configuration of one snapshot role. Rates are for one match, and of answers that have to be made: what is in memory
/// is given to everybody. Twice as many may come at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, clap::Args)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Snapshots of one match a second that are made; above it 429
    #[arg(long, value_name = "N", default_value_t = SNAPSHOTS_PER_S)]
    pub snapshots_per_s: u32,
    /// Scorecards of one match a second that are folded for moments long past
    #[arg(long, value_name = "N", default_value_t = CARDS_PER_S)]
    pub cards_per_s: u32,
    /// Lists of key moments of one match a second that are made
    #[arg(long, value_name = "N", default_value_t = OTHERS_PER_S)]
    pub moments_per_s: u32,
    /// How often a second it is counted how many watch one match; above it the last count is given
    #[arg(long, value_name = "N", default_value_t = OTHERS_PER_S)]
    pub watching_per_s: u32,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            snapshots_per_s: SNAPSHOTS_PER_S,
            cards_per_s: CARDS_PER_S,
            moments_per_s: OTHERS_PER_S,
            watching_per_s: OTHERS_PER_S,
        }
    }
}

impl Config {
    /// Whether it can work; [`super::serve`] asks first.
    ///
    /// # Errors
    /// What is wrong, with what to write instead.
    pub fn check(&self) -> Result<(), Error> {
        for (name, rate) in [
            ("snapshots_per_s", self.snapshots_per_s),
            ("cards_per_s", self.cards_per_s),
            ("moments_per_s", self.moments_per_s),
            ("watching_per_s", self.watching_per_s),
        ] {
            if rate == 0 {
                return Err(Error::Config(format!("{name} = 0: use 1 or more")));
            }
        }
        Ok(())
    }
}
