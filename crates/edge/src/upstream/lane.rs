//! Connections to one upstream that are kept: HTTP/1.1 ones with one request each, or one of HTTP/2 with many.

use std::error::Error as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

use http::{Request, Response};
use hyper::body::Incoming;
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::capture_connection;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};
use tracing::debug;

use super::dial::Dial;
use crate::failure::Failure;
use crate::fetch::Arriving;
use crate::limits::{UPSTREAM_BUFFER_BYTES_MAX, UPSTREAM_IDLE_COUNT, UPSTREAM_IDLE_MAX, UPSTREAM_PING_EVERY};

type Client = legacy::Client<Dial, Arriving>;

/// Room for so many requests, on whatever connections that takes.
pub(super) struct Lane {
    pool: Client,
    /// Makes a connection for each request.
    fresh: Client,
    places: Arc<Semaphore>,
    /// Whether each request needs a connection for itself.
    single: AtomicBool,
    /// Held by whoever gets a connection that the others may share: when there is none, one makes it and the others
    /// wait, or as many handshakes as requests would begin at once.
    door: Mutex<()>,
    /// How often whoever held the door got none.
    vain: AtomicUsize,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// No connection could be made.
    Unconnected,
    /// The connection ended before the answer began.
    Closed,
    /// What came is not HTTP.
    Unreadable,
    /// The request's own body broke off.
    Unsent,
}

impl Lane {
    /// For so many requests; over TLS they may turn out to share a connection.
    pub(super) fn new(dial: Dial, places: usize, tls: bool) -> Lane {
        let mut clients = legacy::Client::builder(TokioExecutor::new());
        clients
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(UPSTREAM_IDLE_MAX)
            .http1_max_buf_size(UPSTREAM_BUFFER_BYTES_MAX)
            .http2_keep_alive_interval(UPSTREAM_PING_EVERY)
            .http2_keep_alive_timeout(UPSTREAM_PING_EVERY);
        Lane {
            pool: clients.pool_max_idle_per_host(UPSTREAM_IDLE_COUNT).build(dial.clone()),
            fresh: clients.pool_max_idle_per_host(0).build(dial),
            places: Arc::new(Semaphore::new(places)),
            single: AtomicBool::new(!tls),
            door: Mutex::new(()),
            vain: AtomicUsize::new(0),
        }
    }

    /// A place for a request, to be kept as long as its answer.
    pub(super) fn place(&self) -> Option<OwnedSemaphorePermit> {
        self.places.clone().try_acquire_owned().ok()
    }

    /// Sends a request, up to the head of its answer.
    pub(super) async fn send(&self, mut request: Request<Arriving>) -> Result<Response<Incoming>, Broken> {
        if self.single.load(SeqCst) {
            return Ok(self.pool.request(request).await?);
        }
        let vain = self.vain.load(SeqCst);
        let door = self.door.lock().await;
        if self.vain.load(SeqCst) != vain {
            return Err(Broken::Unconnected);
        }
        let mut connection = capture_connection(&mut request);
        let answer = self.pool.request(request);
        tokio::pin!(answer);
        tokio::select! {
            biased;
            answer = &mut answer => {
                let answer = answer.map_err(Broken::from);
                self.vain.fetch_add(usize::from(answer.as_ref().is_err_and(|why| *why == Broken::Unconnected)), SeqCst);
                return answer;
            }
            made = connection.wait_for_connection_metadata() => {
                let shared = made.as_ref().is_none_or(|made| made.is_negotiated_h2());
                self.single.store(!shared, SeqCst);
            }
        }
        drop(door);
        Ok(answer.await?)
    }

    /// The same after a connection broke, on another that cannot have been closed meanwhile.
    pub(super) async fn send_again(&self, request: Request<Arriving>) -> Result<Response<Incoming>, Broken> {
        match self.single.load(SeqCst) {
            true => Ok(self.fresh.request(request).await?),
            // A shared connection that broke is known to be broken.
            false => self.send(request).await,
        }
    }
}

impl From<legacy::Error> for Broken {
    fn from(error: legacy::Error) -> Broken {
        debug!(?error, "upstream gives no answer");
        match error.source().and_then(|cause| cause.downcast_ref::<hyper::Error>()) {
            _ if error.is_connect() => Broken::Unconnected,
            Some(cause) if cause.is_parse() => Broken::Unreadable,
            Some(cause) if cause.is_user() => Broken::Unsent,
            _ => Broken::Closed,
        }
    }
}

impl From<Broken> for Failure {
    fn from(why: Broken) -> Failure {
        match why {
            Broken::Unconnected => Failure::Unreachable,
            Broken::Closed | Broken::Unsent => Failure::Cut,
            Broken::Unreadable => Failure::Unfit("cannot be read"),
        }
    }
}
