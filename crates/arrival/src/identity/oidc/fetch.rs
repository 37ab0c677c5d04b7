//! Asking a provider: HTTP with a deadline, a bound, and one retry at once.

use std::sync::LazyLock;
use std::time::Duration;

use axum::body::Bytes;
use http::{Request, StatusCode, Uri, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::sync::Semaphore;

use crate::identity::limits::{OIDC_ANSWER_BYTES_MAX, OIDC_WAIT_MS};

/// Requests under way, of all providers: more viewers than that who come back within a provider's answer wait for it
/// in line, each no longer than the deadline.
const AT_ONCE_MAX: usize = 64;

static AT_ONCE: Semaphore = Semaphore::const_new(AT_ONCE_MAX);

static CLIENT: LazyLock<Client<HttpsConnector<HttpConnector>, Full<Bytes>>> = LazyLock::new(|| {
    let https = HttpsConnectorBuilder::new()
        .with_webpki_roots()
        .https_or_http()
        .enable_http1()
        .enable_http2()
        .build();
    Client::builder(TokioExecutor::new()).build(https)
});

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// Nobody answered in time, or with a fault of theirs: it may go well another time.
    Away,
    /// The answer is a refusal.
    Refused,
}

/// Whether secrets may go there: by TLS, or not beyond this machine.
pub(crate) fn is_safe(url: &str) -> bool {
    let Ok(uri) = url.parse::<Uri>() else { return false };
    match (uri.scheme_str(), uri.host()) {
        (Some("https"), Some(_)) => true,
        (Some("http"), Some(host)) => matches!(host, "127.0.0.1" | "[::1]" | "localhost"),
        _ => false,
    }
}

/// Gets a document; a second time at once if the first fails, and no more.
pub(super) async fn get(url: &str) -> Result<Bytes, Failure> {
    let once = || {
        let request = Request::get(url).header(header::ACCEPT, "application/json");
        send(request.body(Full::default()).map_err(|_| Failure::Refused))
    };
    match once().await {
        Err(Failure::Away) => once().await,
        answered => answered,
    }
}

/// Posts a form, once: what it asks for may have been given out when the answer was lost.
pub(super) async fn post(url: &str, authorization: Option<&str>, form: String) -> Result<Bytes, Failure> {
    let mut request = Request::post(url)
        .header(header::ACCEPT, "application/json")
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    if let Some(authorization) = authorization {
        request = request.header(header::AUTHORIZATION, authorization);
    }
    send(request.body(Full::from(form)).map_err(|_| Failure::Refused)).await
}

async fn send(request: Result<Request<Full<Bytes>>, Failure>) -> Result<Bytes, Failure> {
    let request = request?;
    let whole = async {
        let _place = AT_ONCE.acquire().await.map_err(|_| Failure::Away)?;
        let answer = CLIENT.request(request).await.map_err(|_| Failure::Away)?;
        let status = answer.status();
        let body = Limited::new(answer.into_body(), OIDC_ANSWER_BYTES_MAX);
        let body = body.collect().await.map_err(|_| Failure::Away)?.to_bytes();
        // A redirect is no answer: secrets go only where the configuration says.
        match status {
            StatusCode::OK => Ok(body),
            status if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => {
                Err(Failure::Away)
            }
            _ => Err(Failure::Refused),
        }
    };
    tokio::time::timeout(Duration::from_millis(OIDC_WAIT_MS), whole).await.unwrap_or(Err(Failure::Away))
}
