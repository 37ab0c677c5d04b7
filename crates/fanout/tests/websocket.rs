//! WebSocket, frame by frame and with a foreign client.
#![allow(clippy::unwrap_used, reason = "a failed test may panic")]

mod support;

use serde_json::json;
use support::*;
use tokio::io::AsyncWriteExt;
use tokio_tungstenite::tungstenite::Message as Frame;

#[tokio::test(flavor = "multi_thread")]
async fn one_socket_follows_many_matches() {
    let world = world(plain()).await;
    let mut ws = Ws::open(world.at).await;
    world.script.publish("a", 1, 1, 0);
    ws.subscribe("a", None).await;
    assert_eq!(ws.expect("subscribed").await["cursor"], "1-1");
    ws.expect("live").await;
    ws.subscribe("b", Some("1-0")).await;
    assert_eq!(ws.expect("subscribed").await["cursor"], "1-0");
    assert_eq!(ws.expect("live").await["match_id"], "b");
    assert_eq!((world.watching.of("a"), world.watching.of("c")), (1, 0));

    world.script.publish("b", 7, 1, 0);
    assert_eq!(ws.expect("score_event").await["match_id"], "b");
    world.script.publish("a", 2, 1, 0);
    assert_eq!(ws.expect("score_event").await["event_id"], 2);
    ws.say(json!({ "op": "unsubscribe", "match_id": "a" })).await;
    until("unsubscribed", || world.watching.of("a") == 0).await;
    world.script.publish("a", 3, 1, 0);
    world.script.publish("b", 8, 1, 0);
    assert_eq!(ws.expect("score_event").await["event_id"], 8);
    // Again, from where it was: what was missed comes, and then it is live.
    ws.subscribe("a", Some("1-1")).await;
    ws.expect("subscribed").await;
    assert_eq!(ws.expect("score_event").await["event_id"], 2);
    assert_eq!(ws.expect("score_event").await["event_id"], 3);
    ws.expect("live").await;
    drop(ws);
    until("left", || world.watching.of("a") + world.watching.of("b") == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn protobuf_is_by_subprotocol() {
    let world = world(plain()).await;
    let fields = [("sec-websocket-protocol", "pavilion.scores.proto.v1")];
    let mut ws = Ws::open_with(world.at, "/v1/stream?match=m", &fields).await.unwrap();
    // subscribed { "m", "1-0" }, live { "m" }
    let subscribed = b"\x12\x08\x0a\x01m\x12\x031-0";
    assert_eq!(ws.frame().await, Some(Frame::binary(&subscribed[..])));
    assert_eq!(ws.frame().await, Some(Frame::binary(&b"\x1a\x03\x0a\x01m"[..])));
    world.script.publish("m", 5, 2, 0);
    assert_eq!(ws.frame().await, Some(Frame::binary(&b"m 5.2"[..])));
    // subscribe { "n" }
    futures_util::SinkExt::send(&mut ws.0, Frame::binary(&b"\x0a\x03\x0a\x01n"[..])).await.unwrap();
    assert_eq!(ws.frame().await, Some(Frame::binary(&b"\x12\x08\x0a\x01n\x12\x031-0"[..])));
    futures_util::SinkExt::send(&mut ws.0, Frame::text("{}")).await.unwrap();
    assert_eq!(ws.close_code().await, Some(1003));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_published_twice_comes_once() {
    let world = world(plain()).await;
    let mut ws = Ws::open(world.at).await;
    ws.subscribe("m", None).await;
    ws.expect("subscribed").await;
    ws.expect("live").await;
    for (event, revision) in [(1, 1), (1, 1), (1, 2), (2, 1), (1, 2), (3, 1)] {
        world.script.publish("m", event, revision, 0);
    }
    for (event, revision, cursor) in [(1, 1, "1-1"), (1, 2, "1-3"), (2, 1, "1-4"), (3, 1, "1-6")] {
        let frame = ws.expect("score_event").await;
        assert_eq!(
            (&frame["event_id"], &frame["revision"], &frame["cursor"]),
            (&json!(event), &json!(revision), &json!(cursor))
        );
    }
}

/// Cases of the kind that Autobahn has, each with how it must end: a close code, or `None` when the connection must
/// live on.
#[tokio::test(flavor = "multi_thread")]
async fn frames_are_taken_or_refused_as_the_rfc_says() {
    let subscribe = br#"{"op":"subscribe","match_id":"m"}"#;
    let close = |code: u16, reason: &[u8]| [&code.to_be_bytes()[..], reason].concat();
    let unmasked = |first: u8, payload: &[u8]| [&[first, payload.len() as u8][..], payload].concat();
    let cases: Vec<(&str, Vec<u8>, Option<u16>)> = vec![
        ("text", masked(0x81, subscribe), None),
        (
            "text in fragments",
            [masked(0x01, &subscribe[..9]), masked(0x00, &[]), masked(0x80, &subscribe[9..])].concat(),
            None,
        ),
        (
            "a ping between fragments",
            [masked(0x01, &subscribe[..9]), masked(0x89, b"p"), masked(0x80, &subscribe[9..])].concat(),
            None,
        ),
        (
            "a character cut by fragments",
            [masked(0x01, b"{\"op\":\"\xc3"), masked(0x80, b"\xa4\"}")].concat(),
            None,
        ),
        ("ping without payload", masked(0x89, &[]), None),
        ("ping of 125 bytes", masked(0x89, &[0xfe; 125]), None),
        ("pong that nobody asked for", masked(0x8a, b"hi"), None),
        ("an operation that is not known", masked(0x81, br#"{"op":"dance"}"#), None),
        ("unmasked text", unmasked(0x81, subscribe), Some(1002)),
        ("unmasked ping", unmasked(0x89, b""), Some(1002)),
        ("reserved bit 1", masked(0xc1, subscribe), Some(1002)),
        ("reserved bit 2", masked(0xa1, subscribe), Some(1002)),
        ("reserved bit 3 on a ping", masked(0x99, &[]), Some(1002)),
        ("opcode 3", masked(0x83, b""), Some(1002)),
        ("opcode 7", masked(0x87, b""), Some(1002)),
        ("opcode 11", masked(0x8b, b""), Some(1002)),
        ("opcode 15", masked(0x8f, b""), Some(1002)),
        ("ping of 126 bytes", masked(0x89, &[0; 126]), Some(1002)),
        ("ping in fragments", masked(0x09, b"p"), Some(1002)),
        ("close in fragments", masked(0x08, &close(1000, b"")), Some(1002)),
        ("continuation of nothing", masked(0x80, b"x"), Some(1002)),
        ("continuation of nothing, not final", masked(0x00, b"x"), Some(1002)),
        ("text within fragments", [masked(0x01, b"{"), masked(0x81, b"}")].concat(), Some(1002)),
        ("binary within fragments", [masked(0x01, b"{"), masked(0x02, b"}")].concat(), Some(1002)),
        ("a length that is too long a form", [&[0x81, 0xfe, 0, 2][..], &[0; 6]].concat(), Some(1002)),
        (
            "text that is not UTF-8",
            masked(0x81, b"\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xed\xa0\x80"),
            Some(1007),
        ),
        ("fragments that are not UTF-8", [masked(0x01, b"\xc3"), masked(0x80, b"\x28")].concat(), Some(1007)),
        ("text that ends within a character", masked(0x81, b"\xf0\x9f\x8f"), Some(1007)),
        ("overlong form", masked(0x81, b"\xc0\xaf"), Some(1007)),
        ("above U+10FFFF", masked(0x81, b"\xf4\x90\x80\x80"), Some(1007)),
        ("a message of 8,193 bytes", masked(0x81, &[b' '; 8_193]), Some(1009)),
        (
            "fragments of 8,193 bytes",
            [masked(0x01, &[b' '; 8_000]), masked(0x80, &[b' '; 193])].concat(),
            Some(1009),
        ),
        ("only the header of 2^40 bytes", vec![0x81, 0xff, 0, 0, 1, 0, 0, 0, 0, 0], Some(1009)),
        ("binary where JSON is spoken", masked(0x82, b"\x0a\x00"), Some(1003)),
        ("text that is not JSON", masked(0x81, b"hello"), Some(4004)),
        ("JSON that is no operation", masked(0x81, b"[]"), Some(4004)),
        ("close", masked(0x88, &close(1000, b"bye")), Some(1000)),
        ("close with a code of its own", masked(0x88, &close(3999, b"")), Some(3999)),
        ("close of one byte", masked(0x88, b"\x03"), Some(1002)),
        ("close with code 0", masked(0x88, &close(0, b"")), Some(1002)),
        ("close with code 999", masked(0x88, &close(999, b"")), Some(1002)),
        ("close with code 1004", masked(0x88, &close(1004, b"")), Some(1002)),
        ("close with code 1005", masked(0x88, &close(1005, b"")), Some(1002)),
        ("close with code 1006", masked(0x88, &close(1006, b"")), Some(1002)),
        ("close with code 1015", masked(0x88, &close(1015, b"")), Some(1002)),
        ("close with code 2000", masked(0x88, &close(2000, b"")), Some(1002)),
        ("close with code 5000", masked(0x88, &close(5000, b"")), Some(1002)),
        ("close with a reason that is not UTF-8", masked(0x88, &close(1000, b"\xff")), Some(1007)),
        ("close of 126 bytes", masked(0x88, &close(1000, &[b'x'; 124])), Some(1002)),
    ];
    let world = world(plain()).await;
    for (name, bytes, code) in cases {
        // At once, and a byte at a time.
        for chunk in [bytes.len(), 1] {
            if chunk == 1 && bytes.len() > 1_000 {
                continue;
            }
            let mut socket = raw(world.at, None).await;
            for piece in bytes.chunks(chunk) {
                // The server may have closed before the last byte.
                let _ = socket.0.get_mut().write_all(piece).await;
            }
            let _ = socket.0.get_mut().write_all(&masked(0x89, b"are you there?")).await;
            let ended = loop {
                match server_frame(&mut socket).await {
                    Some((8, payload)) if payload.is_empty() => break Some(1005),
                    Some((8, payload)) => break Some(u16::from_be_bytes([payload[0], payload[1]])),
                    Some((10, payload)) if payload == b"are you there?" => break None,
                    Some(_) => {}
                    None => break Some(1006),
                }
            };
            assert_eq!(ended, code, "{name}, {chunk} bytes at a time");
            if code.is_some() {
                assert_eq!(
                    server_frame(&mut socket).await,
                    None,
                    "{name}: nothing comes after a close frame"
                );
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pings_are_answered_with_what_they_say_and_a_close_without_code_too() {
    let world = world(plain()).await;
    let mut socket = raw(world.at, None).await;
    for n in 0..10_u8 {
        socket.0.get_mut().write_all(&masked(0x89, &[n; 3])).await.unwrap();
    }
    for n in 0..10_u8 {
        assert_eq!(server_frame(&mut socket).await, Some((10, vec![n; 3])));
    }
    socket.0.get_mut().write_all(&masked(0x88, &[])).await.unwrap();
    assert_eq!(server_frame(&mut socket).await, Some((8, vec![])));
    assert_eq!(server_frame(&mut socket).await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_says_too_much_is_closed() {
    let world = world(plain()).await;
    let mut socket = raw(world.at, None).await;
    let flood: Vec<u8> = (0..1_000).flat_map(|_| masked(0x8a, &[])).collect();
    let _ = socket.0.get_mut().write_all(&flood).await;
    assert_eq!(server_frame(&mut socket).await, Some((8, 1008_u16.to_be_bytes().to_vec())));
}
