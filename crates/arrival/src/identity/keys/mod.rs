//! The keys that sign access tokens, and the set that others check them with.
//!
//! The folder is the whole state: a key is a file named for the moment when it was published, and everything else
//! follows from these moments ([`plan`]). So any number of processes may share the folder, and none has to lead.

mod files;
mod plan;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use pass::{KeySet, Signer};
use serde_json::json;

use self::files::{Folder, Name, Series};
use super::config::Algorithm;
use super::secret::Secret;
use super::{Clock, Error};

/// What is in force.
pub(crate) struct Keys {
    signer: Arc<Signer>,
    /// None: the other one is quick, or not everybody knows this one yet.
    quick: Option<Arc<Signer>>,
    /// What tokens are checked with here.
    pub(crate) set: Arc<KeySet>,
    /// The same for others (RFC 7517).
    pub(crate) jwks: String,
    /// And signed: by the pin's key if it is here, or by who has it.
    pub(crate) pin: Option<String>,
}

impl Keys {
    pub(crate) fn signer(&self) -> &Signer {
        &self.signer
    }

    /// For what is signed at each play: RSA would take half of all that a play costs, and more.
    pub(crate) fn quick(&self) -> &Signer {
        self.quick.as_deref().unwrap_or(&self.signer)
    }
}

/// A key that was read.
struct Held {
    published_ms: i64,
    signer: Arc<Signer>,
}

/// The folder of keys.
pub(crate) struct Ring {
    folder: Folder,
    algorithm: Algorithm,
    pinner: Option<Signer>,
    clock: Clock,
    held: Mutex<Vec<Held>>,
    now: RwLock<Arc<Keys>>,
}

impl Ring {
    /// Opens the folder, or makes it with a first key. Slow: an RSA key takes a second to find.
    pub(crate) fn open(path: &Path, algorithm: Algorithm, clock: Clock) -> Result<Ring, Error> {
        let folder = Folder::open(path)?;
        let pinner = folder.pinner()?;
        let mut held = Vec::new();
        let keys = look(&folder, algorithm, pinner.as_ref(), &mut held, None, clock())?;
        let now = RwLock::new(Arc::new(keys));
        Ok(Ring { folder, algorithm, pinner, clock, held: Mutex::new(held), now })
    }

    /// The door's own secret.
    pub(crate) fn secret(&self) -> Result<Secret, Error> {
        Ok(Secret(self.folder.secret()?))
    }

    /// What is in force.
    pub(crate) fn keys(&self) -> Arc<Keys> {
        self.now.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes what other processes published, publishes the next key when it is time, lets go of those whose last
    /// token is over, and signs the set anew. What cannot be done leaves all as it is.
    pub(crate) fn look(&self) -> Result<(), Error> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let (last, pinner) = (self.keys(), self.pinner.as_ref());
        let keys = look(&self.folder, self.algorithm, pinner, &mut held, Some(&last), (self.clock)())?;
        *self.now.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(keys);
        Ok(())
    }
}

fn look(
    folder: &Folder,
    algorithm: Algorithm,
    pinner: Option<&Signer>,
    held: &mut Vec<Held>,
    last: Option<&Keys>,
    now_ms: i64,
) -> Result<Keys, Error> {
    let main = series(folder, Series::Main, Some(algorithm), now_ms)?;
    // Where all keys are quick, what is left of the others is only let go of.
    let made = (algorithm == Algorithm::Rs256).then_some(Algorithm::Eddsa);
    let quick = series(folder, Series::Quick, made, now_ms)?;
    let names: Vec<&Name> = main.iter().chain(&quick).collect();
    held.retain(|one| names.iter().any(|name| name.id == one.signer.id()));
    for name in &names {
        if !held.iter().any(|one| one.signer.id() == name.id) {
            held.push(Held { published_ms: name.published_ms, signer: Arc::new(folder.read(name)?) });
        }
    }
    held.sort_by(|a, b| (a.published_ms, a.signer.id()).cmp(&(b.published_ms, b.signer.id())));
    let signs = |names: &[Name]| {
        let name = names.get(plan::signs(&published(names), now_ms))?;
        held.iter().find(|one| one.signer.id() == name.id)
    };
    let signer = signs(&main).ok_or(Error::NoKey)?.signer.clone();
    // A first quick key that came after the others is not in every copy of the set at once.
    let eldest_ms = main.first().map_or(now_ms, |name| name.published_ms);
    let known = |one: &&Held| one.published_ms <= eldest_ms || now_ms - one.published_ms >= plan::AHEAD_MS;
    let quick = signs(&quick).filter(known).filter(|_| made.is_some()).map(|one| one.signer.clone());
    let jwks = json!({ "keys": held.iter().map(|one| one.signer.jwk()).collect::<Vec<_>>() }).to_string();
    // The same set stays the same, with all that is remembered of it.
    let set = match last.filter(|last| last.jwks == jwks) {
        Some(last) => last.set.clone(),
        None => Arc::new(KeySet::from_jwks(&jwks)?),
    };
    let pin = match pinner {
        Some(key) => Some(pass::pin(key, &jwks, now_ms / 1_000)?),
        None => folder.pin(),
    };
    folder.publish(&jwks, pin.as_deref())?;
    Ok(Keys { signer, quick, set, jwks, pin })
}

/// The keys of a series that stand: with a new one, if it is time and one is to be made, and without those that are over.
fn series(folder: &Folder, series: Series, made: Option<Algorithm>, now_ms: i64) -> Result<Vec<Name>, Error> {
    let mut names = folder.names(series)?;
    if let Some(algorithm) = made.filter(|_| plan::wants_another(&published(&names), now_ms)) {
        names = folder.add(series, algorithm, now_ms)?;
    }
    let over = plan::over(&published(&names), now_ms);
    for name in names.drain(..over) {
        folder.remove(&name)?;
        tracing::info!(key = name.id, "a signing key is gone: its last token is over");
    }
    Ok(names)
}

fn published(names: &[Name]) -> Vec<i64> {
    names.iter().map(|name| name.published_ms).collect()
}

#[cfg(test)]
mod tests;
