//! What the provider is told.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use http::Uri;
use serde::{Deserialize, Serialize};

use super::{Corrections, Faults, Player, now_ms, script};
use crate::ingest::Format;
use crate::{Error, Recording, recording};

/// The variable that gives the key, which a command line would show to everybody on the machine.
pub const KEY_ENV: &str = "PAVILION_FEED_KEY";

/// Settings of `pavilion feed`.
#[derive(Clone, PartialEq, clap::Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Where ingest takes feeds, as http://host:port
    #[arg(long, value_name = "URL")]
    pub ingest: String,
    /// The id of this feed
    #[arg(long, default_value = "a")]
    pub provider: String,
    /// Its key, at least 16 characters
    #[arg(long, env = KEY_ENV, hide_env_values = true)]
    pub key: String,
    /// What it sends: push (WebSocket) or wire (HTTP)
    #[arg(long, value_enum, default_value = "push")]
    pub format: Format,
    /// The match that it tells of
    #[arg(long, default_value = "demo")]
    pub r#match: String,
    /// What it plays: demo, football, a recording of ours, or a Cricsheet file
    #[arg(long, default_value = "demo")]
    pub recording: Match,
    /// How many times as fast as it was played
    #[arg(long, default_value_t = 1.0)]
    pub speed: f64,
    /// When the match begins: UTC in milliseconds. Without it: now
    #[arg(long)]
    pub start_ms: Option<i64>,
    /// Of how many statements nothing arrives, from 0 to 1
    #[arg(long, default_value_t = 0.0)]
    pub loss: f64,
    /// How many are sent twice, from 0 to 1
    #[arg(long, default_value_t = 0.0)]
    pub repeat: f64,
    /// Statements overtake each other within so many milliseconds
    #[arg(long, default_value_t = 0)]
    pub reorder_ms: i64,
    /// Every statement is late by so many milliseconds
    #[arg(long, default_value_t = 0)]
    pub delay_ms: i64,
    /// Of how many happenings the first word is wrong, from 0 to 1
    #[arg(long, default_value_t = 0.0)]
    pub corrections: f64,
    /// A wrong word is put right within so many milliseconds of the match
    #[arg(long, default_value_t = 20_000)]
    pub correct_within_ms: i64,
    /// Which happenings are told wrongly; two feeds with the same seed make the same mistakes
    #[arg(long, default_value_t = 1)]
    pub corrections_seed: u64,
    /// The feed is away, as FROM+FOR in seconds since the start (30+5); once for each outage
    #[arg(long = "outage", value_name = "FROM+FOR", value_delimiter = ',')]
    #[serde(default)]
    pub outages: Vec<Outage>,
    /// Which statements are lost, repeated and held back
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// What is played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Match {
    /// The shipped cricket match.
    Demo,
    /// The shipped football match.
    Football,
    /// A file, of our format or Cricsheet's.
    File(PathBuf),
}

/// A time without the feed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Outage {
    /// Since the start, seconds.
    pub from_s: f64,
    /// Seconds.
    pub for_s: f64,
}

