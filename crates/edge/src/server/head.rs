//! The head of an HTTP/1.1 request, read strictly (RFC 9112). Pure.
//!
//! Whatever two readers could understand differently is refused rather than interpreted: that is how requests
//! are smuggled. What `httparse` lets pass and this does not: a bare LF as the end of a line, more or less than
//! one `Host`, more than one `Content-Length`, a transfer coding beside it or other than `chunked`.

use std::mem::MaybeUninit;

use http::{HeaderName, HeaderValue, Method, Request, Uri};
use httparse::Status;

use crate::admission::Peer;
use crate::handle::{By, Plain, Upload};
use crate::limits::{HEADER_BYTES_MAX, HEADERS_MAX};
use crate::target::{Codings, codings};

/// Where the fields of a head are listed; to be made anew for each.
pub(crate) type Room<'b> = [MaybeUninit<httparse::Header<'b>>; HEADERS_MAX];

/// An empty one.
pub(crate) fn room<'b>() -> Room<'b> {
    [const { MaybeUninit::uninit() }; HEADERS_MAX]
}

/// What a request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A GET or HEAD for which nothing counts but its target and the compressed forms that are accepted.
    Plain,
    /// A GET, HEAD or OPTIONS without a body.
    Bare,
    /// Anything else.
    Other,
}

/// A head.
#[derive(Debug)]
pub(crate) struct Head<'b, 'r> {
    /// GET, HEAD, or anything.
    pub(crate) method: &'b str,
    /// As it was written.
    pub(crate) target: &'b str,
    /// What the request needs.
    pub(crate) kind: Kind,
    /// Bytes of the head, the empty line included.
    pub(crate) len: usize,
    /// The client wants no other answer on this connection.
    pub(crate) close: bool,
    codings: Codings,
    fields: &'r [httparse::Header<'b>],
}

/// Why a head is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    #[error("the head of a request may have {HEADER_BYTES_MAX} bytes and {HEADERS_MAX} fields")]
    Large,
    #[error("the head of the request is not well formed")]
    Form,
    #[error("a request has one Host, a name or an address")]
    Host,
    #[error("the length of the request's body is not clear")]
    Length,
}

/// Reads a head at the beginning of `bytes`; `None` when more of them are needed.
pub(crate) fn read<'b, 'r>(bytes: &'b [u8], room: &'r mut Room<'b>) -> Result<Option<Head<'b, 'r>>, Fault> {
    let mut request = httparse::Request::new(&mut []);
    let len = match request.parse_with_uninit_headers(bytes, room) {
        Ok(Status::Complete(len)) if len <= HEADER_BYTES_MAX => len,
        Ok(Status::Partial) if bytes.len() < HEADER_BYTES_MAX => return Ok(None),
        Ok(_) | Err(httparse::Error::TooManyHeaders) => return Err(Fault::Large),
        Err(_) => return Err(Fault::Form),
    };
    let head = &bytes[..len];
    if memchr::memchr_iter(b'\n', head).any(|at| at == 0 || head[at - 1] != b'\r') {
        return Err(Fault::Form);
    }
    let (Some(method), Some(target), Some(version)) = (request.method, request.path, request.version) else {
        return Err(Fault::Form);
    };
    let fields: &'r [httparse::Header<'b>] = request.headers;
    let said = Said::of(fields)?;
    if !said.host && version > 0 {
        return Err(Fault::Host);
    }
    let get = matches!(method, "GET" | "HEAD");
    let kind = match () {
        () if version == 0 || said.body || said.expects || !(get || method == "OPTIONS") => Kind::Other,
        () if get && !said.more && target.starts_with('/') => Kind::Plain,
        () => Kind::Bare,
    };
    Ok(Some(Head { method, target, kind, len, close: said.close, codings: said.codings, fields }))
}

impl Head<'_, '_> {
    /// What is asked for, of a head that is [`Kind::Plain`].
    pub(crate) fn plain(&self) -> Plain<'_> {
        let (path, query) = match self.target.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (self.target, None),
        };
        Plain { path, query, codings: self.codings }
    }

    /// Whom it is from.
    pub(crate) fn by(&self, peer: Peer) -> By<'_> {
        By { method: self.method, fields: &self.fields, peer: Some(peer) }
    }

    /// The same as a request without a body.
    pub(crate) fn request(&self) -> Result<Request<Upload>, Fault> {
        let mut request = Request::new(None);
        *request.method_mut() = Method::from_bytes(self.method.as_bytes()).map_err(|_| Fault::Form)?;
        *request.uri_mut() = Uri::try_from(self.target).map_err(|_| Fault::Form)?;
        let headers = request.headers_mut();
        headers.reserve(self.fields.len());
        for field in self.fields {
            let name = HeaderName::from_bytes(field.name.as_bytes()).map_err(|_| Fault::Form)?;
            headers.append(name, HeaderValue::from_bytes(field.value).map_err(|_| Fault::Form)?);
        }
        Ok(request)
    }
}

