//! A token in the compact form (RFC 7515, 7.1): `header.claims.signature`.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::Value;

use crate::claims::{Claims, Said};
use crate::keys::{Algorithm, KeySet};
use crate::{Error, LEEWAY_S, TOKEN_BYTES_MAX};

#[derive(Deserialize)]
struct Header {
    alg: String,
    typ: Option<String>,
    kid: Option<String>,
    crit: Option<Value>,
}

impl KeySet {
    /// What a token says, if it holds at that moment (UTC, seconds).
    ///
    /// # Errors
    ///
    /// Why it does not. The signature is checked before the claims are looked at.
    pub fn verify(&self, token: &str, now_s: i64) -> Result<Claims, Error> {
        let (_, claims) = self.signed(token, TOKEN_BYTES_MAX)?;
        let said: Said = serde_json::from_slice(&claims).map_err(|_| Error::Claims)?;
        let early = said.nbf.is_some_and(|from| now_s < from.saturating_sub(LEEWAY_S));
        let claims = said.claims();
        claims.check()?;
        if now_s >= claims.exp.saturating_add(LEEWAY_S) {
            return Err(Error::Expired);
        }
        if early { Err(Error::Early) } else { Ok(claims) }
    }

    /// The claims of a token as they stand in it, whatever they are: for tokens of others (OpenID Connect). Only the
    /// signature has been checked; `exp`, `iss`, `aud` and all the rest are the caller's to check.
    ///
    /// # Errors
    ///
    /// Its form, algorithm, key or signature is not one that is taken.
    pub fn verify_signature(&self, token: &str) -> Result<Vec<u8>, Error> {
        self.signed(token, TOKEN_BYTES_MAX).map(|(_, claims)| claims)
    }

    /// The type and the payload of a compact JWS of at most so many bytes, if its signature holds.
    pub(crate) fn signed(&self, token: &str, bytes_max: usize) -> Result<(Option<String>, Vec<u8>), Error> {
        if token.len() > bytes_max {
            return Err(Error::Large);
        }
        let (message, signature) = token.rsplit_once('.').ok_or(Error::Form)?;
        let (header, claims) = message.split_once('.').ok_or(Error::Form)?;
        let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).map_err(|_| Error::Form);
        let header: Header = serde_json::from_slice(&decode(header)?).map_err(|_| Error::Form)?;
        let algorithm = Algorithm::named(&header.alg)?;
        if header.crit.is_some() {
            return Err(Error::Algorithm);
        }
        let claims = decode(claims)?;
        self.check(algorithm, header.kid.as_deref(), message.as_bytes(), &decode(signature)?)?;
        Ok((header.typ, claims))
    }
}
