//! The snapshot role: what has been so far, for whoever comes late, or was away for too long.
//!
//! It takes matches from the relay as a socket edge does, keeps a book of each, and answers from memory:
//! `/v1/matches/{match}/snapshot`, `card`, `moments`, `watching`. It stands behind an edge cache, which checks who asks and
//! from where, and shares an answer for as long as `CDN-Cache-Control` says.
//!
//! * `follow`: a match, from the relay into memory; `kept`: what is in memory. `role`: all matches.
//! * `answers`: what is said, rendered once and shared. `http`: from a request to an answer, in one function.
//!
//! Invariants:
//!
//! * Nothing is answered before all that the shard has was taken once. After that there is always an answer;
//!   `X-Snapshot-Stale` says that the relay is lost and that there may be something newer.
//! * A match that begins anew (another epoch) is shown when all of it is there, never half.

mod answers;
mod bucket;
mod config;
mod follow;
mod http;
mod kept;
mod limits;
mod problem;
mod role;

use std::sync::Arc;

use axum::Router;
use axum::serve::ListenerExt;
use relay::Subscriber;
use store::Registers;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub use config::Config;
pub use role::Role;

use crate::Error;

/// How many watch a match, by those who count them.
pub type Watching = Arc<dyn Fn(&str) -> u64 + Send + Sync>;

/// Serves snapshots on a bound listener until `shutdown`; then requests may end for a moment.
///
/// # Errors
/// At the start: settings that cannot be, or a catalog that cannot be read. Later: a listener that fails.
pub async fn serve(
    config: Config,
    listener: TcpListener,
    subscriber: Subscriber,
    registers: Arc<dyn Registers>,
    watching: Watching,
    shutdown: CancellationToken,
) -> Result<(), Error> {
    let role = Role::start(config, subscriber, registers, watching, shutdown.clone()).await?;
    // An answer must not wait for the acknowledgement of the one before it.
    let listener = listener.tap_io(|socket| {
        if let Err(error) = socket.set_nodelay(true) {
            tracing::debug!(%error, "cannot tune a socket");
        }
    });
    let ending = shutdown.clone();
    let serving = axum::serve(listener, router(role)).with_graceful_shutdown(ending.cancelled_owned());
    let serving = std::pin::pin!(serving.into_future());
    let drained = async {
        shutdown.cancelled().await;
        tokio::time::sleep(limits::DRAIN_MAX).await;
    };
    tokio::select! {
        served = serving => served.map_err(Error::Serve),
        () = drained => Ok(()),
    }
}

/// The resources, to be mounted where one likes.
pub fn router(role: Arc<Role>) -> Router {
    http::router(role)
}
