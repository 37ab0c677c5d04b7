//! What the page may ask of the roles: these paths and no others, word for word.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, Method, StatusCode, header};
use http_body_util::{BodyExt, Full, Limited};

use crate::Console;
use crate::ask::Unanswered;
use crate::limits::{ANSWER_BYTES_MAX, QUERY_MAX, SENT_MAX, SENT_TIME_MAX};
use crate::problem::problem;

/// Method, path here, path at ingest's admin port.
static ALLOWED: [(Method, &str, &str); 5] = [
    (Method::GET, "/admin/scores/feeds", "/admin/feeds"),
    (Method::GET, "/admin/scores/dead-letters", "/admin/dead-letters"),
    (Method::GET, "/admin/scores/scorers", "/admin/scorers"),
    (Method::POST, "/admin/scores/scorers/revoke", "/admin/scorers/revoke"),
    (Method::POST, "/admin/scores/scorer-codes", "/admin/scorer-codes"),
];

const JSON: &str = "application/json";

pub(crate) async fn forward(State(console): State<Arc<Console>>, request: Request) -> Response {
    answer(&console, request).await.unwrap_or_else(|refusal| refusal)
}

async fn answer(console: &Console, request: Request) -> Result<Response, Response> {
    let (parts, body) = request.into_parts();
    // The path as it was sent: an escape in it is another path.
    let here = || ALLOWED.iter().filter(|(_, path, _)| *path == parts.uri.path());
    let Some((method, _, there)) = here().find(|(method, _, _)| *method == parts.method) else {
        return Err(not_allowed(here().map(|(method, _, _)| method)));
    };
    let Some(ingest) = &console.config.ingest else {
        let detail = "This console was not told where ingest is; start it with --ingest.";
        return Err(problem(StatusCode::SERVICE_UNAVAILABLE, "No ingest", detail));
    };
    let query = parts.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    if query.len() > QUERY_MAX {
        return Err(problem(StatusCode::URI_TOO_LONG, "The query is too long", "Ask for less at once."));
    }
    let mut request = http::Request::builder().method(method).uri(format!("http://{ingest}{there}{query}"));
    let mut sent = Bytes::new();
    if *method == Method::POST {
        // A form of a foreign page cannot send this kind (Fetch, 3.2.2).
        if parts.headers.get(header::CONTENT_TYPE).is_none_or(|kind| kind != JSON) {
            let detail = "Send application/json.";
            return Err(problem(StatusCode::UNSUPPORTED_MEDIA_TYPE, "Not JSON", detail));
        }
        sent = whole(body).await?;
        request = request.header(header::CONTENT_TYPE, JSON);
    }
    let request = request.body(Full::new(sent)).map_err(|_| {
        problem(StatusCode::BAD_REQUEST, "Not understood", "The query has characters that it cannot have.")
    })?;
    match console.client.ask(request, ANSWER_BYTES_MAX, console.patience).await {
        Ok(answer) => Ok(relay(answer)),
        Err(unanswered) => Err(away(&unanswered)),
    }
}

/// The answer with no more of its head than the page needs.
fn relay(answer: http::Response<Bytes>) -> Response {
    let (parts, body) = answer.into_parts();
    let kind = parts.headers.get(header::CONTENT_TYPE).cloned();
    let known = |kind: &HeaderValue| kind == JSON || kind == "application/problem+json";
    let Some(kind) = kind.filter(known) else {
        let detail = format!("Ingest answered {} in a way that is not known here.", parts.status.as_u16());
        return problem(StatusCode::BAD_GATEWAY, "Not understood", &detail);
    };
    let mut response = (parts.status, [(header::CONTENT_TYPE, kind)], body).into_response();
    if let Some(wait) = parts.headers.get(header::RETRY_AFTER) {
        response.headers_mut().insert(header::RETRY_AFTER, wait.clone());
    }
    response
}

async fn whole(body: Body) -> Result<Bytes, Response> {
    match tokio::time::timeout(SENT_TIME_MAX, Limited::new(body, SENT_MAX).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(_)) => Err(problem(StatusCode::PAYLOAD_TOO_LARGE, "The body is too large", "At most 16 KiB.")),
        Err(_) => Err(problem(StatusCode::REQUEST_TIMEOUT, "The body took too long", "Try again.")),
    }
}

fn not_allowed<'a>(allowed: impl Iterator<Item = &'a Method>) -> Response {
    let allowed: Vec<&str> = allowed.map(Method::as_str).collect();
    let Ok(allow) = HeaderValue::from_str(&allowed.join(", ")) else {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    };
    if allowed.is_empty() {
        let detail = "The console forwards only what its page asks for.";
        return problem(StatusCode::NOT_FOUND, "No such resource", detail);
    }
    let detail = format!("This is for {}.", allowed.join(" and "));
    let mut response = problem(StatusCode::METHOD_NOT_ALLOWED, "Not with this method", &detail);
    response.headers_mut().insert(header::ALLOW, allow);
    response
}

fn away(unanswered: &Unanswered) -> Response {
    let (status, title, detail) = match unanswered {
        Unanswered::Busy => (
            StatusCode::SERVICE_UNAVAILABLE,
            "Too many at once",
            "Many requests wait for ingest already. Come again in some seconds.",
        ),
        Unanswered::Away => (
            StatusCode::BAD_GATEWAY,
            "Ingest is away",
            "Ingest cannot be reached at its admin port. Feeds keep what was not acknowledged, and say it again.",
        ),
        Unanswered::Late => (
            StatusCode::GATEWAY_TIMEOUT,
            "Ingest does not answer",
            "Ingest is there but did not answer in time. Perhaps its disk is busy.",
        ),
        Unanswered::Broken => {
            (StatusCode::BAD_GATEWAY, "The answer broke off", "Ingest ended in the middle of its answer.")
        }
    };
    problem(status, title, detail)
}
