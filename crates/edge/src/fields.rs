//! Which header fields cross this hop, in either direction.

use http::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CACHE_CONTROL, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH,
    CONTENT_RANGE, EXPECT, HOST, HeaderMap, HeaderName, HeaderValue, IF_MATCH, IF_MODIFIED_SINCE,
    IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE, PRAGMA, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, RANGE,
    SET_COOKIE, TE, TRAILER, TRANSFER_ENCODING, UPGRADE, VARY,
};

use crate::cors;
use crate::rules::rule;
use crate::target::Key;

/// Fields that end at this hop (RFC 9110, 7.6.1), beside those that `Connection` names.
const HOP_BY_HOP: [HeaderName; 10] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    HeaderName::from_static("proxy-authentication-info"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// What a field costs in a map beside its text: a slot, its hash, a share of the free ones.
const FIELD_BYTES: usize = 128;

/// What one client asks of its own copy; the fetch is for everybody.
const OF_ONE_CLIENT: [HeaderName; 8] =
    [RANGE, IF_RANGE, IF_MATCH, IF_NONE_MATCH, IF_MODIFIED_SINCE, IF_UNMODIFIED_SINCE, CACHE_CONTROL, PRAGMA];

/// What it costs to hold them, about.
pub(crate) fn bytes(headers: &HeaderMap) -> u64 {
    let each = |(name, value): (&HeaderName, &HeaderValue)| name.as_str().len() + value.len() + FIELD_BYTES;
    headers.iter().map(each).sum::<usize>() as u64
}

/// Without what ends at this hop.
fn end_to_end(mut headers: HeaderMap) -> HeaderMap {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|v| v.to_str().ok())
        .flat_map(|v| v.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in HOP_BY_HOP.iter().chain(&named) {
        headers.remove(name);
    }
    headers
}

/// The fields of a client's request that go upstream with it, where they are forwarded.
pub(crate) fn forwarded(asked: &HeaderMap) -> HeaderMap {
    let mut headers = end_to_end(asked.clone());
    for name in [HOST, CONTENT_LENGTH, EXPECT] {
        headers.remove(name);
    }
    headers
}

/// The same for a fetch that many share.
pub(crate) fn forwarded_for_all(asked: &HeaderMap) -> HeaderMap {
    let mut headers = forwarded(asked);
    let misleading: Vec<_> = headers.keys().filter(|name| misleads(name.as_str())).cloned().collect();
    for name in OF_ONE_CLIENT.iter().chain(&misleading) {
        headers.remove(name);
    }
    headers
}

/// Whether an upstream may take a field for the word of a proxy about whom or what the request is for. It is no part
/// of the key, so what is made of it would be given to everyone. Some read `_` as `-`, hence none with that.
fn misleads(name: &str) -> bool {
    let begins = ["x-forwarded-", "x-original-", "x-rewrite-", "x-http-method", "x-real-"];
    let is = [
        "forwarded",
        "surrogate-capability",
        "x-host",
        "x-http-host-override",
        "x-method-override",
        "true-client-ip",
        "via",
        "proxy",
    ];
    name.contains('_') || is.contains(&name) || begins.iter().any(|begin| name.starts_with(begin))
}

/// Whether the answer is for this client only, whatever it says (RFC 9111, 3.5).
pub(crate) fn is_personal(asked: &HeaderMap) -> bool {
    asked.contains_key(AUTHORIZATION)
}

/// The headers of an answer for one client alone.
pub(crate) fn for_one(headers: HeaderMap, web: bool) -> HeaderMap {
    let mut headers = end_to_end(headers);
    if !web {
        cors::mark(&mut headers);
    }
    headers
}

/// The headers of a shared answer.
pub(crate) fn for_all(headers: HeaderMap, key: &Key, web: bool) -> HeaderMap {
    let mut headers = for_one(headers, web);
    headers.remove(SET_COOKIE);
    let says_so =
        |v: &HeaderValue| v.to_str().is_ok_and(|v| v.to_ascii_lowercase().contains("accept-encoding"));
    if !web && rule(key.path()).compressed && !headers.get_all(VARY).iter().any(says_so) {
        headers.append(VARY, HeaderValue::from(ACCEPT_ENCODING));
    }
    headers
}

/// The headers of a held answer after the upstream said that it is good still (RFC 9111, 3.2 and 4.3.4): those of the
/// 304 replace the old ones, but for those that describe the body.
pub(crate) fn merge(old: &HeaderMap, new: HeaderMap, web: bool) -> HeaderMap {
    let new = for_one(new, web);
    let mut headers = old.clone();
    let of_body = [CONTENT_LENGTH, CONTENT_ENCODING, CONTENT_RANGE, SET_COOKIE];
    for name in new.keys().filter(|name| !of_body.contains(name)) {
        headers.remove(name);
        for value in new.get_all(name) {
            headers.append(name.clone(), value.clone());
        }
    }
    headers
}
