//! The file as it stands. What we do not tell (officials, registry, powerplays) is not read.

use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct File {
    pub(super) meta: Meta,
    pub(super) info: Info,
    #[serde(default)]
    pub(super) innings: Vec<Innings>,
}

#[derive(Deserialize)]
pub(super) struct Meta {
    pub(super) data_version: String,
}

#[derive(Deserialize)]
pub(super) struct Info {
    pub(super) balls_per_over: u32,
    pub(super) event: Option<Competition>,
    pub(super) match_type: String,
    pub(super) outcome: Outcome,
    pub(super) overs: Option<u32>,
    #[serde(default)]
    pub(super) player_of_match: Vec<String>,
    pub(super) teams: [String; 2],
    pub(super) toss: Toss,
}

#[derive(Deserialize)]
pub(super) struct Competition {
    name: String,
    stage: Option<String>,
    match_number: Option<u32>,
}

impl Competition {
    /// `, Indian Premier League, Final`.
    pub(super) fn title(&self) -> String {
        match (&self.stage, self.match_number) {
            (Some(stage), _) => format!(", {}, {stage}", self.name),
            (None, Some(number)) => format!(", {}, match {number}", self.name),
            (None, None) => format!(", {}", self.name),
        }
    }
}

#[derive(Default, Deserialize)]
pub(super) struct Outcome {
    pub(super) winner: Option<String>,
    #[serde(default)]
    pub(super) by: By,
    pub(super) result: Option<String>,
    pub(super) eliminator: Option<String>,
    pub(super) bowl_out: Option<String>,
    pub(super) method: Option<String>,
}

#[derive(Clone, Copy, Default, Deserialize)]
pub(super) struct By {
    pub(super) innings: Option<u32>,
    pub(super) runs: Option<u32>,
    pub(super) wickets: Option<u32>,
}

#[derive(Deserialize)]
pub(super) struct Toss {
    pub(super) winner: String,
    pub(super) decision: String,
}

#[derive(Deserialize)]
pub(super) struct Innings {
    pub(super) team: String,
    #[serde(default)]
    pub(super) overs: Vec<Over>,
    #[serde(default)]
    pub(super) absent_hurt: Vec<String>,
    #[serde(default)]
    pub(super) penalty_runs: PenaltyRuns,
    #[serde(default)]
    pub(super) declared: bool,
    #[serde(default)]
    pub(super) forfeited: bool,
    pub(super) target: Option<Target>,
    #[serde(default)]
    pub(super) super_over: bool,
}

#[derive(Default, Deserialize)]
pub(super) struct PenaltyRuns {
    #[serde(default)]
    pub(super) pre: u32,
    #[serde(default)]
    pub(super) post: u32,
}

#[derive(Deserialize)]
pub(super) struct Target {
    pub(super) runs: Option<u32>,
    pub(super) overs: Option<serde_json::Number>,
}

#[derive(Deserialize)]
pub(super) struct Over {
    pub(super) over: u32,
    pub(super) deliveries: Vec<Delivery>,
}

#[derive(Deserialize)]
pub(super) struct Delivery {
    pub(super) batter: String,
    pub(super) bowler: String,
    pub(super) non_striker: String,
    pub(super) runs: Runs,
    #[serde(default)]
    pub(super) extras: Extras,
    #[serde(default)]
    pub(super) wickets: Vec<Wicket>,
    pub(super) review: Option<Review>,
}

#[derive(Deserialize)]
pub(super) struct Runs {
    pub(super) batter: u32,
    pub(super) extras: u32,
    pub(super) total: u32,
    #[serde(default)]
    pub(super) non_boundary: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Extras {
    pub(super) wides: u32,
    pub(super) noballs: u32,
    pub(super) byes: u32,
    pub(super) legbyes: u32,
    pub(super) penalty: u32,
}

#[derive(Deserialize)]
pub(super) struct Wicket {
    pub(super) kind: String,
    pub(super) player_out: String,
    #[serde(default)]
    pub(super) fielders: Vec<Fielder>,
}

#[derive(Deserialize)]
pub(super) struct Fielder {
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) substitute: bool,
}

#[derive(Deserialize)]
pub(super) struct Review {
    pub(super) by: String,
    pub(super) umpire: Option<String>,
    pub(super) batter: Option<String>,
    pub(super) decision: String,
    #[serde(default)]
    pub(super) umpires_call: bool,
    /// `wicket`, `wide`, `no ball` …; older files have none, and mean wickets.
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
}
