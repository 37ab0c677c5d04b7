//! One revision of one happening on the field.

use serde::{Deserialize, Serialize};

use crate::error::invalid;
use crate::{Error, cricket, football};

/// The longest text of a body (a name, a reason), in bytes: the longest team of the public records has 40.
pub const TEXT_MAX: usize = 120;

/// Which happening of a match: derived from its place on the field by the sport's module, so that every provider's
/// copy of it has the same one without asking anybody. In cricket in the order of the field; below 2^53, so that a
/// JSON number carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventId(pub u64);

impl EventId {
    /// The largest that a JSON number carries in every client.
    pub const MAX: EventId = EventId((1 << 53) - 1);
}

/// A sport that has a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sport {
    /// [`cricket`].
    Cricket,
    /// [`football`].
    Football,
}

/// One revision of one happening. Of two revisions the higher one is right, whatever arrived last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The match, as it stands in URLs.
    pub match_id: String,
    /// Which happening.
    pub event_id: EventId,
    /// From 1; a correction is the next.
    pub revision: u32,
    /// Whose copy was the first. Provenance, never part of a key.
    pub provider_id: String,
    /// That provider's own number. For gaps and order among its own, nothing else.
    pub provider_seq: u64,
    /// When it happened at the ground: UTC, milliseconds. Of a correction: when it was decided.
    pub venue_ms: i64,
    /// When we had it: UTC, milliseconds.
    pub ingest_ms: i64,
    /// What happened.
    pub body: Body,
}

/// What happened, in the sport's own words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "sport", rename_all = "snake_case")]
pub enum Body {
    /// In cricket.
    Cricket(cricket::Happening),
    /// In football.
    Football(football::Happening),
    /// It did not happen: recorded by mistake, or taken back (a revision of what was said before).
    Withdrawn {
        /// What did not happen.
        event_id: EventId,
        /// Why, in a word of the provider's (`scorer_error`, `var_offside`).
        reason: String,
    },
}

impl Body {
    /// Which happening this speaks of.
    pub fn event_id(&self) -> EventId {
        match self {
            Body::Cricket(happening) => happening.at.id(),
            Body::Football(happening) => happening.id(),
            Body::Withdrawn { event_id, .. } => *event_id,
        }
    }

    /// Whether it can be: every body from outside goes through here before it is believed, and the fold relies on it.
    ///
    /// # Errors
    /// A sentence that says what cannot be.
    pub fn check(&self) -> Result<(), Error> {
        match self {
            Body::Cricket(happening) => happening.check(),
            Body::Football(happening) => happening.check(),
            Body::Withdrawn { event_id, reason } => {
                if *event_id > EventId::MAX {
                    return Err(invalid(format!("no event has the id {}", event_id.0)));
                }
                text("reason", reason)
            }
        }
    }
}

/// A text that must say something, in bounds.
pub(crate) fn text(what: &str, text: &str) -> Result<(), Error> {
    if text.trim().is_empty() {
        return Err(invalid(format!("the {what} is empty")));
    }
    if text.len() > TEXT_MAX {
        return Err(invalid(format!("the {what} has {} bytes, more than {TEXT_MAX}", text.len())));
    }
    if text.chars().any(char::is_control) {
        return Err(invalid(format!("the {what} has a control character")));
    }
    Ok(())
}
