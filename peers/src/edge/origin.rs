//! An origin that does what a script says, and counts who asks. It has a thread of its own, so that what it takes is
//! what the script says.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use axum::serve::ListenerExt;
use bytes::Bytes;
use futures_util::stream;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use http::{HeaderValue, StatusCode};
use tokio_util::sync::{CancellationToken, DropGuard};

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 4_096;

/// How a path is answered. What has no script is 404.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    /// Before the head.
    pub(crate) delay: Duration,
    pub(crate) cache_control: &'static str,
    pub(crate) content: Content,
}

/// A body.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// At once, with its length.
    Whole(Bytes),
    /// Piece by piece, the first at once, chunked.
    Drip {
        /// How many.
        pieces: u32,
        /// One of them.
        piece: Bytes,
        /// Between two.
        every: Duration,
    },
}

/// Answers until it is dropped.
pub(crate) struct Origin {
    /// Its port on 127.0.0.1.
    pub(crate) port: u16,
    shared: Arc<Shared>,
    _end: DropGuard,
}

#[derive(Default)]
struct Shared {
    paths: Mutex<HashMap<String, Path>>,
    made: AtomicU64,
}

#[derive(Clone, Default)]
struct Path {
    script: Option<Script>,
    fetches: u64,
    /// The longest time to a head.
    took: Duration,
}

impl Origin {
    /// Starts one that knows nothing.
    pub(crate) fn start() -> anyhow::Result<Origin> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        // A cache that does not collapse connects for each of a crowd at once; the default backlog is 128.
        rustix::net::listen(&listener, BACKLOG)?;
        let port = listener.local_addr()?.port();
        let shared = Arc::<Shared>::default();
        let end = CancellationToken::new();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let app = Router::new().fallback(answer).with_state(shared.clone());
        let ended = end.clone();
        let serve = move || {
            runtime.block_on(async move {
                let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
                let listener = listener.tap_io(|socket| drop(socket.set_nodelay(true)));
                tokio::select! {
                    _ = axum::serve(listener, app) => {}
                    () = ended.cancelled() => {}
                }
            });
            runtime.shutdown_background();
        };
        std::thread::Builder::new().name("origin".into()).spawn(serve).context("a thread for the origin")?;
        Ok(Origin { port, shared, _end: end.drop_guard() })
    }

    /// From now on that path is answered so.
    pub(crate) fn put(&self, path: &str, script: Script) {
        self.shared.paths().entry(path.to_owned()).or_default().script = Some(script);
    }

    /// A path that nobody has asked for.
    pub(crate) fn new_path(&self, extension: &str) -> String {
        format!("/live/{}.{extension}", self.shared.made.fetch_add(1, Ordering::Relaxed))
    }

    /// A new path that is answered so.
    pub(crate) fn put_new(&self, extension: &str, script: Script) -> String {
        let path = self.new_path(extension);
        self.put(&path, script);
        path
    }

    /// How often it was asked for.
    pub(crate) fn fetches(&self, path: &str) -> u64 {
        self.shared.paths().get(path).map_or(0, |p| p.fetches)
    }

    /// The longest time that the origin itself took to a head of that path, in ms.
    pub(crate) fn took_ms(&self, path: &str) -> f64 {
        self.shared.paths().get(path).map_or(0.0, |p| p.took.as_secs_f64() * 1e3)
    }
}

impl Shared {
    fn paths(&self) -> MutexGuard<'_, HashMap<String, Path>> {
        self.paths.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Script {
    /// A body of that many bytes, at once.
    pub(crate) fn whole(cache_control: &'static str, delay: Duration, length: usize) -> Script {
        Script { delay, cache_control, content: Content::Whole(body(length)) }
    }
}

/// Bytes that do not compress to nothing, and are the same each time.
pub(crate) fn body(length: usize) -> Bytes {
    let mut rng = fastrand::Rng::with_seed(length as u64);
    (0..length).map(|_| rng.u8(..)).collect()
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let began = Instant::now();
    let path = request.uri().path_and_query().map_or("/", |p| p.as_str()).to_owned();
    let script = {
        let mut paths = shared.paths();
        let entry = paths.entry(path.clone()).or_default();
        entry.fetches += 1;
        entry.script.clone()
    };
    let Some(script) = script else { return StatusCode::NOT_FOUND.into_response() };
    if !script.delay.is_zero() {
        // The runtime's timer is as coarse as what is measured; the kernel's is not.
        let sleep = move || std::thread::sleep(script.delay.saturating_sub(began.elapsed()));
        let _ = tokio::task::spawn_blocking(sleep).await;
    }
    let etag = HeaderValue::from_static("\"1\"");
    let known = request.headers().get(IF_NONE_MATCH) == Some(&etag);
    let mut response = match script.content {
        _ if known => StatusCode::NOT_MODIFIED.into_response(),
        Content::Whole(bytes) => Response::new(Body::from(bytes)),
        Content::Drip { pieces, piece, every } => {
            let pieces = stream::unfold(0, move |n| {
                let piece = piece.clone();
                async move {
                    if n == pieces {
                        return None;
                    }
                    tokio::time::sleep_until((began + every * n).into()).await;
                    Some((Ok::<_, Infallible>(piece), n + 1))
                }
            });
            Response::new(Body::from_stream(pieces))
        }
    };
    let kind = if path.ends_with(".m3u8") { "application/vnd.apple.mpegurl" } else { "video/mp4" };
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(script.cache_control));
    headers.insert(ETAG, etag);
    if let Some(entry) = shared.paths().get_mut(&path) {
        entry.took = entry.took.max(began.elapsed());
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge::client::Conn;

    #[tokio::test]
    async fn does_what_the_script_says() {
        let origin = Origin::start().unwrap();
        let mut conn = Conn::open((Ipv4Addr::LOCALHOST, origin.port).into()).await.unwrap();
        let path = origin.new_path("m4s");
        assert_eq!(conn.get(&path).await.unwrap().status, 404);
        origin.put(&path, Script::whole("max-age=1", Duration::from_millis(5), 1000));
        let answer = conn.get(&path).await.unwrap();
        assert_eq!((answer.status, answer.bytes, origin.fetches(&path)), (200, 1000, 2));
        assert!(answer.last_ms >= 5.0 && origin.took_ms(&path) >= 5.0);

        let every = Duration::from_millis(5);
        let content = Content::Drip { pieces: 4, piece: body(100), every };
        let drip =
            origin.put_new("m4s", Script { delay: Duration::ZERO, cache_control: "max-age=9", content });
        assert_ne!(drip, path);
        let answer = conn.get(&drip).await.unwrap();
        assert_eq!((answer.bytes, origin.fetches(&drip)), (400, 1));
        assert!(answer.last_ms >= 15.0);
    }
}
