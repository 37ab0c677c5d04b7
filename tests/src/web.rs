//! Requests, as a client without opinions makes them.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

/// Longer than any server here may hold a request.
const LIMIT: Duration = Duration::from_secs(12);

/// An answer, whole.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

impl Answer {
    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8(self.body.to_vec()).unwrap()
    }

    /// Asserts that it is an RFC 9457 problem document of its own status.
    pub fn is_problem(&self) {
        let kind = self.headers.get("content-type").map(|v| v.to_str().unwrap().to_owned());
        assert_eq!(kind.as_deref(), Some("application/problem+json"), "{self:?}");
        let problem: serde_json::Value = serde_json::from_slice(&self.body).unwrap();
        assert_eq!(problem["status"], self.status.as_u16(), "{problem}");
        assert!(problem["title"].is_string() && problem["detail"].is_string(), "{problem}");
    }
}

/// A client with connections that it keeps.
#[derive(Clone)]
pub struct Web(Client<HttpConnector, Full<Bytes>>);

impl Default for Web {
    fn default() -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        Web(Client::builder(TokioExecutor::new()).build(connector))
    }
}

impl Web {
    /// A request. `Err` when there is no answer.
    pub async fn request(&self, method: Method, url: &str, body: Bytes) -> Result<Answer, String> {
        let request =
            Request::builder().method(method).uri(url).body(Full::new(body)).map_err(|e| e.to_string())?;
        self.ask(request).await
    }

    /// A request with whatever fields. `Err` when there is no answer.
    pub async fn ask(&self, request: Request<Full<Bytes>>) -> Result<Answer, String> {
        let url = request.uri().clone();
        let whole = async {
            let answer = self.0.request(request).await.map_err(|e| format!("{url}: {e}"))?;
            let (status, headers) = (answer.status(), answer.headers().clone());
            let body = answer.into_body().collect().await.map_err(|e| format!("{url}: {e}"))?.to_bytes();
            Ok(Answer { status, headers, body })
        };
        tokio::time::timeout(LIMIT, whole)
            .await
            .unwrap_or_else(|_| Err(format!("{url}: no answer within {LIMIT:?}")))
    }

    /// A GET. `Err` when there is no answer.
    pub async fn try_get(&self, url: &str) -> Result<Answer, String> {
        self.request(Method::GET, url, Bytes::new()).await
    }

    /// A GET that is answered.
    pub async fn get(&self, url: &str) -> Answer {
        self.try_get(url).await.unwrap_or_else(|e| panic!("{e}"))
    }

    /// A GET that is answered with 200: its body.
    pub async fn body(&self, url: &str) -> Bytes {
        let answer = self.get(url).await;
        assert_eq!(answer.status, 200, "{url}: {}", String::from_utf8_lossy(&answer.body));
        answer.body
    }

    /// A GET that is answered with 200: its body as text.
    pub async fn text(&self, url: &str) -> String {
        String::from_utf8(self.body(url).await.to_vec()).unwrap()
    }
}

/// The URL that `relative` means in a document at `base` (no query, no dots but a leading `../`).
pub fn resolve(base: &str, relative: &str) -> String {
    let mut folder = base.rsplit_once('/').unwrap().0;
    let mut rest = relative;
    while let Some(up) = rest.strip_prefix("../") {
        rest = up;
        folder = folder.rsplit_once('/').unwrap().0;
    }
    format!("{folder}/{rest}")
}
