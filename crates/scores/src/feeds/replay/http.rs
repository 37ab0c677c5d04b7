//! Format "wire" over HTTP.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Method, Request, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio_util::sync::CancellationToken;

use super::{Config, Ended, Player, STEP, now_ms};
use crate::Sport;
use crate::feeds::{Answer, Statement, wire};

/// The longest that an answer is waited for; then it is said again.
const ANSWER_MAX: Duration = Duration::from_secs(5);
/// Bytes of an answer: a thousand rejections.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;

pub(super) async fn play(config: &Config, player: &mut Player, shutdown: &CancellationToken) -> Ended {
    let began = Instant::now();
    let client: Client<HttpConnector, Full<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
    let mut step = tokio::time::interval(STEP);
    player.due(now_ms());
    let (_, acked) = player.progress();
    player.connected(now_ms(), acked);
    while !player.is_done() {
        tokio::select! {
            () = shutdown.cancelled() => return Ended::Done,
            _ = step.tick() => {}
        }
        let now = now_ms();
        if config.is_out(now) {
            return Ended::Lost { after: began.elapsed() };
        }
        let due = player.due(now);
        for some in due.chunks(wire::ITEMS_MAX) {
            let asked = tokio::time::timeout(ANSWER_MAX, post(config, &client, player.sport(), some)).await;
            match asked {
                Ok(Ok(answer)) => {
                    for rejected in &answer.rejected {
                        tracing::warn!(
                            provider = config.provider,
                            ?rejected,
                            "ingest did not take a statement"
                        );
                    }
                    player.acked(now_ms(), answer.acked);
                    player.asked(now_ms(), &answer.missing);
                }
                Ok(Err(error)) => {
                    tracing::warn!(%error, provider = config.provider, "ingest cannot be reached");
                    return Ended::Lost { after: began.elapsed() };
                }
                Err(_) => return Ended::Lost { after: began.elapsed() },
            }
        }
    }
    Ended::Done
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

async fn post(
    config: &Config,
    client: &Client<HttpConnector, Full<Bytes>>,
    sport: Sport,
    said: &[Statement],
) -> Result<Answer, Failure> {
    let request = Request::builder()
        .method(Method::POST)
        .uri(format!("http://{}/v1/feeds/{}", config.host()?, config.provider))
        .header(header::AUTHORIZATION, format!("Bearer {}", config.key))
        .header(header::CONTENT_TYPE, wire::MEDIA_TYPE)
        .body(Full::from(wire::write(sport, said)))?;
    let answer = client.request(request).await?;
    let status = answer.status();
    let body = Limited::new(answer.into_body(), ANSWER_BYTES_MAX).collect().await?.to_bytes();
    if !status.is_success() {
        return Err(format!("ingest answers {status}").into());
    }
    Ok(serde_json::from_slice(&body)?)
}
