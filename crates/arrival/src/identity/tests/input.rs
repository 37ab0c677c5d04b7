//! Everything that comes from outside may be anything.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn bad_input_is_a_problem_document() {
    let door = Door::new();
    let mala = door.account(MALA).await;
    let token = mala.text("token");
    let long = "x".repeat(2_000);
    let cases = [
        ("POST", "/device", "", json!([])),
        ("POST", "/device", "", json!({ "use": "carrier pigeon" })),
        ("POST", "/device", "", json!({ "unknown": 1 })),
        ("POST", "/device", "", json!({ "device_token": 1 })),
        ("POST", "/register", "", json!({})),
        ("POST", "/register", "", json!({ "email": "not an address" })),
        ("POST", "/register", "", json!({ "email": "a@example.org\r\nBcc: b@example.org" })),
        ("POST", "/register/confirm", "", json!({ "email": MALA, "code": "X" })),
        ("POST", "/register/confirm", "", json!({ "email": MALA, "code": "X", "password": "short" })),
        ("POST", "/register/confirm", "", json!({ "email": MALA, "code": "X", "password": "password1" })),
        ("POST", "/register/confirm", "", json!({ "email": MALA, "code": "X", "password": MALA })),
        ("POST", "/login", "", Value::Null),
        ("POST", "/login", "", json!({ "email": MALA })),
        ("POST", "/login", "", json!({ "email": MALA, "password": null })),
        ("POST", "/login", "", json!({ "email": MALA, "password": long })),
        ("POST", "/login", "", json!({ "email": MALA, "password": PASSWORD, "label": "a\u{0}b" })),
        ("POST", "/login", "", json!({ "email": MALA, "password": PASSWORD, "label": long })),
        ("POST", "/login", "", json!({ "email": MALA, "password": PASSWORD, "admin": true })),
        ("POST", "/refresh", "", json!({ "refresh_token": 5 })),
        ("POST", "/refresh", "", json!({ "refresh_token": "nonsense" })),
        ("POST", "/refresh", "", json!({ "device_token": "nonsense" })),
        ("POST", "/refresh", "", Value::Null),
        ("POST", "/logout", "", Value::Null),
        ("GET", "/me", "", Value::Null),
        ("GET", "/me", "nonsense", Value::Null),
        ("GET", "/me", &long, Value::Null),
        ("PUT", "/me/password", token, json!({ "current": PASSWORD })),
        ("PUT", "/me/password", token, json!({ "current": long, "new": "another horse" })),
        ("DELETE", "/me", token, json!({ "password": long })),
        ("POST", "/profiles", token, json!({ "name": "" })),
        ("POST", "/profiles", token, json!({ "name": long })),
        ("POST", "/profiles", token, json!({ "name": "P", "language": "not a language" })),
        ("PUT", "/profiles/%00", token, json!({ "name": "P" })),
        ("PUT", "/profiles/%ff", token, json!({ "name": "P" })),
        ("DELETE", "/profiles/nonsense", token, Value::Null),
        ("POST", "/profiles/nonsense/choose", token, Value::Null),
        ("DELETE", "/sessions/nonsense", token, Value::Null),
        ("GET", "/oidc/nobody/start", "", Value::Null),
        ("GET", "/oidc/nobody/callback?code=x&state=y", "", Value::Null),
        ("GET", "/oidc/nobody/callback?code=x&code=y", "", Value::Null),
        ("GET", "/nothing", "", Value::Null),
        ("GET", "/login", "", Value::Null),
        ("PATCH", "/me", token, Value::Null),
    ];
    for (method, path, token, body) in cases {
        let answer = door.ask(method, path, token, body.clone()).await;
        assert!(answer.status.is_client_error(), "{method} {path} {body}: {}", answer.status);
        let kind = answer.headers.get("content-type").map(|kind| kind.to_str().unwrap());
        assert_eq!(kind, Some("application/problem+json"), "{method} {path} {body}: {}", answer.status);
        assert_eq!(answer.body["status"], answer.status.as_u16());
        assert!(answer.text("type").starts_with("/problems/") && !answer.text("detail").is_empty());
        assert!(!answer.body.to_string().contains(&long), "nothing is said back");
    }
    // Nothing of that changed anything.
    assert_eq!(door.ask("GET", "/me", token, Value::Null).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_body_is_json_and_not_endless() {
    let door = Door::new();
    let send = async |kind: Option<&str>, body: Vec<u8>| {
        let mut request = Request::post("/v1/identity/login").header("host", "tv.example");
        if let Some(kind) = kind {
            request = request.header("content-type", kind);
        }
        let answer = door.send(request.body(Body::from(body)).unwrap()).await;
        assert!(answer.text("type").starts_with("/problems/"));
        answer.status
    };
    let json = Some("application/json");
    assert_eq!(send(None, b"{}".to_vec()).await, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    assert_eq!(send(Some("text/plain"), b"{}".to_vec()).await, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    assert_eq!(send(json, b"{".to_vec()).await, StatusCode::BAD_REQUEST);
    assert_eq!(send(json, vec![0xff; 100]).await, StatusCode::BAD_REQUEST);
    assert_eq!(send(json, vec![b' '; 9 << 10]).await, StatusCode::PAYLOAD_TOO_LARGE);
    let deep = format!("{}{}", "[".repeat(4_000), "]".repeat(4_000));
    assert_eq!(send(json, deep.into_bytes()).await, StatusCode::BAD_REQUEST);
}
