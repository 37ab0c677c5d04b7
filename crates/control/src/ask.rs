//! The one way in which roles are asked: bounded in number, time and size.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::sync::Semaphore;

use crate::limits::{ASKED_MAX, CONNECT_MAX};

/// Why there is no answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// Too many wait already.
    Busy,
    /// Nobody is there.
    Away,
    /// Not within the time.
    Late,
    /// Cut off, or too large.
    Broken,
}

pub(crate) struct Client {
    http: legacy::Client<HttpConnector, Full<Bytes>>,
    places: Arc<Semaphore>,
}

impl Client {
    pub(crate) fn new() -> Client {
        let mut connector = HttpConnector::new();
        connector.set_connect_timeout(Some(CONNECT_MAX));
        connector.set_nodelay(true);
        // No connection is kept: one to a role that was started again would fail the next request.
        let http = legacy::Client::builder(TokioExecutor::new()).pool_max_idle_per_host(0).build(connector);
        Client { http, places: Arc::new(Semaphore::new(ASKED_MAX)) }
    }

    /// The whole answer, of at most so many bytes and within so long.
    pub(crate) async fn ask(
        &self,
        request: Request<Full<Bytes>>,
        bytes_max: usize,
        limit: Duration,
    ) -> Result<Response<Bytes>, Unanswered> {
        let _place = self.places.try_acquire().map_err(|_| Unanswered::Busy)?;
        let whole = async {
            let answer =
                self.http.request(request).await.map_err(|error| {
                    if error.is_connect() { Unanswered::Away } else { Unanswered::Broken }
                })?;
            let (parts, body) = answer.into_parts();
            let body = Limited::new(body, bytes_max).collect().await.map_err(|_| Unanswered::Broken)?;
            Ok(Response::from_parts(parts, body.to_bytes()))
        };
        tokio::time::timeout(limit, whole).await.unwrap_or(Err(Unanswered::Late))
    }
}
