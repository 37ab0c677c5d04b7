//! The seam towards upstreams: what is asked, and what comes. Behind it stand real servers
//! ([`crate::upstream`]), another edge in the same process, or a script in simulated time.

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderMap, Method, Response};
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use tokio::time::timeout;

use crate::failure::Failure;
use crate::limits::BODY_STALL_MAX;

/// A body on its way, in either direction. Its end is a clean one; a cut is an error.
pub type Arriving = UnsyncBoxBody<Bytes, Failure>;

/// The answer of an upstream.
pub type Answer = Response<Arriving>;

/// A request for an upstream, which it reaches as it stands here: the upstream only adds `Host` and `Via`.
#[derive(Debug)]
pub struct Ask {
    /// GET, unless a client's own request is passed on.
    pub method: Method,
    /// Path and query.
    pub target: String,
    /// End-to-end fields only.
    pub headers: HeaderMap,
    /// Only when a client's own request is passed on.
    pub body: Option<Arriving>,
    /// A second upstream may be asked when the first is late: it is for media, has no body, and may be repeated.
    pub hedge: bool,
}

/// Whatever answers an [`Ask`].
pub trait Fetch: Send + Sync + 'static {
    /// Asks; comes back with the head of the answer. Bounded in time by the one who implements it, for the head
    /// and for each silence inside the body.
    fn fetch(&self, ask: Ask) -> BoxFuture<'static, Result<Answer, Failure>>;
}

/// The next bytes of an upstream's body; `None` at its end. Trailers are dropped.
pub(crate) async fn next(body: &mut Arriving) -> Result<Option<Bytes>, Failure> {
    loop {
        match timeout(BODY_STALL_MAX, body.frame()).await {
            Ok(Some(Ok(frame))) => match frame.into_data() {
                Ok(bytes) if !bytes.is_empty() => return Ok(Some(bytes)),
                _ => continue,
            },
            Ok(None) => return Ok(None),
            Ok(Some(Err(why))) => return Err(why),
            Err(_) => return Err(Failure::Cut),
        }
    }
}
