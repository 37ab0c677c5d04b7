//! Who somebody is, by the real binary: sign-in by a real OpenID Connect provider, and what a device and an account get.

#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use e2e::roles::{arrival, arrival_on, free_tcp_port};
use e2e::tools::Script;
use e2e::until;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};

/// A server that was killed reads its log, and those who wait for it ask from time to time.
const BACK_MAX: Duration = Duration::from_secs(60);
/// A sign-in has some eight steps, back and forth.
const STEPS_MAX: usize = 20;
const SECRET: &str = "a-secret-of-ours-at-the-provider";

/// A browser without scripts: cookies by host and path, redirects one at a time, forms.
#[derive(Clone)]
struct Browser {
    client: Client<HttpConnector, Full<Bytes>>,
    /// By authority, path and name.
    jar: BTreeMap<(String, String, String), String>,
    /// Where it is.
    url: String,
}

struct Page {
    status: StatusCode,
    location: Option<String>,
    text: String,
}

impl Page {
    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|e| panic!("{e}: {}", self.text))
    }
}

/// Scheme and authority of a URL, and its path with the query.
fn parts(url: &str) -> (&str, &str) {
    let authority = url.find("://").unwrap() + 3;
    let path = url[authority..].find('/').map_or(url.len(), |at| authority + at);
    (&url[..path], &url[path..])
}

impl Browser {
    fn new() -> Browser {
        let client = Client::builder(TokioExecutor::new()).build_http();
        Browser { client, jar: BTreeMap::new(), url: String::new() }
    }

