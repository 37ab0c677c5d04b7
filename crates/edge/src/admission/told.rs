//! What is known of sessions and passes beside what they say themselves, for as long as it matters.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

use pass::Refusal;

use crate::Error;

/// Sessions that are cut at one time: a thousand times what an operator does in a match.
const SESSIONS_MAX: usize = 65_536;

/// Passes that were good for one request and have not expired: issuers give such ones minutes.
const USED_MAX: usize = 65_536;

/// Entries that end by themselves.
struct Ending<K, V>(Mutex<HashMap<K, (V, i64)>>);

impl<K: Hash + Eq, V: Copy> Ending<K, V> {
    /// `None` if there is no room.
    fn put(&self, key: K, value: V, until_s: i64, now_s: i64, most: usize) -> Option<()> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.len() >= most && !held.contains_key(&key) {
            held.retain(|_, (_, until_s)| *until_s > now_s);
            if held.len() >= most {
                return None;
            }
        }
        let entry = held.entry(key).or_insert((value, until_s));
        if until_s >= entry.1 {
            *entry = (value, until_s);
        }
        Some(())
    }

    fn get(&self, key: &K, now_s: i64) -> Option<V> {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.get(key).filter(|(_, until_s)| *until_s > now_s).map(|(value, _)| *value)
    }
}

/// Sessions that are over, and why.
pub(super) struct Told(Ending<u64, Refusal>);

impl Default for Told {
    fn default() -> Told {
        Told(Ending(Mutex::default()))
    }
}

impl Told {
    /// # Errors
    ///
    /// [`Error::Revoked`]: there are too many.
    pub(super) fn tell(&self, session: u64, why: Refusal, until_s: i64, now_s: i64) -> Result<(), Error> {
        self.0.put(session, why, until_s, now_s, SESSIONS_MAX).ok_or(Error::Revoked(SESSIONS_MAX))
    }

    pub(super) fn find(&self, session: u64, now_s: i64) -> Option<Refusal> {
        self.0.get(&session, now_s)
    }
}

/// Passes that were good for one request.
pub(super) struct Used(Ending<Box<[u8]>, ()>);

impl Default for Used {
    fn default() -> Used {
        Used(Ending(Mutex::default()))
    }
}

impl Used {
    /// Uses one up. Without room to remember it, it is refused: it could be used again.
    pub(super) fn take(&self, id: &[u8], until_s: i64, now_s: i64) -> Result<(), Refusal> {
        // It is taken a little longer than it says.
        let until_s = until_s.saturating_add(2 * pass::LEEWAY_S);
        let mut held = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.len() >= USED_MAX {
            held.retain(|_, (_, until_s)| *until_s > now_s);
        }
        if held.len() >= USED_MAX || held.insert(id.into(), ((), until_s)).is_some() {
            return Err(Refusal::Replayed);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_over_until_then() {
        let told = Told::default();
        told.tell(1, Refusal::Revoked, 100, 0).unwrap();
        told.tell(1, Refusal::Shared, 50, 0).unwrap();
        assert_eq!(told.find(1, 99), Some(Refusal::Revoked));
        assert_eq!(told.find(1, 100), None);
        assert_eq!(told.find(2, 0), None);
    }

    #[test]
    fn sessions_are_bounded_and_make_room_when_they_end() {
        let told = Told::default();
        (0..SESSIONS_MAX as u64).for_each(|n| told.tell(n, Refusal::Revoked, 100, 0).unwrap());
        assert!(told.tell(u64::MAX, Refusal::Revoked, 100, 99).is_err());
        assert!(told.tell(0, Refusal::Revoked, 200, 99).is_ok(), "it has its place");
        assert!(told.tell(u64::MAX, Refusal::Revoked, 200, 100).is_ok());
        assert_eq!(told.find(u64::MAX, 100), Some(Refusal::Revoked));
        assert_eq!(told.find(0, 199), Some(Refusal::Revoked));
    }

    #[test]
    fn once_is_once() {
        let used = Used::default();
        assert_eq!(used.take(b"a", 100, 0), Ok(()));
        assert_eq!(used.take(b"a", 100, 1), Err(Refusal::Replayed));
        assert_eq!(used.take(b"b", 100, 1), Ok(()));
    }
}
