//! Refusals as problem documents (RFC 9457).

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};

/// Seconds after which to come again are drawn from this many, so that pages do not come together.
const AGAIN_S: u32 = 5;

/// One of them.
pub(crate) fn problem(status: StatusCode, title: &str, detail: &str) -> Response {
    let text = serde_json::json!({ "title": title, "detail": detail, "status": status.as_u16() }).to_string();
    let mut response = (status, [(header::CONTENT_TYPE, "application/problem+json")], text).into_response();
    if status == StatusCode::SERVICE_UNAVAILABLE {
        let wait = HeaderValue::from(fastrand::u32(1..=AGAIN_S));
        response.headers_mut().insert(header::RETRY_AFTER, wait);
    }
    response
}
