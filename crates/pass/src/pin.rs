//! The pin: a key set signed by a key that lives longer than all of its own, so that an edge which cannot reach the
//! issuer still knows whose tokens to take, and nobody in between can put another key into its hands.
//!
//! A compact JWS (RFC 7515) of type `keys-pin+jwt` whose claims are `iat`, `exp` and `jwks`. The edge trusts the
//! pin's key, which it is given as a file, and takes the set from wherever it gets one: a URL, a file, a neighbour.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Error, KEY_SET_BYTES_MAX, KeySet, LEEWAY_S, Signer};

/// How long a pin is good, in seconds (the design: 24 h offline).
pub const PIN_LIFE_S: i64 = 24 * 3_600;

/// The largest pin, in bytes: a whole key set in base64url (four bytes for three), with head and signature.
pub const PIN_BYTES_MAX: usize = KEY_SET_BYTES_MAX / 3 * 4 + (2 << 10);

/// Its type in the header: nothing else that the key may ever sign is taken for a pin.
const KIND: &str = "keys-pin+jwt";

#[derive(Deserialize)]
struct Said {
    iat: i64,
    exp: i64,
    jwks: Value,
}

/// Signs a key set, good from then for [`PIN_LIFE_S`].
///
/// # Errors
///
/// [`Error::KeySet`]: there is no usable key in it, or it is too large; [`Error::Signer`]: the system has no randomness.
pub fn pin(signer: &Signer, jwks: &str, now_s: i64) -> Result<String, Error> {
    KeySet::from_jwks(jwks)?;
    let set: Value = serde_json::from_str(jwks).map_err(|_| Error::KeySet)?;
    signer.sign_typed(KIND, &json!({ "iat": now_s, "exp": now_s + PIN_LIFE_S, "jwks": set }))
}

/// What an edge knows: the newest pinned set that it was offered.
#[derive(Debug)]
pub struct Pinned {
    trust: KeySet,
    held: Option<Held>,
}

#[derive(Debug)]
struct Held {
    iat: i64,
    exp: i64,
    keys: Arc<KeySet>,
}

impl Pinned {
    /// Knows nothing yet, and takes pins that one of these keys signed.
    pub fn new(trust: KeySet) -> Pinned {
        Pinned { trust, held: None }
    }

    /// Takes a pin (UTC, seconds), if it holds and is not older than what is held: a copy from yesterday, which may
    /// have a key that was withdrawn since, never replaces today's.
    ///
    /// # Errors
    ///
    /// Why it is not taken; what was held stays.
    pub fn offer(&mut self, pin: &str, now_s: i64) -> Result<(), Error> {
        let (kind, claims) = self.trust.signed(pin.trim(), PIN_BYTES_MAX)?;
        if kind.as_deref() != Some(KIND) {
            return Err(Error::Form);
        }
        let Said { iat, exp, jwks } = serde_json::from_slice(&claims).map_err(|_| Error::Claims)?;
        // Whoever signs for longer than a pin lives has made a mistake that would be found out on a bad day.
        if exp <= iat || exp - iat > PIN_LIFE_S {
            return Err(Error::Claims);
        }
        if now_s.saturating_add(LEEWAY_S) < iat {
            return Err(Error::Early);
        }
        if now_s >= exp.saturating_add(LEEWAY_S) || self.held.as_ref().is_some_and(|held| iat < held.iat) {
            return Err(Error::Expired);
        }
        let keys = Arc::new(KeySet::from_jwks(&jwks.to_string())?);
        self.held = Some(Held { iat, exp, keys });
        Ok(())
    }

    /// The keys to check tokens against at that moment (UTC, seconds); none: no pin was taken, or the last one is over.
    pub fn keys(&self, now_s: i64) -> Option<&Arc<KeySet>> {
        self.held.as_ref().filter(|held| now_s < held.exp.saturating_add(LEEWAY_S)).map(|held| &held.keys)
    }
}
