//! What a pipeline is told.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use timeline::Utc;
use timeline::name::{Letter, ProgrammePath, Token};

/// Settings of `pavilion pipeline`.
#[derive(Clone, Debug, PartialEq, clap::Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Which of the two this is: a or b. It stands in the names of all it makes.
    #[arg(long)]
    pub name: Letter,
    /// The match, as it stands in URLs.
    #[arg(long, default_value = "demo")]
    pub r#match: Token,
    /// The programme: one angle of the match.
    #[arg(long, default_value = "main")]
    pub programme: Token,
    /// The instant that MSN 0 begins, fixed when the match was scheduled: RFC 3339, UTC.
    #[arg(long)]
    pub epoch: Utc,
    /// The contribution feed: udp://addr:port, srt://host:port, or whatever ffmpeg reads.
    #[arg(long)]
    pub input: String,
    /// Start a file again when it ends.
    #[arg(long = "loop")]
    pub r#loop: bool,
    /// Where to publish; repeat for more than one origin.
    #[arg(long = "origin", required = true, value_delimiter = ',')]
    pub origins: Vec<String>,
    /// File of the embedded lease store that both pipelines and all origins share.
    #[arg(long, default_value = "var/pavilion.db")]
    pub store: PathBuf,
    /// The bitrate ladder: height@kbps of each rung. Rungs larger than the feed are left out.
    #[arg(long, default_value = "720@2500,540@1400,360@800,234@400")]
    pub ladder: String,
    /// Kilobits a second for each language.
    #[arg(long, default_value_t = 96)]
    pub audio_kbps: u32,
    /// x264's preset: slower ones look better and need more cores.
    #[arg(long, default_value = "superfast")]
    pub preset: String,
    /// How the feed's timestamps become venue time.
    #[arg(long, value_enum, default_value_t = Clock::Arrival)]
    pub clock: Clock,
    /// Milliseconds from the lens to this machine, when the feed's clock is its arrival.
    #[arg(long, default_value_t = 0)]
    pub contribution_delay_ms: u32,
    /// Encryption.
    #[command(flatten)]
    pub drm: crate::protect::Config,
}

/// How timestamps of a feed become venue time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// The first frame is on air at the moment it arrives, less the contribution delay.
    Arrival,
    /// PTS is UTC in ticks of 90 kHz, modulo 2^33 (a sender locked to PTP or NTP; `pavilion stadium` is one).
    Utc,
}

impl Config {
    /// Where the programme lives in URLs and in the store.
    pub fn path(&self) -> ProgrammePath {
        // A run is base 36, which is always a token; the fallback is never met.
        let run = self.epoch.run().parse().unwrap_or_else(|_| self.r#match.clone());
        ProgrammePath { r#match: self.r#match.clone(), run, programme: self.programme.clone() }
    }
}
