//! The rules of the console, from outside, before an ingest that says what it was asked.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Json, Router};
use http::{HeaderMap, Method, StatusCode, header};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tower::ServiceExt;

use crate::limits::{ANSWER_BYTES_MAX, DOCUMENT_MAX, SENT_MAX};
use crate::{Config, Place};

/// Says what it was asked.
async fn echo(request: Request) -> Json<Value> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let names: Vec<&str> = parts.headers.keys().map(|name| name.as_str()).collect();
    Json(json!({ "method": parts.method.as_str(), "uri": parts.uri.to_string(), "headers": names,
        "body": String::from_utf8_lossy(&body) }))
}

async fn serve(router: Router) -> Place {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let place = listener.local_addr().unwrap().to_string().parse().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    place
}

async fn ingest() -> Place {
    serve(Router::new().fallback(echo)).await
}

fn before(ingest: Option<Place>) -> Router {
    let purge = Router::new().route("/admin/purge", post(|| async { "purged" }));
    let config = Config { ingest, hosts: vec!["console.example".into()], ..Config::default() };
    crate::router(config, purge, PATIENCE)
}

/// Long enough for an answer that comes.
const PATIENCE: Duration = Duration::from_secs(20);

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The status of a problem document that says why.
    fn problem(&self) -> StatusCode {
        assert_eq!(self.headers[header::CONTENT_TYPE], "application/problem+json");
        let body = self.json();
        assert_eq!(body["status"], self.status.as_u16());
        assert!(body["detail"].as_str().is_some_and(|detail| detail.len() > 10), "{body}");
        self.status
    }
}

async fn call(console: &Router, method: Method, path: &str, fields: &[(&str, &str)], body: &str) -> Answer {
    let mut request = Request::builder().method(method).uri(path);
    let mut headers = HeaderMap::new();
    if fields.iter().all(|(name, _)| *name != "host") {
        headers.append("host", "127.0.0.1:8089".parse().unwrap());
    }
    for (name, value) in fields {
        headers.append(http::HeaderName::try_from(*name).unwrap(), value.parse().unwrap());
    }
    *request.headers_mut().unwrap() = headers;
    let answer = console.clone().oneshot(request.body(Body::from(body.to_owned())).unwrap()).await.unwrap();
    let (parts, body) = answer.into_parts();
    Answer { status: parts.status, headers: parts.headers, body: body.collect().await.unwrap().to_bytes() }
}

const JSON: (&str, &str) = ("content-type", "application/json");

