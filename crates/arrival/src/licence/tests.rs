use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use drm::licence::Policy;
use drm::{Class, Kid, Local, Provider, Scope};
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use timeline::Utc;

use super::{Config, Picture};
use crate::catalog::Plan;
use crate::play::Grant;
use crate::testing::{Answer, HOME, House, NOWHERE, config, viewer};

const MASTER: &str = "0123456789abcdef0123456789abcdef";
/// Segments of a period.
const PERIOD: u64 = 10;
/// Segments that the match has been on air: period 3 has begun, and period 4 is announced only in the fifth of its ten.
const ON_AIR: i64 = 30;

/// A door that gives out licences for "cup", which Ann has bought.
struct Given {
    house: House,
    _folder: tempfile::TempDir,
    epoch: Utc,
}

async fn door(change: impl FnOnce(&mut Config)) -> Given {
    let folder = tempfile::tempdir().unwrap();
    let (secret, keys) = (folder.path().join("secret"), folder.path().join("keys.json"));
    std::fs::write(&secret, MASTER).unwrap();
    let document = pass::Document::generate("pavilion", "k1").unwrap();
    std::fs::write(&keys, serde_json::to_vec(&document).unwrap()).unwrap();
    let mut licences = Config {
        licence_secret: Some(secret),
        licence_period: PERIOD.to_string(),
        licence_software: Picture::Hd,
        ..Config::default()
    };
    change(&mut licences);
    let config = crate::Config { pass_keys: Some(keys), licences, ..config(folder.path()) };
    let house = House::with(config, false).await;
    house.sell().await;
    let epoch = Utc(crate::now_ms() * 1_000 - ON_AIR * 1_920_000);
    let cup = json!({"id": "cup", "title": "The Cup", "status": "live", "start_ms": 1_796_000_000_000_i64,
        "languages": ["en"], "encrypted": true, "epoch": epoch.to_string()});
    house.put(&[("match", cup)]).await;
    house.buy(&["ann".into()]).await;
    Given { house, _folder: folder, epoch }
}

impl Given {
    /// What play says of licences, and the pass.
    async fn play(&self) -> (Value, String) {
        let said = self.house.play("cup", &viewer(Some("ann"), "phone")).await;
        assert_eq!(said.status, StatusCode::OK, "{}", said.body);
        let playlist = said.body["playlist"].as_str().unwrap();
        (said.body["licence"].clone(), playlist.split('/').nth(3).unwrap().to_owned())
    }

    async fn ask(&self, pass: &str, body: impl Into<Vec<u8>>) -> Answer {
        let bearer = format!("Bearer {pass}");
        let fields = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        self.house.post("/v1/licence/clearkey?match=cup", &fields, body.into(), HOME).await
    }

    /// A pass that says something else than play's.
    fn pass(&self, change: impl FnOnce(&mut Grant)) -> String {
        let now_s = crate::now_ms() / 1_000;
        let mut grant = Grant {
            session: crate::fresh_id(),
            path: format!("/cup/{}/", self.epoch.run()),
            programmes: None,
            country: None,
            network: None,
            begin_s: now_s,
            end_s: now_s + 3_600,
            renewed: true,
        };
        change(&mut grant);
        self.house.door.passes.issue(&grant).unwrap()
    }
}

