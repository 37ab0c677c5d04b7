//! What is said of encrypted media: never a key, only its name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Error;

/// A key's name (ISO/IEC 23001-7, KID), written as 32 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Kid(pub [u8; 16]);

/// How samples are encrypted (ISO/IEC 23001-7, 10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// AES-128-CBC, one block of ten of video, a constant IV.
    Cbcs,
    /// AES-128-CTR.
    Cenc,
}

/// What an object is encrypted with, and which key is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protection {
    /// How.
    pub scheme: Scheme,
    /// With which key.
    pub kid: Kid,
    /// PlayReady's check value of the key, which its header for `cenc` carries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum: Option<Checksum>,
    /// The key of the next period, once it is announced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Next>,
}

/// An announced key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Next {
    /// Its name.
    pub kid: Kid,
    /// The first segment that is encrypted with it.
    pub msn: u64,
}

/// The first eight bytes of the key's encryption of its own name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checksum(pub [u8; 8]);

impl Scheme {
    /// Its four characters, as in `schm`.
    pub fn fourcc(self) -> [u8; 4] {
        match self {
            Scheme::Cbcs => *b"cbcs",
            Scheme::Cenc => *b"cenc",
        }
    }
}

impl Protection {
    /// Whether both are of one key. What is announced of the next one may come later.
    pub fn same_key(&self, other: &Protection) -> bool {
        (self.scheme, self.kid) == (other.scheme, other.kid)
    }
}

impl fmt::Display for Kid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Kid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kid({self})")
    }
}

impl FromStr for Kid {
    type Err = Error;
    fn from_str(s: &str) -> Result<Self, Error> {
        let digit = |b: u8| match b {
            b'0'..=b'9' => Some(b - b'0'),
            b'a'..=b'f' => Some(b - b'a' + 10),
            _ => None,
        };
        let bad = || Error::Kid(s.chars().take(crate::name::TOKEN_MAX).collect());
        let (pairs, rest) = s.as_bytes().as_chunks::<2>();
        if pairs.len() != 16 || !rest.is_empty() {
            return Err(bad());
        }
        let mut kid = [0; 16];
        for (byte, [high, low]) in kid.iter_mut().zip(pairs) {
            *byte = digit(*high).ok_or_else(bad)? << 4 | digit(*low).ok_or_else(bad)?;
        }
        Ok(Kid(kid))
    }
}

impl TryFrom<String> for Kid {
    type Error = Error;
    fn try_from(s: String) -> Result<Self, Error> {
        s.parse()
    }
}

impl From<Kid> for String {
    fn from(kid: Kid) -> String {
        kid.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kid_has_one_spelling() {
        let kid = Kid(std::array::from_fn(|n| n as u8 * 17));
        assert_eq!(kid.to_string(), "00112233445566778899aabbccddeeff");
        assert_eq!(kid.to_string().parse::<Kid>().unwrap(), kid);
        for bad in [
            "",
            "00112233445566778899AABBCCDDEEFF",
            "00112233445566778899aabbccddeef",
            "é0112233445566778899aabbccddeef",
        ] {
            assert!(bad.parse::<Kid>().is_err(), "{bad}");
        }
    }
}
