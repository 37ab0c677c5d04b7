//! Frames as a client reads them.

use prost::Message;
use serde::Deserialize;

use super::{Framed, cricket, football, missing, moment_kind, proto};
use crate::{Body, Error, EventId, Headline, Moment, MomentKind};

/// A `score_event` frame as a client reads it, from either encoding.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Said {
    /// The match.
    pub match_id: String,
    /// Which happening.
    pub event_id: EventId,
    /// From 1.
    pub revision: u32,
    /// Where to resume after this.
    pub cursor: String,
    /// UTC, milliseconds.
    pub venue_ms: i64,
    /// UTC, milliseconds.
    pub ingest_ms: i64,
    /// `revision > 1`.
    pub correction: bool,
    /// What happened.
    pub body: Body,
    /// The score after it.
    pub score: Headline,
    /// If it is one.
    pub moment: Option<Moment>,
}

impl Said {
    /// Reads a JSON frame.
    ///
    /// # Errors
    /// It is no `score_event`.
    pub fn from_json(json: &[u8]) -> Result<Said, Error> {
        serde_json::from_slice(json).map_err(|error| Error::Frame(error.to_string()))
    }

    /// Reads a Protobuf frame.
    ///
    /// # Errors
    /// It is no `score_event`.
    pub fn from_proto(bytes: &[u8]) -> Result<Said, Error> {
        match decode(bytes)?.kind {
            Some(proto::FrameKind::ScoreEvent(event)) => Said::of(&event),
            _ => Err(missing("an event")),
        }
    }

    fn of(event: &proto::ScoreEvent) -> Result<Said, Error> {
        let event_id = EventId(event.event_id);
        let time = |stamp: &Option<proto::Timestamp>| {
            stamp.as_ref().map(proto::Timestamp::ms).ok_or_else(|| missing("a time"))
        };
        let venue_ms = time(&event.venue_ts)?;
        let body = match event.body.as_ref().ok_or_else(|| missing("a body"))? {
            proto::ScoreEventBody::Cricket(said) => Body::Cricket(cricket::from(event_id, said)?),
            proto::ScoreEventBody::Withdrawn(said) => {
                Body::Withdrawn { event_id, reason: said.reason.clone() }
            }
            body => football::from(body, event.football_at.as_ref())?
                .map(Body::Football)
                .ok_or_else(|| missing("a body that is known"))?,
        };
        let score = match event.headline.as_ref().and_then(|headline| headline.sport.as_ref()) {
            Some(proto::HeadlineSport::Cricket(said)) => Headline::Cricket(cricket::from_headline(said)),
            Some(proto::HeadlineSport::Football(said)) => Headline::Football(football::from_headline(said)),
            None => return Err(missing("a score")),
        };
        let moment = event.moment.as_ref().map(|said| {
            let kind = MomentKind::ALL.into_iter().find(|kind| moment_kind(*kind) == said.kind());
            let kind = kind.ok_or_else(|| missing("the kind of a moment"))?;
            let seek_ms = time(&said.seek_ts)?;
            Ok::<_, Error>(Moment { event_id, venue_ms, seek_ms, kind, text: said.text.clone() })
        });
        Ok(Said {
            match_id: event.match_id.clone(),
            event_id,
            revision: event.revision,
            cursor: event.cursor.clone(),
            venue_ms,
            ingest_ms: time(&event.ingest_ts)?,
            correction: event.correction,
            body,
            score,
            moment: moment.transpose()?,
        })
    }
}

/// Reads a Protobuf frame of any kind.
///
/// # Errors
/// It is no `Frame`.
pub fn decode(bytes: &[u8]) -> Result<proto::Frame, Error> {
    proto::Frame::decode(bytes).map_err(|error| Error::Frame(error.to_string()))
}

impl Framed {
    /// What both encodings say, which is the same.
    ///
    /// # Errors
    /// One of them is no `score_event`.
    pub fn said(&self) -> Result<[Said; 2], Error> {
        Ok([Said::from_json(&self.json)?, Said::from_proto(&self.proto)?])
    }
}

/// For fuzzing: whatever is read is encoded again so that it says the same.
pub fn fuzz(bytes: &[u8]) {
    let _ = proto::ClientFrame::decode(bytes);
    for said in [Said::from_json(bytes), Said::from_proto(bytes)].into_iter().flatten() {
        let event = crate::Event {
            match_id: said.match_id.clone(),
            event_id: said.event_id,
            revision: said.revision,
            provider_id: String::new(),
            provider_seq: 0,
            venue_ms: said.venue_ms,
            ingest_ms: said.ingest_ms,
            body: said.body.clone(),
        };
        // What is not of our making may contradict itself; encoded by us it no longer does.
        if said.body.check().is_err() || said.body.event_id() != said.event_id {
            continue;
        }
        let framed = super::encode(&event, (7, 1), &said.score, said.moment.as_ref());
        let again = framed.said().map(|[json, proto]| (json.body, proto.body));
        assert_eq!(again.ok(), Some((said.body.clone(), said.body)));
    }
}
