//! From a URL to what a connection is made with.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::Error;

/// A connection on which nothing is said for so long is asked whether it is still there: a machine that vanished (and
/// closes nothing) is noticed between two matches too.
const KEEPALIVE: Duration = Duration::from_secs(10);
/// A transaction in which nothing happens for so long (milliseconds) is a door that froze with rows locked.
const IDLE_MS: u32 = 5_000;

/// Reads a URL. Its password comes from the environment, or from the file that PostgreSQL's own programs read.
/// `deadline`: the server itself ends what takes longer.
pub(super) fn read(
    url: &str,
    deadline: Duration,
    environment: impl Fn(&str) -> Option<OsString>,
) -> Result<Config, Error> {
    let bad = |why: String| Error::Address(why);
    let mut config: Config = url.parse().map_err(|error: tokio_postgres::Error| {
        let why = std::error::Error::source(&error).map_or_else(String::new, ToString::to_string);
        bad(format!("it is no URL of a database such as postgres://user@host/database ({why})"))
    })?;
    if config.get_password().is_some() {
        return Err(bad(
            "its password would be seen in lists of processes and of settings; put it into the environment as \
             PGPASSWORD, or into the file that PGPASSFILE names"
                .into(),
        ));
    }
    if let Some(password) = environment("PGPASSWORD") {
        config.password(password.into_encoded_bytes());
    } else if let Some(file) = pass_file(&environment)
        && let Some(password) = look_up(&file, &config)?
    {
        config.password(password);
    }
    let own = format!(
        "-c statement_timeout={} -c idle_in_transaction_session_timeout={IDLE_MS} \
         -c default_transaction_isolation=read\\ committed -c client_min_messages=warning",
        deadline.as_millis()
    );
    let options = config.get_options().map_or(own.clone(), |theirs| format!("{own} {theirs}"));
    config.options(options);
    if config.get_application_name().is_none() {
        config.application_name("pavilion");
    }
    if config.get_connect_timeout().is_none() {
        // Of several hosts the second must have its turn.
        config.connect_timeout(deadline / 2);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(KEEPALIVE);
    }
    config.keepalives_idle(KEEPALIVE);
    Ok(config)
}

/// `PGPASSFILE`, else `~/.pgpass` if it is there.
fn pass_file(environment: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let named = environment("PGPASSFILE").map(PathBuf::from);
    named.or_else(|| environment("HOME").map(|home| Path::new(&home).join(".pgpass")).filter(|f| f.exists()))
}

/// The password of the first line that fits (PostgreSQL, "The Password File").
fn look_up(file: &Path, config: &Config) -> Result<Option<String>, Error> {
    let bad = |why: String| Error::Address(format!("{}, the file of passwords: {why}", file.display()));
    let mode = std::fs::metadata(file).map_err(|e| bad(e.to_string()))?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(bad("others may read it; make its mode 0600".into()));
    }
    let text = std::fs::read_to_string(file).map_err(|e| bad(e.to_string()))?;
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        _ => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432).to_string();
    let user = config.get_user().unwrap_or_default();
    let asked = [&host, &port, config.get_dbname().unwrap_or(user), user];
    Ok(text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let fields = fields(line);
        let [names @ .., password] = fields.as_slice() else { return None };
        let fits = names.len() == asked.len()
            && names.iter().zip(asked).all(|(name, asked)| name == "*" || name == asked);
        fits.then(|| password.clone())
    }))
}

/// The fields of a line, between colons; a backslash takes the next character as it is.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        let letter = match letter {
            ':' => {
                fields.push(String::new());
                continue;
            }
            '\\' => letters.next(),
            other => Some(other),
        };
        if let Some(last) = fields.last_mut() {
            last.extend(letter);
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_with(url: &str, variables: &[(&str, &str)]) -> Result<Config, Error> {
        let find = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| value.into());
        read(url, Duration::from_millis(750), find)
    }

    fn password(url: &str, variables: &[(&str, &str)]) -> Option<String> {
        let config = read_with(url, variables).unwrap();
        config.get_password().map(|p| String::from_utf8(p.to_vec()).unwrap())
    }

    #[test]
    fn the_password_comes_from_the_environment_or_a_file() {
        let url = "postgres://ann@db.example:6432/tv";
        assert_eq!(password(url, &[]), None);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("passwords");
        std::fs::write(
            &file,
            "# all of them\nother:*:*:*:no\nshort:line\ndb.example:6432:tv:ann:a\\:b\\\\c\n*:*:*:*:last",
        )
        .unwrap();
        let named = ("PGPASSFILE", file.to_str().unwrap());
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
        assert!(read_with(url, &[named]).unwrap_err().to_string().contains("0600"));
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
        assert_eq!(password(url, &[named]).as_deref(), Some("a:b\\c"));
        assert_eq!(password("postgres://ben@%2Frun/tv", &[named]).as_deref(), Some("last"));
        assert_eq!(password(url, &[named, ("PGPASSWORD", "mine")]).as_deref(), Some("mine"));
        assert!(read_with(url, &[("PGPASSFILE", "/nowhere/at/all")]).is_err());
    }

    #[test]
    fn what_is_wrong_with_a_url_is_said_and_the_server_is_told_the_deadline() {
        for bad in ["postgres://h/d?nonsense=1", "postgres://h:port/d"] {
            let said = read_with(bad, &[]).unwrap_err().to_string();
            assert!(said.contains("postgres://user@host/database"), "{said}");
        }
        let config = read_with("postgres://a@h/d?options=-c%20search_path%3Dtv", &[]).unwrap();
        let options = config.get_options().unwrap();
        assert!(options.starts_with("-c statement_timeout=750 ") && options.ends_with("search_path=tv"));
    }
}
