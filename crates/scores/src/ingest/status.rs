//! How feeds and matches are, for the console and `GET /v1/feeds`.

use serde::{Deserialize, Serialize};

use crate::catalog;
use crate::feeds::Range;

/// How everything is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Every feed of the configuration, and every scorer that has spoken since this ingest began.
    pub providers: Vec<ProviderStatus>,
    /// Every match of the catalog.
    pub matches: Vec<MatchStatus>,
}

/// How a provider is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderStatus {
    /// Its id.
    pub provider: String,
    /// Open WebSockets.
    pub connections: usize,
    /// Everything up to this number is had.
    pub contiguous: u64,
    /// The highest number.
    pub newest: u64,
    /// Gaps between the two.
    pub gaps: usize,
    /// The first of them.
    pub missing: Vec<Range>,
    /// Statements that wait for a gap to close.
    pub waiting: usize,
    /// Since it last spoke, milliseconds.
    pub silent_ms: Option<i64>,
    /// How long after the happening its last statement came, milliseconds.
    pub age_ms: Option<i64>,
    /// The same of each match that it speaks of: every live one, and others for half an hour.
    pub matches: Vec<Spoken>,
}

/// When a provider last spoke of a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spoken {
    /// The match.
    pub match_id: String,
    /// Since then, milliseconds.
    pub silent_ms: Option<i64>,
    /// How long after the happening that came, milliseconds.
    pub age_ms: Option<i64>,
}

/// How a match is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchStatus {
    /// Its id.
    pub match_id: String,
    /// From the catalog.
    pub title: String,
    /// From the catalog.
    pub status: catalog::Status,
    /// How many are known.
    pub happenings: usize,
    /// Since the newest of them, milliseconds.
    pub age_ms: Option<i64>,
    /// What is usual between two, milliseconds.
    pub cadence_ms: i64,
    /// Its feeds are late: [`super::Delay`].
    pub delayed: bool,
}

/// When a provider last spoke.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    pub(super) last_ms: Option<i64>,
    pub(super) age_ms: Option<i64>,
}
