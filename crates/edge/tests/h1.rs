//! HTTP/1.1 on a socket, byte by byte: what is refused, what is handed over, what is never understood twice.
#![allow(clippy::unwrap_used)]

mod support;

use edge::Config;
use support::{Edge, HANG, Upstream, ok};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

async fn upstream() -> Upstream {
    Upstream::start(|_, _| async { ok("max-age=60", "object") }).await
}

/// Everything that comes back for those bytes, up to the end of the connection, which must come.
async fn answers(edge: &Edge, bytes: &[u8]) -> String {
    let mut socket = TcpStream::connect(edge.address).await.unwrap();
    socket.write_all(bytes).await.unwrap();
    let mut text = Vec::new();
    timeout(HANG, socket.read_to_end(&mut text)).await.expect("it stays open").unwrap();
    String::from_utf8_lossy(&text).into_owned()
}

/// Their status lines.
fn statuses(answers: &str) -> Vec<u16> {
    let lines = answers.split("HTTP/1.1 ").skip(1);
    lines.map(|answer| answer[..3].parse().unwrap()).collect()
}

#[tokio::test]
async fn heads_that_could_be_read_in_two_ways_are_refused_and_the_rest_is_not_read() {
    let upstream = upstream().await;
    let edge = Edge::start(upstream.address).await;
    // What would be smuggled behind each of them.
    let smuggled = "GET /m/smuggled.m4s HTTP/1.1\r\nHost: x\r\n\r\n";
    for head in [
        "GET /m/1a.m4s HTTP/1.1\r\n\r\n",
        "GET /m/1a.m4s HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        "GET /m/1a.m4s HTTP/1.1\nHost: x\n\n",
        "GET /m/1a.m4s HTTP/1.1\r\nHost: x\nX: y\r\n\r\n",
        "GET /m/1a.m4s HTTP/1.1\r\nHost: x\r\nX: y\rZ: a\r\n\r\n",
        "GET /m/1a.m4s HTTP/1.1\r\nHost : x\r\n\r\n",
        "GET /m/1a.m4s HTTP/1.1\r\nHost: x\r\nX: y\r\n z\r\n\r\n",
        "GET /m/1a.m4s HTTP/1.1\r\nHost: x\r\nX: \0\r\n\r\n",
        "GET /m/1a.m4s HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 44\r\n\r\n",
        "GET /m/1a.m4s HTTP/1.1\r\nHost: x\r\nContent-Length: 44\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST /m/1a.m4s HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        "POST /m/1a.m4s HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n",
        "POST /m/1a.m4s HTTP/1.1\r\nHost: x\r\nContent-Length: +5\r\n\r\nhello",
        "GET /m/1a.m4s HTTP/9.1\r\nHost: x\r\n\r\n",
        "GET /m/1a .m4s HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET\t/m/1a.m4s HTTP/1.1\r\nHost: x\r\n\r\n",
        "\0\0\0\0",
    ] {
        let said = answers(&edge, format!("{head}{smuggled}").as_bytes()).await;
        assert_eq!(statuses(&said), [400], "{head:?}: {said}");
        let (fields, body) = said.split_once("\r\n\r\n").unwrap();
        assert!(
            fields.contains("connection: close") && fields.contains("access-control-allow-origin: *"),
            "{said}"
        );
        let problem: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(problem["status"], 400);
    }
    assert!(upstream.asked().is_empty(), "{:?}", upstream.asked());
}

#[tokio::test]
async fn a_request_with_a_body_is_the_last_of_its_connection() {
    let upstream = upstream().await;
    let edge = Edge::start(upstream.address).await;
    let smuggled = "GET /m/smuggled.m4s HTTP/1.1\r\nHost: x\r\n\r\n";
    for head in [
        "POST /m/1a.m4s HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
        "POST /m/1a.m4s HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "GET /m/1a.m4s HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\r\n",
        "DELETE /m/1a.m4s HTTP/1.1\r\nHost: x\r\n\r\n",
    ] {
        let said = answers(&edge, format!("{head}{smuggled}").as_bytes()).await;
        let last = statuses(&said).last().copied();
        assert!(matches!(last, Some(405 | 200)) && said.contains("connection: close"), "{head:?}: {said}");
    }
    let old = answers(&edge, b"GET /m/1a.m4s HTTP/1.0\r\n\r\n").await;
    assert!(old.starts_with("HTTP/1.0 505 "), "{old}");
    assert!(!upstream.asked().iter().any(|target| target.contains("smuggled")), "{:?}", upstream.asked());
}

