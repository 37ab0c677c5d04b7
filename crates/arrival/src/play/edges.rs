//! Telling the edges that a session is over. Nobody waits for it: each edge has a line of its own, and one that does not
//! answer is asked again until the last pass of the session has ended by itself.

use std::time::Duration;

use axum::body::Bytes;
use http::{Request, Uri, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::limits::{ENDED_MAX, TELL_ANSWER_BYTES_MAX, TELL_CAP, TELL_FIRST, TELL_MAX};
use crate::{Edge, Error};

type Http = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// The lines to all edges.
#[derive(Default)]
pub struct Edges(Vec<mpsc::Sender<Over>>);

/// A session that is over, and until when (UTC, seconds) an edge must know it.
struct Over {
    body: Bytes,
    until_s: i64,
}

impl Edges {
    /// To the admin ports of these edges, until `shutdown`.
    ///
    /// # Errors
    ///
    /// [`Error::Edge`]: one cannot be asked.
    pub fn start(admins: &[Edge], shutdown: &CancellationToken) -> Result<Edges, Error> {
        let https = HttpsConnectorBuilder::new().with_webpki_roots().https_or_http().enable_http1().build();
        let http: Http = Client::builder(TokioExecutor::new()).build(https);
        let mut lines = Vec::new();
        for admin in admins {
            let url = format!("{}/admin/revoke", admin.base(None));
            let to: Uri = url.parse().map_err(|_| Error::Edge(admin.to_string()))?;
            let (line, waiting) = mpsc::channel(ENDED_MAX);
            let (http, shutdown) = (http.clone(), shutdown.clone());
            tokio::spawn(async move { shutdown.run_until_cancelled(tell_all(http, to, waiting)).await });
            lines.push(line);
        }
        Ok(Edges(lines))
    }

    /// Has them told.
    pub(super) fn tell(&self, session: &str, until_s: i64) {
        let body = Bytes::from(serde_json::json!({ "sid": session, "until": until_s }).to_string());
        for line in &self.0 {
            if line.try_send(Over { body: body.clone(), until_s }).is_err() {
                metrics::counter!("arrival_revocations_lost_total").increment(1);
            }
        }
    }
}

async fn tell_all(http: Http, to: Uri, mut waiting: mpsc::Receiver<Over>) {
    while let Some(over) = waiting.recv().await {
        let mut wait = TELL_FIRST;
        while let Err(why) = tell(&http, &to, &over.body).await {
            if over.until_s <= crate::now_ms() / 1_000 {
                metrics::counter!("arrival_revocations_lost_total").increment(1);
                break;
            }
            if wait == TELL_FIRST {
                tracing::warn!(edge = to.host(), why, "an edge does not take a revocation yet");
            }
            // Doors that lost an edge together do not come back together.
            tokio::time::sleep(wait.mul_f64(0.5 + fastrand::f64() / 2.0)).await;
            wait = (wait * 2).min(TELL_CAP);
        }
    }
}

async fn tell(http: &Http, to: &Uri, body: &Bytes) -> Result<(), String> {
    let request = Request::post(to)
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::new(body.clone()))
        .map_err(|error| error.to_string())?;
    let asked = async {
        let answer = http.request(request).await.map_err(|error| error.to_string())?;
        let status = answer.status();
        // Read to its end, so that the connection is kept.
        let _ = Limited::new(answer.into_body(), TELL_ANSWER_BYTES_MAX).collect().await;
        if status.is_success() { Ok(()) } else { Err(format!("it answers {status}")) }
    };
    tokio::time::timeout(TELL_MAX, asked).await.unwrap_or_else(|_| Err("it does not answer".to_owned()))
}
