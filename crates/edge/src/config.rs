//! What an edge is told, beside its listener.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use http::uri::{Authority, Uri};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::admission::{NAMES, NETWORKS_LIMIT_MAX, Prefix};
use crate::limits::{DISK_MB, MEMORY_MB, MEMORY_MB_MIN};

/// Configuration of one edge or shield.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, clap::Args)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Where to fetch from, such as http://127.0.0.1:8086 or https://origin.example; repeat it to name others
    #[arg(long = "upstream", value_name = "URL")]
    pub upstream: Vec<Upstream>,
    /// Which of several upstreams is asked: the first that is well, or one by the object's name, so that each
    /// upstream has its own share of the objects
    #[arg(long, value_enum, value_name = "HOW", default_value_t)]
    pub spread: Spread,
    /// PEM file with the authorities that https upstreams are checked against, instead of the public ones
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream_ca: Option<PathBuf>,
    /// Path that a well upstream answers with 2xx, asked every second; without it only real requests judge it
    #[arg(long, value_name = "PATH")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream_health: Option<String>,
    /// What a request may hold: `live` knows HLS and DASH, and sends nothing of a client's upstream but path and
    /// delivery directives; `web` is a general cache, which sends query, fields and other methods on and follows
    /// the upstream's Vary
    #[arg(long, value_enum, value_name = "RULES", default_value_t)]
    pub rules: Rules,
    /// Query parameter that belongs to an object's name and goes upstream, beside HLS delivery directives; repeat
    /// it for others, or * for all
    #[arg(long = "query", value_name = "NAME")]
    pub query: Vec<String>,
    /// Word that must be the first path segment of every request; without it this is a shield
    #[arg(long, value_name = "WORD", env = "PAVILION_EDGE_PASS", hide_env_values = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass: Option<Pass>,
    /// JSON file with the keys of passes, read again when it changes; every request must then have a pass of its own
    #[arg(long, value_name = "FILE", conflicts_with = "pass")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass_keys: Option<PathBuf>,
    /// Where a pass stands: in the first path segment, or in fields (a query parameter, the header
    /// CTA-Common-Access-Token or a cookie)
    #[arg(long, value_enum, value_name = "PLACE", default_value_t)]
    pub pass_in: PassIn,
    /// Networks from which one session may be seen within ten minutes before it is cut; without it they are only counted
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass_networks_max: Option<u8>,
    /// Network of a front that may say whose request it passes on; repeat it for others
    #[arg(long, value_name = "NETWORK")]
    pub front: Vec<Prefix>,
    /// Field in which a front names the client's address, such as X-Forwarded-For
    #[arg(long, value_name = "FIELD", requires = "front")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub front_client: Option<String>,
    /// Field in which a front names the client's country, two letters
    #[arg(long, value_name = "FIELD", requires = "front")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub front_country: Option<String>,
    /// Field in which a front names the number of the client's network
    #[arg(long, value_name = "FIELD", requires = "front")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub front_asn: Option<String>,
    /// Memory for objects, in MB
    #[arg(long, value_name = "MB", default_value_t = MEMORY_MB)]
    pub memory_mb: u64,
    /// Folder for objects that have left memory and may still be asked for, such as an hour of DVR
    #[arg(long, value_name = "DIR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk: Option<PathBuf>,
    /// Space for them, in MB
    #[arg(long, value_name = "MB", default_value_t = DISK_MB, requires = "disk")]
    pub disk_mb: u64,
    /// Share of requests that are logged, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = Share(0))]
    pub access_log: Share,
    /// PEM file with the certificate chain; with --tls-key the listener speaks TLS 1.3
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_cert: Option<PathBuf>,
    /// PEM file with the private key of --tls-cert
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_key: Option<PathBuf>,
    /// Speak HTTP/3 too, on the listener's UDP port; needs a certificate
    #[arg(long, requires = "tls_cert")]
    pub http3: bool,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            upstream: Vec::new(),
            spread: Spread::default(),
            upstream_ca: None,
            upstream_health: None,
            rules: Rules::default(),
            query: Vec::new(),
            pass: None,
            pass_keys: None,
            pass_in: PassIn::default(),
            pass_networks_max: None,
            front: Vec::new(),
            front_client: None,
            front_country: None,
            front_asn: None,
            memory_mb: MEMORY_MB,
            disk: None,
            disk_mb: DISK_MB,
            access_log: Share(0),
            tls_cert: None,
            tls_key: None,
            http3: false,
        }
    }
}

