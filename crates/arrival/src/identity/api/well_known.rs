//! `/.well-known/…`: the key set, and the same pinned.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header;

use crate::identity::Identity;
use crate::identity::problem::Problem;

/// Caches may keep the set for five minutes; a key is in it for a day before it signs.
const KEEP: &str = "public, max-age=300";

/// The key set (RFC 7517).
pub(super) async fn jwks(State(identity): State<Identity>) -> Response {
    public("application/jwk-set+json", identity.keys().jwks.clone())
}

/// The key set signed by the pin's key: see [`pass::Pinned`].
pub(super) async fn pin(State(identity): State<Identity>) -> Result<Response, Problem> {
    let pin = identity.keys().pin.clone();
    let pin = pin.ok_or_else(|| Problem::not_found("The key set is pinned elsewhere."))?;
    Ok(public("application/jose", pin))
}

fn public(kind: &'static str, text: String) -> Response {
    let fields = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, KEEP),
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
    ];
    (fields, text).into_response()
}
