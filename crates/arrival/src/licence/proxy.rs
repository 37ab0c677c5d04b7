//! Licence servers of others. The challenge goes to them as it came; what they answer goes back as it came.

use axum::body::Bytes;
use drm::licence::Policy;
use http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode, Uri, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::sync::Semaphore;

use super::limits::{EXCHANGE_MAX, LICENCE_MAX, UNDER_WAY_MAX};
use super::{Config, System};
use crate::Error;

/// Which match.
pub(super) const MATCH: HeaderName = HeaderName::from_static("pavilion-match");
/// The viewer's session; missing where passes name none.
pub(super) const SESSION: HeaderName = HeaderName::from_static("pavilion-session");
/// What the licence may allow, as JSON: [`Policy`].
pub(super) const POLICY: HeaderName = HeaderName::from_static("pavilion-policy");
/// PlayReady's players say by it what they want (SOAP 1.1, 6.1.1).
const SOAP_ACTION: HeaderName = HeaderName::from_static("soapaction");

/// Of a challenge, what a server is told beside us.
const CARRIED: [HeaderName; 2] = [header::CONTENT_TYPE, SOAP_ACTION];

/// Why there is no licence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// Too many are under way.
    Full,
    /// No answer in time, or a fault of theirs.
    Away,
    /// It refused.
    Refused(StatusCode),
}

/// For whom a challenge is.
pub(super) struct Whose<'a> {
    pub(super) r#match: &'a str,
    pub(super) session: Option<&'a str>,
    pub(super) policy: &'a Policy,
}

/// The servers of the configuration.
pub(super) struct Servers {
    urls: Vec<(System, Uri)>,
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    places: Semaphore,
}

impl Servers {
    pub(super) fn open(config: &Config) -> Result<Servers, Error> {
        let mut urls = Vec::new();
        for system in System::ALL {
            let Some(url) = config.server(system) else { continue };
            let name = system.name();
            let bad = || Error::Licences(format!("'{url}' is no {name} licence server; write https://…"));
            let uri: Uri = url.parse().map_err(|_| bad())?;
            if !matches!(uri.scheme_str(), Some("http" | "https")) || uri.authority().is_none() {
                return Err(bad());
            }
            urls.push((system, uri));
        }
        let mut tcp = HttpConnector::new();
        tcp.set_connect_timeout(Some(EXCHANGE_MAX));
        tcp.enforce_http(false);
        let https = HttpsConnectorBuilder::new().with_webpki_roots().https_or_http();
        let https = https.enable_http1().enable_http2().wrap_connector(tcp);
        let client = Client::builder(TokioExecutor::new()).build(https);
        Ok(Servers { urls, client, places: Semaphore::new(UNDER_WAY_MAX) })
    }

    pub(super) fn of(&self, system: System) -> Option<&Uri> {
        self.urls.iter().find(|(of, _)| *of == system).map(|(_, uri)| uri)
    }

    /// Asks a server: its licence, and of what type it says that is.
    pub(super) async fn ask(
        &self,
        server: &Uri,
        headers: &HeaderMap,
        whose: &Whose<'_>,
        challenge: Bytes,
    ) -> Result<(Option<HeaderValue>, Bytes), Failure> {
        let Ok(_place) = self.places.try_acquire() else { return Err(Failure::Full) };
        let mut request = Request::new(Full::new(challenge));
        *request.method_mut() = http::Method::POST;
        *request.uri_mut() = server.clone();
        let said = request.headers_mut();
        for name in CARRIED {
            if let Some(value) = headers.get(&name) {
                said.insert(name, value.clone());
            }
        }
        let policy = serde_json::to_string(whose.policy).unwrap_or_default();
        for (name, value) in [(MATCH, Some(whose.r#match)), (SESSION, whose.session), (POLICY, Some(&policy))]
        {
            // A session of a foreign issuer may be no text for a field.
            if let Some(value) = value.and_then(|value| HeaderValue::from_str(value).ok()) {
                said.insert(name, value);
            }
        }
        let exchange = async {
            let answer = self.client.request(request).await.map_err(|_| Failure::Away)?;
            let (head, body) = answer.into_parts();
            let body = Limited::new(body, LICENCE_MAX).collect().await.map_err(|_| Failure::Away)?;
            match head.status {
                StatusCode::OK => Ok((head.headers.get(header::CONTENT_TYPE).cloned(), body.to_bytes())),
                status if status.is_client_error() && status != StatusCode::TOO_MANY_REQUESTS => {
                    Err(Failure::Refused(status))
                }
                _ => Err(Failure::Away),
            }
        };
        tokio::time::timeout(EXCHANGE_MAX, exchange).await.unwrap_or(Err(Failure::Away))
    }
}
