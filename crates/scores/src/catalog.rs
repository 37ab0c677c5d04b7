//! Which matches there are: small, and copied to wherever a decision is made, so that none waits for a database.
//!
//! Kept in [`store::Registers`] under `match/{id}` until the door's own catalog takes over.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use store::Registers;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{Error, Sport};

/// How old a local copy may be: a match that goes live, or is blacked out, is known everywhere so soon.
const REFRESH_EVERY: Duration = Duration::from_secs(1);

/// Writes of one entry that may lose against others' before it is given up: people edit a match, not programs.
const PUT_TRIES_MAX: u32 = 10;

/// One match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Match {
    /// As it stands in URLs; the topic of its spine.
    pub id: String,
    /// For people.
    pub title: String,
    /// Which module's bodies its events have.
    pub sport: Sport,
    /// Home or first-named, then the other.
    pub teams: [String; 2],
    /// Where it is in its life.
    pub status: Status,
    /// ISO 3166-1 codes of the countries where it may be shown. None: everywhere; empty: nowhere.
    pub countries: Option<Vec<String>>,
    /// Seconds between happenings that are usual while this match is played, if other than its sport's.
    pub cadence_s: Option<f32>,
    /// When it begins or began: UTC, milliseconds.
    pub start_ms: i64,
}

/// Where a match is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Not yet.
    Scheduled,
    /// Feeds are taken.
    Live,
    /// Over.
    Final,
    /// Another day.
    Postponed,
}

impl Match {
    /// What is usual between two happenings while it is played, in milliseconds.
    pub fn cadence_ms(&self) -> i64 {
        let usual = match self.sport {
            // A ball every 35 to 40 s, over the breaks between overs.
            Sport::Cricket => 40.0,
            // The reference has 30 to 60 s.
            Sport::Football => 45.0,
        };
        // Less than a second would be delayed for ever, more than an hour never.
        (self.cadence_s.filter(|s| s.is_finite()).unwrap_or(usual).clamp(1.0, 3_600.0) * 1_000.0) as i64
    }
}

/// All matches, as they were at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalog {
    matches: BTreeMap<String, Match>,
}

impl Catalog {
    /// A copy of what stands in the store. An entry that cannot be read is left out: others must not suffer.
    pub async fn load(registers: &dyn Registers) -> Result<Catalog, Error> {
        let mut matches = Vec::new();
        for (key, register) in registers.list(KEYS).await? {
            match serde_json::from_str::<Match>(&register.value) {
                Ok(entry) if key[KEYS.len()..] == entry.id => matches.push(entry),
                Ok(entry) => tracing::warn!(key, id = entry.id, "a match stands under another's key"),
                Err(error) => tracing::warn!(key, %error, "a match cannot be read"),
            }
        }
        Ok(Catalog::new(matches))
    }

    /// Of these matches.
    pub fn new(matches: impl IntoIterator<Item = Match>) -> Catalog {
        Catalog { matches: matches.into_iter().map(|entry| (entry.id.clone(), entry)).collect() }
    }

    /// A match by its id.
    pub fn get(&self, id: &str) -> Option<&Match> {
        self.matches.get(id)
    }

    /// All of them, in the order of their ids.
    pub fn matches(&self) -> impl Iterator<Item = &Match> {
        self.matches.values()
    }

    /// A local copy that is refreshed every second until `shutdown`. When the store cannot be reached the last copy
    /// stands; the first one must be had.
    pub async fn follow(
        registers: Arc<dyn Registers>,
        shutdown: CancellationToken,
    ) -> Result<watch::Receiver<Arc<Catalog>>, Error> {
        let (copy, follower) = watch::channel(Arc::new(Catalog::load(&*registers).await?));
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = shutdown.cancelled() => break,
                    () = copy.closed() => break,
                    () = tokio::time::sleep(REFRESH_EVERY) => {}
                }
                match Catalog::load(&*registers).await {
                    Ok(now) => drop(copy.send_if_modified(|standing| {
                        let new = **standing != now;
                        if new {
                            *standing = Arc::new(now);
                        }
                        new
                    })),
                    Err(error) => tracing::warn!(%error, "the catalog's copy is not fresh"),
                }
            }
        });
        Ok(follower)
    }
}

/// Writes an entry, whatever stood there.
pub async fn put(registers: &dyn Registers, entry: &Match) -> Result<(), Error> {
    let key = format!("{KEYS}{}", entry.id);
    let value = serde_json::to_string(entry)?;
    let mut expected = registers.get(&key).await?.map(|standing| standing.version);
    for _ in 0..PUT_TRIES_MAX {
        match registers.put_if(&key, &value, expected, None).await? {
            store::Outcome::Won(_) => return Ok(()),
            store::Outcome::Lost(standing) => expected = Some(standing.version),
        }
    }
    Err(Error::Contended(key))
}

/// Where entries stand.
const KEYS: &str = "match/";

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: &str, status: Status) -> Match {
        Match {
            id: id.into(),
            title: "Chennai v Kolkata".into(),
            sport: Sport::Cricket,
            teams: ["CSK".into(), "KKR".into()],
            status,
            countries: Some(vec!["IN".into()]),
            cadence_s: None,
            start_ms: 1_764_490_000_000,
        }
    }

    fn store() -> (tempfile::TempDir, Arc<store::Sqlite>) {
        let dir = tempfile::tempdir().unwrap();
        let registers = Arc::new(store::Sqlite::open(&dir.path().join("store.db")).unwrap());
        (dir, registers)
    }

    #[tokio::test]
    async fn what_was_put_is_loaded_and_one_bad_entry_spoils_nothing() {
        let (_dir, registers) = store();
        put(&*registers, &entry("demo", Status::Scheduled)).await.unwrap();
        put(&*registers, &entry("demo", Status::Live)).await.unwrap();
        put(&*registers, &entry("final", Status::Final)).await.unwrap();
        registers.put_if("match/bad", "{", None, None).await.unwrap();
        registers
            .put_if("match/liar", &serde_json::to_string(&entry("demo", Status::Final)).unwrap(), None, None)
            .await
            .unwrap();
        let catalog = Catalog::load(&*registers).await.unwrap();
        assert_eq!(catalog.matches().map(|m| m.id.as_str()).collect::<Vec<_>>(), ["demo", "final"]);
        assert_eq!(catalog.get("demo"), Some(&entry("demo", Status::Live)));
    }

    #[tokio::test]
    async fn a_follower_learns_of_a_change() {
        let (_dir, registers) = store();
        let shutdown = CancellationToken::new();
        let mut follower = Catalog::follow(registers.clone(), shutdown.clone()).await.unwrap();
        assert_eq!(follower.borrow().get("demo"), None);
        put(&*registers, &entry("demo", Status::Live)).await.unwrap();
        follower.changed().await.unwrap();
        assert_eq!(follower.borrow().get("demo").unwrap().status, Status::Live);
        shutdown.cancel();
    }

    #[test]
    fn a_cadence_is_the_sports_unless_the_match_has_its_own() {
        assert_eq!(entry("demo", Status::Live).cadence_ms(), 40_000);
        assert_eq!(Match { cadence_s: Some(2.5), ..entry("demo", Status::Live) }.cadence_ms(), 2_500);
        assert_eq!(Match { cadence_s: Some(f32::NAN), ..entry("demo", Status::Live) }.cadence_ms(), 40_000);
        assert_eq!(Match { cadence_s: Some(0.0), ..entry("demo", Status::Live) }.cadence_ms(), 1_000);
    }
}
