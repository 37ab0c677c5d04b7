//! TLS and the end of a server.
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;

use edge::Config;
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::{TokioExecutor, TokioIo};
use support::{Client, Edge, HANG, Upstream, ok, read, until};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, ProtocolVersion, RootCertStore};
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn tls_13_with_both_protocols() {
    let upstream = Upstream::start(|_, _| async { ok("max-age=60", "x") }).await;
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let (cert, key) = (dir.path().join("cert.pem"), dir.path().join("key.pem"));
    std::fs::write(&cert, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let config = Config { tls_cert: Some(cert), tls_key: Some(key), ..Config::default() };
    let edge = Edge::with(config, upstream.address).await;

    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let mut tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    for protocol in ["h2", "http/1.1"] {
        tls.alpn_protocols = vec![protocol.into()];
        let socket = TcpStream::connect(edge.address).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let stream = TlsConnector::from(Arc::new(tls.clone())).connect(name, socket).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(protocol.as_bytes()));
        assert_eq!(stream.get_ref().1.protocol_version(), Some(ProtocolVersion::TLSv1_3));
        let request = http::Request::get("https://localhost/m/1a.m4s").header("host", "localhost");
        let request = request.body(Empty::<bytes::Bytes>::new()).unwrap();
        let answer = match protocol {
            "h2" => {
                let (mut send, connection) =
                    hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
                        .await
                        .unwrap();
                tokio::spawn(connection);
                send.send_request(request).await.unwrap()
            }
            _ => {
                let (mut send, connection) =
                    hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
                tokio::spawn(connection);
                send.send_request(request).await.unwrap()
            }
        };
        assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "x");
    }
}

#[tokio::test]
async fn what_cannot_work_is_said_before_anything_is_served() {
    let upstream = vec!["http://127.0.0.1:9".parse().unwrap()];
    let missing = Some("no-such-file.pem".into());
    let config = Config { upstream, tls_cert: missing.clone(), tls_key: missing, ..Config::default() };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let error = edge::serve(config, listener, CancellationToken::new()).await.unwrap_err();
    assert!(error.to_string().contains("no-such-file.pem"), "{error}");
}

#[tokio::test]
async fn a_held_request_is_answered_before_the_end() {
    let (open, gate) = watch::channel(false);
    let upstream = Upstream::start(move |_, _| {
        let mut gate = gate.clone();
        async move {
            gate.wait_for(|open| *open).await.unwrap();
            ok("max-age=60", "x")
        }
    })
    .await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let config = Config {
        upstream: vec![format!("http://{}", upstream.address).parse().unwrap()],
        ..Config::default()
    };
    let served = tokio::spawn(edge::serve(config, listener, stop.clone()));
    let client = Client::at(address);
    let held = tokio::spawn(async move { client.head_of("/m/1a.m4s").await });
    upstream.asked_times(1).await;
    stop.cancel();
    // Nobody new is let in while the old one is still waiting.
    until(async || TcpStream::connect(address).await.is_err()).await;
    assert!(!served.is_finished());
    open.send(true).unwrap();
    assert_eq!(read(held.await.unwrap()).await.unwrap(), "x");
    timeout(HANG, served).await.expect("does not end").unwrap().unwrap();
}
