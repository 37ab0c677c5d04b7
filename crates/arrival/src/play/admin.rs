//! `/admin/arrival/advice`.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use http::HeaderMap;

use super::{Advice, Problem};
use crate::admin::{lever, operator};
use crate::door::{ADVICE, Door};

pub(crate) fn router(door: Arc<Door>) -> Router {
    Router::new().route("/admin/arrival/advice", get(read).put(write)).with_state(door)
}

/// As it was set, so that it can be edited: what the crowd makes of it is not written back.
async fn read(State(door): State<Arc<Door>>) -> Json<Advice> {
    Json(door.calm_advice())
}

async fn write(
    State(door): State<Arc<Door>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<Advice>, Problem> {
    let advice: Advice =
        crate::object(&body).map_err(|error| Problem::wrong(format!("the advice is not taken: {error}")))?;
    advice.check().map_err(|why| Problem::wrong(format!("the advice is not taken: {why}")))?;
    lever(&door, ADVICE, &advice, &operator(&headers)).await?;
    Ok(Json(door.calm_advice()))
}
