//! `/livez`, `/readyz`, `/metrics` and `/admin` of a process.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderName, StatusCode};
use axum::routing::{get, post};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// How often histograms are tidied.
const UPKEEP: Duration = Duration::from_secs(5);
/// Buckets of latencies, in seconds.
const SECONDS: [f64; 14] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.32, 0.5, 1.0, 2.0, 4.0, 8.0];

/// What this process counts.
pub(crate) struct Metrics(PrometheusHandle);

/// Begins to count; whoever looks metrics up before this counts for nobody.
pub(crate) fn record() -> anyhow::Result<Metrics> {
    let handle = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS)?
        .install_recorder()
        .context("metrics")?;
    let upkeep = handle.clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(UPKEEP).await;
            upkeep.run_upkeep();
        }
    });
    Ok(Metrics(handle))
}

impl Metrics {
    /// `/livez`, `/readyz` and `/metrics`. Ready means that the role's listeners are open, which is so when these are
    /// served.
    pub(crate) fn routes(self) -> Router {
        Router::new()
            .route("/livez", get(|| async { "ok\n" }))
            .route("/readyz", get(|| async { "ok\n" }))
            .route("/metrics", get(move || std::future::ready(self.0.render())))
    }

    /// Serves them, and what else is given, on a listener that is open.
    pub(crate) fn serve(self, listener: TcpListener, more: Router, shutdown: CancellationToken) {
        let app = self.routes().merge(more);
        tokio::spawn(async move {
            let ended = axum::serve(listener, app)
                .with_graceful_shutdown(async move { shutdown.cancelled().await })
                .await;
            if let Err(error) = ended {
                tracing::error!(%error, "the metrics listener ended");
            }
        });
    }
}

/// `POST /admin/purge`: takes objects back from these tiers, in the order in which they are given. That must be the
/// nearest to the origin first, or the next would fetch the same again. `POST /admin/revoke`: ends a session at those
/// that ask for passes.
pub(crate) fn purge(tiers: Vec<Arc<edge::Edge>>) -> Router {
    let sessions = tiers.clone();
    let revoke = async move |body: String| {
        let revoke: edge::Revoke = match serde_json::from_str(&body) {
            Ok(revoke) => revoke,
            Err(_) => {
                let detail = "say which session is over, and until when its passes would be good: \
                              {\"sid\": \"name\", \"until\": 1767225600}";
                return problem(StatusCode::BAD_REQUEST, detail);
            }
        };
        for tier in &sessions {
            if let Err(full) = tier.revoke(&revoke) {
                return problem(StatusCode::SERVICE_UNAVAILABLE, &full.to_string());
            }
        }
        // Not its name, which is as good as the session to whoever reads logs.
        tracing::info!(until = revoke.until, "a session is revoked");
        (StatusCode::OK, [(CONTENT_TYPE, "application/json")], "{}".to_owned())
    };
    let answer = async move |body: String| {
        let purge: edge::Purge = match serde_json::from_str(&body) {
            Ok(purge) => purge,
            Err(_) => {
                let detail = "say what to purge: {\"prefix\": \"/match/\"}, {\"path\": \"/…\"}, {\"key\": \"word\"} or \
                              {\"all\": true}, and \"soft\": true to keep it for when its origin fails";
                return problem(StatusCode::BAD_REQUEST, detail);
            }
        };
        let purged: usize = tiers.iter().map(|tier| tier.purge(&purge)).sum();
        tracing::info!(?purge, purged, "purged");
        let text = serde_json::json!({ "purged": purged }).to_string();
        (StatusCode::OK, [(CONTENT_TYPE, "application/json")], text)
    };
    Router::new().route("/admin/purge", post(answer)).route("/admin/revoke", post(revoke))
}

type Answer = (StatusCode, [(HeaderName, &'static str); 1], String);

fn problem(status: StatusCode, detail: &str) -> Answer {
    let title = status.canonical_reason().unwrap_or_default();
    let problem = serde_json::json!({ "title": title, "status": status.as_u16(), "detail": detail });
    (status, [(CONTENT_TYPE, "application/problem+json")], problem.to_string())
}