/// Which of several upstreams is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    /// The first that is well.
    #[default]
    Ordered,
    /// The one that the object's name hashes to, consistently: when one falls out, only its objects move.
    Hashed,
}

/// What a request may hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Rules {
    /// HLS and DASH: GET and HEAD; nothing goes upstream but the key.
    #[default]
    Live,
    /// Any site: every method, query and field.
    Web,
}

/// Where a pass stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum PassIn {
    /// The first path segment. Relative URLs carry it on.
    #[default]
    Path,
    /// A query parameter, a header or a cookie: what issuers and CDNs of today do.
    Fields,
}

/// A share of requests, in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Share(u32);

impl Share {
    /// Whether one of many is in the share, for a random number.
    pub(crate) fn takes(self, random: u32) -> bool {
        random % 1_000_000 < self.0
    }
}

impl TryFrom<f64> for Share {
    type Error = Error;
    fn try_from(share: f64) -> Result<Self, Error> {
        if (0.0..=1.0).contains(&share) { Ok(Share((share * 1e6) as u32)) } else { Err(Error::Share(share)) }
    }
}

impl From<Share> for f64 {
    fn from(share: Share) -> f64 {
        f64::from(share.0) / 1e6
    }
}

impl FromStr for Share {
    type Err = Error;
    fn from_str(s: &str) -> Result<Self, Error> {
        s.parse::<f64>().unwrap_or(f64::NAN).try_into()
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", f64::from(*self))
    }
}

impl Config {
    /// Whether it can work; [`crate::serve`] asks first.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong, with what to write instead.
    pub fn check(&self) -> Result<(), Error> {
        if self.upstream.is_empty() {
            return Err(Error::NoUpstream);
        }
        if self.memory_mb < MEMORY_MB_MIN {
            return Err(Error::Memory(self.memory_mb));
        }
        if self.tls_cert.is_some() != self.tls_key.is_some() {
            return Err(Error::TlsPair);
        }
        if self.http3 && self.tls_cert.is_none() {
            return Err(Error::Http3);
        }
        let health = self.upstream_health.as_ref();
        if let Some(path) = health.filter(|p| !p.starts_with('/') || p.parse::<Uri>().is_err()) {
            return Err(Error::Health(path.clone()));
        }
        if self.pass_keys.is_some() && self.pass_in == PassIn::Fields {
            let kept = |name: &String| name == "*" || NAMES.iter().any(|n| n.eq_ignore_ascii_case(name));
            if self.rules == Rules::Web || self.query.iter().any(kept) {
                return Err(Error::PassIn);
            }
        }
        if self.pass_networks_max.is_some_and(|most| !(1..=NETWORKS_LIMIT_MAX).contains(&most)) {
            return Err(Error::PassNetworks);
        }
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~".contains(&b);
        if let Some(name) = self.query.iter().find(|n| *n != "*" && (n.is_empty() || !n.bytes().all(plain))) {
            return Err(Error::Query(name.clone()));
        }
        Ok(())
    }
}

/// An upstream: `http://host:port` or `https://host`, nothing more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Upstream {
    tls: bool,
    authority: Authority,
}

impl Upstream {
    /// Host, and port unless it is the scheme's own.
    pub(crate) fn authority(&self) -> &Authority {
        &self.authority
    }

    /// Whether it is spoken to over TLS.
    pub(crate) fn tls(&self) -> bool {
        self.tls
    }
}

