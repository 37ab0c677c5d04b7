//! The door: passes over real connections.
#![allow(clippy::unwrap_used)]

mod support;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use edge::{Config, PassIn, Place, Revoke, Server, Whereabouts};
use pass::cat::{Claims, Match, Network, Part, Renewal};
use pass::{Document, Gate, Secret};
use serde_json::Value;
use support::{Client, Upstream, header, ok, read, until};
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

const PATH: &str = "/final/r1/main/v1/1a.m4s";

fn now_s() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64
}

/// An edge that asks for passes.
struct Door {
    edge: Arc<edge::Edge>,
    client: Client,
    address: std::net::SocketAddr,
    upstream: Upstream,
    document: Mutex<Document>,
    file: PathBuf,
    _folder: tempfile::TempDir,
    _stop: DropGuard,
}

impl Door {
    async fn open() -> Door {
        Door::with(Config::default(), Document::generate("pavilion", "k1").unwrap()).await
    }

    async fn with(config: Config, document: Document) -> Door {
        let upstream = Upstream::start(|_, _| async { ok("max-age=60", "object") }).await;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keys.json");
        std::fs::write(&file, serde_json::to_vec(&document).unwrap()).unwrap();
        let config = Config {
            upstream: vec![format!("http://{}", upstream.address).parse().unwrap()],
            pass_keys: Some(file.clone()),
            ..config
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = Server::open(&config, listener).await.unwrap();
        let (edge, stop) = (server.edge(), CancellationToken::new());
        tokio::spawn(server.run(stop.clone(), CancellationToken::new()));
        let (client, _stop) = (Client::at(address), stop.drop_guard());
        Door { edge, client, address, upstream, document: Mutex::new(document), file, _folder: folder, _stop }
    }

    fn sign(&self, claims: &Claims) -> String {
        Gate::new(&self.document.lock().unwrap()).unwrap().sign(claims, now_s()).unwrap()
    }

    /// Changes the file of keys, whole or not at all.
    fn rewrite(&self, change: impl FnOnce(&mut Document)) {
        let mut document = self.document.lock().unwrap();
        change(&mut document);
        let next = self.file.with_extension("next");
        std::fs::write(&next, serde_json::to_vec(&*document).unwrap()).unwrap();
        std::fs::rename(next, &self.file).unwrap();
    }

    /// Status, and the reason if it is a refusal.
    async fn ask(&self, target: &str, headers: &[(&str, &str)]) -> (u16, String) {
        let (status, body) = self.client.get_with(target, headers).await;
        let document: Value = serde_json::from_slice(&body).unwrap_or_default();
        (status, document["reason"].as_str().unwrap_or_default().to_owned())
    }

    async fn get(&self, token: &str) -> (u16, String) {
        self.ask(&format!("/{token}{PATH}"), &[]).await
    }
}

fn claims() -> Claims {
    Claims {
        session: Some("SESSION".into()),
        expires_s: now_s() + 300,
        not_before_s: Some(now_s()),
        uri: vec![(Part::Path, Match::Prefix("/final/".into()))],
        ..Claims::default()
    }
}

fn no(status: u16, reason: &str) -> (u16, String) {
    (status, reason.into())
}

fn yes() -> (u16, String) {
    no(200, "")
}

#[tokio::test]
async fn a_pass_opens_what_it_is_for_and_is_no_part_of_it() {
    let door = Door::open().await;
    let (one, two) = (door.sign(&claims()), door.sign(&Claims { session: Some("other".into()), ..claims() }));
    for token in [&one, &one, &two, &two] {
        assert_eq!(door.get(token).await, yes());
    }
    assert_eq!(door.client.send("HEAD", &format!("/{one}{PATH}"), &[]).await.status(), 200);
    assert_eq!(door.upstream.asked(), [PATH]);
    let preflight = door.client.send("OPTIONS", &format!("/{one}{PATH}"), &[]).await;
    assert_eq!(preflight.status(), 204);
}

/// What is sent, with which fields, and what is answered.
type Case<'a> = (&'a str, String, &'a [(&'a str, &'a str)], u16, &'a str);

