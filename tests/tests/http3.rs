//! HTTP/3 with a real browser.

#![allow(clippy::unwrap_used, missing_docs)]

use std::net::Ipv4Addr;
use std::path::Path;
use std::time::Duration;

use axum::extract::Request;
use e2e::program::Program;
use e2e::roles::free_tcp_port;
use e2e::{tools, until};
use tokio::net::{TcpListener, TcpStream};

/// What the edge is called.
const NAME: &str = "edge.test";
/// Bytes of an object: some packets.
const OBJECT: usize = 100_000;
/// The edge listens within this.
const START_MAX: Duration = Duration::from_secs(20);

/// Answers with a page, and with objects that begin with their own path.
async fn upstream() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let app = axum::Router::new().fallback(|request: Request| async move {
        let path = request.uri().path().to_owned();
        let (kind, body) = match &*path {
            "/page.html" => ("text/html", "<!doctype html><title>HTTP/3</title>".to_owned()),
            path => ("video/mp4", path.to_owned() + &"x".repeat(OBJECT)),
        };
        ([("cache-control", "max-age=60"), ("content-type", kind)], body)
    });
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    port
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_goes_over_to_http3() {
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed([NAME.to_owned()]).unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (cert, key) = (path("cert.pem"), path("key.pem"));
    std::fs::write(&cert, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let (port, upstream) = (free_tcp_port(), format!("http://127.0.0.1:{}", upstream().await));
    let listen = format!("127.0.0.1:{port}");
    let args = [
        "edge",
        "--listen",
        &listen,
        "--upstream",
        &upstream,
        "--tls-cert",
        &cert,
        "--tls-key",
        &key,
        "--http3",
        "--access-log",
        "1",
    ];
    let mut edge = Program::start(folder.path(), "edge", &args);
    until("the edge", START_MAX, async || TcpStream::connect(&listen).await.ok()).await;

    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("browser/http3.mjs").display().to_string();
    let url = format!("https://{NAME}:{port}");
    let said =
        tokio::task::spawn_blocking(move || tools::run("node", &[&script, &url, &cert])).await.unwrap();
    println!("{}", String::from_utf8_lossy(&said));

    // The same seen from the other side.
    let log = edge.log();
    let by = |protocol: &str| {
        log.lines().filter(|line| line.contains(&format!("protocol=\"{protocol}\""))).count()
    };
    assert!(by("h2") > 0 && by("h3") > 100, "{log}");
    assert!(edge.end().success());
}
