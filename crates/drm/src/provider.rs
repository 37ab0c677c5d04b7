//! Where keys come from.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use ring::hmac;

use crate::key::first_half;
use crate::{Class, Error, Key, Kid, Scope, Secret};

/// Bytes of a master secret, at least: as much as it is to protect, twice.
pub const MASTER_MIN: usize = 32;
/// Periods whose keys are held: those of a DVR window of hours at the shortest sensible period of minutes.
pub const PERIODS_MAX: usize = 256;

/// Gives the keys of one programme.
pub trait Provider: Send + Sync {
    /// The key of a class of tracks in a period. The same for whoever asks, whenever they ask.
    ///
    /// # Errors
    /// When it is not known (yet).
    fn key(&self, class: Class, period: u64) -> Result<Key, Error>;

    /// The key of that name, looked for among those of some periods, latest first.
    fn find(&self, kid: Kid, periods: std::ops::RangeInclusive<u64>) -> Option<(Class, u64, Key)> {
        periods.rev().take(PERIODS_MAX).find_map(|period| {
            let keys = Class::ALL
                .into_iter()
                .filter_map(|class| Some((class, period, self.key(class, period).ok()?)));
            keys.into_iter().find(|(.., key)| key.kid == kid)
        })
    }
}

/// Derives keys from a master secret: key = first half of HMAC-SHA-256(master, purpose ‖ match ‖ programme ‖ class ‖
/// period), which is the one block that HKDF-Expand (RFC 5869) would give, for a master that is random already. Purposes
/// are `key` and `iv`; names are [`Scope::kid`].
pub struct Local {
    master: hmac::Key,
    scope: Scope,
}

impl Local {
    /// From what the secret's file holds; white space around it does not count.
    ///
    /// # Errors
    /// When it is too short to be a secret.
    pub fn new(master: &str, scope: Scope) -> Result<Local, Error> {
        let master = master.trim().as_bytes();
        if master.len() < MASTER_MIN {
            return Err(Error::Master(master.len()));
        }
        Ok(Local { master: hmac::Key::new(hmac::HMAC_SHA256, master), scope })
    }

    /// The period of the key of that name, looked for in some periods.
    pub fn period_of(&self, kid: Kid, periods: std::ops::RangeInclusive<u64>) -> Option<u64> {
        self.scope.find(kid, periods).map(|(_, period)| period)
    }

    fn derive(&self, purpose: &str, class: Class, period: u64) -> [u8; 16] {
        first_half(hmac::sign(&self.master, &self.scope.message(purpose, class, period)).as_ref())
    }
}

impl Provider for Local {
    fn key(&self, class: Class, period: u64) -> Result<Key, Error> {
        Ok(Key {
            kid: self.scope.kid(class, period),
            secret: Secret(self.derive("key", class, period)),
            iv: self.derive("iv", class, period),
        })
    }

    /// By names alone, a third of the work: whoever asks for names that do not exist makes us try them all.
    fn find(&self, kid: Kid, periods: std::ops::RangeInclusive<u64>) -> Option<(Class, u64, Key)> {
        let (class, period) = self.scope.find(kid, periods)?;
        Some((class, period, self.key(class, period).ok()?))
    }
}

impl fmt::Debug for Local {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Local").field("scope", &self.scope).finish_non_exhaustive()
    }
}

/// Holds what a key server has said. While it says nothing of a period, the last key known before it stays in use:
/// the video must play.
#[derive(Debug, Default)]
pub struct Held {
    keys: Mutex<BTreeMap<(Class, u64), Key>>,
}

impl Held {
    /// Nothing.
    pub fn new() -> Held {
        Held::default()
    }

    /// Takes a key. The first for a class and period counts: what was encrypted with it cannot be taken back.
    pub fn insert(&self, class: Class, period: u64, key: Key) {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.entry((class, period)).or_insert(key);
        while keys.len() > PERIODS_MAX * Class::ALL.len() {
            // The oldest period, whatever its class.
            let Some(oldest) = keys.keys().min_by_key(|(_, period)| *period).copied() else { break };
            keys.remove(&oldest);
        }
    }

    /// Whether a period's own keys are all here.
    pub fn has(&self, period: u64) -> bool {
        let keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        Class::ALL.iter().all(|class| keys.contains_key(&(*class, period)))
    }
}

