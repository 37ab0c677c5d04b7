//! Akamai EdgeAuth tokens ("Auth Token 2.0"): `st=…~exp=…~acl=/live/*~hmac=…`, signed with HMAC-SHA-256 in hexadecimal.
//!
//! The tag covers the text as its maker wrote it. On its way that text may have been escaped, so both spellings are
//! tried. Fields that are not known are part of what is signed, but may restrict, so such a token is refused.

use std::net::IpAddr;

use ring::hmac;
use serde::{Deserialize, Serialize};

use crate::{Ask, Error, PASS_BYTES_MAX, Refusal};

/// Names that such tokens go by, in queries, cookies and path segments.
pub const NAMES: [&str; 2] = ["hdnts", "hdnea"];

/// Patterns of one token.
const PATTERNS_MAX: usize = 16;

/// The shortest key, in bytes: Akamai's consoles make 16 and more.
const KEY_BYTES_MIN: usize = 16;

/// A key as it stands in a file.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EdgeAuthKey {
    /// Hexadecimal, as Akamai's tools take it.
    pub key: String,
    /// A salt that both sides know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salt: Option<String>,
    /// Whether its maker escapes before it signs (`escape_early`).
    #[serde(default)]
    pub escape_early: bool,
}

impl std::fmt::Debug for EdgeAuthKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("EdgeAuthKey(…)")
    }
}

#[derive(Clone)]
pub(crate) struct Key {
    key: hmac::Key,
    salt: Option<String>,
    escape_early: bool,
}

impl Key {
    pub(crate) fn new(said: &EdgeAuthKey) -> Result<Key, Error> {
        let bytes = unhex(&said.key).filter(|key| key.len() >= KEY_BYTES_MIN).ok_or(Error::Secrets)?;
        let key = hmac::Key::new(hmac::HMAC_SHA256, &bytes);
        Ok(Key { key, salt: said.salt.clone(), escape_early: said.escape_early })
    }

    /// Whether this key signed that text, for any path or for this one.
    fn signed(&self, text: &str, path: Option<&str>, tag: &[u8]) -> bool {
        let mut message = text.to_owned();
        if let Some(path) = path {
            message.push_str("~url=");
            message.push_str(&if self.escape_early { escaped(path) } else { path.to_owned() });
        }
        if let Some(salt) = &self.salt {
            message.push_str("~salt=");
            message.push_str(salt);
        }
        hmac::verify(&self.key, message.as_bytes(), tag).is_ok()
    }
}

/// What a token says.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) starts_s: Option<i64>,
    pub(crate) expires_s: i64,
    pub(crate) session: Option<String>,
    ip: Option<IpAddr>,
    paths: Paths,
}

#[derive(Debug)]
enum Paths {
    /// Patterns, of which one must fit.
    Patterns(Vec<String>),
    /// This one alone, which is signed and not said.
    One(String),
}

/// What a token says, if one of these keys signed it.
///
/// # Errors
///
/// Why it is not taken. The tag is checked before the fields are looked at.
pub(crate) fn open(token: &str, keys: &[Key], ask: &Ask<'_>) -> Result<Said, Refusal> {
    if token.len() > PASS_BYTES_MAX || !token.is_ascii() {
        return Err(Refusal::Malformed);
    }
    if keys.is_empty() {
        return Err(Refusal::UnknownKey);
    }
    let plain = unescaped(token);
    let mut verdict = Refusal::Malformed;
    // What is read is what was signed: an escape in it may hide a '~' that must stay hidden.
    for spelling in [token, &plain] {
        let Some((text, tag)) = spelling.rsplit_once("~hmac=") else { continue };
        let Some(tag) = unhex(tag).filter(|tag| tag.len() == 32) else { continue };
        // A token that says no patterns is for the path that was signed with it.
        let path = text.split('~').all(|field| !field.starts_with("acl=")).then_some(ask.path);
        if keys.iter().any(|key| key.signed(text, path, &tag)) {
            return read(text, path);
        }
        verdict = Refusal::Forged;
    }
    Err(verdict)
}

fn read(text: &str, path: Option<&str>) -> Result<Said, Refusal> {
    let number = |text: &str| text.parse::<u32>().map(i64::from).map_err(|_| Refusal::Malformed);
    let (mut starts, mut expires, mut session, mut data) = (None, None, None, None);
    let (mut ip, mut patterns) = (None, None);
    for field in text.split('~') {
        let (name, value) = field.split_once('=').ok_or(Refusal::Malformed)?;
        let again = match name {
            "st" => starts.replace(number(value)?).is_some(),
            "exp" => expires.replace(number(value)?).is_some(),
            "id" => session.replace(unescaped(value).into_owned()).is_some(),
            "data" => data.replace(()).is_some(),
            "ip" => {
                let address = unescaped(value).parse::<IpAddr>().map_err(|_| Refusal::Malformed)?;
                ip.replace(address.to_canonical()).is_some()
            }
            "acl" => {
                let list: Vec<String> = unescaped(value).split('!').map(str::to_owned).collect();
                if list.len() > PATTERNS_MAX {
                    return Err(Refusal::Malformed);
                }
                patterns.replace(list).is_some()
            }
            _ => return Err(Refusal::Unsupported),
        };
        // Two readers could take two different ones.
        if again {
            return Err(Refusal::Malformed);
        }
    }
    let paths = match (patterns, path) {
        (Some(patterns), _) => Paths::Patterns(patterns),
        (None, Some(path)) => Paths::One(path.to_owned()),
        (None, None) => return Err(Refusal::Malformed),
    };
    let expires_s = expires.ok_or(Refusal::Malformed)?;
    Ok(Said { starts_s: starts, expires_s, session, ip, paths })
}

