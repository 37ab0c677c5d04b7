//! What holds for every answer of the whole door: headers, other origins, cookies, tokens that are none.

use std::collections::BTreeSet;

use http::{HeaderMap, Request, StatusCode};
use serde_json::json;

use crate::identity::Viewer;
use crate::testing::{HOME, House, Said, config, viewer};

/// Every way in, as the description of the interface lists them.
fn ways() -> Vec<(String, String)> {
    let mut path = "";
    let mut found = Vec::new();
    for line in include_str!("../../../docs/openapi.yaml").lines() {
        if let Some(new) = line.strip_prefix("  /") {
            path = new.trim_end_matches(':');
        }
        let method = line.strip_prefix("    ").and_then(|rest| rest.strip_suffix(':')).unwrap_or_default();
        if !path.is_empty() && ["get", "put", "post", "delete"].contains(&method) {
            let path = path
                .replace("{match}", "cup")
                .replace("{id}", "x")
                .replace("{provider}", "x")
                .replace("{system}", "clearkey");
            found.push((method.to_uppercase(), format!("/{path}")));
        }
    }
    assert!(found.len() >= 30, "{found:?}");
    found
}

fn request(method: &str, path: &str, fields: &[(&str, &str)]) -> http::request::Builder {
    let request = Request::builder().method(method).uri(path);
    fields.iter().fold(request, |request, (name, value)| request.header(*name, *value))
}

async fn house() -> (tempfile::TempDir, House) {
    let folder = tempfile::tempdir().unwrap();
    let house = House::open(folder.path(), false).await;
    house.sell().await;
    (folder, house)
}

fn has_headers(said: &Said, what: &str) {
    let is = |name: &str| said.headers.get(name).and_then(|v| v.to_str().ok()).unwrap_or_default();
    assert_eq!(
        [
            is("x-content-type-options"),
            is("x-frame-options"),
            is("referrer-policy"),
            is("cross-origin-opener-policy")
        ],
        ["nosniff", "DENY", "no-referrer", "same-origin"],
        "{what}: {:?}",
        said.headers
    );
    let csp = is("content-security-policy");
    for part in ["default-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"] {
        assert!(csp.contains(part), "{what}: {csp}");
    }
    let scripts = csp.split(';').find(|part| part.trim().starts_with("script-src")).unwrap_or_default();
    assert!(!scripts.contains("unsafe"), "{what}: {csp}");
    assert!(said.headers.get("server").is_none() && said.headers.get("x-powered-by").is_none());
}

