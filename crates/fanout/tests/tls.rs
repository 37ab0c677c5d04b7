//! TLS in front of the workers, with foreign clients.
#![allow(clippy::unwrap_used, reason = "a failed test may panic")]

mod support;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use fanout::{Config, Deps, Server};
use futures_util::StreamExt;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use listen::tls::Certificate;
use support::*;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpSocket, TcpStream};
use tokio::process::Command;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, ProtocolVersion, RootCertStore};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_util::sync::CancellationToken;

/// A server with a certificate of its own authority.
struct Secured {
    at: SocketAddr,
    script: Arc<Script>,
    shutdown: CancellationToken,
    folder: TempDir,
}

impl Drop for Secured {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}

async fn secured(config: Config) -> Secured {
    let folder = tempfile::tempdir().unwrap();
    let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(&cert, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let tls = Certificate::read(&cert, &key).unwrap().config(&[b"http/1.1"]).unwrap();
    let script = Arc::new(Script::default());
    let other = service_fn(|request: http::Request<Incoming>| async move {
        let text = format!("other {}", request.uri().path());
        Ok::<_, std::convert::Infallible>(http::Response::new(Full::new(Bytes::from(text))))
    });
    let deps =
        Deps { source: script.clone(), admit: Arc::new(Door), keys: None, fallback: fanout::fallback(other) };
    let listener = fanout::listen_locally().unwrap();
    let server = Server::open_with(config, listener, deps, Some(Arc::new(tls))).await.unwrap();
    let (at, shutdown) = (server.local_addr().unwrap(), CancellationToken::new());
    tokio::spawn(server.run(shutdown.clone(), CancellationToken::new()));
    Secured { at, script, shutdown, folder }
}

impl Secured {
    fn certificate(&self) -> std::path::PathBuf {
        self.folder.path().join("cert.pem")
    }

    async fn connect(&self) -> TlsStream<TcpStream> {
        shake(TcpStream::connect(self.at).await.unwrap(), &self.certificate()).await
    }

    async fn socket(&self) -> WebSocketStream<TlsStream<TcpStream>> {
        upgrade(self.connect().await).await
    }
}

async fn shake(socket: TcpStream, certificate: &Path) -> TlsStream<TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(certificate).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let shaken = TlsConnector::from(Arc::new(config)).connect(name, socket);
    timeout(HANG, shaken).await.expect("a handshake").unwrap()
}

async fn upgrade(stream: TlsStream<TcpStream>) -> WebSocketStream<TlsStream<TcpStream>> {
    let path = "wss://localhost/v1/stream?match=m";
    timeout(HANG, tokio_tungstenite::client_async(path, stream)).await.expect("an answer").unwrap().0
}

/// The next frame that says something.
async fn frame(ws: &mut WebSocketStream<TlsStream<TcpStream>>) -> Frame {
    loop {
        match timeout(HANG, ws.next()).await.expect("a frame").expect("not the end").unwrap() {
            Frame::Ping(_) | Frame::Pong(_) => {}
            frame => return frame,
        }
    }
}

