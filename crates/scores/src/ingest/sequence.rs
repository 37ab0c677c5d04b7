//! A provider's own numbers: what is had, what is missing, what to ask for. Bounded whatever comes.

use std::collections::BTreeMap;

use super::limits::{
    ASK_AFTER_MS, ASK_EVERY_MAX_MS, ASK_NUMBERS_MAX, ASK_RANGES_MAX, ASKS_MAX, GAPS_MAX, SEQ_AHEAD_MAX,
};
use crate::feeds::Range;

/// What is had of a provider's numbers.
#[derive(Debug, Default)]
pub struct Sequence {
    /// The highest that was seen; 0: none.
    newest: u64,
    /// What is missing below it, by its first number.
    gaps: BTreeMap<u64, Gap>,
}

#[derive(Clone, Copy, Debug)]
struct Gap {
    last: u64,
    asks: u32,
    next_ask_ms: i64,
}

/// What a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// Not seen before.
    New,
    /// Seen before.
    Seen,
    /// Too far ahead to be true. Nothing was noted.
    Wild,
}

impl Sequence {
    /// As if everything up to `newest` had been seen.
    pub fn begin_after(newest: u64) -> Sequence {
        Sequence { newest, gaps: BTreeMap::new() }
    }

    /// Everything up to this one is had, or gone for good.
    pub fn contiguous(&self) -> u64 {
        self.gaps.first_key_value().map_or(self.newest, |(first, _)| first - 1)
    }

    /// The highest that was seen.
    pub fn newest(&self) -> u64 {
        self.newest
    }

    /// Something below this number is missing.
    pub fn is_open_before(&self, seq: u64) -> bool {
        self.gaps.first_key_value().is_some_and(|(first, _)| *first < seq)
    }

    /// Notes a number, from 1.
    pub fn see(&mut self, seq: u64, now_ms: i64) -> Number {
        if seq > self.newest {
            // The first of all may be any: a provider may keep only so much.
            if self.newest > 0 && seq - self.newest > SEQ_AHEAD_MAX {
                return Number::Wild;
            }
            if seq - self.newest > 1 {
                self.open(
                    self.newest + 1,
                    Gap { last: seq - 1, asks: 0, next_ask_ms: now_ms + ASK_AFTER_MS },
                );
            }
            self.newest = seq;
            return Number::New;
        }
        let Some((&first, &gap)) = self.gaps.range(..=seq).next_back().filter(|(_, gap)| seq <= gap.last)
        else {
            return Number::Seen;
        };
        self.gaps.remove(&first);
        if first < seq {
            self.open(first, Gap { last: seq - 1, ..gap });
        }
        if seq < gap.last {
            self.open(seq + 1, gap);
        }
        Number::New
    }

    /// The provider has no longer what it said in this range.
    pub fn gone(&mut self, (from, to): Range) {
        // A range may have a billion numbers; the gaps that it touches are few.
        let touched: Vec<u64> =
            self.gaps.range(..=to).filter(|(_, gap)| gap.last >= from).map(|(first, _)| *first).collect();
        for first in touched {
            let Some(gap) = self.gaps.remove(&first) else { continue };
            if first < from {
                self.open(first, Gap { last: from - 1, ..gap });
            }
            if to < gap.last {
                self.open(to + 1, gap);
            }
        }
    }

    fn open(&mut self, first: u64, gap: Gap) {
        self.gaps.insert(first, gap);
        if self.gaps.len() > GAPS_MAX {
            // What lies between the two highest is forgotten: it will be said again, and known by its content.
            let highest = self.gaps.pop_last();
            if let (Some((_, highest)), Some(mut below)) = (highest, self.gaps.last_entry()) {
                below.get_mut().last = highest.last;
            }
        }
    }

    /// What is missing, lowest first, at most [`ASK_RANGES_MAX`].
    pub fn missing(&self) -> Vec<Range> {
        self.gaps.iter().take(ASK_RANGES_MAX).map(|(first, gap)| (*first, gap.last)).collect()
    }

    /// How many gaps there are.
    pub fn gaps(&self) -> usize {
        self.gaps.len()
    }

    /// What to ask for now; asking is counted. The provider should be connected.
    pub fn ask(&mut self, now_ms: i64) -> Vec<Range> {
        let (mut ranges, mut numbers) = (Vec::new(), 0);
        for (first, gap) in &mut self.gaps {
            if ranges.len() == ASK_RANGES_MAX || numbers >= ASK_NUMBERS_MAX {
                break;
            }
            if gap.next_ask_ms > now_ms {
                continue;
            }
            let last = gap.last.min(first.saturating_add(ASK_NUMBERS_MAX - numbers - 1));
            numbers += last - first + 1;
            ranges.push((*first, last));
            let wait = ASK_AFTER_MS.saturating_mul(1 << gap.asks.min(10)).min(ASK_EVERY_MAX_MS);
            gap.next_ask_ms = now_ms + wait;
            gap.asks += 1;
        }
        ranges
    }

