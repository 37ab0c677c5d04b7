//! Football.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum Side {
    Unspecified = 0,
    Home = 1,
    Away = 2,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct FootballPlace {
    #[prost(enumeration = "Side", tag = "1")]
    pub side: i32,
    #[prost(uint32, tag = "2")]
    pub nth: u32,
    #[prost(string, tag = "3")]
    pub clock: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ScoreUpdate {
    #[prost(string, optional, tag = "1")]
    pub player: Option<String>,
    #[prost(bool, tag = "2")]
    pub own: bool,
    #[prost(bool, tag = "3")]
    pub penalty: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ClockTick {
    #[prost(string, tag = "1")]
    pub period: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct GoalRetracted {
    #[prost(string, tag = "1")]
    pub reason: String,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub enum LineupChangeChange {
    #[prost(message, tag = "1")]
    Teams(Teams),
    #[prost(message, tag = "2")]
    Substitution(Substitution),
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct LineupChange {
    #[prost(oneof = "LineupChangeChange", tags = "1, 2")]
    pub change: Option<LineupChangeChange>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Teams {
    #[prost(string, tag = "1")]
    pub home: String,
    #[prost(string, tag = "2")]
    pub away: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Substitution {
    #[prost(string, tag = "1")]
    pub off: String,
    #[prost(string, tag = "2")]
    pub on: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Card {
    #[prost(string, optional, tag = "1")]
    pub player: Option<String>,
    #[prost(string, tag = "2")]
    pub colour: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ShootoutKick {
    #[prost(string, optional, tag = "1")]
    pub player: Option<String>,
    #[prost(bool, tag = "2")]
    pub scored: bool,
}
