//! The folder: private files, each written whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use pass::Signer;
use ring::rand::SystemRandom;
use ring::signature::Ed25519KeyPair;
use rsa::pkcs8::EncodePrivateKey;

use crate::identity::config::Algorithm;
use crate::identity::{Error, secret};

/// Bits of an RSA key: what RS256 asks for at least (RFC 7518, 3.3), and good for far longer than a key lives here.
const RSA_BITS: usize = 2_048;

/// The name of the pin's key in its own set.
const PIN_ID: &str = "pin";

/// What the ids of [`Series::Quick`] begin with; no other is.
const QUICK: char = 'q';

/// Keys of which each takes over from the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Series {
    /// They sign whatever somebody signs in for.
    Main,
    /// They sign what is signed for each play, where the others take long for it.
    Quick,
}

/// A key's file, `{published_ms}-{id}.pk8`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    pub(super) published_ms: i64,
    pub(super) id: String,
}

impl Name {
    fn file(&self) -> String {
        format!("{:014}-{}.pk8", self.published_ms, self.id)
    }

    fn read(file: &str) -> Option<Name> {
        let (published, id) = file.strip_suffix(".pk8")?.split_once('-')?;
        Some(Name { published_ms: published.parse().ok()?, id: id.to_owned() })
    }

    fn series(&self) -> Series {
        if self.id.starts_with(QUICK) { Series::Quick } else { Series::Main }
    }
}

pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn open(path: &Path) -> Result<Folder, Error> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .map_err(|error| Error::Key(path.to_owned(), error))?;
        Ok(Folder(path.to_owned()))
    }

    fn at<T>(&self, file: &str, work: impl FnOnce(&Path) -> std::io::Result<T>) -> Result<T, Error> {
        let path = self.0.join(file);
        work(&path).map_err(|error| Error::Key(path, error))
    }

    /// The keys of a series, in the order of their publication.
    pub(super) fn names(&self, series: Series) -> Result<Vec<Name>, Error> {
        let mut names: Vec<Name> = self.at("", |path| {
            let files = fs::read_dir(path)?.collect::<Result<Vec<_>, _>>()?;
            Ok(files.iter().filter_map(|file| Name::read(file.file_name().to_str()?)).collect())
        })?;
        names.retain(|name| name.series() == series);
        names.sort();
        Ok(names)
    }

    pub(super) fn read(&self, name: &Name) -> Result<Signer, Error> {
        let der = self.at(&name.file(), |path| fs::read(path))?;
        Ok(Signer::from_pkcs8(&name.id, &der)?)
    }

    pub(super) fn remove(&self, name: &Name) -> Result<(), Error> {
        self.at(&name.file(), |path| match fs::remove_file(path) {
            // Another process was first.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            done => done,
        })
    }

    /// Makes the next key, unless another process did so meanwhile; the names that there are then.
    pub(super) fn add(&self, series: Series, algorithm: Algorithm, now_ms: i64) -> Result<Vec<Name>, Error> {
        let _one_at_a_time = self.lock()?;
        let names = self.names(series)?;
        let published: Vec<i64> = names.iter().map(|name| name.published_ms).collect();
        if !super::plan::wants_another(&published, now_ms) {
            return Ok(names);
        }
        let mut id = hex(secret::random::<8>()?);
        if series == Series::Quick {
            id.insert(0, QUICK);
        }
        let name = Name { published_ms: now_ms, id };
        self.write(&name.file(), &generate(algorithm)?, 0o600)?;
        tracing::info!(key = name.id, "a signing key was made");
        self.names(series)
    }

    /// The key that pins: made at first, and taken away to a safer place by who wants to; then none is made again.
    pub(super) fn pinner(&self) -> Result<Option<Signer>, Error> {
        let _one_at_a_time = self.lock()?;
        let there = |file: &str| self.0.join(file).exists();
        if !there("pin.key") && !there("pin.json") {
            let der = generate(Algorithm::Eddsa)?;
            let public = Signer::from_pkcs8(PIN_ID, &der)?.jwks();
            self.write("pin.key", &der, 0o600)?;
            self.write("pin.json", public.as_bytes(), 0o644)?;
        }
        if !there("pin.key") {
            return Ok(None);
        }
        let der = self.at("pin.key", |path| fs::read(path))?;
        Ok(Some(Signer::from_pkcs8(PIN_ID, &der)?))
    }

    /// The door's own secret, made at first.
    pub(super) fn secret(&self) -> Result<[u8; 32], Error> {
        let _one_at_a_time = self.lock()?;
        if !self.0.join("secret").exists() {
            self.write("secret", &secret::random::<32>()?, 0o600)?;
        }
        let bytes = self.at("secret", |path| fs::read(path))?;
        bytes.try_into().map_err(|_| {
            Error::Key(
                self.0.join("secret"),
                std::io::Error::new(ErrorKind::InvalidData, "it is not 32 bytes"),
            )
        })
    }

    /// The pin that somebody else signed and left here. Whether it holds is for edges to say.
    pub(super) fn pin(&self) -> Option<String> {
        fs::read_to_string(self.0.join("pin.jws")).ok()
    }

    /// For those who read files: edges on this machine, and whoever copies them to others.
    pub(super) fn publish(&self, jwks: &str, pin: Option<&str>) -> Result<(), Error> {
        for (file, text) in [("jwks.json", Some(jwks)), ("pin.jws", pin)] {
            let stands = fs::read_to_string(self.0.join(file)).ok();
            if let Some(text) = text.filter(|text| stands.as_deref() != Some(text)) {
                self.write(file, text.as_bytes(), 0o644)?;
            }
        }
        Ok(())
    }

    /// Writes a file whole. Only its owner may read a private one, from the first byte on.
    fn write(&self, file: &str, bytes: &[u8], mode: u32) -> Result<(), Error> {
        let new = format!(".{}-{}", hex(secret::random::<8>()?), file);
        self.at(&new, |path| {
            let mut to = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
            to.write_all(bytes)?;
            // What is public can be made again.
            if mode == 0o600 {
                to.sync_all()?;
            }
            fs::rename(path, path.with_file_name(file))
        })
    }

    fn lock(&self) -> Result<File, Error> {
        self.at("lock", |path| {
            let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
            file.lock()?;
            Ok(file)
        })
    }
}

fn generate(algorithm: Algorithm) -> Result<Vec<u8>, Error> {
    match algorithm {
        Algorithm::Eddsa => {
            let key = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(|_| Error::Random)?;
            Ok(key.as_ref().to_vec())
        }
        Algorithm::Rs256 => {
            let key = rsa::PrivateKey::new(&mut getrandom::SysRng, RSA_BITS).map_err(|_| Error::Random)?;
            Ok(key.to_pkcs8_der().map_err(|_| Error::Random)?.as_bytes().to_vec())
        }
    }
}

fn hex(bytes: [u8; 8]) -> String {
    format!("{:016x}", u64::from_be_bytes(bytes))
}