impl Said {
    pub(crate) fn admits(&self, ask: &Ask<'_>) -> Result<(), Refusal> {
        let fits = match &self.paths {
            Paths::Patterns(patterns) => {
                patterns.iter().any(|pattern| fits(pattern.as_bytes(), ask.path.as_bytes()))
            }
            Paths::One(path) => path == ask.path,
        };
        if !fits {
            return Err(Refusal::WrongPath);
        }
        match self.ip {
            Some(ip) if ask.client.map(|client| client.to_canonical()) != Some(ip) => {
                Err(Refusal::WrongNetwork)
            }
            _ => Ok(()),
        }
    }
}

/// Whether a path is what a pattern describes: `*` stands for any characters, `?` for one. Goes back to the last `*`
/// only, so its time grows with the product of the two lengths at most.
fn fits(pattern: &[u8], path: &[u8]) -> bool {
    let (mut p, mut at, mut star) = (0, 0, None);
    while at < path.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, at));
                p += 1;
            }
            Some(b) if *b == b'?' || *b == path[at] => {
                p += 1;
                at += 1;
            }
            _ => {
                let Some((before, begun)) = star else { return false };
                star = Some((before, begun + 1));
                p = before + 1;
                at = begun + 1;
            }
        }
    }
    pattern[p..].iter().all(|b| *b == b'*')
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |b: u8| char::from(b).to_digit(16).map(|d| d as u8);
    if !text.len().is_multiple_of(2) {
        return None;
    }
    text.as_bytes().chunks(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

/// Without percent-escapes; what is none stays as it is, and so does what would not be ASCII.
fn unescaped(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.contains('%') {
        return text.into();
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        plain.push_str(before);
        let escaped = after.get(..2).and_then(unhex).map(|hex| hex[0]).filter(u8::is_ascii);
        rest = match escaped {
            Some(b) => {
                plain.push(char::from(b));
                &after[2..]
            }
            None => {
                plain.push('%');
                after
            }
        };
    }
    plain.push_str(rest);
    plain.into()
}

/// As Akamai's tools escape: everything but letters, digits, `_`, `.`, `-` and `~`, in lower case.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for b in text.bytes() {
        match b {
            b' ' => out.push('+'),
            _ if b.is_ascii_alphanumeric() || b"_.-~".contains(&b) => out.push(char::from(b)),
            _ => out.push_str(&format!("%{b:02x}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn patterns_fit_what_they_describe() {
        for (pattern, path, is) in [
            ("/*", "/final/v.m3u8", true),
            ("/final/*", "/final/a/b.m4s", true),
            ("/final/*", "/finale/a", false),
            ("/*/v1/*.m4s", "/final/v1/1.m4s", true),
            ("/*/v1/*.m4s", "/final/v1/1.mp4", false),
            ("/?/x", "/a/x", true),
            ("/?/x", "/ab/x", false),
            ("/a", "/a", true),
            ("/a", "/ab", false),
            ("", "/", false),
            ("*", "", true),
        ] {
            assert_eq!(fits(pattern.as_bytes(), path.as_bytes()), is, "{pattern} {path}");
        }
    }

    proptest! {
        #[test]
        fn a_star_stands_for_anything(a in "[a-c]{0,4}", b in "[a-c]{0,6}", c in "[a-c]{0,4}") {
            let path = [a.as_str(), &b, &c].concat();
            let pattern = [a.as_str(), "*", &c].concat();
            prop_assert!(fits(pattern.as_bytes(), path.as_bytes()));
        }

        /// The same as an expression that says so.
        #[test]
        fn fits_as_an_expression_does(pattern in "[ab?*]{0,8}", path in "[ab]{0,8}") {
            let expression = pattern.replace('?', ".").replace('*', ".*");
            let regex = regex_lite::Regex::new(&format!("^{expression}$")).unwrap();
            prop_assert_eq!(fits(pattern.as_bytes(), path.as_bytes()), regex.is_match(&path));
        }

        #[test]
        fn escapes_come_back(text in "[ -~]{0,40}") {
            let text = text.replace(['+', ' '], "");
            let escaped = escaped(&text);
            prop_assert_eq!(unescaped(&escaped), text);
        }
    }
}
