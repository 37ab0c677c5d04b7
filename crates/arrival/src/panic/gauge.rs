//! Whether the entitlement store can be relied on. Pure; time is an argument.

use serde::{Deserialize, Serialize};

use super::limits::{BAD_ROW, GOOD_ROW, HOLD_MS, WINDOW, WINDOW_BAD};
use crate::entitlement::limits::SLOW_MS;

/// What an operator says of the positive panic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Positive {
    /// It is found out.
    #[default]
    Auto,
    /// Nobody is checked against the store, even if it answers.
    On,
    /// Nobody is let in without a check; they are asked to come again.
    Off,
}

/// The lever, as it stands in the registers under `lever/panic`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lever {
    /// Watching without a check.
    #[serde(default)]
    pub positive: Positive,
    /// Settings, logging out and the like are answered with a polite failure.
    #[serde(default)]
    pub negative: bool,
    /// Why, for other operators.
    #[serde(default)]
    pub note: String,
    /// Who set it.
    #[serde(default)]
    pub by: String,
    /// UTC, milliseconds: when it was set.
    #[serde(default)]
    pub at_ms: i64,
}

/// How the store has been.
#[derive(Clone, Debug)]
pub struct Gauge {
    /// What the operator says.
    pub lever: Lever,
    /// Milliseconds: a check that took longer is a bad one.
    pub slow_ms: i64,
    /// The last checks, the newest in the lowest bit; a bad one is a 1.
    window: u32,
    bad_row: u32,
    good_row: u32,
    since_ms: Option<i64>,
}

impl Default for Gauge {
    fn default() -> Gauge {
        let lever = Lever::default();
        Gauge { lever, slow_ms: SLOW_MS, window: 0, bad_row: 0, good_row: 0, since_ms: None }
    }
}

impl Gauge {
    /// A check was answered after so long (milliseconds), or failed.
    pub fn observe(&mut self, answered: bool, took_ms: i64, now_ms: i64) {
        let bad = !answered || took_ms > self.slow_ms;
        self.window = (self.window << 1 | u32::from(bad)) & ((1 << WINDOW) - 1);
        if bad {
            (self.bad_row, self.good_row) = (self.bad_row + 1, 0);
            if self.bad_row >= BAD_ROW || self.window.count_ones() >= WINDOW_BAD {
                self.since_ms.get_or_insert(now_ms);
            }
        } else {
            (self.bad_row, self.good_row) = (0, self.good_row + 1);
            if self.good_row >= GOOD_ROW && self.since_ms.is_some_and(|since| now_ms - since >= HOLD_MS) {
                (self.since_ms, self.window) = (None, 0);
            }
        }
    }

    /// Nobody is to be checked against the store now. What is known here already counts all the same.
    pub fn is_panic(&self) -> bool {
        match self.lever.positive {
            Positive::On => true,
            Positive::Auto => self.since_ms.is_some(),
            // Viewers must wait for a check, but not in a queue before a store that is gone.
            Positive::Off => self.since_ms.is_some(),
        }
    }

    /// Whoever cannot be checked is let in.
    pub fn lets_in(&self) -> bool {
        self.lever.positive != Positive::Off
    }

    /// UTC, milliseconds: since when the store is bad.
    pub fn bad_since_ms(&self) -> Option<i64> {
        self.since_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_bad_ones_or_every_other_one_are_a_panic() {
        let mut gauge = Gauge::default();
        gauge.observe(false, 0, 0);
        gauge.observe(true, SLOW_MS + 1, 1);
        assert!(!gauge.is_panic());
        gauge.observe(false, 0, 2);
        assert!(gauge.is_panic() && gauge.lets_in());
        let mut gauge = Gauge::default();
        let mut seen = 0;
        while !gauge.is_panic() {
            gauge.observe(seen % 2 == 0, 1, seen);
            seen += 1;
            assert!(seen <= i64::from(WINDOW), "half of them are bad");
        }
    }

    #[test]
    fn it_ends_when_the_store_is_well_for_a_while() {
        let mut gauge = Gauge::default();
        (0..3).for_each(|_| gauge.observe(false, 0, 1_000));
        for _ in 0..100 {
            gauge.observe(true, 1, 1_000 + HOLD_MS - 1);
        }
        assert!(gauge.is_panic(), "not so soon");
        gauge.observe(false, 0, 2_000 + HOLD_MS);
        for n in 1..=GOOD_ROW {
            assert!(gauge.is_panic());
            gauge.observe(true, 1, 3_000 + HOLD_MS + i64::from(n));
        }
        assert!(!gauge.is_panic());
        gauge.observe(false, 0, 4_000 + HOLD_MS);
        assert!(!gauge.is_panic(), "what was before the end does not count again");
    }

    #[test]
    fn the_operator_is_stronger_in_both_directions() {
        let lever = |positive| Lever { positive, ..Lever::default() };
        let on = Gauge { lever: lever(Positive::On), ..Gauge::default() };
        assert!(on.is_panic() && on.lets_in());
        let mut off = Gauge { lever: lever(Positive::Off), ..Gauge::default() };
        assert!(!off.is_panic() && !off.lets_in());
        (0..3).for_each(|_| off.observe(false, 0, 0));
        assert!(off.is_panic() && !off.lets_in());
    }
}