    /// One request, and no redirect followed.
    async fn ask(&mut self, method: Method, url: &str, kind: &str, body: String) -> Page {
        let (origin, path) = parts(url);
        let mut request = Request::builder().method(&method).uri(url);
        if method != Method::GET {
            request = request.header("content-type", kind).header("origin", origin);
        }
        let here =
            |(at, below, _): &(String, String, String)| at == origin && path.starts_with(below.as_str());
        let cookies: Vec<String> = self
            .jar
            .iter()
            .filter(|(key, _)| here(key))
            .map(|(key, value)| format!("{}={value}", key.2))
            .collect();
        if !cookies.is_empty() {
            request = request.header("cookie", cookies.join("; "));
        }
        let answer = self.client.request(request.body(Full::from(body)).unwrap()).await.unwrap();
        for line in answer.headers().get_all("set-cookie") {
            let mut fields = line.to_str().unwrap().split(';').map(str::trim);
            let (name, value) = fields.next().unwrap().split_once('=').unwrap();
            let below = fields.find_map(|field| {
                field.split_once('=').filter(|(name, _)| name.eq_ignore_ascii_case("path"))
            });
            let below = below.map_or("/", |(_, path)| path);
            let key = (origin.to_owned(), below.to_owned(), name.to_owned());
            if value.is_empty() {
                drop(self.jar.remove(&key))
            } else {
                drop(self.jar.insert(key, value.to_owned()))
            }
        }
        let status = answer.status();
        let location = answer.headers().get("location").map(|to| to.to_str().unwrap().to_owned());
        let text =
            String::from_utf8(answer.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap();
        self.url = url.to_owned();
        let location = location.map(|to| if to.starts_with('/') { format!("{origin}{to}") } else { to });
        Page { status, location, text }
    }

    async fn get(&mut self, url: &str) -> Page {
        self.ask(Method::GET, url, "", String::new()).await
    }

    async fn post(&mut self, url: &str, body: Value) -> Page {
        self.ask(Method::POST, url, "application/json", body.to_string()).await
    }

    /// Follows redirects, and answers the provider's forms as this person, until the next step would be to a URL that
    /// begins so. That URL.
    async fn until_sent_to(&mut self, url: &str, there: &str, person: &str) -> String {
        let mut page = self.get(url).await;
        for _ in 0..STEPS_MAX {
            if let Some(to) = page.location {
                if to.starts_with(there) {
                    return to;
                }
                page = self.get(&to).await;
                continue;
            }
            assert_eq!(page.status, StatusCode::OK, "{}: {}", self.url, page.text);
            let between = |from: &str, to: &str| {
                let rest = &page.text[page.text.find(from)? + from.len()..];
                Some(rest[..rest.find(to)?].to_owned())
            };
            let action = between("action=\"", "\"").unwrap_or_else(|| panic!("no form: {}", page.text));
            let prompt = between("name=\"prompt\" value=\"", "\"").unwrap();
            let form = format!("prompt={prompt}&login={person}&password=x");
            page = self.ask(Method::POST, &action, "application/x-www-form-urlencoded", form).await;
        }
        panic!("too many steps, at {}", self.url)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn somebody_signs_in_by_a_provider() {
    let folder = tempfile::tempdir().unwrap();
    let port = free_tcp_port();
    let app = format!("http://127.0.0.1:{port}");
    let back = format!("{app}/v1/identity/oidc/club/callback");
    let mut provider = Script::start("oidc.mjs", &["pavilion", SECRET, &back]);
    let issuer = provider.says()["issuer"].as_str().unwrap().to_owned();
    let secret = folder.path().join("secret");
    std::fs::write(&secret, format!("{SECRET}\n")).unwrap();
    let club = format!("club={issuer},pavilion,{}", secret.display());
    let arrival = arrival(folder.path(), port, &["--oidc", &club]).await;

    let mut mala = Browser::new();
    let listed = mala.get(&format!("{app}/v1/identity/oidc")).await.json();
    let start = format!("{app}{}", listed[0]["start"].as_str().unwrap());
    let start = format!("{start}?return=/watch/demo");
    let come_back = mala.until_sent_to(&start, &back, "mala").await;
    let page = mala.get(&come_back).await;
    let home = format!("{app}/watch/demo");
    assert_eq!(
        (page.status, page.location.as_deref()),
        (StatusCode::SEE_OTHER, Some(home.as_str())),
        "{}",
        page.text
    );
    let me = mala.get(&format!("{app}/v1/identity/me")).await.json();
    let account = me["account"].as_str().unwrap_or_else(|| panic!("{me}")).to_owned();
    assert_eq!((&me["email"], &me["has_password"]), (&Value::Null, &json!(false)));

    // The same URL again, in the same browser or in another: nothing.
    for browser in [&mut mala, &mut Browser::new()] {
        assert_eq!(browser.get(&come_back).await.status, StatusCode::UNAUTHORIZED);
    }
    // Whoever is sent by somebody else's link is not signed in as them.
    let mut other = Browser::new();
    other.until_sent_to(&start, &back, "ravi").await;
    assert_eq!(other.get(&come_back).await.status, StatusCode::UNAUTHORIZED);

    // Another day, another browser, and the provider has new keys since we looked: the same account.
    let mut again = Browser::new();
    let come_back = again.until_sent_to(&start, &back, "mala").await;
    provider.tell("rotate");
    assert_eq!(provider.says()["rotated"], true);
    let page = again.get(&come_back).await;
    assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.text);
    let me = again.get(&format!("{app}/v1/identity/me")).await.json();
    assert_eq!(me["account"], account);
    // And somebody else is somebody else.
    let mut ravi = Browser::new();
    let come_back = ravi.until_sent_to(&start, &back, "ravi").await;
    assert_eq!(ravi.get(&come_back).await.status, StatusCode::SEE_OTHER);
    let me = ravi.get(&format!("{app}/v1/identity/me")).await.json();
    assert!(me["account"].is_string() && me["account"] != account, "{me}");

    // The page goes on by its cookies, and signs out.
    let refreshed = ravi.post(&format!("{app}/v1/identity/refresh"), json!({})).await;
    assert_eq!(refreshed.status, StatusCode::OK, "{}", refreshed.text);
    let played = ravi.post(&format!("{app}/v1/matches/demo/play"), json!({})).await.json();
    let token = played["scores"]["token"].as_str().unwrap().to_owned();
    assert!(!token.is_empty());
    let out = ravi.post(&format!("{app}/v1/identity/logout"), json!({})).await;
    assert_eq!(out.status, StatusCode::NO_CONTENT, "{}", out.text);
    assert_eq!(ravi.get(&format!("{app}/v1/identity/me")).await.status, StatusCode::UNAUTHORIZED);

    // Without the provider, and without being anybody, one may still watch.
    drop(provider);
    let mut late = Browser::new();
    let played = late.post(&format!("{app}/v1/matches/demo/play"), json!({})).await;
    assert_eq!(played.status, StatusCode::OK, "{}", played.text);
    for secret in [SECRET, token.rsplit('.').next().unwrap()] {
        assert!(!arrival.log().contains(secret), "{secret} is in the log");
    }
}

/// The first slice, and a process that is killed and comes back with the same keys.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_device_goes_on_over_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let port = free_tcp_port();
    let app = format!("http://127.0.0.1:{port}");
    let mut program = arrival(folder.path(), port, &["--token-algorithm", "eddsa"]).await;
    let mut phone = Browser::new();
    let device = phone.post(&format!("{app}/v1/identity/device"), json!({ "use": "cookie" })).await;
    assert_eq!(device.status, StatusCode::OK, "{}", device.text);
    let device = device.json()["device"].as_str().unwrap().to_owned();
    program.kill();
    drop(program);
    let _program = arrival(folder.path(), port, &["--token-algorithm", "eddsa"]).await;
    let me = phone.get(&format!("{app}/v1/identity/me")).await.json();
    assert_eq!(me, json!({ "device": device, "provisional": false }));
    let refreshed = phone.post(&format!("{app}/v1/identity/refresh"), json!({})).await.json();
    assert_eq!(refreshed["device"], device);
    let played = phone.post(&format!("{app}/v1/matches/demo/play"), json!({})).await.json();
    let claims = played["scores"]["token"].as_str().unwrap().split('.').nth(1).unwrap().to_owned();
    // Somewhere in the claims, as base64url of some alignment: so it is decoded by who checks, and asked here.
    let keys = phone.get(&format!("{app}/.well-known/jwks.json")).await.json();
    assert_eq!(keys["keys"][0]["alg"], "EdDSA", "{keys} {claims}");
}

/// Catalog, purchases and accounts on a PostgreSQL server: somebody registers, buys, signs in and plays; the server is
/// killed, and play and sign-in go on; it comes back, and all is there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_door_stands_on_a_server_that_is_killed() {
    const MALA: &str = "mala@example.org";
    let mut server = store::testing::Server::start().await;
    let place = server.database("tv").await.to_string();
    let folder = tempfile::tempdir().unwrap();
    let (port, admin) = (free_tcp_port(), free_tcp_port());
    let (app, desk) = (format!("http://127.0.0.1:{port}"), format!("http://127.0.0.1:{admin}/admin/arrival"));
    let at = |name: &str| match name.strip_suffix(".db") {
        Some(_) => place.clone(),
        None => folder.path().join(name).display().to_string(),
    };
    let listen = format!("127.0.0.1:{admin}");
    // Without a copy of all purchases, so that the server is asked for whoever comes first.
    let more = ["--token-algorithm", "eddsa", "--admin", &listen, "--no-copy", "--home-country", "IN"];
    let arrival = arrival_on(folder.path(), port, at, &more).await;
    let mut operator = Browser::new();
    for (kind, document) in [
        ("plan", json!({"id": "gold", "name": "Gold", "tier": 2})),
        (
            "match",
            json!({"id": "cup", "title": "The Cup", "status": "live", "start_ms": 1_796_000_000_000_i64}),
        ),
        ("programme", json!({"id": "cup-main", "match": "cup", "programme": "main", "title": "The Cup"})),
        ("product", json!({"id": "season", "name": "Season ticket", "plan": "gold", "matches": ["cup"]})),
        ("right", json!({"id": "cup-all", "matches": ["cup"]})),
    ] {
        let url = format!("{desk}/catalog/{kind}/{}", document["id"].as_str().unwrap());
        let put = operator.ask(Method::PUT, &url, "application/json", document.to_string()).await;
        assert_eq!(put.status, StatusCode::OK, "{}", put.text);
    }

