//! The scorecard of a cricket match.

use serde::Serialize;

use crate::cricket::{Dismissal, Outcome, Target};

mod decide;
mod fold;
mod headline;
mod innings;
mod milestones;
mod words;

pub(super) use fold::Fold;
pub use headline::Headline;

/// The whole card.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Card {
    /// Both teams, as the fixture names them; empty until the toss is known.
    pub teams: Vec<String>,
    /// Who won the toss, and what they chose.
    pub toss: Option<Toss>,
    /// `T20`, `ODI`, `Test` …
    pub format: Option<String>,
    /// Legal deliveries of an over.
    pub balls_per_over: u32,
    /// Overs of a full innings; none in a Test, or until the toss is known.
    pub overs: Option<u32>,
    /// Where the match stands.
    pub status: Status,
    /// Why play is stopped, while it is.
    pub interrupted: Option<String>,
    /// In order; super overs too.
    pub innings: Vec<Innings>,
    /// Deliveries bowled in the match, wides and no-balls too.
    pub deliveries: u32,
    /// The result in words: the announced one, or else the one that the score decides.
    pub result: Option<String>,
    /// As the officials announced it.
    pub announced: Option<Outcome>,
    /// As the score alone decides it, once it does.
    pub decided: Option<Outcome>,
    /// Of the match; there may be several.
    pub player_of_match: Vec<String>,
}

/// Who won the toss, and what they chose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Toss {
    /// Who won it.
    pub winner: String,
    /// `bat` or `field`.
    pub decision: String,
}

/// Where a match stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Status {
    NotStarted,
    InPlay,
    /// Rain, light, drinks.
    Stopped,
    InningsBreak,
    Ended,
}

/// One innings.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Innings {
    /// From 1, super overs too.
    #[serde(rename = "innings")]
    pub number: u32,
    /// Who bats; empty if nobody has said.
    pub batting: String,
    /// Who bowls.
    pub bowling: String,
    /// A super over.
    pub super_over: bool,
    /// All runs.
    pub runs: u32,
    /// Wickets lost.
    pub wickets: u32,
    /// Overs and legal balls of the next one: `5.3`.
    pub overs: String,
    /// Legal deliveries of an over.
    pub balls_per_over: u32,
    /// Legal deliveries, full overs counted in full even if the umpire miscounted.
    pub balls: u32,
    /// Deliveries, wides and no-balls too.
    pub deliveries: u32,
    /// Runs an over; none before the first legal ball.
    pub run_rate: Option<f64>,
    /// Runs to nobody.
    pub extras: Extras,
    /// In the order in which they came in.
    pub batters: Vec<Batter>,
    /// In the order in which they came on.
    pub bowlers: Vec<Bowler>,
    /// In order; the last may be unbroken.
    pub partnerships: Vec<Partnership>,
    /// In order.
    pub fall: Vec<Fall>,
    /// In order.
    pub over_summaries: Vec<Over>,
    /// How it ended: `all_out`, `overs`, `target`, `declared` …, `closed` if nobody has said how and another has
    /// begun; none while it lasts.
    pub ended: Option<String>,
    /// What it must reach to win.
    pub target: Option<Target>,
    /// How the target or the overs were revised (`dls` …), if they were.
    pub method: Option<String>,
    /// Runs that are missing to the target; 0 once it is reached.
    pub runs_needed: Option<u32>,
    /// Legal balls that are left, where that is bounded.
    pub balls_left: Option<u32>,
    /// Runs an over that are needed; none without a target or a bound, or when nothing is left.
    pub required_rate: Option<f64>,
    /// Overs it may last at most, where that is bounded.
    pub overs_max: Option<u32>,
    /// Who faces the next ball, as far as the score tells: nobody until a new batter has faced.
    pub striker: Option<String>,
    /// Who stands at the other end, likewise.
    pub non_striker: Option<String>,
    /// Who bowled last.
    pub bowler: Option<String>,
    /// The balls of the over that is being bowled, or of the last.
    pub over: Vec<String>,
    /// What the fold must remember from ball to ball.
    #[serde(skip)]
    scratch: innings::Scratch,
}

/// Runs to nobody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct Extras {
    pub wides: u32,
    pub noballs: u32,
    pub byes: u32,
    pub legbyes: u32,
    /// In deliveries and between them.
    pub penalty: u32,
    pub total: u32,
}

/// Where a batter stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum BatterStatus {
    Batting,
    Out,
    /// The innings has ended.
    NotOut,
    /// Hurt or otherwise; may come back.
    Retired,
}

/// One batter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Batter {
    /// Who.
    pub name: String,
    /// Runs.
    pub runs: u32,
    /// Balls faced: all but wides.
    pub balls: u32,
    /// From the boundary.
    pub fours: u32,
    /// From over it.
    pub sixes: u32,
    /// Runs for 100 balls; none before the first.
    pub strike_rate: Option<f64>,
    /// Out, or still there.
    pub status: BatterStatus,
    /// The kind of dismissal, or of leaving.
    pub how: Option<Dismissal>,
    /// In words, of who is out or has left: `c Smith b Jones`, `retired hurt`.
    pub out: Option<String>,
}

/// One bowler.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bowler {
    /// Who.
    pub name: String,
    /// Overs and balls: `3.4`.
    pub overs: String,
    /// Legal deliveries.
    pub balls: u32,
    /// Whole overs, all by this bowler, without a run against their name.
    pub maidens: u32,
    /// Runs against their name: no byes, leg byes or penalties.
    pub runs: u32,
    /// Wickets to their name.
    pub wickets: u32,
    /// Wide deliveries, however many runs each brought.
    pub wides: u32,
    /// No-balls, likewise.
    pub noballs: u32,
    /// Legal deliveries without a run against their name.
    pub dots: u32,
    /// Runs an over; none before the first legal ball.
    pub economy: Option<f64>,
}

/// What two batters made together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Partnership {
    /// For which wicket, from 1.
    pub wicket: u32,
    /// Who.
    pub batters: [Share; 2],
    /// With extras.
    pub runs: u32,
    /// Deliveries but for wides.
    pub balls: u32,
    /// It lasts, or lasted to the end of the innings.
    pub unbroken: bool,
}

/// One batter's share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct Share {
    pub name: String,
    pub runs: u32,
    pub balls: u32,
}

/// The fall of a wicket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fall {
    /// Which, from 1.
    pub wicket: u32,
    /// The score at it.
    pub runs: u32,
    /// Who.
    pub player: String,
    /// At which ball: `5.3`, and `5.6` at the last of an over.
    pub overs: String,
}

/// One over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Over {
    /// From 1, as people count.
    pub number: u32,
    /// Who bowled it; two if one was hurt.
    pub bowlers: Vec<String>,
    /// Runs in it, of every kind.
    pub runs: u32,
    /// Wickets in it.
    pub wickets: u32,
    /// Each ball: `.`, `1`, `4`, `W`, `2wd`, `nb+4`, `1lb`.
    pub balls: Vec<String>,
    /// The score after it.
    pub score: String,
}

impl Card {
    /// An innings by its number.
    pub fn innings(&self, number: u32) -> Option<&Innings> {
        self.innings.iter().find(|innings| innings.number == number)
    }
}

/// Two decimals, as rates are written.
fn hundredths(rate: f64) -> f64 {
    (rate * 100.0).round() / 100.0
}

/// `5.3`.
fn overs_text(balls: u32, balls_per_over: u32) -> String {
    format!("{}.{}", balls / balls_per_over, balls % balls_per_over)
}
