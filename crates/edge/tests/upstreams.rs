//! Several upstreams that are real servers: which is asked, and what one that dies costs.
#![allow(clippy::unwrap_used)]

mod support;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::extract::Request;
use axum::response::Response;
use edge::{Config, Spread};
use futures_util::future::{join_all, pending};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use support::{Client, Edge, Upstream, ok, until};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_util::sync::CancellationToken;

/// What is counted in this process. Asked for before an edge is made, or that one counts for nobody.
fn metrics() -> &'static PrometheusHandle {
    static METRICS: OnceLock<PrometheusHandle> = OnceLock::new();
    METRICS.get_or_init(|| PrometheusBuilder::new().install_recorder().unwrap())
}

/// The value of a metric, by its name and labels as they are written.
fn value(name: &str) -> f64 {
    let text = metrics().render();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.map_or(0.0, |value| value.parse().unwrap())
}

fn of(name: &str, upstream: SocketAddr) -> f64 {
    of_url(name, &format!("http://{upstream}"))
}

fn of_url(name: &str, upstream: &str) -> f64 {
    value(&format!("{name}{{upstream=\"{upstream}\"}}"))
}

fn config(upstreams: &[SocketAddr]) -> Config {
    metrics();
    let upstream = upstreams.iter().map(|at| format!("http://{at}").parse().unwrap()).collect();
    Config { upstream, ..Config::default() }
}

/// A server that can die, with its listener and all its connections.
struct Mortal {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    alive: CancellationToken,
}

impl Mortal {
    async fn start<F, A>(tls: Option<TlsAcceptor>, script: F) -> Mortal
    where
        F: Fn(Request) -> A + Clone + Send + Sync + 'static,
        A: Future<Output = Response> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (connections, alive) = (Arc::new(AtomicUsize::new(0)), CancellationToken::new());
        let service = TowerToHyperService::new(axum::Router::new().fallback(script));
        let seen = connections.clone();
        let life = async move {
            let mut open = JoinSet::new();
            while let Ok((socket, _)) = listener.accept().await {
                seen.fetch_add(1, SeqCst);
                let (tls, service) = (tls.clone(), service.clone());
                open.spawn(async move {
                    let http = auto::Builder::new(TokioExecutor::new());
                    match tls {
                        None => drop(http.serve_connection(TokioIo::new(socket), service).await),
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(socket).await {
                                drop(http.serve_connection(TokioIo::new(stream), service).await);
                            }
                        }
                    }
                });
            }
        };
        tokio::spawn(alive.clone().run_until_cancelled_owned(life));
        Mortal { address, connections, alive }
    }

    async fn kill(&self) {
        self.alive.cancel();
        until(async || TcpStream::connect(self.address).await.is_err()).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_death_of_the_first_under_load_loses_no_request() {
    metrics();
    for protocols in [None, Some("h2"), Some("http/1.1")] {
        death_under_load(protocols).await;
    }
}

/// Without TLS, or with that protocol over it.
async fn death_under_load(protocol: Option<&str>) {
    let script = |name: &'static str| {
        move |_: Request| async move {
            // So that it dies with requests in its hands.
            tokio::time::sleep(Duration::from_millis(5)).await;
            ok("max-age=60", name)
        }
    };
    let tls = Tls::new();
    let acceptor = || protocol.map(|protocol| tls.acceptor(&[protocol]));
    let first = Mortal::start(acceptor(), script("first")).await;
    let second = Mortal::start(acceptor(), script("second")).await;
    let scheme = if protocol.is_some() { "https" } else { "http" };
    let [first_url, second_url] =
        [&first, &second].map(|mortal| format!("{scheme}://localhost:{}", mortal.address.port()));
    let upstream = [&first_url, &second_url].map(|url| url.parse().unwrap()).into();
    let edge = Edge::of(Config { upstream, upstream_ca: Some(tls.ca()), ..Config::default() }).await;
    let client = Client::of(&edge);
    let (answered, by_first) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let load = join_all((0..8).map(|who| {
        let (client, answered, by_first) = (client.clone(), answered.clone(), by_first.clone());
        tokio::spawn(async move {
            for n in 0..100 {
                let (status, body) = client.get(&format!("/m/{who}/{n}a.m4s")).await;
                assert_eq!(status, 200, "{body:?}");
                by_first.fetch_add(usize::from(body == "first"), SeqCst);
                answered.fetch_add(1, SeqCst);
            }
        })
    }));
    let killed = async {
        until(async || answered.load(SeqCst) >= 200).await;
        first.kill().await;
    };
    let (results, ()) = tokio::join!(load, killed);
    results.into_iter().for_each(|result| result.unwrap());
    assert!((1..800).contains(&by_first.load(SeqCst)));
    assert_eq!(of_url("edge_upstream_ejected", &first_url), 1.0);
    assert!(of_url("edge_upstream_failures_total", &first_url) >= 5.0);
    assert_eq!(of_url("edge_upstream_failures_total", &second_url), 0.0);
}

