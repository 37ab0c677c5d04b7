//! The socket edge as a process: its matches from the shard, its decisions from a copy of the catalog, and the
//! resources beside the stream from a cache in front of the snapshot role.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use axum::http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use clap::Args;
use edge::Edge;
use fanout::{Admit, Body, Deps, Refusal, Source, Watching};
use http_body_util::{BodyExt, Full};
use listen::tls::Certificate;
use pass::{Claims, KeySet};
use relay::{Cursor, Limits, Subscriber, Update};
use scores::catalog::{Catalog, Status};
use store::Place;
use timeline::Steady;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::{keys, watching};
use crate::{descriptors, roles};

/// What is spoken over TLS: a WebSocket begins as HTTP/1.1 (RFC 6455).
const ALPN: &[&[u8]] = &[b"http/1.1"];

/// Settings of `pavilion fanout`.
#[derive(Clone, Debug, Args)]
pub(crate) struct FanoutConfig {
    /// Where to listen; several may hold one port.
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8082")]
    listen: SocketAddr,
    /// Serve /livez, /readyz and /metrics here.
    #[arg(long, value_name = "ADDR:PORT")]
    admin: Option<SocketAddr>,
    /// Shards, as host:port; repeat for those that may take over.
    #[arg(long = "shard", value_name = "HOST:PORT", value_parser = roles::host_port, value_delimiter = ',', default_value = "127.0.0.1:8088")]
    shards: Vec<String>,
    /// PEM file with the certificate chain; with --tls-key the listener speaks TLS 1.3
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// PEM file with the private key of --tls-cert
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Where snapshots, cards and key moments are; repeat for more than one.
    #[arg(long = "snapshot", value_delimiter = ',', default_value = "http://127.0.0.1:8089")]
    snapshots: Vec<String>,
    /// Where the catalog is: a file for SQLite, or postgres://user@host/database.
    #[arg(long, value_name = "FILE|URL", default_value = "var/pavilion.db")]
    store: Place,
    /// Key set that viewers' tokens are checked against: a file or a URL, looked at again and again; repeat for others
    /// to look at when it cannot be had. Without it nobody is asked for a token.
    #[arg(long, value_name = "FILE|URL", value_delimiter = ',')]
    keys: Vec<keys::Source>,
    /// Whose pins to trust: then --keys name pinned key sets (such as /.well-known/jwks.pin), each good for a day, and
    /// nothing else is taken.
    #[arg(long, value_name = "FILE", requires = "keys")]
    keys_pinned_by: Option<PathBuf>,
    #[command(flatten)]
    fanout: fanout::Config,
}

pub(crate) async fn fanout(c: FanoutConfig, shutdown: CancellationToken) -> anyhow::Result<()> {
    descriptors::take_all();
    c.fanout.check()?;
    let listener = roles::listen_shared(c.listen)?;
    roles::health(c.admin, &shutdown).await?;
    let registers = c.store.registers()?;
    let catalog = Catalog::follow(registers.clone(), shutdown.clone()).await?;
    let keys = match c.keys.is_empty() {
        true => None,
        false => Some(keys::follow(c.keys, c.keys_pinned_by.as_deref()).await?),
    };
    let clock = Mutex::new(Steady::new(wall_ms(), Instant::now()));
    let country_header = c.fanout.country_header.clone();
    let gate = Arc::new(Gate { catalog, keys: keys.clone(), country_header, clock });
    let cache = edge::Config {
        upstream: c.snapshots.iter().map(|at| at.parse()).collect::<Result<_, _>>()?,
        query: ["at", "since", "region"].map(str::to_owned).to_vec(),
        ..edge::Config::default()
    };
    let deps = Deps {
        source: Arc::new(Shards(Subscriber::connect(c.shards, &c.listen.to_string(), Limits::default()))),
        admit: gate.clone(),
        keys,
        fallback: beside(gate, Edge::open(&cache).await?),
    };
    let certificate = match (&c.tls_cert, &c.tls_key) {
        (Some(cert), Some(key)) => Some(Certificate::read(cert, key)?),
        (None, None) => None,
        // As a file may have it.
        _ => anyhow::bail!("TLS needs both --tls-cert and --tls-key"),
    };
    let tls = certificate.as_ref().map(|certificate| certificate.config(ALPN)).transpose()?.map(Arc::new);
    let server = fanout::Server::open_with(c.fanout, listener, deps, tls).await?;
    if let Some(certificate) = certificate {
        tokio::spawn(async move { certificate.watch().await });
    }
    tokio::spawn(watching::report(registers, Counted(server.watch()), shutdown.clone()));
    server.run(shutdown, CancellationToken::new()).await;
    Ok(())
}

