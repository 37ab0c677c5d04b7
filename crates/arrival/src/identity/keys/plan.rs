//! When a key is published, when it signs and when it is gone, from the moments of publication alone (UTC,
//! milliseconds, in order).

use pass::{LEEWAY_S, PIN_LIFE_S};

use crate::identity::limits::TOKEN_LIFE_S;

const HOUR_MS: i64 = 3_600_000;

/// A key signs this long after it was published: longer than any copy of the set that lacks it is good. The pin is
/// the longest-lived one.
pub(super) const AHEAD_MS: i64 = PIN_LIFE_S * 1_000 + HOUR_MS;

/// A new key is published this often.
pub(super) const EVERY_MS: i64 = 30 * 24 * HOUR_MS;

/// A key stays this long after the next one began to sign: until its last token is over everywhere, and a process
/// that was stopped in between has looked again.
pub(super) const AFTER_MS: i64 = (TOKEN_LIFE_S + 2 * LEEWAY_S) * 1_000 + HOUR_MS;

/// It is time to publish another: there is none, or the newest is old.
pub(super) fn wants_another(published: &[i64], now_ms: i64) -> bool {
    published.last().is_none_or(|newest| now_ms.saturating_sub(*newest) >= EVERY_MS)
}

/// Which one signs: the newest that everybody knows, or the first there is.
pub(super) fn signs(published: &[i64], now_ms: i64) -> usize {
    published.iter().rposition(|at| now_ms.saturating_sub(*at) >= AHEAD_MS).unwrap_or(0)
}

/// How many, from the oldest, have nothing left to be checked with them.
pub(super) fn over(published: &[i64], now_ms: i64) -> usize {
    published.iter().rposition(|at| now_ms.saturating_sub(*at) >= AHEAD_MS + AFTER_MS).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_life_of_a_key() {
        assert!(wants_another(&[], 0));
        let all = [0, EVERY_MS];
        assert!(!wants_another(&all[..1], EVERY_MS - 1));
        assert!(wants_another(&all[..1], EVERY_MS));
        // The first signs from the start; the second when all know it.
        assert_eq!(signs(&all[..1], 0), 0);
        assert_eq!(signs(&all, EVERY_MS + AHEAD_MS - 1), 0);
        assert_eq!(signs(&all, EVERY_MS + AHEAD_MS), 1);
        assert_eq!(over(&all, EVERY_MS + AHEAD_MS + AFTER_MS - 1), 0);
        assert_eq!(over(&all, EVERY_MS + AHEAD_MS + AFTER_MS), 1);
        // Nobody looked for a year: the old one goes on until the new one is known.
        let late = 12 * EVERY_MS;
        assert_eq!((signs(&[0, late], late), over(&[0, late], late)), (0, 0));
    }
}
