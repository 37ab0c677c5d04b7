//! One provider's WebSocket.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use bytes::Bytes;
use serde_json::json;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::Instant;

use super::config::Format;
use super::desk::{Ask, Reply, Tell};
use super::http::{Shared, hear};
use super::limits::{ANSWERS_MAX, IN_FLIGHT_MAX, PING_EVERY, SEND_MAX, SILENCE_MAX};

/// Serves a connection until either side ends it.
pub(super) async fn run(shared: Arc<Shared>, provider: String, mut socket: WebSocket) {
    let connection = shared.connections.fetch_add(1, Ordering::Relaxed);
    let (tell, mut told) = mpsc::channel(ANSWERS_MAX);
    let (after, known) = oneshot::channel();
    let joined = Ask::Joined { provider: provider.clone(), connection, tell, after };
    if shared.asks.send(joined).await.is_err() {
        return;
    }
    tracing::info!(provider, connection, "a feed is connected");
    if let Ok(after) = known.await {
        let hello = json!({ "hello": { "after": after } }).to_string();
        if send(&mut socket, Message::Text(hello.into())).await {
            let why = talk(&shared, &provider, connection, &mut socket, &mut told).await;
            tracing::info!(provider, connection, why, "a feed is disconnected");
        }
    }
    // The desk outlives its connections; if it does not, nobody counts any more.
    let _ = shared.asks.send(Ask::Left { provider, connection }).await;
}

/// Whether it could be sent: a peer that does not read must not hold us.
async fn send(socket: &mut WebSocket, message: Message) -> bool {
    matches!(tokio::time::timeout(SEND_MAX, socket.send(message)).await, Ok(Ok(())))
}

/// Both directions, until one ends; says why.
async fn talk(
    shared: &Shared,
    provider: &str,
    connection: u64,
    socket: &mut WebSocket,
    told: &mut mpsc::Receiver<Tell>,
) -> &'static str {
    // Counted in statements: a line that is read has a permit until it is decided.
    let room = Arc::new(Semaphore::new(IN_FLIGHT_MAX));
    let mut pings = tokio::time::interval(PING_EVERY);
    let mut heard_at = Instant::now();
    loop {
        tokio::select! {
            () = shared.shutdown.cancelled() => {
                let away = CloseFrame { code: close_code::AWAY, reason: "ingest is ending".into() };
                // It is told if it can be.
                send(socket, Message::Close(Some(away))).await;
                return "ending";
            }
            tell = told.recv() => {
                let Some(tell) = tell else { return "ending" };
                let text = match tell {
                    Tell::Ack(seq) => json!({ "ack": seq }),
                    Tell::Resend(ranges) => json!({ "resend": ranges }),
                    Tell::Rejected(rejected) => json!({ "rejected": rejected.seq, "why": rejected.why }),
                };
                if !send(socket, Message::Text(text.to_string().into())).await {
                    return "gone";
                }
            }
            _ = pings.tick() => {
                if heard_at.elapsed() > SILENCE_MAX {
                    return "silent";
                }
                if !send(socket, Message::Ping(Bytes::new())).await {
                    return "gone";
                }
            }
            // Not read while everything that it said is undecided.
            message = async {
                let permit = room.clone().acquire_owned().await;
                (permit, socket.recv().await)
            } => {
                let (Ok(first), Some(Ok(message))) = message else { return "gone" };
                heard_at = Instant::now();
                let bytes = match message {
                    Message::Text(text) => Bytes::from(text),
                    Message::Binary(bytes) => bytes,
                    Message::Close(_) => return "closed",
                    Message::Ping(_) | Message::Pong(_) => continue,
                };
                let mut permit = Some(first);
                for heard in hear(Format::Push, bytes) {
                    let permit = match permit.take() {
                        Some(first) => first,
                        None => match room.clone().acquire_owned().await {
                            Ok(permit) => permit,
                            Err(_) => return "ending",
                        },
                    };
                    let reply = Reply::Connection(connection, permit);
                    let said = Ask::Said { provider: provider.to_owned(), only: None, heard: vec![heard], reply };
                    if shared.asks.send(said).await.is_err() {
                        return "ending";
                    }
                }
            }
        }
    }
}
