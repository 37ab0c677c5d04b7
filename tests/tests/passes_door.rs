//! Passes that play issues, at a running edge: what they open, and that nothing else does.

#![allow(clippy::unwrap_used, missing_docs)]

use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::extract::Request;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use e2e::program::Program;
use e2e::roles::{epoch, free_tcp_port};
use e2e::until;
use e2e::web::Web;
use http::Method;
use http_body_util::Full;
use pass::cat::Claims;
use pass::{Ask, Document, Gate, Secret};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// The first start finds a key for tokens, on a machine full of tests.
const START_MAX: Duration = Duration::from_secs(60);
/// A change of a file or of the catalog is everywhere within a second or two.
const SOON: Duration = Duration::from_secs(20);
/// How often the edge is asked while a pass grows old.
const LOOK: Duration = Duration::from_millis(50);
const HEADER: &str = "cta-common-access-token";

fn now_s() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64
}

/// Answers with every path.
async fn upstream() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let app = axum::Router::new().fallback(|request: Request| async move {
        ([("cache-control", "max-age=60")], request.uri().path().to_owned())
    });
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    port
}

/// A door and an edge with the same keys. This machine is in India, and may say for whom it asks.
struct House {
    folder: tempfile::TempDir,
    edge: Program,
    door: Program,
    app: String,
    admin: String,
    web: Web,
}

impl House {
    async fn open(more: &[&str]) -> House {
        let folder = tempfile::tempdir().unwrap();
        let keys = folder.path().join("pass-keys.json");
        std::fs::write(&keys, serde_json::to_vec(&Document::generate("pavilion", "k1").unwrap()).unwrap())
            .unwrap();
        let keys = keys.display().to_string();
        let [app, admin, edge, edge_admin] = std::array::from_fn(|_| free_tcp_port());
        let at = |port: u16| format!("127.0.0.1:{port}");
        let url = |port: u16| format!("http://{}", at(port));
        let (listen, observed, from) = (at(edge), at(edge_admin), url(upstream().await));
        let mut args = vec!["edge", "--listen", &listen, "--admin", &observed, "--upstream", &from];
        args.extend(["--pass-keys", &keys, "--pass-networks-max", "2", "--home-country", "IN"]);
        args.extend(["--front", "127.0.0.1", "--front-client", "x-forwarded-for"]);
        let edge_program = Program::start(folder.path(), "edge", &args);
        let (listen, operators, epoch, edge_admin) =
            (at(app), at(admin), epoch().to_string(), url(edge_admin));
        let edge_port = format!(":{edge}");
        let files: Vec<String> = ["keys", "mail", "accounts.db", "pavilion.db", "entitlements.db", "journal"]
            .iter()
            .map(|name| folder.path().join(name).display().to_string())
            .collect();
        let mut args = vec!["arrival", "--listen", &listen, "--admin", &operators, "--epoch", &epoch];
        args.extend(["--pass-keys", &keys, "--edge-admin", &edge_admin, "--home-country", "IN"]);
        args.extend(["--edge", &edge_port]);
        let flags = ["--keys", "--mail", "--accounts", "--store", "--entitlements", "--journal"];
        for (flag, file) in flags.iter().zip(&files) {
            args.extend([*flag, file]);
        }
        args.extend(more);
        let door = Program::start(folder.path(), "door", &args);
        let web = Web::default();
        let (ready, watched) = (format!("{}/v1/time", url(app)), format!("{edge_admin}/readyz"));
        until("door and edge", START_MAX, async || {
            web.try_get(&watched).await.ok()?;
            web.try_get(&ready).await.ok()
        })
        .await;
        House { folder, edge: edge_program, door, app: url(app), admin: url(admin), web }
    }

    async fn try_play(&self) -> (u16, Value) {
        let url = format!("{}/v1/matches/demo/play", self.app);
        let answer = self.web.request(Method::POST, &url, Bytes::new()).await.unwrap();
        (answer.status.as_u16(), serde_json::from_slice(&answer.body).unwrap())
    }

    /// The playlist's URL, and its pass.
    async fn play(&self) -> (String, String) {
        let (status, answer) = self.try_play().await;
        assert_eq!(status, 200, "{answer}");
        let url = answer["playlist"].as_str().unwrap().to_owned();
        let pass = url.split('/').nth(3).unwrap().to_owned();
        (url, pass)
    }

    /// What the edge says to somebody at that address: its status and reason, and the pass that it hands over.
    async fn get(&self, url: &str, from: &str) -> (u16, String, Option<String>) {
        let request = http::Request::get(url).header("x-forwarded-for", from);
        let answer = self.web.ask(request.body(Full::default()).unwrap()).await.unwrap();
        let problem: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        let reason = problem["reason"].as_str().unwrap_or_default().to_owned();
        let next = answer.headers.get(HEADER).map(|next| next.to_str().unwrap().to_owned());
        (answer.status.as_u16(), reason, next)
    }

