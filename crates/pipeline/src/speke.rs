//! Keys from a key server (SPEKE v2): the HTTP round [`drm::cpix`].

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use drm::{Held, Schedule, Scheme, Scope, cpix};
use http::header::CONTENT_TYPE;
use http::{Request, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use timeline::{Grid, Utc};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::Error;
use crate::run::utc_now;

/// One exchange. Key servers answer in tens of milliseconds; this is for one that hangs.
const EXCHANGE_MAX: Duration = Duration::from_secs(5);
/// Tries for one period before it is left for [`RETRY_LATER`]: with the waits between them about half a minute.
const TRIES: u32 = 5;
/// Wait after a failure, doubled each time, half of it random.
const RETRY_FIRST: Duration = Duration::from_millis(250);
/// A period is announced over half a period; a server that was away is asked again this often until then and after.
const RETRY_LATER: Duration = Duration::from_secs(10);
/// How often it is looked whether a period is coming: often within the shortest segment.
const LOOK: Duration = Duration::from_millis(500);
/// Segments that an encoder may be ahead of the clock: what it starts with, and one.
const AHEAD: u64 = 2;

/// A key server, and what it has said.
pub(crate) struct Speke {
    url: Uri,
    scope: Scope,
    scheme: Scheme,
    held: Arc<Held>,
    http: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
}

impl Speke {
    pub(crate) fn new(url: &str, scope: Scope, scheme: Scheme) -> Result<Speke, Error> {
        let bad = || {
            Error::Drm(
                "--drm-speke is no key server; write it like https://keys.example/speke/v2.0".to_owned(),
            )
        };
        let url: Uri = url.parse().map_err(|_| bad())?;
        if !matches!(url.scheme_str(), Some("http" | "https")) || url.authority().is_none() {
            return Err(bad());
        }
        let mut tcp = HttpConnector::new();
        tcp.set_connect_timeout(Some(EXCHANGE_MAX));
        tcp.enforce_http(false);
        let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|e| Error::Drm(e.to_string()))?
            .with_root_certificates(RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() })
            .with_no_client_auth();
        let https = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1();
        let http = Client::builder(TokioExecutor::new()).build(https.wrap_connector(tcp));
        Ok(Speke { url, scope, scheme, held: Arc::new(Held::new()), http })
    }

    pub(crate) fn held(&self) -> Arc<Held> {
        self.held.clone()
    }

    /// The keys of what is on air.
    pub(crate) async fn begin(&self, grid: Grid, epoch: Utc, schedule: Schedule) -> Result<(), Error> {
        let msn = now(&grid, epoch);
        // In a clear lead it is the period of its end that counts.
        let from = msn.max(schedule.clear);
        for period in schedule.needed(from, from + AHEAD) {
            self.insist(period).await?;
        }
        Ok(())
    }

    /// Asks for each period's keys when it is announced. When the server does not answer, the last keys stay in use.
    pub(crate) async fn keep(&self, grid: Grid, epoch: Utc, schedule: Schedule) {
        loop {
            tokio::time::sleep(LOOK).await;
            let msn = now(&grid, epoch).max(schedule.clear);
            for period in schedule.needed(msn, msn + AHEAD) {
                if let Err(error) = self.insist(period).await {
                    tracing::error!(%error, period, "no new keys; the last ones stay in use");
                    metrics::counter!("pipeline_key_requests_failed_total").increment(1);
                    tokio::time::sleep(RETRY_LATER).await;
                }
            }
        }
    }

    /// A period's keys, tried a few times.
    async fn insist(&self, period: u64) -> Result<(), Error> {
        let mut wait = RETRY_FIRST;
        for left in (0..TRIES).rev() {
            if self.held.has(period) {
                return Ok(());
            }
            match self.ask(period).await {
                Ok(()) => return Ok(()),
                Err(why) if left == 0 => {
                    return Err(Error::Drm(format!(
                        "the key server {}: {why}",
                        self.url.host().unwrap_or_default()
                    )));
                }
                Err(why) => tracing::warn!(why, period, "the key server gave no keys"),
            }
            tokio::time::sleep(wait.mul_f64(0.5 + 0.5 * fastrand::f64())).await;
            wait *= 2;
        }
        Ok(())
    }

    async fn ask(&self, period: u64) -> Result<(), String> {
        let (name, version) = cpix::VERSION_HEADER;
        let request = Request::post(&self.url).header(name, version).header(CONTENT_TYPE, "application/xml");
        let request = request.body(Full::from(cpix::request(&self.scope, self.scheme, period)));
        let request = request.map_err(|e| e.to_string())?;
        let exchange = async {
            let response = self.http.request(request).await.map_err(|e| e.to_string())?;
            if !response.status().is_success() {
                return Err(format!("it answered {}", response.status()));
            }
            let body = Limited::new(response.into_body(), cpix::RESPONSE_MAX).collect().await;
            Ok(body.map_err(|e| e.to_string())?.to_bytes())
        };
        let answered = tokio::time::timeout(EXCHANGE_MAX, exchange).await;
        let bytes = answered.map_err(|_| format!("it did not answer within {EXCHANGE_MAX:?}"))??;
        let keys = cpix::response(&bytes).map_err(|e| e.to_string())?;
        for class in drm::Class::ALL {
            // A server that chooses names of its own would be found out by no licence endpoint.
            let kid = self.scope.kid(class, period);
            let key = keys.iter().find(|key| key.kid == kid).ok_or(format!("it gave no key for {class}"))?;
            self.held.insert(class, period, key.clone());
        }
        Ok(())
    }
}

