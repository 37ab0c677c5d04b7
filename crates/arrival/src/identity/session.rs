//! Sessions: families of refresh tokens, of which one at a time is good.
//!
//! A token is `r1.{family}.{secret}`. The family's part stays; it is looked up by its digest, so that nobody who does
//! not have a token of a family can end it. The next secret is made from the last one and a salt that is kept: whoever
//! presents the last token again within [`GRACE_MS`] is given the same successor, though no token is kept anywhere.

use store::{Account, NewSession, Rotated, Rotation, Salt, Session};

use super::limits::{GRACE_MS, SESSION_LIFE_MS, SESSIONS_MAX};
use super::{Error, Identity, secret};

/// A refresh token.
struct Refresh {
    family: [u8; 16],
    secret: [u8; 32],
}

impl Refresh {
    fn read(text: &str) -> Option<Refresh> {
        let (family, secret) = text.strip_prefix("r1.")?.split_once('.')?;
        Some(Refresh { family: secret::decode(family)?, secret: secret::decode(secret)? })
    }

    fn write(&self) -> String {
        format!("r1.{}.{}", secret::encode(self.family), secret::encode(self.secret))
    }

    fn successor(&self, salt: &Salt) -> Refresh {
        Refresh { family: self.family, secret: secret::mac(&self.secret, &[b"refresh", &salt.0]) }
    }
}

/// A session with the token that goes on with it.
pub(crate) struct Begun {
    pub(crate) session: Session,
    pub(crate) refresh: String,
}

/// What becomes of a refresh token.
pub(crate) enum Refreshed {
    Good(Begun),
    /// It was used before: the session has been ended, for whoever has the other one.
    Reused,
    /// No token of ours, or of a session that is over.
    Unknown,
}

impl Identity {
    /// Signs an account in on a device.
    pub(crate) async fn begin(&self, account: &Account, device: &str, label: &str) -> Result<Begun, Error> {
        let token = Refresh { family: secret::random()?, secret: secret::random()? };
        let now_ms = self.now_ms();
        let session = Session {
            id: secret::name()?,
            account: account.id.clone(),
            device: device.to_owned(),
            label: label.to_owned(),
            profile: None,
            created_ms: now_ms,
            used_ms: now_ms,
            expires_ms: now_ms + SESSION_LIFE_MS,
        };
        let new =
            NewSession { session, family: secret::digest(token.family), token: secret::digest(token.secret) };
        self.accounts().begin(&new, SESSIONS_MAX).await?;
        Ok(Begun { session: new.session, refresh: token.write() })
    }

    /// Exchanges a refresh token for its successor.
    pub(crate) async fn exchange(&self, text: &str) -> Result<Refreshed, Error> {
        let Some(token) = Refresh::read(text) else { return Ok(Refreshed::Unknown) };
        let salt = Salt(secret::random()?);
        let next = token.successor(&salt);
        let now_ms = self.now_ms();
        let rotation = Rotation {
            family: secret::digest(token.family),
            token: secret::digest(token.secret),
            successor: secret::digest(next.secret),
            salt,
            now_ms,
            grace_ms: GRACE_MS,
            expires_ms: now_ms + SESSION_LIFE_MS,
        };
        Ok(match self.accounts().rotate(&rotation).await? {
            Rotated::Next(session) => Refreshed::Good(Begun { session, refresh: next.write() }),
            Rotated::Again(session, salt) => {
                Refreshed::Good(Begun { session, refresh: token.successor(&salt).write() })
            }
            Rotated::Reused(session) => {
                metrics::counter!("identity_refresh_reused_total").increment(1);
                tracing::warn!(
                    session = session.id,
                    "an old refresh token was presented; the session is ended"
                );
                Refreshed::Reused
            }
            Rotated::Unknown => Refreshed::Unknown,
        })
    }
}
