//! One item as it is sent.

use serde::{Deserialize, Serialize};

/// All that an item may have; which of it, says `ev`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Item {
    /// Number.
    pub(super) n: u64,
    /// Fixture.
    pub(super) fx: String,
    /// UTC, milliseconds.
    pub(super) t: i64,
    /// What.
    pub(super) ev: String,
    /// Of a void: what it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) of: Option<String>,
    /// Innings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) inn: Option<u32>,
    /// Over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) ov: Option<u32>,
    /// Ball.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) bl: Option<u32>,
    /// Slot, if not the first of its kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sl: Option<u32>,
    /// `h` or `a`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) side: Option<String>,
    /// The n-th of its kind and side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) k: Option<u32>,
    /// Match clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) clk: Option<String>,
    /// Teams.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) tm: Vec<String>,
    /// Players.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) p: Vec<String>,
    /// Runs, or a margin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) r: Option<u32>,
    /// Extras.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) x: Option<String>,
    /// Four or six that was run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) ar: bool,
    /// Wickets: how, who, fielders.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) w: Vec<Vec<String>>,
    /// A word of the kind's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) d: Option<String>,
    /// Reason, how, or method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) why: Option<String>,
    /// Target: runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tgt: Option<u32>,
    /// Target: overs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tov: Option<String>,
    /// Overs of an innings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) lim: Option<u32>,
    /// Balls of an over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) bpo: Option<u32>,
    /// Format of the match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) fmt: Option<String>,
    /// Super over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) so: bool,
    /// By whom, or by what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) by: Option<String>,
    /// Umpire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) ump: Option<String>,
    /// Umpire's call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) uc: bool,
    /// Who won.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) won: Option<String>,
    /// Who won the super over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) elim: Option<String>,
    /// Own goal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) own: bool,
    /// From the spot.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) pen: bool,
    /// A kick went in.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) r#in: bool,
}

impl Item {
    /// Exactly so many teams.
    pub(super) fn teams<const N: usize>(&self) -> Result<[String; N], String> {
        self.tm.clone().try_into().map_err(|_| format!("\"tm\" must have {N} for {:?}", self.ev))
    }

    /// Exactly so many players.
    pub(super) fn players<const N: usize>(&self) -> Result<[String; N], String> {
        self.p.clone().try_into().map_err(|_| format!("\"p\" must have {N} for {:?}", self.ev))
    }

    /// A value that this kind must have.
    pub(super) fn need<T: Clone>(&self, name: &str, value: &Option<T>) -> Result<T, String> {
        value.clone().ok_or_else(|| format!("{name:?} is missing for {:?}", self.ev))
    }
}