#[tokio::test]
async fn one_that_fails_is_left_out_and_comes_back() {
    let broken = Arc::new(AtomicBool::new(true));
    let says = broken.clone();
    let first = Upstream::start(move |_, _| {
        let mut answer = ok("max-age=60", "first");
        if says.load(SeqCst) {
            *answer.status_mut() = http::StatusCode::INTERNAL_SERVER_ERROR;
        }
        async { answer }
    })
    .await;
    let second = Upstream::start(|_, _| async { ok("max-age=60", "second") }).await;
    let edge = Edge::of(config(&[first.address, second.address])).await;
    let client = Client::of(&edge);
    let mut n = 0;
    let mut next = async || {
        n += 1;
        client.get(&format!("/m/{n}a.m4s")).await
    };
    until(async || {
        assert_eq!(next().await, (200, "second".into()));
        of("edge_upstream_ejected", first.address) == 1.0
    })
    .await;
    broken.store(false, SeqCst);
    until(async || {
        let (status, body) = next().await;
        assert_eq!(status, 200);
        body == "first"
    })
    .await;
    assert_eq!(of("edge_upstream_ejected", first.address), 0.0);
}

#[tokio::test]
async fn media_that_is_late_is_asked_for_elsewhere() {
    let first = Upstream::start(|_, _| pending()).await;
    let second = Upstream::start(|_, _| async { ok("max-age=60", "second") }).await;
    let edge = Edge::of(config(&[first.address, second.address])).await;
    let before = value("edge_upstream_hedges_total");
    assert_eq!(Client::of(&edge).get("/m/1a.m4s").await, (200, "second".into()));
    assert_eq!((first.asked().len(), second.asked().len()), (1, 1));
    assert!(value("edge_upstream_hedges_total") >= before + 1.0);
    assert_eq!(of("edge_upstream_failures_total", first.address), 1.0);
}

#[tokio::test]
async fn health_is_asked_for_where_it_is_configured() {
    let well = Arc::new(AtomicBool::new(false));
    let says = well.clone();
    let first = Upstream::start(move |request, _| {
        let mut answer = ok("max-age=60", "first");
        if request.uri().path() == "/livez" && !says.load(SeqCst) {
            *answer.status_mut() = http::StatusCode::SERVICE_UNAVAILABLE;
        }
        async { answer }
    })
    .await;
    let second = Upstream::start(|_, _| async { ok("max-age=60", "second") }).await;
    let mut config = config(&[first.address, second.address]);
    config.upstream_health = Some("/livez".into());
    let edge = Edge::of(config).await;
    let client = Client::of(&edge);
    until(async || of("edge_upstream_ejected", first.address) == 1.0).await;
    assert_eq!(client.get("/m/1a.m4s").await, (200, "second".into()));
    well.store(true, SeqCst);
    until(async || of("edge_upstream_ejected", first.address) == 0.0).await;
    assert_eq!(client.get("/m/2a.m4s").await, (200, "first".into()));
}

#[tokio::test]
async fn edges_agree_whose_an_object_is() {
    let mut upstreams = Vec::new();
    for _ in 0..3 {
        upstreams.push(Upstream::start(|_, _| async { ok("max-age=60", "x") }).await);
    }
    let mut addresses: Vec<_> = upstreams.iter().map(|upstream| upstream.address).collect();
    for _ in 0..2 {
        let edge = Edge::of(Config { spread: Spread::Hashed, ..config(&addresses) }).await;
        let client = Client::of(&edge);
        for n in 0..60 {
            assert_eq!(client.get(&format!("/m/{n}a.m4s")).await.0, 200);
        }
        addresses.reverse();
    }
    for n in 0..60 {
        let asked =
            |upstream: &Upstream| upstream.asked().iter().filter(|t| **t == format!("/m/{n}a.m4s")).count();
        // On a busy machine another may be asked too, for fear of lateness.
        assert_eq!(upstreams.iter().map(asked).max(), Some(2));
    }
    assert!(upstreams.iter().all(|upstream| upstream.asked().len() > 10));
}

/// An authority of our own, and a server that it vouches for.
struct Tls {
    dir: TempDir,
    server: ServerConfig,
}

impl Tls {
    fn new() -> Tls {
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &authority).unwrap();
        let server = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
            )
            .unwrap();
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("ca.pem"), authority.pem()).unwrap();
        Tls { dir, server }
    }

    fn ca(&self) -> PathBuf {
        self.dir.path().join("ca.pem")
    }

    fn acceptor(&self, protocols: &[&str]) -> TlsAcceptor {
        let mut server = self.server.clone();
        server.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
        TlsAcceptor::from(Arc::new(server))
    }
}

