//! A scripted upstream that counts what it is asked, edges in front of it, and a client.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use bytes::Bytes;
use edge::Config;
use http::HeaderMap;
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client as Pool;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Nothing here takes longer unless it hangs.
pub const HANG: Duration = Duration::from_secs(20);

type Answer = Pin<Box<dyn Future<Output = Response> + Send>>;

/// An HTTP server whose every answer is scripted.
pub struct Upstream {
    pub address: SocketAddr,
    asked: watch::Receiver<Vec<String>>,
    pub headers: Arc<Mutex<Vec<HeaderMap>>>,
}

impl Upstream {
    /// Answers with what `script` makes of a request and its number, from 0.
    pub async fn start<F, A>(script: F) -> Upstream
    where
        F: Fn(Request, usize) -> A + Send + Sync + 'static,
        A: Future<Output = Response> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (log, asked) = watch::channel(Vec::new());
        let headers: Arc<Mutex<Vec<HeaderMap>>> = Arc::default();
        let seen = headers.clone();
        let script = Arc::new(script);
        let app = axum::Router::new().fallback(move |request: Request| -> Answer {
            let mut n = 0;
            seen.lock().unwrap().push(request.headers().clone());
            log.send_modify(|log| {
                n = log.len();
                log.push(request.uri().to_string());
            });
            Box::pin(script(request, n))
        });
        tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Upstream { address, asked, headers }
    }

    /// The targets that it was asked for so far.
    pub fn asked(&self) -> Vec<String> {
        self.asked.borrow().clone()
    }

    /// Waits until it was asked that many times.
    pub async fn asked_times(&self, n: usize) {
        let mut asked = self.asked.clone();
        timeout(HANG, asked.wait_for(|log| log.len() >= n)).await.expect("upstream is not asked").unwrap();
    }
}

/// A 200 with that `Cache-Control`.
pub fn ok(cache_control: &str, body: impl Into<Body>) -> Response {
    Response::builder().header("cache-control", cache_control).body(body.into()).unwrap()
}

/// A body that arrives when the test says so; dropping the sender ends it, an `Err` cuts it.
pub fn drip() -> (mpsc::UnboundedSender<Result<&'static str, std::io::Error>>, Body) {
    let (tx, rx) = mpsc::unbounded_channel();
    let stream =
        futures_util::stream::unfold(rx, |mut rx| async move { rx.recv().await.map(|item| (item, rx)) });
    (tx, Body::from_stream(stream))
}

/// What cuts a [`drip`].
pub fn cut() -> Result<&'static str, std::io::Error> {
    Err(std::io::Error::other("cut"))
}

/// An edge that ends with the test.
pub struct Edge {
    pub address: SocketAddr,
    _stop: DropGuard,
}

impl Edge {
    /// In front of that address.
    pub async fn start(upstream: SocketAddr) -> Edge {
        Edge::with(Config::default(), upstream).await
    }

    /// In front of that address, otherwise as configured.
    pub async fn with(config: Config, upstream: SocketAddr) -> Edge {
        let mut config = config;
        config.upstream.push(format!("http://{upstream}").parse().unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        tokio::spawn(edge::serve(config, listener, stop.clone()));
        Edge { address, _stop: stop.drop_guard() }
    }
}

impl Edge {
    /// As configured, upstreams included.
    pub async fn of(config: Config) -> Edge {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        tokio::spawn(edge::serve(config, listener, stop.clone()));
        Edge { address, _stop: stop.drop_guard() }
    }
}

/// A client with a pool of connections.
#[derive(Clone)]
pub struct Client(Pool<HttpConnector, Empty<Bytes>>, SocketAddr);

impl Client {
    pub fn of(edge: &Edge) -> Client {
        Client::at(edge.address)
    }

    pub fn at(address: SocketAddr) -> Client {
        Client(Pool::builder(TokioExecutor::new()).build_http(), address)
    }

    /// A request with those headers, up to the answer's headers.
    pub async fn send(
        &self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
    ) -> http::Response<Incoming> {
        let uri = format!("http://{}{target}", self.1);
        let mut request = http::Request::builder().method(method).uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Empty::new()).unwrap();
        timeout(HANG, self.0.request(request)).await.expect("no answer").unwrap()
    }

    /// A GET with those headers, up to the answer's headers, if there is one.
    pub async fn try_send(
        &self,
        target: &str,
        headers: &[(&str, &str)],
    ) -> Result<http::Response<Incoming>, hyper_util::client::legacy::Error> {
        let mut request = http::Request::get(format!("http://{}{target}", self.1));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.0.request(request.body(Empty::new()).unwrap()).await
    }

    pub async fn head_of(&self, target: &str) -> http::Response<Incoming> {
        self.send("GET", target, &[]).await
    }

    /// Status and whole body.
    pub async fn get(&self, target: &str) -> (u16, Bytes) {
        self.get_with(target, &[]).await
    }

    pub async fn get_with(&self, target: &str, headers: &[(&str, &str)]) -> (u16, Bytes) {
        let response = self.send("GET", target, headers).await;
        let status = response.status().as_u16();
        (status, read(response).await.expect("whole body"))
    }
}

/// The rest of a body, or that it was cut.
pub async fn read(response: http::Response<Incoming>) -> Result<Bytes, hyper::Error> {
    timeout(HANG, response.into_body().collect()).await.expect("body hangs").map(|b| b.to_bytes())
}

/// The next bytes of a body.
pub async fn next(response: &mut http::Response<Incoming>) -> Option<Result<Bytes, hyper::Error>> {
    let frame = timeout(HANG, response.body_mut().frame()).await.expect("body hangs");
    frame.map(|f| f.map(|f| f.into_data().unwrap_or_default()))
}

pub fn header<'a>(response: &'a http::Response<Incoming>, name: &str) -> &'a str {
    response.headers().get(name).map_or("", |v| v.to_str().unwrap())
}

/// Asks until it is so.
pub async fn until(mut so: impl AsyncFnMut() -> bool) {
    let asked = async {
        while !so().await {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    timeout(HANG, asked).await.expect("it never becomes so");
}
