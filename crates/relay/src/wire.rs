//! What is said on a connection. A frame is its length (32 bits, big-endian, without itself), a byte for its kind, and
//! its fields in order: numbers big-endian, texts and bytes behind their length.
//!
//! A subscription has a number of the taker's choosing, new for each time that it subscribes, so that frames on their
//! way to an old subscription cannot be taken for those of a new one.

use bytes::{Buf, BufMut, Bytes, BytesMut};

use crate::limits::{FRAME_BYTES_MAX, NAME_BYTES_MAX, REASON_BYTES_MAX, TOPIC_BYTES_MAX};
use crate::{Cursor, Message};

/// What both sides greet with; another one ends the connection.
pub(crate) const VERSION: u16 = 1;

/// A number of a subscription.
pub(crate) type Sub = u32;

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// First, from both.
    Hello { version: u16, name: String },
    /// From either: I am here.
    Beat,
    /// Taker: give me this topic, continuing after the cursor.
    Subscribe { sub: Sub, topic: String, after: Option<Cursor> },
    /// Taker: no more.
    Unsubscribe { sub: Sub },
    /// Taker: everything up to and with this one has been taken.
    Ack { sub: Sub, upto: Cursor },
    /// Publisher: what follows continues after this; and whether the topic is paused.
    Start { sub: Sub, after: Cursor, paused: Option<String> },
    /// Publisher: the next one.
    Message { sub: Sub, message: Message },
    /// Publisher: that was all so far.
    Live { sub: Sub },
    /// Publisher: nothing will come for a while.
    Paused { sub: Sub, reason: String },
    /// Publisher: it goes on.
    Resumed { sub: Sub },
    /// Publisher: you were too slow; subscribe again when you can take more.
    Dropped { sub: Sub },
}

/// Bytes that are not a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Malformed {
    #[error("a frame of {0} bytes")]
    Length(usize),
    #[error("a frame of unknown kind {0}")]
    Kind(u8),
    #[error("a frame whose fields do not fill it")]
    Fields,
    #[error("a text that is too long or not UTF-8")]
    Text,
}

impl Frame {
    /// Appends it to `out`.
    pub(crate) fn encode(&self, out: &mut BytesMut) {
        let start = out.len();
        out.put_u32(0);
        match self {
            Frame::Hello { version, name } => {
                out.put_u8(0);
                out.put_u16(*version);
                put_text(out, name);
            }
            Frame::Beat => out.put_u8(1),
            Frame::Subscribe { sub, topic, after } => {
                out.put_u8(2);
                out.put_u32(*sub);
                put_text(out, topic);
                out.put_u8(u8::from(after.is_some()));
                if let Some(after) = after {
                    put_cursor(out, *after);
                }
            }
            Frame::Unsubscribe { sub } => put_sub(out, 3, *sub),
            Frame::Ack { sub, upto } => {
                put_sub(out, 4, *sub);
                put_cursor(out, *upto);
            }
            Frame::Start { sub, after, paused } => {
                put_sub(out, 5, *sub);
                put_cursor(out, *after);
                out.put_u8(u8::from(paused.is_some()));
                if let Some(reason) = paused {
                    put_text(out, reason);
                }
            }
            Frame::Message { sub, message } => put_message(out, *sub, message),
            Frame::Live { sub } => put_sub(out, 7, *sub),
            Frame::Paused { sub, reason } => {
                put_sub(out, 8, *sub);
                put_text(out, reason);
            }
            Frame::Resumed { sub } => put_sub(out, 9, *sub),
            Frame::Dropped { sub } => put_sub(out, 10, *sub),
        }
        close(out, start);
    }

    /// Takes the first frame from `input`; none: more bytes are needed.
    ///
    /// # Errors
    /// Bytes that no peer of ours sends; nothing after them can be understood.
    pub(crate) fn decode(input: &mut BytesMut) -> Result<Option<Frame>, Malformed> {
        let Some((length, _)) = input.split_first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_be_bytes(*length) as usize;
        if length == 0 || length > FRAME_BYTES_MAX {
            return Err(Malformed::Length(length));
        }
        if input.len() < 4 + length {
            return Ok(None);
        }
        input.advance(4);
        let mut fields = Fields(&input[..length]);
        let frame = read(&mut fields)?;
        if !fields.0.is_empty() {
            return Err(Malformed::Fields);
        }
        input.advance(length);
        Ok(Some(frame))
    }
}

