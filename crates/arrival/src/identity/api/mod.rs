//! `/v1/identity/…` and `/.well-known/…`.

mod answer;
mod device;
mod login;
mod me;
mod profiles;
mod register;
mod sessions;
mod well_known;

use axum::Router;
use axum::extract::{DefaultBodyLimit, FromRequestParts};
use axum::response::Response;
use axum::routing::{get, post, put};
use http::request::Parts;
use http::{HeaderValue, StatusCode, header};

pub(crate) use self::answer::{Ask, Kept};
use super::limits::BODY_BYTES_MAX;
use super::problem::Problem;
use super::{Identity, oidc};
use crate::whereabouts::Client;

/// All of it.
pub(crate) fn router(identity: Identity) -> Router {
    let ours = Router::new()
        .route("/device", post(device::device))
        .route("/register", post(register::register))
        .route("/register/confirm", post(register::confirm))
        .route("/login", post(login::login))
        .route("/refresh", post(login::refresh))
        .route("/logout", post(login::logout))
        .route("/me", get(me::me).delete(me::delete))
        .route("/me/password", put(me::password))
        .route("/profiles", get(profiles::list).post(profiles::make))
        .route("/profiles/{id}", put(profiles::change).delete(profiles::delete))
        .route("/profiles/{id}/choose", post(profiles::choose))
        .route("/sessions", get(sessions::list).delete(sessions::end_others))
        .route("/sessions/{id}", axum::routing::delete(sessions::end))
        .route("/oidc", get(oidc::list))
        .route("/oidc/{provider}/start", get(oidc::start))
        .route("/oidc/{provider}/callback", get(oidc::callback))
        .fallback(nothing)
        .method_not_allowed_fallback(not_so)
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(axum::middleware::map_response(private));
    Router::new()
        .nest("/v1/identity", ours)
        .route("/.well-known/jwks.json", get(well_known::jwks))
        .route("/.well-known/jwks.pin", get(well_known::pin))
        .with_state(identity)
}

/// Nobody in between keeps any of it.
async fn private(mut response: Response) -> Response {
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

async fn nothing() -> Problem {
    Problem::not_found("There is nothing by this name; see the description of the interface.")
}

async fn not_so() -> Problem {
    let detail = "This cannot be done to that; see the field Allow for what can.";
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", "Not that way", detail)
}

/// The address of who asks, which the door has found out before: it knows the proxies.
impl FromRequestParts<Identity> for Client {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &Identity) -> Result<Client, Self::Rejection> {
        Ok(parts.extensions.get::<Client>().copied().unwrap_or(Client(None)))
    }
}
