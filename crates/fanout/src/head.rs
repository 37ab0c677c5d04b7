//! The head of a request, and what it asks of `/v1/stream`. Pure.
//!
//! Whatever two readers could understand differently is refused (RFC 9112): a bare LF, two `Host`, a body where none
//! belongs. Heads for other paths are only recognised; hyper reads them again.

use std::mem::MaybeUninit;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use httparse::Status;
use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY};

use crate::cursor::{self, Asked};
use crate::limits::{FIELDS_MAX, HEAD_BYTES_MAX, MATCHES_PER_SOCKET_MAX, POLL_WAIT, POLL_WAIT_MAX};

/// The path that is ours.
pub(crate) const STREAM: &str = "/v1/stream";

/// The subprotocols that are spoken.
pub(crate) const JSON: &str = "pavilion.scores.json.v1";
/// Binary frames.
pub(crate) const PROTO: &str = "pavilion.scores.proto.v1";

/// Where the fields of a head are listed; to be made anew for each.
pub(crate) type Room<'b> = [MaybeUninit<httparse::Header<'b>>; FIELDS_MAX];

/// An empty one.
pub(crate) fn room<'b>() -> Room<'b> {
    [const { MaybeUninit::uninit() }; FIELDS_MAX]
}

/// A head.
#[derive(Debug)]
pub(crate) struct Head<'b, 'r> {
    method: &'b str,
    path: &'b str,
    query: &'b str,
    /// HTTP/1.1 rather than 1.0.
    current: bool,
    /// Bytes of the head, the empty line included.
    pub(crate) len: usize,
    fields: &'r [httparse::Header<'b>],
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    #[error("the head of a request may have {HEAD_BYTES_MAX} bytes and {FIELDS_MAX} fields")]
    Large,
    #[error("the request is not well formed")]
    Form,
    #[error("only GET and OPTIONS are answered here")]
    Method,
    #[error(
        "a WebSocket is opened with GET, HTTP/1.1, Connection: Upgrade and a Sec-WebSocket-Key of 16 bytes"
    )]
    Handshake,
    #[error("only version 13 of WebSocket is spoken here")]
    Version,
    #[error("name up to {MATCHES_PER_SOCKET_MAX} matches, such as ?match=demo")]
    Matches,
}

impl Fault {
    /// HTTP's word for it.
    pub(crate) fn status(self) -> u16 {
        match self {
            Fault::Large => 431,
            Fault::Method => 405,
            Fault::Version => 426,
            Fault::Form | Fault::Handshake | Fault::Matches => 400,
        }
    }
}

/// How the client wants to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    /// `accept`: what proves that the handshake was read; `protocol`: the subprotocol to name, if one was offered.
    WebSocket { accept: String, protocol: Option<&'static str> },
    /// Server-sent events.
    Sse,
    /// One answer, at the latest after that time.
    Poll { wait: Duration },
    /// A browser asks whether it may (CORS).
    Preflight,
}

/// What is asked of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ask {
    pub(crate) transport: Transport,
    /// Never logged.
    pub(crate) token: Option<String>,
    /// What to begin with, and where.
    pub(crate) matches: Vec<(String, Asked)>,
    /// What the proxy in front says.
    pub(crate) country: Option<String>,
    /// The connection stays for another request.
    pub(crate) keep: bool,
}

