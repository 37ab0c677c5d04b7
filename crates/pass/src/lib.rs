//! User tokens: signed JWTs (RFC 7519, in the compact form of RFC 7515) and the key sets (RFC 7517) that they are
//! checked against. Pure: no clock, no network, no database; time is an argument.
//!
//! Written on `ring`, which the house's TLS brings already, and not on `jsonwebtoken`: version 9, the last on ring,
//! takes an `exp` or `nbf` of the wrong type for absent (CVE-2026-25537), and version 10 wants a second crypto
//! library. What is needed is small, since it is strict:
//!
//! * a key decides the algorithm, never the token: RS256 for RSA, EdDSA for Ed25519, nothing else (RFC 8725, 3.1);
//! * `exp` must be there; every claim that is known must have its type;
//! * what has critical extensions (`crit`) is refused, since none is known;
//! * everything is bounded before it is decoded.

mod claims;
pub mod fuzz;
mod keys;
mod pin;
mod signer;
mod token;

pub use claims::Claims;
pub use keys::KeySet;
pub use pin::{PIN_BYTES_MAX, PIN_LIFE_S, Pinned, pin};
pub use signer::Signer;

/// The longest token, in bytes: one with 64 matches and an RSA signature of 4,096 bits has some 4,000. It must fit
/// into a request's head, and is checked for each socket.
pub const TOKEN_BYTES_MAX: usize = 6 << 10;

/// The largest key set, in bytes: [`KEYS_MAX`] RSA keys of 4,096 bits have about 32 KB.
pub const KEY_SET_BYTES_MAX: usize = 64 << 10;

/// Keys of a set: while keys are rotated there are two or three an issuer.
pub const KEYS_MAX: usize = 32;

/// How far the clocks of issuer and edge may be apart, in seconds. Both keep time by NTP; more would let a token live
/// on noticeably after its end.
pub const LEEWAY_S: i64 = 2;

/// Why a token or a key set is not taken. It says nothing of a token's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Larger than [`TOKEN_BYTES_MAX`].
    #[error("the token has more than {TOKEN_BYTES_MAX} bytes")]
    Large,
    /// Not three parts of base64url with JSON in the first two.
    #[error("the token is not a JWT")]
    Form,
    /// An algorithm that no key of ours is for, or an extension that is not known.
    #[error("the token is not signed with RS256 or EdDSA")]
    Algorithm,
    /// No key by that name.
    #[error("the token's key is not known")]
    Key,
    /// Not signed by that key.
    #[error("the token's signature does not hold")]
    Signature,
    /// A claim of another type, too long, or missing.
    #[error("the token's claims are not well formed")]
    Claims,
    /// Over.
    #[error("the token has expired")]
    Expired,
    /// Not yet.
    #[error("the token is not valid yet")]
    Early,
    /// Not a key set, or one that is too large, or without a usable key.
    #[error("the key set is not a JWKS with an RSA key of 2,048 bits or more, or an Ed25519 key")]
    KeySet,
    /// Not a private key that can sign.
    #[error("the signing key is not an RSA or Ed25519 key in PKCS#8")]
    Signer,
}
