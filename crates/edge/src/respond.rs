//! From an object to an answer: conditions, ranges and ages.

use bytes::Bytes;
use http::header::{
    ACCEPT_RANGES, AGE, CONTENT_LENGTH, CONTENT_RANGE, ETAG, HeaderMap, HeaderValue, IF_MODIFIED_SINCE,
    IF_NONE_MATCH, IF_RANGE, LAST_MODIFIED, RANGE,
};
use http::{Response, StatusCode};
use tokio::time::Instant;

use crate::body::Body;
use crate::head::Head;
use crate::lifetime::LIFETIME;
use crate::object::Reader;
use crate::problem::Problem;
use crate::range::{self, Asked};

/// Where the body comes from.
pub(crate) enum Source {
    /// All there.
    Whole(Bytes),
    /// Arriving.
    Behind(Reader),
}

/// Answers a request that had these headers.
pub(crate) fn respond(
    asked: &HeaderMap,
    head: &Head,
    source: Source,
    now: Instant,
) -> Result<Response<Body>, Problem> {
    let mut response = Response::new(Body::whole(Bytes::new()));
    *response.status_mut() = head.status;
    let headers = response.headers_mut();
    headers.clone_from(&head.headers);
    headers.insert(AGE, head.age(now));
    // Also when nothing is left: the next tier must not fall back on a longer `max-age`.
    headers.insert(LIFETIME, HeaderValue::from(head.left(now).as_millis() as u64));

    let found = head.status == StatusCode::OK;
    if found && is_known(asked, head) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return Ok(response);
    }
    let length = match &source {
        _ if matches!(head.status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) => None,
        Source::Whole(bytes) => Some(bytes.len() as u64),
        Source::Behind(_) => head.length,
    };
    let mut part = None;
    if let Some(length) = length {
        if found {
            headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
            match range(asked, head, length) {
                Asked::All => {}
                Asked::Outside => return Err(Problem::Range(length)),
                Asked::Part(range) => part = Some(range),
            }
        }
        let sent = part.as_ref().map_or(length, |r| r.end - r.start);
        headers.insert(CONTENT_LENGTH, HeaderValue::from(sent));
    }
    if let (Some(range), Some(length)) = (&part, length) {
        let text = format!("bytes {}-{}/{length}", range.start, range.end - 1);
        if let Ok(value) = HeaderValue::try_from(text) {
            headers.insert(CONTENT_RANGE, value);
        }
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
    }
    *response.body_mut() = match (source, part) {
        (Source::Whole(all), None) => Body::whole(all),
        (Source::Whole(all), Some(r)) => Body::whole(all.slice(r.start as usize..r.end as usize)),
        (Source::Behind(reader), None) => Body::arriving(reader.bytes(0, length)),
        (Source::Behind(reader), Some(r)) => Body::arriving(reader.bytes(r.start, Some(r.end))),
    };
    Ok(response)
}

/// Whether the client has this very object (RFC 9110, 13.1.2: weak comparison; 13.1.3, which counts only without the
/// first).
fn is_known(asked: &HeaderMap, head: &Head) -> bool {
    if !asked.contains_key(IF_NONE_MATCH) {
        let date = |v: Option<&HeaderValue>| httpdate::parse_http_date(v?.to_str().ok()?).ok();
        let since = date(asked.get(IF_MODIFIED_SINCE));
        return since.is_some() && date(head.headers.get(LAST_MODIFIED)).is_some_and(|at| Some(at) <= since);
    }
    let Some(etag) = head.headers.get(ETAG).and_then(|v| v.to_str().ok()) else { return false };
    let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    let etag = opaque(etag);
    asked
        .get_all(IF_NONE_MATCH)
        .iter()
        .filter_map(|v| v.to_str().ok())
        .any(|list| list.trim() == "*" || list.split(',').any(|tag| opaque(tag) == etag))
}

/// The range asked for, if its condition holds (RFC 9110, 13.1.5: strong comparison; a date never matches).
fn range(asked: &HeaderMap, head: &Head, length: u64) -> Asked {
    let Some(range) = asked.get(RANGE).and_then(|v| v.to_str().ok()) else { return Asked::All };
    if let Some(condition) = asked.get(IF_RANGE) {
        let strong = !condition.as_bytes().starts_with(b"W/");
        if !strong || head.headers.get(ETAG) != Some(condition) {
            return Asked::All;
        }
    }
    range::parse(range, length)
}
