//! Every answer that is our own fault-finding: RFC 9457 problem documents.

use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_RANGE, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, Response, StatusCode};
use pass::Refusal;

use crate::body::Body;
use crate::failure::Failure;
use crate::limits::RETRY_AFTER_S_MAX;
use crate::meters::Outcome;
use crate::server::Fault;
use crate::target::Refused;

/// Why a request is not answered with an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Problem {
    /// The request target.
    #[error("{0}")]
    Target(#[from] Refused),
    /// The word that opens the edge.
    #[error("the first path segment is not a pass for this match")]
    Word,
    /// A pass.
    #[error("{0}")]
    Pass(#[from] Refusal),
    /// Not GET, HEAD or OPTIONS.
    #[error("only GET, HEAD and OPTIONS are answered here")]
    Method,
    /// A client whose protocol has no way to say that an answer was cut off.
    #[error("use HTTP/1.1 or later")]
    Version,
    /// A request whose head is not understood, or could be in two ways.
    #[error("{0}")]
    Head(#[from] Fault),
    /// A range outside the object, which has that many bytes.
    #[error("the range lies outside the object's {0} bytes")]
    Range(u64),
    /// A limit of ours.
    #[error("too many {0}; come back in a moment")]
    Busy(&'static str),
    /// The upstream.
    #[error("{0}")]
    Upstream(#[from] Failure),
}

impl Problem {
    fn status(self) -> StatusCode {
        match self {
            Problem::Head(Fault::Large) => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Problem::Target(_) | Problem::Head(_) => StatusCode::BAD_REQUEST,
            Problem::Word => StatusCode::FORBIDDEN,
            Problem::Pass(why) if why.status() == 401 => StatusCode::UNAUTHORIZED,
            Problem::Pass(_) => StatusCode::FORBIDDEN,
            Problem::Method => StatusCode::METHOD_NOT_ALLOWED,
            Problem::Version => StatusCode::HTTP_VERSION_NOT_SUPPORTED,
            Problem::Range(_) => StatusCode::RANGE_NOT_SATISFIABLE,
            Problem::Busy(_) | Problem::Upstream(Failure::Memory | Failure::Busy) => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            Problem::Upstream(Failure::Late) => StatusCode::GATEWAY_TIMEOUT,
            Problem::Upstream(_) => StatusCode::BAD_GATEWAY,
        }
    }

    /// What it counts as.
    pub(crate) fn outcome(self) -> Outcome {
        if self.status() == StatusCode::SERVICE_UNAVAILABLE { Outcome::Shed } else { Outcome::Error }
    }

    /// As JSON.
    pub(crate) fn document(self) -> String {
        let status = self.status();
        let title = status.canonical_reason().unwrap_or_default();
        let mut document =
            serde_json::json!({ "title": title, "detail": self.to_string(), "status": status.as_u16() });
        if let Problem::Pass(why) = self {
            document["reason"] = why.label().into();
        }
        document.to_string()
    }

    /// As an answer.
    pub(crate) fn response(self) -> Response<Body> {
        let mut response = Response::new(Body::whole(Bytes::from(self.document())));
        *response.status_mut() = self.status();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        match self {
            // RFC 9110, 15.5.2 wants a challenge; a browser asks nobody for this one.
            Problem::Pass(why) if why.status() == 401 => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            Problem::Method => drop(headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD, OPTIONS"))),
            Problem::Range(len) => {
                if let Ok(range) = HeaderValue::try_from(format!("bytes */{len}")) {
                    headers.insert(CONTENT_RANGE, range);
                }
            }
            _ if self.outcome() == Outcome::Shed => {
                headers.insert(RETRY_AFTER, retry_after_s().into());
            }
            _ => {}
        }
        response
    }
}

/// When to come back, in seconds, at random: RFC 9110, 10.2.3 knows whole seconds only.
pub(crate) fn retry_after_s() -> u32 {
    fastrand::u32(1..=RETRY_AFTER_S_MAX)
}
