//! What a provider says, whatever its format.

use serde::{Deserialize, Serialize};

use crate::Body;

/// Numbers of a provider from the first to the second, both included.
pub type Range = (u64, u64);

/// One statement about one happening.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The provider's own number, from 1, one more for each statement. Never used for two statements.
    pub seq: u64,
    /// The match.
    pub match_id: String,
    /// When it happened at the ground: UTC, milliseconds.
    pub venue_ms: i64,
    /// From 1, if the provider has them; else they are made by ingest.
    pub revision: Option<u32>,
    /// What happened.
    pub body: Body,
}

/// What a provider can say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// Something happened.
    Statement(Statement),
    /// It no longer has the statements of these numbers; nobody need ask for them.
    Gone(Vec<Range>),
}

/// Something that could not be read, for the dead letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Its number, if that could be made out; then it counts as had, and the feed goes on.
    pub seq: Option<u64>,
    /// For people.
    pub why: String,
}

impl Unreadable {
    pub(super) fn new(seq: Option<u64>, why: impl Into<String>) -> Unreadable {
        Unreadable { seq, why: why.into() }
    }
}

/// What a provider is told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Every statement up to this one is durable, or will never be asked for.
    pub acked: u64,
    /// Numbers that are missing before the newest one; please say them again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Range>,
    /// Not taken, and why. They count as acknowledged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<Rejected>,
}

/// A statement that is a dead letter now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejected {
    /// Its number; absent if it could not be made out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// For people.
    pub why: String,
}
