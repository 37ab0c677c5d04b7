//! How documents stand in the registers, under `catalog/{kind}/{id}`, and the copy of all of them that decisions are
//! made from.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use store::{Change, Entitlements, Outcome, Register, Registers};
use tokio::sync::{Mutex, watch};
use tokio_util::sync::CancellationToken;

use super::limits::{PUT_TRIES_MAX, READ_TRIES_MAX, REFRESH_EVERY};
use super::{Catalog, Copy, Kind, score};
use crate::Error;

/// What stands in the store, of every kind in the order of [`Kind::ALL`].
type Raw = Vec<Vec<(String, Register)>>;

/// The catalog, for who decides by it and for who edits it.
pub struct Keeper {
    registers: Arc<dyn Registers>,
    history: Arc<dyn Entitlements>,
    copy: watch::Sender<Arc<Copy>>,
    /// What the copy was made of.
    raw: Mutex<Raw>,
    /// One change at a time, here; other processes are seen by their versions.
    editing: Mutex<()>,
}

/// What was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) kind: Kind,
    pub(crate) id: String,
    /// None: take it away.
    pub(crate) document: Option<String>,
}

impl Keeper {
    /// Loads the catalog, which must be had, and follows it each second until `shutdown`. When the store cannot be
    /// reached later, the last copy stands.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    pub async fn follow(
        registers: Arc<dyn Registers>,
        history: Arc<dyn Entitlements>,
        shutdown: CancellationToken,
    ) -> Result<Arc<Keeper>, Error> {
        let copy = watch::Sender::new(Arc::new(Copy::default()));
        let keeper =
            Arc::new(Keeper { registers, history, copy, raw: Mutex::default(), editing: Mutex::new(()) });
        keeper.refresh().await?;
        let following = keeper.clone();
        tokio::spawn(async move {
            while !stopped(&shutdown, REFRESH_EVERY).await {
                if let Err(error) = following.refresh().await {
                    metrics::counter!("arrival_catalog_stale_total").increment(1);
                    tracing::warn!(%error, "the catalog's copy is not fresh");
                }
            }
        });
        Ok(keeper)
    }

    /// All of it, as it stood a second ago at most, or when the store was last reached.
    pub fn copy(&self) -> Arc<Copy> {
        self.copy.borrow().clone()
    }

    /// Reads the store, and makes a new copy if something changed.
    pub(crate) async fn refresh(&self) -> Result<(), Error> {
        let mut standing = self.raw.lock().await;
        let mut read = self.read().await?;
        if read == *standing {
            return Ok(());
        }
        // Lists are not of one instant: a right that was taken away with its blackout could be seen without it. What is
        // read twice alike is what stood.
        for _ in 0..READ_TRIES_MAX {
            let again = self.read().await?;
            if again == read {
                break;
            }
            read = again;
        }
        let catalog = interpret(&read, &self.copy().catalog);
        *standing = read;
        self.copy.send_replace(Arc::new(Copy::of(catalog)));
        Ok(())
    }

    async fn read(&self) -> Result<Raw, Error> {
        let mut raw = Raw::new();
        for kind in Kind::ALL {
            raw.push(self.registers.list(&prefix(kind)).await?);
        }
        Ok(raw)
    }

    /// Makes changes, those that close before those that open, and writes them into the history. What is checked is the
    /// catalog as it would be: each changed document, and, when some are taken away, whatever names them.
    ///
    /// # Errors
    ///
    /// A document is not taken (then nothing was changed), or the store failed (then some may be).
    pub(crate) async fn edit(&self, who: &str, mut edits: Vec<Edit>, now_ms: i64) -> Result<(), Error> {
        let _one_at_a_time = self.editing.lock().await;
        self.refresh().await?;
        let before = self.copy().catalog.clone();
        let after = applied(&before, &edits)?;
        after.check(&before, |kind, id| edits.iter().any(|edit| edit.kind == kind && edit.id == id))?;
        let place = |edit: &Edit| Kind::ALL.iter().position(|k| *k == edit.kind);
        edits.sort_by_key(place);
        let (gone, put): (Vec<&Edit>, Vec<&Edit>) = edits.iter().partition(|edit| edit.document.is_none());
        // Put a blackout before the right that it bounds; take the right away before its blackout.
        for edit in put.into_iter().chain(gone.into_iter().rev()) {
            let written = self.write(&edit.kind, &edit.id, edit.document.as_deref()).await?;
            if written != edit.document {
                self.note(who, edit, written, now_ms).await;
            }
        }
        self.refresh().await?;
        score::tell(&*self.registers, &before, &after, now_ms).await
    }

    /// Writes one, and gives what stood there.
    async fn write(&self, kind: &Kind, id: &str, document: Option<&str>) -> Result<Option<String>, Error> {
        let key = format!("{}{id}", prefix(*kind));
        write(&*self.registers, &key, document).await
    }

    /// Writes a document unless one stands there. Of one that stands these members are set, if they are another.
    pub(crate) async fn seed(&self, kind: Kind, mut document: Value, set: &[&str]) -> Result<(), Error> {
        if kind == Kind::Match {
            score::learn(&*self.registers, &mut document).await?;
        }
        let key = format!("{}{}", prefix(kind), document["id"].as_str().unwrap_or_default());
        let Outcome::Lost(standing) = self.registers.put_if(&key, &document.to_string(), None, None).await?
        else {
            return Ok(());
        };
        let Ok(mut now) = serde_json::from_str::<Value>(&standing.value) else { return Ok(()) };
        let other: Vec<_> = set.iter().filter(|name| now[**name] != document[**name]).collect();
        if !other.is_empty() {
            other.into_iter().for_each(|name| now[*name] = document[*name].clone());
            write(&*self.registers, &key, Some(&now.to_string())).await?;
        }
        Ok(())
    }

    /// A blackout must not wait for the database of the history; what cannot be written there is in the log.
    async fn note(&self, who: &str, edit: &Edit, before: Option<String>, now_ms: i64) {
        let what = format!("{}{}", prefix(edit.kind), edit.id);
        tracing::info!(who, what, gone = edit.document.is_none(), "the catalog was changed");
        let id = crate::fresh_id();
        let after = edit.document.clone();
        let change = Change { id, at_ms: now_ms, who: who.to_owned(), what, before, after };
        if let Err(error) = self.history.note(std::slice::from_ref(&change)).await {
            tracing::error!(%error, ?change, "a change is not in the history");
        }
    }
}

