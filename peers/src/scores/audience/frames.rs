//! Frames of RFC 6455, 5.2, as a client needs them.

use std::io::{Error, ErrorKind};

/// No product sends a longer one here.
const PAYLOAD_MAX: usize = 1 << 20;

/// Opcodes.
pub(crate) const TEXT: u8 = 1;
pub(crate) const CLOSE: u8 = 8;
pub(crate) const PING: u8 = 9;
pub(crate) const PONG: u8 = 10;

/// A frame of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    pub(crate) opcode: u8,
    pub(crate) payload: &'a [u8],
    /// Of all of it.
    pub(crate) length: usize,
}

/// The first whole frame of `bytes`; none when more must come.
pub(crate) fn first(bytes: &[u8]) -> Result<Option<Frame<'_>>, Error> {
    let [start, length, ..] = *bytes else { return Ok(None) };
    if length & 0x80 != 0 {
        return Err(Error::new(ErrorKind::InvalidData, "a server's frame is masked"));
    }
    let (head, length) = match length {
        126 => match bytes.get(2..4).and_then(|b| b.try_into().ok()) {
            Some(length) => (4, u64::from(u16::from_be_bytes(length))),
            None => return Ok(None),
        },
        127 => match bytes.get(2..10).and_then(|b| b.try_into().ok()) {
            Some(length) => (10, u64::from_be_bytes(length)),
            None => return Ok(None),
        },
        length => (2, u64::from(length)),
    };
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if length > PAYLOAD_MAX {
        return Err(Error::new(ErrorKind::InvalidData, "a frame of more than 1 MiB"));
    }
    let payload = bytes.get(head..head + length);
    Ok(payload.map(|payload| Frame { opcode: start & 0x0f, payload, length: head + length }))
}

/// A client's frame. The mask is for proxies that might mistake the bytes for something else; here is none.
pub(crate) fn masked(opcode: u8, payload: &[u8]) -> Vec<u8> {
    let mask = [0x11, 0x22, 0x33, 0x44];
    let mut frame = vec![0x80 | opcode];
    match u16::try_from(payload.len()) {
        Ok(length) if length < 126 => frame.push(0x80 | length as u8),
        length => {
            frame.push(0x80 | 126);
            // What is said is short.
            frame.extend(length.unwrap_or(u16::MAX).to_be_bytes());
        }
    }
    frame.extend(mask);
    frame.extend(payload.iter().take(usize::from(u16::MAX)).zip(mask.iter().cycle()).map(|(b, m)| b ^ m));
    frame
}

/// A server's frame with a text.
pub(crate) fn text(payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x80 | TEXT];
    match u16::try_from(payload.len()) {
        Ok(length) if length < 126 => frame.push(length as u8),
        Ok(length) => {
            frame.push(126);
            frame.extend(length.to_be_bytes());
        }
        Err(_) => {
            frame.push(127);
            frame.extend((payload.len() as u64).to_be_bytes());
        }
    }
    frame.extend(payload);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_whole_or_waited_for() {
        for length in [0, 1, 125, 126, 180, 65_535, 65_536] {
            let frame = text(&vec![b'x'; length]);
            let whole = first(&frame).unwrap().unwrap();
            assert_eq!((whole.opcode, whole.payload.len(), whole.length), (TEXT, length, frame.len()));
            for cut in (0..frame.len()).step_by(1 + frame.len() / 50) {
                assert!(first(&frame[..cut]).unwrap().is_none(), "{cut} of {length}");
            }
        }
        assert!(first(&[0x81, 127, 0xff, 0, 0, 0, 0, 0, 0, 0]).is_err());
        assert!(first(&masked(TEXT, b"x")).is_err());
    }

    #[test]
    fn a_mask_comes_off_again() {
        let frame = masked(PONG, b"hello");
        assert_eq!(frame[..2], [0x8a, 0x85]);
        let (mask, body) = frame[2..].split_at(4);
        let plain: Vec<u8> = body.iter().zip(mask.iter().cycle()).map(|(b, m)| b ^ m).collect();
        assert_eq!(plain, b"hello");
    }
}
