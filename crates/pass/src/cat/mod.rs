//! Common Access Tokens (CTA-5007): a CWT (RFC 8392) in a COSE_Mac0 (RFC 9052) with HMAC-SHA-256.
//!
//! `sub` is the session, from which everything that is done to a session hangs (revoking it, counting its networks);
//! it is a random name and no account. `cti` is one token of it, and `nbf` when the session began: it stays when a
//! token is renewed, and no renewal reaches past [`SESSION_S_MAX`] after it.
//!
//! What others leave unchecked and is checked here, because an issuer who writes it relies on it:
//!
//! * `iss` and `exp` must be there; `aud` is refused unless it is ours;
//! * every claim that restricts (`catm`, `catgeoiso3166`, `catnip`, every condition of `catu`, not only the first of
//!   each part) is asked, and refused where the fact is not known: a country without a database is no country;
//! * a claim that is not understood, or a version other than 1, is refused. Informational ones (`iat`, `catif`,
//!   `catifdata`) restrict nothing and are passed over;
//! * the algorithm is HMAC 256/256, named in the protected header; nothing but the key's name may stand outside what
//!   is authenticated, and no bytes after it; a claim may stand there once.

mod claims;
mod network;
mod token;
pub(crate) mod uri;

pub use claims::{Claims, Renewal};
pub use network::Network;
pub use uri::{Match, Part, Uri};

pub(crate) use token::{open, renewed, sign};

/// The longest session, in seconds, whatever is renewed: a match of eight hours and four more.
pub const SESSION_S_MAX: i64 = 12 * 3_600;

/// The header in which a token is renewed and may be sent.
pub const HEADER: &str = "cta-common-access-token";
