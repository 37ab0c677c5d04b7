//! TLS over time: sessions that are taken up again, and certificates that change.
#![allow(clippy::unwrap_used)]

mod support;

use std::path::Path;
use std::sync::Arc;

use edge::Config;
use support::{Edge, Upstream, ok, until};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, HandshakeKind, ProtocolVersion, RootCertStore};

/// A certificate of its own authority, written to `cert.pem` and `key.pem`.
fn certify(folder: &Path) -> CertificateDer<'static> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(folder.join("cert.pem"), made.cert.pem()).unwrap();
    std::fs::write(folder.join("key.pem"), made.signing_key.serialize_pem()).unwrap();
    made.cert.der().clone()
}

async fn edge(folder: &Path) -> Edge {
    let upstream = Upstream::start(|_, _| async { ok("max-age=60", "object") }).await;
    let (cert, key) = (folder.join("cert.pem"), folder.join("key.pem"));
    let config = Config { tls_cert: Some(cert), tls_key: Some(key), ..Config::default() };
    Edge::with(config, upstream.address).await
}

fn trusting(certificates: &[CertificateDer<'static>]) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    certificates.iter().for_each(|one| roots.add(one.clone()).unwrap());
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    Arc::new(config)
}

async fn connect(edge: &Edge, client: &Arc<ClientConfig>) -> TlsStream<TcpStream> {
    let socket = TcpStream::connect(edge.address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(client.clone()).connect(name, socket).await.unwrap()
}

/// What a request on it is answered.
async fn get(stream: &mut TlsStream<TcpStream>) -> String {
    let request = b"GET /m/1a.m4s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    stream.write_all(request).await.unwrap();
    let mut answer = String::new();
    // To its end, which TLS tells from a cut.
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn a_session_is_taken_up_again() {
    let folder = tempfile::tempdir().unwrap();
    let client = trusting(&[certify(folder.path())]);
    let edge = edge(folder.path()).await;
    for kind in [HandshakeKind::Full, HandshakeKind::Resumed, HandshakeKind::Resumed] {
        let mut stream = connect(&edge, &client).await;
        assert!(get(&mut stream).await.ends_with("object"));
        let session = stream.get_ref().1;
        assert_eq!(session.handshake_kind(), Some(kind));
        assert_eq!(session.protocol_version(), Some(ProtocolVersion::TLSv1_3));
    }
}

#[tokio::test]
async fn a_certificate_that_changes_is_taken_and_a_bad_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let old = certify(folder);
    let edge = edge(folder).await;
    let shown = async |roots: &[CertificateDer<'static>]| {
        let stream = connect(&edge, &trusting(roots)).await;
        stream.get_ref().1.peer_certificates().unwrap()[0].clone()
    };
    assert_eq!(shown(std::slice::from_ref(&old)).await, old);
    let mut before = connect(&edge, &trusting(std::slice::from_ref(&old))).await;

    // A certificate whose key is not there: the old pair stays, also with what comes after it.
    let elsewhere = tempfile::tempdir().unwrap();
    certify(elsewhere.path());
    std::fs::copy(elsewhere.path().join("cert.pem"), folder.join("cert.pem")).unwrap();
    std::fs::write(folder.join("key.pem"), "rubbish").unwrap();
    assert_eq!(shown(std::slice::from_ref(&old)).await, old);

    let new = certify(folder);
    let both = [old.clone(), new.clone()];
    until(async || {
        let now = shown(&both).await;
        assert!(both.contains(&now), "neither the old nor the new one");
        now == new
    })
    .await;
    // Who was there before is still served.
    assert!(get(&mut before).await.ends_with("object"));
}
