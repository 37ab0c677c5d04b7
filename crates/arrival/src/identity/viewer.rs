//! Who asks.

use std::sync::Arc;

use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use http::request::Parts;
use http::{HeaderMap, Method, header};
use pass::Claims;
use store::Session;

use super::http::{Cookies, SESSION, is_same_origin};
use super::problem::Problem;
use super::{Error, Identity, secret};

/// The viewer of a request, from its bearer token (RFC 6750, 2.1) or the session's cookie. As an extractor it refuses
/// who brings neither; `Option<Viewer>` takes them, but refuses a token that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Viewer {
    /// None: a device that nobody signed in on.
    pub account: Option<String>,
    /// The device.
    pub device: String,
    /// Chosen by them.
    pub profile: Option<String>,
    /// They came with an account while accounts could not be reached: good for watching on this device, and for
    /// nothing else.
    pub provisional: bool,
}

impl Viewer {
    /// Somebody who brought no token: a device that never was before.
    ///
    /// # Errors
    ///
    /// The system has no randomness.
    pub fn guest() -> Result<Viewer, Error> {
        Ok(Viewer { account: None, device: secret::name()?, profile: None, provisional: false })
    }

    fn of(claims: &Claims) -> Option<Viewer> {
        let named = claims.sub.strip_prefix("device:");
        let device = claims.dev.clone().or_else(|| named.map(str::to_owned))?;
        let account = named.is_none().then(|| claims.sub.clone());
        Some(Viewer { account, device, profile: claims.prf.clone(), provisional: claims.prv })
    }
}

/// The claims of a request, if it brings a token.
fn claims(parts: &Parts) -> Result<Option<Arc<Claims>>, Problem> {
    let identity = parts.extensions.get::<Identity>().ok_or_else(Problem::ours)?;
    let (token, by_cookie) = match bearer(&parts.headers)? {
        Some(token) => (token, false),
        None => match Cookies(&parts.headers).get(SESSION) {
            Some(token) => (token, true),
            None => return Ok(None),
        },
    };
    if by_cookie && changes(&parts.method) && !is_same_origin(identity.config(), &parts.headers) {
        return Err(Problem::other_origin());
    }
    match identity.verify(token) {
        Ok(claims) => Ok(Some(claims)),
        Err(pass::Error::Expired) => Err(Problem::unauthenticated("Your token has expired; refresh it.")),
        Err(error) => Err(Problem::unauthenticated(error.to_string())),
    }
}

/// A method that is more than looking.
fn changes(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let Some(field) = headers.get(header::AUTHORIZATION) else { return Ok(None) };
    let token = field.to_str().ok().and_then(|field| {
        let (scheme, token) = field.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
    });
    token.map(Some).ok_or_else(|| Problem::unauthenticated("Send your token as Authorization: Bearer."))
}

impl<S: Send + Sync> FromRequestParts<S> for Viewer {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Viewer, Problem> {
        let claims = claims(parts)?.ok_or_else(|| {
            Problem::unauthenticated("Bring a token; a device gets one at /v1/identity/device.")
        })?;
        Viewer::of(&claims).ok_or_else(|| Problem::unauthenticated("The token names no device."))
    }
}

impl<S: Send + Sync> OptionalFromRequestParts<S> for Viewer {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Option<Viewer>, Problem> {
        Ok(claims(parts)?.and_then(|claims| Viewer::of(&claims)))
    }
}

/// Somebody whose session goes on at this moment: asked of the store, since a token outlives its session by up to a
/// quarter of an hour, and account data is not for that.
#[derive(Debug)]
pub(crate) struct SignedIn {
    pub(crate) session: Session,
}

impl<S: Send + Sync> FromRequestParts<S> for SignedIn {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<SignedIn, Problem> {
        let needed = || Problem::unauthenticated("This is for somebody who is signed in.");
        let claims = claims(parts)?.ok_or_else(needed)?;
        let identity = parts.extensions.get::<Identity>().ok_or_else(Problem::ours)?;
        let id = claims.sid.as_deref().ok_or_else(needed)?;
        let session = identity.accounts().session(id, identity.now_ms()).await.map_err(Error::from)?;
        match session.filter(|session| session.account == claims.sub) {
            Some(session) => Ok(SignedIn { session }),
            None => Err(Problem::unauthenticated("You have been signed out on this device.")),
        }
    }
}
