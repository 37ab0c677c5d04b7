//! The app and the door: the viewer's page, what there is to watch, who may watch it, and how they are let in, also when
//! everybody comes at once and the database behind the door is gone.
//!
//! A request goes through [`shed`] (is there a place for it?); `POST /v1/matches/{match}/play` then through [`catalog`]
//! and [`whereabouts`] (may it be shown there? fails closed), [`entitlement`] (have they paid? fails open, by [`panic`]),
//! [`slots`] (on how many devices?), and gets all that a player needs from [`play`]. Each is a pure core that takes time as an
//! argument, with a thin shell.
//!
//! Knows no media: it hands out a URL, and the edge does the rest.

mod admin;
pub mod catalog;
mod config;
mod door;
pub mod entitlement;
pub mod identity;
pub mod licence;
mod pages;
pub mod panic;
pub mod play;
#[cfg(test)]
mod security;
pub mod shed;
pub mod slots;
#[cfg(test)]
mod testing;
pub mod whereabouts;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::extract::{ConnectInfo, Request};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::{Extension, Router};
use http::HeaderValue;
use http::header;
use hyper::body::Incoming;
use hyper::service::{Service, service_fn};
use hyper_util::service::TowerToHyperService;
use listen::turns::Line;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub use config::{Config, Edge, Scored};
/// Requests that one address may send in a second, unless set.
pub const PER_ADDRESS: u32 = shed::limits::ADDRESS_PER_S;

/// How long a pass is good, and how long edges renew it, in seconds, unless set.
pub const PASS_LIFE_S: (u32, u32) = (play::limits::PASS_S, play::limits::RENEWED_S);

use door::{Door, Stores};
use identity::Identity;

/// Why the app cannot run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An edge that cannot be read.
    #[error("'{0}' is not an edge; write :8081 (the host that the viewer used) or https://edge.example")]
    Edge(String),
    /// A scored match that cannot be read.
    #[error("'{0}' is not a scored match; write id:sport:title, such as club:cricket:Club match")]
    Scored(String),
    /// A network that cannot be read.
    #[error("'{0}' is no address or network; write 10.0.0.0/8 or 192.0.2.7")]
    Trusted(String),
    /// A country that is none.
    #[error("'{0}' is no country; write its ISO 3166-1 code in capitals, such as IN")]
    Country(String),
    /// A file of places that cannot be read.
    #[error("{file} is no MaxMind file that can be read: {why}")]
    Places {
        /// Which.
        file: PathBuf,
        /// Why not.
        why: String,
    },
    /// A journal that cannot be read or written.
    #[error("the journal {file}: {why}")]
    Journal {
        /// Which.
        file: PathBuf,
        /// Why not.
        why: std::io::Error,
    },
    /// A file of keys for passes that cannot be used.
    #[error("cannot make passes with the keys of {file}: {why}")]
    PassKeys {
        /// Which.
        file: PathBuf,
        /// Why not.
        why: String,
    },
    /// A secret, a length or a server of licences that cannot be used.
    #[error("licences: {0}")]
    Licences(String),
    /// A store failed.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A document that is not taken.
    #[error(transparent)]
    Fault(#[from] catalog::Fault),
    /// A document that is not there.
    #[error("there is no {kind} '{id}'")]
    NoDocument {
        /// What it would be of.
        kind: &'static str,
        /// Its id.
        id: String,
    },
    /// Others wrote the same register again and again.
    #[error("'{0}' was changed by others all the time; try again")]
    Contended(String),
}

/// A door that is open: its stores can be read, and what goes on beside the requests goes on.
pub struct Arrival {
    door: Arc<Door>,
    shutdown: CancellationToken,
}

impl Arrival {
    /// Opens it, until `shutdown`.
    ///
    /// # Errors
    ///
    /// A store, a file of places or the journal cannot be read.
    pub async fn open(
        config: Config,
        identity: Identity,
        shutdown: CancellationToken,
    ) -> Result<Arrival, Error> {
        let stores = Stores::open(&config)?;
        tokio::spawn(identity.clone().run(shutdown.clone()));
        let door = Door::open(config, stores, identity, shutdown.clone()).await?;
        tokio::spawn(shed::watch(door.clone(), shutdown.clone()));
        Ok(Arrival { door, shutdown })
    }

    /// `/admin/arrival/…`, for a listener that is not public.
    pub fn admin(&self) -> Router {
        admin::router(self.door.clone())
    }

    /// Serves the page and its API, until it is shut down.
    pub async fn serve(self, listener: TcpListener) {
        let turns = self.door.shed.turns.clone();
        let app = TowerToHyperService::new(router(self.door));
        let service = |peer: SocketAddr, line: Arc<Line>| {
            let app = app.clone();
            service_fn(move |mut request: Request<Incoming>| {
                let (under_way, late) = line.begin();
                request.extensions_mut().insert(ConnectInfo(peer));
                if late {
                    request.extensions_mut().insert(shed::Late);
                }
                let answered = app.call(request);
                async move {
                    let response = answered.await;
                    drop(under_way);
                    response
                }
            })
        };
        listen::http::serve_in_turn(listener, shed::limits::CONNECTIONS, turns, self.shutdown, service).await;
    }
}

fn router(door: Arc<Door>) -> Router {
    let secure = door.identity.is_secure();
    Router::new()
        .merge(play::router(door.clone()))
        .merge(slots::router(door.clone()))
        .merge(licence::router(door.clone()))
        .merge(identity::router(door.identity.clone()))
        .merge(pages::router())
        // Whoever asks who the viewer is.
        .layer(Extension(door.identity.clone()))
        .layer(middleware::from_fn_with_state(door, shed::layer))
        .layer(middleware::from_fn(move |request: Request, next: Next| headers(secure, request, next)))
}

/// UTC in milliseconds, by this machine's clock.
fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Reads a JSON object. A list is none, though serde would take its entries for the members.
fn object<T: serde::de::DeserializeOwned>(text: &[u8]) -> Result<T, String> {
    match text.iter().find(|b| !b.is_ascii_whitespace()) {
        Some(b'[') => Err("it is a list, and should be an object".into()),
        _ => serde_json::from_slice(text).map_err(|error| error.to_string()),
    }
}

/// Characters of a fresh id, with which each session's name begins.
const FRESH_ID_CHARS: usize = 32;

/// An id that nobody can guess, of 128 bits.
fn fresh_id() -> String {
    let mut bytes = [0; 16];
    if getrandom::fill(&mut bytes).is_err() {
        // Ids must be unique all the same; what they open is checked against its owner.
        fastrand::fill(&mut bytes);
    }
    format!("{:032x}", u128::from_ne_bytes(bytes))
}

/// Where viewers come by TLS, browsers come by nothing else for a year (RFC 6797).
const TLS_ONLY: &str = "max-age=31536000";

/// Security headers that hold for every answer. Media comes from other origins, hence `connect-src`. `secure`: viewers
/// come by TLS.
async fn headers(secure: bool, request: Request, next: Next) -> Response {
    const ALL: [(header::HeaderName, &str); 5] = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'self'; connect-src *; media-src * blob:; img-src 'self' data:; worker-src 'self' blob:; \
             style-src 'self' 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
        ),
        (header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    let mut response = next.run(request).await;
    for (name, value) in ALL {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    if secure {
        let value = HeaderValue::from_static(TLS_ONLY);
        response.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, value);
    }
    response
}
