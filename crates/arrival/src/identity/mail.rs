//! Mails to viewers. They wait in a folder, one file each, for whatever relays them.

use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::limits::SPOOL_MAX;
use super::{Error, secret};

/// A folder of mails (RFC 5322), in the way of a Maildir: written in `tmp`, complete in `new`. A relay sends what is in
/// `new` and removes it.
#[derive(Clone, Debug)]
pub(crate) struct Spool(PathBuf);

impl Spool {
    pub(crate) fn open(path: &Path) -> Result<Spool, Error> {
        for folder in ["tmp", "new"] {
            let folder = path.join(folder);
            std::fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(&folder)
                .map_err(|error| Error::Mail(folder, error))?;
        }
        Ok(Spool(path.to_owned()))
    }

    /// Leaves a mail for the relay. The address has been checked: it can hold no line end.
    pub(crate) async fn send(&self, to: &str, subject: &str, text: &str) -> Result<(), Error> {
        let mail = format!(
            "To: {to}\r\nSubject: {subject}\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\
             Auto-Submitted: auto-generated\r\n\r\n{text}\r\n"
        );
        let (folder, name) = (self.0.clone(), secret::name()?);
        let write = move || {
            if std::fs::read_dir(folder.join("new"))?.count() >= SPOOL_MAX {
                return Err(std::io::Error::other("the spool is full"));
            }
            let written = folder.join("tmp").join(&name);
            let mut file =
                std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&written)?;
            file.write_all(mail.as_bytes())?;
            std::fs::rename(&written, folder.join("new").join(&name))
        };
        let done = tokio::task::spawn_blocking(write).await.map_err(std::io::Error::other);
        done.flatten().map_err(|error| Error::Mail(self.0.clone(), error))
    }
}