    async fn says(&self, url: &str, from: &str) -> (u16, String) {
        let (status, reason, _) = self.get(url, from).await;
        (status, reason)
    }

    async fn put(&self, kind: &str, document: Value) {
        let url = format!("{}/admin/arrival/catalog/{kind}/{}", self.admin, document["id"].as_str().unwrap());
        let answer = self.web.request(Method::PUT, &url, document.to_string().into()).await.unwrap();
        assert_eq!(answer.status, 200, "{}", answer.text());
    }

    fn keys(&self) -> std::path::PathBuf {
        self.folder.path().join("pass-keys.json")
    }

    fn document(&self) -> Document {
        serde_json::from_slice(&std::fs::read(self.keys()).unwrap()).unwrap()
    }

    /// Whole or not at all, as operators are told to.
    fn rewrite(&self, document: &Document) {
        let new: &Path = &self.folder.path().join("new");
        std::fs::write(new, serde_json::to_vec(document).unwrap()).unwrap();
        std::fs::rename(new, self.keys()).unwrap();
    }
}

const HOME: &str = "192.168.0.7";

fn no(status: u16, reason: &str) -> (u16, String) {
    (status, reason.to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_issued_pass_opens_its_match_and_nothing_else_does() {
    let house = House::open(&[]).await;
    let yes = no(200, "");
    let (url, pass) = house.play().await;
    let with = |other: &str| url.replace(&pass, other);
    assert_eq!(house.says(&url, HOME).await, yes);
    assert_eq!(house.says(&url, "203.0.113.9").await, yes, "it is for everywhere");
    assert_eq!(house.says(&url.replace("/demo/", "/other/"), HOME).await, no(403, "wrong_path"));
    assert_eq!(house.says(&url.replace("/demo/", "/demo/../other/"), HOME).await.0, 400);

    // What is not a pass of ours, in every way that there is.
    let mut bytes = URL_SAFE_NO_PAD.decode(&pass).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    assert_eq!(house.says(&with(&URL_SAFE_NO_PAD.encode(&bytes)), HOME).await, no(401, "forged"));
    bytes[last] ^= 1;
    for at in (0..last).step_by(9) {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << fastrand::u32(0..8);
        let (status, reason) = house.says(&with(&URL_SAFE_NO_PAD.encode(&changed)), HOME).await;
        let reasons = ["malformed", "forged", "unknown_key", "unsupported"];
        assert!([401, 403].contains(&status) && reasons.contains(&&*reason), "{at}: {status} {reason}");
    }
    for length in [1, pass.len() / 2, pass.len() - 4] {
        assert_eq!(house.says(&with(&pass[..length]), HOME).await, no(401, "malformed"), "{length}");
    }
    for _ in 0..16 {
        let random: Vec<u8> = std::iter::repeat_with(|| fastrand::u8(..)).take(200).collect();
        let (status, reason) = house.says(&with(&URL_SAFE_NO_PAD.encode(random)), HOME).await;
        assert!((status, &*reason) == (401, "malformed") || reason == "unsupported", "{status} {reason}");
    }
    assert_eq!(house.says(&with("open"), HOME).await, no(401, "malformed"));
    let stranger = Gate::new(&Document::generate("pavilion", "k2").unwrap()).unwrap();
    let claims = Claims { expires_s: now_s() + 60, ..Claims::default() };
    let theirs = stranger.sign(&claims, now_s()).unwrap();
    assert_eq!(house.says(&with(&theirs), HOME).await, no(401, "unknown_key"));

    // Ours, but used up.
    let ours = Gate::new(&house.document()).unwrap();
    let once = Claims { once: true, id: Some(vec![7; 16]), ..claims };
    let once = ours.sign(&once, now_s()).unwrap();
    assert_eq!(house.says(&with(&once), HOME).await, yes);
    assert_eq!(house.says(&with(&once), HOME).await, no(403, "replayed"));

    // A blackout elsewhere makes it a matter of the place.
    house
        .put(
            "blackout",
            json!({"id": "gb", "name": "Britain", "matches": ["demo"], "areas": [{"country": "GB"}]}),
        )
        .await;
    let (placed, bound) = house.play().await;
    assert_eq!(house.says(&placed, HOME).await, yes);
    assert_eq!(house.says(&placed, "203.0.113.9").await, no(403, "wrong_country"));
    // Passed on: home, a neighbour, and then too many.
    assert_eq!(house.says(&placed, "192.168.1.7").await, yes);
    assert_eq!(house.says(&placed, "192.168.2.7").await, no(403, "shared"));

    // A blackout that nobody foresaw: play refuses, and who is watching there is cut. So is who has a pass without a place.
    let (third, cut) = house.play().await;
    assert_eq!(house.says(&third, HOME).await, yes);
    let blackout = json!({"id": "in", "name": "India", "matches": ["demo"], "areas": [{"country": "IN"}]});
    house.put("blackout", blackout).await;
    for url in [&third, &url] {
        until("the cut", SOON, async || (house.says(url, HOME).await == no(403, "revoked")).then_some(()))
            .await;
    }
    let (status, answer) = house.try_play().await;
    assert_eq!((status, &answer["area"]), (451, &json!("India")), "{answer}");

    for program in [&house.edge, &house.door] {
        let log = program.log();
        assert!(log.contains("revoked") || log.contains("dark"), "{log}");
        for pass in [&pass, &bound, &cut, &once, &theirs] {
            // Its signature, which is its own.
            assert!(!log.contains(&pass[pass.len() - 40..]), "a pass is in the log");
        }
    }
}

/// Short passes: renewed by the edge alone, to the end that the door has set and not beyond.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_edge_renews_to_the_end_and_no_further() {
    let mut house = House::open(&["--pass-life", "3", "--pass-renewed", "8"]).await;
    let (_, answer) = house.try_play().await;
    let end_ms = answer["until_ms"].as_i64().unwrap();
    let first = answer["playlist"].as_str().unwrap().to_owned();
    let begun = first.split('/').nth(3).unwrap();
    let path = first.split_once(begun).unwrap().1;
    // Edges need no door for it.
    house.door.kill();
    let gate = Gate::new(&house.document()).unwrap();
    let (mut pass, mut renewals, began) = (begun.to_owned(), 0, Instant::now());
    loop {
        assert!(began.elapsed() < SOON, "it goes on and on");
        let (status, reason, next) = house.get(&first.replace(begun, &pass), HOME).await;
        if status == 401 {
            assert_eq!(reason, "expired");
            break;
        }
        assert_eq!(status, 200, "{reason}");
        if let Some(next) = next {
            let opened = gate.open(&next, &Ask::get(path, now_s())).unwrap();
            assert!(opened.expires_s() * 1_000 <= end_ms, "it ends when the door said");
            renewals += 1;
            pass = next;
        }
        tokio::time::sleep(LOOK).await;
    }
    assert!(renewals >= 2, "{renewals}");
    assert!(now_s() * 1_000 >= end_ms - 1_000, "it was renewed to its end");
    assert_eq!(house.says(&first, HOME).await, no(401, "expired"));
}

/// Viewers go on coming and watching while the file of keys gets a new one and loses the old one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_rotate_under_load_without_one_refusal() {
    let house = Arc::new(House::open(&[]).await);
    let stop = Arc::new(AtomicBool::new(false));
    let watched = Arc::new(AtomicUsize::new(0));
    let viewers: Vec<_> = (0..4)
        .map(|n| {
            let (house, stop, watched) = (house.clone(), stop.clone(), watched.clone());
            tokio::spawn(async move {
                let from = format!("192.168.{n}.1");
                while !stop.load(Ordering::Relaxed) {
                    let (url, _) = house.play().await;
                    for _ in 0..4 {
                        assert_eq!(house.says(&url, &from).await, no(200, ""));
                    }
                    watched.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    let signs = async |document: &Document| {
        let gate = Gate::new(document).unwrap();
        until("the new key signs", SOON, async || {
            let (_, pass) = house.play().await;
            gate.open(&pass, &Ask::get("/", now_s())).ok().map(|_| ())
        })
        .await;
    };
    let mut document = house.document();
    let old = house.play().await.0;
    // There for all before anybody signs with it.
    document.keys.push(Secret { from: now_s() + 4, ..Secret::generate("k2").unwrap() });
    house.rewrite(&document);
    let second = Document { keys: document.keys[1..].to_vec(), ..document.clone() };
    signs(&second).await;
    assert_eq!(house.says(&old, HOME).await, no(200, ""), "both are good for a while");
    let before = watched.load(Ordering::Relaxed);
    until("viewers with it", SOON, async || (watched.load(Ordering::Relaxed) > before + 8).then_some(()))
        .await;
    house.rewrite(&second);
    until("the old key is out of use", SOON, async || {
        (house.says(&old, HOME).await == no(401, "unknown_key")).then_some(())
    })
    .await;
    let before = watched.load(Ordering::Relaxed);
    until("viewers after it", SOON, async || (watched.load(Ordering::Relaxed) > before + 8).then_some(()))
        .await;
    stop.store(true, Ordering::Relaxed);
    for viewer in viewers {
        viewer.await.unwrap();
    }
}
