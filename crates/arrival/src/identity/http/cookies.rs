//! Cookies (RFC 6265): read strictly, written with every flag.

use axum::response::{IntoResponse, IntoResponseParts, Response, ResponseParts};
use http::{HeaderMap, HeaderValue, header};

use crate::identity::limits::{SESSION_LIFE_MS, TOKEN_LIFE_S};

/// The access token. Every page of the app sends it; links from elsewhere too, so that who follows one is signed in.
pub(crate) const SESSION: Kind =
    Kind { name: "pavilion_session", path: "/", same_site: "Lax", life_s: TOKEN_LIFE_S };

/// The refresh token. It goes nowhere but here, and from no other site.
pub(crate) const REFRESH: Kind =
    Kind { name: "pavilion_refresh", path: PATH, same_site: "Strict", life_s: SESSION_LIFE_MS / 1_000 };

/// The device's token. Browsers keep none for longer than 400 days.
pub(crate) const DEVICE: Kind =
    Kind { name: "pavilion_device", path: PATH, same_site: "Lax", life_s: 400 * 24 * 3_600 };

/// A sign-in at a provider that is under way. The provider sends the viewer back from its own site, hence Lax.
pub(crate) const OIDC: Kind = Kind {
    name: "pavilion_oidc",
    path: "/v1/identity/oidc",
    same_site: "Lax",
    life_s: crate::identity::limits::OIDC_STATE_S,
};

const PATH: &str = "/v1/identity";

/// A cookie that we know.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    name: &'static str,
    path: &'static str,
    same_site: &'static str,
    life_s: i64,
}

/// Those that came with a request.
pub(crate) struct Cookies<'a>(pub(crate) &'a HeaderMap);

impl<'a> Cookies<'a> {
    pub(crate) fn get(&self, kind: Kind) -> Option<&'a str> {
        let lines = self.0.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        lines
            .flat_map(|line| line.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .find_map(|(name, value)| (name == kind.name && !value.is_empty()).then_some(value))
    }
}

/// Those that go with an answer.
#[derive(Default)]
pub(crate) struct Set {
    secure: bool,
    lines: Vec<HeaderValue>,
}

impl Set {
    pub(crate) fn new(secure: bool) -> Set {
        Set { secure, lines: Vec::new() }
    }

    /// Values are ours: base64url and dots.
    pub(crate) fn put(&mut self, kind: Kind, value: &str) {
        self.line(kind, value, kind.life_s);
    }

    pub(crate) fn drop(&mut self, kind: Kind) {
        self.line(kind, "", 0);
    }

    fn line(&mut self, Kind { name, path, same_site, .. }: Kind, value: &str, life_s: i64) {
        let secure = if self.secure { "; Secure" } else { "" };
        let line =
            format!("{name}={value}; Path={path}; Max-Age={life_s}; HttpOnly; SameSite={same_site}{secure}");
        self.lines.extend(HeaderValue::from_str(&line));
    }
}

impl IntoResponseParts for Set {
    type Error = std::convert::Infallible;

    fn into_response_parts(self, mut parts: ResponseParts) -> Result<ResponseParts, Self::Error> {
        for line in self.lines {
            parts.headers_mut().append(header::SET_COOKIE, line);
        }
        Ok(parts)
    }
}

impl IntoResponse for Set {
    fn into_response(self) -> Response {
        (self, ()).into_response()
    }
}
