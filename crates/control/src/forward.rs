//! What the page may ask of the roles: these paths and no others, word for word.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, Method, StatusCode, header};
use http_body_util::{BodyExt, Full, Limited};

use crate::ask::Unanswered;
use crate::limits::{ANSWER_BYTES_MAX, DOCUMENT_MAX, FILE_MAX, QUERY_MAX, SENT_MAX, SENT_TIME_MAX};
use crate::problem::problem;
use crate::{Config, Console, Place};

/// Method and path. `*` stands for one segment of letters, digits, `.`, `_` and `-`.
static ALLOWED: [(Method, &str); 19] = [
    (Method::GET, "/admin/scores/feeds"),
    (Method::GET, "/admin/scores/dead-letters"),
    (Method::GET, "/admin/scores/scorers"),
    (Method::POST, "/admin/scores/scorers/revoke"),
    (Method::POST, "/admin/scores/scorer-codes"),
    (Method::GET, "/admin/arrival/catalog"),
    (Method::PUT, CATALOG),
    (Method::GET, "/admin/arrival/catalog/*"),
    (Method::GET, "/admin/arrival/catalog/*/*"),
    (Method::PUT, "/admin/arrival/catalog/*/*"),
    (Method::DELETE, "/admin/arrival/catalog/*/*"),
    (Method::GET, "/admin/arrival/history"),
    (Method::GET, "/admin/arrival/purchases"),
    (Method::POST, "/admin/arrival/purchases"),
    (Method::GET, "/admin/arrival/panic"),
    (Method::PUT, "/admin/arrival/panic"),
    (Method::GET, "/admin/arrival/provisional"),
    (Method::GET, "/admin/arrival/advice"),
    (Method::PUT, "/admin/arrival/advice"),
];

/// The whole catalog as one file: the largest thing that is sent and answered.
const CATALOG: &str = "/admin/arrival/catalog";

/// A role with an admin port.
struct Plane {
    name: &'static str,
    /// The setting that says where it is.
    setting: &'static str,
    /// What its being away means.
    away: &'static str,
    /// What its paths begin with here, and there.
    prefix: (&'static str, &'static str),
    place: fn(&Config) -> Option<&Place>,
    /// Bytes of what is sent to it.
    sent_max: usize,
}

static PLANES: [Plane; 2] = [
    Plane {
        name: "Ingest",
        setting: "--ingest",
        away: "Feeds keep what was not acknowledged, and say it again.",
        prefix: ("/admin/scores/", "/admin/"),
        place: |config| config.ingest.as_ref(),
        sent_max: SENT_MAX,
    },
    Plane {
        name: "Arrival",
        setting: "--arrival",
        away: "Nobody is let in while it is. Other doors know what was set.",
        prefix: ("/admin/arrival/", "/admin/arrival/"),
        place: |config| config.arrival.as_ref(),
        sent_max: DOCUMENT_MAX,
    },
];

/// Says who acts; it is for the history and opens nothing.
const OPERATOR: HeaderName = HeaderName::from_static("pavilion-operator");

const JSON: &str = "application/json";

pub(crate) async fn forward(State(console): State<Arc<Console>>, request: Request) -> Response {
    answer(&console, request).await.unwrap_or_else(|refusal| refusal)
}