/// Sets a register, or ends it, and gives what stood there.
pub(crate) async fn write(
    registers: &dyn Registers,
    key: &str,
    value: Option<&str>,
) -> Result<Option<String>, Error> {
    let mut standing = registers.get(key).await?;
    for _ in 0..PUT_TRIES_MAX {
        if standing.is_none() && value.is_none() {
            return Ok(None);
        }
        let expected = standing.as_ref().map(|r| r.version);
        let ttl = value.is_none().then_some(Duration::ZERO);
        match registers.put_if(key, value.unwrap_or_default(), expected, ttl).await? {
            Outcome::Won(_) => return Ok(standing.map(|r| r.value)),
            Outcome::Lost(now) => standing = Some(now),
        }
    }
    Err(Error::Contended(key.to_owned()))
}

pub(crate) fn applied(before: &Catalog, edits: &[Edit]) -> Result<Catalog, Error> {
    let mut after = before.clone();
    for edit in edits {
        match &edit.document {
            Some(document) => after.insert(edit.kind, &edit.id, document)?,
            None if after.remove(edit.kind, &edit.id) => {}
            // One that cannot be read can be taken away.
            None if after.unreadable.remove(&format!("{}{}", prefix(edit.kind), edit.id)).is_some() => {}
            None => return Err(Error::NoDocument { kind: edit.kind.name(), id: edit.id.clone() }),
        }
    }
    Ok(after)
}

pub(crate) fn prefix(kind: Kind) -> String {
    format!("catalog/{}/", kind.name())
}

/// What the store says. Something that cannot be read is left out; a blackout is never left out.
fn interpret(raw: &Raw, last: &Catalog) -> Catalog {
    let mut catalog = Catalog::default();
    for (kind, listed) in Kind::ALL.into_iter().zip(raw) {
        for (key, register) in listed {
            let id = key.strip_prefix(&prefix(kind)).unwrap_or(key);
            let Err(error) = catalog.insert(kind, id, &register.value) else { continue };
            tracing::error!(key, %error, "a document cannot be read");
            if kind != Kind::Blackout {
                continue;
            }
            match last.blackouts.get(id) {
                Some(known) => drop(catalog.blackouts.insert(id.to_owned(), known.clone())),
                None => drop(catalog.unreadable.insert(key.clone(), named(&register.value))),
            }
        }
    }
    catalog
}

/// The matches that a document seems to name.
fn named(text: &str) -> Option<Vec<String>> {
    let value: Value = serde_json::from_str(text).ok()?;
    value.get("matches")?.as_array()?.iter().map(|id| id.as_str().map(str::to_owned)).collect()
}

/// Waits; true: it is over.
pub(crate) async fn stopped(shutdown: &CancellationToken, wait: Duration) -> bool {
    tokio::select! {
        () = shutdown.cancelled() => true,
        () = tokio::time::sleep(wait) => false,
    }
}
