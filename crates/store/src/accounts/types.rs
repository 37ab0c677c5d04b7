//! What is kept of a viewer.

use std::fmt;

/// SHA-256 of a secret. The secret itself is never kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(pub [u8; 32]);

/// What the successor of a refresh token is made from, beside that token.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Salt(pub [u8; 16]);

// Not secrets by themselves, but nothing that belongs into a log either.
impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Digest(…)")
    }
}

impl fmt::Debug for Salt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Salt(…)")
    }
}

/// Somebody.
#[derive(Clone, PartialEq, Eq)]
pub struct Account {
    /// As it stands in tokens.
    pub id: String,
    /// In the one form in which addresses are compared; none for who comes by an identity provider only.
    pub email: Option<String>,
    /// Argon2id, as a PHC string; none for who has no password.
    pub password: Option<String>,
    /// UTC, milliseconds.
    pub created_ms: i64,
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Account({})", self.id)
    }
}

/// How an identity provider knows somebody (OpenID Connect Core, 2: `iss` and `sub` together, and nothing else).
#[derive(Clone, PartialEq, Eq)]
pub struct External {
    /// The provider.
    pub issuer: String,
    /// Its name for the viewer.
    pub subject: String,
}

/// A code that was sent to an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// Of the code.
    pub digest: Digest,
    /// UTC, milliseconds.
    pub expires_ms: i64,
    /// Wrong ones that are still allowed.
    pub tries: u32,
}

/// How using a code went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It was this one, and is used up.
    Yes,
    /// It was not, or there is none (any more).
    No,
}

/// Somebody in a household.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Unique everywhere.
    pub id: String,
    /// Whose.
    pub account: String,
    /// For people.
    pub name: String,
    /// BCP 47.
    pub language: Option<String>,
    /// UTC, milliseconds; a change leaves it.
    pub created_ms: i64,
}

/// How a profile was put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// There was none.
    Made,
    /// There was one.
    Changed,
    /// The account has as many as it may have.
    Full,
    /// There is no such account, or the profile is another's.
    Absent,
}

/// Somebody signed in on a device: a family of refresh tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// As it stands in tokens and lists; it opens nothing.
    pub id: String,
    /// Whose.
    pub account: String,
    /// On which device.
    pub device: String,
    /// The device, for people.
    pub label: String,
    /// Chosen.
    pub profile: Option<String>,
    /// UTC, milliseconds.
    pub created_ms: i64,
    /// When a token was exchanged last.
    pub used_ms: i64,
    /// It is over from then on, if no token is exchanged before.
    pub expires_ms: i64,
}

/// A session that begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSession {
    /// What will be listed.
    pub session: Session,
    /// Of the secret that all tokens of the family share.
    pub family: Digest,
    /// Of the first token.
    pub token: Digest,
}

/// A refresh token is presented.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rotation {
    /// Of the family's secret.
    pub family: Digest,
    /// Of the token that was presented.
    pub token: Digest,
    /// Of the token that comes next, made from the presented one with `salt`.
    pub successor: Digest,
    /// Kept, so that the same successor can be made again.
    pub salt: Salt,
    /// UTC, milliseconds.
    pub now_ms: i64,
    /// For how long the last token still gives its successor, in milliseconds.
    pub grace_ms: i64,
    /// Until when the session goes on now.
    pub expires_ms: i64,
}

/// What becomes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rotated {
    /// The presented token is used up, and the successor is good.
    Next(Session),
    /// It was used up a moment ago, by an answer that was lost or a second tap: the successor that was made then (with
    /// this salt) is good. It was not presented yet, or this would be [`Rotated::Reused`].
    Again(Session, Salt),
    /// An old token: somebody else has one of this family. The session has been ended.
    Reused(Session),
    /// No such family, or its session is over.
    Unknown,
}
