//! Where something is kept: one word of the configuration, a file or the URL of a server.

use std::convert::Infallible;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    Accounts, Entitlements, Error, PostgresAccounts, PostgresEntitlements, PostgresRegisters, Registers,
    Sqlite, SqliteAccounts, SqliteEntitlements,
};

/// A file for SQLite, or a PostgreSQL server. Whatever can be wrong with it is found when it is opened.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Place {
    /// A file of this machine.
    File(PathBuf),
    /// A database: `postgres://user@host/database`.
    Url(Url),
}

/// The URL of a PostgreSQL database. A password is not shown, nor taken.
#[derive(Clone, PartialEq, Eq)]
pub struct Url(String);

impl Url {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// What may be shown of a setting: all of it, but for the password of a URL.
pub fn shown(setting: &str) -> String {
    if !is_url(setting) {
        return setting.to_owned();
    }
    let (head, query) = setting.split_once('?').unwrap_or((setting, ""));
    let (scheme, rest) = head.split_once("://").unwrap_or(("", head));
    let rest = match rest.rsplit_once('@') {
        Some((who, host)) => match who.split_once(':') {
            Some((user, _)) => format!("{user}:***@{host}"),
            None => rest.to_owned(),
        },
        None => rest.to_owned(),
    };
    let query = query.split('&').filter(|pair| !pair.is_empty());
    let query: Vec<_> =
        query.map(|pair| if pair.starts_with("password") { "password=***" } else { pair }).collect();
    let mark = if query.is_empty() { "" } else { "?" };
    format!("{scheme}://{rest}{mark}{}", query.join("&"))
}

fn is_url(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

impl Place {
    /// The file, if it is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Place::File(file) => Some(file),
            Place::Url(_) => None,
        }
    }

    /// The folder of a file is made if it is missing.
    fn prepared(&self) -> Result<&Place, Error> {
        if let Some(folder) = self.file().and_then(Path::parent).filter(|f| !f.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|why| Error::Folder(folder.to_owned(), why))?;
        }
        Ok(self)
    }

    /// Registers kept here. A server is asked when it is needed, not now.
    ///
    /// # Errors
    ///
    /// The file cannot be opened, or the URL is not one.
    pub fn registers(&self) -> Result<Arc<dyn Registers>, Error> {
        Ok(match self.prepared()? {
            Place::File(file) => Arc::new(Sqlite::open(file)?),
            Place::Url(url) => Arc::new(PostgresRegisters::open(url)?),
        })
    }

    /// Entitlements kept here. A server is asked when it is needed, not now: a door opens without it.
    ///
    /// # Errors
    ///
    /// The file cannot be opened, or the URL is not one.
    pub fn entitlements(&self) -> Result<Arc<dyn Entitlements>, Error> {
        Ok(match self.prepared()? {
            Place::File(file) => Arc::new(SqliteEntitlements::open(file)?),
            Place::Url(url) => Arc::new(PostgresEntitlements::open(url)?),
        })
    }

    /// Accounts kept here. A server is asked when it is needed, not now: a door opens without it.
    ///
    /// # Errors
    ///
    /// The file cannot be opened, or the URL is not one.
    pub fn accounts(&self) -> Result<Arc<dyn Accounts>, Error> {
        Ok(match self.prepared()? {
            Place::File(file) => Arc::new(SqliteAccounts::open(file)?),
            Place::Url(url) => Arc::new(PostgresAccounts::open(url)?),
        })
    }
}

impl From<&str> for Place {
    fn from(text: &str) -> Place {
        if is_url(text) { Place::Url(Url(text.to_owned())) } else { Place::File(text.into()) }
    }
}

impl From<String> for Place {
    fn from(text: String) -> Place {
        Place::from(text.as_str())
    }
}

impl From<PathBuf> for Place {
    fn from(file: PathBuf) -> Place {
        Place::File(file)
    }
}

impl FromStr for Place {
    type Err = Infallible;
    fn from_str(text: &str) -> Result<Place, Infallible> {
        Ok(Place::from(text))
    }
}

impl From<Place> for String {
    fn from(place: Place) -> String {
        place.to_string()
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File(file) => file.display().fmt(f),
            Place::Url(url) => url.fmt(f),
        }
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(&self.0))
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_a_file_or_a_url() {
        assert_eq!(Place::from("var/a.db").file(), Some(Path::new("var/a.db")));
        assert_eq!(Place::from("postgres://p@h/d").file(), None);
        assert_eq!(Place::from("postgresql://h").to_string(), "postgresql://h");
    }

    #[test]
    fn a_password_is_neither_shown_nor_taken() {
        for url in [
            "postgres://p:hush@h/d",
            "postgres://p:hu@sh@h/d",
            "postgresql://p@h/d?password=hush",
            "postgres://p:hush@h:x/d?connect_timeout=3&password=hush",
            "postgres://:hush@h",
        ] {
            let place = Place::from(url);
            for said in [place.to_string(), format!("{place:?}"), String::from(place.clone())] {
                assert!(!said.contains("hu"), "{said}");
            }
            let refused = place.accounts().err().map(|e| e.to_string()).unwrap_or_default();
            assert!(refused.contains("PGPASSWORD") || refused.contains("no URL"), "{refused}");
            assert!(!refused.contains("hush"), "{refused}");
        }
        assert_eq!(shown("postgres://p:hush@h/d?a=b"), "postgres://p:***@h/d?a=b");
        assert_eq!(shown("postgres://p@h/d"), "postgres://p@h/d");
        assert_eq!(shown("a:b@c"), "a:b@c");
    }
}