/// The segment on air by the clock.
fn now(grid: &Grid, epoch: Utc) -> u64 {
    grid.position(utc_now().since(epoch)).map_or(0, |at| at.msn)
}

#[cfg(test)]
mod tests {
    use drm::{Class, Kid, Provider};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    fn scope() -> Scope {
        Scope { r#match: "demo".parse().unwrap(), programme: "main".parse().unwrap() }
    }

    /// A server that answers requests with these one after the other, and what it was sent.
    async fn server(answers: Vec<String>) -> (String, tokio::task::JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/speke/v2.0", listener.local_addr().unwrap());
        let task = tokio::spawn(async move {
            let mut seen = Vec::new();
            for answer in answers {
                let (mut socket, _) = listener.accept().await.unwrap();
                let mut asked = String::new();
                while !asked.ends_with("</cpix:CPIX>") {
                    let mut piece = [0; 4_096];
                    let read = socket.read(&mut piece).await.unwrap();
                    assert!(read > 0, "{asked}");
                    asked += std::str::from_utf8(&piece[..read]).unwrap();
                }
                socket.write_all(answer.as_bytes()).await.unwrap();
                seen.push(asked);
            }
            seen
        });
        (url, task)
    }

    fn answer(status: &str, body: &str) -> String {
        format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len())
    }

    /// Keys of a period, all of them zeros.
    fn document(period: u64) -> String {
        let value = "AAAAAAAAAAAAAAAAAAAAAA==";
        let keys = Class::ALL.map(|class| {
            let kid = drm::pssh::uuid(scope().kid(class, period).0);
            format!("<c:ContentKey kid=\"{kid}\"><c:Data><p:Secret><p:PlainValue>{value}</p:PlainValue></p:Secret></c:Data></c:ContentKey>")
        });
        format!(
            "<c:CPIX xmlns:c=\"urn:dashif:org:cpix\" xmlns:p=\"urn:ietf:params:xml:ns:keyprov:pskc\">{}</c:CPIX>",
            keys.concat()
        )
    }

    #[tokio::test]
    async fn keys_come_from_a_server_that_fails_at_first() {
        let (url, seen) = server(vec![
            answer("500 Oops", ""),
            answer("200 OK", "<html>come back later</html>"),
            // Another period's keys are none of ours.
            answer("200 OK", &document(4)),
            answer("200 OK", &document(3)),
        ])
        .await;
        let speke = Speke::new(&url, scope(), Scheme::Cbcs).unwrap();
        speke.insist(3).await.unwrap();
        for asked in seen.await.unwrap() {
            assert!(asked.starts_with("POST /speke/v2.0 HTTP/1.1\r\n"), "{asked}");
            assert!(asked.to_ascii_lowercase().contains("x-speke-version: 2.0"), "{asked}");
            assert!(
                asked.contains("index=\"3\"") && asked.contains("commonEncryptionScheme=\"cbcs\""),
                "{asked}"
            );
        }
        let key = speke.held().key(Class::Hd, 3).unwrap();
        assert_eq!((key.kid, Kid(key.secret.0)), (scope().kid(Class::Hd, 3), Kid([0; 16])));
        // The server is gone: what it said stays in use.
        assert_eq!(speke.held().key(Class::Hd, 9), Ok(key));
        assert!(!speke.held().has(9));
    }

    #[test]
    fn a_url_is_one() {
        for bad in ["", "keys.example", "ftp://keys.example/", "/speke"] {
            assert!(Speke::new(bad, scope(), Scheme::Cenc).is_err(), "{bad}");
        }
    }
}
