//! Who was let in, from where, for as long as their passes may be renewed: when a place goes dark that was not foreseen to,
//! those who are there are found, and only they.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::limits::{PRESENT_MAX, PRESENT_SHARDS};
use crate::FRESH_ID_CHARS;
use crate::catalog::Copy;
use crate::whereabouts::Whereabouts;

/// They.
pub(crate) struct Present(Vec<Mutex<HashMap<u128, Seat>>>);

struct Seat {
    /// What its session's name has after the number.
    tail: Box<str>,
    r#match: Arc<str>,
    address: Option<IpAddr>,
    /// UTC, milliseconds.
    end_ms: i64,
}

impl Default for Present {
    fn default() -> Present {
        Present((0..PRESENT_SHARDS).map(|_| Mutex::default()).collect())
    }
}

impl Present {
    fn shard(&self, n: usize) -> MutexGuard<'_, HashMap<u128, Seat>> {
        self.0[n % PRESENT_SHARDS].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A session begins; its last pass ends by then (UTC, milliseconds). When there are too many it is not kept, and ends
    /// no earlier than by itself.
    pub(crate) fn add(&self, session: &str, r#match: &str, address: Option<IpAddr>, end_ms: i64) {
        let Some((number, tail)) = session.split_at_checked(FRESH_ID_CHARS) else { return };
        let Ok(id) = u128::from_str_radix(number, 16) else { return };
        let mut shard = self.shard((id % PRESENT_SHARDS as u128) as usize);
        if shard.len() < PRESENT_MAX / PRESENT_SHARDS {
            shard.insert(id, Seat { tail: tail.into(), r#match: r#match.into(), address, end_ms });
        } else {
            metrics::counter!("arrival_present_lost_total").increment(1);
        }
    }

    /// Forgets who has gone, of a part of all. To be called with n = 0, 1, 2, …
    pub(crate) fn sweep(&self, n: usize, now_ms: i64) {
        self.shard(n).retain(|_, seat| seat.end_ms > now_ms);
    }

    /// Takes out those who may not see their match any more where they are (UTC, milliseconds). Looks at all of them, which
    /// takes a microsecond or two for each; nobody waits for longer than one part of them takes.
    pub(crate) fn take_dark(&self, copy: &Copy, places: &Whereabouts, now_ms: i64) -> Vec<String> {
        let is_dark = |seat: &Seat| {
            let Some(show) = copy.show(&seat.r#match) else { return true };
            let place = seat.address.map(|address| places.place(address)).unwrap_or_default();
            show.shown(&place, now_ms).is_err()
        };
        let mut dark = Vec::new();
        for n in 0..PRESENT_SHARDS {
            self.shard(n).retain(|id, seat| {
                let gone = is_dark(seat);
                if gone {
                    dark.push(format!("{id:032x}{}", seat.tail));
                }
                !gone
            });
        }
        dark
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_bounded_and_forgotten_when_they_have_gone() {
        let present = Present::default();
        let count = |present: &Present| (0..PRESENT_SHARDS).map(|n| present.shard(n).len()).sum::<usize>();
        // All in one part of them.
        for n in 0..=PRESENT_MAX / PRESENT_SHARDS {
            present.add(&format!("{:032x}", n * PRESENT_SHARDS), "final", None, 1_000);
        }
        present.add("no number", "final", None, 1_000);
        assert_eq!(count(&present), PRESENT_MAX / PRESENT_SHARDS);
        present.add(&format!("{:032x}-sd", 7), "final", None, 2_000);
        (0..PRESENT_SHARDS).for_each(|n| present.sweep(n, 1_000));
        assert_eq!(count(&present), 1);
        // Of a match that is no longer there.
        let gone = present.take_dark(&Copy::default(), &Whereabouts::default(), 1_000);
        assert_eq!(gone, [format!("{:032x}-sd", 7)], "by the name that its pass has");
        assert_eq!(count(&present), 0);
    }
}
