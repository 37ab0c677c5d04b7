use super::*;

const HERE: (&str, &str) = ("origin", "https://tv.example");

fn door() -> Door {
    Door::configured(|config| config.public_url = Some("https://tv.example".into()))
}

#[tokio::test]
async fn a_page_never_sees_a_token() {
    let door = door();
    let answer = door.ask_with("POST", "/device", &[HERE], json!({ "use": "cookie" })).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    for hidden in ["token", "refresh_token", "device_token"] {
        assert_eq!(answer.body.get(hidden), None);
    }
    let lines: Vec<_> =
        answer.headers.get_all("set-cookie").iter().map(|line| line.to_str().unwrap()).collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    for line in lines {
        assert!(line.contains("; HttpOnly; SameSite=Lax; Secure"), "{line}");
    }
    assert_eq!(answer.headers["cache-control"], "no-store");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_lives_in_cookies() {
    let door = door();
    door.account(MALA).await;
    let body = json!({ "email": MALA, "password": PASSWORD, "use": "cookie" });
    let login = door.ask_with("POST", "/login", &[HERE], body).await;
    let [session, refresh] = ["pavilion_session", "pavilion_refresh"].map(|name| login.cookie(name).unwrap());
    let cookies = format!("theme=dark; pavilion_session={session}; pavilion_refresh={refresh}");
    let cookies = ("cookie", cookies.as_str());
    let me = door.ask_with("GET", "/me", &[cookies], Value::Null).await;
    assert_eq!((me.status, me.text("email")), (StatusCode::OK, MALA));

    // Another site's page can have its browser send them, and nothing comes of it.
    for origin in [("origin", "https://evil.example"), ("origin", "null"), ("x-nothing", "")] {
        for (method, path) in
            [("POST", "/logout"), ("DELETE", "/sessions"), ("POST", "/refresh"), ("POST", "/profiles")]
        {
            let refused = door.ask_with(method, path, &[cookies, origin], json!({})).await;
            assert_eq!(refused.status, StatusCode::FORBIDDEN, "{method} {path} {origin:?}: {}", refused.body);
        }
        let body = json!({ "email": MALA, "password": PASSWORD, "use": "cookie" });
        let refused = door.ask_with("POST", "/login", &[origin], body).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN, "nor is anybody signed in by it");
    }
    // Two tabs wake together: both get the same.
    let [one, two] = [
        door.ask_with("POST", "/refresh", &[cookies, HERE], Value::Null).await,
        door.ask_with("POST", "/refresh", &[cookies, HERE], Value::Null).await,
    ];
    assert_eq!((one.status, two.status), (StatusCode::OK, StatusCode::OK));
    let next = one.cookie("pavilion_refresh").unwrap();
    assert_eq!(two.cookie("pavilion_refresh"), Some(next.clone()));
    assert!(one.body.get("token").is_none());

    let cookies = format!("pavilion_refresh={next}");
    let out = door.ask_with("POST", "/logout", &[("cookie", &cookies), HERE], Value::Null).await;
    assert_eq!((out.status, out.cookie("pavilion_refresh")), (StatusCode::NO_CONTENT, Some(String::new())));
    let over = door.ask_with("POST", "/refresh", &[("cookie", &cookies), HERE], Value::Null).await;
    assert_eq!(
        (over.status, over.cookie("pavilion_session")),
        (StatusCode::UNAUTHORIZED, Some(String::new()))
    );
}
