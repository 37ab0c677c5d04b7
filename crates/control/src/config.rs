//! What the console is told.

use std::fmt;
use std::str::FromStr;

use http::uri::{Authority, Uri};

use crate::Error;
use crate::limits::ROLES_MAX;

/// Settings of `pavilion console`.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
pub struct Config {
    /// The --admin address of ingest. Without it there are no feeds, dead letters and scorers
    #[arg(long, value_name = "HOST:PORT")]
    pub ingest: Option<Place>,
    /// The --admin address of arrival. Without it there are no catalog, rights, purchases and panic
    #[arg(long, value_name = "HOST:PORT")]
    pub arrival: Option<Place>,
    /// A role to watch, by its --admin address; repeat for more
    #[arg(long = "role", value_name = "NAME=HOST:PORT", value_delimiter = ',')]
    pub roles: Vec<Role>,
    /// Where scorers reach the app, such as https://watch.example
    #[arg(long, value_name = "URL")]
    pub app: Option<App>,
    /// A host by which operators reach the console, if not this machine's loopback: that of a proxy in front, which must
    /// know who they are; repeat for more
    #[arg(long = "host", value_name = "HOST", value_delimiter = ',')]
    pub hosts: Vec<String>,
}

impl Config {
    /// Whether these can be.
    ///
    /// # Errors
    /// A sentence that says what cannot.
    pub fn check(&self) -> Result<(), Error> {
        if self.roles.len() > ROLES_MAX {
            return Err(Error::Config(format!("at most {ROLES_MAX} roles can be watched")));
        }
        match self.hosts.iter().find(|host| host.contains([':', '/'])) {
            Some(host) => Err(Error::Config(format!(
                "'{host}' is not a host; write its name alone, such as console.example"
            ))),
            None => Ok(()),
        }
    }
}

/// Where a role's admin port is: `host:port`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place(Authority);

impl FromStr for Place {
    type Err = Error;

    fn from_str(text: &str) -> Result<Place, Error> {
        let refuse =
            || Error::Config(format!("'{text}' is not a place; write host:port, such as 127.0.0.1:8097"));
        let authority: Authority = text.parse().map_err(|_| refuse())?;
        let plain = !text.contains('@') && !authority.host().is_empty();
        if plain && authority.port_u16().is_some_and(|port| port > 0) {
            Ok(Place(authority))
        } else {
            Err(refuse())
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A role that is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// What operators call it.
    pub name: String,
    /// Its admin port.
    pub at: Place,
}

impl FromStr for Role {
    type Err = Error;

    fn from_str(text: &str) -> Result<Role, Error> {
        match text.split_once('=') {
            Some((name, at)) if !name.is_empty() => Ok(Role { name: name.to_owned(), at: at.parse()? }),
            _ => Err(Error::Config(format!(
                "'{text}' is not a role; write name=host:port, such as shard=127.0.0.1:8098"
            ))),
        }
    }
}

/// Where the app is: a base URL without a trailing slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct App(String);

impl App {
    /// The URL.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for App {
    type Err = Error;

    fn from_str(text: &str) -> Result<App, Error> {
        let refuse = || Error::Config(format!("'{text}' is not an address; write https://watch.example"));
        let uri: Uri = text.parse().map_err(|_| refuse())?;
        match (uri.scheme_str(), uri.authority()) {
            (Some("http" | "https"), Some(_)) if uri.query().is_none() => {
                Ok(App(text.trim_end_matches('/').to_owned()))
            }
            _ => Err(refuse()),
        }
    }
}
