//! The one place where answers become HTTP responses.

use std::time::Duration;

use http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ALLOW, CACHE_CONTROL, CONTENT_ENCODING,
    CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, RETRY_AFTER, VARY,
};
use http::{HeaderName, Response, StatusCode};
use listen::coding::Coding;

use super::body::Body;
use crate::core::Refusal;
use crate::limits::RETRY_AFTER_S;
use crate::meters;

/// Response header for our own caches: for how many milliseconds from now the answer may be kept.
pub const LIFETIME_HEADER: &str = "pavilion-lifetime-ms";

const PRIORITY: HeaderName = HeaderName::from_static("priority");
const PLAYLIST: &str = "application/vnd.apple.mpegurl";
const JSON: &str = "application/json";
const PROBLEM: &str = "application/problem+json";

/// What a response says. Lifetimes are upper limits from rfc8216bis appendix B.1.
#[derive(Debug)]
pub(crate) enum Reply {
    /// A playlist, perhaps compressed.
    Playlist { text: bytes::Bytes, coding: Coding, lifetime: Duration },
    /// Media bytes.
    Media { chunks: Vec<bytes::Bytes>, video: bool, lifetime: Duration },
    /// A document for people and tests.
    Json(Vec<u8>),
    /// Taken, or nothing to say.
    Done,
    /// Sent before a request from another site.
    Preflight,
    /// RFC 9457.
    Problem { status: StatusCode, detail: String, keep: Option<Duration>, retry: bool },
    /// Of the methods that a path knows, none was used.
    Method(&'static str),
}

impl From<Refusal> for Reply {
    fn from(refusal: Refusal) -> Reply {
        let status = StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::BAD_REQUEST);
        let retry = status == StatusCode::SERVICE_UNAVAILABLE;
        Reply::Problem { status, detail: refusal.to_string(), keep: None, retry }
    }
}

impl Reply {
    pub(crate) fn bad_request(detail: impl Into<String>) -> Reply {
        Reply::Problem { status: StatusCode::BAD_REQUEST, detail: detail.into(), keep: None, retry: false }
    }

    /// `keep`: for how long it will stay absent for certain.
    pub(crate) fn absent(detail: impl Into<String>, keep: Option<Duration>) -> Reply {
        Reply::Problem { status: StatusCode::NOT_FOUND, detail: detail.into(), keep, retry: false }
    }

    pub(crate) fn unavailable(detail: impl Into<String>) -> Reply {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        Reply::Problem { status, detail: detail.into(), keep: None, retry: true }
    }

    pub(crate) fn into_response(self) -> Response<Body> {
        let mut headers = Headers(Response::new(Body::default()));
        match self {
            Reply::Playlist { text, coding, lifetime } => {
                headers.set(CONTENT_TYPE, PLAYLIST);
                headers.set(VARY, "accept-encoding");
                if let Some(coding) = coding.name() {
                    headers.set(CONTENT_ENCODING, coding);
                }
                // Playlists before media (RFC 9218): a player can do nothing without one.
                headers.set(PRIORITY, "u=1");
                headers.keep(lifetime, "");
                headers.body(text);
            }
            Reply::Media { chunks, video, lifetime } => {
                headers.set(CONTENT_TYPE, if video { "video/mp4" } else { "audio/mp4" });
                headers.set(PRIORITY, "u=3, i");
                headers.keep(lifetime, ", immutable");
                headers.body(chunks);
            }
            Reply::Json(text) => {
                headers.set(CONTENT_TYPE, JSON);
                headers.set(CACHE_CONTROL, "no-store");
                headers.body(bytes::Bytes::from(text));
            }
            Reply::Done => headers.status(StatusCode::NO_CONTENT),
            Reply::Preflight => {
                headers.set(HeaderName::from_static("access-control-allow-methods"), "GET, HEAD");
                headers.set(HeaderName::from_static("access-control-allow-headers"), "*");
                headers.set(HeaderName::from_static("access-control-max-age"), "86400");
                headers.status(StatusCode::NO_CONTENT);
            }
            Reply::Problem { status, detail, keep, retry } => {
                match keep {
                    Some(lifetime) => headers.keep(lifetime, ""),
                    None => {
                        headers.set(CACHE_CONTROL, "no-store");
                        headers.set(HeaderName::from_static(LIFETIME_HEADER), "0");
                    }
                }
                if retry {
                    let (least, most) = RETRY_AFTER_S;
                    headers.set(RETRY_AFTER, &fastrand::u64(least..=most).to_string());
                }
                headers.problem(status, &detail);
            }
            Reply::Method(allowed) => {
                headers.set(ALLOW, allowed);
                headers.set(CACHE_CONTROL, "no-store");
                headers.problem(StatusCode::METHOD_NOT_ALLOWED, &format!("use one of {allowed} here"));
            }
        }
        headers.set(ACCESS_CONTROL_ALLOW_ORIGIN, "*");
        headers.set(ACCESS_CONTROL_EXPOSE_HEADERS, "age, content-length, date, retry-after");
        meters::response(headers.0.status().as_u16());
        headers.0
    }
}

struct Headers(Response<Body>);

impl Headers {
    fn set(&mut self, name: HeaderName, value: &str) {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.0.headers_mut().insert(name, value);
        }
    }

    fn status(&mut self, status: StatusCode) {
        *self.0.status_mut() = status;
    }

    fn keep(&mut self, lifetime: Duration, more: &str) {
        // Whole seconds, rounded up, as no-cache would be asked about each time; the exact time is for those
        // who know the other header.
        let seconds = lifetime.as_millis().div_ceil(1_000);
        self.set(CACHE_CONTROL, &format!("public, max-age={seconds}{more}"));
        self.set(HeaderName::from_static(LIFETIME_HEADER), &lifetime.as_millis().to_string());
    }

    fn body(&mut self, body: impl Into<Body>) {
        let body = body.into();
        // Said here, so that HEAD says it too.
        self.set(CONTENT_LENGTH, &body.len().to_string());
        *self.0.body_mut() = body;
    }

    fn problem(&mut self, status: StatusCode, detail: &str) {
        self.status(status);
        self.set(CONTENT_TYPE, PROBLEM);
        let title = status.canonical_reason().unwrap_or("error");
        let document = serde_json::json!({ "title": title, "detail": detail, "status": status.as_u16() });
        self.body(bytes::Bytes::from(document.to_string()));
    }
}