/// Reads a head at the beginning of `bytes`; `None` when more of them are needed.
pub(crate) fn read<'b, 'r>(bytes: &'b [u8], room: &'r mut Room<'b>) -> Result<Option<Head<'b, 'r>>, Fault> {
    let mut request = httparse::Request::new(&mut []);
    let len = match request.parse_with_uninit_headers(bytes, room) {
        Ok(Status::Complete(len)) if len <= HEAD_BYTES_MAX => len,
        Ok(Status::Partial) if bytes.len() < HEAD_BYTES_MAX => return Ok(None),
        Ok(_) | Err(httparse::Error::TooManyHeaders) => return Err(Fault::Large),
        Err(_) => return Err(Fault::Form),
    };
    let head = &bytes[..len];
    let bare = |(at, byte): (usize, &u8)| *byte == b'\n' && (at == 0 || head[at - 1] != b'\r');
    if head.iter().enumerate().any(bare) {
        return Err(Fault::Form);
    }
    let (Some(method), Some(target), Some(version)) = (request.method, request.path, request.version) else {
        return Err(Fault::Form);
    };
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    Ok(Some(Head { method, path, query, current: version > 0, len, fields: request.headers }))
}

impl Head<'_, '_> {
    /// Whether this room answers it.
    pub(crate) fn is_stream(&self) -> bool {
        self.path == STREAM
    }

    /// Whether a browser only asks if it may.
    pub(crate) fn is_preflight(&self) -> bool {
        self.method == "OPTIONS"
    }

    fn field(&self, name: &str) -> Option<&str> {
        let mut all = self.fields.iter().filter(|field| field.name.eq_ignore_ascii_case(name));
        all.next().and_then(|field| std::str::from_utf8(field.value).ok()).map(str::trim)
    }

    fn count(&self, name: &str) -> usize {
        self.fields.iter().filter(|field| field.name.eq_ignore_ascii_case(name)).count()
    }

    /// Whether a field that is a list has this word.
    fn lists(&self, name: &str, word: &str) -> bool {
        let all = self.fields.iter().filter(|field| field.name.eq_ignore_ascii_case(name));
        all.flat_map(|field| field.value.split(|b| *b == b','))
            .any(|one| one.trim_ascii().eq_ignore_ascii_case(word.as_bytes()))
    }

    /// What is asked, with the country from this field if one is trusted.
    ///
    /// # Errors
    ///
    /// Why it cannot be answered.
    pub(crate) fn ask(&self, country_field: Option<&str>) -> Result<Ask, Fault> {
        let one_host = self.count("host") == 1 || (!self.current && self.count("host") == 0);
        let body = self.field("content-length").is_some_and(|len| len != "0")
            || self.count("content-length") > 1
            || self.count("transfer-encoding") > 0;
        if !one_host || body {
            return Err(Fault::Form);
        }
        let query = Query::read(self.query);
        let transport = match self.method {
            "OPTIONS" => Transport::Preflight,
            "GET" if self.count("upgrade") > 0 => self.handshake()?,
            "GET" if query.poll => Transport::Poll { wait: query.wait },
            "GET" => Transport::Sse,
            _ => return Err(Fault::Method),
        };
        // EventSource repeats the address that it was given and says in the field where it is now.
        let last = self.field("last-event-id").map(str::to_owned).or(query.last_event_id).unwrap_or_default();
        let matches = wanted(query.matches, &last)?;
        if matches.is_empty() && matches!(transport, Transport::Sse | Transport::Poll { .. }) {
            return Err(Fault::Matches);
        }
        let bearer = self.field("authorization").and_then(|value| {
            let (scheme, token) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().to_owned())
        });
        Ok(Ask {
            transport,
            token: bearer.or(query.token),
            matches,
            country: country_field.and_then(|name| self.field(name)).map(str::to_owned),
            keep: self.current && !self.lists("connection", "close"),
        })
    }

    /// RFC 6455, 4.2.1.
    fn handshake(&self) -> Result<Transport, Fault> {
        let asked = self.current && self.lists("upgrade", "websocket") && self.lists("connection", "upgrade");
        let key = self.field("sec-websocket-key").unwrap_or_default();
        let bytes = STANDARD.decode(key).map(|bytes| bytes.len());
        if !asked || self.count("sec-websocket-key") != 1 || bytes != Ok(16) {
            return Err(Fault::Handshake);
        }
        if self.field("sec-websocket-version") != Some("13") {
            return Err(Fault::Version);
        }
        let offered = |name: &&&str| self.lists("sec-websocket-protocol", name);
        let protocol = [JSON, PROTO].iter().find(offered).copied();
        Ok(Transport::WebSocket { accept: accept(key), protocol })
    }
}