#[tokio::test]
async fn what_the_page_asks_reaches_ingest_and_nothing_else_of_the_request_does() {
    let console = before(Some(ingest().await));
    for (path, there) in [
        ("/admin/scores/feeds", "/admin/feeds"),
        ("/admin/scores/dead-letters?before=0&limit=25", "/admin/dead-letters?before=0&limit=25"),
        ("/admin/scores/scorers", "/admin/scorers"),
    ] {
        let secret = [("cookie", "a=b"), ("authorization", "Bearer x"), ("x-other", "1")];
        let said = call(&console, Method::GET, path, &secret, "").await;
        assert_eq!((said.status, &said.json()["uri"]), (StatusCode::OK, &json!(there)));
        assert_eq!(said.json()["headers"], json!(["host"]));
    }
    for (path, there) in [
        ("/admin/scores/scorer-codes", "/admin/scorer-codes"),
        ("/admin/scores/scorers/revoke", "/admin/scorers/revoke"),
    ] {
        let said = call(&console, Method::POST, path, &[JSON], r#"{"match":"demo"}"#).await.json();
        assert_eq!(
            (&said["method"], &said["uri"], &said["body"]),
            (&json!("POST"), &json!(there), &json!(r#"{"match":"demo"}"#))
        );
    }
}

#[tokio::test]
async fn what_is_not_listed_is_not_forwarded() {
    let console = before(Some(ingest().await));
    for path in [
        "/admin/scores/metrics",
        "/admin/scores/feeds/",
        "/admin/scores/%66eeds",
        "/admin/scores/../feeds",
        "/admin/scores//admin/feeds",
        "/admin/scores/dead-letters/x",
        "/admin/feeds",
        "/nothing",
    ] {
        let said = call(&console, Method::GET, path, &[], "").await;
        assert_eq!(said.problem(), StatusCode::NOT_FOUND, "{path}");
    }
    for (method, path, allow) in [
        (Method::POST, "/admin/scores/feeds", "GET"),
        (Method::DELETE, "/admin/scores/scorers", "GET"),
        (Method::GET, "/admin/scores/scorer-codes", "POST"),
        (Method::PUT, "/admin/scores/scorer-codes", "POST"),
    ] {
        let said = call(&console, method, path, &[JSON], "{}").await;
        assert_eq!(
            (said.problem(), &said.headers[header::ALLOW]),
            (StatusCode::METHOD_NOT_ALLOWED, &allow.parse().unwrap())
        );
    }
    let long = format!("/admin/scores/dead-letters?before={}", "0".repeat(300));
    assert_eq!(call(&console, Method::GET, &long, &[], "").await.problem(), StatusCode::URI_TOO_LONG);
    let post = async |fields: &[(&str, &str)], body: &str| {
        call(&console, Method::POST, "/admin/scores/scorer-codes", fields, body).await.problem()
    };
    assert_eq!(post(&[JSON], &"x".repeat(SENT_MAX + 1)).await, StatusCode::PAYLOAD_TOO_LARGE);
    let kind = StatusCode::UNSUPPORTED_MEDIA_TYPE;
    assert_eq!(post(&[("content-type", "text/plain")], "{}").await, kind);
    assert_eq!(post(&[], "{}").await, kind);
}

#[tokio::test]
async fn what_operators_edit_reaches_arrival() {
    let config = Config { arrival: Some(ingest().await), ..Config::default() };
    let console = crate::router(config, Router::new(), PATIENCE);
    for (method, path) in [
        (Method::GET, "/admin/arrival/catalog"),
        (Method::PUT, "/admin/arrival/catalog?replace=true&dry=true"),
        (Method::GET, "/admin/arrival/catalog/match"),
        (Method::PUT, "/admin/arrival/catalog/language/zh-Hant"),
        (Method::DELETE, "/admin/arrival/catalog/match/final"),
        (Method::POST, "/admin/arrival/purchases"),
        (Method::PUT, "/admin/arrival/panic"),
        (Method::PUT, "/admin/arrival/advice"),
        (Method::GET, "/admin/arrival/provisional?since_ms=1"),
    ] {
        let body = if [Method::PUT, Method::POST].contains(&method) { "{}" } else { "" };
        let fields = [JSON, ("pavilion-operator", "asha"), ("cookie", "a=b")];
        let said = call(&console, method.clone(), path, &fields, body).await;
        assert_eq!(said.status, StatusCode::OK, "{path}");
        let said = said.json();
        assert_eq!((&said["method"], &said["uri"]), (&json!(method.as_str()), &json!(path)));
        assert_eq!(said["body"], body);
        let names: Vec<_> =
            said["headers"].as_array().unwrap().iter().filter_map(|name| name.as_str()).collect();
        assert!(names.contains(&"pavilion-operator") && !names.contains(&"cookie"), "{names:?}");
    }
    for path in [
        "/admin/arrival/nothing",
        "/admin/arrival/catalog/",
        "/admin/arrival/catalog/..",
        "/admin/arrival/catalog/match/..",
        "/admin/arrival/catalog/match/a%2fb",
        "/admin/arrival/catalog/match/a/b",
        "/admin/arrival/../purge",
    ] {
        let said = call(&console, Method::GET, path, &[], "").await;
        assert_eq!(said.problem(), StatusCode::NOT_FOUND, "{path}");
    }
    let put = async |path: &str, bytes: usize| {
        call(&console, Method::PUT, path, &[JSON], &"x".repeat(bytes)).await.status
    };
    let document = "/admin/arrival/catalog/match/final";
    assert_eq!(put(document, DOCUMENT_MAX + 1).await, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(put("/admin/arrival/catalog", DOCUMENT_MAX + 1).await, StatusCode::OK);
    let foreign = [JSON, ("origin", "https://evil.example")];
    let said = call(&console, Method::DELETE, document, &foreign, "").await;
    assert_eq!(said.problem(), StatusCode::FORBIDDEN);

    // Nothing is in a 204 but its status.
    let gone = serve(Router::new().fallback(|| async { StatusCode::NO_CONTENT })).await;
    let config = Config { arrival: Some(gone), ..Config::default() };
    let console = crate::router(config, Router::new(), PATIENCE);
    assert_eq!(call(&console, Method::DELETE, document, &[], "").await.status, StatusCode::NO_CONTENT);
    let untold = call(&before(None), Method::GET, document, &[], "").await;
    assert_eq!(untold.problem(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(untold.json()["detail"].as_str().unwrap().contains("--arrival"));
}

#[tokio::test]
async fn only_a_name_of_this_machine_is_answered() {
    let console = before(Some(ingest().await));
    let ask = async |hosts: &[(&str, &str)]| -> StatusCode {
        let mut statuses = Vec::new();
        for path in ["/admin/scores/feeds", "/admin/overview", "/admin/purge", "/", "/nothing"] {
            let said = call(&console, Method::GET, path, hosts, "").await;
            assert_eq!(said.headers["x-frame-options"], "DENY");
            statuses.push(said.status);
        }
        if statuses.contains(&StatusCode::MISDIRECTED_REQUEST) {
            assert!(
                statuses.iter().all(|s| *s == StatusCode::MISDIRECTED_REQUEST),
                "{hosts:?}: {statuses:?}"
            );
        }
        statuses[0]
    };
    for host in
        ["localhost", "LOCALHOST:1", "127.0.0.1:8089", "127.9.9.9", "[::1]:8089", "console.example:443"]
    {
        assert_eq!(ask(&[("host", host)]).await, StatusCode::OK, "{host}");
    }
    for host in [
        "evil.example",
        "evil.example:8089",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "localhost@evil.example",
        "evil.example@localhost",
        "192.168.1.9:8089",
        "0.0.0.0:8089",
        "[::2]",
        "2130706433",
        "",
    ] {
        assert_eq!(ask(&[("host", host)]).await, StatusCode::MISDIRECTED_REQUEST, "{host}");
    }
    let two = [("host", "localhost"), ("host", "evil.example")];
    assert_eq!(ask(&two).await, StatusCode::MISDIRECTED_REQUEST);
    let said = call(&console, Method::GET, "http://evil.example/admin/overview", &[], "").await;
    assert_eq!(
        said.problem(),
        StatusCode::MISDIRECTED_REQUEST,
        "the target says another host than the field"
    );
}

#[tokio::test]
async fn no_foreign_page_changes_anything() {
    let console = before(Some(ingest().await));
    for path in ["/admin/scores/scorer-codes", "/admin/purge"] {
        let post = async |fields: &[(&str, &str)]| {
            call(&console, Method::POST, path, &[fields, &[JSON]].concat(), "{}").await
        };
        for own in [
            &[("origin", "http://127.0.0.1:8089")][..],
            &[("origin", "http://127.0.0.1:8089"), ("sec-fetch-site", "same-origin")],
            &[("host", "console.example"), ("origin", "https://console.example")],
            // No browser.
            &[],
        ] {
            assert_eq!(post(own).await.status, StatusCode::OK, "{path} {own:?}");
        }
        for foreign in [
            &[("origin", "https://evil.example")][..],
            &[("origin", "null")],
            &[("origin", "")],
            &[("origin", "http://127.0.0.1:3000")],
            &[("origin", "http://localhost:8089")],
            &[("origin", "http://127.0.0.1:8089"), ("origin", "https://evil.example")],
            &[("sec-fetch-site", "cross-site")],
            &[("sec-fetch-site", "same-site")],
        ] {
            assert_eq!(post(foreign).await.problem(), StatusCode::FORBIDDEN, "{path} {foreign:?}");
        }
    }
    // It may ask, and is not told what the answer was: no field lets it.
    let said =
        call(&console, Method::GET, "/admin/scores/feeds", &[("origin", "https://evil.example")], "").await;
    assert_eq!(said.status, StatusCode::OK);
    assert!(said.headers.get("access-control-allow-origin").is_none());
    assert_eq!(said.headers["cross-origin-resource-policy"], "same-origin");
    assert_eq!(said.headers[header::CACHE_CONTROL], "no-store");
}

#[tokio::test]
async fn an_ingest_that_is_away_is_said_to_be_away() {
    let ask = async |ingest: Option<Place>| {
        call(&before(ingest), Method::GET, "/admin/scores/feeds", &[], "").await
    };
    let none = ask(None).await;
    assert_eq!(none.problem(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(none.headers.contains_key(header::RETRY_AFTER));

    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let place: Place = gone.local_addr().unwrap().to_string().parse().unwrap();
    drop(gone);
    assert_eq!(ask(Some(place)).await.problem(), StatusCode::BAD_GATEWAY);

    let large = serve(Router::new().fallback(|| async {
        ([(header::CONTENT_TYPE, "application/json")], "x".repeat(ANSWER_BYTES_MAX + 1))
    }));
    assert_eq!(ask(Some(large.await)).await.problem(), StatusCode::BAD_GATEWAY);

    let other = serve(Router::new().fallback(|| async { "ok\n" }));
    assert_eq!(ask(Some(other.await)).await.problem(), StatusCode::BAD_GATEWAY, "that is no ingest");

    // What ingest itself refuses is passed on as it is.
    let busy = serve(Router::new().fallback(|| async {
        let kind = (header::CONTENT_TYPE, "application/problem+json");
        let problem = r#"{"title":"Not now","detail":"The spine is away.","status":503}"#;
        (StatusCode::SERVICE_UNAVAILABLE, [kind, (header::RETRY_AFTER, "4")], problem).into_response()
    }));
    let busy = ask(Some(busy.await)).await;
    assert_eq!(
        (busy.problem(), &busy.headers[header::RETRY_AFTER]),
        (StatusCode::SERVICE_UNAVAILABLE, &"4".parse().unwrap())
    );
}

#[tokio::test]
async fn an_ingest_that_hangs_is_not_waited_for() {
    let hangs = serve(Router::new().fallback(std::future::pending::<()>)).await;
    let config = Config { ingest: Some(hangs), ..Config::default() };
    let console = crate::router(config, Router::new(), Duration::from_millis(50));
    let said = call(&console, Method::GET, "/admin/scores/feeds", &[], "").await;
    assert_eq!(said.problem(), StatusCode::GATEWAY_TIMEOUT);
}

#[tokio::test]
async fn a_role_is_ready_only_if_it_says_so() {
    let place = async |text: &'static str, status: StatusCode| {
        serve(Router::new().route("/readyz", get(move || async move { (status, text) }))).await
    };
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let away = gone.local_addr().unwrap().to_string();
    drop(gone);
    let roles = [
        format!("good={}", place("ok\n", StatusCode::OK).await),
        format!("page={}", place("<!doctype html>", StatusCode::OK).await),
        format!("ends={}", place("ending", StatusCode::SERVICE_UNAVAILABLE).await),
        format!("away={away}"),
    ];
    let roles = roles.iter().map(|role| role.parse().unwrap()).collect();
    let config = Config { roles, app: Some("https://watch.example/".parse().unwrap()), ..Config::default() };
    let said = call(&crate::router(config, Router::new(), PATIENCE), Method::GET, "/admin/overview", &[], "")
        .await
        .json();
    let states: Vec<_> =
        said["roles"].as_array().unwrap().iter().map(|r| (&r["name"], &r["state"])).collect();
    let expected = json!(["good", "ready", "page", "not_ready", "ends", "not_ready", "away", "unreachable"]);
    let flat: Vec<_> = states.into_iter().flat_map(|(name, state)| [name.clone(), state.clone()]).collect();
    assert_eq!(json!(flat), expected);
    assert_eq!(said["app"], "https://watch.example");
}

#[test]
fn settings_say_what_to_write() {
    assert_eq!("shard=127.0.0.1:8098".parse::<crate::Role>().unwrap().name, "shard");
    assert!("[::1]:8097".parse::<Place>().is_ok());
    for wrong in ["", "8097", "host", "host:0", "user@host:1", "host:1/x", ":1"] {
        assert!(
            wrong.parse::<Place>().is_err_and(|error| error.to_string().contains("host:port")),
            "{wrong}"
        );
    }
    for wrong in ["shard", "=127.0.0.1:1", "shard=nowhere"] {
        assert!(wrong.parse::<crate::Role>().is_err(), "{wrong}");
    }
    assert!("ftp://x".parse::<crate::App>().is_err());
    let config = Config { hosts: vec!["console.example:443".into()], ..Config::default() };
    assert!(config.check().unwrap_err().to_string().contains("console.example"));
}
