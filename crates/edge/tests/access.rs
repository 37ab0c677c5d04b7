//! The access log: what it says of a request, and what it never says.
#![allow(clippy::unwrap_used)]

mod support;

use std::io::Write;
use std::sync::{Arc, Mutex};

use edge::Config;
use serde_json::Value;
use support::{Client, Edge, Upstream, cut, drip, ok, read, until};
use tracing_subscriber::fmt::MakeWriter;

/// Lines that were logged by this thread.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Lines;
    fn make_writer(&'a self) -> Lines {
        self.clone()
    }
}

impl Lines {
    fn read(&self) -> Vec<Value> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        assert!(!text.contains("SECRET") && !text.contains("127.0.0.1"), "{text}");
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| line["target"] == "access").collect()
    }

    /// Waits for that many.
    async fn count(&self, n: usize) -> Vec<Value> {
        until(async || self.read().len() >= n).await;
        self.read()
    }
}

fn logged() -> (Lines, tracing::subscriber::DefaultGuard) {
    let lines = Lines::default();
    let subscriber = tracing_subscriber::fmt().json().flatten_event(true).with_writer(lines.clone()).finish();
    (lines, tracing::subscriber::set_default(subscriber))
}

fn config(share: &str) -> Config {
    Config { access_log: share.parse().unwrap(), pass: Some("SECRET".parse().unwrap()), ..Config::default() }
}

// One thread, so that what the edge logs is seen here.
#[tokio::test]
async fn a_request_is_a_line_without_secrets() {
    let (lines, _guard) = logged();
    let (drip, body) = drip();
    let body = Mutex::new(Some(body));
    let upstream = Upstream::start(move |_, _| {
        let body = body.lock().unwrap().take();
        async move { body.map_or_else(|| ok("max-age=60", "object"), |body| ok("max-age=60", body)) }
    })
    .await;
    let edge = Edge::with(config("1"), upstream.address).await;
    let client = Client::of(&edge);

    // One that is cut after four bytes.
    drip.send(Ok("half")).unwrap();
    let mut answer = client.head_of("/SECRET/m/cut.m4s").await;
    assert_eq!(support::next(&mut answer).await.unwrap().unwrap(), "half");
    drip.send(cut()).unwrap();
    assert!(read(answer).await.is_err());
    lines.count(1).await;

    for _ in 0..2 {
        client.get("/SECRET/m/v.m3u8?token=SECRET&_HLS_msn=7").await;
    }
    client.send("HEAD", "/SECRET/m/v.m3u8?_HLS_msn=7", &[]).await;
    let refused = client.get("/SECRETIVE/m/v.m3u8").await.1.len();
    client.send("PUT", "/SECRET/m/v.m3u8", &[]).await;
    let lines = lines.count(6).await;
    let shown = |line: &Value| {
        let of = |name: &str| line[name].to_string().replace('"', "");
        ["method", "path", "status", "outcome", "bytes", "protocol", "peer"].map(of).join(" ")
    };
    let shown: Vec<String> = lines.iter().map(shown).collect();
    assert_eq!(
        shown[..5],
        [
            "GET /m/cut.m4s 200 miss 4 h1 127.0.0.0".to_owned(),
            "GET /m/v.m3u8?_HLS_msn=7 200 miss 6 h1 127.0.0.0".to_owned(),
            "GET /m/v.m3u8?_HLS_msn=7 200 hit 6 h1 127.0.0.0".to_owned(),
            "HEAD /m/v.m3u8?_HLS_msn=7 200 hit 0 h1 127.0.0.0".to_owned(),
            format!("GET /m/v.m3u8 403 error {refused} h1 127.0.0.0"),
        ]
    );
    assert!(shown[5].starts_with("PUT /m/v.m3u8 405 error "), "{}", shown[5]);
    assert!(lines.iter().all(|line| line["ms"].as_f64().is_some_and(|ms| ms > 0.0)));
}

#[tokio::test]
async fn a_sample_is_logged() {
    let (lines, _guard) = logged();
    let upstream = Upstream::start(|_, _| async { ok("max-age=60", "object") }).await;
    for (share, least, most) in [("0", 0, 0), ("0.5", 300, 700)] {
        let edge = Edge::with(config(share), upstream.address).await;
        let client = Client::of(&edge);
        for _ in 0..1_000 {
            client.get("/SECRET/m/1a.m4s").await;
        }
        let count = lines.read().len();
        assert!((least..=most).contains(&count), "{share}: {count}");
    }
}

#[tokio::test]
async fn a_refusal_is_logged_by_its_reason_and_names_nobody() {
    let (lines, _guard) = logged();
    let upstream = Upstream::start(|_, _| async { ok("max-age=60", "object") }).await;
    let document = pass::Document::generate("pavilion", "k").unwrap();
    let keys = tempfile::NamedTempFile::new().unwrap();
    serde_json::to_writer(&keys, &document).unwrap();
    let config = Config {
        access_log: "1".parse().unwrap(),
        pass_keys: Some(keys.path().to_owned()),
        ..Config::default()
    };
    let edge = Edge::with(config, upstream.address).await;
    let client = Client::of(&edge);
    let claims = |expires_s| pass::cat::Claims {
        session: Some("SECRET".into()),
        expires_s,
        ..pass::cat::Claims::default()
    };
    let gate = pass::Gate::new(&document).unwrap();
    let tokens = [gate.sign(&claims(9_000_000_000), 0).unwrap(), gate.sign(&claims(1), 0).unwrap()];
    for token in &tokens {
        client.get(&format!("/{token}/m/v.m3u8?_HLS_msn=7")).await;
    }
    for _ in 0..100 {
        client.get("/SECRET/m/v.m3u8").await;
    }
    lines.count(102).await;
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    assert!(tokens.iter().all(|token| !text.contains(&token[..40])), "{text}");
    let all = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let refusals: Vec<Value> = all.filter(|line| line["target"] == "pass").collect();
    let shown = |line: &Value| (line["reason"].clone(), line["path"].clone(), line["peer"].clone());
    assert_eq!(shown(&refusals[0]), ("expired".into(), "/m/v.m3u8".into(), "127.0.0.0".into()));
    assert_eq!(shown(&refusals[1]), ("malformed".into(), "/m/v.m3u8".into(), "127.0.0.0".into()));
    // So many a second; a hundred requests take no ten.
    assert!(refusals.len() < 100, "{}", refusals.len());
}
