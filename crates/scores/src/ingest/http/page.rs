//! What a scorer's page asks.

use std::sync::Arc;

use axum::extract::{Query, Request, State};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use http::{HeaderMap, StatusCode, header};
use serde::Deserialize;
use tokio::sync::oneshot;

use super::super::desk::{Ask, State as Standing};
use super::super::keys::bearer;
use super::{Peer, Shared, ask, problem, unauthorised, unavailable, whole};
use crate::feeds::{push, scorer};

#[derive(Deserialize)]
struct Open {
    r#match: String,
    code: String,
}

/// A scorer's code becomes a token.
pub(super) async fn open(
    State(shared): State<Arc<Shared>>,
    Extension(Peer { ip, .. }): Extension<Peer>,
    request: Request,
) -> Response {
    let body = match whole(request.into_body()).await {
        Ok(body) => body,
        Err(refusal) => return refusal,
    };
    let Ok(Open { r#match, code }) = serde_json::from_slice(&body) else {
        return problem(StatusCode::BAD_REQUEST, "Not understood", "Send {\"match\": …, \"code\": …}.");
    };
    if let Err(wait_s) = shared.attempts.count(ip, &r#match) {
        let refusal = problem(StatusCode::TOO_MANY_REQUESTS, "Too many attempts", "Wait a little.");
        return ([(header::RETRY_AFTER, wait_s.to_string())], refusal).into_response();
    }
    match scorer::open(&*shared.registers, &r#match, &code).await {
        Ok(Some(token)) => {
            Json(serde_json::json!({ "token": token, "feed": format!("scorer-{}", r#match) })).into_response()
        }
        Ok(None) => problem(
            StatusCode::FORBIDDEN,
            "The code is not valid",
            "It may be mistyped, of another match, too old, or used already. Ask for a new one.",
        ),
        Err(error) => unavailable(&error.to_string()),
    }
}

#[derive(Deserialize)]
pub(super) struct Which {
    r#match: Option<String>,
}

/// What stands of a scorer's match, for a page that was reloaded.
pub(super) async fn state(
    State(shared): State<Arc<Shared>>,
    Query(which): Query<Which>,
    headers: HeaderMap,
) -> Response {
    let bound = match scorer::token(&*shared.registers, bearer(&headers).unwrap_or_default()).await {
        Ok(Some(bound)) if which.r#match.as_ref().is_none_or(|asked| *asked == bound) => bound,
        Ok(_) => return unauthorised(),
        Err(error) => return unavailable(&error.to_string()),
    };
    let (reply, answer) = oneshot::channel();
    let provider = format!("scorer-{bound}");
    match ask(&shared.asks, Ask::State { provider, match_id: bound.clone(), reply }, answer).await {
        Ok(Standing { acked, next_seq, missing, events }) => {
            let statements: Vec<serde_json::Value> = events.iter().map(push::of_event).collect();
            Json(serde_json::json!({
                "match": bound, "acked": acked, "next_seq": next_seq, "missing": missing, "statements": statements,
            }))
            .into_response()
        }
        Err(refusal) => refusal,
    }
}
