//! How a match ended, and the target that decides it.

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::error::invalid;
use crate::event::text;

/// No innings has ever come near (1,107 is the record): what is larger was mistyped.
pub(super) const TARGET_MAX: u32 = 5_000;
/// No innings has more overs; the timeless Tests had 300 a side and more.
pub(super) const OVERS_MAX: u32 = 900;

/// Runs to win.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Runs.
    pub runs: u32,
    /// In so many overs and balls, such as `20` or `14.3`; none in a Test.
    pub overs: Option<String>,
}

impl Target {
    /// Legal deliveries in which it must be reached, if that is bounded.
    pub fn balls(&self, balls_per_over: u32) -> Option<u32> {
        let (overs, balls) = overs_and_balls(self.overs.as_deref()?)?;
        Some(overs * balls_per_over + balls)
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        if self.runs == 0 || self.runs > TARGET_MAX {
            return Err(invalid(format!("a target of {} runs cannot be", self.runs)));
        }
        match &self.overs {
            Some(overs) if overs_and_balls(overs).is_none() => {
                Err(invalid(format!("`{}` is no number of overs", overs.escape_debug())))
            }
            _ => Ok(()),
        }
    }
}

fn overs_and_balls(text: &str) -> Option<(u32, u32)> {
    let (overs, balls) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| -> Option<u32> {
        (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
    };
    let (overs, balls) = (digits(overs)?, digits(balls)?);
    (overs <= OVERS_MAX && balls < 10).then_some((overs, balls))
}

/// How a match ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// Who won; none for a tie, a draw or no result.
    pub winner: Option<String>,
    /// `runs`, `wickets`, `innings` (an innings and `margin` runs), or none.
    pub by: Option<String>,
    /// By how many.
    pub margin: Option<u32>,
    /// `tie`, `draw`, `no_result` when nobody won by play.
    pub result: Option<String>,
    /// Who won the super over, or the bowl-out.
    pub eliminator: Option<String>,
    /// `dls` …, if it was not the plain score that decided.
    pub method: Option<String>,
}

impl Outcome {
    /// The method of an eliminator that was no super over.
    pub const BOWL_OUT: &str = "bowl_out";

    /// As it is announced.
    pub fn text(&self) -> String {
        let margin = self.margin.unwrap_or_default();
        let plural = if margin == 1 { "" } else { "s" };
        let mut said = match (&self.winner, self.by.as_deref()) {
            (Some(winner), Some("runs")) => format!("{winner} won by {margin} run{plural}"),
            (Some(winner), Some("wickets")) => format!("{winner} won by {margin} wicket{plural}"),
            (Some(winner), Some("innings")) => format!("{winner} won by an innings and {margin} run{plural}"),
            (Some(winner), _) => format!("{winner} won"),
            (None, _) => match self.result.as_deref() {
                Some("tie") => "Match tied".to_owned(),
                Some("draw") => "Match drawn".to_owned(),
                _ => "No result".to_owned(),
            },
        };
        let by_bowl_out = self.method.as_deref() == Some(Outcome::BOWL_OUT);
        if let Some(winner) = &self.eliminator {
            let eliminator = if by_bowl_out { "bowl-out" } else { "super over" };
            said.push_str(&format!(" ({winner} won the {eliminator})"));
        }
        if let Some(method) = self.method.as_ref().filter(|_| !by_bowl_out) {
            said.push_str(&format!(" ({} method)", method.to_uppercase()));
        }
        said
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        let parts = [
            ("winner", &self.winner),
            ("margin's kind", &self.by),
            ("result", &self.result),
            ("winner of the eliminator", &self.eliminator),
            ("method", &self.method),
        ];
        for (what, part) in parts {
            if let Some(part) = part {
                text(what, part)?;
            }
        }
        if self.winner.is_none() && self.result.is_none() && self.eliminator.is_none() {
            return Err(invalid("a match that has ended was won by somebody, or has a result"));
        }
        Ok(())
    }
}
