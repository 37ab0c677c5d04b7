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

/// What an answer sets: names, and what follows the value.
fn set(answer: &Answer) -> Vec<(String, String)> {
    let lines = answer.headers.get_all("set-cookie").iter().map(|line| line.to_str().unwrap());
    let mut set: Vec<_> = lines
        .map(|line| {
            let (pair, flags) = line.split_once("; ").unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            assert!(value.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)), "{line}");
            (name.to_owned(), flags.to_owned())
        })
        .collect();
    set.sort();
    set
}

#[tokio::test(flavor = "multi_thread")]
async fn each_cookie_goes_no_further_and_no_longer_than_it_must() {
    for (url, secure) in [(Some("https://tv.example"), "; Secure"), (None, "")] {
        let door = Door::configured(|config| {
            config.public_url = url.map(str::to_owned);
            config.oidc = vec!["club=http://127.0.0.1:1,us".parse().unwrap()];
        });
        let here = [("origin", url.unwrap_or("http://tv.example"))];
        let expected = |session: i64, refresh: i64| {
            vec![
                (
                    "pavilion_refresh".to_owned(),
                    format!("Path=/v1/identity; Max-Age={refresh}; HttpOnly; SameSite=Strict{secure}"),
                ),
                (
                    "pavilion_session".to_owned(),
                    format!("Path=/; Max-Age={session}; HttpOnly; SameSite=Lax{secure}"),
                ),
            ]
        };
        door.account(MALA).await;
        let body = json!({ "email": MALA, "password": PASSWORD, "use": "cookie" });
        let login = door.ask_with("POST", "/login", &here, body).await;
        let mut all = expected(15 * 60, 60 * 24 * 3_600);
        let year = 400 * 24 * 3_600;
        let device = format!("Path=/v1/identity; Max-Age={year}; HttpOnly; SameSite=Lax{secure}");
        all.insert(0, ("pavilion_device".to_owned(), device));
        assert_eq!(set(&login), all);

        // Taking one back says the same of it, or a browser would keep it.
        let refresh = format!("pavilion_refresh={}", login.cookie("pavilion_refresh").unwrap());
        let out = door.ask_with("POST", "/logout", &[("cookie", &refresh), here[0]], Value::Null).await;
        assert_eq!(set(&out), expected(0, 0));
        let back = door.ask("GET", "/oidc/club/callback?code=x&state=y", "", Value::Null).await;
        let oidc = format!("Path=/v1/identity/oidc; Max-Age=0; HttpOnly; SameSite=Lax{secure}");
        assert_eq!(set(&back), [("pavilion_oidc".to_owned(), oidc)]);

        // Who keeps tokens alone is given no cookie.
        assert!(set(&door.login(MALA, PASSWORD).await).is_empty());
        assert!(set(&door.ask("POST", "/device", "", json!({})).await).is_empty());
    }
}
