//! The requests that benches make themselves.

use std::time::Duration;

use anyhow::{Context, bail};
use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client as Pool;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use loadgen::http::Client;
use loadgen::player::Answer;
use timeline::object::{META_HEADER, Meta};

/// Longer than any request may be held (6 s at the origin, 8 s at an edge).
const ANSWER_MAX: Duration = Duration::from_secs(10);

/// Between two looks at something that is waited for: short beside what is waited for, and cheap.
const LOOK: Duration = Duration::from_millis(50);

/// The body of a 200.
pub(crate) async fn get(client: &Client, url: &str) -> anyhow::Result<Bytes> {
    match client.get(url, ANSWER_MAX).await {
        Answer::Body(body) => Ok(body),
        Answer::Status(status) => bail!("{url}: status {status}"),
        Answer::Failed(why) => bail!("{url}: {why}"),
    }
}

/// A JSON document.
pub(crate) async fn json<T: serde::de::DeserializeOwned>(client: &Client, url: &str) -> anyhow::Result<T> {
    serde_json::from_slice(&get(client, url).await?).with_context(|| format!("{url} is no such JSON"))
}

/// A sample in Prometheus' text format; 0 when it is not there, as a counter is before its first event.
pub(crate) fn sample(metrics: &str, key: &str) -> f64 {
    let value = metrics.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
    value.and_then(|v| v.trim().parse().ok()).unwrap_or(0.0)
}

/// Publishes to an origin.
pub(crate) struct Publisher {
    pool: Pool<HttpConnector, Full<Bytes>>,
    base: String,
}

impl Publisher {
    /// Below `base`, the URL of a programme.
    pub(crate) fn new(base: String) -> Publisher {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        Publisher { pool: Pool::builder(TokioExecutor::new()).build(connector), base }
    }

    /// Puts an object that must be taken.
    pub(crate) async fn put(&self, name: &str, meta: Option<&Meta>, body: Bytes) -> anyhow::Result<()> {
        let mut request = Request::builder().method(Method::PUT).uri(format!("{}/{name}", self.base));
        if let Some(meta) = meta {
            request = request.header(META_HEADER, serde_json::to_string(meta)?);
        }
        let answer =
            self.pool.request(request.body(Full::new(body))?).await.with_context(|| format!("PUT {name}"))?;
        let status = answer.status();
        let said = answer.into_body().collect().await?.to_bytes();
        anyhow::ensure!(status.is_success(), "PUT {name}: {status} {}", String::from_utf8_lossy(&said));
        Ok(())
    }
}

/// Looks until there is something, for at most `within`.
pub(crate) async fn until<T>(
    what: &str,
    within: Duration,
    mut look: impl AsyncFnMut() -> anyhow::Result<Option<T>>,
) -> anyhow::Result<T> {
    let looking = async {
        loop {
            if let Some(found) = look().await? {
                return Ok(found);
            }
            tokio::time::sleep(LOOK).await;
        }
    };
    match tokio::time::timeout(within, looking).await {
        Ok(found) => found,
        Err(_) => bail!("not within {} s: {what}", within.as_secs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_found_by_their_whole_key() {
        let text = "# TYPE x counter\nx_total_more 9\nx_total 12\ny_bucket{le=\"0.02\"} 7\n";
        assert_eq!(sample(text, "x_total"), 12.0);
        assert_eq!(sample(text, "y_bucket{le=\"0.02\"}"), 7.0);
        assert_eq!(sample(text, "z_total"), 0.0);
    }
}
