//! Every answer that is our own fault-finding: RFC 9457 problem documents.

use axum::body::Body;
use axum::response::Response;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderName, HeaderValue, StatusCode};

use super::limits::{MATCHES_MAX, QUERY_BYTES_MAX, REQUESTS_MAX, RETRY_AFTER_S};

/// RFC 9213: what an edge may keep.
pub(super) const CDN_CACHE_CONTROL: HeaderName = HeaderName::from_static("cdn-cache-control");

/// Why a request gets no resource.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Problem {
    #[error("only GET, HEAD and OPTIONS are answered here")]
    Method,
    #[error("there is /v1/matches/{{match}}/ with snapshot, card, moments and watching")]
    NoResource,
    #[error("there is no match '{0}'")]
    NoMatch(String),
    #[error("{0} is not a time; write UTC in milliseconds")]
    At(String),
    #[error("{0} is not a cursor; write one that a frame or a snapshot gave")]
    Since(String),
    #[error("a query of more than {QUERY_BYTES_MAX} bytes")]
    Query,
    #[error("this is asked for more often than it changes; come back in a moment")]
    TooOften,
    #[error("{REQUESTS_MAX} requests are in work; come back in a moment")]
    Busy,
    #[error("{MATCHES_MAX} matches are in memory; come back in a moment")]
    TooManyMatches,
    #[error("the match is being read; come back in a moment")]
    NotYet,
    #[error("that cursor has not arrived here; come back in a moment")]
    Behind,
}

impl Problem {
    fn status(&self) -> StatusCode {
        match self {
            Problem::Method => StatusCode::METHOD_NOT_ALLOWED,
            Problem::NoResource | Problem::NoMatch(_) => StatusCode::NOT_FOUND,
            Problem::At(_) | Problem::Since(_) | Problem::Query => StatusCode::BAD_REQUEST,
            Problem::TooOften => StatusCode::TOO_MANY_REQUESTS,
            Problem::Busy | Problem::TooManyMatches | Problem::NotYet | Problem::Behind => {
                StatusCode::SERVICE_UNAVAILABLE
            }
        }
    }

    pub(super) fn response(&self) -> Response {
        let status = self.status();
        let title = status.canonical_reason().unwrap_or_default();
        let document =
            serde_json::json!({ "title": title, "detail": self.to_string(), "status": status.as_u16() });
        let mut response = Response::new(Body::from(document.to_string()));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        match status {
            StatusCode::METHOD_NOT_ALLOWED => {
                headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD, OPTIONS"));
            }
            // A match that is entered in the catalog is found within the second in which the catalog's copy is renewed.
            StatusCode::NOT_FOUND => {
                headers.insert(CDN_CACHE_CONTROL, HeaderValue::from_static("max-age=1"));
            }
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                // RFC 9110, 10.2.3 knows whole seconds only.
                headers.insert(RETRY_AFTER, fastrand::u32(RETRY_AFTER_S).into());
            }
            _ => {}
        }
        response
    }
}
