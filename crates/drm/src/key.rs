//! Content keys.

use std::fmt;

use aes::Aes128;
use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};
use ring::digest;
use serde::{Deserialize, Serialize};
use timeline::name::Token;
use timeline::protection::{Checksum, Kid};

use crate::provider::PERIODS_MAX;

/// Pictures of at least this many lines on their shorter side are high definition.
const HD_LINES: u32 = 720;

/// Whose keys they are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scope {
    /// The match.
    pub r#match: Token,
    /// One angle of it.
    pub programme: Token,
}

/// Tracks that share a key: those that a licence gives or withholds together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// All languages.
    Audio,
    /// Pictures below 720 lines.
    Sd,
    /// Pictures of 720 lines and more.
    Hd,
}

/// Sixteen bytes that are nobody's business.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub [u8; 16]);

/// A content key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its name.
    pub kid: Kid,
    /// The key.
    pub secret: Secret,
    /// Constant IV of `cbcs`; no secret.
    pub iv: [u8; 16],
}

impl Class {
    /// All of them.
    pub const ALL: [Class; 3] = [Class::Audio, Class::Sd, Class::Hd];

    /// Of a picture of that size.
    pub fn of_picture(width: u32, height: u32) -> Class {
        if width.min(height) < HD_LINES { Class::Sd } else { Class::Hd }
    }

    /// As SPEKE v2 calls it (intendedTrackType).
    pub fn name(self) -> &'static str {
        match self {
            Class::Audio => "AUDIO",
            Class::Sd => "SD",
            Class::Hd => "HD",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Scope {
    /// The name of a key, which is no secret: the first half of the SHA-256 of what it is for. Whoever knows the match
    /// knows its keys' names, so packagers and licence servers need not tell each other.
    pub fn kid(&self, class: Class, period: u64) -> Kid {
        let digest = digest::digest(&digest::SHA256, &self.message("kid", class, period));
        Kid(first_half(digest.as_ref()))
    }

    /// What a name is of, looked for in some periods, latest first.
    pub(crate) fn find(&self, kid: Kid, periods: std::ops::RangeInclusive<u64>) -> Option<(Class, u64)> {
        let of = |period| Class::ALL.into_iter().map(move |class| (class, period));
        periods.rev().take(PERIODS_MAX).flat_map(of).find(|(class, period)| self.kid(*class, *period) == kid)
    }

    /// `purpose`, match, programme and class, separated by bytes that none of them has, and the period.
    pub(crate) fn message(&self, purpose: &str, class: Class, period: u64) -> Vec<u8> {
        let parts = ["pavilion drm 1", purpose, self.r#match.as_str(), self.programme.as_str(), class.name()];
        let mut message = parts.join("\0").into_bytes();
        message.push(0);
        message.extend_from_slice(&period.to_be_bytes());
        message
    }
}

impl Key {
    /// PlayReady's check value (PlayReady Header, CHECKSUM): the key's encryption of its own name.
    pub fn checksum(&self) -> Checksum {
        let cipher = Aes128::new(&self.secret.0.into());
        let mut block = Array::from(crate::pssh::guid(self.kid));
        cipher.encrypt_block(&mut block);
        let [a, b, c, d, e, f, g, h, ..]: [u8; 16] = block.into();
        Checksum([a, b, c, d, e, f, g, h])
    }
}

/// The first 16 bytes of a SHA-256.
pub(crate) fn first_half(digest: &[u8]) -> [u8; 16] {
    digest.first_chunk().copied().unwrap_or_default()
}
