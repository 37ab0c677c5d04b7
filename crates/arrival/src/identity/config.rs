//! What identity is told.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use store::Place;

use super::Error;

/// Settings of accounts, tokens and sign-in.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args, Serialize, Deserialize)]
#[group(id = "identity")]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Where accounts and sessions are: a file for SQLite, or postgres://user@host/database
    #[arg(long, value_name = "FILE|URL", default_value = "var/accounts.db")]
    pub accounts: Place,
    /// Folder of the keys that sign viewers' tokens; made at first. Processes that share it sign alike. It has jwks.json
    /// and pin.jws for edges, and pin.json, which says whose pins to trust
    #[arg(long, value_name = "FOLDER", default_value = "var/keys")]
    pub keys: PathBuf,
    /// Folder in which mails wait for a relay
    #[arg(long, value_name = "FOLDER", default_value = "var/mail")]
    pub mail: PathBuf,
    /// How new keys sign: rs256 (quick to check, and everybody can) or eddsa (quick to sign)
    #[arg(long, value_name = "NAME", default_value = "rs256")]
    pub token_algorithm: Algorithm,
    /// Where viewers reach the app, such as https://tv.example. With https, cookies are for TLS only. Without it: the
    /// host that the viewer used
    #[arg(long, value_name = "URL", value_parser = public_url)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_url: Option<String>,
    /// An OpenID Connect provider, as name=issuer,client-id or name=issuer,client-id,file-with-the-secret; repeat for
    /// more
    #[arg(long = "oidc", value_name = "NAME=ISSUER,ID[,FILE]")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub oidc: Vec<Provider>,
    /// Threads that hash passwords, with 19 MiB each; 0: one a core
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub hash_threads: usize,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            accounts: "var/accounts.db".into(),
            keys: "var/keys".into(),
            mail: "var/mail".into(),
            token_algorithm: Algorithm::Rs256,
            public_url: None,
            oidc: Vec::new(),
            hash_threads: 0,
        }
    }
}

impl Config {
    /// Viewers come by TLS.
    pub(crate) fn is_secure(&self) -> bool {
        self.public_url.as_ref().is_some_and(|url| url.starts_with("https://"))
    }
}

fn public_url(text: &str) -> Result<String, Error> {
    let bad = || Error::PublicUrl(text.to_owned());
    let uri: http::Uri = text.parse().map_err(|_| bad())?;
    let plain = matches!(uri.path(), "" | "/") && uri.query().is_none();
    match (uri.scheme_str(), uri.authority()) {
        (Some("http" | "https"), Some(_)) if plain => Ok(text.trim_end_matches('/').to_owned()),
        _ => Err(bad()),
    }
}

/// How a key signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Algorithm {
    /// RSA with 2,048 bits.
    Rs256,
    /// Ed25519.
    Eddsa,
}

impl FromStr for Algorithm {
    type Err = Error;
    fn from_str(s: &str) -> Result<Algorithm, Error> {
        match s {
            "rs256" => Ok(Algorithm::Rs256),
            "eddsa" => Ok(Algorithm::Eddsa),
            _ => Err(Error::Algorithm(s.to_owned())),
        }
    }
}

/// An OpenID Connect provider that viewers may come by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Provider {
    /// As it stands in URLs.
    pub name: String,
    /// Exactly as the provider writes it.
    pub issuer: String,
    /// Our name there.
    pub client_id: String,
    /// File with our secret there; without it we are a public client.
    pub secret: Option<PathBuf>,
}

impl FromStr for Provider {
    type Err = Error;
    fn from_str(s: &str) -> Result<Provider, Error> {
        let bad = || Error::Provider(s.to_owned());
        let (name, rest) = s.split_once('=').ok_or_else(bad)?;
        let mut parts = rest.splitn(3, ',');
        let (Some(issuer), Some(client_id)) = (parts.next(), parts.next()) else { return Err(bad()) };
        let plain = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
        let good = (1..=32).contains(&name.len())
            && name.bytes().all(plain)
            && !client_id.is_empty()
            && super::oidc::is_safe(issuer);
        if !good {
            return Err(bad());
        }
        let secret = parts.next().map(PathBuf::from);
        Ok(Provider { name: name.into(), issuer: issuer.into(), client_id: client_id.into(), secret })
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={},{}", self.name, self.issuer, self.client_id)?;
        self.secret.as_ref().map_or(Ok(()), |file| write!(f, ",{}", file.display()))
    }
}

impl TryFrom<String> for Provider {
    type Error = Error;
    fn try_from(s: String) -> Result<Provider, Error> {
        s.parse()
    }
}

impl From<Provider> for String {
    fn from(provider: Provider) -> String {
        provider.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_is_read() {
        let text = "club=https://id.example/realm,pavilion,/etc/secret";
        let provider: Provider = text.parse().unwrap();
        assert_eq!(
            (provider.issuer.as_str(), provider.client_id.as_str()),
            ("https://id.example/realm", "pavilion")
        );
        assert_eq!(provider.to_string(), text);
        for bad in
            ["", "club", "club=https://x", "=https://x,id", "Club=https://x,id", "c=http://id.example,id"]
        {
            assert!(bad.parse::<Provider>().is_err(), "{bad}");
        }
        assert!("dev=http://127.0.0.1:3000,id".parse::<Provider>().is_ok(), "this machine needs no TLS");
    }

    #[test]
    fn a_public_url_is_an_origin() {
        assert_eq!(public_url("https://tv.example/").unwrap(), "https://tv.example");
        for bad in ["tv.example", "https://tv.example/app", "ftp://tv.example", ""] {
            assert!(public_url(bad).is_err(), "{bad}");
        }
    }
}
