//! HTTP/3: the same answers over QUIC, and how a client comes to it.
#![allow(clippy::unwrap_used)]

mod support;

use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::{Buf, Bytes, BytesMut};
use edge::Config;
use h3::client::{RequestStream, SendRequest};
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::{TokioExecutor, TokioIo};
use quinn::crypto::rustls::QuicClientConfig;
use support::{HANG, Upstream, cut, drip, ok};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tokio_util::sync::CancellationToken;

type Stream = RequestStream<h3_quinn::BidiStream<Bytes>, Bytes>;

/// An edge that speaks HTTP/3.
struct Edge {
    address: SocketAddr,
    certificate: CertificateDer<'static>,
    stop: CancellationToken,
    served: tokio::task::JoinHandle<Result<(), edge::Error>>,
    _folder: tempfile::TempDir,
}

impl Edge {
    async fn start(upstream: &Upstream) -> Edge {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
        std::fs::write(&cert, made.cert.pem()).unwrap();
        std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        let config = Config {
            upstream: vec![format!("http://{}", upstream.address).parse().unwrap()],
            tls_cert: Some(cert),
            tls_key: Some(key),
            http3: true,
            ..Config::default()
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let served = tokio::spawn(edge::serve(config, listener, stop.clone()));
        Edge { address, certificate: made.cert.der().clone(), stop, served, _folder: folder }
    }

    fn tls(&self, alpn: &str) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).unwrap();
        let mut tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        tls.alpn_protocols = vec![alpn.into()];
        tls
    }
}

/// A client, connected. The endpoint must be kept.
struct Client {
    requests: SendRequest<h3_quinn::OpenStreams, Bytes>,
    /// How the connection ended.
    ended: tokio::task::JoinHandle<h3::error::ConnectionError>,
    _endpoint: quinn::Endpoint,
}

impl Client {
    async fn connect(edge: &Edge) -> Client {
        let mut endpoint = quinn::Endpoint::client(([127, 0, 0, 1], 0).into()).unwrap();
        let crypto = QuicClientConfig::try_from(edge.tls("h3")).unwrap();
        endpoint.set_default_client_config(quinn::ClientConfig::new(Arc::new(crypto)));
        let connection = endpoint.connect(edge.address, "localhost").unwrap();
        let connection = timeout(HANG, connection).await.unwrap().unwrap();
        let (mut driver, requests) = h3::client::new(h3_quinn::Connection::new(connection)).await.unwrap();
        let ended = tokio::spawn(async move { poll_fn(|cx| driver.poll_close(cx)).await });
        Client { requests, ended, _endpoint: endpoint }
    }

    async fn send(&mut self, method: &str, path: &str) -> (http::Response<()>, Stream) {
        let request = http::Request::builder().method(method).uri(format!("https://localhost{path}"));
        let mut stream = self.requests.send_request(request.body(()).unwrap()).await.unwrap();
        stream.finish().await.unwrap();
        (timeout(HANG, stream.recv_response()).await.unwrap().unwrap(), stream)
    }
}

async fn read(mut stream: Stream) -> Result<Bytes, h3::error::StreamError> {
    let mut all = BytesMut::new();
    while let Some(mut data) = timeout(HANG, stream.recv_data()).await.expect("body hangs")? {
        all.extend_from_slice(&data.copy_to_bytes(data.remaining()));
    }
    Ok(all.freeze())
}

#[tokio::test]
async fn requests_are_answered_as_by_other_protocols() {
    let upstream = Upstream::start(|request, _| async move {
        match request.uri().path() {
            "/m/large.m4s" => ok("max-age=60", vec![b'x'; 3 << 20]),
            _ => ok("max-age=60", "object"),
        }
    })
    .await;
    let edge = Edge::start(&upstream).await;
    let mut client = Client::connect(&edge).await;
    for _ in 0..2 {
        let (head, body) = client.send("GET", "/m/1a.m4s").await;
        assert_eq!(head.status(), 200);
        assert_eq!(head.headers()["content-length"], "6");
        assert_eq!(read(body).await.unwrap(), "object");
        let (head, body) = client.send("GET", "/m/large.m4s").await;
        assert_eq!(head.status(), 200);
        assert!(read(body).await.unwrap() == vec![b'x'; 3 << 20]);
        let (head, body) = client.send("HEAD", "/m/1a.m4s").await;
        assert_eq!((head.status().as_u16(), &head.headers()["content-length"]), (200, &"6".parse().unwrap()));
        assert!(read(body).await.unwrap().is_empty());
        for (method, path, status) in
            [("OPTIONS", "/m/1a.m4s", 204), ("GET", "/m/../1a.m4s", 400), ("POST", "/m/1a.m4s", 405)]
        {
            assert_eq!(client.send(method, path).await.0.status(), status, "{method} {path}");
        }
    }
    assert_eq!(upstream.asked().len(), 2);
}

