//! Entries for fuzzing; not for use otherwise.

use crate::cache_control::Directives;
use crate::disk;
use crate::range::{self, Asked};
use crate::server::head;
use crate::target::{Codings, Names};

/// A request target, its query after the first `?`: whatever is let through is a plain absolute path that is
/// let through again as itself.
pub fn target(text: &str) {
    let split = |text: &str| {
        text.split_once('?').map_or((text.to_owned(), None), |(p, q)| (p.to_owned(), Some(q.to_owned())))
    };
    let (path, query) = split(text);
    for (with_pass, kept) in [(false, vec![]), (true, vec![]), (false, vec!["*".to_owned()])] {
        let names = Names { with_pass, query: kept.clone() };
        let mut key = String::new();
        if names.parse(&path, query.as_deref(), Codings::Plain, &mut key).is_err() {
            continue;
        }
        let target = key[1..].to_owned();
        assert!(target.starts_with('/'), "{target}");
        let (path, query) = split(&target);
        assert!(!path.contains("//") && !path.contains("/../") && target.is_ascii(), "{target}");
        let again =
            Names { with_pass: false, query: kept }.parse(&path, query.as_deref(), Codings::Plain, &mut key);
        assert!(again.is_ok() && key[1..] == target, "{target} became {key}");
    }
}

/// A Range header of an object of 1,000 bytes.
pub fn range(header: &str) {
    const LEN: u64 = 1_000;
    if let Asked::Part(part) = range::parse(header, LEN) {
        assert!(part.start < part.end && part.end <= LEN);
    }
}

/// What is found on disk: whatever is understood is written again alike.
pub fn stored(bytes: &[u8]) {
    disk::fuzz(bytes);
}

/// The head of an HTTP/1.1 request: what is let through has an end within the bytes, and is a request that can be
/// answered.
pub fn head(bytes: &[u8]) {
    let mut room = head::room();
    let Ok(Some(head)) = head::read(bytes, &mut room) else { return };
    assert!(head.len <= bytes.len() && bytes[..head.len].ends_with(b"\r\n\r\n"));
    let _ = head.request();
    if head.kind == head::Kind::Plain {
        let plain = head.plain();
        assert!(plain.path.starts_with('/') && !plain.path.contains('?'));
    }
}

/// A `Cache-Control` and a `CDN-Cache-Control`.
pub fn cache_control(text: &str) {
    let mut headers = http::HeaderMap::new();
    let Ok(value) = http::HeaderValue::from_str(text) else { return };
    headers.insert(http::header::CACHE_CONTROL, value);
    let name = http::header::CACHE_CONTROL;
    for says in
        [Some(Directives::of(&headers, &name)), Directives::targeted(&headers, &name)].into_iter().flatten()
    {
        if let Some(argument) = says.argument("max-age") {
            assert!(says.has("max-age") && argument.len() <= text.len());
        }
    }
}