    /// Gives up what was asked for too often, and says what that was. Only as much as one question holds, since the
    /// rest was never asked for.
    pub fn give_up(&mut self) -> Vec<Range> {
        let vain: Vec<Range> = self
            .gaps
            .iter()
            .filter(|(_, gap)| gap.asks >= ASKS_MAX)
            .map(|(first, gap)| (*first, gap.last.min(first.saturating_add(ASK_NUMBERS_MAX - 1))))
            .collect();
        for range in &vain {
            self.gone(*range);
            // What is left of it is asked for anew.
            if let Some(rest) = self.gaps.get_mut(&(range.1 + 1)) {
                rest.asks = 0;
            }
        }
        vain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(numbers: &[u64]) -> Sequence {
        let mut sequence = Sequence::default();
        for n in numbers {
            sequence.see(*n, 0);
        }
        sequence
    }

    #[test]
    fn gaps_open_and_close() {
        let mut sequence = of(&[1, 2, 5, 9]);
        assert_eq!((sequence.contiguous(), sequence.missing()), (2, vec![(3, 4), (6, 8)]));
        assert!(!sequence.is_open_before(3) && sequence.is_open_before(4));
        assert_eq!(sequence.see(7, 0), Number::New);
        assert_eq!(sequence.see(7, 0), Number::Seen);
        assert_eq!(sequence.missing(), [(3, 4), (6, 6), (8, 8)]);
        for n in [3, 4, 6, 8] {
            assert_eq!(sequence.see(n, 0), Number::New);
        }
        assert_eq!((sequence.contiguous(), sequence.gaps()), (9, 0));
    }

    #[test]
    fn what_is_gone_is_not_missed() {
        let mut sequence = of(&[10, 20, 30]);
        sequence.gone((1, 9));
        assert_eq!(sequence.contiguous(), 10);
        sequence.gone((15, 25));
        assert_eq!(sequence.missing(), [(11, 14), (26, 29)]);
        sequence.gone((0, u64::MAX));
        assert_eq!((sequence.contiguous(), sequence.gaps()), (30, 0));
    }

    #[test]
    fn a_wild_number_changes_nothing() {
        let mut sequence = of(&[7]);
        assert_eq!(sequence.see(7 + SEQ_AHEAD_MAX + 1, 0), Number::Wild);
        assert_eq!((sequence.newest(), sequence.missing()), (7, vec![(1, 6)]));
        assert_eq!(of(&[u64::MAX]).missing(), [(1, u64::MAX - 1)], "but the first may be any");
    }

    #[test]
    fn memory_is_bounded_and_what_is_forgotten_is_asked_for_again() {
        let mut sequence = Sequence::default();
        for n in 1..=GAPS_MAX as u64 + 50 {
            sequence.see(n * 2, 0);
        }
        assert_eq!(sequence.gaps(), GAPS_MAX);
        assert_eq!(sequence.newest(), (GAPS_MAX as u64 + 50) * 2);
        for n in 1..=sequence.newest() {
            sequence.see(n, 0);
        }
        assert_eq!((sequence.contiguous(), sequence.gaps()), (sequence.newest(), 0));
    }

    #[test]
    fn questions_are_bounded_spaced_and_end() {
        let mut sequence = of(&[5_000]);
        assert_eq!(sequence.ask(ASK_AFTER_MS - 1), []);
        assert_eq!(sequence.ask(ASK_AFTER_MS), [(1, ASK_NUMBERS_MAX)]);
        assert_eq!(sequence.ask(ASK_AFTER_MS), [], "not twice at once");
        let (mut now, mut asked) = (ASK_AFTER_MS, 1);
        while sequence.give_up().is_empty() {
            now += 10;
            asked += sequence.ask(now).len();
        }
        assert_eq!(asked as u32, ASKS_MAX);
        assert!((60_000..300_000).contains(&now), "{now}");
        assert_eq!(sequence.contiguous(), ASK_NUMBERS_MAX);
        assert_eq!(sequence.ask(now + ASK_EVERY_MAX_MS), [(ASK_NUMBERS_MAX + 1, 2 * ASK_NUMBERS_MAX)]);
    }
}
