//! Everything that comes from outside may be anything.

use proptest::prelude::*;

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

/// Every way in, with names in place of what is in braces.
const WAYS: [(&str, &str); 20] = [
    ("POST", "/device"),
    ("POST", "/register"),
    ("POST", "/register/confirm"),
    ("POST", "/login"),
    ("POST", "/refresh"),
    ("POST", "/logout"),
    ("GET", "/me"),
    ("DELETE", "/me"),
    ("PUT", "/me/password"),
    ("GET", "/profiles"),
    ("POST", "/profiles"),
    ("PUT", "/profiles/x"),
    ("DELETE", "/profiles/x"),
    ("POST", "/profiles/x/choose"),
    ("GET", "/sessions"),
    ("DELETE", "/sessions"),
    ("DELETE", "/sessions/x"),
    ("GET", "/oidc"),
    ("GET", "/oidc/club/start"),
    ("GET", "/oidc/club/callback"),
];

/// A body of some of the members that are read, with anything in them, or just anything.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let member = prop_oneof![
        Just("email"),
        Just("password"),
        Just("code"),
        Just("current"),
        Just("new"),
        Just("name"),
        Just("language"),
        Just("label"),
        Just("use"),
        Just("refresh_token"),
        Just("device_token"),
    ];
    let value = prop_oneof![
        2 => "\\PC{0,40}".prop_map(Value::from),
        2 => "[rd]1\\.[A-Za-z0-9_-]{0,44}\\.[A-Za-z0-9_-]{0,44}".prop_map(Value::from),
        1 => Just(json!("cookie")),
        1 => Just(json!(MALA)),
        1 => Just(Value::Null),
        1 => any::<i64>().prop_map(Value::from),
        1 => Just(json!([{}])),
    ];
    prop_oneof![
        4 => prop::collection::hash_map(member, value, 0..4).prop_map(|all| json!(all).to_string().into_bytes()),
        1 => prop::collection::vec(any::<u8>(), 0..60),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn whatever_comes_nothing_breaks(
        way in 0..WAYS.len(),
        query in "(\\?[a-z=&%0-9]{0,30})?",
        fields in prop::collection::vec(
            (
                prop_oneof![Just("authorization"), Just("cookie"), Just("origin"), Just("host")],
                prop_oneof![
                    "[ -~]{0,40}",
                    "Bearer [A-Za-z0-9_-]{0,30}\\.[A-Za-z0-9_-]{0,30}\\.[A-Za-z0-9_-]{0,30}",
                    "pavilion_(session|refresh|device|oidc)=[A-Za-z0-9_.-]{0,60}",
                ],
            ),
            0..4,
        ),
        body in body(),
    ) {
        use std::sync::LazyLock;
        static DOOR: LazyLock<(Door, tokio::runtime::Runtime)> = LazyLock::new(|| {
            let club = "club=http://127.0.0.1:1,us".parse().unwrap();
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            (Door::configured(|config| config.oidc = vec![club]), runtime)
        });
        let (door, runtime) = &*DOOR;
        // So that no limit is in the way.
        door.later(60_000);
        let (method, path) = WAYS[way];
        let mut request = Request::builder().method(method).uri(format!("/v1/identity{path}{query}"));
        for (name, value) in &fields {
            request = request.header(*name, value);
        }
        let request = request.header("content-type", "application/json").body(Body::from(body)).unwrap();
        let answer = runtime.block_on(door.send(request));
        // Nobody answers as the provider, which is said; nothing else is anybody's fault but the sender's.
        let away = answer.body["type"] == "/problems/provider-unavailable";
        prop_assert!(!answer.status.is_server_error() || away, "{method} {path}: {} {}", answer.status, answer.body);
    }
}
