//! `/v1/…`: what the page asks.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::Serialize;
use timeline::{FrameRate, Grid, Utc};

use crate::Config;
use crate::identity::{Identity, Viewer};

/// A match in the list.
#[derive(Serialize)]
struct Listed<'a> {
    r#match: &'a str,
    title: &'a str,
    live: bool,
    /// Empty when it is not scored.
    sport: &'a str,
    /// It has a picture.
    watchable: bool,
}

/// What a player needs.
#[derive(Serialize)]
struct Play<'a> {
    r#match: &'a str,
    title: &'a str,
    programme: &'a str,
    run: String,
    epoch: Utc,
    /// None for a match without a picture.
    playlist: Option<String>,
    grid: Option<Lengths>,
    /// None when it is not scored.
    scores: Option<Scores>,
}

/// Where the score is.
#[derive(Serialize)]
struct Scores {
    /// `ws://host:port/v1/stream`.
    stream: String,
    /// `http://host:port`.
    base: String,
    /// A user token, good for a quarter of an hour.
    token: String,
}

/// What the answers are made from.
struct App {
    config: Config,
    identity: Identity,
}

impl App {
    /// Where the scores are for a viewer who came by that `Host`.
    fn scores(&self, host: Option<&str>, viewer: Option<&Viewer>) -> Option<Scores> {
        let base = self.config.scores.as_ref()?.base(host);
        let stream = format!("{}/v1/stream", base.replacen("http", "ws", 1));
        // Everybody is somebody: who brought no token is a device that never was before.
        let token = match viewer {
            Some(viewer) => self.identity.token_for(viewer, None),
            None => self.identity.guest(None).map(|(_, token)| token),
        };
        match token {
            Ok(token) => Some(Scores { stream, base, token }),
            Err(error) => {
                tracing::error!(%error, "no token could be made; the viewer goes without scores");
                None
            }
        }
    }
}

/// Lengths that a player plans its hold-back with. They are the grid's at 25 frames a second; at other rates
/// they differ by less than a tenth, and the playlist says what holds.
#[derive(Serialize)]
struct Lengths {
    segment_ms: f64,
    part_ms: f64,
}

impl Lengths {
    fn usual() -> Option<Lengths> {
        let grid = Grid::for_frame_rate(FrameRate { num: 25, den: 1 }).ok()?;
        Some(Lengths {
            segment_ms: grid.segment().seconds() * 1_000.0,
            part_ms: grid.part().seconds() * 1_000.0,
        })
    }
}

pub(crate) fn router(config: Config, identity: Identity) -> Router {
    Router::new()
        .route("/v1/scorer", get(scorer))
        .route("/v1/time", get(time))
        .route("/v1/matches", get(matches))
        .route("/v1/matches/{match}/play", post(play))
        .route("/v1/{*rest}", get(nothing).post(nothing))
        .layer(axum::middleware::map_response(fresh))
        .with_state(Arc::new(App { config, identity }))
}

/// Answers about now are for now.
async fn fresh(mut response: Response) -> Response {
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

async fn time() -> Json<serde_json::Value> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Json(serde_json::json!({ "utc_ms": since.as_micros() as f64 / 1_000.0 }))
}

async fn matches(State(app): State<Arc<App>>) -> Response {
    let config = &app.config;
    let mut all = vec![Listed {
        r#match: config.r#match.as_str(),
        title: &config.title,
        live: true,
        sport: config.sport.as_deref().unwrap_or_default(),
        watchable: true,
    }];
    all.extend(config.scored.iter().map(|one| Listed {
        r#match: one.r#match.as_str(),
        title: &one.title,
        live: true,
        sport: &one.sport,
        watchable: false,
    }));
    Json(all).into_response()
}

/// What a scorer's page needs.
async fn scorer(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    let host = headers.get(header::HOST).and_then(|h| h.to_str().ok());
    match &app.config.feeds {
        Some(feeds) => Json(serde_json::json!({ "feeds": feeds.base(host) })).into_response(),
        None => {
            problem(StatusCode::NOT_FOUND, "No feeds", "No feed is taken here, so there is nothing to score.")
        }
    }
}