fn scope(programme: &str) -> Scope {
    Scope { r#match: "cup".parse().unwrap(), programme: programme.parse().unwrap() }
}

fn kid(class: Class, period: u64) -> Kid {
    scope("main").kid(class, period)
}

fn request(kids: &[Kid]) -> String {
    let kids: Vec<_> = kids.iter().map(|kid| URL_SAFE_NO_PAD.encode(kid.0)).collect();
    json!({ "kids": kids, "type": "temporary" }).to_string()
}

/// The keys of a licence, as name and key.
fn keys(answer: &Answer) -> Vec<(Kid, [u8; 16])> {
    assert_eq!(answer.status, StatusCode::OK, "{}", String::from_utf8_lossy(&answer.body));
    let licence: Value = serde_json::from_slice(&answer.body).unwrap();
    let bytes =
        |text: &Value| <[u8; 16]>::try_from(URL_SAFE_NO_PAD.decode(text.as_str().unwrap()).unwrap()).unwrap();
    assert_eq!(licence["type"], "temporary");
    licence["keys"]
        .as_array()
        .unwrap()
        .iter()
        .map(|key| (Kid(bytes(&key["kid"])), bytes(&key["k"])))
        .collect()
}

fn reason(answer: &Answer) -> (u16, String) {
    assert_eq!(answer.headers["content-type"], "application/problem+json");
    assert_eq!(answer.headers["cache-control"], "no-store");
    let body: Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(body["status"], answer.status.as_u16());
    (answer.status.as_u16(), body["reason"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn a_pass_brings_a_periods_keys_at_once() {
    let given = door(|_| {}).await;
    let (licence, pass) = given.play().await;
    assert_eq!(
        licence,
        json!({"systems": {"clearkey": "http://tv.example:8080/v1/licence/clearkey?match=cup"}, "software_height_max": null})
    );
    let local = Local::new(MASTER, scope("main")).unwrap();
    let mut expected: Vec<_> =
        Class::ALL.map(|class| local.key(class, 3).unwrap()).map(|key| (key.kid, key.secret.0)).into();
    expected.sort_unstable();
    let answer = given.ask(&pass, request(&[kid(Class::Sd, 3)])).await;
    assert_eq!(keys(&answer), expected, "of sound and both sizes");
    assert_eq!(answer.headers["cache-control"], "no-store");
    assert_eq!(answer.headers["access-control-allow-origin"], "*");

    // Wherever a player can put the pass.
    let url = "/v1/licence/clearkey?match=cup";
    let in_query = format!("{url}&cat={pass}");
    for (path, fields) in
        [(url, vec![("cta-common-access-token", pass.as_str())]), (in_query.as_str(), vec![])]
    {
        let answer = given.house.post(path, &fields, request(&[kid(Class::Audio, 3)]).into(), HOME).await;
        assert_eq!(keys(&answer), expected);
    }
    // The other angle is Ann's too. Keys of two periods come in one answer.
    let bird = scope("bird").kid(Class::Hd, 2);
    assert_eq!(keys(&given.ask(&pass, request(&[bird])).await).len(), 3);
    assert_eq!(keys(&given.ask(&pass, request(&[kid(Class::Hd, 3), kid(Class::Hd, 2)])).await).len(), 6);
}

#[tokio::test]
async fn every_refusal_says_why() {
    let given = door(|_| {}).await;
    let (_, pass) = given.play().await;
    let good = request(&[kid(Class::Sd, 3)]);
    let now_s = crate::now_ms() / 1_000;
    let forged = format!("{}AAAA", &pass[..pass.len() - 4]);
    let revoked = given.pass(|grant| grant.session = "over".into());
    given.house.door.passes.revoke("over");
    for (pass, status, why) in [
        (String::new(), 401, "missing"),
        (forged, 401, "forged"),
        (pass[..pass.len() / 2].to_owned(), 401, "malformed"),
        ("not-a-pass".into(), 401, "malformed"),
        (given.pass(|g| (g.begin_s, g.end_s) = (now_s - 900, now_s - 300)), 401, "expired"),
        (given.pass(|g| g.path = "/final/r1/".into()), 403, "wrong_path"),
        (given.pass(|g| g.country = Some(*b"IE")), 403, "wrong_country"),
        (revoked, 403, "revoked"),
    ] {
        assert_eq!(reason(&given.ask(&pass, good.as_str()).await), (status, why.to_owned()));
    }
    for (body, status, why) in [
        (request(&[kid(Class::Sd, 4)]).into_bytes(), 403, "no_such_key"),
        (request(&[kid(Class::Sd, 40)]).into_bytes(), 403, "no_such_key"),
        (request(&[Kid([7; 16])]).into_bytes(), 403, "no_such_key"),
        (good.as_bytes()[..good.len() / 2].to_vec(), 400, "not_a_request"),
        ((0..=255).collect(), 400, "not_a_request"),
        (Vec::new(), 400, "not_a_request"),
        (good.replace("temporary", "persistent-license").into_bytes(), 400, "persistent"),
        (vec![b' '; 65 << 10], 413, "too_large"),
    ] {
        assert_eq!(reason(&given.ask(&pass, body).await), (status, why.to_owned()));
    }
    let bearer = format!("Bearer {pass}");
    let fields = [("authorization", bearer.as_str())];
    for (path, status, why) in [
        ("/v1/licence/widevine?match=cup", 404, "no_such_system"),
        ("/v1/licence/other?match=cup", 404, "no_such_system"),
        ("/v1/licence/clearkey", 400, "not_a_request"),
        ("/v1/licence/clearkey?match=nothing", 404, "no_such_match"),
        ("/v1/licence/clearkey?match=final", 409, "not_encrypted"),
    ] {
        let answer = given.house.post(path, &fields, good.clone().into(), HOME).await;
        assert_eq!(reason(&answer), (status, why.to_owned()), "{path}");
    }
}

/// Where they are is looked at again, whatever the pass says, and a blackout counts from the next key on.
#[tokio::test]
async fn a_place_where_it_is_dark_has_no_keys() {
    let given = door(|_| {}).await;
    let pass = given.pass(|_| {});
    let (bearer, body) = (format!("Bearer {pass}"), request(&[kid(Class::Sd, 3)]));
    let fields = [("authorization", bearer.as_str())];
    let url = "/v1/licence/clearkey?match=cup";
    let answer = given.house.post(url, &fields, body.clone().into(), NOWHERE).await;
    assert_eq!(reason(&answer), (451, "place_unknown".into()));
    assert_eq!(given.ask(&pass, body.as_str()).await.status, StatusCode::OK);
    let blackout = json!({"id": "b", "name": "All of it", "matches": ["cup"], "areas": [{"country": "IN"}]});
    given.house.put(&[("blackout", blackout)]).await;
    assert_eq!(reason(&given.ask(&pass, body.as_str()).await), (451, "blackout".into()));
}

#[tokio::test]
async fn high_definition_is_for_plans_and_devices_that_may() {
    let sd_only = |answer: &Answer| {
        let names: Vec<_> = keys(answer).into_iter().map(|(name, _)| name).collect();
        let mut expected = vec![kid(Class::Audio, 3), kid(Class::Sd, 3)];
        expected.sort_unstable();
        assert_eq!(names, expected);
    };
    let (hd, all) = (request(&[kid(Class::Hd, 3)]), request(&Class::ALL.map(|class| kid(class, 3))));
    // The device.
    let given = door(|config| config.licence_software = Picture::Sd).await;
    let (licence, pass) = given.play().await;
    assert_eq!(licence["software_height_max"], 719);
    assert_eq!(reason(&given.ask(&pass, hd.as_str()).await), (403, "quality".into()));
    sd_only(&given.ask(&pass, all.as_str()).await);
    // The plan: its session says so.
    let given = door(|_| {}).await;
    let gold = json!({"id": "gold", "name": "Gold", "tier": 2, "height_max": 540});
    given.house.put(&[("plan", gold)]).await;
    let (_, pass) = given.play().await;
    assert_eq!(reason(&given.ask(&pass, hd.as_str()).await), (403, "quality".into()));
    sd_only(&given.ask(&pass, all.as_str()).await);
    let plan = |height| {
        serde_json::from_value::<Plan>(json!({"id": "p", "name": "P", "tier": 1, "height_max": height}))
    };
    for (height, name) in [(json!(null), "s"), (json!(720), "s"), (json!(719), "s-sd")] {
        assert_eq!(super::named("s".into(), &plan(height).unwrap(), true), name);
    }
}

/// What a licence server was sent.
type Seen = Arc<Mutex<Vec<(String, HeaderMap, Bytes)>>>;

/// A licence server that answers a challenge by what it says.
async fn server() -> (String, Seen) {
    async fn answer(
        State(seen): State<Seen>,
        uri: http::Uri,
        headers: HeaderMap,
        body: Bytes,
    ) -> (StatusCode, Bytes) {
        let status = match &body[..] {
            b"refuse me" => StatusCode::BAD_REQUEST,
            b"break" => StatusCode::INTERNAL_SERVER_ERROR,
            b"too often" => StatusCode::TOO_MANY_REQUESTS,
            _ => StatusCode::OK,
        };
        let flood = &body[..] == b"flood";
        seen.lock().unwrap().push((uri.to_string(), headers, body.clone()));
        (status, if flood { vec![0; 1 << 20].into() } else { [b"licence for ", &body[..]].concat().into() })
    }
    let seen = Seen::default();
    let app = Router::new().fallback(answer).with_state(seen.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    (format!("http://{address}"), seen)
}

#[tokio::test]
async fn licence_servers_get_the_challenge_and_the_policy() {
    let (url, seen) = server().await;
    let given = door(|config| {
        config.licence_widevine = Some(format!("{url}/wv?tenant=1"));
        config.licence_playready = Some(format!("{url}/pr"));
        // Nobody is there.
        config.licence_fairplay = Some("http://127.0.0.1:1/ksm".into());
        config.licence_software = Picture::Sd;
    })
    .await;
    let (licence, pass) = given.play().await;
    let systems: Vec<_> = licence["systems"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(systems, ["clearkey", "fairplay", "playready", "widevine"]);
    let bearer = format!("Bearer {pass}");
    let fields = [
        ("authorization", bearer.as_str()),
        ("content-type", "text/xml; charset=utf-8"),
        ("soapaction", "AcquireLicense"),
        ("cookie", "private=1"),
    ];
    let post = async |system: &str, challenge: &[u8]| {
        let path = format!("/v1/licence/{system}?match=cup");
        given.house.post(&path, &fields, challenge.to_vec(), HOME).await
    };
    // Not UTF-8, as challenges are.
    let challenge = [0x08, 0x01, 0x12, 0xff, 0x00, 0x0d, 0x0a];
    for (system, path) in [("widevine", "/wv?tenant=1"), ("playready", "/pr")] {
        let before_us = crate::now_ms() * 1_000;
        let answer = post(system, &challenge).await;
        assert_eq!(answer.status, StatusCode::OK);
        assert_eq!(answer.body, [b"licence for ", &challenge[..]].concat());
        assert_eq!(answer.headers["cache-control"], "no-store");
        let (at, headers, body) = seen.lock().unwrap().pop().unwrap();
        assert_eq!((at.as_str(), &body[..]), (path, &challenge[..]));
        assert_eq!(headers["content-type"], "text/xml; charset=utf-8");
        assert_eq!(headers["soapaction"], "AcquireLicense");
        assert_eq!(headers["pavilion-match"], "cup");
        assert_eq!(headers["pavilion-session"].len(), 32);
        let policy: Policy = serde_json::from_slice(headers["pavilion-policy"].as_bytes()).unwrap();
        assert_eq!((policy.plan, policy.software), (Class::Hd, Class::Sd));
        let lasts_s = (policy.expires_us - before_us) / 1_000_000;
        assert!(
            (super::limits::LICENCE_S - 5..=super::limits::LICENCE_S + 5).contains(&lasts_s),
            "{lasts_s}"
        );
        for secret in ["authorization", "cookie", "cta-common-access-token"] {
            assert!(!headers.contains_key(secret), "{secret}");
        }
    }
    // The right ends before that.
    let until_ms = crate::now_ms() + 600_000;
    given
        .house
        .put(&[(
            "right",
            json!({"id": "cup-in", "matches": ["cup"], "countries": ["IN"], "until_ms": until_ms}),
        )])
        .await;
    post("widevine", &challenge).await;
    let (_, headers, _) = seen.lock().unwrap().pop().unwrap();
    let policy: Policy = serde_json::from_slice(headers["pavilion-policy"].as_bytes()).unwrap();
    assert_eq!(policy.expires_us, until_ms * 1_000);

    assert_eq!(reason(&post("widevine", b"refuse me").await), (403, "refused".into()));
    for (system, challenge) in
        [("widevine", &b"break"[..]), ("widevine", b"too often"), ("widevine", b"flood"), ("fairplay", b"x")]
    {
        let answer = post(system, challenge).await;
        assert_eq!(reason(&answer), (503, "away".into()));
        let retry: u32 = answer.headers["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((1..=10).contains(&retry));
    }
    // Without a pass nothing goes out.
    let asked = seen.lock().unwrap().len();
    let answer =
        given.house.post("/v1/licence/widevine?match=cup", &fields[1..], challenge.into(), HOME).await;
    assert_eq!((reason(&answer), seen.lock().unwrap().len()), ((401, "missing".into()), asked));
}

#[test]
fn a_configuration_that_cannot_be_used_is_said() {
    for (config, says) in [
        (Config { licence_period: "soon".into(), ..Config::default() }, "300s"),
        (Config { licence_secret: Some("/nowhere/secret".into()), ..Config::default() }, "/nowhere/secret"),
        (Config { licence_widevine: Some("wv.example".into()), ..Config::default() }, "https://"),
    ] {
        let error = super::Licences::open(&config).err().unwrap().to_string();
        assert!(error.contains(says), "{error}");
    }
}
