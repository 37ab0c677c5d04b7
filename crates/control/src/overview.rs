//! Which roles answer, and what they say of themselves. Nothing is concluded from silence but that there is silence.

use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{Request, StatusCode};
use http_body_util::Full;
use serde::Serialize;
use tokio::task::JoinSet;

use crate::ask::Unanswered;
use crate::limits::{READY_BYTES_MAX, READY_MAX, READY_SHOWN_MAX};
use crate::{Console, Role};

/// A role as it was a moment ago.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Seen {
    name: String,
    at: String,
    state: Readiness,
    /// What it said, if it is not ready.
    said: String,
    /// How long it took to say so, in milliseconds.
    ms: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Readiness {
    /// `/readyz` said ok.
    Ready,
    /// It said something else.
    NotReady,
    /// Nobody answers there.
    Unreachable,
    /// It was not asked: too much is being asked already.
    Unknown,
}

/// `GET /admin/overview`.
pub(crate) async fn overview(State(console): State<Arc<Console>>) -> Response {
    let mut asked = JoinSet::new();
    for (n, role) in console.config.roles.iter().cloned().enumerate() {
        let console = console.clone();
        asked.spawn(async move { (n, look(&console, role).await) });
    }
    let mut seen = asked.join_all().await;
    seen.sort_by_key(|(n, _)| *n);
    let roles: Vec<Seen> = seen.into_iter().map(|(_, seen)| seen).collect();
    let app = console.config.app.as_ref().map(crate::App::as_str);
    Json(serde_json::json!({ "roles": roles, "app": app })).into_response()
}

async fn look(console: &Console, Role { name, at }: Role) -> Seen {
    let began = Instant::now();
    let seen = |state, said: String| {
        let ms = began.elapsed().as_millis().try_into().unwrap_or(u64::MAX);
        Seen { name: name.clone(), at: at.to_string(), state, said, ms }
    };
    let Ok(request) = Request::get(format!("http://{at}/readyz")).body(Full::<Bytes>::default()) else {
        return seen(Readiness::Unreachable, "It has no address that can be asked.".to_owned());
    };
    match console.client.ask(request, READY_BYTES_MAX, READY_MAX).await {
        // A page that is served for every path is no readiness.
        Ok(answer) if answer.status() == StatusCode::OK && answer.body().trim_ascii() == b"ok" => {
            seen(Readiness::Ready, String::new())
        }
        Ok(answer) => {
            let text = String::from_utf8_lossy(answer.body());
            let shown: String = text.trim().chars().take(READY_SHOWN_MAX).collect();
            seen(Readiness::NotReady, format!("{}: {shown}", answer.status()))
        }
        Err(Unanswered::Busy) => seen(Readiness::Unknown, "Too much is being asked at once.".to_owned()),
        Err(Unanswered::Away) => seen(Readiness::Unreachable, "Nobody answers there.".to_owned()),
        Err(Unanswered::Late) => seen(Readiness::NotReady, "It did not answer within a second.".to_owned()),
        Err(Unanswered::Broken) => seen(Readiness::NotReady, "Its answer broke off.".to_owned()),
    }
}
