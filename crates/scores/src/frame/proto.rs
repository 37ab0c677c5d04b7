//! The messages of `proto/scores.proto`, where each is described; a test holds the two against each other. Written by
//! hand so that nobody needs `protoc` to build.

#![allow(missing_docs)]

mod control;
mod cricket;
mod football;

pub use control::*;
pub use cricket::*;
pub use football::*;

/// `google.protobuf.Timestamp`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, prost::Message)]
pub struct Timestamp {
    #[prost(int64, tag = "1")]
    pub seconds: i64,
    #[prost(int32, tag = "2")]
    pub nanos: i32,
}

impl Timestamp {
    /// Of UTC in milliseconds.
    pub fn from_ms(ms: i64) -> Timestamp {
        // Below 10^9 by the remainder.
        Timestamp { seconds: ms.div_euclid(1_000), nanos: (ms.rem_euclid(1_000) * 1_000_000) as i32 }
    }

    /// UTC in milliseconds; saturates where no year is that late.
    pub fn ms(&self) -> i64 {
        self.seconds.saturating_mul(1_000).saturating_add(i64::from(self.nanos) / 1_000_000)
    }
}

// Nearly every frame is the large one.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum FrameKind {
    #[prost(message, tag = "1")]
    ScoreEvent(ScoreEvent),
    #[prost(message, tag = "2")]
    Subscribed(Subscribed),
    #[prost(message, tag = "3")]
    Live(Live),
    #[prost(message, tag = "4")]
    FeedPaused(FeedPaused),
    #[prost(message, tag = "5")]
    FeedResumed(FeedResumed),
    #[prost(message, tag = "6")]
    SnapshotRequired(SnapshotRequired),
    #[prost(message, tag = "7")]
    Refused(Refused),
    #[prost(message, tag = "8")]
    TokenExpiring(TokenExpiring),
    #[prost(message, tag = "9")]
    Error(Error),
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Frame {
    #[prost(oneof = "FrameKind", tags = "1, 2, 3, 4, 5, 6, 7, 8, 9")]
    pub kind: Option<FrameKind>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub enum ScoreEventBody {
    #[prost(message, tag = "10")]
    Score(ScoreUpdate),
    #[prost(message, tag = "11")]
    Clock(ClockTick),
    #[prost(message, tag = "12")]
    Retracted(GoalRetracted),
    #[prost(message, tag = "13")]
    Lineup(LineupChange),
    #[prost(message, tag = "20")]
    Cricket(Cricket),
    #[prost(message, tag = "21")]
    Card(Card),
    #[prost(message, tag = "22")]
    ShootoutKick(ShootoutKick),
    #[prost(message, tag = "23")]
    Withdrawn(Withdrawn),
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ScoreEvent {
    #[prost(uint64, tag = "1")]
    pub event_id: u64,
    #[prost(string, tag = "2")]
    pub match_id: String,
    #[prost(uint32, tag = "3")]
    pub revision: u32,
    #[prost(string, tag = "4")]
    pub provider_id: String,
    #[prost(uint64, tag = "5")]
    pub provider_seq: u64,
    #[prost(message, optional, tag = "6")]
    pub venue_ts: Option<Timestamp>,
    #[prost(string, tag = "7")]
    pub cursor: String,
    #[prost(bool, tag = "8")]
    pub correction: bool,
    #[prost(message, optional, tag = "9")]
    pub headline: Option<Headline>,
    #[prost(oneof = "ScoreEventBody", tags = "10, 11, 12, 13, 20, 21, 22, 23")]
    pub body: Option<ScoreEventBody>,
    #[prost(message, optional, tag = "14")]
    pub football_at: Option<FootballPlace>,
    #[prost(message, optional, tag = "15")]
    pub moment: Option<Moment>,
    #[prost(message, optional, tag = "16")]
    pub ingest_ts: Option<Timestamp>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Withdrawn {
    #[prost(string, tag = "1")]
    pub reason: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Moment {
    #[prost(enumeration = "MomentKind", tag = "1")]
    pub kind: i32,
    #[prost(string, tag = "2")]
    pub text: String,
    #[prost(message, optional, tag = "3")]
    pub seek_ts: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum MomentKind {
    Unspecified = 0,
    HatTrick = 1,
    Wicket = 2,
    TwoHundred = 3,
    HundredAndFifty = 4,
    Hundred = 5,
    Fifty = 6,
    HundredPartnership = 7,
    Six = 8,
    Four = 9,
    Review = 10,
    Goal = 11,
    GoalRetracted = 12,
    Card = 13,
    ShootoutKick = 14,
    Result = 15,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub enum HeadlineSport {
    #[prost(message, tag = "1")]
    Cricket(CricketHeadline),
    #[prost(message, tag = "2")]
    Football(FootballHeadline),
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Headline {
    #[prost(oneof = "HeadlineSport", tags = "1, 2")]
    pub sport: Option<HeadlineSport>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct CricketHeadline {
    #[prost(uint32, tag = "1")]
    pub innings: u32,
    #[prost(string, tag = "2")]
    pub batting: String,
    #[prost(string, tag = "3")]
    pub bowling: String,
    #[prost(uint32, tag = "4")]
    pub runs: u32,
    #[prost(uint32, tag = "5")]
    pub wickets: u32,
    #[prost(string, tag = "6")]
    pub overs: String,
    #[prost(uint32, tag = "7")]
    pub balls: u32,
    #[prost(uint32, optional, tag = "8")]
    pub target: Option<u32>,
    #[prost(string, tag = "9")]
    pub text: String,
    #[prost(string, optional, tag = "10")]
    pub result: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct FootballHeadline {
    #[prost(message, optional, tag = "1")]
    pub home: Option<FootballTeam>,
    #[prost(message, optional, tag = "2")]
    pub away: Option<FootballTeam>,
    #[prost(string, tag = "3")]
    pub clock: String,
    #[prost(string, tag = "4")]
    pub text: String,
    #[prost(string, optional, tag = "5")]
    pub result: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct FootballTeam {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(uint32, tag = "2")]
    pub goals: u32,
    #[prost(uint32, optional, tag = "3")]
    pub shootout: Option<u32>,
}
