//! WebSocket frames (RFC 6455). Pure.
//!
//! Strict: whatever a client may not send ends the connection with the code that the RFC names. Written for a server
//! whose clients say little: frames are unmasked where they were read, and only fragments are copied.

use std::borrow::Cow;

use crate::limits::MESSAGE_BYTES_MAX;

/// Why a socket is closed (RFC 6455, 7.4.1, and ours from 4000).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(crate) enum Code {
    /// The server ends.
    GoingAway = 1001,
    /// A frame that may not be.
    Protocol = 1002,
    /// Text where there must be Protobuf, or the other way round.
    Unsupported = 1003,
    /// Text that is not UTF-8.
    Utf8 = 1007,
    /// A client that says too much.
    Policy = 1008,
    /// A message larger than we read.
    Large = 1009,
    /// The client reads too slowly: resume.
    Slow = 4000,
    /// The token has expired: get another, resume.
    Expired = 4001,
    /// A well-formed frame with an operation that cannot be read.
    Client = 4004,
}

/// The kinds of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Opcode {
    /// The next fragment.
    Continuation = 0,
    /// Text, or its first fragment.
    Text = 1,
    /// Binary, or its first fragment.
    Binary = 2,
    /// The end.
    Close = 8,
    /// Are you there?
    Ping = 9,
    /// Yes.
    Pong = 10,
}

/// A message of which fragments have come.
#[derive(Debug)]
pub(crate) struct Partial {
    text: bool,
    bytes: Vec<u8>,
}

