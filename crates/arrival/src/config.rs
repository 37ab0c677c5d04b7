//! What the app is told.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use store::Place;
use timeline::Utc;
use timeline::name::Token;

use crate::Error;
use crate::play::limits::{PASS_S, RENEWED_S};
use crate::shed::limits::ADDRESS_PER_S;
use crate::whereabouts::{Files, Trusted};

/// Where the door's files are unless set: beside the other roles' of this machine.
const VAR: &str = "var";

/// Settings of `pavilion arrival`.
#[derive(Clone, Debug, PartialEq, clap::Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The match, as it stands in URLs.
    #[arg(long, default_value = "demo")]
    pub r#match: Token,
    /// The match, for people.
    #[arg(long, default_value = "Demo match")]
    pub title: String,
    /// The programme that viewers are given.
    #[arg(long, default_value = "main")]
    pub programme: Token,
    /// The instant that MSN 0 begins: the same as the pipelines'.
    #[arg(long)]
    pub epoch: Utc,
    /// Where viewers fetch video: :8081 for that port of the host they came to, or a URL.
    #[arg(long, default_value = ":8081")]
    pub edge: Edge,
    /// The word that opens the edge, where there are no passes.
    #[arg(long, default_value = "open")]
    pub pass: String,
    /// JSON file with the keys of passes, the same as the edges have, read again when it changes: everybody gets a pass of
    /// their own instead of the word.
    #[arg(long, value_name = "FILE")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_keys: Option<PathBuf>,
    /// How long a pass is good before an edge renews it.
    #[arg(long, value_name = "SECONDS", default_value_t = PASS_S, value_parser = clap::value_parser!(u32).range(3..=86_400))]
    #[serde(default = "pass_life")]
    pub pass_life: u32,
    /// How long edges renew a pass before the player must ask to play again; a quarter of it where the match hangs on the
    /// place.
    #[arg(long, value_name = "SECONDS", default_value_t = RENEWED_S, value_parser = clap::value_parser!(u32).range(3..=43_200))]
    #[serde(default = "pass_renewed")]
    pub pass_renewed: u32,
    /// Admin port of an edge, which is told of sessions that are over: :9090, or http://10.0.0.5:9090; repeat for more.
    #[arg(long = "edge-admin", value_name = "URL")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edge_admins: Vec<Edge>,
    /// Bind passes to the viewer's network (its ASN) beside the country: who changes from Wi-Fi to mobile asks again.
    #[arg(long)]
    #[serde(default)]
    pub bind_networks: bool,
    /// Where viewers get scores: :8082 for that port of the host they came to, or a URL. Without it there are none.
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scores: Option<Edge>,
    /// Where scorers' pages send what happens: :8087, or a URL.
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feeds: Option<Edge>,
    /// The sport of the match, if it is scored: cricket or football.
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sport: Option<String>,
    /// A match that is scored and has no picture, as id:sport:title; repeat for more.
    #[arg(long = "scored", value_name = "ID:SPORT:TITLE")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scored: Vec<Scored>,
    /// Where the catalog and the levers are: a file for SQLite, or postgres://user@host/database.
    #[arg(long, value_name = "FILE|URL", default_value = "var/pavilion.db")]
    #[serde(default = "store")]
    pub store: Place,
    /// Where purchases, provisional passes and the history of changes are: a file for SQLite, or
    /// postgres://user@host/database.
    #[arg(long, value_name = "FILE|URL", default_value = "var/entitlements.db")]
    #[serde(default = "entitlements")]
    pub entitlements: Place,
    /// File, on this machine's own disk, of who was let in while that database was gone.
    #[arg(long, value_name = "FILE", default_value = "var/provisional.journal")]
    #[serde(default = "journal")]
    pub journal: PathBuf,
    /// Keep no copy of all purchases: ask the database for each account when it first comes.
    #[arg(long)]
    #[serde(default)]
    pub no_copy: bool,
    /// Where viewers are.
    #[command(flatten)]
    #[serde(default)]
    pub places: Files,
    /// Proxies whose X-Forwarded-For is believed: 10.0.0.0/8; repeat for more.
    #[arg(long = "trusted-proxy", value_name = "NETWORK")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trusted_proxies: Vec<Trusted>,
    /// Requests that one address may send in a second.
    #[arg(long, value_name = "N", default_value_t = ADDRESS_PER_S)]
    #[serde(default = "per_address")]
    pub per_address: u32,
    /// Where players of encrypted matches get licences: :8080, or a URL.
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub licence: Option<Edge>,
    /// Whether the match of this configuration is encrypted, if not as the catalog says.
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encrypted: Option<bool>,
    /// What licences are made with.
    #[command(flatten)]
    #[serde(default)]
    pub licences: crate::licence::Config,
    /// Where players tell how they are and are steered: :8083, or a URL.
    #[arg(long)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub telemetry: Option<Edge>,
}

