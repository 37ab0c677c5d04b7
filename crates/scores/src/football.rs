//! Football: what can happen, and where in the match.

use serde::{Deserialize, Serialize};

use crate::error::invalid;
use crate::event::text;
use crate::{Error, EventId};

mod clock;

pub use clock::{Clock, PERIODS, order};

/// Each of a kind and side has a number of three digits.
const NTH_MAX: u32 = 999;

/// Home or away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Side {
    Home,
    Away,
}

/// Which happening: the n-th of its kind for its side, as the referee's record counts, so that two providers who
/// disagree about a minute or a name still mean the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Which {
    /// Whose; none for the clock and the match itself.
    pub side: Option<Side>,
    /// From 1 within kind and side; a retracted goal keeps its number.
    pub nth: u32,
}

/// One happening.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Happening {
    /// Which.
    pub which: Which,
    /// The match clock, `78:14`; in added time `45:00+2:10`.
    pub clock: String,
    /// What.
    #[serde(flatten)]
    pub what: Kind,
}

/// What can happen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Kind {
    /// Teams.
    LineUp {
        /// Home.
        home: String,
        /// Away.
        away: String,
    },
    /// A goal for `which.side`.
    Goal {
        /// Who scored.
        player: Option<String>,
        /// By a player of the other side.
        own: bool,
        /// From the spot.
        penalty: bool,
    },
    /// The goal of the same number is taken back (a revision of the goal's own event).
    GoalRetracted {
        /// `var_offside` …
        reason: String,
    },
    /// A card.
    Card {
        /// Who.
        player: Option<String>,
        /// `yellow`, `second_yellow`, `red`.
        colour: String,
    },
    /// One leaves, one comes.
    Substitution {
        /// Who leaves.
        off: String,
        /// Who comes.
        on: String,
    },
    /// The clock starts or stops: one of [`PERIODS`].
    Clock {
        /// The period that begins.
        period: String,
    },
    /// A kick of a shoot-out.
    ShootoutKick {
        /// Who.
        player: Option<String>,
        /// In or not.
        scored: bool,
    },
}

impl Happening {
    /// The id: kind, side, number. A goal and its retraction have the same.
    pub fn id(&self) -> EventId {
        let kind = match self.what {
            Kind::LineUp { .. } => 1,
            Kind::Clock { .. } => 2,
            Kind::Goal { .. } | Kind::GoalRetracted { .. } => 3,
            Kind::Card { .. } => 4,
            Kind::Substitution { .. } => 5,
            Kind::ShootoutKick { .. } => 6,
        };
        let side = match self.which.side {
            None => 0,
            Some(Side::Home) => 1,
            Some(Side::Away) => 2,
        };
        EventId((kind * 10 + side) * 1_000 + u64::from(self.which.nth.min(NTH_MAX)))
    }

    /// Whether it can be.
    ///
    /// # Errors
    /// A sentence that says what cannot be.
    pub fn check(&self) -> Result<(), Error> {
        if !(1..=NTH_MAX).contains(&self.which.nth) {
            return Err(invalid(format!("there is no {}. of a kind", self.which.nth)));
        }
        if Clock::parse(&self.clock).is_none() {
            return Err(invalid("the clock is not of the form 78:14 or 45:00+2:10"));
        }
        let of_a_side = !matches!(self.what, Kind::LineUp { .. } | Kind::Clock { .. });
        if of_a_side != self.which.side.is_some() {
            return Err(invalid("a side is named exactly where it is one side's doing"));
        }
        match &self.what {
            Kind::LineUp { home, away } => {
                text("home side", home)?;
                text("away side", away)?;
                if home == away {
                    return Err(invalid("a team cannot play itself"));
                }
                Ok(())
            }
            Kind::GoalRetracted { reason } => text("reason", reason),
            Kind::Goal { player, .. } | Kind::ShootoutKick { player, .. } => {
                player.iter().try_for_each(|name| text("player", name))
            }
            Kind::Card { player, colour } => {
                player.iter().try_for_each(|name| text("player", name))?;
                match colour.as_str() {
                    "yellow" | "second_yellow" | "red" => Ok(()),
                    _ => Err(invalid("a card is `yellow`, `second_yellow` or `red`")),
                }
            }
            Kind::Substitution { off, on } => {
                text("player who leaves", off)?;
                text("player who comes", on)
            }
            Kind::Clock { period } if PERIODS.contains(&period.as_str()) => Ok(()),
            Kind::Clock { .. } => Err(invalid(format!("a period is one of {}", PERIODS.join(", ")))),
        }
    }
}