/// Each before the object is there and again when it is a hit: these are two ways through the edge.
#[tokio::test]
async fn what_does_not_open_says_why_and_asks_nobody() {
    let config = Config {
        front: vec!["127.0.0.0/8".parse().unwrap()],
        front_client: Some("x-client".into()),
        front_country: Some("x-country".into()),
        ..Config::default()
    };
    let door = Door::with(config, Document::generate("pavilion", "k1").unwrap()).await;
    let good = door.sign(&claims());
    let forger = Gate::new(&Document::generate("pavilion", "k1").unwrap()).unwrap();
    let stranger = Gate::new(&Document::generate("pavilion", "k2").unwrap()).unwrap();
    let ireland = door.sign(&Claims { countries: Some(vec!["IE".into()]), ..claims() });
    let network = Network::Prefix("192.0.2.0".parse().unwrap(), 24);
    let bound = door.sign(&Claims { networks: Some(vec![network]), ..claims() });
    let flipped = {
        let last = if good.ends_with('A') { 'Q' } else { 'A' };
        format!("{}{last}", &good[..good.len() - 1])
    };
    let of = |claims: Claims| door.sign(&claims);
    let refused: Vec<Case<'_>> = vec![
        ("forged", forger.sign(&claims(), now_s()).unwrap(), &[], 401, "forged"),
        ("changed", flipped, &[], 401, "forged"),
        ("another's key", stranger.sign(&claims(), now_s()).unwrap(), &[], 401, "unknown_key"),
        ("truncated", good[..good.len() / 2].to_owned(), &[], 401, "malformed"),
        ("random", "Zm9vYmFyYmF6cXV1eA".into(), &[], 401, "malformed"),
        ("a word", "open".into(), &[], 401, "malformed"),
        ("expired", of(Claims { expires_s: now_s() - 60, ..claims() }), &[], 401, "expired"),
        ("early", of(Claims { not_before_s: Some(now_s() + 60), ..claims() }), &[], 401, "not_yet"),
        (
            "another match",
            of(Claims { uri: vec![(Part::Path, Match::Prefix("/semi/".into()))], ..claims() }),
            &[],
            403,
            "wrong_path",
        ),
        ("another issuer", of(Claims { issuer: "other".into(), ..claims() }), &[], 403, "wrong_issuer"),
        ("another country", ireland.clone(), &[("x-country", "GB")], 403, "wrong_country"),
        ("no country", ireland.clone(), &[], 403, "wrong_country"),
        ("replayed elsewhere", bound.clone(), &[("x-client", "198.51.100.7")], 403, "wrong_network"),
        ("too much of a pass", "A".repeat(1_600), &[], 401, "malformed"),
    ];
    for warm in [false, true] {
        for (what, token, headers, status, reason) in &refused {
            let answer = door.ask(&format!("/{token}{PATH}"), headers).await;
            assert_eq!(answer, no(*status, reason), "{what}, warm: {warm}");
        }
        assert_eq!(door.upstream.asked().len(), usize::from(warm));
        assert_eq!(door.get(&good).await, yes());
        assert_eq!(door.ask(&format!("/{ireland}{PATH}"), &[("x-country", "IE")]).await, yes());
        assert_eq!(door.ask(&format!("/{bound}{PATH}"), &[("x-client", "192.0.2.77")]).await, yes());
    }
    for none in ["/", "/final"] {
        assert_eq!(door.ask(none, &[]).await.0, 401, "{none}");
    }
    let answer = door.client.head_of(&format!("/{}{PATH}", refused[0].1)).await;
    assert_eq!(header(&answer, "content-type"), "application/problem+json");
    assert_eq!(header(&answer, "cache-control"), "no-store");
    assert_eq!(header(&answer, "www-authenticate"), "Bearer");
    assert_eq!(header(&answer, "access-control-allow-origin"), "*");
    assert_eq!(header(&answer, "cta-common-access-token"), "");
    let document: Value = serde_json::from_slice(&read(answer).await.unwrap()).unwrap();
    assert!(document["detail"].as_str().is_some_and(|detail| detail.contains("not genuine")), "{document}");
}

