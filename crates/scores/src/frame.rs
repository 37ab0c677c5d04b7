//! An event as viewers get it: encoded once, in JSON and in Protobuf (`proto/scores.proto`).

use bytes::Bytes;
use prost::Message;
use serde::Serialize;

use crate::{Body, Error, Event, EventId, Headline, Moment, MomentKind};

mod cricket;
mod decode;
mod football;
pub mod proto;

pub use decode::{Said, decode, fuzz};

/// One event in both encodings: whole frames, as they go out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Framed {
    /// For `pavilion.scores.json.v1`, SSE and long-poll.
    pub json: Bytes,
    /// For `pavilion.scores.proto.v1`: a `Frame` message.
    pub proto: Bytes,
}

#[derive(Serialize)]
struct Json<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    match_id: &'a str,
    event_id: EventId,
    revision: u32,
    cursor: &'a str,
    venue_ms: i64,
    ingest_ms: i64,
    correction: bool,
    body: &'a Body,
    score: &'a Headline,
    #[serde(skip_serializing_if = "Option::is_none")]
    moment: Option<&'a Moment>,
}

/// The cursor as text: opaque to clients, `{epoch:x}-{offset}`.
pub fn cursor_text((epoch, offset): (u32, u64)) -> String {
    format!("{epoch:x}-{offset}")
}

/// An event as viewers get it. `cursor` is its place in the match's log; `headline` and `moment` are the book's.
pub fn encode(event: &Event, cursor: (u32, u64), headline: &Headline, moment: Option<&Moment>) -> Framed {
    let cursor = cursor_text(cursor);
    let json = Json {
        kind: "score_event",
        match_id: &event.match_id,
        event_id: event.event_id,
        revision: event.revision,
        cursor: &cursor,
        venue_ms: event.venue_ms,
        ingest_ms: event.ingest_ms,
        correction: event.revision > 1,
        body: &event.body,
        score: headline,
        moment,
    };
    // Our own types have string keys only: writing them cannot fail.
    let json = serde_json::to_vec(&json).unwrap_or_default();
    let kind = proto::FrameKind::ScoreEvent(score_event(event, cursor, headline, moment));
    let proto = proto::Frame { kind: Some(kind) }.encode_to_vec();
    Framed { json: json.into(), proto: proto.into() }
}

fn score_event(
    event: &Event,
    cursor: String,
    headline: &Headline,
    moment: Option<&Moment>,
) -> proto::ScoreEvent {
    let (body, football_at) = match &event.body {
        Body::Cricket(happening) => (proto::ScoreEventBody::Cricket(cricket::to(happening)), None),
        Body::Football(happening) => (football::to(happening), Some(football::place(happening))),
        Body::Withdrawn { event_id: _, reason } => {
            (proto::ScoreEventBody::Withdrawn(proto::Withdrawn { reason: reason.clone() }), None)
        }
    };
    let sport = match headline {
        Headline::Cricket(headline) => proto::HeadlineSport::Cricket(cricket::to_headline(headline)),
        Headline::Football(headline) => proto::HeadlineSport::Football(football::to_headline(headline)),
    };
    proto::ScoreEvent {
        event_id: event.event_id.0,
        match_id: event.match_id.clone(),
        revision: event.revision,
        // Provenance is nobody's business outside.
        provider_id: String::new(),
        provider_seq: 0,
        venue_ts: Some(proto::Timestamp::from_ms(event.venue_ms)),
        cursor,
        correction: event.revision > 1,
        headline: Some(proto::Headline { sport: Some(sport) }),
        body: Some(body),
        football_at,
        moment: moment.map(|moment| proto::Moment {
            kind: moment_kind(moment.kind).into(),
            text: moment.text.clone(),
            seek_ts: Some(proto::Timestamp::from_ms(moment.seek_ms)),
        }),
        ingest_ts: Some(proto::Timestamp::from_ms(event.ingest_ms)),
    }
}

fn moment_kind(kind: MomentKind) -> proto::MomentKind {
    match kind {
        MomentKind::HatTrick => proto::MomentKind::HatTrick,
        MomentKind::Wicket => proto::MomentKind::Wicket,
        MomentKind::TwoHundred => proto::MomentKind::TwoHundred,
        MomentKind::HundredAndFifty => proto::MomentKind::HundredAndFifty,
        MomentKind::Hundred => proto::MomentKind::Hundred,
        MomentKind::Fifty => proto::MomentKind::Fifty,
        MomentKind::HundredPartnership => proto::MomentKind::HundredPartnership,
        MomentKind::Six => proto::MomentKind::Six,
        MomentKind::Four => proto::MomentKind::Four,
        MomentKind::Review => proto::MomentKind::Review,
        MomentKind::Goal => proto::MomentKind::Goal,
        MomentKind::GoalRetracted => proto::MomentKind::GoalRetracted,
        MomentKind::Card => proto::MomentKind::Card,
        MomentKind::ShootoutKick => proto::MomentKind::ShootoutKick,
        MomentKind::Result => proto::MomentKind::Result,
    }
}

fn missing(what: &str) -> Error {
    Error::Frame(format!("it lacks {what}"))
}
