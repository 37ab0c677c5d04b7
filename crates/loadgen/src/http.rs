//! The thin shell: a GET, whole, within a time.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty, Limited};
use hyper_util::client::legacy::Client as Pool;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

use crate::Error;
use crate::player::Answer;

/// No object of a match is bigger: 2 s of the dearest rung are a few megabytes.
const BODY_MAX: usize = 64 << 20;

/// A client with connections that are kept.
#[derive(Clone, Debug)]
pub struct Client(Pool<HttpConnector, Empty<Bytes>>);

impl Default for Client {
    fn default() -> Self {
        let mut connector = HttpConnector::new();
        // Requests are smaller than a packet, and each is waited for.
        connector.set_nodelay(true);
        Client(Pool::builder(TokioExecutor::new()).build(connector))
    }
}

impl Client {
    /// Asks, and takes the whole answer.
    pub async fn get(&self, url: &str, within: Duration) -> Answer {
        match tokio::time::timeout(within, self.whole(url)).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(what)) => Answer::Failed(what),
            Err(_) => Answer::Failed(format!("no answer within {} s", within.as_secs_f32())),
        }
    }

    async fn whole(&self, url: &str) -> Result<Answer, String> {
        let url = url.parse().map_err(|_| "not a URL".to_owned())?;
        let answer = self.0.get(url).await.map_err(|e| causes(&e))?;
        let status = answer.status();
        // The body of an error is read too, or its connection could not be used again.
        let body =
            Limited::new(answer.into_body(), BODY_MAX).collect().await.map_err(|e| causes(e.as_ref()))?;
        if status.as_u16() == 200 {
            Ok(Answer::Body(body.to_bytes()))
        } else {
            Ok(Answer::Status(status.as_u16()))
        }
    }
}

/// Refuses what [`Client::get`] could never ask for.
///
/// # Errors
/// [`Error::Url`].
pub fn check(url: &str) -> Result<(), Error> {
    let fits = url.parse::<http::Uri>().is_ok_and(|u| u.scheme_str() == Some("http") && u.host().is_some());
    if fits { Ok(()) } else { Err(Error::Url(url.to_owned())) }
}

fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(because) = cause {
        said = format!("{said}: {because}");
        cause = because.source();
    }
    said
}
