//! The score in one line.

use serde::{Deserialize, Serialize};

use super::{Card, Innings, overs_text};
use crate::card::text;

/// The score in one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Headline {
    /// The one that is on, or the last; 0 before the first.
    pub innings: u32,
    /// Who bats; empty if nobody has said.
    pub batting: String,
    /// Who bowls.
    pub bowling: String,
    /// Of this innings.
    pub runs: u32,
    /// Of this innings.
    pub wickets: u32,
    /// Of this innings: `5.3`.
    pub overs: String,
    /// Deliveries bowled in the match so far, wides and no-balls too.
    pub balls: u32,
    /// Runs to win, in a chase.
    pub target: Option<u32>,
    /// `CSK 45/2 (5.3)`.
    pub text: String,
    /// Once the match is decided, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

impl Card {
    /// The score in one line.
    pub fn headline(&self) -> Headline {
        let Some(innings) = self.innings.last() else { return self.before() };
        Headline {
            innings: innings.number,
            batting: innings.batting.clone(),
            bowling: innings.bowling.clone(),
            runs: innings.runs,
            wickets: innings.wickets,
            overs: innings.overs.clone(),
            balls: self.deliveries,
            target: innings.target.as_ref().map(|target| target.runs),
            text: self.text(innings),
            result: self.result.clone(),
        }
    }

    fn before(&self) -> Headline {
        let text = match &self.teams[..] {
            [one, other] => {
                let (one, other) = text::pair(one, other);
                format!("{one} v {other}")
            }
            _ => String::new(),
        };
        Headline {
            innings: 0,
            batting: String::new(),
            bowling: String::new(),
            runs: 0,
            wickets: 0,
            overs: overs_text(0, self.balls_per_over),
            balls: 0,
            target: None,
            text,
            result: self.result.clone(),
        }
    }

    /// `CSK 45/2 (5.3)`; `IND 245 & 45/2 (12.1)` in a side's second innings; `MI 5/2 (1.0) SO` in a super over.
    fn text(&self, innings: &Innings) -> String {
        let (batting, _) = text::pair(&innings.batting, &innings.bowling);
        let mut said = batting;
        if !innings.super_over {
            let earlier = |one: &&Innings| one.batting == innings.batting && one.number < innings.number;
            for one in self.innings.iter().filter(earlier) {
                said.push_str(&format!(" {} &", total(one)));
            }
        }
        let separator = if said.is_empty() { "" } else { " " };
        said.push_str(&format!("{separator}{}/{} ({})", innings.runs, innings.wickets, innings.overs));
        if innings.super_over {
            said.push_str(" SO");
        }
        said
    }
}

/// `245`, `245/8d`, `245/8`.
fn total(innings: &Innings) -> String {
    match innings.ended.as_deref() {
        Some("all_out") => innings.runs.to_string(),
        Some("declared") => format!("{}/{}d", innings.runs, innings.wickets),
        _ => format!("{}/{}", innings.runs, innings.wickets),
    }
}