/// Appends a message's frame without taking the message apart.
pub(crate) fn message(out: &mut BytesMut, sub: Sub, message: &Message) {
    let start = out.len();
    out.put_u32(0);
    put_message(out, sub, message);
    close(out, start);
}

fn put_message(out: &mut BytesMut, sub: Sub, message: &Message) {
    put_sub(out, 6, sub);
    out.put_u64(message.offset);
    out.put_u64(message.event);
    out.put_u32(message.revision);
    out.put_i64(message.ingest_us);
    for bytes in [&message.json, &message.proto] {
        out.put_u32(bytes.len() as u32);
        out.put_slice(bytes);
    }
}

/// Whether it fits into a frame, and else how large it is.
pub(crate) fn fits(message: &Message) -> Result<(), usize> {
    // Kind, subscription, key and two lengths.
    const HEAD: usize = 1 + 4 + 8 + 8 + 4 + 8 + 4 + 4;
    let length = HEAD + message.json.len() + message.proto.len();
    if length <= FRAME_BYTES_MAX { Ok(()) } else { Err(length) }
}

fn put_sub(out: &mut BytesMut, kind: u8, sub: Sub) {
    out.put_u8(kind);
    out.put_u32(sub);
}

fn put_cursor(out: &mut BytesMut, cursor: Cursor) {
    out.put_u32(cursor.epoch);
    out.put_u64(cursor.offset);
}

/// The beginning of a text, at most so many bytes of it.
pub(crate) fn cut(text: &str, max: usize) -> &str {
    let end = (0..=max.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

/// Texts are bounded where they come in; what is longer all the same is cut, never a wrong length.
fn put_text(out: &mut BytesMut, text: &str) {
    let bytes = cut(text, TOPIC_BYTES_MAX).as_bytes();
    out.put_u16(bytes.len() as u16);
    out.put_slice(bytes);
}

fn close(out: &mut BytesMut, start: usize) {
    let length = (out.len() - start - 4) as u32;
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}

/// What is left of a frame.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Malformed::Fields)?;
        self.0 = rest;
        Ok(taken)
    }

    fn number<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.0.split_first_chunk::<N>().ok_or(Malformed::Fields)?;
        self.0 = rest;
        Ok(*taken)
    }

    fn u32(&mut self) -> Result<u32, Malformed> {
        self.number().map(u32::from_be_bytes)
    }

    fn u64(&mut self) -> Result<u64, Malformed> {
        self.number().map(u64::from_be_bytes)
    }

    /// A flag is 0 or 1, so that a frame has one spelling.
    fn flag(&mut self) -> Result<bool, Malformed> {
        match self.number()? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(Malformed::Fields),
        }
    }

    fn text(&mut self, max: usize) -> Result<String, Malformed> {
        let length = usize::from(self.number().map(u16::from_be_bytes)?);
        if length > max {
            return Err(Malformed::Text);
        }
        let bytes = self.take(length)?;
        std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| Malformed::Text)
    }

    fn cursor(&mut self) -> Result<Cursor, Malformed> {
        Ok(Cursor { epoch: self.u32()?, offset: self.u64()? })
    }
}

fn read(fields: &mut Fields<'_>) -> Result<Frame, Malformed> {
    let [kind] = fields.number()?;
    Ok(match kind {
        0 => Frame::Hello {
            version: fields.number().map(u16::from_be_bytes)?,
            name: fields.text(NAME_BYTES_MAX)?,
        },
        1 => Frame::Beat,
        2 => Frame::Subscribe {
            sub: fields.u32()?,
            topic: fields.text(TOPIC_BYTES_MAX)?,
            after: if fields.flag()? { Some(fields.cursor()?) } else { None },
        },
        3 => Frame::Unsubscribe { sub: fields.u32()? },
        4 => Frame::Ack { sub: fields.u32()?, upto: fields.cursor()? },
        5 => Frame::Start {
            sub: fields.u32()?,
            after: fields.cursor()?,
            paused: if fields.flag()? { Some(fields.text(REASON_BYTES_MAX)?) } else { None },
        },
        6 => Frame::Message { sub: fields.u32()?, message: read_message(fields)? },
        7 => Frame::Live { sub: fields.u32()? },
        8 => Frame::Paused { sub: fields.u32()?, reason: fields.text(REASON_BYTES_MAX)? },
        9 => Frame::Resumed { sub: fields.u32()? },
        10 => Frame::Dropped { sub: fields.u32()? },
        kind => return Err(Malformed::Kind(kind)),
    })
}

