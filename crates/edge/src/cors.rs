//! Cross-origin rules: objects are public to whoever has the pass, and carry no credentials, so any page may
//! read them and their timing.

use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, HeaderMap, HeaderName, HeaderValue,
};
use http::{Response, StatusCode};

use crate::body::Body;
use crate::limits::PREFLIGHT_MAX_AGE_S;

const TIMING_ALLOW_ORIGIN: HeaderName = HeaderName::from_static("timing-allow-origin");

/// By name for browsers that take `*` for a name, and `*` for the others.
const EXPOSED: &str =
    "Age, Content-Length, Content-Range, CTA-Common-Access-Token, Date, ETag, pavilion-lifetime-ms, *";

/// Sets what every answer carries, whatever an upstream says.
pub(crate) fn mark(headers: &mut HeaderMap) {
    let theirs = |name: &&HeaderName| name.as_str().starts_with("access-control-");
    let theirs: Vec<HeaderName> = headers.keys().filter(theirs).cloned().collect();
    theirs.iter().for_each(|name| drop(headers.remove(name)));
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
    headers.insert(TIMING_ALLOW_ORIGIN, HeaderValue::from_static("*"));
}

/// The answer to a preflight, the same for every path.
pub(crate) fn preflight() -> Response<Body> {
    let mut response = Response::new(Body::whole(Bytes::new()));
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    mark(headers);
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, HEAD, OPTIONS"));
    headers
        .insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("Range, If-None-Match, If-Range, *"));
    headers.insert(ACCESS_CONTROL_MAX_AGE, PREFLIGHT_MAX_AGE_S.into());
    response
}
