//! `/v1/streams`: what a viewer plays, and how they stop one of them.

use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use http::{HeaderValue, StatusCode, header};
use serde_json::{Value, json};

use super::limits::HEARTBEAT_S;
use crate::door::Door;
use crate::play::{Asker, Problem, listed, not_so};

pub(crate) fn router(door: Arc<Door>) -> Router {
    Router::new()
        .route("/v1/streams", get(list))
        .route("/v1/streams/{id}", delete(stop))
        .route("/v1/streams/{id}/heartbeat", post(heartbeat))
        .method_not_allowed_fallback(not_so)
        .layer(axum::middleware::map_response(fresh))
        .with_state(door)
}

async fn fresh(mut response: Response) -> Response {
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// A name that is no text is no stream's.
fn named(id: Result<Path<String>, PathRejection>) -> String {
    id.map_or(String::new(), |Path(id)| id)
}

async fn list(State(door): State<Arc<Door>>, Asker(viewer): Asker) -> Json<Value> {
    let streams =
        viewer.account.as_ref().map_or(Vec::new(), |account| door.slots.list(account, crate::now_ms()));
    let all = streams.iter().map(|stream| {
        let mut one = listed(stream);
        one["this_device"] = json!(stream.device == viewer.device);
        one
    });
    Json(json!({ "streams": all.collect::<Value>() }))
}

/// Ends a stream, of whatever device: its slot is free. The pass of another device is taken back.
async fn stop(
    State(door): State<Arc<Door>>,
    Asker(viewer): Asker,
    id: Result<Path<String>, PathRejection>,
) -> Response {
    let id = named(id);
    if viewer.account.as_ref().is_some_and(|account| door.slots.stop(account, &id, &viewer.device)) {
        door.passes.revoke(&id);
    }
    // What is over is over, also if it was before.
    StatusCode::NO_CONTENT.into_response()
}

async fn heartbeat(
    State(door): State<Arc<Door>>,
    Asker(viewer): Asker,
    id: Result<Path<String>, PathRejection>,
) -> Result<Json<Value>, Problem> {
    let id = named(id);
    let known =
        viewer.account.as_ref().is_some_and(|account| door.slots.heartbeat(account, &id, crate::now_ms()));
    if known {
        Ok(Json(json!({ "every_s": HEARTBEAT_S, "advice": door.advice() })))
    } else {
        Err(Problem::stream_over())
    }
}
