//! What a socket edge is told, beside its listener.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::limits::{
    CLOSE_WAIT, COALESCE_MS, COALESCE_MS_MAX, COMMENT_EVERY, HEAD_TIME_MAX, PING_EVERY, SILENCE_MAX,
    SOCKETS_MAX, STALL_MAX, START_MAX, TOKEN_NOTICE, TOPIC_LINGER, UPGRADE_BURST, UPGRADES_PER_S,
};

/// Configuration of one socket edge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, clap::Args)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Milliseconds within which the further events of a match leave in one write, after one that left at once;
    /// corrections never wait; 0: nothing waits
    #[arg(long, value_name = "MS", default_value_t = COALESCE_MS)]
    pub coalesce_ms: u64,
    /// Sockets at once; more are told 503
    #[arg(long, value_name = "N", default_value_t = SOCKETS_MAX)]
    pub sockets_max: usize,
    /// New sockets a second, on average; more are told 503 with a Retry-After
    #[arg(long, value_name = "N", default_value_t = UPGRADES_PER_S)]
    pub upgrades_per_s: u32,
    /// New sockets at once after a quiet time
    #[arg(long, value_name = "N", default_value_t = UPGRADE_BURST)]
    pub upgrade_burst: u32,
    /// Threads that hold sockets; 0: one a core
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub workers: usize,
    /// Header in which a trusted proxy in front says the viewer's country (ISO 3166-1 alpha-2); it overrides the
    /// token's. Without it only the token's counts
    #[arg(long, value_name = "NAME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country_header: Option<String>,
    /// Durations, for tests.
    #[arg(skip)]
    #[serde(skip)]
    pub timing: Timing,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            coalesce_ms: COALESCE_MS,
            sockets_max: SOCKETS_MAX,
            upgrades_per_s: UPGRADES_PER_S,
            upgrade_burst: UPGRADE_BURST,
            workers: 0,
            country_header: None,
            timing: Timing::default(),
        }
    }
}

impl Config {
    /// Whether it can work; [`crate::Server::open`] asks first.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong, with what to write instead.
    pub fn check(&self) -> Result<(), Error> {
        match self {
            Config { sockets_max: 0, .. } => Err(Error::Zero("sockets_max")),
            Config { upgrades_per_s: 0, .. } => Err(Error::Zero("upgrades_per_s")),
            Config { upgrade_burst: 0, .. } => Err(Error::Zero("upgrade_burst")),
            Config { coalesce_ms, .. } if *coalesce_ms > COALESCE_MS_MAX => Err(Error::Window(*coalesce_ms)),
            _ => Ok(()),
        }
    }
}

/// The durations that a test may want shorter. They are looked at about once a second, so none is kept more
/// exactly than that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timing {
    /// A client's head must be there.
    pub head: Duration,
    /// The server pings.
    pub ping: Duration,
    /// Nothing heard: dead.
    pub silence: Duration,
    /// An SSE comment.
    pub comment: Duration,
    /// Nothing taken: cut.
    pub stall: Duration,
    /// After a close frame.
    pub close: Duration,
    /// Before a token expires.
    pub notice: Duration,
    /// Until a subscriber hears that its match is not to be had.
    pub start: Duration,
    /// A match without viewers is kept.
    pub linger: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Timing {
            head: HEAD_TIME_MAX,
            ping: PING_EVERY,
            silence: SILENCE_MAX,
            comment: COMMENT_EVERY,
            stall: STALL_MAX,
            close: CLOSE_WAIT,
            notice: TOKEN_NOTICE,
            start: START_MAX,
            linger: TOPIC_LINGER,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_keys_and_impossible_limits_are_refused() {
        assert!(serde_json::from_str::<Config>(r#"{"coalesce": 1}"#).is_err());
        assert!(Config::default().check().is_ok());
        assert!(matches!(
            Config { sockets_max: 0, ..Config::default() }.check(),
            Err(Error::Zero("sockets_max"))
        ));
        assert!(matches!(
            Config { coalesce_ms: 60_000, ..Config::default() }.check(),
            Err(Error::Window(60_000))
        ));
    }
}
