//! What a client asks for on its socket. Pure.

use serde::Deserialize;

use crate::cursor::Asked;
use crate::frame::Code;
use crate::proto::{Fields, Malformed};

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// Events of a match, from there.
    Subscribe { match_id: String, since: Asked },
    /// No more of them.
    Unsubscribe { match_id: String },
    /// A token that replaces the one before.
    Token { token: String },
    /// Something that a newer client may know.
    Unknown,
}

#[derive(Deserialize)]
struct Said {
    op: String,
    match_id: Option<String>,
    since_event_id: Option<Since>,
    token: Option<String>,
}

/// A cursor; a number, which some clients make of an id, is one that is not known.
#[derive(Deserialize)]
#[serde(untagged)]
enum Since {
    Text(String),
    Number(serde_json::Number),
}

impl Op {
    /// One in JSON.
    ///
    /// # Errors
    ///
    /// The code to close with: who writes what cannot be read would write it again.
    pub(crate) fn of_json(text: &str) -> Result<Op, Code> {
        let said: Said = serde_json::from_str(text).map_err(|_| Code::Client)?;
        Ok(match said.op.as_str() {
            "subscribe" => Op::Subscribe {
                match_id: said.match_id.ok_or(Code::Client)?,
                since: match said.since_event_id {
                    None => Asked::New,
                    Some(Since::Text(text)) => Asked::read(&text),
                    Some(Since::Number(number)) => Asked::read(&number.to_string()),
                },
            },
            "unsubscribe" => Op::Unsubscribe { match_id: said.match_id.ok_or(Code::Client)? },
            "token" => Op::Token { token: said.token.ok_or(Code::Client)? },
            _ => Op::Unknown,
        })
    }

    /// One in Protobuf: a `ClientFrame`.
    ///
    /// # Errors
    ///
    /// As for [`Op::of_json`].
    pub(crate) fn of_proto(bytes: &[u8]) -> Result<Op, Code> {
        read_proto(bytes).map_err(|_| Code::Client)
    }
}

fn read_proto(bytes: &[u8]) -> Result<Op, Malformed> {
    let mut op = Op::Unknown;
    let mut frame = Fields(bytes);
    // Of a oneof the last counts.
    while let Some((tag, inner)) = frame.next()? {
        let (mut first, mut second) = (String::new(), String::new());
        let mut fields = Fields(inner);
        while let Some((tag, value)) = fields.next()? {
            let text = || std::str::from_utf8(value).map(str::to_owned).map_err(|_| Malformed);
            match tag {
                1 => first = text()?,
                2 => second = text()?,
                _ => {}
            }
        }
        op = match tag {
            1 => {
                let since = if second.is_empty() { Asked::New } else { Asked::read(&second) };
                Op::Subscribe { match_id: first, since }
            }
            2 => Op::Unsubscribe { match_id: first },
            3 => Op::Token { token: first },
            _ => op,
        };
    }
    Ok(op)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto;
    use relay::Cursor;

    #[test]
    fn json() {
        let subscribe = |since| Ok(Op::Subscribe { match_id: "m".into(), since });
        let of = Op::of_json;
        assert_eq!(of(r#"{"op":"subscribe","match_id":"m"}"#), subscribe(Asked::New));
        assert_eq!(of(r#"{"op":"subscribe","match_id":"m","since_event_id":null}"#), subscribe(Asked::New));
        let at = Asked::After(Cursor { epoch: 0x1f3a, offset: 412 });
        assert_eq!(of(r#"{"op":"subscribe","match_id":"m","since_event_id":"1f3a-412"}"#), subscribe(at));
        assert_eq!(
            of(r#"{"op":"subscribe","match_id":"m","since_event_id":78145327}"#),
            subscribe(Asked::Unknown)
        );
        assert_eq!(of(r#"{"op":"dance"}"#), Ok(Op::Unknown));
        for bad in [
            "",
            "[]",
            r#"{"op":"subscribe"}"#,
            r#"{"op":1}"#,
            r#"{"op":"token"}"#,
            r#"{"op":"token","token":1}"#,
        ] {
            assert_eq!(of(bad), Err(Code::Client), "{bad}");
        }
    }

    #[test]
    fn protobuf() {
        let mut inner = Vec::new();
        proto::bytes(&mut inner, 1, b"m");
        proto::bytes(&mut inner, 2, b"1-2");
        let mut frame = Vec::new();
        proto::message(&mut frame, 1, &inner);
        let since = Asked::After(Cursor { epoch: 1, offset: 2 });
        assert_eq!(Op::of_proto(&frame), Ok(Op::Subscribe { match_id: "m".into(), since }));
        assert_eq!(Op::of_proto(&frame[..3]), Err(Code::Client));
        assert_eq!(Op::of_proto(&[]), Ok(Op::Unknown));
    }
}