fn read_message(fields: &mut Fields<'_>) -> Result<Message, Malformed> {
    let (offset, event, revision) = (fields.u64()?, fields.u64()?, fields.u32()?);
    let ingest_us = fields.number().map(i64::from_be_bytes)?;
    let length = fields.u32()? as usize;
    let json = fields.take(length)?;
    let length = fields.u32()? as usize;
    let proto = fields.take(length)?;
    // One allocation of its own: a slice of the socket's buffer would keep all of that in memory.
    let both = Bytes::from([json, proto].concat());
    let (json, proto) = (both.slice(..json.len()), both.slice(json.len()..));
    Ok(Message { offset, event, revision, ingest_us, json, proto })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Frame> {
        let after = Cursor { epoch: 7, offset: u64::MAX };
        let message = Message {
            offset: 3,
            event: 1_005_003_000,
            revision: 2,
            ingest_us: -5,
            json: Bytes::from_static(b"{}"),
            proto: Bytes::from_static(b"\x0a"),
        };
        vec![
            Frame::Hello { version: VERSION, name: "edge é".into() },
            Frame::Beat,
            Frame::Subscribe { sub: 1, topic: "demo".into(), after: None },
            Frame::Subscribe { sub: 2, topic: String::new(), after: Some(after) },
            Frame::Unsubscribe { sub: 3 },
            Frame::Ack { sub: u32::MAX, upto: after },
            Frame::Start { sub: 4, after, paused: None },
            Frame::Start { sub: 4, after, paused: Some("spine_lost".into()) },
            Frame::Message { sub: 5, message },
            Frame::Live { sub: 6 },
            Frame::Paused { sub: 7, reason: "spine_lost".into() },
            Frame::Resumed { sub: 8 },
            Frame::Dropped { sub: 9 },
        ]
    }

    #[test]
    fn what_is_written_is_read_however_it_arrives() {
        let mut bytes = BytesMut::new();
        all().iter().for_each(|frame| frame.encode(&mut bytes));
        let (mut input, mut seen) = (BytesMut::new(), Vec::new());
        for byte in bytes {
            input.put_u8(byte);
            seen.extend(Frame::decode(&mut input).unwrap());
        }
        assert_eq!((seen, input.len()), (all(), 0));
    }

    #[test]
    fn every_cut_and_every_added_byte_is_noticed() {
        for frame in all() {
            let mut bytes = BytesMut::new();
            frame.encode(&mut bytes);
            for length in 1..bytes.len() - 4 {
                let mut cut = BytesMut::from(&bytes[..4 + length]);
                cut[..4].copy_from_slice(&(length as u32).to_be_bytes());
                assert!(Frame::decode(&mut cut).is_err(), "{frame:?} cut to {length}");
            }
            bytes.put_u8(0);
            let length = bytes.len() as u32 - 4;
            bytes[..4].copy_from_slice(&length.to_be_bytes());
            assert_eq!(Frame::decode(&mut bytes), Err(Malformed::Fields), "{frame:?}");
        }
    }

    #[test]
    fn lengths_and_kinds_that_nobody_sends_are_refused() {
        for (bytes, error) in [
            (&[0, 0, 0, 0][..], Malformed::Length(0)),
            (&[0xff, 0xff, 0xff, 0xff], Malformed::Length(u32::MAX as usize)),
            (&[0, 0, 0, 1, 99], Malformed::Kind(99)),
            (&[0, 0, 0, 8, 8, 0, 0, 0, 1, 0, 1, 0xff], Malformed::Text),
        ] {
            assert_eq!(Frame::decode(&mut BytesMut::from(bytes)), Err(error));
        }
        let long = Frame::Paused { sub: 1, reason: "r".repeat(REASON_BYTES_MAX + 1) };
        let mut bytes = BytesMut::new();
        long.encode(&mut bytes);
        assert_eq!(Frame::decode(&mut bytes), Err(Malformed::Text));
    }
}