#[tokio::test]
async fn a_pass_for_one_request_is_good_for_one() {
    let door = Door::open().await;
    let once = door.sign(&Claims { once: true, id: Some(b"1".to_vec()), ..claims() });
    assert_eq!(door.get(&once).await, yes());
    assert_eq!(door.get(&once).await, no(403, "replayed"));
    let warm = door.sign(&Claims { once: true, id: Some(b"2".to_vec()), ..claims() });
    assert_eq!(door.get(&warm).await, yes());
    assert_eq!(door.get(&warm).await, no(403, "replayed"));
}

#[tokio::test]
async fn a_session_that_is_revoked_is_over_at_once() {
    let door = Door::open().await;
    let (one, two) = (door.sign(&claims()), door.sign(&Claims { session: Some("other".into()), ..claims() }));
    for token in [&one, &two, &one, &two] {
        assert_eq!(door.get(token).await, yes());
    }
    door.edge.revoke(&Revoke { sid: "SESSION".into(), until: now_s() + 600 }).unwrap();
    assert_eq!(door.get(&one).await, no(403, "revoked"));
    assert_eq!(door.get(&door.sign(&claims())).await, no(403, "revoked"), "another pass of that session");
    assert_eq!(door.get(&two).await, yes());
    door.edge.revoke(&Revoke { sid: "other".into(), until: now_s() - 1 }).unwrap();
    assert_eq!(door.get(&two).await, yes(), "that was over already");
}

#[tokio::test]
async fn a_pass_is_renewed_in_its_last_minutes() {
    let door = Door::open().await;
    let renewal = Some(Renewal { add_s: 600, window_s: 120 });
    let fresh = Claims { renewal, ..claims() };
    let last = Claims { expires_s: now_s() + 60, ..fresh.clone() };
    for target in [PATH, PATH, "/final/r1/main/hls/v1.m3u8"] {
        let answer = door.client.head_of(&format!("/{}{target}", door.sign(&fresh))).await;
        assert_eq!(header(&answer, "cta-common-access-token"), "");
        assert_eq!(header(&answer, "cache-control"), "max-age=60");
        let answer = door.client.head_of(&format!("/{}{target}", door.sign(&last))).await;
        let next = header(&answer, "cta-common-access-token").to_owned();
        assert_eq!(header(&answer, "cache-control"), "private, no-store");
        // A page of another origin must be able to read it.
        assert!(header(&answer, "access-control-expose-headers").contains("CTA-Common-Access-Token"));
        assert_eq!(read(answer).await.unwrap(), "object");
        let answer = door.client.head_of(&format!("/{next}{target}")).await;
        assert_eq!((answer.status().as_u16(), header(&answer, "cta-common-access-token")), (200, ""));
    }
    let wrong = door.client.head_of(&format!("/{}/semi/1a.m4s", door.sign(&last))).await;
    assert_eq!((wrong.status().as_u16(), header(&wrong, "cta-common-access-token")), (403, ""));
}

/// The host is a field in HTTP/1.1 and a part of the address since; a pass may be bound to it.
#[tokio::test]
async fn the_host_is_known_in_every_protocol() {
    let door = Door::open().await;
    let bound = |host: &str| {
        let is = Match::Exact(host.into());
        door.sign(&Claims { uri: vec![(Part::Host, is)], ..claims() })
    };
    let (here, elsewhere) = (bound("127.0.0.1"), bound("edge.example"));
    let h2 = hyper_util::client::legacy::Client::builder(hyper_util::rt::TokioExecutor::new())
        .http2_only(true)
        .build_http::<http_body_util::Empty<bytes::Bytes>>();
    for _ in 0..2 {
        assert_eq!(door.get(&here).await, yes());
        assert_eq!(door.get(&elsewhere).await, no(403, "wrong_path"));
        for (token, status) in [(&here, 200), (&elsewhere, 403)] {
            let address = format!("http://{}/{token}{PATH}", door.address).parse().unwrap();
            let answer = h2.get(address).await.unwrap();
            assert_eq!((answer.version(), answer.status().as_u16()), (http::Version::HTTP_2, status));
        }
    }
}

