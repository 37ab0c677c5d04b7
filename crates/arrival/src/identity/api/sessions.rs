//! `/sessions`: where one is signed in.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::json;

use crate::identity::Identity;
use crate::identity::http::Id;
use crate::identity::problem::Problem;
use crate::identity::viewer::SignedIn;

pub(super) async fn list(
    State(identity): State<Identity>,
    SignedIn { session: own }: SignedIn,
) -> Result<Response, Problem> {
    let sessions = identity.accounts().sessions(&own.account, identity.now_ms()).await?;
    let shown = sessions.iter().map(|session| {
        json!({
            "id": session.id,
            "device": session.device,
            "label": session.label,
            "created_ms": session.created_ms,
            "used_ms": session.used_ms,
            "current": session.id == own.id,
        })
    });
    Ok(Json(shown.collect::<Vec<_>>()).into_response())
}

/// Signs one device out. Its access token is good for up to a quarter of an hour more, for watching only.
pub(super) async fn end(
    State(identity): State<Identity>,
    SignedIn { session: own }: SignedIn,
    Id(id): Id,
) -> Result<StatusCode, Problem> {
    match identity.accounts().end(&own.account, &id, identity.now_ms()).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Problem::not_found("There is no such device.")),
    }
}

pub(super) async fn end_others(
    State(identity): State<Identity>,
    SignedIn { session: own }: SignedIn,
) -> Result<Response, Problem> {
    let ended = identity.accounts().end_others(&own.account, Some(&own.id), identity.now_ms()).await?;
    Ok(Json(json!({ "ended": ended })).into_response())
}
