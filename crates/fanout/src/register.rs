//! The matches that somebody watches here, and the task of each.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::limits::TOPICS_MAX;

/// A match that is open: what all workers have in common of it.
#[derive(Debug)]
pub(crate) struct Topic {
    /// Never used again for another.
    pub(crate) id: u32,
    /// As the catalog has it.
    pub(crate) name: String,
    watching: AtomicUsize,
}

impl Topic {
    /// Sockets that are subscribed.
    pub(crate) fn watching(&self) -> usize {
        self.watching.load(Ordering::Relaxed)
    }

    /// One more was [`Register::open`]ed; this is its end.
    pub(crate) fn leave(&self) {
        self.watching.fetch_sub(1, Ordering::Relaxed);
    }
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Register {
    topics: Mutex<HashMap<String, Arc<Topic>>>,
    next: AtomicU32,
}

impl Register {
    /// A match by name, one subscription more; `begin` is called with it if it is new. `None`: there are too many.
    pub(crate) fn open(&self, name: &str, begin: impl FnOnce(Arc<Topic>)) -> Option<Arc<Topic>> {
        let mut topics = self.lock();
        if let Some(topic) = topics.get(name) {
            topic.watching.fetch_add(1, Ordering::Relaxed);
            return Some(topic.clone());
        }
        if topics.len() >= TOPICS_MAX {
            return None;
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let topic = Arc::new(Topic { id, name: name.to_owned(), watching: AtomicUsize::new(1) });
        topics.insert(name.to_owned(), topic.clone());
        begin(topic.clone());
        Some(topic)
    }

    /// Forgets a match, unless somebody watches it after all.
    pub(crate) fn close(&self, topic: &Topic) -> bool {
        let mut topics = self.lock();
        if topic.watching() > 0 {
            return false;
        }
        topics.remove(&topic.name);
        true
    }

    /// Sockets that are subscribed to a match.
    pub(crate) fn watching(&self, name: &str) -> usize {
        self.lock().get(name).map_or(0, |topic| topic.watching())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Topic>>> {
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_is_begun_once_and_kept_while_it_is_watched() {
        let register = Register::default();
        let mut begun = 0;
        let one = register.open("m", |_| begun += 1).unwrap();
        let two = register.open("m", |_| begun += 1).unwrap();
        assert_eq!((begun, one.id, register.watching("m")), (1, two.id, 2));
        one.leave();
        assert!(!register.close(&one));
        one.leave();
        assert!(register.close(&one) && register.watching("m") == 0);
        assert_ne!(register.open("m", |_| {}).unwrap().id, one.id);
    }

    #[test]
    fn there_are_not_too_many() {
        let register = Register::default();
        for n in 0..TOPICS_MAX {
            assert!(register.open(&n.to_string(), |_| {}).is_some());
        }
        assert!(register.open("m", |_| {}).is_none() && register.open("0", |_| {}).is_some());
    }
}