#[tokio::test]
async fn tls_with_an_authority_of_ones_own_over_whatever_is_spoken() {
    metrics();
    let (tls, stranger) = (Tls::new(), Tls::new());
    let upstream_at = |address: SocketAddr| Config {
        upstream: vec![format!("https://localhost:{}", address.port()).parse().unwrap()],
        upstream_ca: Some(tls.ca()),
        ..Config::default()
    };
    let says_version = |request: Request| async move { ok("max-age=60", format!("{:?}", request.version())) };
    for (offered, spoken) in
        [(&["h2", "http/1.1"][..], "HTTP/2.0"), (&["http/1.1"], "HTTP/1.1"), (&[], "HTTP/1.1")]
    {
        let upstream = Mortal::start(Some(tls.acceptor(offered)), says_version).await;
        let edge = Edge::of(upstream_at(upstream.address)).await;
        let client = Client::of(&edge);
        assert_eq!(client.get("/m/0a.m4s").await, (200, spoken.into()));
        for answer in join_all((1..40).map(async |n| client.get(&format!("/m/{n}a.m4s")).await)).await {
            assert_eq!(answer, (200, spoken.into()));
        }
        if spoken == "HTTP/2.0" {
            assert_eq!(upstream.connections.load(SeqCst), 1);
        }
    }
    let upstream = Mortal::start(Some(stranger.acceptor(&[])), says_version).await;
    let edge = Edge::of(upstream_at(upstream.address)).await;
    assert_eq!(Client::of(&edge).get("/m/1a.m4s").await.0, 502);
}

/// More held requests than an HTTP/2 server lets onto one connection are no reason to wait for another.
#[tokio::test]
async fn held_requests_do_not_fill_an_http2_upstream() {
    metrics();
    let tls = Tls::new();
    let held = Arc::new(AtomicUsize::new(0));
    let holds = held.clone();
    let upstream = Mortal::start(Some(tls.acceptor(&["h2"])), move |request: Request| {
        let holds = holds.clone();
        async move {
            if request.uri().path().ends_with(".m3u8") {
                holds.fetch_add(1, SeqCst);
                pending().await
            }
            ok("max-age=60", "x")
        }
    })
    .await;
    let url = format!("https://localhost:{}", upstream.address.port());
    let config =
        Config { upstream: vec![url.parse().unwrap()], upstream_ca: Some(tls.ca()), ..Config::default() };
    let edge = Edge::of(config).await;
    let client = Client::of(&edge);
    const HELD: usize = 450;
    let _waiting: JoinSet<_> = (0..HELD)
        .map(|n| {
            let client = client.clone();
            async move { drop(client.get(&format!("/m/{n}.m3u8")).await) }
        })
        .collect();
    until(async || held.load(SeqCst) == HELD).await;
    assert_eq!(client.get("/m/1a.m4s").await, (200, "x".into()));
    // 100 on each, and as many handshakes.
    assert_eq!(upstream.connections.load(SeqCst), 5);
}

/// One handshake is made for all, and its failure is everyone's: else each would wait for those before it, and the
/// last until they are told 504.
#[tokio::test]
async fn a_handshake_without_an_answer_fails_all_who_wait_for_it() {
    metrics();
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", silent.local_addr().unwrap());
    let edge = Edge::of(Config { upstream: vec![url.parse().unwrap()], ..Config::default() }).await;
    let client = Client::of(&edge);
    for (status, _) in join_all((0..30).map(async |n| client.get(&format!("/m/{n}a.m4s")).await)).await {
        assert_eq!(status, 502);
    }
}

#[tokio::test]
async fn authorities_that_cannot_be_read_are_said_before_anything_is_served() {
    let config =
        Config { upstream_ca: Some("no-such-file.pem".into()), ..config(&["127.0.0.1:9".parse().unwrap()]) };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let error = edge::serve(config, listener, CancellationToken::new()).await.unwrap_err();
    assert!(error.to_string().contains("no-such-file.pem"), "{error}");
}

/// Reads one request without a body. `None` at the end of the connection.
async fn request(socket: &mut TcpStream) -> Option<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(socket.read_u8().await.ok()?);
    }
    Some(())
}

#[tokio::test]
async fn a_request_that_meets_a_closing_connection_is_sent_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let met = Arc::new(AtomicUsize::new(0));
    let meetings = met.clone();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let met = meetings.clone();
            // Promises to stay, and closes when it is asked a second time.
            tokio::spawn(async move {
                request(&mut socket).await?;
                let answer = b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 1\r\n\r\nx";
                socket.write_all(answer).await.ok()?;
                request(&mut socket).await?;
                met.fetch_add(1, SeqCst);
                Some(())
            });
        }
    });
    let edge = Edge::of(config(&[address])).await;
    let client = Client::of(&edge);
    let mut n = 0;
    until(async || {
        n += 1;
        assert_eq!(client.get(&format!("/m/{n}a.m4s")).await, (200, "x".into()));
        met.load(SeqCst) >= 5
    })
    .await;
    assert_eq!(of("edge_upstream_failures_total", address), 0.0);
}
