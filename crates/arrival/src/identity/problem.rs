//! Refusals, as problem documents (RFC 9457) that a viewer understands.

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};

use super::limits::RETRY_AFTER_S_MAX;

/// Why a request is not answered as asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    status: StatusCode,
    /// The last segment of its `type`.
    kind: &'static str,
    title: &'static str,
    detail: String,
    /// Seconds.
    retry_after: Option<u32>,
}

impl Problem {
    pub(crate) fn new(
        status: StatusCode,
        kind: &'static str,
        title: &'static str,
        detail: impl Into<String>,
    ) -> Problem {
        Problem { status, kind, title, detail: detail.into(), retry_after: None }
    }

    /// What was sent cannot be used.
    pub(crate) fn bad(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, "bad-request", "Not understood", detail)
    }

    /// Nobody, or nobody any more.
    pub(crate) fn unauthenticated(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::UNAUTHORIZED, "unauthenticated", "Please sign in", detail)
    }

    /// The one answer to everything that does not fit together, so that none tells which part it was.
    pub(crate) fn wrong(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::UNAUTHORIZED, "wrong-credentials", "That did not work", detail)
    }

    /// The request came by another site's page.
    pub(crate) fn other_origin() -> Problem {
        let detail = "Requests that change something by a cookie must come from this site's own pages.";
        Problem::new(StatusCode::FORBIDDEN, "other-origin", "Not from here", detail)
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::NOT_FOUND, "not-found", "Not there", detail)
    }

    pub(crate) fn conflict(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::CONFLICT, "conflict", "Not possible now", detail)
    }

    /// One client asks too often.
    pub(crate) fn too_often(wait_s: u32) -> Problem {
        let detail = "That was tried too often. Please wait a moment and try again.";
        let mut problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, "too-often", "Too many tries", detail);
        problem.retry_after = Some(wait_s.max(1).saturating_add(fastrand::u32(0..RETRY_AFTER_S_MAX)));
        problem
    }

    /// All ask at once.
    pub(crate) fn busy() -> Problem {
        let detail = "Very many people are signing in at this moment. Please try again in a few seconds.";
        Problem::unavailable("busy", detail)
    }

    /// The accounts cannot be reached: what needs them fails politely, and nothing was changed that is not said.
    pub(crate) fn no_accounts() -> Problem {
        let detail = "Your account cannot be reached at the moment. You can go on watching; please try this again later.";
        Problem::unavailable("accounts-unavailable", detail)
    }

    pub(crate) fn unavailable(kind: &'static str, detail: impl Into<String>) -> Problem {
        let mut problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, kind, "Not now", detail);
        problem.retry_after = Some(fastrand::u32(1..=RETRY_AFTER_S_MAX));
        problem
    }

    /// A fault of ours, of which the viewer needs to know no more.
    pub(crate) fn ours() -> Problem {
        let detail = "Something went wrong on our side.";
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "fault", "Our fault", detail)
    }

    /// HTTP status.
    pub fn status(&self) -> StatusCode {
        self.status
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = serde_json::json!({
            "type": format!("/problems/{}", self.kind), "title": self.title, "detail": self.detail,
            "status": self.status.as_u16(),
        });
        let mut response = (self.status, body.to_string()).into_response();
        let fields = response.headers_mut();
        fields.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if self.status == StatusCode::UNAUTHORIZED {
            fields.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = self.retry_after {
            fields.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl From<super::Error> for Problem {
    fn from(error: super::Error) -> Problem {
        match error {
            super::Error::Store(error) => {
                tracing::warn!(%error, "accounts cannot be reached");
                Problem::no_accounts()
            }
            error => {
                tracing::error!(%error, "a request could not be answered");
                Problem::ours()
            }
        }
    }
}

impl From<store::Error> for Problem {
    fn from(error: store::Error) -> Problem {
        super::Error::Store(error).into()
    }
}

impl From<super::password::Busy> for Problem {
    fn from(_: super::password::Busy) -> Problem {
        Problem::busy()
    }
}
