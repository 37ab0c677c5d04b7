//! The secrets that passes are signed with.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};

use crate::{Error, KEYS_MAX, Refusal};

/// The shortest secret, in bytes: as long as the hash (RFC 7518, 3.2 asks for that of HS256).
const SECRET_BYTES_MIN: usize = 32;

/// The longest; what is more than a block of the hash is only hashed.
const SECRET_BYTES_MAX: usize = 128;

/// The longest name of a key, in bytes.
const KID_BYTES_MAX: usize = 64;

/// A key counts so many seconds before its first day: those who sign and those who check do not have one clock.
const EARLY_S: i64 = 60;

/// A key as it stands in a file.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Secret {
    /// Its name, which every token carries.
    pub kid: String,
    /// 32 to 128 random bytes in base64url.
    pub secret: String,
    /// UTC, in seconds: signed with from then on, if no later one is. Written down before, so that all have it.
    #[serde(default)]
    pub from: i64,
    /// UTC, in seconds: nothing that it signed is taken from then on. The end of the last token that it signs, or
    /// earlier if it has leaked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secret({})", self.kid)
    }
}

impl Secret {
    /// A new one, for now and without an end.
    ///
    /// # Errors
    ///
    /// [`Error::Signer`]: the system has no randomness.
    pub fn generate(kid: &str) -> Result<Secret, Error> {
        let mut secret = [0; SECRET_BYTES_MIN];
        SystemRandom::new().fill(&mut secret).map_err(|_| Error::Signer)?;
        Ok(Secret { kid: kid.to_owned(), secret: URL_SAFE_NO_PAD.encode(secret), from: 0, until: None })
    }
}

/// Several of them: while keys are rotated there are two, and one that comes next.
#[derive(Clone)]
pub(crate) struct Keyring {
    keys: Vec<Key>,
}

#[derive(Clone)]
struct Key {
    kid: String,
    key: hmac::Key,
    from: i64,
    until: i64,
}

impl std::fmt::Debug for Keyring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.keys.iter().map(|key| &key.kid)).finish()
    }
}

impl Keyring {
    /// Of these secrets; there may be none.
    ///
    /// # Errors
    ///
    /// [`Error::Secrets`]: one is too short, too long, or not base64url, or two have one name.
    pub(crate) fn new(secrets: &[Secret]) -> Result<Keyring, Error> {
        let mut keys: Vec<Key> = Vec::new();
        for secret in secrets {
            let bytes = URL_SAFE_NO_PAD.decode(&secret.secret).unwrap_or_default();
            let good = (SECRET_BYTES_MIN..=SECRET_BYTES_MAX).contains(&bytes.len())
                && (1..=KID_BYTES_MAX).contains(&secret.kid.len())
                && keys.iter().all(|key| key.kid != secret.kid)
                && keys.len() < KEYS_MAX;
            if !good {
                return Err(Error::Secrets);
            }
            keys.push(Key {
                kid: secret.kid.clone(),
                key: hmac::Key::new(hmac::HMAC_SHA256, &bytes),
                from: secret.from,
                until: secret.until.unwrap_or(i64::MAX),
            });
        }
        Ok(Keyring { keys })
    }

    /// The key that signs at that moment: the latest that has begun.
    pub(crate) fn current(&self, now_s: i64) -> Option<(&str, &hmac::Key)> {
        let open = self.keys.iter().filter(|key| key.from <= now_s && now_s < key.until);
        open.max_by_key(|key| key.from).map(|key| (key.kid.as_str(), &key.key))
    }

    /// Whether this was signed by the key with that name, or without a name by the only one there is.
    pub(crate) fn check(
        &self,
        kid: Option<&[u8]>,
        message: &[u8],
        tag: &[u8],
        now_s: i64,
    ) -> Result<(), Refusal> {
        let key = match (kid, &self.keys[..]) {
            (None, [only]) => Some(only),
            (None, _) => None,
            (Some(kid), keys) => keys.iter().find(|key| key.kid.as_bytes() == kid),
        };
        let key = key.filter(|key| key.from.saturating_sub(EARLY_S) <= now_s && now_s < key.until);
        hmac::verify(&key.ok_or(Refusal::UnknownKey)?.key, message, tag).map_err(|_| Refusal::Forged)
    }
}