#[tokio::test]
async fn large_heads_are_refused() {
    let upstream = upstream().await;
    let edge = Edge::start(upstream.address).await;
    let long = format!("GET /m/1a.m4s HTTP/1.1\r\nHost: x\r\nX: {}\r\n\r\n", "y".repeat(20 << 10));
    let many = format!("GET /m/1a.m4s HTTP/1.1\r\nHost: x\r\n{}\r\n", "X: y\r\n".repeat(100));
    let empty = "\r\n".repeat(10 << 10);
    for head in [long, many, empty] {
        assert_eq!(statuses(&answers(&edge, head.as_bytes()).await), [431]);
    }
    assert!(upstream.asked().is_empty());
}

#[tokio::test]
async fn requests_of_every_form_are_understood() {
    let upstream = upstream().await;
    let edge = Edge::start(upstream.address).await;
    // Twice: from the upstream, and from memory.
    for _ in 0..2 {
        for (head, status) in [
            ("GET /m/1a.m4s HTTP/1.1\r\nHost: x\r\n", 200),
            ("\r\nGET /m/1a.m4s HTTP/1.1\r\nHOST:x\r\nContent-Length: 0\r\n", 200),
            ("GET http://elsewhere/m/1a.m4s HTTP/1.1\r\nHost: x\r\n", 200),
            ("HEAD /m/1a.m4s HTTP/1.1\r\nHost: x\r\n", 200),
            ("OPTIONS * HTTP/1.1\r\nHost: x\r\n", 204),
            ("OPTIONS /m/1a.m4s HTTP/1.1\r\nHost:\r\n", 204),
            ("GET /m/1a.m4s HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\n", 200),
            ("GET /m/1a.m4s HTTP/1.1\r\nHost: x\r\nRange: bytes=1-2\r\n", 206),
            ("GET /m/../1a.m4s HTTP/1.1\r\nHost: x\r\n", 400),
            ("GET x:80 HTTP/1.1\r\nHost: x\r\n", 400),
            ("GET * HTTP/1.1\r\nHost: x\r\n", 400),
        ] {
            let said = answers(&edge, format!("{head}Connection: close\r\n\r\n").as_bytes()).await;
            assert_eq!(statuses(&said), [status], "{head:?}: {said}");
            if head.starts_with("HEAD") {
                assert!(said.contains("content-length: 6\r\n") && said.ends_with("\r\n\r\n"), "{said}");
            }
            if status == 200 && !head.starts_with("HEAD") {
                assert!(said.ends_with("object") && said.contains("\r\nage: "), "{said}");
            }
        }
    }
    assert_eq!(upstream.asked(), ["/m/1a.m4s"]);
}

#[tokio::test]
async fn a_thousand_requests_at_once_have_a_thousand_answers() {
    let upstream = upstream().await;
    let edge =
        Edge::with(Config { pass: Some("word".parse().unwrap()), ..Config::default() }, upstream.address)
            .await;
    let one = "GET /word/m/1a.m4s HTTP/1.1\r\nHost: x\r\n\r\n";
    let last = "GET /other/m/1a.m4s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    let said = answers(&edge, (one.repeat(1_000) + last).as_bytes()).await;
    let statuses = statuses(&said);
    assert_eq!((statuses.len(), said.matches("object").count()), (1_001, 1_000));
    assert_eq!(statuses.last(), Some(&403));
    assert_eq!(upstream.asked(), ["/m/1a.m4s"]);
}