/// Several clients go on asking while keys come and go.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_rotate_under_load_without_one_refusal() {
    let door = Arc::new(Door::open().await);
    let current = Arc::new(Mutex::new(door.sign(&claims())));
    let stop = Arc::new(AtomicBool::new(false));
    let counts: Arc<[AtomicUsize; 8]> = Arc::default();
    // Each has put down the pass that it had before.
    let all_go_on = async || {
        let before: Vec<usize> = counts.iter().map(|count| count.load(Ordering::Relaxed)).collect();
        let on = |(count, before): (&AtomicUsize, &usize)| count.load(Ordering::Relaxed) >= before + 2;
        until(async || counts.iter().zip(&before).all(on)).await;
    };
    let clients: Vec<_> = (0..8)
        .map(|n| {
            let (door, current, stop, counts) = (door.clone(), current.clone(), stop.clone(), counts.clone());
            tokio::spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    let token = current.lock().unwrap().clone();
                    assert_eq!(door.get(&token).await, yes());
                    counts[n].fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    for kid in ["k2", "k3"] {
        let old = current.lock().unwrap().clone();
        all_go_on().await;
        // The next key is there for all before anyone signs with it.
        door.rewrite(|document| document.keys.push(Secret { from: 1, ..Secret::generate(kid).unwrap() }));
        let next = door.sign(&claims());
        until(async || door.get(&next).await == yes()).await;
        *current.lock().unwrap() = next.clone();
        all_go_on().await;
        assert_eq!(door.get(&old).await, yes(), "both are good for a while");
        door.rewrite(|document| drop(document.keys.remove(0)));
        until(async || door.get(&old).await == no(401, "unknown_key")).await;
        assert_eq!(door.get(&next).await, yes());
    }
    // What cannot be read changes nothing.
    std::fs::write(&door.file, "{").unwrap();
    all_go_on().await;
    stop.store(true, Ordering::Relaxed);
    for client in clients {
        client.await.unwrap();
    }
}

#[tokio::test]
async fn passes_of_other_issuers_come_in_fields() {
    let key = "52a152a152a152a152a152a152a1aabbccddeeff".to_owned();
    let mut document = Document::generate("pavilion", "k1").unwrap();
    document.edge_auth = vec![pass::edge_auth::EdgeAuthKey { key, salt: None, escape_early: false }];
    let door = Door::with(Config { pass_in: PassIn::Fields, ..Config::default() }, document).await;
    // Made by Akamai's library, for /final/*.
    let akamai =
        "exp=1900000000~acl=/final/*~hmac=04f5daaaa6e2947dd7dc41792f7b0b225839850027fdbcd487e6c5d9b657d807";
    let ours = door.sign(&claims());
    let list = "/final/r1/main/hls/v1.m3u8";
    for _ in 0..2 {
        assert_eq!(door.ask(&format!("{list}?hdnts={akamai}&_HLS_msn=7"), &[]).await, yes());
        assert_eq!(
            door.ask(&format!("{list}?_HLS_msn=7"), &[("cookie", &format!("a=b; hdnea={akamai}"))]).await,
            yes()
        );
        assert_eq!(
            door.ask(&format!("{list}?_HLS_msn=7"), &[("cta-common-access-token", &ours)]).await,
            yes()
        );
        assert_eq!(door.ask(&format!("{list}?_HLS_msn=7&cat={ours}"), &[]).await, yes());
    }
    assert_eq!(door.upstream.asked(), [format!("{list}?_HLS_msn=7")]);
    assert_eq!(door.ask(list, &[]).await, no(401, "missing"));
    assert_eq!(door.ask(&format!("/semi/1a.m4s?hdnts={akamai}"), &[]).await, no(403, "wrong_path"));
    assert_eq!(
        door.ask(&format!("{list}?hdnts={}", akamai.replace("04f5", "04f6")), &[]).await,
        no(401, "forged")
    );
    assert!(door.upstream.headers.lock().unwrap().iter().all(|headers| !headers.contains_key("cookie")));
}

#[tokio::test]
async fn a_session_that_is_everywhere_is_cut() {
    let config = Config {
        front: vec!["127.0.0.1".parse().unwrap()],
        front_client: Some("x-client".into()),
        pass_networks_max: Some(2),
        ..Config::default()
    };
    let door = Door::with(config, Document::generate("pavilion", "k1").unwrap()).await;
    let (shared, alone) =
        (door.sign(&claims()), door.sign(&Claims { session: Some("other".into()), ..claims() }));
    let from =
        async |token: &str, client: &str| door.ask(&format!("/{token}{PATH}"), &[("x-client", client)]).await;
    for _ in 0..3 {
        assert_eq!(from(&shared, "192.0.2.1").await, yes());
        assert_eq!(from(&shared, "192.0.2.99").await, yes(), "the same network");
        assert_eq!(from(&shared, "198.51.100.1").await, yes());
        assert_eq!(from(&alone, "203.0.113.1").await, yes());
    }
    assert_eq!(from(&shared, "203.0.113.1").await, no(403, "shared"));
    until(async || from(&shared, "192.0.2.1").await == no(403, "shared")).await;
    assert_eq!(from(&alone, "203.0.113.1").await, yes());
}

/// Who knows addresses is asked where no front says anything.
#[tokio::test]
async fn where_a_client_is_may_be_known_here() {
    struct Ireland;
    impl Whereabouts for Ireland {
        fn find(&self, client: std::net::IpAddr) -> Place {
            assert!(client.is_loopback());
            Place { country: Some("IE".into()), subdivision: None, asn: Some(5) }
        }
    }
    let upstream = Upstream::start(|_, _| async { ok("max-age=60", "object") }).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys.json");
    let document = Document::generate("pavilion", "k1").unwrap();
    std::fs::write(&file, serde_json::to_vec(&document).unwrap()).unwrap();
    let config = Config {
        upstream: vec![format!("http://{}", upstream.address).parse().unwrap()],
        pass_keys: Some(file),
        ..Config::default()
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = Client::at(listener.local_addr().unwrap());
    let server = Server::open(&config, listener).await.unwrap();
    server.edge().set_whereabouts(Arc::new(Ireland));
    let stop = CancellationToken::new();
    tokio::spawn(server.run(stop.clone(), CancellationToken::new()));
    let gate = Gate::new(&document).unwrap();
    for (country, asn, status) in [("IE", 5, 200), ("GB", 5, 403), ("IE", 6, 403)] {
        let claims = Claims {
            countries: Some(vec![country.into()]),
            networks: Some(vec![Network::Asn(asn)]),
            ..claims()
        };
        let token = gate.sign(&claims, now_s()).unwrap();
        assert_eq!(client.get(&format!("/{token}{PATH}")).await.0, status, "{country} {asn}");
    }
    stop.cancel();
}

#[test]
fn a_door_that_cannot_work_is_told_before_it_opens() {
    let config = |text: &str| serde_json::from_str::<Config>(text).map(|config| config.check());
    let base = r#""upstream": ["http://127.0.0.1:1"], "pass_keys": "k.json""#;
    for bad in [
        r#", "pass_in": "fields", "rules": "web""#,
        r#", "pass_in": "fields", "query": ["HDNTS"]"#,
        r#", "pass_networks_max": 0"#,
        r#", "pass_networks_max": 200"#,
    ] {
        assert!(config(&format!("{{{base}{bad}}}")).unwrap().is_err(), "{bad}");
    }
    assert!(config(&format!("{{{base}}}")).unwrap().is_ok());
    assert!(config(&format!(r#"{{{base}, "front": ["10.0.0.0/40"]}}"#)).is_err());
}