    let mut mala = Browser::new();
    let sent = mala.post(&format!("{app}/v1/identity/register"), json!({ "email": MALA })).await;
    assert_eq!(sent.status, StatusCode::ACCEPTED, "{}", sent.text);
    let mail = std::fs::read_dir(folder.path().join("mail/new")).unwrap().next().unwrap().unwrap().path();
    let mail = std::fs::read_to_string(mail).unwrap();
    let code = mail.lines().find_map(|line| line.strip_prefix("    ")).unwrap();
    let confirm =
        json!({ "email": MALA, "code": code, "password": "correct horse battery", "use": "cookie" });
    let made = mala.post(&format!("{app}/v1/identity/register/confirm"), confirm).await;
    assert_eq!(made.status, StatusCode::OK, "{}", made.text);
    let play = format!("{app}/v1/matches/cup/play");
    assert_eq!(mala.post(&play, json!({})).await.status, StatusCode::PAYMENT_REQUIRED);
    let account = made.json()["account"].as_str().unwrap().to_owned();
    let bought =
        json!({"account": account, "product": "season", "from_ms": 0, "until_ms": 4_000_000_000_000_i64});
    let bought = operator.post(&format!("{desk}/purchases"), bought).await;
    assert_eq!(bought.status, StatusCode::OK, "{}", bought.text);
    let mut television = Browser::new();
    let login = json!({ "email": MALA, "password": "correct horse battery", "use": "cookie" });
    let signed_in = television.post(&format!("{app}/v1/identity/login"), login.clone()).await;
    assert_eq!(signed_in.status, StatusCode::OK, "{}", signed_in.text);
    let played = television.post(&play, json!({})).await;
    assert_eq!(
        (played.status, &played.json()["provisional"]),
        (StatusCode::OK, &json!(false)),
        "{}",
        played.text
    );

    server.kill();
    let played = television.post(&play, json!({})).await;
    assert_eq!(
        (played.status, &played.json()["provisional"]),
        (StatusCode::OK, &json!(false)),
        "{}",
        played.text
    );
    let mut phone = Browser::new();
    let signed_in = phone.post(&format!("{app}/v1/identity/login"), login).await;
    assert_eq!(signed_in.status, StatusCode::ACCEPTED, "{}", signed_in.text);
    let played = phone.post(&play, json!({})).await;
    assert_eq!(
        (played.status, &played.json()["provisional"]),
        (StatusCode::OK, &json!(true)),
        "{}",
        played.text
    );
    assert_eq!(
        mala.get(&format!("{app}/v1/identity/sessions")).await.status,
        StatusCode::SERVICE_UNAVAILABLE
    );

    server.start_again().await;
    until("the sessions are there again", BACK_MAX, || {
        let listing = format!("{app}/v1/identity/sessions");
        let mut mala = mala.clone();
        async move { (mala.get(&listing).await.status == StatusCode::OK).then_some(()) }
    })
    .await;
    for secret in [MALA, "correct horse"] {
        assert!(!arrival.log().contains(secret), "{secret} is in the log");
    }
}
