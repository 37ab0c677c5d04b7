//! Names in URLs: `{match}/{run}/{programme}/{track}/…`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Error;

/// The longest token; a URL of all of them stays far below any limit.
pub const TOKEN_MAX: usize = 64;

/// A match, run, programme or track name: 1 to 64 of `a-z`, `0-9` and `-`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Token(String);

impl Token {
    /// The name as it stands in a URL.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Token {
    type Err = Error;
    fn from_str(s: &str) -> Result<Self, Error> {
        let fits = (1..=TOKEN_MAX).contains(&s.len())
            && !s.starts_with('-')
            && s.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-'));
        if fits { Ok(Token(s.to_owned())) } else { Err(Error::Token(s.chars().take(TOKEN_MAX).collect())) }
    }
}

impl TryFrom<String> for Token {
    type Error = Error;
    fn try_from(s: String) -> Result<Self, Error> {
        s.parse()
    }
}

impl From<Token> for String {
    fn from(t: Token) -> String {
        t.0
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where a programme lives: `{match}/{run}/{programme}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgrammePath {
    /// The match.
    pub r#match: Token,
    /// The run: see [`crate::Utc::run`].
    pub run: Token,
    /// The programme (one angle).
    pub programme: Token,
}

impl fmt::Display for ProgrammePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.r#match, self.run, self.programme)
    }
}

/// Which pipeline made an object. A's and B's bytes differ, so the letter stands in the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Letter {
    /// Pipeline A, preferred.
    A,
    /// Pipeline B.
    B,
}

impl Letter {
    /// Both, in the fixed order of preference.
    pub const ALL: [Letter; 2] = [Letter::A, Letter::B];

    /// The other one.
    pub fn other(self) -> Letter {
        match self {
            Letter::A => Letter::B,
            Letter::B => Letter::A,
        }
    }

    /// Its place in [`Self::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Letter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Letter::A => "a",
            Letter::B => "b",
        })
    }
}

impl FromStr for Letter {
    type Err = Error;
    fn from_str(s: &str) -> Result<Self, Error> {
        match s {
            "a" => Ok(Letter::A),
            "b" => Ok(Letter::B),
            _ => Err(Error::Letter(s.chars().take(TOKEN_MAX).collect())),
        }
    }
}

/// An init segment is named by its content (the first 32 bits of its SHA-256, in hex), so that both
/// pipelines name the same bytes alike without asking each other, and a changed one never reuses a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct InitId(pub u32);

impl fmt::Display for InitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}

impl FromStr for InitId {
    type Err = Error;
    fn from_str(s: &str) -> Result<Self, Error> {
        let lower_hex = s.len() == 8 && s.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        match u32::from_str_radix(s, 16) {
            Ok(id) if lower_hex => Ok(InitId(id)),
            _ => Err(Error::Object(s.chars().take(TOKEN_MAX).collect())),
        }
    }
}

impl TryFrom<String> for InitId {
    type Error = Error;
    fn try_from(s: String) -> Result<Self, Error> {
        s.parse()
    }
}

impl From<InitId> for String {
    fn from(id: InitId) -> String {
        id.to_string()
    }
}

/// An object of a track, and its path below the programme.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Object {
    /// Which track it belongs to.
    pub track: Token,
    /// What it is.
    pub kind: Kind,
}

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `init-{id}.mp4`.
    Init(InitId),
    /// `{msn}{letter}.m4s`.
    Segment {
        /// Which segment.
        msn: u64,
        /// Whose.
        letter: Letter,
    },
    /// `{msn}{letter}.{part}.m4s`.
    Part {
        /// Which segment.
        msn: u64,
        /// Whose.
        letter: Letter,
        /// Which part of it.
        part: u32,
    },
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.track, self.kind)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Init(id) => write!(f, "init-{id}.mp4"),
            Kind::Segment { msn, letter } => write!(f, "{msn}{letter}.m4s"),
            Kind::Part { msn, letter, part } => write!(f, "{msn}{letter}.{part}.m4s"),
        }
    }
}

impl FromStr for Object {
    type Err = Error;
    fn from_str(s: &str) -> Result<Self, Error> {
        let bad = || Error::Object(s.chars().take(2 * TOKEN_MAX).collect());
        let (track, file) = s.split_once('/').ok_or_else(bad)?;
        let track = track.parse().map_err(|_| bad())?;
        Ok(Object { track, kind: kind(file).ok_or_else(bad)? })
    }
}

fn kind(file: &str) -> Option<Kind> {
    if let Some(id) = file.strip_prefix("init-") {
        return Some(Kind::Init(id.strip_suffix(".mp4")?.parse().ok()?));
    }
    let stem = file.strip_suffix(".m4s")?;
    let letter_at = stem.find(['a', 'b'])?;
    let msn = decimal(&stem[..letter_at])?;
    let letter = stem[letter_at..=letter_at].parse().ok()?;
    match &stem[letter_at + 1..] {
        "" => Some(Kind::Segment { msn, letter }),
        rest => {
            let part = u32::try_from(decimal(rest.strip_prefix('.')?)?).ok()?;
            Some(Kind::Part { msn, letter, part })
        }
    }
}

/// A decimal in its one canonical form, so that an object has exactly one name.
fn decimal(s: &str) -> Option<u64> {
    let canonical = s.bytes().all(|b| b.is_ascii_digit()) && (s.len() == 1 || !s.starts_with('0'));
    if canonical { s.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_name_per_object() {
        for good in ["v720/init-00ff00ff.mp4", "v720/0a.m4s", "en/1837b.5.m4s"] {
            assert_eq!(good.parse::<Object>().unwrap().to_string(), good);
        }
        for bad in [
            "",
            "v720",
            "v720/",
            "v720/1.m4s",
            "v720/01a.m4s",
            "v720/1c.m4s",
            "v720/1a.05.m4s",
            "v720/1a..m4s",
            "v720/+1a.m4s",
            "V/1a.m4s",
            "v720/init-00FF00FF.mp4",
            "v720/99999999999999999999a.m4s",
            "../1a.m4s",
            "v/1a.m4s/x",
            "v720/1a.4294967296.m4s",
            "-/1a.m4s",
        ] {
            assert!(bad.parse::<Object>().is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn whatever_parses_prints_the_same(s in "[a-z0-9-]{1,4}/(init-)?[0-9ab.]{0,12}(\\.m4s|\\.mp4)?") {
            if let Ok(object) = s.parse::<Object>() {
                prop_assert_eq!(object.to_string(), s);
            }
        }
    }
}