#[tokio::test]
async fn every_kind_of_answer_has_the_security_headers() {
    let (_folder, house) = house().await;
    let mut statuses = BTreeSet::new();
    for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"] {
        let paths = ["/", "/watch/cup", "/assets/none.js", "/v1/nothing", "/v1/%ff", "/%00"];
        let all = ways().into_iter().map(|(_, path)| path).chain(paths.map(str::to_owned));
        for path in all {
            let said = house.send(request(method, &path, &[])).await;
            has_headers(&said, &format!("{method} {path}"));
            if said.status == StatusCode::METHOD_NOT_ALLOWED {
                assert!(said.headers.contains_key("allow"), "{method} {path} (RFC 9110, 15.5.6)");
            }
            // The same for everybody, and fetched by everybody.
            let is_kept = method != "POST" && ["/v1/advice", "/v1/matches"].contains(&path.as_str());
            if path.starts_with("/v1/") && !is_kept {
                assert_eq!(said.headers["cache-control"], "no-store", "{method} {path}: {}", said.status);
            }
            statuses.insert(said.status.as_u16());
        }
    }
    let house_of = async |path: &str| house.send(request("GET", path, &[])).await;
    house.admin("PUT", "panic", r#"{"negative": true}"#).await;
    has_headers(&house_of("/v1/identity/profiles").await, "a polite failure");
    house.door.shed.crush();
    // Which ones are shed is drawn.
    for _ in 0..100 {
        let said = house_of("/v1/matches").await;
        has_headers(&said, "overload");
        statuses.insert(said.status.as_u16());
    }
    for status in [200, 401, 404, 405, 503] {
        assert!(statuses.contains(&status), "{status} was not seen: {statuses:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    let strict = House::with(crate::Config { per_address: 1, ..config(folder.path()) }, false).await;
    let mut said = strict.send(request("GET", "/v1/time", &[])).await;
    for _ in 0..20 {
        said = strict.send(request("GET", "/v1/time", &[])).await;
    }
    assert_eq!(said.status, StatusCode::TOO_MANY_REQUESTS);
    has_headers(&said, "one address too often");
}

#[tokio::test]
async fn who_comes_by_tls_comes_by_nothing_else() {
    for (url, there) in [(None, None), (Some("https://tv.example"), Some("max-age=31536000"))] {
        let folder = tempfile::tempdir().unwrap();
        let house = House::at(config(folder.path()), false, url).await;
        for path in ["/", "/v1/time", "/v1/nothing", "/v1/identity/me"] {
            let said = house.send(request("GET", path, &[])).await;
            let hsts = said.headers.get("strict-transport-security").map(|v| v.to_str().unwrap());
            assert_eq!(hsts, there, "{path} at {url:?}");
        }
    }
}

/// Fields by which a page of another origin would be told something (Fetch, 3.2.3).
fn lets(headers: &HeaderMap) -> Vec<&str> {
    headers.keys().map(|name| name.as_str()).filter(|name| name.starts_with("access-control-")).collect()
}

#[tokio::test]
async fn other_origins_are_told_the_keys_and_nothing_else() {
    let (_folder, house) = house().await;
    let token = token(&house, Some("ann"));
    let cookie = format!("pavilion_session={token}");
    for origin in ["https://evil.example", "null", "http://tv.example:8080.evil.example"] {
        for (method, path) in ways() {
            let fields = [("origin", origin), ("cookie", cookie.as_str())];
            let said = house.send(request(&method, &path, &fields)).await;
            if path.starts_with("/v1/licence/") {
                // For pages anywhere: what counts is the pass, and a cookie is nothing here.
                assert_eq!(
                    lets(&said.headers),
                    ["access-control-allow-origin", "access-control-expose-headers"]
                );
                assert_eq!(said.headers["access-control-allow-origin"], "*");
                continue;
            }
            let public = path == "/.well-known/jwks.json" || path == "/.well-known/jwks.pin";
            if public && said.status == StatusCode::OK {
                // To everybody, so never with cookies (Fetch, 3.2.5).
                assert_eq!(lets(&said.headers), ["access-control-allow-origin"], "{path}");
                assert_eq!(said.headers["access-control-allow-origin"], "*");
            } else {
                assert!(lets(&said.headers).is_empty(), "{method} {path}: {:?}", said.headers);
            }
            let asks = [
                ("origin", origin),
                ("access-control-request-method", method.as_str()),
                ("access-control-request-headers", "authorization, content-type"),
            ];
            let said = house.send(request("OPTIONS", &path, &asks)).await;
            assert!(lets(&said.headers).is_empty(), "preflight of {method} {path}: {:?}", said.headers);
        }
    }
}

fn token(house: &House, account: Option<&str>) -> String {
    house.door.identity.token_for(&viewer(account, "phone"), None).unwrap()
}

#[tokio::test]
async fn another_sites_page_changes_nothing_by_the_viewers_cookie() {
    let (_folder, house) = house().await;
    house.buy(&["ann".into()]).await;
    let token = token(&house, Some("ann"));
    let (cookie, bearer) = (format!("theme=dark; pavilion_session={token}"), format!("Bearer {token}"));
    let cookie = ("cookie", cookie.as_str());
    let play =
        async |fields: &[(&str, &str)]| house.send(request("POST", "/v1/matches/cup/play", fields)).await;
    let own = ("origin", "http://tv.example:8080");
    let played = play(&[cookie, own]).await;
    assert_eq!(played.status, StatusCode::OK, "{}", played.body);
    let heartbeat = played.body["stream"]["heartbeat"].as_str().unwrap();
    let stream = format!("/v1/streams/{}", played.body["stream"]["id"].as_str().unwrap());

    let changes = [("POST", "/v1/matches/cup/play"), ("POST", heartbeat), ("DELETE", stream.as_str())];
    for foreign in [
        &[("origin", "https://evil.example")][..],
        &[("origin", "null")],
        &[("origin", "http://tv.example:8081")],
        &[("origin", "http://tv.example:8080@evil.example")],
        &[],
    ] {
        for (method, path) in changes {
            let said = house.send(request(method, path, &[&[cookie][..], foreign].concat())).await;
            assert_eq!(
                (said.status, said.problem()),
                (StatusCode::FORBIDDEN, "other-origin"),
                "{method} {path} {foreign:?}"
            );
        }
    }
    assert_eq!(house.door.slots.list("ann", crate::now_ms()).len(), 1, "it plays on");
    // A bearer token is put there by whoever holds it, and by no browser.
    let foreign = ("origin", "https://evil.example");
    let said = house.send(request("POST", heartbeat, &[("authorization", &bearer), foreign])).await;
    assert_eq!(said.status, StatusCode::OK, "{}", said.body);
    let said = house.send(request("DELETE", &stream, &[cookie, own])).await;
    assert_eq!(said.status, StatusCode::NO_CONTENT);
    assert!(house.door.slots.list("ann", crate::now_ms()).is_empty());
}

/// Those for which a token is needed, or counts if there is one.
fn asks_who(method: &str, path: &str) -> bool {
    let identity = ["/me", "/me/password", "/profiles", "/profiles/x", "/profiles/x/choose", "/sessions"];
    let below = path.strip_prefix("/v1/identity").unwrap_or_default();
    identity.contains(&below)
        || below == "/sessions/x"
        || path.starts_with("/v1/streams")
        || (method, path) == ("POST", "/v1/matches/cup/play")
        // Whoever is signed out already is: without any token it says so.
        || below == "/logout"
}

/// What is no token: pieces of a good one, a changed one, one of others' keys, and anything.
fn rubbish(good: &str, others: &str) -> Vec<String> {
    let cut = (1..good.len()).step_by(23).map(|n| good[..n].to_owned());
    let tail = [good.len() - 1, good.len() - 8].map(|n| good[..n].to_owned());
    // Not the last letter: some of its bits are padding, and that is looked at by `pass` itself.
    let changed = (0..good.len() - 1).step_by(19).map(|n| {
        let other = if &good[n..=n] == "A" { "B" } else { "A" };
        format!("{}{other}{}", &good[..n], &good[n + 1..])
    });
    let [head, claims, _] = good.split('.').collect::<Vec<_>>()[..] else { panic!("{good}") };
    let none = "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0";
    let mine = "eyJzdWIiOiJhbm4iLCJkZXYiOiJwaG9uZSIsImV4cCI6OTk5OTk5OTk5OX0";
    let made = [
        format!("{none}.{claims}."),
        format!("{none}.{mine}."),
        format!("{head}.{mine}.{}", "A".repeat(86)),
        format!("{head}.{claims}."),
        format!("{head}.{claims}"),
        format!("{good}.{good}"),
        format!("{good}A"),
        others.to_owned(),
        "null".to_owned(),
        "..".to_owned(),
        "x".repeat(9_000),
    ];
    let random = (0..20).map(|n| {
        let letters = b"ABCDEFabcdef0123456789-_..";
        (0..n * 17 + 1).map(|_| char::from(letters[fastrand::usize(..letters.len())])).collect::<String>()
    });
    cut.chain(tail).chain(changed).chain(made).chain(random).collect()
}

#[tokio::test]
async fn a_token_that_is_none_opens_nothing_anywhere() {
    let (_folder, house) = house().await;
    house.buy(&["ann".into()]).await;
    let (_other, elsewhere) = self::house().await;
    let good = token(&house, Some("ann"));
    let all = rubbish(&good, &token(&elsewhere, Some("ann")));
    let ways: Vec<_> = ways().into_iter().filter(|(method, path)| asks_who(method, path)).collect();
    assert!(ways.len() >= 16, "{ways:?}");
    for (method, path) in &ways {
        for token in &all {
            let bearer = format!("Bearer {token}");
            let cookie = format!("pavilion_session={token}");
            let own = ("origin", "http://tv.example:8080");
            for fields in [[("authorization", bearer.as_str()), own], [("cookie", cookie.as_str()), own]] {
                let said = house.send(request(method, path, &fields)).await;
                let name = fields[0].0;
                assert_eq!(said.status, StatusCode::UNAUTHORIZED, "{method} {path} {name} {token}");
                assert_eq!(said.headers["www-authenticate"], "Bearer");
                assert_eq!(said.problem(), "unauthenticated", "{method} {path} {name} {token}");
                let text = said.body.to_string();
                assert!(!text.contains(&good[good.len() - 20..]), "{text}");
            }
        }
        for field in ["Basic YTpi", "Bearer", "bearer", "", "Token x", "Bearer\t"] {
            let said = house.send(request(method, path, &[("authorization", field)])).await;
            assert_eq!(said.status, StatusCode::UNAUTHORIZED, "{method} {path} '{field}'");
        }
    }
    assert_eq!(house.checks(), 0, "nothing of it reached the store of entitlements");
    // The rubbish is at fault, and nothing else is.
    let said = house.play_with("cup", Some(&good)).await;
    assert_eq!(said.status, StatusCode::OK, "{}", said.body);
    let ann: &Viewer = &viewer(Some("ann"), "phone");
    assert_eq!(house.ask("GET", "/v1/streams", ann, HOME).await.body["streams"][0]["match"], json!("cup"));
}
