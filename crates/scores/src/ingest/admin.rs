//! What the console asks of ingest, at the admin port, which is of this machine only.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{Log, Registers};
use tokio::sync::{mpsc, oneshot};

use super::desk::Ask;
use super::http::{ask, problem, unavailable};
use super::letters::{DeadLetter, dead_letters, dead_letters_back};
use super::limits::{DEAD_LETTERS_PAGE, SCORERS_MAX};
use crate::catalog::Catalog;
use crate::feeds::scorer;

#[derive(Clone)]
struct Stores {
    log: Arc<dyn Log>,
    registers: Arc<dyn Registers>,
    asks: mpsc::Sender<Ask>,
}

/// Below `/admin`: `GET /feeds`, `GET /dead-letters?after=` or `?before=&limit=`, `GET /scorers`,
/// `POST /scorer-codes {"match", "minutes"}` and `POST /scorers/revoke {"id"}`.
pub(super) fn router(log: Arc<dyn Log>, registers: Arc<dyn Registers>, asks: mpsc::Sender<Ask>) -> Router {
    Router::new()
        .route("/admin/feeds", get(feeds))
        .route("/admin/dead-letters", get(letters))
        .route("/admin/scorer-codes", post(code))
        .route("/admin/scorers", get(scorers))
        .route("/admin/scorers/revoke", post(revoke))
        .with_state(Stores { log, registers, asks })
}

async fn feeds(State(stores): State<Stores>) -> Response {
    let (reply, answer) = oneshot::channel();
    match ask(&stores.asks, Ask::Status(reply), answer).await {
        Ok(status) => Json(status).into_response(),
        Err(refusal) => refusal,
    }
}

#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    after: u64,
    before: Option<u64>,
    limit: Option<usize>,
}

/// A dead letter and where it stands.
#[derive(Serialize)]
struct Letter {
    offset: u64,
    #[serde(flatten)]
    letter: DeadLetter,
}

async fn letters(State(stores): State<Stores>, Query(page): Query<Page>) -> Response {
    let log = &*stores.log;
    let found = match page.before {
        Some(before) => dead_letters_back(log, before, page.limit.unwrap_or(DEAD_LETTERS_PAGE)).await,
        None => dead_letters(log, page.after).await,
    };
    let found = match found {
        Ok(found) => found,
        Err(error) => return unavailable(&error.to_string()),
    };
    let last = found.last().map(|(offset, _)| *offset);
    let letters: Vec<_> = found.into_iter().map(|(offset, letter)| Letter { offset, letter }).collect();
    match page.before {
        // The first of all has no older ones.
        Some(_) => Json(json!({ "before": last.filter(|offset| *offset > 1), "dead_letters": letters })),
        None => Json(json!({ "after": last.unwrap_or(page.after), "dead_letters": letters })),
    }
    .into_response()
}

#[derive(Deserialize)]
struct Wanted {
    r#match: String,
    minutes: Option<u64>,
}

async fn code(State(stores): State<Stores>, Json(wanted): Json<Wanted>) -> Response {
    match Catalog::load(&*stores.registers).await {
        Ok(catalog) if catalog.get(&wanted.r#match).is_none() => {
            return problem(StatusCode::NOT_FOUND, "No such match", "The catalog has no match by this name.");
        }
        Ok(_) => {}
        Err(error) => return unavailable(&error.to_string()),
    }
    let lives =
        wanted.minutes.map_or(scorer::CODE_LIVES, |minutes| Duration::from_secs(minutes.min(24 * 60) * 60));
    match scorer::issue(&*stores.registers, &wanted.r#match, lives).await {
        Ok(code) => {
            Json(json!({ "match": wanted.r#match, "code": code, "seconds": lives.as_secs() })).into_response()
        }
        Err(error) => unavailable(&error.to_string()),
    }
}

async fn scorers(State(stores): State<Stores>) -> Response {
    match scorer::list(&*stores.registers).await {
        Ok(mut all) => {
            let more = all.len().saturating_sub(SCORERS_MAX);
            all.truncate(SCORERS_MAX);
            Json(json!({ "scorers": all, "more": more })).into_response()
        }
        Err(error) => unavailable(&error.to_string()),
    }
}

#[derive(Deserialize)]
struct Which {
    id: String,
}

async fn revoke(State(stores): State<Stores>, Json(Which { id }): Json<Which>) -> Response {
    match scorer::revoke(&*stores.registers, &id).await {
        Ok(true) => Json(json!({ "revoked": id })).into_response(),
        Ok(false) => {
            problem(StatusCode::NOT_FOUND, "No such scorer", "It has ended by itself, or never was.")
        }
        Err(error) => unavailable(&error.to_string()),
    }
}