async fn play(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    viewer: Option<Viewer>,
    headers: HeaderMap,
) -> Response {
    let config = &app.config;
    let host = headers.get(header::HOST).and_then(|h| h.to_str().ok());
    if let Some(one) = config.scored.iter().find(|one| one.r#match.as_str() == id) {
        return Json(Play {
            r#match: one.r#match.as_str(),
            title: &one.title,
            programme: config.programme.as_str(),
            run: config.epoch.run(),
            epoch: config.epoch,
            playlist: None,
            grid: Lengths::usual(),
            scores: app.scores(host, viewer.as_ref()),
        })
        .into_response();
    }
    if id != config.r#match.as_str() {
        return problem(
            StatusCode::NOT_FOUND,
            "No such match",
            "There is no match by this name; see /v1/matches.",
        );
    }
    let run = config.epoch.run();
    let playlist = format!(
        "{}/{}/{}/{run}/{}/hls/master.m3u8",
        config.edge.base(host),
        config.pass,
        config.r#match,
        config.programme
    );
    Json(Play {
        r#match: config.r#match.as_str(),
        title: &config.title,
        programme: config.programme.as_str(),
        run,
        epoch: config.epoch,
        playlist: Some(playlist),
        grid: Lengths::usual(),
        scores: config.sport.as_ref().and_then(|_| app.scores(host, viewer.as_ref())),
    })
    .into_response()
}

async fn nothing() -> Response {
    problem(
        StatusCode::NOT_FOUND,
        "No such resource",
        "This API has /v1/time, /v1/scorer, /v1/matches and /v1/matches/{match}/play.",
    )
}

/// RFC 9457.
fn problem(status: StatusCode, title: &str, detail: &str) -> Response {
    let body = serde_json::json!({ "title": title, "detail": detail, "status": status.as_u16() });
    let kind = [(header::CONTENT_TYPE, "application/problem+json")];
    (status, kind, body.to_string()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use http::Request;
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    async fn ask(method: &str, path: &str) -> (StatusCode, serde_json::Value) {
        let config = Config {
            r#match: "final".parse().unwrap(),
            title: "Final".into(),
            programme: "main".parse().unwrap(),
            epoch: Utc(1_796_000_000_000_000),
            edge: ":8081".parse().unwrap(),
            pass: "open".into(),
            scores: Some(":8082".parse().unwrap()),
            feeds: Some(":8087".parse().unwrap()),
            sport: Some("cricket".into()),
            scored: vec!["club:cricket:Club match".parse().unwrap()],
        };
        let folder = tempfile::tempdir().unwrap();
        let identity = crate::identity::for_tests(folder.path());
        let request = Request::builder().method(method).uri(path).header("host", "tv.example:8080");
        let answer =
            crate::router(config, identity).oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        let status = answer.status();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&body).unwrap())
    }

    #[tokio::test]
    async fn a_viewer_gets_a_playlist_on_the_host_they_came_to() {
        let (status, answer) = ask("POST", "/v1/matches/final/play").await;
        assert_eq!(status, StatusCode::OK);
        let run = Utc(1_796_000_000_000_000).run();
        let expected = format!("http://tv.example:8081/open/final/{run}/main/hls/master.m3u8");
        assert_eq!(answer["playlist"], expected);
        assert_eq!(answer["grid"], serde_json::json!({ "segment_ms": 1_920.0, "part_ms": 320.0 }));
    }

    #[tokio::test]
    async fn a_scored_match_has_a_token_and_need_not_have_a_picture() {
        for (path, picture) in [("/v1/matches/final/play", true), ("/v1/matches/club/play", false)] {
            let (_, answer) = ask("POST", path).await;
            assert_eq!(answer["playlist"].is_string(), picture, "{answer}");
            assert_eq!(answer["scores"]["stream"], "ws://tv.example:8082/v1/stream");
            assert_eq!(answer["scores"]["base"], "http://tv.example:8082");
            assert_eq!(answer["scores"]["token"].as_str().unwrap().split('.').count(), 3, "{answer}");
        }
        let (_, all) = ask("GET", "/v1/matches").await;
        assert_eq!((&all[1]["match"], &all[1]["watchable"]), (&"club".into(), &false.into()));
        assert_eq!(ask("GET", "/v1/scorer").await.1["feeds"], "http://tv.example:8087");
    }

    #[tokio::test]
    async fn what_is_not_there_is_a_problem_document() {
        for (method, path) in [("POST", "/v1/matches/other/play"), ("GET", "/v1/nothing/here")] {
            let (status, answer) = ask(method, path).await;
            assert_eq!((status, &answer["status"]), (StatusCode::NOT_FOUND, &serde_json::json!(404)));
        }
    }
}
