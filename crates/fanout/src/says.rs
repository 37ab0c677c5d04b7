//! What the edge itself says to viewers, in each encoding. Pure.

use relay::Cursor;
use serde::Serialize;

use crate::cursor::Text;
use crate::deps::Refusal;
use crate::frame::{self, Opcode};
use crate::limits::PAUSED_RETRY_S;
use crate::proto;

/// How a socket's frames are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Encoding {
    /// WebSocket text frames with JSON.
    Json = 0,
    /// WebSocket binary frames with Protobuf.
    Proto = 1,
    /// Server-sent events with JSON.
    Sse = 2,
}

/// How many there are.
pub(crate) const ENCODINGS: usize = 3;

/// A control frame, as the agreement of the score plane names them.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Say<'a> {
    /// What follows is new, or replayed, after that cursor.
    Subscribed { match_id: &'a str, cursor: String },
    /// The replay is over.
    Live { match_id: &'a str },
    /// Nothing comes for a while.
    FeedPaused { match_id: &'a str, reason: &'a str, snapshot_url: String, retry_after_seconds: u32 },
    /// It goes on.
    FeedResumed { match_id: &'a str },
    /// What the client knows is void: fetch a snapshot; live events follow after that cursor.
    SnapshotRequired { match_id: &'a str, snapshot_url: String, cursor: String },
    /// Not this match.
    Refused { match_id: &'a str, title: &'a str, detail: &'a str, status: u16 },
    /// A new token, or it ends.
    TokenExpiring { in_seconds: u64 },
    /// What the client did wrong.
    Error { detail: &'a str },
}

impl<'a> Say<'a> {
    /// [`Say::Subscribed`].
    pub(crate) fn subscribed(match_id: &'a str, cursor: Cursor) -> Say<'a> {
        Say::Subscribed { match_id, cursor: Text(cursor).to_string() }
    }

    /// [`Say::FeedPaused`].
    pub(crate) fn paused(match_id: &'a str, reason: &'a str) -> Say<'a> {
        let retry_after_seconds = PAUSED_RETRY_S;
        Say::FeedPaused { match_id, reason, snapshot_url: snapshot_url(match_id), retry_after_seconds }
    }

    /// [`Say::SnapshotRequired`].
    pub(crate) fn snapshot_required(match_id: &'a str, cursor: Cursor) -> Say<'a> {
        let cursor = Text(cursor).to_string();
        // One that is at least as new: a cache must not give an older one.
        let snapshot_url = format!("{}?since={cursor}", snapshot_url(match_id));
        Say::SnapshotRequired { match_id, snapshot_url, cursor }
    }

    /// [`Say::Refused`].
    pub(crate) fn refused(match_id: &'a str, refusal: &'a Refusal) -> Say<'a> {
        let Refusal { status, title, detail } = refusal;
        Say::Refused { match_id, title, detail, status: *status }
    }

    /// In JSON.
    pub(crate) fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|_| r#"{"type":"error"}"#.to_owned())
    }

    /// As a `Frame` of `scores.proto`.
    pub(crate) fn proto(&self) -> Vec<u8> {
        let mut inner = Vec::new();
        let mut text = |tag, value: &str| proto::bytes(&mut inner, tag, value.as_bytes());
        let tag = match self {
            Say::Subscribed { match_id, cursor } => {
                text(1, match_id);
                text(2, cursor);
                2
            }
            Say::Live { match_id } => {
                text(1, match_id);
                3
            }
            Say::FeedPaused { match_id, reason, snapshot_url, retry_after_seconds } => {
                text(1, match_id);
                text(2, reason);
                text(3, snapshot_url);
                proto::number(&mut inner, 4, u64::from(*retry_after_seconds));
                4
            }
            Say::FeedResumed { match_id } => {
                text(1, match_id);
                5
            }
            Say::SnapshotRequired { match_id, snapshot_url, cursor } => {
                text(1, match_id);
                text(2, snapshot_url);
                text(3, cursor);
                6
            }
            Say::Refused { match_id, title, detail, status } => {
                text(1, match_id);
                text(2, title);
                text(3, detail);
                proto::number(&mut inner, 4, u64::from(*status));
                7
            }
            Say::TokenExpiring { in_seconds } => {
                proto::number(&mut inner, 1, *in_seconds);
                8
            }
            Say::Error { detail } => {
                text(1, detail);
                9
            }
        };
        let mut frame = Vec::with_capacity(inner.len() + 4);
        proto::message(&mut frame, tag, &inner);
        frame
    }

    /// Appends it as it goes to a socket.
    pub(crate) fn write(&self, encoding: Encoding, to: &mut Vec<u8>) {
        match encoding {
            Encoding::Json => frame::write(to, Opcode::Text, self.json().as_bytes()),
            Encoding::Proto => frame::write(to, Opcode::Binary, &self.proto()),
            Encoding::Sse => {
                to.extend_from_slice(b"data: ");
                to.extend_from_slice(self.json().as_bytes());
                to.extend_from_slice(b"\n\n");
            }
        }
    }

    /// In all encodings, to be sent to many.
    pub(crate) fn all(&self) -> [Vec<u8>; ENCODINGS] {
        [Encoding::Json, Encoding::Proto, Encoding::Sse].map(|encoding| {
            let mut frame = Vec::new();
            self.write(encoding, &mut frame);
            frame
        })
    }
}

/// Where a match's snapshot is.
fn snapshot_url(match_id: &str) -> String {
    format!("/v1/matches/{match_id}/snapshot")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_as_agreed() {
        let cursor = Cursor { epoch: 0x1f3a, offset: 412 };
        for (say, json) in [
            (Say::subscribed("m", cursor), r#"{"type":"subscribed","match_id":"m","cursor":"1f3a-412"}"#),
            (
                Say::paused("m", "shard_lost"),
                r#"{"type":"feed_paused","match_id":"m","reason":"shard_lost","snapshot_url":"/v1/matches/m/snapshot","retry_after_seconds":5}"#,
            ),
            (
                Say::snapshot_required("m", cursor),
                r#"{"type":"snapshot_required","match_id":"m","snapshot_url":"/v1/matches/m/snapshot?since=1f3a-412","cursor":"1f3a-412"}"#,
            ),
            (Say::TokenExpiring { in_seconds: 60 }, r#"{"type":"token_expiring","in_seconds":60}"#),
        ] {
            assert_eq!(say.json(), json);
        }
    }

    #[test]
    fn protobuf_as_agreed() {
        assert_eq!(Say::Live { match_id: "m" }.proto(), [3 << 3 | 2, 3, 1 << 3 | 2, 1, b'm']);
        assert_eq!(Say::TokenExpiring { in_seconds: 60 }.proto(), [8 << 3 | 2, 2, 1 << 3, 60]);
        assert_eq!(Say::TokenExpiring { in_seconds: 0 }.proto(), [8 << 3 | 2, 0]);
    }
}
