//! Cricket: what can happen, and where in the match.

use serde::{Deserialize, Serialize};

mod check;
mod delivery;
mod outcome;
mod place;

pub use delivery::{Delivery, Dismissal, Extras, Wicket};
pub use outcome::{Outcome, Target};
pub use place::{AFTER, CLOSE, Place};

/// One happening.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Happening {
    /// Where in the match.
    pub at: Place,
    /// What.
    #[serde(flatten)]
    pub what: Kind,
}

/// What can happen. Slots keep those apart that happen after the same delivery: the n-th of a kind has the kind's
/// first slot + n ([`Kind::slots`]).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Kind {
    /// Before the match (innings 0, slot 1): teams and toss.
    Toss {
        /// Both teams, in the order that the fixture names them.
        teams: [String; 2],
        /// Who won it.
        winner: String,
        /// `bat` or `field`.
        decision: String,
        /// Legal deliveries of an over; 6.
        balls_per_over: u32,
        /// Overs of a full innings; none in a Test.
        overs: Option<u32>,
        /// `T20`, `ODI`, `Test` …
        format: String,
    },
    /// An innings begins (over 0, ball 0, slot 1).
    InningsStarted {
        /// Who bats.
        batting: String,
        /// Who bowls.
        bowling: String,
        /// A super over.
        super_over: bool,
        /// Runs to win, and in how many overs if that is bounded.
        target: Option<Target>,
    },
    /// A ball was bowled (slot 0).
    Delivery(Delivery),
    /// A decision was reviewed (slots 100 to 199). Pending at first; what the review overturns comes as a
    /// revision of the delivery.
    Review {
        /// The team that asked; `umpire` if it was the umpires themselves.
        by: String,
        /// Whose decision.
        umpire: Option<String>,
        /// About whom.
        batter: Option<String>,
        /// How it ended.
        outcome: ReviewOutcome,
        /// It stands only because it was close (umpire's call).
        umpires_call: bool,
    },
    /// Play stops or goes on again (slots 200 to 299).
    Interruption {
        /// `rain`, `bad_light`, `drinks`, `injury`, `stumps` …
        reason: String,
        /// Stopped; or going on again.
        stopped: bool,
    },
    /// The target, or the overs of the innings, are revised (slots 300 to 399). At the end of an innings it is about the
    /// next; before the match about all.
    TargetRevised {
        /// The new one; none if only the overs of the first innings are cut.
        target: Option<Target>,
        /// Overs of the innings from now on.
        overs: Option<u32>,
        /// `dls`, `vjd` …
        method: String,
    },
    /// Runs that belong to no delivery (slots 400 to 499). To the fielding side they count in its last innings before this
    /// one, or its next if it has had none (Law 41.18).
    Penalty {
        /// Who gets them.
        team: String,
        /// How many.
        runs: u32,
    },
    /// A batter leaves between deliveries: retired, timed out (slots 500 to 599).
    Retired(Wicket),
    /// An innings ends (over [`CLOSE`], ball 0, slot 0).
    InningsEnded {
        /// `all_out`, `overs`, `target`, `declared`, `forfeited`, `curtailed` (cut short; the match goes on),
        /// `abandoned` (with the match).
        how: String,
    },
    /// The match ends (innings [`AFTER`], slot 0).
    Result(Outcome),
    /// Of the match (innings [`AFTER`], slots 1 to 99: there may be several).
    PlayerOfMatch {
        /// Who.
        player: String,
    },
}

/// How a review ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewOutcome {
    /// Not yet.
    Pending,
    /// The side that asked was right: the decision is overturned.
    Upheld,
    /// It was not: the decision stands.
    StruckDown,
}
