//! One ball, and how it can end for somebody.

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::error::invalid;
use crate::event::text;

/// The most runs of one kind from one ball. 10 were once run out of one; the rest is room for overthrows.
const RUNS_MAX: u32 = 30;
/// Who may have had a hand in a dismissal.
const FIELDERS_MAX: usize = 11;
/// Two can go at one ball (one out, the other retired or timed out); three cannot.
const WICKETS_MAX: usize = 2;

/// One ball.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// Who faced it.
    pub batter: String,
    /// Who stood at the other end.
    pub non_striker: String,
    /// Who bowled it.
    pub bowler: String,
    /// Runs to the batter.
    pub runs: u32,
    /// Four or six to the batter that did not come from the boundary.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all_run: bool,
    /// Runs to nobody.
    #[serde(default, skip_serializing_if = "Extras::is_none")]
    pub extras: Extras,
    /// Mostly none, one, or (rarely) two.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wickets: Vec<Wicket>,
}

impl Delivery {
    /// It counts as one of the over (Law 17.3): neither wide nor no-ball.
    pub fn is_legal(&self) -> bool {
        self.extras.wides == 0 && self.extras.noballs == 0
    }

    /// It counts as faced: all but a wide.
    pub fn is_faced(&self) -> bool {
        self.extras.wides == 0
    }

    /// All runs.
    pub fn total(&self) -> u32 {
        self.runs + self.extras.total()
    }

    /// Runs that stand against the bowler: all but byes, leg byes and penalties.
    pub fn conceded(&self) -> u32 {
        self.runs + self.extras.wides + self.extras.noballs
    }

    /// Four from the boundary.
    pub fn is_four(&self) -> bool {
        self.runs == 4 && !self.all_run
    }

    /// Six from over the boundary.
    pub fn is_six(&self) -> bool {
        self.runs == 6 && !self.all_run
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        text("batter", &self.batter)?;
        text("non-striker", &self.non_striker)?;
        text("bowler", &self.bowler)?;
        if self.batter == self.non_striker {
            return Err(invalid("a batter cannot stand at both ends"));
        }
        let Extras { wides, noballs, byes, legbyes, penalty } = self.extras;
        if [self.runs, wides, noballs, byes, legbyes, penalty].iter().any(|n| *n > RUNS_MAX) {
            return Err(invalid(format!("a ball cannot bring more than {RUNS_MAX} runs of one kind")));
        }
        if wides > 0 && (noballs > 0 || self.runs > 0) {
            return Err(invalid("a wide is neither a no-ball nor hit"));
        }
        if self.wickets.len() > WICKETS_MAX {
            return Err(invalid("one ball cannot dismiss more than two"));
        }
        if let [first, second] = &self.wickets[..]
            && first.player_out == second.player_out
        {
            return Err(invalid("one ball cannot dismiss the same batter twice"));
        }
        self.wickets.iter().try_for_each(Wicket::check)
    }
}

/// Runs to nobody, by kind. All of a wide stands under `wides`. Of a no-ball the penalty stands under `noballs`; what
/// is run besides, but not off the bat, under byes or leg byes (Law 21.15, since 2017) or, in older records, under
/// `noballs` too. Both are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extras {
    /// The ball does not count.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub wides: u32,
    /// The ball does not count.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub noballs: u32,
    /// Not off the bat or the body.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub byes: u32,
    /// Off the body.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub legbyes: u32,
    /// Five for a fault of the field.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub penalty: u32,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

impl Extras {
    /// Nothing of any kind.
    pub fn is_none(&self) -> bool {
        *self == Extras::default()
    }

    /// Of all kinds.
    pub fn total(&self) -> u32 {
        self.wides + self.noballs + self.byes + self.legbyes + self.penalty
    }
}

impl std::ops::AddAssign for Extras {
    fn add_assign(&mut self, other: Extras) {
        self.wides += other.wides;
        self.noballs += other.noballs;
        self.byes += other.byes;
        self.legbyes += other.legbyes;
        self.penalty += other.penalty;
    }
}

/// Somebody is out, or has left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wicket {
    /// How.
    pub how: Dismissal,
    /// Who.
    pub player_out: String,
    /// Who took part, but for the bowler.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fielders: Vec<String>,
}

impl Wicket {
    pub(super) fn check(&self) -> Result<(), Error> {
        text("player who is out", &self.player_out)?;
        if self.fielders.len() > FIELDERS_MAX {
            return Err(invalid(format!("a side has {FIELDERS_MAX} fielders")));
        }
        self.fielders.iter().try_for_each(|name| text("fielder", name))
    }
}

/// The ways out (Laws of Cricket 32 to 40), and those of leaving without being out (25.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Dismissal {
    Bowled,
    Caught,
    CaughtAndBowled,
    Lbw,
    Stumped,
    HitWicket,
    RunOut,
    HandledTheBall,
    ObstructingTheField,
    HitTheBallTwice,
    TimedOut,
    RetiredOut,
    /// Not out.
    RetiredHurt,
    /// Not out.
    RetiredNotOut,
}

impl Dismissal {
    /// Every one.
    pub const ALL: [Dismissal; 14] = [
        Dismissal::Bowled,
        Dismissal::Caught,
        Dismissal::CaughtAndBowled,
        Dismissal::Lbw,
        Dismissal::Stumped,
        Dismissal::HitWicket,
        Dismissal::RunOut,
        Dismissal::HandledTheBall,
        Dismissal::ObstructingTheField,
        Dismissal::HitTheBallTwice,
        Dismissal::TimedOut,
        Dismissal::RetiredOut,
        Dismissal::RetiredHurt,
        Dismissal::RetiredNotOut,
    ];

    /// The side loses a wicket.
    pub fn is_wicket(self) -> bool {
        !matches!(self, Dismissal::RetiredHurt | Dismissal::RetiredNotOut)
    }

    /// The bowler is credited with it.
    pub fn is_bowlers(self) -> bool {
        use Dismissal::{Bowled, Caught, CaughtAndBowled, HitWicket, Lbw, Stumped};
        matches!(self, Bowled | Caught | CaughtAndBowled | Lbw | Stumped | HitWicket)
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Dismissal::Bowled => "bowled",
            Dismissal::Caught => "caught",
            Dismissal::CaughtAndBowled => "caught and bowled",
            Dismissal::Lbw => "lbw",
            Dismissal::Stumped => "stumped",
            Dismissal::HitWicket => "hit wicket",
            Dismissal::RunOut => "run out",
            Dismissal::HandledTheBall => "handled the ball",
            Dismissal::ObstructingTheField => "obstructing the field",
            Dismissal::HitTheBallTwice => "hit the ball twice",
            Dismissal::TimedOut => "timed out",
            Dismissal::RetiredOut => "retired out",
            Dismissal::RetiredHurt => "retired hurt",
            Dismissal::RetiredNotOut => "retired not out",
        }
    }

    /// Happens between deliveries: such stand in a happening of their own as well as in a delivery's wickets.
    pub fn is_retirement(self) -> bool {
        use Dismissal::{RetiredHurt, RetiredNotOut, RetiredOut, TimedOut};
        matches!(self, RetiredOut | RetiredHurt | RetiredNotOut | TimedOut)
    }
}