/// The matches of shards.
struct Shards(Subscriber);

impl Source for Shards {
    fn subscribe(&self, topic: &str, after: Option<Cursor>) -> mpsc::Receiver<Update> {
        self.0.subscribe(topic, after)
    }
}

/// Who may see what, from local copies alone.
struct Gate {
    catalog: watch::Receiver<Arc<Catalog>>,
    keys: Option<watch::Receiver<Arc<KeySet>>>,
    country_header: Option<String>,
    clock: Mutex<Steady>,
}

impl Admit for Gate {
    fn may(&self, claims: &Claims, match_id: &str, country: Option<&str>) -> Result<(), Refusal> {
        let refuse =
            |status, title: &str, detail: String| Err(Refusal { status, title: title.to_owned(), detail });
        let catalog = self.catalog.borrow();
        let Some(entry) = catalog.get(match_id).filter(|entry| entry.status != Status::Postponed) else {
            return refuse(404, "No such match", format!("There is no match '{match_id}'."));
        };
        if claims.matches.as_ref().is_some_and(|all| !all.iter().any(|one| one == match_id)) {
            return refuse(403, "Not in your plan", format!("{} is not in your plan.", entry.title));
        }
        match (&entry.countries, country) {
            (None, _) => Ok(()),
            (Some(allowed), Some(here)) if allowed.iter().any(|one| one.eq_ignore_ascii_case(here)) => Ok(()),
            (Some(_), Some(here)) => {
                refuse(403, "Not available here", format!("{} is not available in {here}.", entry.title))
            }
            (Some(_), None) => refuse(
                403,
                "Not available here",
                format!("{} is not available everywhere, and it is not known where you are.", entry.title),
            ),
        }
    }
}

impl Gate {
    /// Admits a request for a resource of a match; gives the country that it was admitted from.
    fn admit(
        &self,
        match_id: &str,
        uri: &Uri,
        headers: &HeaderMap,
        now_s: i64,
    ) -> Result<Option<String>, Refusal> {
        let claims = match &self.keys {
            None => Claims { exp: i64::MAX, ..Claims::default() },
            Some(keys) => {
                let verified = token(uri, headers).map(|token| keys.borrow().verify(token, now_s));
                match verified {
                    Some(Ok(claims)) => claims,
                    Some(Err(error)) => return Err(unauthorized(error.to_string())),
                    None => return Err(unauthorized("Send your token as Authorization: Bearer.".to_owned())),
                }
            }
        };
        let said = self.country_header.as_ref().and_then(|name| headers.get(name)?.to_str().ok());
        let country = said.map(str::to_owned).or_else(|| claims.country.clone());
        self.may(&claims, match_id, country.as_deref())?;
        Ok(country)
    }

    /// UTC in seconds, which a wall clock that is set back does not take back: no token comes to life again.
    fn now_s(&self, wall_ms: i64, now: Instant) -> i64 {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner).read(wall_ms, now) / 1_000
    }
}

/// UTC in milliseconds, by this machine's clock.
fn wall_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn unauthorized(detail: String) -> Refusal {
    Refusal { status: 401, title: "Unauthorized".to_owned(), detail }
}

/// The bearer token (RFC 6750, 2.1), or the query's where a browser cannot set fields (2.3).
fn token<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> Option<&'a str> {
    let field = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let bearer = field.and_then(|value| value.strip_prefix("Bearer ").or(value.strip_prefix("bearer ")));
    bearer.or_else(|| uri.query()?.split('&').find_map(|pair| pair.strip_prefix("access_token=")))
}

/// Everything but the stream: who asks is checked first, then all who may have it share one answer.
fn beside(gate: Arc<Gate>, cache: Arc<Edge>) -> fanout::Fallback {
    Arc::new(move |request| {
        let (gate, cache) = (gate.clone(), cache.clone());
        Box::pin(async move {
            let mut response = match answer(&gate, cache, &request).await {
                Ok(response) => response,
                Err(refusal) => problem(&refusal),
            };
            for (name, value) in CORS {
                response.headers_mut().insert(name, HeaderValue::from_static(value));
            }
            response
        })
    })
}

