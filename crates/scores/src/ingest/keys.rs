//! Who may speak: providers by the keys of the configuration, scorers by their tokens.

use std::collections::BTreeMap;

use http::{HeaderMap, header};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::config::{Feed, Format};

/// The keys of providers, hashed: comparing takes the same time whatever was sent.
pub(super) struct Keys {
    feeds: BTreeMap<String, ([u8; 32], Format)>,
}

impl Keys {
    pub(super) fn new(feeds: &[Feed]) -> Keys {
        let digest =
            |feed: &Feed| (feed.id.clone(), (Sha256::digest(feed.key.as_bytes()).into(), feed.format));
        Keys { feeds: feeds.iter().map(digest).collect() }
    }

    /// What this provider sends, if this is its key.
    pub(super) fn of(&self, provider: &str, bearer: Option<&str>) -> Option<Format> {
        let said: [u8; 32] = Sha256::digest(bearer.unwrap_or_default().as_bytes()).into();
        // A provider that is not there takes as long as a wrong key.
        let (key, format) = self.feeds.get(provider).copied().unwrap_or(([0; 32], Format::Push));
        bool::from(key.ct_eq(&said)).then_some(format)
    }

    /// Whether this is anybody's key.
    pub(super) fn any(&self, bearer: Option<&str>) -> bool {
        self.feeds.keys().fold(false, |found, provider| found | self.of(provider, bearer).is_some())
    }
}

/// The token of `Authorization: Bearer` (RFC 6750, section 2.1).
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_own_key_opens_a_feed() {
        let feeds = ["a:push:aaaaaaaaaaaaaaaa".parse().unwrap(), "b:wire:bbbbbbbbbbbbbbbb".parse().unwrap()];
        let keys = Keys::new(&feeds);
        assert_eq!(keys.of("a", Some("aaaaaaaaaaaaaaaa")), Some(Format::Push));
        assert_eq!(keys.of("b", Some("bbbbbbbbbbbbbbbb")), Some(Format::Wire));
        assert_eq!(keys.of("a", Some("bbbbbbbbbbbbbbbb")), None);
        assert_eq!(keys.of("c", Some("aaaaaaaaaaaaaaaa")), None);
        assert_eq!(keys.of("a", None), None);
        assert!(keys.any(Some("bbbbbbbbbbbbbbbb")) && !keys.any(Some("")) && !keys.any(None));
    }
}
