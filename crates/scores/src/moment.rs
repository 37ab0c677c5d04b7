//! What people come back to: wickets, boundaries, milestones, goals.

use serde::{Deserialize, Serialize};

use crate::EventId;

/// A key moment: at most one for each event, the weightiest thing about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// Whose moment; a correction of the event replaces or removes it.
    pub event_id: EventId,
    /// From when it may be told: the venue time of the revision that makes it one (UTC, milliseconds).
    pub venue_ms: i64,
    /// Where its picture is: the venue time of the event's first revision. An umpire may have needed a review to
    /// see what had happened then.
    pub seek_ms: i64,
    /// What it is.
    pub kind: MomentKind,
    /// In words, for people.
    pub text: String,
}

/// What a moment is. Of several in one event, the one that stands first here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum MomentKind {
    /// A bowler's third wicket with as many balls.
    HatTrick,
    Wicket,
    TwoHundred,
    HundredAndFifty,
    Hundred,
    Fifty,
    HundredPartnership,
    Six,
    Four,
    /// A decision was overturned.
    Review,
    Goal,
    GoalRetracted,
    Card,
    ShootoutKick,
    /// The match is decided.
    Result,
}

impl MomentKind {
    /// Every one.
    pub const ALL: [MomentKind; 15] = [
        MomentKind::HatTrick,
        MomentKind::Wicket,
        MomentKind::TwoHundred,
        MomentKind::HundredAndFifty,
        MomentKind::Hundred,
        MomentKind::Fifty,
        MomentKind::HundredPartnership,
        MomentKind::Six,
        MomentKind::Four,
        MomentKind::Review,
        MomentKind::Goal,
        MomentKind::GoalRetracted,
        MomentKind::Card,
        MomentKind::ShootoutKick,
        MomentKind::Result,
    ];
}
