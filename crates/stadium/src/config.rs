//! What the ground can be told.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use timeline::Utc;

/// The ground's configuration. Every field has a default; unknown keys are refused.
#[derive(clap::Args, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Port on which path A waits for its one SRT receiver (a caller).
    #[arg(long, value_name = "PORT", default_value_t = Config::default().srt_port)]
    pub srt_port: u16,
    /// Where path B sends its UDP datagrams.
    #[arg(long, value_name = "HOST:PORT", default_value_t = Config::default().udp)]
    pub udp: String,
    /// Size of the generated picture; a smaller one is for tests.
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value_t = Config::default().size)]
    pub size: Size,
    /// Carry this feed instead of the generated ground: srt://, udp://, rtmp://, https:// or a file.
    #[arg(long, value_name = "URL")]
    pub input: Option<String>,
    /// Begin the file again when it ends.
    #[arg(long = "loop", requires = "input")]
    #[serde(rename = "loop")]
    pub looped: bool,
    /// Play this match and show its score: a recording, a Cricsheet JSON file, or `demo`.
    #[arg(long, value_name = "FILE", conflicts_with = "input")]
    pub play: Option<String>,
    /// When it starts: UTC, such as 2026-11-30T09:00:00Z; left out: 15 s after the ground.
    #[arg(long, value_name = "UTC", requires = "play")]
    pub starts: Option<Utc>,
    /// Play it so many times as fast as it was recorded.
    #[arg(long, value_name = "TIMES", default_value_t = Config::default().speed)]
    pub speed: f64,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            srt_port: 9000,
            udp: "127.0.0.1:9001".to_owned(),
            size: Size { width: 1280, height: 720 },
            input: None,
            looped: false,
            play: None,
            starts: None,
            speed: 1.0,
        }
    }
}

/// Width and height of the picture in pixels, both even (4:2:0), written `1280x720`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Size {
    /// From 320 to 3840.
    pub width: u32,
    /// From 180 to 2160.
    pub height: u32,
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

impl FromStr for Size {
    type Err = String;
    fn from_str(s: &str) -> Result<Self, String> {
        let pair = s.split_once('x').and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
        match pair {
            // Below 320x180 the block code does not survive encoding.
            Some((width, height))
                if (320..=3840).contains(&width)
                    && (180..=2160).contains(&height)
                    && width % 2 == 0
                    && height % 2 == 0 =>
            {
                Ok(Size { width, height })
            }
            _ => Err(format!(
                "`{s}` is no size: write two even numbers from 320x180 to 3840x2160, such as 1280x720"
            )),
        }
    }
}

impl TryFrom<String> for Size {
    type Error = String;
    fn try_from(s: String) -> Result<Self, String> {
        s.parse()
    }
}

impl From<Size> for String {
    fn from(size: Size) -> String {
        size.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_round_trip_and_bad_ones_say_what_to_write() {
        assert_eq!("640x360".parse::<Size>().unwrap().to_string(), "640x360");
        for bad in ["", "640", "641x360", "64x36", "0x0", "99999999999x4", "-640x360"] {
            assert!(bad.parse::<Size>().unwrap_err().contains("1280x720"), "{bad}");
        }
    }

    #[test]
    fn the_command_line_has_the_same_defaults_as_the_file() {
        #[derive(clap::Parser)]
        struct Cli {
            #[command(flatten)]
            config: Config,
        }
        let cli = <Cli as clap::Parser>::try_parse_from(["ground"]).unwrap();
        assert_eq!(cli.config, serde_json::from_str("{}").unwrap());
        assert!(serde_json::from_str::<Config>(r#"{"szie": "1x1"}"#).is_err());
    }
}
