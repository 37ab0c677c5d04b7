//! Between memory and disk: what of an object is written, and how it comes back.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use tokio::time::Instant;

use crate::disk::Stored;
use crate::head::Head;
use crate::limits::DISK_WORTH;
use crate::object::{Object, Phase};

/// One instant on both clocks: the one that lasts as long as the process, and the one that outlives it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    /// On the steady clock.
    pub(crate) instant: Instant,
    /// Milliseconds since the Unix epoch.
    pub(crate) wall_ms: u64,
}

impl Now {
    /// This one.
    pub(crate) fn read() -> Now {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Now { instant: Instant::now(), wall_ms: since.as_millis() as u64 }
    }

    /// Another instant on the wall clock.
    pub(crate) fn wall(self, at: Instant) -> u64 {
        let (ahead, behind) =
            (at.saturating_duration_since(self.instant), self.instant.saturating_duration_since(at));
        self.wall_ms.saturating_add(ahead.as_millis() as u64).saturating_sub(behind.as_millis() as u64)
    }

    /// An instant of the wall clock on the steady one; one before this machine was started is its start.
    pub(crate) fn steady(self, ms: u64) -> Instant {
        let ahead = Duration::from_millis(ms.saturating_sub(self.wall_ms));
        let behind = Duration::from_millis(self.wall_ms.saturating_sub(ms));
        let at = self.instant.checked_sub(behind).unwrap_or(self.instant);
        at.checked_add(ahead).unwrap_or(at)
    }
}

/// What is written of an object that leaves memory; `None` if it is not worth it.
pub(crate) fn stored(object: &Object, now: Now) -> Option<Stored> {
    if object.phase(now.instant) != Phase::Fresh {
        return None;
    }
    let (head, body) = object.whole()?;
    if head.left(now.instant) < DISK_WORTH || !head.vary.0.is_empty() {
        return None;
    }
    Some(Stored {
        status: head.status,
        headers: head.headers.clone(),
        body,
        stored_ms: head.stored_ms,
        born_ms: now.wall(head.born),
        fresh_until_ms: now.wall(head.fresh_until),
        stale_while_revalidate_until_ms: now.wall(head.while_revalidate_until),
        stale_if_error_until_ms: now.wall(head.if_error_until),
    })
}

/// What comes back.
pub(crate) fn recalled(stored: Stored, now: Now) -> (Head, Bytes) {
    let head = Head::of_before(
        stored.status,
        stored.headers,
        stored.body.len() as u64,
        stored.stored_ms,
        [
            stored.born_ms,
            stored.fresh_until_ms,
            stored.stale_while_revalidate_until_ms,
            stored.stale_if_error_until_ms,
        ]
        .map(|ms| now.steady(ms)),
    );
    (head, stored.body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lifetime::Life;
    use crate::target::Key;
    use http::{HeaderMap, StatusCode};

    fn object(life: Duration) -> Object {
        let object = Object::new(Key::new("i/1.m4s"), HeaderMap::new(), None, Instant::now());
        let life = Life { fresh: life, while_revalidate: life, if_error: life * 2 };
        let headers = HeaderMap::from_iter([(http::header::AGE, 7.into())]);
        let head = Head::new(StatusCode::OK, headers, None, Default::default(), Some(life), Instant::now());
        object.set_whole(head, Bytes::from_static(b"body"));
        object
    }

    #[test]
    fn times_survive_the_way_to_disk_and_a_restart() {
        let object = object(Duration::from_secs(3_600));
        let now = Now::read();
        let stored = stored(&object, now).unwrap();
        // Another process, a minute later, whose steady clock began anew.
        let later = Now { instant: now.instant + Duration::from_secs(999), wall_ms: now.wall_ms + 60_000 };
        let (head, body) = recalled(stored.clone(), later);
        let old = object.whole().unwrap().0;
        assert_eq!((body, head.stored_ms), (Bytes::from_static(b"body"), old.stored_ms));
        assert_eq!((old.age_s(now.instant), head.age_s(later.instant)), (7, 67));
        let lost = old.left(now.instant) - head.left(later.instant);
        assert!((59_990..60_010).contains(&lost.as_millis()), "{lost:?}");
        let stale = |h: &Head| (h.while_revalidate_until - h.fresh_until).as_secs_f64().round();
        assert_eq!((stale(&head), stale(&old)), (3_600.0, 3_600.0));
    }

    #[test]
    fn what_ends_in_a_moment_is_not_worth_the_disk() {
        assert!(stored(&object(DISK_WORTH / 2), Now::read()).is_none());
        let soft = object(DISK_WORTH * 9);
        soft.soften();
        assert!(stored(&soft, Now::read()).is_none());
    }
}