/// The page is of another origin (Fetch, 3.2).
const CORS: [(header::HeaderName, &str); 5] = [
    (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
    (header::ACCESS_CONTROL_ALLOW_HEADERS, "authorization, content-type, last-event-id"),
    (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD"),
    (header::ACCESS_CONTROL_EXPOSE_HEADERS, "Retry-After, ETag, X-Snapshot-Stale"),
    (header::ACCESS_CONTROL_MAX_AGE, "86400"),
];

async fn answer<B>(gate: &Gate, cache: Arc<Edge>, request: &Request<B>) -> Result<Response<Body>, Refusal> {
    if request.method() == Method::OPTIONS {
        let mut response = Response::new(Full::default().map_err(|never| match never {}).boxed_unsync());
        *response.status_mut() = StatusCode::NO_CONTENT;
        return Ok(response);
    }
    let nothing = || Refusal {
        status: 404,
        title: "No such resource".to_owned(),
        detail: "This host has /v1/stream and /v1/matches/{match}/{snapshot,card,moments,watching}."
            .to_owned(),
    };
    let uri = request.uri();
    let mut segments = uri.path().strip_prefix("/v1/matches/").ok_or_else(nothing)?.split('/');
    let (Some(match_id), Some("snapshot" | "card" | "moments" | "watching"), None) =
        (segments.next(), segments.next(), segments.next())
    else {
        return Err(nothing());
    };
    let now_s = gate.now_s(wall_ms(), Instant::now());
    let region = gate.admit(match_id, uri, request.headers(), now_s)?;
    let asked = Request::builder().method(request.method()).uri(keyed(uri, region.as_deref()));
    let mut asked = asked.body(None).map_err(|_| nothing())?;
    // A token is no part of what is shared.
    *asked.headers_mut() = request.headers().clone();
    asked.headers_mut().remove(header::AUTHORIZATION);
    Ok(cache.answer(asked).await.map(|body| body.map_err(Into::into).boxed_unsync()))
}

/// What answers are shared by: the path, what of the query changes them, and the region.
fn keyed(uri: &Uri, region: Option<&str>) -> String {
    let of_query = uri.query().unwrap_or_default().split('&');
    let mut kept: Vec<&str> =
        of_query.filter(|pair| ["at=", "since="].iter().any(|name| pair.starts_with(name))).collect();
    let region =
        region.filter(|r| r.bytes().all(|b| b.is_ascii_alphanumeric())).map(|r| format!("region={r}"));
    kept.extend(region.as_deref());
    if kept.is_empty() { uri.path().to_owned() } else { format!("{}?{}", uri.path(), kept.join("&")) }
}

/// RFC 9457.
fn problem(refusal: &Refusal) -> Response<Body> {
    let Refusal { status, title, detail } = refusal;
    let text = serde_json::json!({ "title": title, "detail": detail, "status": status }).to_string();
    let mut response = Response::new(Full::from(text).map_err(|never| match never {}).boxed_unsync());
    *response.status_mut() = StatusCode::from_u16(*status).unwrap_or(StatusCode::FORBIDDEN);
    let fields = response.headers_mut();
    fields.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    fields.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if *status == 401 {
        fields.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

/// How many watch each match at this edge.
struct Counted(Watching);

impl watching::Count for Counted {
    fn of(&self, match_id: &str) -> u64 {
        self.0.of(match_id) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pass::Signer;
    use std::time::Duration;

    #[test]
    fn a_wall_clock_that_is_set_back_brings_no_token_to_life() {
        const HOUR_S: i64 = 3_600;
        let (began, wall_s) = (Instant::now(), 1_764_490_000);
        let signer = Signer::generate("k").unwrap();
        let keys = Arc::new(KeySet::from_jwks(&signer.jwks()).unwrap());
        let gate = Gate {
            catalog: watch::channel(Arc::default()).1,
            keys: Some(watch::channel(keys).1),
            country_header: None,
            clock: Mutex::new(Steady::new(wall_s * 1_000, began)),
        };
        let claims = Claims { sub: "v".into(), exp: wall_s + 60, ..Claims::default() };
        let uri = format!("/v1/matches/m/card?access_token={}", signer.sign(&claims).unwrap());
        let refused = |after_s: u64, wall_s: i64| {
            let now_s = gate.now_s(wall_s * 1_000, began + Duration::from_secs(after_s));
            gate.admit("m", &uri.parse().unwrap(), &HeaderMap::new(), now_s).unwrap_err().status
        };
        assert_eq!(refused(30, wall_s + 30), 404, "it holds, but there is no such match");
        assert_eq!(refused(100, wall_s + 100), 401);
        assert_eq!(refused(110, wall_s + 110 - HOUR_S), 401, "set back by an hour");
    }
}