impl Config {
    /// The provider that plays this.
    ///
    /// # Errors
    /// The recording cannot be read, or the settings cannot be.
    pub(super) fn player(&self) -> Result<Player, Error> {
        for (name, share) in
            [("--loss", self.loss), ("--repeat", self.repeat), ("--corrections", self.corrections)]
        {
            if !(0.0..1.0).contains(&share) {
                return Err(Error::Config(format!("{name} is from 0 to less than 1")));
            }
        }
        if !self.speed.is_finite() || self.speed <= 0.0 {
            return Err(Error::Config("--speed is more than 0".into()));
        }
        if self.delay_ms < 0 || self.reorder_ms < 0 || self.correct_within_ms < 0 {
            return Err(Error::Config("a time in milliseconds is not below 0".into()));
        }
        self.host()?;
        let recording = self.recording.read()?;
        let corrections = Corrections {
            rate: self.corrections,
            after_ms_max: self.correct_within_ms,
            seed: self.corrections_seed,
        };
        let said = script(&recording, &self.r#match, self.start_ms(), self.speed, corrections);
        let faults = Faults {
            loss: self.loss,
            repeat: self.repeat,
            reorder_ms: self.reorder_ms,
            delay_ms: self.delay_ms,
        };
        Ok(Player::new(recording.sport, said, faults, self.seed))
    }

    /// `host:port` of ingest.
    pub(super) fn host(&self) -> Result<String, Error> {
        let refuse = || Error::Config("--ingest is http://host:port".into());
        let uri: Uri = self.ingest.parse().map_err(|_| refuse())?;
        match (uri.scheme_str(), uri.authority()) {
            (Some("http"), Some(host)) => Ok(host.to_string()),
            _ => Err(refuse()),
        }
    }

    /// The feed is away now.
    pub(super) fn is_out(&self, now_ms: i64) -> bool {
        let at_s = now_ms.saturating_sub(self.start_ms()) as f64 / 1_000.0;
        self.outages.iter().any(|outage| (outage.from_s..outage.from_s + outage.for_s).contains(&at_s))
    }

    fn start_ms(&self) -> i64 {
        self.start_ms.unwrap_or_else(now_ms)
    }
}

impl Match {
    /// Reads it.
    ///
    /// # Errors
    /// There is no such file, or it is of neither format.
    pub fn read(&self) -> Result<Recording, Error> {
        match self {
            Match::Demo => Recording::read(recording::DEMO),
            Match::Football => Recording::read(recording::FOOTBALL),
            Match::File(path) => {
                let text = text_of(path)?;
                // What is wrong with it is said of the format that it is more likely to be.
                match Recording::read(&text) {
                    Ok(recording) => Ok(recording),
                    Err(error) if text.contains("pavilion-recording/") => Err(error),
                    Err(_) => Recording::from_cricsheet(&text),
                }
            }
        }
    }
}

fn text_of(path: &Path) -> Result<String, Error> {
    let failed = |error| Error::Read(path.display().to_string(), error);
    let size = std::fs::metadata(path).map_err(failed)?.len();
    if size > recording::BYTES_MAX as u64 {
        return Err(Error::Recording(format!("it has more than {} bytes", recording::BYTES_MAX)));
    }
    std::fs::read_to_string(path).map_err(failed)
}

impl From<String> for Match {
    fn from(text: String) -> Match {
        match text.as_str() {
            "demo" => Match::Demo,
            "football" => Match::Football,
            _ => Match::File(text.into()),
        }
    }
}

impl FromStr for Match {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Match, Self::Err> {
        Ok(text.to_owned().into())
    }
}

impl From<Match> for String {
    fn from(played: Match) -> String {
        match played {
            Match::Demo => "demo".into(),
            Match::Football => "football".into(),
            Match::File(path) => path.display().to_string(),
        }
    }
}

impl FromStr for Outage {
    type Err = Error;

    fn from_str(text: &str) -> Result<Outage, Error> {
        let seconds = |text: &str| text.trim().parse::<f64>().ok().filter(|s| s.is_finite() && *s >= 0.0);
        let parts = text.split_once('+').and_then(|(from, length)| Some((seconds(from)?, seconds(length)?)));
        let (from_s, for_s) =
            parts.ok_or_else(|| Error::Config("an outage is FROM+FOR in seconds, such as 30+5".into()))?;
        Ok(Outage { from_s, for_s })
    }
}

impl TryFrom<String> for Outage {
    type Error = Error;

    fn try_from(text: String) -> Result<Outage, Error> {
        text.parse()
    }
}

impl From<Outage> for String {
    fn from(outage: Outage) -> String {
        format!("{}+{}", outage.from_s, outage.for_s)
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the key.
        write!(f, "feed {} of {} to {}", self.provider, self.r#match, self.ingest)
    }
}