/// What a client has said.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Said<'b> {
    /// A whole message.
    Text(Cow<'b, str>),
    /// A whole message.
    Binary(Cow<'b, [u8]>),
    /// To be answered with the same bytes.
    Ping(&'b [u8]),
    /// An answer.
    Pong,
    /// Its last frame, and the code to answer with: its own, if it gave one.
    Close(Option<u16>),
    /// A fragment.
    Part,
}

struct Header {
    fin: bool,
    opcode: Opcode,
    mask: [u8; 4],
    /// Bytes of the header itself.
    len: usize,
    payload: usize,
}

/// Reads the frame at the beginning of `bytes`: how many bytes it was, and what it says. `None` when more are needed.
///
/// # Errors
///
/// The code that the connection is to be closed with.
pub(crate) fn read<'b>(
    bytes: &'b mut [u8],
    partial: &mut Option<Box<Partial>>,
) -> Result<Option<(usize, Said<'b>)>, Code> {
    let held = partial.as_ref().map_or(0, |partial| partial.bytes.len());
    let Some(header) = read_header(bytes, held)? else { return Ok(None) };
    let end = header.len + header.payload;
    let Some(payload) = bytes.get_mut(header.len..end) else { return Ok(None) };
    unmask(payload, header.mask);
    let said = match header.opcode {
        Opcode::Ping => Said::Ping(payload),
        Opcode::Pong => Said::Pong,
        Opcode::Close => Said::Close(read_close(payload)?),
        Opcode::Text | Opcode::Binary if partial.is_some() => return Err(Code::Protocol),
        Opcode::Continuation => {
            let Some(mut held) = partial.take() else { return Err(Code::Protocol) };
            held.bytes.extend_from_slice(payload);
            if header.fin {
                whole(held.text, Cow::Owned(held.bytes))?
            } else {
                *partial = Some(held);
                Said::Part
            }
        }
        Opcode::Text | Opcode::Binary => {
            let text = header.opcode == Opcode::Text;
            if header.fin {
                whole(text, Cow::Borrowed(payload))?
            } else {
                *partial = Some(Box::new(Partial { text, bytes: payload.to_vec() }));
                Said::Part
            }
        }
    };
    Ok(Some((end, said)))
}

fn whole(text: bool, bytes: Cow<'_, [u8]>) -> Result<Said<'_>, Code> {
    if !text {
        return Ok(Said::Binary(bytes));
    }
    let text = match bytes {
        Cow::Borrowed(bytes) => std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|_| Code::Utf8),
        Cow::Owned(bytes) => String::from_utf8(bytes).map(Cow::Owned).map_err(|_| Code::Utf8),
    };
    text.map(Said::Text)
}

/// RFC 6455, 5.2.
fn read_header(bytes: &[u8], held: usize) -> Result<Option<Header>, Code> {
    let [first, second, ..] = *bytes else { return Ok(None) };
    let opcode = match first & 0x0f {
        0 => Opcode::Continuation,
        1 => Opcode::Text,
        2 => Opcode::Binary,
        8 => Opcode::Close,
        9 => Opcode::Ping,
        10 => Opcode::Pong,
        _ => return Err(Code::Protocol),
    };
    let (fin, reserved, masked) = (first & 0x80 != 0, first & 0x70, second & 0x80 != 0);
    let control = opcode as u8 >= 8;
    // No extension is ever agreed on, so no reserved bit means anything.
    if reserved != 0 || !masked || (control && (!fin || second & 0x7f > 125)) {
        return Err(Code::Protocol);
    }
    let (payload, len) = match second & 0x7f {
        126 => match bytes.get(2..4) {
            Some(&[a, b]) => (u64::from(u16::from_be_bytes([a, b])), 4),
            _ => return Ok(None),
        },
        127 => match bytes.get(2..10).and_then(|len| <[u8; 8]>::try_from(len).ok()) {
            Some(len) => (u64::from_be_bytes(len), 10),
            None => return Ok(None),
        },
        len => (u64::from(len), 2),
    };
    // "The minimal number of bytes MUST be used", and the highest bit of the longest form is 0.
    if (len == 4 && payload < 126) || (len == 10 && (payload < 1 << 16 || payload >> 63 != 0)) {
        return Err(Code::Protocol);
    }
    let held = if control { 0 } else { held as u64 };
    if payload.saturating_add(held) > MESSAGE_BYTES_MAX as u64 {
        return Err(Code::Large);
    }
    let Some(mask) = bytes.get(len..len + 4).and_then(|mask| <[u8; 4]>::try_from(mask).ok()) else {
        return Ok(None);
    };
    Ok(Some(Header { fin, opcode, mask, len: len + 4, payload: payload as usize }))
}

fn unmask(payload: &mut [u8], mask: [u8; 4]) {
    for (at, byte) in payload.iter_mut().enumerate() {
        *byte ^= mask[at % 4];
    }
}

/// The body of a close frame (RFC 6455, 5.5.1): a code that may be sent, and a reason in UTF-8.
fn read_close(body: &[u8]) -> Result<Option<u16>, Code> {
    let [high, low, reason @ ..] = body else {
        return if body.is_empty() { Ok(None) } else { Err(Code::Protocol) };
    };
    let code = u16::from_be_bytes([*high, *low]);
    // 1004 to 1006 and 1015 are never sent; up to 1014 are registered; 3000 and above are free.
    if !matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999) {
        return Err(Code::Protocol);
    }
    std::str::from_utf8(reason).map_err(|_| Code::Utf8)?;
    Ok(Some(code))
}

/// Writes a whole frame.
pub(crate) fn write(to: &mut Vec<u8>, opcode: Opcode, payload: &[u8]) {
    to.push(0x80 | opcode as u8);
    match payload.len() {
        len @ 0..126 => to.push(len as u8),
        len @ 126..0x1_0000 => {
            to.push(126);
            to.extend_from_slice(&(len as u16).to_be_bytes());
        }
        len => {
            to.push(127);
            to.extend_from_slice(&(len as u64).to_be_bytes());
        }
    }
    to.extend_from_slice(payload);
}

