//! The description of the interface says what there is, and nothing else.

use std::collections::BTreeSet;

use super::*;

const DESCRIPTION: &str = include_str!("../../../../../docs/openapi.yaml");
const ROUTES: &str = include_str!("../api/mod.rs");

/// Paths of ours with their methods, by the description's indentation.
fn described() -> BTreeSet<(String, String)> {
    let (mut path, mut found) = (String::new(), BTreeSet::new());
    for line in DESCRIPTION.lines() {
        if let Some(new) = line.strip_prefix("  /") {
            path = format!("/{}", new.trim_end_matches(':'));
        }
        let Some(method) = line.strip_prefix("    ").and_then(|rest| rest.strip_suffix(':')) else {
            continue;
        };
        let ours = path.starts_with("/v1/identity/") || path.starts_with("/.well-known/jwks");
        if ours && ["get", "put", "post", "delete", "patch"].contains(&method) {
            found.insert((path.clone(), method.to_uppercase()));
        }
    }
    found
}

#[tokio::test]
async fn what_is_described_is_there() {
    let door = Door::new();
    let described = described();
    assert!(described.len() > 20, "{described:?}");
    for (path, method) in &described {
        let url = path.replace("{id}", "x").replace("{provider}", "x");
        let request = Request::builder().method(method.as_str()).uri(url).header("host", "tv.example");
        let answer = door.send(request.body(Body::empty()).unwrap()).await;
        let there = answer.status != StatusCode::METHOD_NOT_ALLOWED
            && !answer.body["detail"].as_str().is_some_and(|text| text.contains("nothing by this name"));
        assert!(there, "{method} {path}: {}", answer.status);
    }
}

#[test]
fn what_is_there_is_described() {
    let described: BTreeSet<String> = described().into_iter().map(|(path, _)| path).collect();
    let routes: Vec<&str> =
        ROUTES.split(".route(\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(routes.len() > 15, "{routes:?}");
    for route in routes {
        let path = if route.starts_with("/.") { route.to_owned() } else { format!("/v1/identity{route}") };
        assert!(described.contains(&path), "{path} is not described");
    }
}