async fn json(ws: &mut WebSocketStream<TlsStream<TcpStream>>) -> serde_json::Value {
    serde_json::from_str(frame(ws).await.to_text().unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_socket_over_tls_is_told_all_and_how_it_ends() {
    let world = secured(plain()).await;
    let mut ws = world.socket().await;
    let session = ws.get_ref().get_ref().1;
    assert_eq!(session.protocol_version(), Some(ProtocolVersion::TLSv1_3));
    assert_eq!(json(&mut ws).await["type"], "subscribed");
    assert_eq!(json(&mut ws).await["type"], "live");
    // Longer than what is carried at once, and short.
    for (event, fill) in [(1, 20_000), (2, 0), (3, 100)] {
        world.script.publish("m", event, 1, fill);
        let told = json(&mut ws).await;
        assert_eq!((told["event_id"].as_u64(), told["fill"].as_str().unwrap().len()), (Some(event), fill));
    }
    world.shutdown.cancel();
    let Frame::Close(Some(close)) = frame(&mut ws).await else { panic!("not a close frame") };
    assert_eq!(close.code, CloseCode::Away);
    while let Some(Ok(_)) = timeout(HANG, ws.next()).await.expect("an end") {}
}

#[tokio::test(flavor = "multi_thread")]
async fn other_paths_and_then_the_stream_on_one_connection() {
    let world = secured(plain()).await;
    let mut http = BufReader::new(world.connect().await);
    let lines = async |http: &mut BufReader<TlsStream<TcpStream>>, until: &str| {
        let mut all = String::new();
        while !all.contains(until) {
            let read = timeout(HANG, http.read_line(&mut all)).await.expect("a line").unwrap();
            assert!(read > 0, "it ended after {all:?}");
        }
        all
    };
    http.get_mut().write_all(b"GET /other HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    http.get_mut().flush().await.unwrap();
    assert!(lines(&mut http, "\r\n\r\n").await.starts_with("HTTP/1.1 200"));
    let mut body = [0; 12];
    timeout(HANG, http.read_exact(&mut body)).await.expect("a body").unwrap();
    assert_eq!(&body, b"other /other");
    http.get_mut()
        .write_all(b"GET /v1/stream?match=m HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n")
        .await
        .unwrap();
    http.get_mut().flush().await.unwrap();
    lines(&mut http, "\"live\"").await;
    world.script.publish("m", 7, 1, 0);
    assert!(lines(&mut http, "\"event_id\":7").await.contains("data: "));
}

#[tokio::test(flavor = "multi_thread")]
async fn curl_is_answered_over_tls_1_3_and_over_nothing_less() {
    let world = secured(plain()).await;
    let curl = async |version: &[&str]| {
        let at = format!("localhost:{}:{}", world.at.port(), world.at.ip());
        let url = format!("https://localhost:{}/snapshot", world.at.port());
        let mut curl = Command::new("curl");
        curl.args(["-sS", "--http1.1", "--max-time", "30", "--resolve", &at, "--cacert"])
            .arg(world.certificate());
        curl.args(version).arg(url).output().await.unwrap()
    };
    let good = curl(&["--tlsv1.3"]).await;
    assert_eq!(String::from_utf8_lossy(&good.stdout), "other /snapshot", "{good:?}");
    assert!(!curl(&["--tls-max", "1.2"]).await.status.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_read_over_tls_is_closed_and_costs_nobody_else() {
    const EVENTS: u64 = 1_000;
    let world = secured(plain()).await;
    // So small a window that the client's own kernel holds little.
    let small = TcpSocket::new_v4().unwrap();
    small.set_recv_buffer_size(4_096).unwrap();
    let small = small.connect(world.at).await.unwrap();
    let mut slow = upgrade(shake(small, &world.certificate()).await).await;
    let mut quick = world.socket().await;
    for ws in [&mut slow, &mut quick] {
        assert_eq!(json(ws).await["type"], "subscribed");
        assert_eq!(json(ws).await["type"], "live");
    }
    for event in 1..=EVENTS {
        world.script.publish("m", event, 1, 1_000);
        assert_eq!(json(&mut quick).await["event_id"].as_u64(), Some(event));
    }
    let mut got = 0;
    let code = loop {
        match frame(&mut slow).await {
            Frame::Text(_) => got += 1,
            Frame::Close(close) => break close.map(|close| u16::from(close.code)),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(code, Some(4000), "after {got} events");
    // The cap, what the kernel holds three times over, and what is on its way: far from a megabyte.
    assert!(got < EVENTS / 3, "{got} events of 1 KB were held for it");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_never_shakes_hands_is_let_go() {
    let mut config = plain();
    config.timing.head = Duration::from_millis(100);
    let world = secured(config).await;
    let mut mute = TcpStream::connect(world.at).await.unwrap();
    let mut plain = TcpStream::connect(world.at).await.unwrap();
    plain.write_all(b"GET /v1/stream HTTP/1.1\r\n\r\n").await.unwrap();
    for socket in [&mut mute, &mut plain] {
        let mut said = Vec::new();
        let end = timeout(HANG, socket.read_to_end(&mut said)).await.expect("an end");
        assert!(end.is_err() || !said.starts_with(b"HTTP"), "nothing is said in the clear: {said:?}");
    }
}
