//! A key set (RFC 7517).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey};
use serde::Deserialize;

use crate::{Error, KEY_SET_BYTES_MAX, KEYS_MAX};

/// Bytes of an RSA modulus: 2,048 to 8,192 bits, what `ring` verifies.
const MODULUS_BYTES: std::ops::RangeInclusive<usize> = 256..=1_024;

/// The longest exponent in use has three bytes.
const EXPONENT_BYTES_MAX: usize = 5;

/// The public keys of those who may issue tokens. By default there are none, and no token holds.
#[derive(Clone, Debug, Default)]
pub struct KeySet {
    keys: Vec<Key>,
}

#[derive(Clone, Debug)]
struct Key {
    id: Option<String>,
    public: Public,
}

#[derive(Clone, Debug)]
enum Public {
    Rsa { modulus: Vec<u8>, exponent: Vec<u8> },
    Ed25519(Vec<u8>),
}

/// The algorithms that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518, 3.3).
    Rs256,
    /// Ed25519 (RFC 8037, 3.1; RFC 9864 names it by its curve).
    EdDsa,
}

impl Algorithm {
    pub(crate) fn named(name: &str) -> Result<Algorithm, Error> {
        match name {
            "RS256" => Ok(Algorithm::Rs256),
            "EdDSA" | "Ed25519" => Ok(Algorithm::EdDsa),
            _ => Err(Error::Algorithm),
        }
    }
}

#[derive(Deserialize)]
struct Document {
    keys: Vec<serde_json::Value>,
}

/// Of a key, what is looked at.
#[derive(Deserialize)]
struct Said {
    kty: String,
    #[serde(rename = "use")]
    purpose: Option<String>,
    alg: Option<String>,
    kid: Option<String>,
    n: Option<String>,
    e: Option<String>,
    crv: Option<String>,
    x: Option<String>,
}

impl KeySet {
    /// Reads a JWKS. Keys of other kinds are passed over, as RFC 7517, 5 asks.
    ///
    /// # Errors
    ///
    /// [`Error::KeySet`]: it is not one, is too large, or has no key that can be used.
    pub fn from_jwks(text: &str) -> Result<KeySet, Error> {
        if text.len() > KEY_SET_BYTES_MAX {
            return Err(Error::KeySet);
        }
        let document: Document = serde_json::from_str(text).map_err(|_| Error::KeySet)?;
        if document.keys.len() > KEYS_MAX {
            return Err(Error::KeySet);
        }
        let keys: Vec<Key> = document.keys.into_iter().filter_map(Key::read).collect();
        if keys.is_empty() { Err(Error::KeySet) } else { Ok(KeySet { keys }) }
    }

    /// Whether this was signed by the key with that name; a token that names none is only taken when there is one
    /// key for its algorithm, so that each check costs one signature.
    pub(crate) fn check(
        &self,
        algorithm: Algorithm,
        id: Option<&str>,
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), Error> {
        let mut fit = self
            .keys
            .iter()
            .filter(|key| key.algorithm() == algorithm && id.is_none_or(|id| key.id.as_deref() == Some(id)));
        match (fit.next(), fit.next()) {
            (Some(key), None) => key.check(message, signature),
            _ => Err(Error::Key),
        }
    }
}

impl Key {
    fn read(value: serde_json::Value) -> Option<Key> {
        let said: Said = serde_json::from_value(value).ok()?;
        if said.purpose.is_some_and(|purpose| purpose != "sig") {
            return None;
        }
        let decode = |text: Option<String>| URL_SAFE_NO_PAD.decode(text?).ok();
        let public = match (said.kty.as_str(), said.crv.as_deref()) {
            ("RSA", _) => {
                let modulus: Vec<u8> = decode(said.n)?.into_iter().skip_while(|b| *b == 0).collect();
                let exponent = decode(said.e)?;
                let fits = MODULUS_BYTES.contains(&modulus.len()) && exponent.len() <= EXPONENT_BYTES_MAX;
                fits.then_some(Public::Rsa { modulus, exponent })?
            }
            ("OKP", Some("Ed25519")) => Public::Ed25519(decode(said.x).filter(|x| x.len() == 32)?),
            _ => return None,
        };
        let key = Key { id: said.kid, public };
        // A key that says what it is for is for nothing else.
        let agrees = said.alg.is_none_or(|name| Algorithm::named(&name) == Ok(key.algorithm()));
        agrees.then_some(key)
    }

    fn algorithm(&self) -> Algorithm {
        match self.public {
            Public::Rsa { .. } => Algorithm::Rs256,
            Public::Ed25519(_) => Algorithm::EdDsa,
        }
    }

    fn check(&self, message: &[u8], signature: &[u8]) -> Result<(), Error> {
        match &self.public {
            Public::Rsa { modulus, exponent } => RsaPublicKeyComponents { n: modulus, e: exponent }.verify(
                &RSA_PKCS1_2048_8192_SHA256,
                message,
                signature,
            ),
            Public::Ed25519(point) => UnparsedPublicKey::new(&ED25519, point).verify(message, signature),
        }
        .map_err(|_| Error::Signature)
    }
}
