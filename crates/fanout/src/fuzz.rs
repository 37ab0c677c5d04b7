//! Entries for fuzzing; not for use otherwise.

use crate::cursor::{self, Asked};
use crate::frame::{self, Said};
use crate::limits::{HEAD_BYTES_MAX, MATCHES_PER_SOCKET_MAX, MESSAGE_BYTES_MAX};
use crate::ops::Op;
use crate::{head, proto};

/// What a client sends on its WebSocket: nothing is read beyond what is there, and no message is too large.
pub fn frame(bytes: &[u8]) {
    let (mut bytes, mut partial) = (bytes.to_vec(), None);
    let mut at = 0;
    while let Ok(Some((used, said))) = frame::read(&mut bytes[at..], &mut partial) {
        match said {
            Said::Text(text) => {
                assert!(text.len() <= MESSAGE_BYTES_MAX);
                let _ = Op::of_json(&text);
            }
            Said::Binary(bytes) => {
                assert!(bytes.len() <= MESSAGE_BYTES_MAX);
                let _ = Op::of_proto(&bytes);
            }
            Said::Ping(payload) => assert!(payload.len() <= 125),
            Said::Pong | Said::Part | Said::Close(_) => {}
        }
        assert!(used > 0);
        at += used;
    }
    let mut fields = proto::Fields(&bytes);
    while let Ok(Some(_)) = fields.next() {}
}

/// The head of a request: what is let through ends within the bytes and asks for matches that can be.
pub fn head(bytes: &[u8]) {
    let mut room = head::room();
    let Ok(Some(head)) = head::read(bytes, &mut room) else { return };
    assert!(head.len <= bytes.len() && head.len <= HEAD_BYTES_MAX && bytes[..head.len].ends_with(b"\n"));
    if let Ok(ask) = head.ask(Some("x-country")) {
        assert!(ask.matches.len() <= MATCHES_PER_SOCKET_MAX);
        assert!(ask.matches.iter().all(|(name, _)| cursor::is_match(name)));
    }
}

/// A `Last-Event-ID`: what is understood is written again alike.
pub fn last_event_id(text: &str) {
    let all = cursor::read_all(text);
    let mut again = String::new();
    for (name, asked) in &all {
        if let Asked::After(cursor) = asked {
            cursor::push(&mut again, name, *cursor);
        }
    }
    let known: Vec<_> = all.into_iter().filter(|(_, asked)| matches!(asked, Asked::After(_))).collect();
    assert_eq!(cursor::read_all(&again), known);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn frame_holds(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            frame(&bytes);
        }

        #[test]
        fn head_holds(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            head(&bytes);
        }

        #[test]
        fn last_event_id_holds(text in "[ -~]{0,60}") {
            last_event_id(&text);
        }
    }
}
