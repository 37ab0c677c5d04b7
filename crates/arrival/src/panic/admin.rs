//! `/admin/arrival/panic` and the report of provisional passes.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::routing::get;
use axum::{Json, Router};
use http::HeaderMap;
use serde::Deserialize;
use serde_json::{Value, json};
use store::Verdict;

use super::{LEVER, Lever};
use crate::Error;
use crate::admin::{lever, operator};
use crate::door::Door;
use crate::play::Problem;

/// Passes that are listed unless asked for otherwise.
const PASSES: usize = 100;
/// How far a report reaches back unless asked otherwise, in milliseconds: a day.
const REPORT_MS: i64 = 24 * 3_600_000;
/// Characters of a note.
const NOTE_MAX: usize = 500;

pub(crate) fn router(door: Arc<Door>) -> Router {
    Router::new()
        .route("/admin/arrival/panic", get(read).put(write))
        .route("/admin/arrival/provisional", get(report))
        .with_state(door)
}

async fn read(State(door): State<Arc<Door>>) -> Json<Value> {
    let (pending, settled) = {
        let ledger = door.panic.ledger();
        (ledger.pending(), ledger.settled)
    };
    let gauge = door.panic.gauge();
    let of = |verdict| settled[verdict as usize];
    Json(json!({
        "lever": gauge.lever, "panic": gauge.is_panic(), "lets_in": gauge.lets_in(),
        "store_bad_since_ms": gauge.bad_since_ms(), "pending": pending,
        "settled_here": {
            "entitled": of(Verdict::Entitled), "not_entitled": of(Verdict::NotEntitled),
            "unverified": of(Verdict::Unverified),
        },
        "pressure": door.shed.pressure().value(),
    }))
}

async fn write(
    State(door): State<Arc<Door>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<Value>, Problem> {
    let wrong = |why: String| Problem::wrong(format!("the lever is not taken: {why}"));
    let set: Lever = crate::object(&body).map_err(|error| {
        wrong(format!(r#"{error}; write {{"positive": "auto", "negative": false, "note": "why"}}"#))
    })?;
    if set.note.chars().count() > NOTE_MAX {
        return Err(wrong(format!("a note has at most {NOTE_MAX} characters")));
    }
    let who = operator(&headers);
    let set = Lever { by: who.clone(), at_ms: crate::now_ms(), ..set };
    lever(&door, LEVER, &set, &who).await?;
    Ok(read(State(door)).await)
}

#[derive(Deserialize)]
struct Page {
    since_ms: Option<i64>,
    max: Option<usize>,
}

/// How many were let in without a check, what they turned out to be, and the last of them.
async fn report(State(door): State<Arc<Door>>, Query(page): Query<Page>) -> Result<Json<Value>, Problem> {
    let since_ms = page.since_ms.unwrap_or_else(|| crate::now_ms() - REPORT_MS);
    let tally = door.entitlements.tally(since_ms).await.map_err(Error::from)?;
    let passes =
        door.entitlements.provisional(since_ms, page.max.unwrap_or(PASSES)).await.map_err(Error::from)?;
    let pending = door.panic.ledger().pending();
    let passes = passes.into_iter().map(|p| {
        json!({
            "session": p.id, "account": p.account, "device": p.device, "match": p.r#match, "issued_ms": p.issued_ms,
            "until_ms": p.until_ms, "verdict": p.settled.map(|(verdict, _)| verdict.name()),
            "settled_ms": p.settled.map(|(_, at)| at),
        })
    });
    Ok(Json(json!({
        "since_ms": since_ms, "issued": tally.issued + pending as u64, "entitled": tally.entitled,
        "not_entitled": tally.not_entitled, "unverified": tally.unverified, "pending_here": pending,
        "passes": passes.collect::<Value>(),
    })))
}
