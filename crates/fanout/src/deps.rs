//! What the room is given: where messages come from, who may see them, who answers the other paths.

use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Incoming;
use pass::{Claims, KeySet};
use relay::{Cursor, Update};
use tokio::sync::{mpsc, watch};

/// Everything that a server needs.
pub struct Deps {
    /// Where messages come from.
    pub source: Arc<dyn Source>,
    /// Who may see a match.
    pub admit: Arc<dyn Admit>,
    /// What tokens are checked against, always the newest; `None`: nobody is asked for a token, and everybody is the
    /// same nameless viewer to [`Admit`].
    pub keys: Option<watch::Receiver<Arc<KeySet>>>,
    /// What answers every path but `/v1/stream`.
    pub fallback: Fallback,
}

/// Where messages come from.
pub trait Source: Send + Sync + 'static {
    /// What happens in a match after a cursor; without one, from the oldest message that is still held.
    ///
    /// [`Update::Start`] comes first, then what there was, [`Update::Live`], then what is new. It keeps itself
    /// connected, saying [`Update::Paused`] at once when it is not and `Start` again when it is; should the channel
    /// end all the same, it is asked again with the newest cursor.
    fn subscribe(&self, topic: &str, after: Option<Cursor>) -> mpsc::Receiver<Update>;
}

/// Who may see a match. Asked for each subscription, on a thread that serves thousands: it must answer from memory.
pub trait Admit: Send + Sync + 'static {
    /// Whether this viewer may see this match from that country (`None`: not known). In doubt the answer is no.
    ///
    /// # Errors
    ///
    /// Why not, as the viewer is told.
    fn may(&self, claims: &Claims, match_id: &str, country: Option<&str>) -> Result<(), Refusal>;
}

/// Why a subscription is refused, in the terms of RFC 9457.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// HTTP status: 403, 404, 429, 503 …
    pub status: u16,
    /// The kind of refusal.
    pub title: String,
    /// This one.
    pub detail: String,
}

/// The body of an answer of [`Fallback`].
pub type Body = UnsyncBoxBody<Bytes, Box<dyn Error + Send + Sync>>;

/// An answer under way.
pub type Answer = BoxFuture<'static, Response<Body>>;

/// What answers every path but `/v1/stream`.
pub type Fallback = Arc<dyn Fn(Request<Incoming>) -> Answer + Send + Sync>;

/// A hyper service as a [`Fallback`]; an axum router is one by `hyper_util::service::TowerToHyperService`.
pub fn fallback<S, B>(service: S) -> Fallback
where
    S: hyper::service::Service<Request<Incoming>, Response = Response<B>, Error = Infallible>
        + Send
        + Sync
        + 'static,
    S::Future: Send + 'static,
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    Arc::new(move |request| {
        let answer = service.call(request);
        Box::pin(async move {
            match answer.await {
                Ok(response) => response.map(|body| body.map_err(Into::into).boxed_unsync()),
                Err(never) => match never {},
            }
        })
    })
}
