//! Cricket.

#[derive(Clone, PartialEq, prost::Oneof)]
pub enum CricketKind {
    #[prost(message, tag = "1")]
    Toss(Toss),
    #[prost(message, tag = "2")]
    InningsStarted(InningsStarted),
    #[prost(message, tag = "3")]
    Delivery(Delivery),
    #[prost(message, tag = "4")]
    Review(Review),
    #[prost(message, tag = "5")]
    Interruption(Interruption),
    #[prost(message, tag = "6")]
    TargetRevised(TargetRevised),
    #[prost(message, tag = "7")]
    Penalty(Penalty),
    #[prost(message, tag = "8")]
    Retired(Wicket),
    #[prost(message, tag = "9")]
    InningsEnded(InningsEnded),
    #[prost(message, tag = "10")]
    Result(Outcome),
    #[prost(message, tag = "11")]
    PlayerOfMatch(PlayerOfMatch),
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Cricket {
    #[prost(oneof = "CricketKind", tags = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11")]
    pub kind: Option<CricketKind>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Toss {
    #[prost(string, repeated, tag = "1")]
    pub teams: Vec<String>,
    #[prost(string, tag = "2")]
    pub winner: String,
    #[prost(string, tag = "3")]
    pub decision: String,
    #[prost(uint32, tag = "4")]
    pub balls_per_over: u32,
    #[prost(uint32, optional, tag = "5")]
    pub overs: Option<u32>,
    #[prost(string, tag = "6")]
    pub format: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct InningsStarted {
    #[prost(string, tag = "1")]
    pub batting: String,
    #[prost(string, tag = "2")]
    pub bowling: String,
    #[prost(bool, tag = "3")]
    pub super_over: bool,
    #[prost(message, optional, tag = "4")]
    pub target: Option<Target>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Target {
    #[prost(uint32, tag = "1")]
    pub runs: u32,
    #[prost(string, optional, tag = "2")]
    pub overs: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Delivery {
    #[prost(string, tag = "1")]
    pub batter: String,
    #[prost(string, tag = "2")]
    pub non_striker: String,
    #[prost(string, tag = "3")]
    pub bowler: String,
    #[prost(uint32, tag = "4")]
    pub runs: u32,
    #[prost(bool, tag = "5")]
    pub all_run: bool,
    #[prost(message, optional, tag = "6")]
    pub extras: Option<Extras>,
    #[prost(message, repeated, tag = "7")]
    pub wickets: Vec<Wicket>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Extras {
    #[prost(uint32, tag = "1")]
    pub wides: u32,
    #[prost(uint32, tag = "2")]
    pub noballs: u32,
    #[prost(uint32, tag = "3")]
    pub byes: u32,
    #[prost(uint32, tag = "4")]
    pub legbyes: u32,
    #[prost(uint32, tag = "5")]
    pub penalty: u32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Wicket {
    #[prost(enumeration = "Dismissal", tag = "1")]
    pub how: i32,
    #[prost(string, tag = "2")]
    pub player_out: String,
    #[prost(string, repeated, tag = "3")]
    pub fielders: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum Dismissal {
    Unspecified = 0,
    Bowled = 1,
    Caught = 2,
    CaughtAndBowled = 3,
    Lbw = 4,
    Stumped = 5,
    HitWicket = 6,
    RunOut = 7,
    HandledTheBall = 8,
    ObstructingTheField = 9,
    HitTheBallTwice = 10,
    TimedOut = 11,
    RetiredOut = 12,
    RetiredHurt = 13,
    RetiredNotOut = 14,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Review {
    #[prost(string, tag = "1")]
    pub by: String,
    #[prost(string, optional, tag = "2")]
    pub umpire: Option<String>,
    #[prost(string, optional, tag = "3")]
    pub batter: Option<String>,
    #[prost(enumeration = "ReviewOutcome", tag = "4")]
    pub outcome: i32,
    #[prost(bool, tag = "5")]
    pub umpires_call: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum ReviewOutcome {
    Unspecified = 0,
    Pending = 1,
    Upheld = 2,
    StruckDown = 3,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Interruption {
    #[prost(string, tag = "1")]
    pub reason: String,
    #[prost(bool, tag = "2")]
    pub stopped: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct TargetRevised {
    #[prost(message, optional, tag = "1")]
    pub target: Option<Target>,
    #[prost(uint32, optional, tag = "2")]
    pub overs: Option<u32>,
    #[prost(string, tag = "3")]
    pub method: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Penalty {
    #[prost(string, tag = "1")]
    pub team: String,
    #[prost(uint32, tag = "2")]
    pub runs: u32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct InningsEnded {
    #[prost(string, tag = "1")]
    pub how: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Outcome {
    #[prost(string, optional, tag = "1")]
    pub winner: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub by: Option<String>,
    #[prost(uint32, optional, tag = "3")]
    pub margin: Option<u32>,
    #[prost(string, optional, tag = "4")]
    pub result: Option<String>,
    #[prost(string, optional, tag = "5")]
    pub eliminator: Option<String>,
    #[prost(string, optional, tag = "6")]
    pub method: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct PlayerOfMatch {
    #[prost(string, tag = "1")]
    pub player: String,
}