fn store() -> Place {
    Path::new(VAR).join("pavilion.db").into()
}

fn entitlements() -> Place {
    Path::new(VAR).join("entitlements.db").into()
}

fn journal() -> PathBuf {
    Path::new(VAR).join("provisional.journal")
}

fn pass_life() -> u32 {
    PASS_S
}

fn pass_renewed() -> u32 {
    RENEWED_S
}

fn per_address() -> u32 {
    ADDRESS_PER_S
}

/// A match without a picture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Scored {
    /// As it stands in URLs.
    pub r#match: Token,
    /// `cricket`, `football`.
    pub sport: String,
    /// For people.
    pub title: String,
}

impl FromStr for Scored {
    type Err = Error;
    fn from_str(s: &str) -> Result<Self, Error> {
        let bad = || Error::Scored(s.to_owned());
        let mut parts = s.splitn(3, ':');
        let (Some(id), Some(sport), Some(title)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(bad());
        };
        let r#match = id.parse().map_err(|_| bad())?;
        Ok(Scored { r#match, sport: sport.to_owned(), title: title.to_owned() })
    }
}

impl TryFrom<String> for Scored {
    type Error = Error;
    fn try_from(s: String) -> Result<Self, Error> {
        s.parse()
    }
}

impl From<Scored> for String {
    fn from(one: Scored) -> String {
        format!("{}:{}:{}", one.r#match, one.sport, one.title)
    }
}

/// Where the video edge is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Edge {
    /// This port of the host by which the viewer reached the app.
    Port(u16),
    /// A base URL without a trailing slash.
    Url(String),
}

impl Edge {
    /// The base URL for a viewer who came by this `Host` header.
    pub fn base(&self, host: Option<&str>) -> String {
        match self {
            Edge::Url(url) => url.clone(),
            Edge::Port(port) => format!("http://{}:{port}", host.and_then(name_of).unwrap_or("localhost")),
        }
    }
}

/// The host of a `Host` header, if it is a plain one: it comes from outside and goes into a URL.
fn name_of(host: &str) -> Option<&str> {
    let end = if host.starts_with('[') { host.find(']')? + 1 } else { host.find(':').unwrap_or(host.len()) };
    let name = &host[..end];
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-.[]:".contains(&b));
    (plain && !name.is_empty()).then_some(name)
}

impl FromStr for Edge {
    type Err = Error;
    fn from_str(s: &str) -> Result<Self, Error> {
        let bad = || Error::Edge(s.to_owned());
        if let Some(port) = s.strip_prefix(':') {
            return port.parse().map(Edge::Port).map_err(|_| bad());
        }
        let uri: http::Uri = s.parse().map_err(|_| bad())?;
        match (uri.scheme_str(), uri.authority()) {
            (Some("http" | "https"), Some(_)) => Ok(Edge::Url(s.trim_end_matches('/').to_owned())),
            _ => Err(bad()),
        }
    }
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Edge::Port(port) => write!(f, ":{port}"),
            Edge::Url(url) => f.write_str(url),
        }
    }
}

impl TryFrom<String> for Edge {
    type Error = Error;
    fn try_from(s: String) -> Result<Self, Error> {
        s.parse()
    }
}

impl From<Edge> for String {
    fn from(edge: Edge) -> String {
        edge.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phone_on_the_same_network_finds_the_edge() {
        let edge: Edge = ":8081".parse().unwrap();
        assert_eq!(edge.base(Some("192.168.1.9:8080")), "http://192.168.1.9:8081");
        assert_eq!(edge.base(Some("[::1]:8080")), "http://[::1]:8081");
        assert_eq!(edge.base(Some("evil/../x:1")), "http://localhost:8081");
        assert_eq!(edge.base(None), "http://localhost:8081");
        assert_eq!("https://e.example/".parse::<Edge>().unwrap().base(Some("x")), "https://e.example");
        assert!("8081".parse::<Edge>().unwrap_err().to_string().contains(":8081"));
    }
}