#[tokio::test]
async fn a_cut_body_is_a_reset_and_the_connection_goes_on() {
    let (drip, body) = drip();
    let body = std::sync::Mutex::new(Some(body));
    let upstream = Upstream::start(move |_, _| {
        let body = body.lock().unwrap().take();
        async move { body.map_or_else(|| ok("max-age=60", "object"), |body| ok("max-age=60", body)) }
    })
    .await;
    let edge = Edge::start(&upstream).await;
    let mut client = Client::connect(&edge).await;
    drip.send(Ok("half")).unwrap();
    let (_, mut body) = client.send("GET", "/m/1a.m4s").await;
    let mut half = timeout(HANG, body.recv_data()).await.unwrap().unwrap().unwrap();
    assert_eq!(half.copy_to_bytes(half.remaining()), "half");
    drop(half);
    drip.send(cut()).unwrap();
    assert!(read(body).await.is_err());
    assert_eq!(read(client.send("GET", "/m/1a.m4s").await.1).await.unwrap(), "object");
}

#[tokio::test]
async fn tls_clients_are_told_of_it() {
    let upstream = Upstream::start(|_, _| async { ok("max-age=60", "object") }).await;
    let edge = Edge::start(&upstream).await;
    // It is open: only then is it told.
    Client::connect(&edge).await;
    for alpn in ["http/1.1", "h2"] {
        let socket = TcpStream::connect(edge.address).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let stream = TlsConnector::from(Arc::new(edge.tls(alpn))).connect(name, socket).await.unwrap();
        let request = || {
            http::Request::get("https://localhost/m/1a.m4s")
                .header("host", "localhost")
                .body(Empty::<Bytes>::new())
        };
        let mut answers = Vec::new();
        if alpn == "h2" {
            let shaken =
                hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await;
            let (mut send, connection) = shaken.unwrap();
            tokio::spawn(connection);
            answers.push(send.send_request(request().unwrap()).await.unwrap().into_parts().0);
        } else {
            let (mut send, connection) =
                hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
            tokio::spawn(connection);
            // One by the long way, and a hit.
            for _ in 0..2 {
                let answer = send.send_request(request().unwrap()).await.unwrap();
                let (parts, body) = answer.into_parts();
                body.collect().await.unwrap();
                answers.push(parts);
                send.ready().await.unwrap();
            }
        }
        for answer in answers {
            let told = answer.headers["alt-svc"].to_str().unwrap().to_owned();
            assert!(told.starts_with(&format!("h3=\":{}\"; ma=", edge.address.port())), "{told}");
        }
    }
}

#[tokio::test]
async fn what_is_under_way_is_answered_before_the_end() {
    let (drip, body) = drip();
    let body = std::sync::Mutex::new(Some(body));
    let upstream = Upstream::start(move |_, _| {
        let body = body.lock().unwrap().take().unwrap();
        async { ok("max-age=60", body) }
    })
    .await;
    let edge = Edge::start(&upstream).await;
    let mut client = Client::connect(&edge).await;
    drip.send(Ok("half")).unwrap();
    let (_, body) = client.send("GET", "/m/1a.m4s").await;
    edge.stop.cancel();
    support::until(async || TcpStream::connect(edge.address).await.is_err()).await;
    drip.send(Ok("half")).unwrap();
    drop(drip);
    assert_eq!(read(body).await.unwrap(), "halfhalf");
    let ended = timeout(HANG, client.ended).await.expect("it stays open").unwrap();
    assert!(ended.is_h3_no_error(), "{ended}");
    timeout(HANG, edge.served).await.expect("it does not end").unwrap().unwrap();
}
