//! The operators' console: a page, and the few things that it may ask of the roles behind it.
//!
//! Knows no match, no feed and no store: it serves the page, forwards what [`forward`] lists to the admin ports of roles, and
//! asks them whether they are ready. There are no accounts: whoever reaches it is an operator, so it listens on this
//! machine only, and [`guard`] sees to it that no web page reaches it through an operator's browser.

mod address;
mod ask;
mod config;
mod forward;
mod guard;
mod limits;
mod overview;
mod page;
mod problem;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::middleware;
use axum::routing::{any, get};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub use self::address::outward;
pub use self::config::{App, Config, Place, Role};

/// Why there is no console.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The listener failed.
    #[error("the console's listener failed: {0}")]
    Serve(#[from] std::io::Error),
    /// A setting that cannot be.
    #[error("{0}")]
    Config(String),
}

/// What every request may use.
struct Console {
    config: Config,
    client: ask::Client,
    /// How long a role may take.
    patience: Duration,
}

/// Serves the console at `listener` until `shutdown`, and beside it what else this process has for operators: health,
/// metrics, other things below `/admin`. All of it is behind the same guard.
///
/// # Errors
/// The settings cannot be, or the listener failed.
pub async fn serve(
    config: Config,
    more: Router,
    listener: TcpListener,
    shutdown: CancellationToken,
) -> Result<(), Error> {
    config.check()?;
    let at = listener.local_addr()?;
    if !at.ip().is_loopback() {
        tracing::warn!(%at, "the console listens beyond this machine; it asks nobody who they are");
    }
    let app = router(config, more, limits::ANSWER_MAX);
    axum::serve(listener, app).with_graceful_shutdown(async move { shutdown.cancelled().await }).await?;
    Ok(())
}

fn router(config: Config, more: Router, patience: Duration) -> Router {
    let hosts: Arc<[String]> = config.hosts.clone().into();
    Router::new()
        .route("/admin/overview", get(overview::overview))
        .route("/admin/scores/{*rest}", any(forward::forward))
        // Where this process is arrival itself, its own routes are more exact and win.
        .route("/admin/arrival/{*rest}", any(forward::forward))
        .fallback(page::page)
        .with_state(Arc::new(Console { config, client: ask::Client::new(), patience }))
        .merge(more)
        .layer(middleware::from_fn_with_state(hosts, guard::guard))
}

#[cfg(test)]
mod tests;
