//! Heads of answers, as HTTP/1.1 writes them. Pure.

use std::time::SystemTime;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, DATE, HeaderMap, TRANSFER_ENCODING};
use http::{StatusCode, response};
use http_body::Body as _;
use tokio::time::Instant;

use crate::body::Body;
use crate::head::Head;
use crate::lifetime::LIFETIME_HEADER;

/// How the end of a body is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// There is none.
    Empty,
    /// By its length.
    Length(u64),
    /// By a last chunk.
    Chunked,
}

impl Framing {
    /// For an answer, to a HEAD or to another request.
    pub(crate) fn of(parts: &response::Parts, body: &Body, head_only: bool) -> Framing {
        let bare = matches!(parts.status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
        if head_only || bare || parts.status.is_informational() {
            return Framing::Empty;
        }
        let said = parts.headers.get(CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse().ok());
        match body.size_hint().exact().or(said) {
            Some(length) => Framing::Length(length),
            None => Framing::Chunked,
        }
    }
}

/// The head of a hit with a body of `length` bytes; `alternative` is a line of its own, or empty.
pub(crate) fn hit(
    out: &mut Vec<u8>,
    head: &Head,
    length: usize,
    now: Instant,
    close: bool,
    alternative: &[u8],
) {
    let mut digits = itoa::Buffer::new();
    status(out, head.status);
    out.extend_from_slice(&head.lines(length));
    out.extend_from_slice(b"age: ");
    let age = now.saturating_duration_since(head.born).as_secs();
    out.extend_from_slice(digits.format(age).as_bytes());
    if head.status == StatusCode::OK {
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(LIFETIME_HEADER.as_bytes());
        out.extend_from_slice(b": ");
        let left = u64::try_from(head.left(now).as_millis()).unwrap_or(u64::MAX);
        out.extend_from_slice(digits.format(left).as_bytes());
    }
    out.extend_from_slice(b"\r\n");
    end(out, &head.headers, close, alternative);
}

/// The head of any answer.
pub(crate) fn head(
    out: &mut Vec<u8>,
    parts: &response::Parts,
    framing: Framing,
    close: bool,
    alternative: &[u8],
) {
    status(out, parts.status);
    for (name, value) in &parts.headers {
        // How a body ends is ours to say. An answer to a HEAD tells the length of another's, a 204 has none.
        let told = framing == Framing::Empty && parts.status != StatusCode::NO_CONTENT;
        if *name == CONNECTION || *name == TRANSFER_ENCODING || (*name == CONTENT_LENGTH && !told) {
            continue;
        }
        for piece in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
            out.extend_from_slice(piece);
        }
    }
    match framing {
        Framing::Empty => {}
        Framing::Length(length) => {
            out.extend_from_slice(b"content-length: ");
            out.extend_from_slice(itoa::Buffer::new().format(length).as_bytes());
            out.extend_from_slice(b"\r\n");
        }
        Framing::Chunked => out.extend_from_slice(b"transfer-encoding: chunked\r\n"),
    }
    end(out, &parts.headers, close, alternative);
}

/// The line before a chunk.
pub(crate) fn chunk(out: &mut Vec<u8>, data: &Bytes) {
    out.extend_from_slice(format!("{:x}\r\n", data.len()).as_bytes());
}

fn status(out: &mut Vec<u8>, status: StatusCode) {
    for piece in ["HTTP/1.1 ", status.as_str(), " ", status.canonical_reason().unwrap_or_default(), "\r\n"] {
        out.extend_from_slice(piece.as_bytes());
    }
}

fn end(out: &mut Vec<u8>, headers: &HeaderMap, close: bool, alternative: &[u8]) {
    // RFC 9110, 6.6.1: one who passes on an answer without a date gives it one.
    if !headers.contains_key(DATE) {
        out.extend_from_slice(format!("date: {}\r\n", httpdate::fmt_http_date(SystemTime::now())).as_bytes());
    }
    out.extend_from_slice(alternative);
    if close {
        out.extend_from_slice(b"connection: close\r\n");
    }
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Response;

    fn written(response: Response<Body>, head_only: bool, close: bool) -> String {
        let (parts, body) = response.into_parts();
        let framing = Framing::of(&parts, &body, head_only);
        let mut out = Vec::new();
        head(&mut out, &parts, framing, close, b"");
        String::from_utf8(out).unwrap()
    }

    fn response(status: u16) -> response::Builder {
        Response::builder().status(status).header("date", "x")
    }

    fn arriving() -> Body {
        Body::arriving(futures_util::stream::empty())
    }

    #[test]
    fn a_body_has_one_end() {
        let whole = response(200).header("content-length", 9).body(Body::whole("four".into())).unwrap();
        assert_eq!(written(whole, false, false), "HTTP/1.1 200 OK\r\ndate: x\r\ncontent-length: 4\r\n\r\n");
        let known = response(200).header("content-length", 9).body(arriving()).unwrap();
        assert_eq!(written(known, false, false), "HTTP/1.1 200 OK\r\ndate: x\r\ncontent-length: 9\r\n\r\n");
        let open = response(200).header("transfer-encoding", "gzip").body(arriving()).unwrap();
        assert_eq!(
            written(open, false, true),
            "HTTP/1.1 200 OK\r\ndate: x\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
        );
        let empty = response(404).body(Body::whole(Bytes::new())).unwrap();
        assert_eq!(
            written(empty, false, false),
            "HTTP/1.1 404 Not Found\r\ndate: x\r\ncontent-length: 0\r\n\r\n"
        );
    }

    #[test]
    fn what_has_no_body_says_so() {
        let head = response(200).header("content-length", 9).body(Body::whole(Bytes::new())).unwrap();
        assert_eq!(written(head, true, false), "HTTP/1.1 200 OK\r\ndate: x\r\ncontent-length: 9\r\n\r\n");
        for (code, text) in [(204, "204 No Content"), (304, "304 Not Modified")] {
            let bare = response(code).body(Body::whole(Bytes::new())).unwrap();
            assert_eq!(written(bare, false, false), format!("HTTP/1.1 {text}\r\ndate: x\r\n\r\n"));
        }
    }

    #[test]
    fn an_answer_without_a_date_gets_one() {
        let dateless = Response::new(Body::whole(Bytes::new()));
        assert!(written(dateless, false, false).contains("\r\ndate: "));
    }
}
