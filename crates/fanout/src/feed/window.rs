//! The coalescing window of a match. Pure.
//!
//! The first event leaves at once and opens the window; what comes within it leaves together at its end. Nothing waits
//! longer than the window, and a quiet match waits for nothing. A correction (revision > 1) ends the wait, for itself
//! and for what is held, in order: it never stands behind what it corrects for longer than the network needs.
//!
//! Held events are keyed by (event, revision) and none replaces another. [`Window::release`] counts what came and did
//! not leave: that number goes to `revision_collapsed_at_edge_total`, and must stay 0.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::limits::WINDOW_EVENTS_MAX;
use crate::ring::Entry;

/// Which happening, and which revision of it.
pub(crate) type Key = (u64, u32);

/// What is held back.
#[derive(Debug)]
pub(crate) struct Window {
    length: Duration,
    /// Until when what comes is held.
    closes: Option<Instant>,
    /// What came since the last release.
    came: Vec<Key>,
    held: Vec<(Key, Arc<Entry>)>,
}

impl Window {
    /// One of that length; none at all if that is 0.
    pub(crate) fn new(length: Duration) -> Window {
        Window { length, closes: None, came: Vec::new(), held: Vec::new() }
    }

    /// Takes an event. Whether all that is held must leave now.
    pub(crate) fn take(&mut self, key: Key, entry: Arc<Entry>, now: Instant) -> bool {
        self.came.push(key);
        self.held.push((key, entry));
        let correction = key.1 > 1;
        let open = self.closes.is_some_and(|closes| now < closes);
        correction || !open || self.held.len() >= WINDOW_EVENTS_MAX
    }

    /// How much is held.
    pub(crate) fn len(&self) -> usize {
        self.held.len()
    }

    /// When what is held must leave.
    pub(crate) fn due(&self) -> Option<Instant> {
        if self.held.is_empty() { None } else { self.closes }
    }

    /// Gives what is held, in order, and opens the window anew. Also how many revisions came and are not among it.
    pub(crate) fn release(&mut self, now: Instant) -> (Vec<Arc<Entry>>, u64) {
        self.closes = (!self.length.is_zero()).then(|| now + self.length);
        let collapsed = collapsed(&self.came, &self.held);
        self.came.clear();
        (self.held.drain(..).map(|(_, entry)| entry).collect(), collapsed)
    }
}

/// How many revisions came and do not leave, though another revision of their event does.
fn collapsed(came: &[Key], leave: &[(Key, Arc<Entry>)]) -> u64 {
    let lost = |key: &&Key| {
        leave.iter().all(|(other, _)| other != *key) && leave.iter().any(|(other, _)| other.0 == key.0)
    };
    came.iter().filter(lost).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use relay::Message;

    fn entry(offset: u64) -> Arc<Entry> {
        let (json, proto) = (Bytes::from_static(b"{}"), Bytes::new());
        Arc::new(Entry::new("m", 1, &Message { offset, event: 1, revision: 1, ingest_us: 0, json, proto }))
    }

    #[test]
    fn the_first_leaves_at_once_and_the_rest_together() {
        let (start, ms) = (Instant::now(), Duration::from_millis);
        let mut window = Window::new(ms(200));
        assert!(window.take((1, 1), entry(1), start));
        assert_eq!(window.release(start).0.len(), 1);
        assert!(!window.take((2, 1), entry(2), start + ms(10)));
        assert!(!window.take((3, 1), entry(3), start + ms(190)));
        assert_eq!(window.due(), Some(start + ms(200)));
        assert_eq!(window.release(start + ms(200)).0.len(), 2);
        assert_eq!(window.due(), None, "nothing is held");
        assert!(!window.take((4, 1), entry(4), start + ms(399)));
        assert_eq!(window.due(), Some(start + ms(400)));
    }

    #[test]
    fn a_correction_waits_for_nothing_and_collapses_nothing() {
        let start = Instant::now();
        let mut window = Window::new(Duration::from_millis(200));
        assert!(window.take((1, 1), entry(1), start));
        window.release(start);
        assert!(!window.take((2, 1), entry(2), start));
        assert!(window.take((2, 2), entry(3), start));
        let (leave, collapsed) = window.release(start);
        assert_eq!(leave.iter().map(|entry| entry.offset).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(collapsed, 0);
    }

    #[test]
    fn without_a_window_nothing_waits() {
        let now = Instant::now();
        let mut window = Window::new(Duration::ZERO);
        for n in 1..4 {
            assert!(window.take((n, 1), entry(n), now));
            assert_eq!(window.release(now).0.len(), 1);
        }
    }

    /// The count can be other than 0: a window that let a revision replace another would be seen.
    #[test]
    fn a_lost_revision_is_counted() {
        let now = Instant::now();
        let mut window = Window::new(Duration::from_millis(200));
        window.take((7, 1), entry(1), now);
        window.take((8, 1), entry(2), now);
        window.take((7, 2), entry(3), now);
        window.held.remove(0);
        assert_eq!(window.release(now).1, 1);
        window.take((9, 1), entry(4), now);
        assert_eq!(window.release(now).1, 0, "each is counted once");
    }
}
