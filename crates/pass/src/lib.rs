//! Passes: what an edge asks of each request, decided from the pass and a key alone ([`Gate`]). Three kinds are taken:
//! Common Access Tokens ([`cat`], which we issue), Akamai EdgeAuth ([`edge_auth`]) and URI Signing ([`uri_signing`]).
//!
//! ```
//! use pass::{Ask, Document, Gate, cat};
//! let gate = Gate::new(&Document::generate("pavilion", "k1")?)?;
//! let now_s = 1_800_000_000;
//! let claims = cat::Claims {
//!     session: Some("a-random-name".into()),
//!     expires_s: now_s + 300,
//!     not_before_s: Some(now_s),
//!     uri: vec![(cat::Part::Path, cat::Match::Prefix("/final/".into()))],
//!     countries: Some(vec!["IE".into()]),
//!     renewal: Some(cat::Renewal { add_s: 300, window_s: 120 }),
//!     ..Default::default()
//! };
//! let token = gate.sign(&claims, now_s)?;
//! let ask = Ask::get("/final/r1/main/hls/master.m3u8", now_s);
//! let opened = gate.open(&token, &ask).expect("we signed it");
//! assert_eq!(opened.admits(&ask), Err(pass::Refusal::WrongCountry), "it is not known where this client is");
//! # Ok::<(), pass::Error>(())
//! ```
//!
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

mod ask;
pub mod cat;
mod cbor;
mod claims;
pub mod edge_auth;
pub mod fuzz;
mod gate;
mod keyring;
mod keys;
mod pin;
mod refusal;
mod signer;
mod token;
pub mod uri_signing;

pub use ask::{Ask, Place};
pub use claims::Claims;
pub use gate::{Document, Gate, Pass};
pub use keyring::Secret;
pub use keys::KeySet;
pub use pin::{PIN_BYTES_MAX, PIN_LIFE_S, Pinned, pin};
pub use refusal::Refusal;
pub use signer::Signer;

/// The longest token, in bytes: one with 64 matches and an RSA signature of 4,096 bits has some 4,000. It must fit
/// into a request's head, and is checked for each socket.
pub const TOKEN_BYTES_MAX: usize = 6 << 10;

/// The longest pass, in bytes: it stands in the path of every request, whose target may have 2,048. One of ours has
/// 200 to 400; a list of networks or countries makes it longer.
pub const PASS_BYTES_MAX: usize = 1_536;

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
    /// A secret for passes that cannot be used, or none where one is needed.
    #[error(
        "a key of passes cannot be used: a secret has 32 to 128 bytes in base64url and a name of its own, a key of \
         EdgeAuth 16 or more in hexadecimal, and one must be in use"
    )]
    Secrets,
    /// Not a document with keys of passes: what is wrong with it, and in which line if it is not JSON of that form.
    #[error("the keys of passes cannot be read: {what} (line {line})")]
    Document {
        /// What is wrong.
        what: &'static str,
        /// Where, from 1; 0 for the whole.
        line: usize,
    },
}
