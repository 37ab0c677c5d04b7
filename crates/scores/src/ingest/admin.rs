//! What the console asks of ingest, at the admin port, which is of this machine only.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use http::StatusCode;
use serde::Deserialize;
use serde_json::json;
use store::{Log, Registers};

use super::letters::dead_letters;
use crate::feeds::scorer;

#[derive(Clone)]
struct Stores {
    log: Arc<dyn Log>,
    registers: Arc<dyn Registers>,
}

/// `GET /admin/dead-letters?after=`, and `POST /admin/scorer-codes {"match", "minutes"}`.
pub fn admin(log: Arc<dyn Log>, registers: Arc<dyn Registers>) -> Router {
    Router::new()
        .route("/admin/dead-letters", get(letters))
        .route("/admin/scorer-codes", post(code))
        .with_state(Stores { log, registers })
}

#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    after: u64,
}

async fn letters(State(stores): State<Stores>, Query(Page { after }): Query<Page>) -> Response {
    match dead_letters(&*stores.log, after).await {
        Ok(letters) => {
            let next = letters.last().map_or(after, |(offset, _)| *offset);
            let letters: Vec<_> = letters.into_iter().map(|(_, letter)| letter).collect();
            Json(json!({ "after": next, "dead_letters": letters })).into_response()
        }
        Err(error) => failed(&error),
    }
}

#[derive(Deserialize)]
struct Wanted {
    r#match: String,
    minutes: Option<u64>,
}

async fn code(State(stores): State<Stores>, Json(wanted): Json<Wanted>) -> Response {
    match crate::catalog::Catalog::load(&*stores.registers).await {
        Ok(catalog) if catalog.get(&wanted.r#match).is_none() => {
            return problem(StatusCode::NOT_FOUND, "No such match", "The catalog has no match by this name.");
        }
        Ok(_) => {}
        Err(error) => return failed(&error),
    }
    let lives =
        wanted.minutes.map_or(scorer::CODE_LIVES, |minutes| Duration::from_secs(minutes.min(24 * 60) * 60));
    match scorer::issue(&*stores.registers, &wanted.r#match, lives).await {
        Ok(code) => {
            Json(json!({ "match": wanted.r#match, "code": code, "seconds": lives.as_secs() })).into_response()
        }
        Err(error) => failed(&error),
    }
}

fn failed(error: &crate::Error) -> Response {
    problem(StatusCode::SERVICE_UNAVAILABLE, "Not now", &error.to_string())
}

/// RFC 9457.
fn problem(status: StatusCode, title: &str, detail: &str) -> Response {
    let body = json!({ "title": title, "detail": detail, "status": status.as_u16() });
    (status, [(http::header::CONTENT_TYPE, "application/problem+json")], body.to_string()).into_response()
}
