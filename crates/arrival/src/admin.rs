//! `/admin/arrival/…`: what operators edit. Served at the admin port of the role, which is no place for the public; who
//! may do what is the console's affair, which says who it is in `pavilion-operator`.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode};
use serde::Serialize;
use store::Change;

use crate::door::Door;
use crate::play::Problem;
use crate::{Error, catalog, entitlement, panic, play};

/// The longest body, in bytes, where no other limit is named: a blackout with a thousand corners is 40 KB.
const BODY_BYTES_MAX: usize = 256 << 10;

/// The longest name of an operator.
const OPERATOR_MAX: usize = 128;

pub(crate) fn router(door: Arc<Door>) -> Router {
    Router::new()
        .merge(catalog::router(door.clone()))
        .merge(entitlement::router(door.clone()))
        .merge(panic::router(door.clone()))
        .merge(play::admin(door))
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
}

/// Who edits.
pub(crate) fn operator(headers: &HeaderMap) -> String {
    let name = headers.get("pavilion-operator").and_then(|v| v.to_str().ok()).unwrap_or_default();
    let name: String = name.chars().take(OPERATOR_MAX).collect();
    if name.is_empty() { "somebody".into() } else { name }
}

/// Sets a lever, and writes it into the history.
pub(crate) async fn lever(door: &Door, key: &str, value: &impl Serialize, who: &str) -> Result<(), Problem> {
    let value = serde_json::json!(value).to_string();
    let before = catalog::write_register(&*door.registers, key, Some(&value)).await?;
    door.follow_levers().await;
    let change = Change {
        id: crate::fresh_id(),
        at_ms: crate::now_ms(),
        who: who.to_owned(),
        what: key.to_owned(),
        before,
        after: Some(value),
    };
    tracing::warn!(?change, "a lever was set");
    // A lever is for when the database is gone.
    if let Err(error) = door.entitlements.note(&[change]).await {
        tracing::error!(%error, "a lever is not in the history");
    }
    Ok(())
}

impl From<Error> for Problem {
    fn from(error: Error) -> Problem {
        match error {
            Error::Fault(fault) => Problem::wrong(fault.to_string()),
            Error::NoDocument { .. } => {
                Problem::plain(StatusCode::NOT_FOUND, "No such document", &error.to_string())
            }
            Error::Store(store::Error::TooLarge { .. } | store::Error::TooMany { .. }) => {
                Problem::wrong(error.to_string())
            }
            other => {
                tracing::error!(error = %other, "an operator's request failed");
                Problem::plain(StatusCode::SERVICE_UNAVAILABLE, "The store failed", &other.to_string())
            }
        }
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        Problem::from(self).into_response()
    }
}
