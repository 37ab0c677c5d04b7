//! Who issues tokens: the door, and tests.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair};
use serde_json::{Value, json};

use crate::{Claims, Error};

/// A private key with a name.
pub struct Signer {
    id: String,
    key: Private,
    random: SystemRandom,
}

enum Private {
    Rsa(Box<RsaKeyPair>),
    Ed25519(Box<Ed25519KeyPair>),
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Signer({})", self.id)
    }
}

impl Signer {
    /// A new Ed25519 key.
    ///
    /// # Errors
    ///
    /// [`Error::Signer`]: the system has no randomness.
    pub fn generate(id: &str) -> Result<Signer, Error> {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(|_| Error::Signer)?;
        Signer::from_pkcs8(id, document.as_ref())
    }

    /// A private key in PKCS#8 (DER): RSA, which signs with RS256, or Ed25519, which signs with EdDSA.
    ///
    /// # Errors
    ///
    /// [`Error::Signer`]: it is neither.
    pub fn from_pkcs8(id: &str, der: &[u8]) -> Result<Signer, Error> {
        let key = match Ed25519KeyPair::from_pkcs8_maybe_unchecked(der) {
            Ok(pair) => Private::Ed25519(Box::new(pair)),
            Err(_) => Private::Rsa(Box::new(RsaKeyPair::from_pkcs8(der).map_err(|_| Error::Signer)?)),
        };
        Ok(Signer { id: id.to_owned(), key, random: SystemRandom::new() })
    }

    /// A token that says this.
    ///
    /// # Errors
    ///
    /// [`Error::Claims`]: a claim that no verifier takes; [`Error::Signer`]: the system has no randomness.
    pub fn sign(&self, claims: &Claims) -> Result<String, Error> {
        claims.check()?;
        self.sign_json(&json!(claims))
    }

    /// A token with any claims, for tests of those who read them.
    ///
    /// # Errors
    ///
    /// [`Error::Signer`]: the system has no randomness.
    pub fn sign_json(&self, claims: &Value) -> Result<String, Error> {
        self.sign_typed("JWT", claims)
    }

    /// A signed document of another type (RFC 7515, 4.1.9), so that none is taken for another (RFC 8725, 3.11).
    pub(crate) fn sign_typed(&self, kind: &str, claims: &Value) -> Result<String, Error> {
        let algorithm = match self.key {
            Private::Rsa(_) => "RS256",
            Private::Ed25519(_) => "EdDSA",
        };
        let header = json!({ "alg": algorithm, "typ": kind, "kid": self.id }).to_string();
        let message =
            format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims.to_string()));
        let signature = match &self.key {
            Private::Ed25519(pair) => pair.sign(message.as_bytes()).as_ref().to_vec(),
            Private::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &self.random, message.as_bytes(), &mut signature)
                    .map_err(|_| Error::Signer)?;
                signature
            }
        };
        Ok(format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }

    /// Its name.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The key set with the public half of this key.
    pub fn jwks(&self) -> String {
        json!({ "keys": [self.jwk()] }).to_string()
    }

    /// The public half of this key (RFC 7517).
    pub fn jwk(&self) -> Value {
        match &self.key {
            Private::Ed25519(pair) => json!({
                "kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "kid": self.id,
                "x": URL_SAFE_NO_PAD.encode(pair.public_key()),
            }),
            Private::Rsa(pair) => {
                let public = PublicKeyComponents::<Vec<u8>>::from(pair.public());
                json!({
                    "kty": "RSA", "alg": "RS256", "use": "sig", "kid": self.id,
                    "n": URL_SAFE_NO_PAD.encode(public.n), "e": URL_SAFE_NO_PAD.encode(public.e),
                })
            }
        }
    }
}
