//! What ingest is told.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Error;

/// The variable that gives feeds, which command lines would show to everybody on the machine.
pub const FEED_ENV: &str = "PAVILION_INGEST_FEED";

/// Shortest key of a feed: 16 characters of base64 are 96 bits.
const KEY_MIN: usize = 16;
/// Longest id of a provider: it stands in URLs, in metrics and in keys of the spine.
const ID_MAX: usize = 64;

/// Settings of `pavilion ingest`.
#[derive(Clone, Debug, Default, PartialEq, clap::Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// A feed that is taken, as id:format:key; once for each, or with commas. The format is push or wire, the key what the provider
    /// sends as its bearer token
    #[arg(
        long = "feed",
        value_name = "ID:FORMAT:KEY",
        value_delimiter = ',',
        env = FEED_ENV,
        hide_env_values = true
    )]
    pub feeds: Vec<Feed>,
}

/// A provider.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Feed {
    /// As it stands in `/v1/feeds/{id}` and in every event that it was the first to tell.
    pub id: String,
    /// What it sends.
    pub format: Format,
    /// Its bearer token.
    pub key: String,
}

/// A wire format; see `docs/feeds.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Lines with explicit revisions, over WebSocket or HTTP.
    Push,
    /// Arrays of short items without revisions, over HTTP.
    Wire,
}

impl Config {
    /// Whether these can be.
    ///
    /// # Errors
    /// A sentence that says what cannot.
    pub fn check(&self) -> Result<(), Error> {
        let mut ids: Vec<&str> = self.feeds.iter().map(|feed| feed.id.as_str()).collect();
        ids.sort_unstable();
        match ids.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(Error::Config(format!("the feed {:?} is given twice", pair[0]))),
            None => Ok(()),
        }
    }
}

impl FromStr for Feed {
    type Err = Error;

    fn from_str(text: &str) -> Result<Feed, Error> {
        let refuse = |why: &str| Err(Error::Config(format!("a feed is ID:FORMAT:KEY: {why}")));
        // Nothing of the text goes into the message: it holds a key.
        let mut parts = text.splitn(3, ':');
        let (Some(id), Some(format), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return refuse("a part is missing");
        };
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        if id.is_empty() || id.len() > ID_MAX || !id.bytes().all(plain) {
            return refuse("the id has a to z, 0 to 9 and -, at most 64 of them");
        }
        if id == "scorer" || id.starts_with("scorer-") {
            return refuse("ids of scorers' pages are not given out");
        }
        let format = match format {
            "push" => Format::Push,
            "wire" => Format::Wire,
            _ => return refuse("the format is push or wire"),
        };
        if key.len() < KEY_MIN || !key.bytes().all(|b| b.is_ascii_graphic()) {
            return refuse("the key has at least 16 characters, none of them a space");
        }
        Ok(Feed { id: id.into(), format, key: key.into() })
    }
}

impl TryFrom<String> for Feed {
    type Error = Error;

    fn try_from(text: String) -> Result<Feed, Error> {
        text.parse()
    }
}

impl From<Feed> for String {
    fn from(feed: Feed) -> String {
        let format = match feed.format {
            Format::Push => "push",
            Format::Wire => "wire",
        };
        format!("{}:{format}:{}", feed.id, feed.key)
    }
}

impl fmt::Debug for Feed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{:?}:…", self.id, self.format)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feed_is_read_and_its_key_is_not_shown() {
        let feed: Feed = "a-1:wire:0123456789:abcdef".parse().unwrap();
        assert_eq!(
            (feed.id.as_str(), feed.format, feed.key.as_str()),
            ("a-1", Format::Wire, "0123456789:abcdef")
        );
        assert_eq!(String::from(feed.clone()).parse::<Feed>().unwrap(), feed);
        assert!(!format!("{feed:?}").contains("0123"));
        for wrong in [
            "a",
            "a:push",
            "a:push:short",
            "A:push:0123456789abcdef",
            "a:fax:0123456789abcdef",
            "scorer-x:push:0123456789abcdef",
            ":push:0123456789abcdef",
            "a:push:0123456789 abcdef",
        ] {
            let error = wrong.parse::<Feed>().unwrap_err().to_string();
            assert!(!error.contains("0123"), "{error}");
        }
        let twice = Config { feeds: vec![feed.clone(), feed] };
        assert!(twice.check().is_err());
    }
}
