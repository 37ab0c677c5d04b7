//! What somebody gets who is somebody now: tokens in the body, or in cookies that no script can read.

use axum::Json;
use axum::extract::FromRequestParts;
use axum::response::{IntoResponse, Response};
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use pass::Claims;
use serde::{Deserialize, Serialize};

use crate::identity::http::{Cookies, DEVICE, REFRESH, SESSION, Set, is_same_origin};
use crate::identity::limits::TOKEN_LIFE_S;
use crate::identity::problem::Problem;
use crate::identity::session::Begun;
use crate::identity::{Error, Identity, secret};

/// How a client keeps its tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kept {
    /// Itself: an app. They are in the answer's body.
    #[default]
    Bearer,
    /// Its browser does: a page. They are in cookies, and not in the body.
    Cookie,
}

/// What came with a request.
pub(crate) struct Ask {
    pub(crate) headers: HeaderMap,
    same_origin: bool,
}

impl FromRequestParts<Identity> for Ask {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, identity: &Identity) -> Result<Ask, Self::Rejection> {
        let same_origin = is_same_origin(identity.config(), &parts.headers);
        Ok(Ask { headers: parts.headers.clone(), same_origin })
    }
}

impl Ask {
    /// Refuses to give cookies to, or take them from, another site's page: neither may it act as the viewer, nor sign
    /// the viewer in as somebody else.
    pub(crate) fn may(&self, kept: Kept) -> Result<(), Problem> {
        if kept == Kept::Cookie && !self.same_origin { Err(Problem::other_origin()) } else { Ok(()) }
    }

    pub(crate) fn cookies(&self) -> Cookies<'_> {
        Cookies(&self.headers)
    }
}

/// A device, and the proof that it is that one.
pub(crate) struct Device {
    pub(crate) id: String,
    token: String,
}

impl Identity {
    /// The device that says so, or a new one. A proof that is none is a device that comes from somewhere else: a new one.
    pub(crate) fn device_of(&self, said: Option<&str>, ask: &Ask, kept: Kept) -> Result<Device, Error> {
        let token = said.or_else(|| (kept == Kept::Cookie).then(|| ask.cookies().get(DEVICE)).flatten());
        let known = token.and_then(|token| self.0.secret.device(token));
        let id = known.map_or_else(secret::name, Ok)?;
        let token = self.0.secret.device_token(&id);
        Ok(Device { id, token })
    }
}

/// Who one is now.
#[derive(Serialize)]
struct Who<'a> {
    device: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<&'a str>,
    provisional: bool,
    /// For how long the token is good.
    expires_s: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_token: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    device_token: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'static str>,
}

/// What is given out.
#[derive(Default)]
pub(crate) struct Given {
    pub(crate) refresh: Option<String>,
    pub(crate) device: Option<String>,
}

impl Identity {
    /// A device that nobody signed in on.
    pub(crate) fn give_device(&self, device: Device, kept: Kept) -> Result<Response, Problem> {
        let claims = self.of_device(&device.id, false);
        self.give(StatusCode::OK, &claims, Given { refresh: None, device: Some(device.token) }, kept)
    }

    /// Nobody whom we could look up: the device may be watched on, and the tokens that it has stay good for later.
    pub(crate) fn give_provisional(&self, device: Device, kept: Kept) -> Result<Response, Problem> {
        metrics::counter!("identity_provisional_total").increment(1);
        let claims = self.of_device(&device.id, true);
        self.give(StatusCode::ACCEPTED, &claims, Given { refresh: None, device: Some(device.token) }, kept)
    }

    /// Somebody who signed in.
    pub(crate) fn give_session(
        &self,
        begun: Begun,
        device: Option<Device>,
        kept: Kept,
    ) -> Result<Response, Problem> {
        let claims = self.of_session(&begun.session);
        let given = Given { refresh: Some(begun.refresh), device: device.map(|device| device.token) };
        self.give(StatusCode::OK, &claims, given, kept)
    }

    pub(crate) fn give(
        &self,
        status: StatusCode,
        claims: &Claims,
        given: Given,
        kept: Kept,
    ) -> Result<Response, Problem> {
        let token = self.sign(claims.clone())?;
        let mut who = Who {
            device: claims.dev.as_deref().unwrap_or_default(),
            account: claims.sid.is_some().then_some(claims.sub.as_str()),
            profile: claims.prf.as_deref(),
            provisional: claims.prv,
            expires_s: TOKEN_LIFE_S,
            token: Some(&token),
            refresh_token: given.refresh.as_deref(),
            device_token: given.device.as_deref(),
            detail: claims.prv.then_some(
                "Your account cannot be reached at the moment. You can watch on this device; sign in again later.",
            ),
        };
        if kept == Kept::Bearer {
            return Ok((status, Json(who)).into_response());
        }
        (who.token, who.refresh_token, who.device_token) = (None, None, None);
        Ok((status, self.cookies(&token, &given), Json(who)).into_response())
    }

    /// The same in cookies.
    fn cookies(&self, token: &str, given: &Given) -> Set {
        let mut set = Set::new(self.config().is_secure());
        set.put(SESSION, token);
        if let Some(refresh) = &given.refresh {
            set.put(REFRESH, refresh);
        }
        if let Some(device) = &given.device {
            set.put(DEVICE, device);
        }
        set
    }

    /// The same for a browser that is sent on, on a device that it was before.
    pub(crate) fn cookies_of(&self, token: &str, refresh: Option<String>, device: &str) -> Set {
        self.cookies(token, &Given { refresh, device: Some(self.0.secret.device_token(device)) })
    }

    /// Takes back who one was; the device stays itself.
    pub(crate) fn forget(&self) -> Set {
        let mut set = Set::new(self.config().is_secure());
        set.drop(SESSION);
        set.drop(REFRESH);
        set
    }
}
