//! The ingest port's routes.

mod page;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use axum::body::Body;
use axum::extract::{Path, Request, State, WebSocketUpgrade};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use http_body_util::{BodyExt, Limited};
use store::Registers;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::config::Format;
use super::desk::{Ask, Heard, Reply};
use super::keys::{Keys, bearer};
use super::limits::{ANSWER_MAX, BODY_MAX, BODY_TIME_MAX};
use super::socket;
use crate::feeds::{push, scorer, wire};

/// What every request may use.
pub(super) struct Shared {
    pub(super) keys: Keys,
    pub(super) asks: mpsc::Sender<Ask>,
    pub(super) registers: Arc<dyn Registers>,
    pub(super) attempts: scorer::Attempts,
    pub(super) connections: AtomicU64,
    pub(super) shutdown: CancellationToken,
}

/// Who asks: the address, for counting attempts, and the place among the connections, which a WebSocket keeps.
#[derive(Clone, Debug)]
pub(super) struct Peer {
    pub(super) ip: std::net::IpAddr,
    pub(super) place: listen::http::Place,
}

pub(super) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/livez", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/v1/feeds", get(status))
        .route("/v1/feeds/scorer/open", post(page::open).options(preflight))
        .route("/v1/feeds/scorer/state", get(page::state).options(preflight))
        .route("/v1/feeds/{provider}", get(connect).post(take).options(preflight))
        .fallback(|| async {
            problem(StatusCode::NOT_FOUND, "No such resource", "See docs/feeds.md for what there is.")
        })
        .layer(axum::middleware::map_response(headers))
        .with_state(shared)
}

/// The scorer's page is on the app's port. A token, not a cookie, says who asks, so that any origin may.
async fn headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("Retry-After"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

async fn preflight() -> Response {
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "authorization, content-type"),
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST"),
        (header::ACCESS_CONTROL_MAX_AGE, "86400"),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

/// Whether the desk is there to be asked.
async fn ready(State(shared): State<Arc<Shared>>) -> Response {
    if shared.asks.is_closed() { unavailable("Ingest is ending.") } else { "ok\n".into_response() }
}

/// How feeds are, for whoever has the key of one.
async fn status(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> Response {
    if !shared.keys.any(bearer(&headers)) {
        return unauthorised();
    }
    let (reply, answer) = oneshot::channel();
    match ask(&shared.asks, Ask::Status(reply), answer).await {
        Ok(status) => Json(status).into_response(),
        Err(refusal) => refusal,
    }
}

/// A provider that pushes connects.
async fn connect(
    State(shared): State<Arc<Shared>>,
    Path(provider): Path<String>,
    Extension(Peer { place, .. }): Extension<Peer>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Response {
    match shared.keys.of(&provider, bearer(&headers)) {
        Some(Format::Push) => {}
        Some(Format::Wire) => {
            return problem(StatusCode::NOT_FOUND, "No WebSocket for this feed", "Format wire is POSTed.");
        }
        None => return unauthorised(),
    }
    match upgrade {
        Ok(upgrade) => {
            upgrade.max_message_size(BODY_MAX).max_frame_size(BODY_MAX).on_upgrade(move |socket| async move {
                socket::run(shared, provider, socket).await;
                drop(place);
            })
        }
        Err(rejection) => {
            problem(StatusCode::UPGRADE_REQUIRED, "A WebSocket is asked for here", &rejection.body_text())
        }
    }
}

/// Statements over HTTP.
async fn take(State(shared): State<Arc<Shared>>, Path(provider): Path<String>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let bearer = bearer(&parts.headers);
    let (format, only) = match provider.strip_prefix("scorer-") {
        Some(of) => match scorer::token(&*shared.registers, bearer.unwrap_or_default()).await {
            Ok(Some(bound)) if bound == of => (Format::Push, Some(bound)),
            Ok(_) => return unauthorised(),
            Err(error) => return unavailable(&error.to_string()),
        },
        None => match shared.keys.of(&provider, bearer) {
            Some(format) => (format, None),
            None => return unauthorised(),
        },
    };
    let kind =
        parts.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    let fits = match format {
        Format::Push => kind == push::MEDIA_TYPE,
        Format::Wire => kind == wire::MEDIA_TYPE,
    };
    if !fits {
        let detail = match format {
            Format::Push => push::MEDIA_TYPE,
            Format::Wire => wire::MEDIA_TYPE,
        };
        return problem(StatusCode::UNSUPPORTED_MEDIA_TYPE, "Not this feed's format", detail);
    }
    let body = match whole(body).await {
        Ok(body) => body,
        Err(refusal) => return refusal,
    };
    let heard = hear(format, body);
    if heard.len() > wire::ITEMS_MAX {
        return problem(
            StatusCode::PAYLOAD_TOO_LARGE,
            "Too many statements",
            "At most 1,000 in one request.",
        );
    }
    let (reply, answer) = oneshot::channel();
    let said = Ask::Said { provider, only, heard, reply: Reply::Once(reply) };
    match ask(&shared.asks, said, answer).await {
        Ok(answer) => Json(answer).into_response(),
        Err(refusal) => refusal,
    }
}

/// What a body says, line by line or item by item.
pub(super) fn hear(format: Format, body: Bytes) -> Vec<Heard> {
    match format {
        Format::Push => body
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.trim_ascii().is_empty())
            .map(|line| Heard { raw: body.slice_ref(line), said: push::read(line) })
            .collect(),
        Format::Wire => match wire::read(&body) {
            Ok(items) => items.into_iter().map(|(raw, said)| Heard { raw, said }).collect(),
            Err(unreadable) => vec![Heard { raw: body, said: Err(unreadable) }],
        },
    }
}

async fn whole(body: Body) -> Result<Bytes, Response> {
    match tokio::time::timeout(BODY_TIME_MAX, Limited::new(body, BODY_MAX).collect()).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(_)) => Err(problem(
            StatusCode::PAYLOAD_TOO_LARGE,
            "The body is too large",
            "At most 1 MiB in one request.",
        )),
        Err(_) => Err(problem(StatusCode::REQUEST_TIMEOUT, "The body took too long", "Send less at once.")),
    }
}

/// Asks the desk, which may be held back by the disk.
pub(super) async fn ask<T>(
    asks: &mpsc::Sender<Ask>,
    ask: Ask,
    answer: oneshot::Receiver<T>,
) -> Result<T, Response> {
    let asked = async {
        asks.send(ask).await.ok()?;
        answer.await.ok()
    };
    match tokio::time::timeout(ANSWER_MAX, asked).await {
        Ok(Some(answer)) => Ok(answer),
        Ok(None) => Err(unavailable("Ingest is ending.")),
        Err(_) => Err(unavailable("The spine cannot be reached; nothing was acknowledged.")),
    }
}

fn unauthorised() -> Response {
    let refusal =
        problem(StatusCode::UNAUTHORIZED, "Not authorised", "Send this feed's key or token as a bearer.");
    ([(header::WWW_AUTHENTICATE, "Bearer")], refusal).into_response()
}

pub(super) fn unavailable(detail: &str) -> Response {
    let wait_s = fastrand::u32(1..=5);
    let refusal = problem(StatusCode::SERVICE_UNAVAILABLE, "Not now", detail);
    ([(header::RETRY_AFTER, wait_s.to_string())], refusal).into_response()
}

/// RFC 9457.
pub(super) fn problem(status: StatusCode, title: &str, detail: &str) -> Response {
    let body = serde_json::json!({ "title": title, "detail": detail, "status": status.as_u16() });
    (status, [(header::CONTENT_TYPE, "application/problem+json")], body.to_string()).into_response()
}