impl FromStr for Upstream {
    type Err = Error;
    fn from_str(s: &str) -> Result<Self, Error> {
        let bad = || Error::Upstream(s.chars().take(200).collect());
        let uri: Uri = s.parse().map_err(|_| bad())?;
        let parts = uri.into_parts();
        let bare = parts.path_and_query.is_none_or(|p| p.as_str() == "/");
        match (parts.scheme, parts.authority) {
            (Some(scheme), Some(authority)) if bare && !authority.as_str().contains('@') => {
                match scheme.as_str() {
                    "http" => Ok(Upstream { tls: false, authority }),
                    "https" => Ok(Upstream { tls: true, authority }),
                    _ => Err(bad()),
                }
            }
            _ => Err(bad()),
        }
    }
}

impl fmt::Display for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", if self.tls { "https" } else { "http" }, self.authority)
    }
}

impl TryFrom<String> for Upstream {
    type Error = Error;
    fn try_from(s: String) -> Result<Self, Error> {
        s.parse()
    }
}

impl From<Upstream> for String {
    fn from(u: Upstream) -> String {
        u.to_string()
    }
}

/// The word that opens the edge. A secret: it does not show in `Debug`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pass(String);

/// The longest pass, in bytes; leaves room for the path in the longest request target.
const PASS_BYTES_MAX: usize = 512;

impl Pass {
    /// Whether this is what a client wrote. Takes as long for a near miss as for a far one, so that the
    /// word cannot be found letter by letter.
    pub(crate) fn admits(&self, word: &str) -> bool {
        let differing = self.0.bytes().zip(word.bytes()).fold(0, |acc, (a, b)| acc | (a ^ b));
        differing == 0 && self.0.len() == word.len()
    }
}

impl FromStr for Pass {
    type Err = Error;
    fn from_str(s: &str) -> Result<Self, Error> {
        let plain = s.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_~.".contains(&b));
        let fits = (1..=PASS_BYTES_MAX).contains(&s.len()) && !s.starts_with('.');
        if plain && fits { Ok(Pass(s.to_owned())) } else { Err(Error::Pass) }
    }
}

impl fmt::Debug for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pass(…)")
    }
}

impl TryFrom<String> for Pass {
    type Error = Error;
    fn try_from(s: String) -> Result<Self, Error> {
        s.parse()
    }
}

impl From<Pass> for String {
    fn from(p: Pass) -> String {
        p.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upstreams_are_hosts_and_ports() {
        for good in [
            "http://127.0.0.1:8086",
            "http://[::1]:80",
            "http://shield.example:8086",
            "https://origin.example",
        ] {
            assert_eq!(good.parse::<Upstream>().unwrap().to_string(), good);
        }
        for bad in ["", "127.0.0.1:80", "http://x/path", "http://u:p@x", "ftp://x", "http://"] {
            assert!(bad.parse::<Upstream>().unwrap_err().to_string().contains("write it like"), "{bad}");
        }
    }

    #[test]
    fn the_pass_stays_out_of_debug_and_off_tricks() {
        let pass: Pass = "match-day".parse().unwrap();
        assert!(!format!("{pass:?}").contains("match-day"));
        assert!(pass.admits("match-day") && !pass.admits("match-da") && !pass.admits("match-day2"));
        for bad in ["", ".", "..", "a/b", "a%2f", "a b"] {
            assert!(bad.parse::<Pass>().is_err(), "{bad}");
        }
    }

    #[test]
    fn unknown_keys_and_impossible_configs_are_refused() {
        assert!(serde_json::from_str::<Config>(r#"{"upstreams": []}"#).is_err());
        let config: Config = serde_json::from_str(r#"{"upstream": ["http://127.0.0.1:1"]}"#).unwrap();
        assert!(config.check().is_ok());
        assert!(matches!(Config::default().check(), Err(Error::NoUpstream)));
        assert!(matches!(Config { memory_mb: 1, ..config.clone() }.check(), Err(Error::Memory(1))));
        assert!(matches!(Config { tls_cert: Some("c".into()), ..config }.check(), Err(Error::TlsPair)));
    }
}