/// Writes a close frame with that code, or without one.
pub(crate) fn write_close(to: &mut Vec<u8>, code: Option<u16>) {
    match code {
        Some(code) => write(to, Opcode::Close, &code.to_be_bytes()),
        None => write(to, Opcode::Close, &[]),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use proptest::prelude::*;

    /// A frame as a client writes it.
    pub(crate) fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
        let mut frame = Vec::new();
        write(&mut frame, Opcode::Text, payload);
        frame[0] = first;
        frame[1] |= 0x80;
        let at = frame.len() - payload.len();
        let mask = [0x12, 0x34, 0x56, 0x78];
        unmask(&mut frame[at..], mask);
        frame.splice(at..at, mask);
        frame
    }

    #[test]
    fn clients_are_told_of_the_codes_of_our_own_and_of_no_others() {
        let ours: BTreeSet<u16> = [Code::Slow, Code::Expired, Code::Client].map(|code| code as u16).into();
        let numbers = |text: &str| -> BTreeSet<u16> {
            let words = text.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok());
            words.filter(|code| (4_000..5_000).contains(code)).collect()
        };
        let docs = include_str!("../../../docs/client.md");
        let told = docs.lines().find(|line| line.contains("**Close codes**")).unwrap();
        assert_eq!(numbers(told), ours, "docs/client.md");
        assert_eq!(numbers(include_str!("../../../web/src/scores/codes.ts")), ours, "the client's codes.ts");
    }

    fn one(frame: &[u8]) -> Result<Option<usize>, Code> {
        read(&mut frame.to_vec(), &mut None).map(|read| read.map(|(used, _)| used))
    }

    #[test]
    fn a_mask_is_taken_off() {
        // RFC 6455, 5.7: a masked "Hello".
        let mut frame = [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58];
        let read = read(&mut frame, &mut None).unwrap().unwrap();
        assert_eq!(read, (11, Said::Text("Hello".into())));
    }

    #[test]
    fn lengths_have_one_form() {
        for len in [0, 125, 126, 127, MESSAGE_BYTES_MAX] {
            let frame = masked(0x82, &vec![7; len]);
            assert_eq!(one(&frame), Ok(Some(frame.len())));
        }
        assert_eq!(one(&[0x82, 0xfe, 0, 125, 0, 0, 0, 0]), Err(Code::Protocol));
        assert_eq!(one(&[0x82, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0]), Err(Code::Protocol));
        assert_eq!(one(&[0x82, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0]), Err(Code::Protocol));
        assert_eq!(
            one(&[0x82, 0xff, 0, 0, 0, 0, 0, 1, 0, 0]),
            Err(Code::Large),
            "before its payload is here"
        );
    }

    #[test]
    fn what_is_written_has_the_shortest_header() {
        for (len, header) in [(125, 2), (126, 4), (65_535, 4), (65_536, 10)] {
            let mut frame = Vec::new();
            write(&mut frame, Opcode::Binary, &vec![0; len]);
            assert_eq!(frame.len() - len, header);
        }
    }

    proptest! {
        /// However a message is cut into fragments and reads, it is the same message.
        #[test]
        fn fragments_and_reads_do_not_matter(
            text in "\\PC{0,300}",
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..5),
            step in 1_usize..40,
        ) {
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
            at.extend([0, text.len()]);
            at.sort_unstable();
            let mut stream = Vec::new();
            for (n, piece) in at.windows(2).enumerate() {
                let fin = if n + 2 == at.len() { 0x80 } else { 0 };
                stream.extend(masked(fin | u8::from(n == 0), &text.as_bytes()[piece[0]..piece[1]]));
                stream.extend(masked(0x89, b"between fragments"));
            }
            let (mut early, mut partial, mut said) = (Vec::new(), None, Vec::new());
            for chunk in stream.chunks(step) {
                early.extend_from_slice(chunk);
                while let Some((used, one)) = read(&mut early, &mut partial).unwrap() {
                    if let Said::Text(text) = one {
                        said.push(text.into_owned());
                    }
                    early.drain(..used);
                }
            }
            prop_assert_eq!(said, [text]);
            prop_assert!(early.is_empty() && partial.is_none());
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&mut bytes.clone(), &mut None);
        }
    }
}
