//! Edges in this process, in simulated time: a scripted upstream without sockets, and requests without a server.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use edge::sim::Tier;
use edge::{Answer, Ask, Body, Config, Edge, Failure, Fetch, HOLD_MAX, Rules};
use futures_util::future::BoxFuture;
use futures_util::stream;
use http::{HeaderMap, Method, Request, Response, Version};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

/// What is made of a request and its number.
pub type Script = dyn Fn(Ask, usize) -> BoxFuture<'static, Result<Answer, Failure>> + Send + Sync;

/// An upstream in this process: it does what a function makes of each request and its number, and remembers.
#[derive(Clone)]
pub struct Upstream {
    pub script: Arc<Script>,
    pub asked: Arc<Mutex<Vec<(String, HeaderMap)>>>,
}

impl Upstream {
    pub fn of<F, A>(script: F) -> Upstream
    where
        F: Fn(Ask, usize) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Answer, Failure>> + Send + 'static,
    {
        Upstream { script: Arc::new(move |ask, n| Box::pin(script(ask, n))), asked: Arc::default() }
    }

    pub fn edge(&self, rules: Rules) -> Arc<Edge> {
        Edge::new(&Config { rules, ..Config::default() }, Arc::new(self.clone()))
    }

    pub fn times(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

impl Fetch for Upstream {
    fn fetch(&self, ask: Ask) -> BoxFuture<'static, Result<Answer, Failure>> {
        let n = {
            let mut asked = self.asked.lock().unwrap();
            asked.push((ask.target.clone(), ask.headers.clone()));
            asked.len() - 1
        };
        let answer = (self.script)(ask, n);
        // As every upstream must.
        Box::pin(async { timeout(HOLD_MAX, answer).await.unwrap_or(Err(Failure::Late)) })
    }
}

/// An edge in front of another.
pub fn before(edge: &Arc<Edge>) -> Arc<Edge> {
    Edge::new(&Config::default(), Arc::new(Tier::new(edge.clone())))
}

/// A 200 with those fields.
pub fn ok(fields: &[(&'static str, &str)], body: impl Into<Bytes>) -> Answer {
    let body = Full::new(body.into()).map_err(|never| match never {}).boxed_unsync();
    with(fields, Response::new(body))
}

pub fn with(fields: &[(&'static str, &str)], mut answer: Answer) -> Answer {
    for (name, value) in fields {
        answer.headers_mut().append(*name, value.parse().unwrap());
    }
    answer
}

pub fn kept(body: impl Into<Bytes>) -> Answer {
    ok(&[("cache-control", "max-age=60")], body)
}

pub fn status(status: u16, fields: &[(&'static str, &str)]) -> Answer {
    let mut answer = ok(fields, "x");
    *answer.status_mut() = status.try_into().unwrap();
    answer
}

/// A 200 whose pieces come after so many milliseconds each, and which then ends as that says.
pub fn slowly(
    fields: &[(&'static str, &str)],
    pieces: &[(u64, &'static str)],
    end: Result<(), Failure>,
) -> Answer {
    let pieces: Vec<_> = pieces
        .iter()
        .map(|(ms, piece)| (*ms, Ok(*piece)))
        .chain(end.err().map(|why| (0, Err(why))))
        .collect();
    let stream = stream::unfold(pieces.into_iter(), |mut pieces| async {
        let (ms, piece) = pieces.next()?;
        sleep(Duration::from_millis(ms)).await;
        Some((piece.map(|piece| Frame::data(Bytes::from_static(piece.as_bytes()))), pieces))
    });
    let mut answer = with(fields, Response::new(StreamBody::new(stream).boxed_unsync()));
    *answer.version_mut() = Version::HTTP_2;
    answer
}

/// What a client saw.
#[derive(Debug)]
pub struct Got {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Result<Bytes, Failure>,
    /// When the head came.
    pub at: Instant,
    /// When the body ended.
    pub end: Instant,
}

impl Got {
    pub fn text(&self) -> &str {
        std::str::from_utf8(self.body.as_ref().unwrap()).unwrap()
    }
}

pub async fn head(
    edge: &Arc<Edge>,
    method: Method,
    target: &str,
    fields: &[(&'static str, &str)],
) -> Response<Body> {
    let mut request = Request::builder().method(method).uri(target);
    for (name, value) in fields {
        request = request.header(*name, *value);
    }
    edge.clone().answer(request.body(None).unwrap()).await
}

pub async fn get_with(edge: &Arc<Edge>, target: &str, fields: &[(&'static str, &str)]) -> Got {
    let (parts, body) = head(edge, Method::GET, target, fields).await.into_parts();
    let at = Instant::now();
    let body = body.collect().await.map(|body| body.to_bytes());
    Got { status: parts.status.as_u16(), headers: parts.headers, body, at, end: Instant::now() }
}

pub async fn get(edge: &Arc<Edge>, target: &str) -> Got {
    get_with(edge, target, &[]).await
}

/// The same, beside the test.
pub fn begin(edge: &Arc<Edge>, target: &str, fields: &[(&'static str, &'static str)]) -> JoinHandle<Got> {
    let (edge, target, fields) = (edge.clone(), target.to_owned(), fields.to_vec());
    tokio::spawn(async move { get_with(&edge, &target, &fields).await })
}

pub fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A body whose length is known beforehand.
pub struct Sized<B>(pub B, pub u64);

impl<B: http_body::Body<Data = Bytes, Error = Failure> + Unpin> http_body::Body for Sized<B> {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<Frame<Bytes>, Failure>>> {
        std::pin::Pin::new(&mut self.0).poll_frame(cx)
    }

    fn size_hint(&self) -> http_body::SizeHint {
        http_body::SizeHint::with_exact(self.1)
    }
}