/// What the fields say.
#[derive(Default)]
struct Said {
    host: bool,
    body: bool,
    expects: bool,
    /// Something that may change the answer: a condition, a range, a wish of its own.
    more: bool,
    close: bool,
    codings: Codings,
}

impl Said {
    fn of(fields: &[httparse::Header<'_>]) -> Result<Said, Fault> {
        let mut said = Said::default();
        let (mut length, mut coded) = (false, false);
        for field in fields {
            let is = |name: &str| field.name.eq_ignore_ascii_case(name);
            match field.name.len() {
                4 if is("host") => {
                    if said.host || !field.value.iter().all(|b| is_host(*b)) {
                        return Err(Fault::Host);
                    }
                    said.host = true;
                }
                5 if is("range") => said.more = true,
                6 if is("expect") => said.expects = true,
                6 if is("pragma") => said.more = true,
                8 if is("if-match") || is("if-range") => said.more = true,
                10 if is("connection") => said.close |= names(field.value, "close"),
                13 if is("if-none-match") || is("cache-control") || is("authorization") => said.more = true,
                14 if is("content-length") => {
                    let digits = !field.value.is_empty() && field.value.iter().all(u8::is_ascii_digit);
                    if length || coded || !digits {
                        return Err(Fault::Length);
                    }
                    length = true;
                    said.body = field.value.iter().any(|b| *b != b'0');
                }
                15 if is("accept-encoding") => {
                    said.codings =
                        said.codings.max(std::str::from_utf8(field.value).map(codings).unwrap_or_default());
                }
                17 if is("if-modified-since") => said.more = true,
                17 if is("transfer-encoding") => {
                    if length || coded || !field.value.eq_ignore_ascii_case(b"chunked") {
                        return Err(Fault::Length);
                    }
                    coded = true;
                    said.body = true;
                }
                19 if is("if-unmodified-since") => said.more = true,
                _ => {}
            }
        }
        Ok(said)
    }
}

/// What may stand in a host and its port (RFC 3986, 3.2.2), without the comma, which lists hosts to some.
fn is_host(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"-._~:[]%!$&'()*+;=".contains(&b)
}

/// Whether a list has this word.
fn names(list: &[u8], word: &str) -> bool {
    list.split(|b| *b == b',').any(|one| one.trim_ascii().eq_ignore_ascii_case(word.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kind(head: &str) -> Result<Option<Kind>, Fault> {
        read(head.as_bytes(), &mut room()).map(|head| head.map(|head| head.kind))
    }

    #[test]
    fn kinds() {
        let with =
            |fields: &str| kind(&format!("GET /p/1a.m4s HTTP/1.1\r\nHost: x\r\n{fields}\r\n")).unwrap();
        for plain in [
            "",
            "Accept: */*\r\n",
            "Content-Length: 0\r\n",
            "Cookie: a\r\n",
            "Upgrade: h2c\r\n",
            "Range-Unit: x\r\n",
        ] {
            assert_eq!(with(plain), Some(Kind::Plain), "{plain}");
        }
        for bare in [
            "RANGE: bytes=0-1\r\n",
            "If-None-Match: *\r\n",
            "if-modified-since: x\r\n",
            "Cache-Control: no-cache\r\n",
        ] {
            assert_eq!(with(bare), Some(Kind::Bare), "{bare}");
        }
        for other in ["Content-Length: 1\r\n", "Transfer-Encoding: chunked\r\n", "Expect: 100-continue\r\n"] {
            assert_eq!(with(other), Some(Kind::Other), "{other}");
        }
        for (line, expected) in [
            ("HEAD /x HTTP/1.1", Kind::Plain),
            ("GET http://x/y HTTP/1.1", Kind::Bare),
            ("OPTIONS * HTTP/1.1", Kind::Bare),
            ("POST /x HTTP/1.1", Kind::Other),
            ("get /x HTTP/1.1", Kind::Other),
            ("GET /x HTTP/1.0", Kind::Other),
        ] {
            assert_eq!(kind(&format!("{line}\r\nHost: x\r\n\r\n")), Ok(Some(expected)), "{line}");
        }
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_refused() {
        let request = |fields: &str| format!("GET /x HTTP/1.1\r\n{fields}\r\n");
        for (fields, fault) in [
            ("", Fault::Host),
            ("Host: x\r\nHost: x\r\n", Fault::Host),
            ("Host: x, y\r\n", Fault::Host),
            ("Host: x/y\r\n", Fault::Host),
            ("Host: a@x\r\n", Fault::Host),
            ("Host: x\nHost: y\r\n", Fault::Form),
            ("Host: x\r\n\n", Fault::Form),
            ("Host: x\rA: b\r\n", Fault::Form),
            ("Host : x\r\n", Fault::Form),
            (" Host: x\r\n", Fault::Form),
            ("Host: x\r\n folded\r\n", Fault::Form),
            ("Host: x\r\nA\r\n", Fault::Form),
            ("Host: x\r\n: b\r\n", Fault::Form),
            ("Host: x\r\nA: b\0c\r\n", Fault::Form),
            ("Host: x\r\nA\0: b\r\n", Fault::Form),
            ("Host: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n", Fault::Length),
            ("Host: x\r\nContent-Length: 1, 1\r\n", Fault::Length),
            ("Host: x\r\nContent-Length: +1\r\n", Fault::Length),
            ("Host: x\r\nContent-Length: 0x1\r\n", Fault::Length),
            ("Host: x\r\nContent-Length:\r\n", Fault::Length),
            ("Host: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n", Fault::Length),
            ("Host: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n", Fault::Length),
            ("Host: x\r\nTransfer-Encoding: gzip, chunked\r\n", Fault::Length),
            ("Host: x\r\nTransfer-Encoding: xchunked\r\n", Fault::Length),
            ("Host: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", Fault::Length),
        ] {
            assert_eq!(kind(&request(fields)), Err(fault), "{fields:?}");
        }
        for line in [
            "GET  /x HTTP/1.1",
            "GET /x",
            "GET /x HTTP/1.1 ",
            "GET /x HTTP/2.0",
            "G\0T /x HTTP/1.1",
            " GET /x HTTP/1.1",
        ] {
            assert_eq!(kind(&format!("{line}\r\nHost: x\r\n\r\n")), Err(Fault::Form), "{line:?}");
        }
        assert_eq!(kind("\nGET /x HTTP/1.1\r\nHost: x\r\n\r\n"), Err(Fault::Form));
    }

    #[test]
    fn large_heads_are_refused_and_parts_of_small_ones_waited_for() {
        let head = "GET /x HTTP/1.1\r\nHost: x\r\n\r\n";
        for len in 1..head.len() {
            assert_eq!(kind(&head[..len]), Ok(None), "{len}");
        }
        let fields = |n: usize| format!("GET /x HTTP/1.1\r\nHost: x\r\n{}\r\n", "A: b\r\n".repeat(n));
        assert_eq!(kind(&fields(HEADERS_MAX - 1)), Ok(Some(Kind::Plain)));
        assert_eq!(kind(&fields(HEADERS_MAX)), Err(Fault::Large));
        let long = format!("GET /x HTTP/1.1\r\nHost: x\r\nA: {}", "a".repeat(HEADER_BYTES_MAX));
        assert_eq!(kind(&long[..HEADER_BYTES_MAX - 1]), Ok(None));
        assert_eq!(kind(&long[..HEADER_BYTES_MAX]), Err(Fault::Large));
    }

    #[test]
    fn a_head_says_what_it_asks() {
        let bytes = b"GET /v.m3u8?_HLS_msn=1 HTTP/1.1\r\nhost: x\r\naccept-encoding: br, gzip\r\nconnection: TE, Close\r\n\r\nGET";
        let mut room = room();
        let head = read(bytes, &mut room).unwrap().unwrap();
        let plain = head.plain();
        assert_eq!(
            (plain.path, plain.query, plain.codings),
            ("/v.m3u8", Some("_HLS_msn=1"), Codings::Brotli)
        );
        assert_eq!((head.len, head.close), (bytes.len() - 3, true));
        let request = head.request().unwrap();
        assert_eq!(request.uri(), "/v.m3u8?_HLS_msn=1");
        assert_eq!(request.headers()["accept-encoding"], "br, gzip");
    }

    proptest! {
        #[test]
        fn nothing_panics_and_no_head_is_longer_than_its_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(Some(head)) = read(&bytes, &mut room()) {
                prop_assert!(head.len <= bytes.len());
                let _ = head.request();
            }
        }
    }
}