async fn answer(console: &Console, request: Request) -> Result<Response, Response> {
    let (parts, body) = request.into_parts();
    // The path as it was sent: an escape in it is another path.
    let path = parts.uri.path();
    let here = || ALLOWED.iter().filter(|(_, listed)| is(listed, path));
    let Some((method, listed)) = here().find(|(method, _)| *method == parts.method) else {
        return Err(not_allowed(here().map(|(method, _)| method)));
    };
    let Some((plane, rest)) =
        PLANES.iter().find_map(|plane| Some((plane, path.strip_prefix(plane.prefix.0)?)))
    else {
        return Err(not_allowed(std::iter::empty()));
    };
    let Some(place) = (plane.place)(&console.config) else {
        let (name, setting) = (plane.name, plane.setting);
        let detail = format!("This console was not told where {name} is; start it with {setting}.");
        return Err(problem(StatusCode::SERVICE_UNAVAILABLE, &format!("No {name}"), &detail));
    };
    let query = parts.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    if query.len() > QUERY_MAX {
        return Err(problem(StatusCode::URI_TOO_LONG, "The query is too long", "Ask for less at once."));
    }
    let there = format!("http://{place}{}{rest}{query}", plane.prefix.1);
    let mut request = http::Request::builder().method(method).uri(there);
    if let Some(operator) = parts.headers.get(OPERATOR) {
        request = request.header(OPERATOR, operator);
    }
    let is_file = *listed == CATALOG;
    let mut sent = Bytes::new();
    if [Method::POST, Method::PUT].contains(method) {
        // A form of a foreign page cannot send this kind (Fetch, 3.2.2).
        if parts.headers.get(header::CONTENT_TYPE).is_none_or(|kind| kind != JSON) {
            let detail = "Send application/json.";
            return Err(problem(StatusCode::UNSUPPORTED_MEDIA_TYPE, "Not JSON", detail));
        }
        sent = whole(body, if is_file { FILE_MAX } else { plane.sent_max }).await?;
        request = request.header(header::CONTENT_TYPE, JSON);
    }
    let request = request.body(Full::new(sent)).map_err(|_| {
        problem(StatusCode::BAD_REQUEST, "Not understood", "The query has characters that it cannot have.")
    })?;
    let bytes_max = if is_file { FILE_MAX } else { ANSWER_BYTES_MAX };
    match console.client.ask(request, bytes_max, console.patience).await {
        Ok(answer) => Ok(relay(answer, plane.name)),
        Err(unanswered) => Err(away(&unanswered, plane)),
    }
}

/// Whether a path is what is listed.
fn is(listed: &str, path: &str) -> bool {
    let plain = |segment: &str| {
        let word = segment.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
        word && segment.bytes().any(|b| b.is_ascii_alphanumeric())
    };
    let mut segments = path.split('/');
    let each = listed.split('/').all(|known| {
        segments.next().is_some_and(|segment| if known == "*" { plain(segment) } else { segment == known })
    });
    each && segments.next().is_none()
}

/// The answer with no more of its head than the page needs.
fn relay(answer: http::Response<Bytes>, name: &str) -> Response {
    let (parts, body) = answer.into_parts();
    if parts.status == StatusCode::NO_CONTENT {
        return parts.status.into_response();
    }
    let kind = parts.headers.get(header::CONTENT_TYPE).cloned();
    let known = |kind: &HeaderValue| kind == JSON || kind == "application/problem+json";
    let Some(kind) = kind.filter(known) else {
        let detail = format!("{name} answered {} in a way that is not known here.", parts.status.as_u16());
        return problem(StatusCode::BAD_GATEWAY, "Not understood", &detail);
    };
    let mut response = (parts.status, [(header::CONTENT_TYPE, kind)], body).into_response();
    if let Some(wait) = parts.headers.get(header::RETRY_AFTER) {
        response.headers_mut().insert(header::RETRY_AFTER, wait.clone());
    }
    response
}

async fn whole(body: Body, max: usize) -> Result<Bytes, Response> {
    match tokio::time::timeout(SENT_TIME_MAX, Limited::new(body, max).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(_)) => {
            let detail = format!("At most {} KiB.", max >> 10);
            Err(problem(StatusCode::PAYLOAD_TOO_LARGE, "The body is too large", &detail))
        }
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

fn away(unanswered: &Unanswered, plane: &Plane) -> Response {
    let name = plane.name;
    let (status, title, detail) = match unanswered {
        Unanswered::Busy => (
            StatusCode::SERVICE_UNAVAILABLE,
            "Too many at once".to_owned(),
            "Many requests wait for an answer already. Come again in some seconds.".to_owned(),
        ),
        Unanswered::Away => (
            StatusCode::BAD_GATEWAY,
            format!("{name} is away"),
            format!("{name} cannot be reached at its admin port. {}", plane.away),
        ),
        Unanswered::Late => (
            StatusCode::GATEWAY_TIMEOUT,
            format!("{name} does not answer"),
            format!("{name} is there but did not answer in time. Perhaps its disk is busy."),
        ),
        Unanswered::Broken => (
            StatusCode::BAD_GATEWAY,
            "The answer broke off".to_owned(),
            format!("{name} ended in the middle of its answer."),
        ),
    };
    problem(status, &title, &detail)
}