impl Provider for Held {
    fn key(&self, class: Class, period: u64) -> Result<Key, Error> {
        let keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        let last = keys.range((class, 0)..=(class, period)).next_back();
        last.map(|(_, key)| key.clone()).ok_or(Error::NoKey { class, period })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MASTER: &str = "0123456789abcdef0123456789abcdef";

    fn scope(programme: &str) -> Scope {
        Scope { r#match: "demo".parse().unwrap(), programme: programme.parse().unwrap() }
    }

    #[test]
    fn every_class_and_period_has_a_key_of_its_own() {
        let mut seen = std::collections::HashSet::new();
        for programme in ["main", "goal"] {
            let local = Local::new(MASTER, scope(programme)).unwrap();
            for class in Class::ALL {
                for period in 0..50 {
                    let key = local.key(class, period).unwrap();
                    for bytes in [key.kid.0, key.secret.0, key.iv] {
                        assert!(seen.insert(bytes), "{programme} {class} {period}");
                    }
                }
            }
        }
        // Another secret gives other keys of the same names.
        let other = Local::new(&MASTER.replace('0', "1"), scope("main")).unwrap();
        let (ours, theirs) =
            (Local::new(MASTER, scope("main")).unwrap().key(Class::Hd, 7), other.key(Class::Hd, 7));
        assert_eq!(ours.clone().unwrap().kid, theirs.clone().unwrap().kid);
        assert_ne!(ours, theirs);
    }

    /// Recordings are played with keys that are derived again, so derivation may never change.
    #[test]
    fn derivation_is_for_ever() {
        let key = Local::new(MASTER, scope("main")).unwrap().key(Class::Hd, 3).unwrap();
        let hex = |bytes: [u8; 16]| Kid(bytes).to_string();
        assert_eq!(
            [key.kid.to_string(), hex(key.secret.0), hex(key.iv)],
            [KID, KEY, IV],
            "python3: hmac.new(master, b'pavilion drm 1\\0key\\0demo\\0main\\0HD\\0' + (3).to_bytes(8, 'big'), 'sha256')"
        );
    }

    const KID: &str = "31d74f8c6797a44f017629188bac06be";
    const KEY: &str = "eb4fc084393f8159368006181a4002cf";
    const IV: &str = "deb4738fd9c12d0d4f6098a3bda3a3a1";

    #[test]
    fn keys_are_found_by_name() {
        let local = Local::new(MASTER, scope("main")).unwrap();
        let key = local.key(Class::Sd, 41).unwrap();
        assert_eq!(local.find(key.kid, 30..=45), Some((Class::Sd, 41, key.clone())));
        assert_eq!(local.find(key.kid, 42..=45), None);
        // A forged range does not make an endless search.
        assert_eq!(local.find(Kid([0; 16]), 0..=u64::MAX), None);
    }

    #[test]
    fn the_last_known_key_is_held() {
        let (held, local) = (Held::new(), Local::new(MASTER, scope("main")).unwrap());
        assert_eq!(held.key(Class::Hd, 3), Err(Error::NoKey { class: Class::Hd, period: 3 }));
        let key = local.key(Class::Hd, 3).unwrap();
        held.insert(Class::Hd, 3, key.clone());
        held.insert(Class::Hd, 3, local.key(Class::Hd, 9).unwrap());
        assert_eq!(held.key(Class::Hd, 5), Ok(key));
        assert!(held.key(Class::Hd, 2).is_err() && held.key(Class::Sd, 5).is_err());
        assert!(!held.has(3));
        for period in 4..4 + PERIODS_MAX as u64 {
            Class::ALL.iter().for_each(|c| held.insert(*c, period, local.key(*c, period).unwrap()));
        }
        assert!(held.key(Class::Hd, 3).is_err(), "the oldest has gone");
        assert!(held.has(4));
    }

    #[test]
    fn secrets_are_not_printed() {
        let local = Local::new(MASTER, scope("main")).unwrap();
        let key = local.key(Class::Hd, 0).unwrap();
        let held = Held::new();
        held.insert(Class::Hd, 0, key.clone());
        let printed = format!("{local:?} {key:?} {held:?} {:?}", key.secret).replace([' ', ','], "");
        let hex: String = key.secret.0.iter().map(|b| format!("{b:02x}")).collect();
        let list: String = key.secret.0.iter().take(4).map(u8::to_string).collect();
        assert!(
            !printed.contains(&hex) && !printed.contains(&list) && !printed.contains(MASTER),
            "{printed}"
        );
        let short = Local::new("short secret", scope("main")).unwrap_err().to_string();
        assert!(!short.contains("short secret") && short.contains("12 bytes"), "{short}");
    }
}
