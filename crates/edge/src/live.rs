//! Where the live edge is, learned from what has been fetched: the highest number that good media had under a name
//! that is otherwise the same. No playlist is read for it.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};

use lru::LruCache;

use crate::limits::{LIVE_SEGMENTS, NOT_YET_SEGMENTS, TRACKS_MAX};

/// The newest segment of each track.
#[derive(Debug)]
pub(crate) struct LiveEdges {
    newest: Mutex<LruCache<u64, u64, RandomState>>,
    hasher: RandomState,
}

/// Where a name lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// It has no number (an init segment), or its track is not known.
    Unknown,
    /// Further beyond the newest than anyone should ask.
    Beyond,
    /// Among the next, or in the newest segment.
    Next,
    /// A little behind it.
    Live,
    /// Well behind it.
    Dvr,
}

impl LiveEdges {
    /// Knows nothing yet.
    pub(crate) fn new() -> LiveEdges {
        LiveEdges {
            newest: Mutex::new(LruCache::unbounded_with_hasher(RandomState::new())),
            hasher: RandomState::new(),
        }
    }

    /// Good media had that path.
    pub(crate) fn saw(&self, path: &str) {
        let Some((track, number)) = self.take_apart(path) else { return };
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        let known = newest.get_or_insert_mut(track, || number);
        *known = number.max(*known);
        if newest.len() > TRACKS_MAX {
            newest.pop_lru();
        }
    }

    /// Where a path lies.
    pub(crate) fn place(&self, path: &str) -> Place {
        let Some((track, number)) = self.take_apart(path) else { return Place::Unknown };
        let newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner).peek(&track).copied();
        let Some(newest) = newest else { return Place::Unknown };
        match number {
            n if n > newest.saturating_add(NOT_YET_SEGMENTS) => Place::Beyond,
            n if n >= newest => Place::Next,
            n if n.saturating_add(LIVE_SEGMENTS) >= newest => Place::Live,
            _ => Place::Dvr,
        }
    }

    /// A track's name, hashed, and the segment's number: the last digits before the first dot of the last segment.
    fn take_apart(&self, path: &str) -> Option<(u64, u64)> {
        let start = path.rfind('/')? + 1;
        let name = &path[start..];
        let stem = name.split('.').next()?;
        if stem.starts_with("init") {
            return None;
        }
        let end = stem.rfind(|c: char| c.is_ascii_digit())? + 1;
        let begin = stem[..end]
            .rfind(|c: char| !c.is_ascii_digit())
            .map_or(0, |at| at + stem[at..].chars().next().map_or(1, char::len_utf8));
        let number = stem[begin..end].parse().ok()?;
        let extension = name.rsplit('.').next()?;
        Some((self.hasher.hash_one((&path[..start + begin], extension)), number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edge_is_what_was_seen() {
        let edges = LiveEdges::new();
        assert_eq!(edges.place("/m/r/p/v/7a.m4s"), Place::Unknown);
        edges.saw("/m/r/p/v/100a.m4s");
        edges.saw("/m/r/p/v/99b.3.m4s");
        for (path, place) in [
            ("/m/r/p/v/103a.m4s", Place::Beyond),
            ("/m/r/p/v/102b.0.m4s", Place::Next),
            ("/m/r/p/v/100a.5.m4s", Place::Next),
            ("/m/r/p/v/99a.m4s", Place::Live),
            ("/m/r/p/v/90a.m4s", Place::Live),
            ("/m/r/p/v/89a.m4s", Place::Dvr),
            ("/m/r/p/w/100a.m4s", Place::Unknown),
            ("/m/r/p/v/init-0102.mp4", Place::Unknown),
            ("/m/r/p/v/é1é.m4s", Place::Unknown),
        ] {
            assert_eq!(edges.place(path), place, "{path}");
        }
    }

    #[test]
    fn names_of_other_packagers_are_understood() {
        let edges = LiveEdges::new();
        for path in ["/x/seg-17.m4s", "/x/chunk-stream0-00017.m4s", "/x/video_1080p_00017.ts", "/x/17.ts"] {
            edges.saw(path);
            assert_eq!(edges.place(&path.replace("17", "18")), Place::Next, "{path}");
            assert_eq!(edges.place(&path.replace("17", "03")), Place::Dvr, "{path}");
        }
    }

    #[test]
    fn tracks_are_bounded() {
        let edges = LiveEdges::new();
        (0..2 * TRACKS_MAX).for_each(|n| edges.saw(&format!("/{n}/1.ts")));
        assert_eq!(edges.newest.lock().unwrap().len(), TRACKS_MAX);
        assert_eq!(edges.place("/0/1.ts"), Place::Unknown);
    }
}
