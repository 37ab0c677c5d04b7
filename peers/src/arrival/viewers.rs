//! Viewers by number: what they are called, what they ask, and the tokens that say who they are, signed with the door's own
//! keys, as if they had logged in before.

use std::io::Write;
use std::net::Ipv4Addr;
use std::ops::Range;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context;
use pass::{Claims, Signer};
use serde::{Deserialize, Serialize};

/// What they all want to see, and what it is sold as.
pub(crate) const MATCH: &str = "cup";
pub(crate) const PRODUCT: &str = "season";

/// Everybody's.
pub(crate) const PASSWORD: &str = "correct horse battery staple";

/// A user token's life at the door.
const TOKEN_LIFE_S: i64 = 15 * 60;

/// Of so many viewers one has not paid.
const UNPAID_EVERY: usize = 50;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Ask {
    /// Play, logged in.
    Play,
    /// The home page: its document.
    Home,
    /// And what it asks the door: which matches there are.
    Matches,
    /// The watch page: its document.
    Watch,
    /// E-mail and password.
    Login,
}

/// As the door knows an account.
pub(crate) fn account(n: usize) -> String {
    format!("a{n}")
}

/// Its address.
pub(crate) fn email(n: usize) -> String {
    format!("a{n}@example.org")
}

/// Whether they bought.
pub(crate) fn has_paid(n: usize) -> bool {
    n % UNPAID_EVERY != 1
}

/// Where each comes from: homes of their own, by the word of a proxy that the door trusts.
fn address(n: usize) -> Ipv4Addr {
    Ipv4Addr::from_bits(Ipv4Addr::new(10, 0, 0, 0).to_bits() | (n as u32 & 0xff_ffff))
}

/// Some of them.
pub(crate) struct Viewers {
    first: usize,
    every: usize,
    tokens: Vec<String>,
}

impl Viewers {
    /// Every so-many-th of those numbers, with tokens signed now. `keys`: the door's folder of keys.
    pub(crate) fn signed(keys: &Path, numbers: Range<usize>, every: usize) -> anyhow::Result<Viewers> {
        let signer = signer(keys)?;
        let exp = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() as i64 + TOKEN_LIFE_S;
        let token = |n: usize| -> anyhow::Result<String> {
            let claims = Claims {
                sub: account(n),
                exp,
                iss: Some("pavilion".into()),
                sid: Some(format!("s{n:030}")),
                dev: Some(format!("d{n:030}")),
                ..Claims::default()
            };
            Ok(signer.sign(&claims)?)
        };
        let (first, numbers) = (numbers.start, numbers.step_by(every));
        Ok(Viewers { first, every, tokens: numbers.map(token).collect::<anyhow::Result<_>>()? })
    }

    /// Those who are nobody yet.
    pub(crate) fn strangers(numbers: Range<usize>) -> Viewers {
        Viewers { first: numbers.start, every: 1, tokens: vec![String::new(); numbers.len()] }
    }

    /// How many.
    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether the `nth` of them bought.
    pub(crate) fn has_paid(&self, nth: usize) -> bool {
        has_paid(self.first + nth * self.every)
    }

    /// Writes the request of the `nth` of them.
    pub(crate) fn write(&self, ask: Ask, nth: usize, to: &mut Vec<u8>) {
        let n = self.first + nth * self.every;
        let (method, path) = match ask {
            Ask::Play => ("POST", format!("/v1/matches/{MATCH}/play")),
            Ask::Home => ("GET", "/".to_owned()),
            Ask::Matches => ("GET", "/v1/matches".to_owned()),
            Ask::Watch => ("GET", format!("/watch/{MATCH}")),
            Ask::Login => ("POST", "/v1/identity/login".to_owned()),
        };
        // Writing into memory cannot fail.
        let _ = write!(
            to,
            "{method} {path} HTTP/1.1\r\nHost: tv.example\r\nX-Forwarded-For: {}\r\n\
             User-Agent: Mozilla/5.0 (Linux; Android 14)\r\nAccept: */*\r\nAccept-Encoding: gzip\r\n",
            address(n)
        );
        if let Some(token) = self.tokens.get(nth).filter(|token| !token.is_empty()) {
            let _ = write!(to, "Authorization: Bearer {token}\r\nPavilion-Device-Name: Phone\r\n");
        }
        let body = match ask {
            Ask::Login => serde_json::json!({ "email": email(n), "password": PASSWORD }).to_string(),
            _ => String::new(),
        };
        if !body.is_empty() {
            let _ = write!(to, "Content-Type: application/json\r\n");
        }
        if method == "POST" {
            let _ = write!(to, "Content-Length: {}\r\n", body.len());
        }
        let _ = write!(to, "\r\n{body}");
    }
}

/// The newest key of the folder, the quick one of two: `{published_ms}-{id}.pk8`.
fn signer(keys: &Path) -> anyhow::Result<Signer> {
    let names = std::fs::read_dir(keys)?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let newest = names.filter(|name| name.ends_with(".pk8")).max().context("the door has no key")?;
    let id = newest.strip_suffix(".pk8").and_then(|name| name.split_once('-'));
    let (_, id) = id.with_context(|| format!("{newest} is no name of a key"))?;
    Ok(Signer::from_pkcs8(id, &std::fs::read(keys.join(&newest))?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_whole() {
        let viewers = Viewers::strangers(7..9);
        let mut text = Vec::new();
        viewers.write(Ask::Login, 1, &mut text);
        let text = String::from_utf8(text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("POST /v1/identity/login HTTP/1.1\r\n") && head.contains("10.0.0.8"));
        assert!(head.ends_with(&format!("Content-Length: {}", body.len())) && body.contains("a8@"), "{text}");
        let mut text = Vec::new();
        viewers.write(Ask::Home, 0, &mut text);
        assert!(text.starts_with(b"GET / HTTP/1.1\r\n") && text.ends_with(b"\r\n\r\n"));
    }
}
