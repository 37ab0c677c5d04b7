//! Control frames, and what clients send.

#[derive(Clone, PartialEq, prost::Message)]
pub struct Subscribed {
    #[prost(string, tag = "1")]
    pub match_id: String,
    #[prost(string, tag = "2")]
    pub cursor: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Live {
    #[prost(string, tag = "1")]
    pub match_id: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct FeedPaused {
    #[prost(string, tag = "1")]
    pub match_id: String,
    #[prost(string, tag = "2")]
    pub reason: String,
    #[prost(string, tag = "3")]
    pub snapshot_url: String,
    #[prost(uint32, tag = "4")]
    pub retry_after_seconds: u32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct FeedResumed {
    #[prost(string, tag = "1")]
    pub match_id: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct SnapshotRequired {
    #[prost(string, tag = "1")]
    pub match_id: String,
    #[prost(string, tag = "2")]
    pub snapshot_url: String,
    #[prost(string, tag = "3")]
    pub cursor: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Refused {
    #[prost(string, tag = "1")]
    pub match_id: String,
    #[prost(string, tag = "2")]
    pub title: String,
    #[prost(string, tag = "3")]
    pub detail: String,
    #[prost(uint32, tag = "4")]
    pub status: u32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct TokenExpiring {
    #[prost(uint32, tag = "1")]
    pub in_seconds: u32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Error {
    #[prost(string, tag = "1")]
    pub detail: String,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub enum ClientFrameOp {
    #[prost(message, tag = "1")]
    Subscribe(Subscribe),
    #[prost(message, tag = "2")]
    Unsubscribe(Unsubscribe),
    #[prost(message, tag = "3")]
    Token(Token),
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ClientFrame {
    #[prost(oneof = "ClientFrameOp", tags = "1, 2, 3")]
    pub op: Option<ClientFrameOp>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Subscribe {
    #[prost(string, tag = "1")]
    pub match_id: String,
    #[prost(string, tag = "2")]
    pub since_event_id: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Unsubscribe {
    #[prost(string, tag = "1")]
    pub match_id: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Token {
    #[prost(string, tag = "1")]
    pub token: String,
}