/// RFC 6455, 4.2.2, 5.4.
pub(crate) fn accept(key: &str) -> String {
    let mut sha1 = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
    sha1.update(key.as_bytes());
    sha1.update(b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    STANDARD.encode(sha1.finish())
}

/// The matches that were named, or else those that the client had, each with where it was.
fn wanted(named: Vec<String>, last: &str) -> Result<Vec<(String, Asked)>, Fault> {
    if named.len() > MATCHES_PER_SOCKET_MAX || !named.iter().all(|name| cursor::is_match(name)) {
        return Err(Fault::Matches);
    }
    let known = cursor::read_all(last);
    if named.is_empty() {
        return Ok(known);
    }
    // One that means nothing to us must not be taken for none: the client would miss what happened since.
    let otherwise = match (known.is_empty() && !last.is_empty(), named.len()) {
        (true, 1) => Asked::read(last),
        (true, _) => Asked::Unknown,
        (false, _) => Asked::New,
    };
    let mut all: Vec<(String, Asked)> = Vec::with_capacity(named.len());
    for name in named {
        if all.iter().all(|(other, _)| *other != name) {
            let asked = known.iter().find(|(other, _)| *other == name).map_or(otherwise, |(_, asked)| *asked);
            all.push((name, asked));
        }
    }
    Ok(all)
}

struct Query {
    matches: Vec<String>,
    last_event_id: Option<String>,
    token: Option<String>,
    poll: bool,
    wait: Duration,
}

impl Query {
    fn read(text: &str) -> Query {
        let mut query =
            Query { matches: Vec::new(), last_event_id: None, token: None, poll: false, wait: POLL_WAIT };
        for (name, value) in form_urlencoded::parse(text.as_bytes()) {
            match &*name {
                "match" => query.matches.push(value.into_owned()),
                "last_event_id" => query.last_event_id = Some(value.into_owned()),
                "access_token" => query.token = Some(value.into_owned()),
                "mode" => query.poll = value == "poll",
                "wait" => {
                    let seconds = value.parse().map_or(POLL_WAIT, Duration::from_secs);
                    query.wait = seconds.min(POLL_WAIT_MAX);
                }
                _ => {}
            }
        }
        query
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use relay::Cursor;

    const KEY: &str = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

    fn ask(line: &str, fields: &str) -> Result<Ask, Fault> {
        let text = format!("{line} HTTP/1.1\r\nHost: x\r\n{fields}\r\n");
        let mut room = room();
        let head = read(text.as_bytes(), &mut room)?.expect("whole");
        assert_eq!(head.len, text.len());
        head.ask(Some("x-country"))
    }

    fn socket(fields: &str) -> Result<Transport, Fault> {
        ask("GET /v1/stream", &format!("Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n{fields}"))
            .map(|ask| ask.transport)
    }

    #[test]
    fn the_key_is_answered_as_in_the_rfc() {
        assert_eq!(accept("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn a_handshake_is_whole_or_refused() {
        let version = "Sec-WebSocket-Version: 13\r\n";
        let good = socket(&format!("{KEY}{version}Sec-WebSocket-Protocol: x, {PROTO}\r\n")).unwrap();
        assert!(matches!(good, Transport::WebSocket { protocol: Some(PROTO), .. }));
        let none = socket(&format!("{KEY}{version}Sec-WebSocket-Protocol: x\r\n")).unwrap();
        assert!(matches!(none, Transport::WebSocket { protocol: None, .. }));
        assert_eq!(socket(version), Err(Fault::Handshake));
        assert_eq!(socket(&format!("{KEY}{KEY}{version}")), Err(Fault::Handshake));
        assert_eq!(socket(&format!("Sec-WebSocket-Key: c2hvcnQ=\r\n{version}")), Err(Fault::Handshake));
        assert_eq!(socket(&format!("{KEY}Sec-WebSocket-Version: 8\r\n")), Err(Fault::Version));
        let upgrade = format!("Upgrade: h2c\r\nConnection: Upgrade\r\n{KEY}{version}");
        assert_eq!(ask("GET /v1/stream", &upgrade), Err(Fault::Handshake));
        assert_eq!(ask("POST /v1/stream", ""), Err(Fault::Method));
    }

    #[test]
    fn where_a_client_was_is_never_taken_for_nowhere() {
        let at = |text: &str| {
            ask(&format!("GET /v1/stream?match=a&match=b&last_event_id={text}"), "").unwrap().matches
        };
        let after = |offset| Asked::After(Cursor { epoch: 1, offset });
        assert_eq!(at(""), [("a".into(), Asked::New), ("b".into(), Asked::New)]);
        assert_eq!(at("a:1-2"), [("a".into(), after(2)), ("b".into(), Asked::New)]);
        assert_eq!(at("a:1-2,b:?"), [("a".into(), after(2)), ("b".into(), Asked::Unknown)]);
        assert_eq!(at("77"), [("a".into(), Asked::Unknown), ("b".into(), Asked::Unknown)]);
        let field = ask("GET /v1/stream?match=a&last_event_id=a:1-2", "Last-Event-ID: a:1-3\r\n").unwrap();
        assert_eq!(field.matches, [("a".into(), after(3))]);
        let bare = ask("GET /v1/stream?match=a", "Last-Event-ID: 1-3\r\n").unwrap();
        assert_eq!(bare.matches, [("a".into(), after(3))]);
        let had = ask("GET /v1/stream", "Last-Event-ID: a:1-3,b:1-4\r\n").unwrap();
        assert_eq!(had.matches, [("a".into(), after(3)), ("b".into(), after(4))]);
        assert_eq!(ask("GET /v1/stream", ""), Err(Fault::Matches));
        assert_eq!(ask("GET /v1/stream?match=a%2Fb", ""), Err(Fault::Matches));
    }

    #[test]
    fn tokens_come_in_the_head_or_the_query() {
        let query = ask("GET /v1/stream?match=a&mode=poll&wait=3&access_token=t", "").unwrap();
        assert_eq!(
            (query.token.as_deref(), query.transport),
            (Some("t"), Transport::Poll { wait: Duration::from_secs(3) })
        );
        let head = ask("GET /v1/stream?match=a", "Authorization: bearer u\r\nX-Country: IN\r\n").unwrap();
        assert_eq!((head.token.as_deref(), head.country.as_deref()), (Some("u"), Some("IN")));
        let long = ask("GET /v1/stream?match=a&mode=poll&wait=3600", "").unwrap().transport;
        assert_eq!(long, Transport::Poll { wait: POLL_WAIT_MAX });
    }

    #[test]
    fn doubtful_heads_are_refused() {
        let parse = |text: &str| read(text.as_bytes(), &mut room()).map(|head| head.is_some());
        assert_eq!(parse("GET /v1/stream HTTP/1.1\nHost: x\n\n"), Err(Fault::Form));
        assert_eq!(parse(&format!("GET /{} HTTP/1.1\r\n", "a".repeat(HEAD_BYTES_MAX))), Err(Fault::Large));
        assert_eq!(parse("GET /v1/stream HTTP/1.1\r\nHost"), Ok(false));
        assert_eq!(ask("GET /v1/stream?match=a", "Host: y\r\n"), Err(Fault::Form));
        assert_eq!(ask("GET /v1/stream?match=a", "Content-Length: 1\r\n"), Err(Fault::Form));
        assert_eq!(ask("GET /v1/stream?match=a", "Transfer-Encoding: chunked\r\n"), Err(Fault::Form));
    }
}
