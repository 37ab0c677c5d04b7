//! Format "push" over a WebSocket.

use std::time::Instant;

use futures_util::{SinkExt, StreamExt};
use http::{HeaderValue, header};
use serde::Deserialize;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_util::sync::CancellationToken;

use super::{Config, Ended, Player, STEP, now_ms};
use crate::feeds::{Range, push};

/// What ingest says.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Told {
    hello: Option<Hello>,
    ack: Option<u64>,
    resend: Vec<Range>,
    rejected: Option<u64>,
    why: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Hello {
    after: u64,
}

pub(super) async fn play(config: &Config, player: &mut Player, shutdown: &CancellationToken) -> Ended {
    let began = Instant::now();
    let lost = || Ended::Lost { after: began.elapsed() };
    match connection(config, player, shutdown).await {
        Ok(()) if player.is_done() || shutdown.is_cancelled() => Ended::Done,
        Ok(()) => lost(),
        Err(error) => {
            tracing::warn!(%error, provider = config.provider, "no connection to ingest");
            lost()
        }
    }
}

async fn connection(
    config: &Config,
    player: &mut Player,
    shutdown: &CancellationToken,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    if config.is_out(now_ms()) {
        return Ok(());
    }
    let host = config.host().unwrap_or_default();
    let mut request = format!("ws://{host}/v1/feeds/{}", config.provider).into_client_request()?;
    if let Ok(key) = HeaderValue::from_str(&format!("Bearer {}", config.key)) {
        request.headers_mut().insert(header::AUTHORIZATION, key);
    }
    let connecting = tokio_tungstenite::connect_async(request);
    let (mut socket, _) = tokio::select! {
        () = shutdown.cancelled() => return Ok(()),
        connected = connecting => connected?,
    };
    let mut step = tokio::time::interval(STEP);
    let mut greeted = false;
    while !player.is_done() {
        tokio::select! {
            () = shutdown.cancelled() => break,
            message = socket.next() => {
                let Some(message) = message else { break };
                let text = match message? {
                    Message::Text(text) => text,
                    Message::Close(_) => break,
                    _ => continue,
                };
                // What it may say one day that we do not know is no reason to stop.
                let told: Told = serde_json::from_str(&text).unwrap_or_default();
                let now_ms = now_ms();
                if let Some(Hello { after }) = told.hello {
                    // What was to be said until now is said now.
                    player.due(now_ms);
                    player.connected(now_ms, after);
                    greeted = true;
                }
                if let Some(seq) = told.ack {
                    player.acked(now_ms, seq);
                }
                if let Some(seq) = told.rejected {
                    tracing::warn!(provider = config.provider, seq, why = told.why, "ingest did not take a statement");
                }
                player.asked(now_ms, &told.resend);
            }
            _ = step.tick(), if greeted => {
                let now_ms = now_ms();
                if config.is_out(now_ms) {
                    // Abruptly, as outages are.
                    return Ok(());
                }
                for statement in player.due(now_ms) {
                    socket.feed(Message::text(push::write(&statement))).await?;
                }
                socket.flush().await?;
            }
        }
    }
    // It is told if it can be.
    let _ = socket.close(None).await;
    Ok(())
}
