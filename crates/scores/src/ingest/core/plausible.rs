//! What can be, of a match and at a time.

use super::super::limits::{AHEAD_MAX_MS, EARLY_MAX_MS, REVISION_MAX};
use crate::catalog::{Match, Status};
use crate::feeds::Statement;
use crate::{Body, Sport, cricket, football};

/// Whether the match takes this now.
pub(super) fn takes(entry: &Match, body: &Body) -> bool {
    match entry.status {
        Status::Live => true,
        // The toss and the line-ups are told before the start.
        Status::Scheduled => matches!(
            body,
            Body::Cricket(cricket::Happening { what: cricket::Kind::Toss { .. }, .. })
                | Body::Football(football::Happening { what: football::Kind::LineUp { .. }, .. })
        ),
        Status::Final | Status::Postponed => false,
    }
}

/// Whether it can be, of this match and at this time.
pub(super) fn plausible(statement: &Statement, entry: &Match, now_ms: i64) -> Result<(), String> {
    let sport = match statement.body {
        Body::Cricket(_) => Some(Sport::Cricket),
        Body::Football(_) => Some(Sport::Football),
        Body::Withdrawn { .. } => None,
    };
    if sport.is_some_and(|sport| sport != entry.sport) {
        return Err(format!("the match {:?} is of another sport", entry.id));
    }
    statement.body.check().map_err(|error| error.to_string())?;
    if statement.revision.is_some_and(|revision| revision == 0 || revision > REVISION_MAX) {
        return Err(format!("a revision is from 1 to {REVISION_MAX}"));
    }
    if statement.venue_ms > now_ms.saturating_add(AHEAD_MAX_MS) {
        return Err("it has not happened yet, by our clock".into());
    }
    if statement.venue_ms < entry.start_ms.saturating_sub(EARLY_MAX_MS) {
        return Err("it happened long before the match".into());
    }
    Ok(())
}
