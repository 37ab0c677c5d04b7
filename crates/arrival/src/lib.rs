//! The app: the viewer's page and the few questions it asks on the way in. Accounts, entitlement and licences
//! come to live here; so far anyone is let in to the one match of the [`Config`].
//!
//! Knows no media: it hands out a URL, and the edge does the rest.

mod api;
mod config;
pub mod identity;
mod pages;

use std::net::SocketAddr;

use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::{Extension, Router};
use http::HeaderValue;
use http::header;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub use config::{Config, Edge, Scored};
use identity::Identity;

/// Why the app cannot run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The listener failed.
    #[error("the app's listener failed: {0}")]
    Serve(#[from] std::io::Error),
    /// An edge that cannot be read.
    #[error("'{0}' is not an edge; write :8081 (the host that the viewer used) or https://edge.example")]
    Edge(String),
    /// A scored match that cannot be read.
    #[error("'{0}' is not a scored match; write id:sport:title, such as club:cricket:Club match")]
    Scored(String),
}

/// Serves the page and its API until `shutdown`.
pub async fn serve(
    config: Config,
    identity: Identity,
    listener: TcpListener,
    shutdown: CancellationToken,
) -> Result<(), Error> {
    tokio::spawn(identity.clone().run(shutdown.clone()));
    let app = router(config, identity).into_make_service_with_connect_info::<SocketAddr>();
    axum::serve(listener, app).with_graceful_shutdown(async move { shutdown.cancelled().await }).await?;
    Ok(())
}

fn router(config: Config, identity: Identity) -> Router {
    Router::new()
        .merge(api::router(config, identity.clone()))
        .merge(identity::router(identity.clone()))
        .merge(pages::router())
        // Whoever asks who the viewer is.
        .layer(Extension(identity))
        .layer(middleware::from_fn(headers))
}

/// Security headers that hold for every answer. Media comes from other origins, hence `connect-src`.
async fn headers(request: Request, next: Next) -> Response {
    const ALL: [(header::HeaderName, &str); 4] = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'self'; connect-src *; media-src * blob:; img-src 'self' data:; worker-src 'self' blob:; \
             style-src 'self' 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
        ),
    ];
    let mut response = next.run(request).await;
    for (name, value) in ALL {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
