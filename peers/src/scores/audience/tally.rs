//! What arrived, and how late.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::speech::Mark;

/// Width of a bucket of the histogram, in microseconds.
pub(crate) const BUCKET_US: u64 = 100;

/// Buckets: up to ten seconds; the last one has all that is later.
const BUCKETS: usize = 100_000;

/// Messages that are kept apart; later ones are only counted.
const MARKS_MAX: usize = 100_000;

/// Of one client process since it was asked last.
pub(crate) struct Tally {
    /// Shared, so that it is at hand while counts change.
    mark: Arc<[u8]>,
    unit_us: u64,
    deliveries: u64,
    closed: u64,
    why: Option<String>,
    /// When each message reached whom last, by when it was published.
    marks: HashMap<u64, (u64, u64)>,
    histogram: Vec<u32>,
    /// Where the mark was in the payload before: it mostly is there again.
    usual: usize,
}

/// What is said of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Counts {
    /// Messages that arrived, at each socket.
    pub(crate) deliveries: u64,
    /// Sockets that were closed or failed after they had been open.
    pub(crate) closed: u64,
    /// Why the first of them was.
    pub(crate) why: Option<String>,
    /// For each message: when it was published (UTC, microseconds), how many sockets have it, and how many
    /// microseconds later the last of them had it.
    pub(crate) messages: Vec<(u64, u64, u64)>,
    /// Of all deliveries: bucket of [`BUCKET_US`], and how many.
    pub(crate) histogram: Vec<(u64, u64)>,
}

impl Tally {
    pub(crate) fn new(mark: Mark) -> Tally {
        Tally {
            mark: mark.text.into_bytes().into(),
            unit_us: mark.unit_us,
            deliveries: 0,
            closed: 0,
            why: None,
            marks: HashMap::new(),
            histogram: vec![0; BUCKETS],
            usual: 0,
        }
    }

    /// Looks through a payload that came at `now_us`.
    pub(crate) fn take(&mut self, payload: &[u8], now_us: u64) {
        let mark = self.mark.clone();
        if mark.is_empty() {
            return;
        }
        let mut at = 0;
        if payload.get(self.usual..).is_some_and(|rest| rest.starts_with(&mark)) {
            at = self.usual;
        }
        while let Some(found) = payload[at..].windows(mark.len()).position(|w| w == &*mark) {
            if at == 0 {
                self.usual = found;
            }
            at += found + mark.len();
            let digits = payload[at..].iter().take_while(|b| b.is_ascii_digit());
            let number = digits.fold(0u64, |n, b| n.saturating_mul(10).saturating_add(u64::from(b - b'0')));
            self.arrived(number.saturating_mul(self.unit_us), now_us);
        }
    }

    fn arrived(&mut self, published_us: u64, now_us: u64) {
        let late = now_us.saturating_sub(published_us);
        self.deliveries += 1;
        let bucket = (late / BUCKET_US).min(BUCKETS as u64 - 1);
        self.histogram[bucket as usize] += 1;
        if self.marks.len() < MARKS_MAX || self.marks.contains_key(&published_us) {
            let (count, last) = self.marks.entry(published_us).or_default();
            *count += 1;
            *last = late.max(*last);
        }
    }

    /// A socket that had been open is gone.
    pub(crate) fn lost(&mut self, why: String) {
        self.closed += 1;
        self.why.get_or_insert(why);
    }

    /// Says all, and begins anew; what is lost stays lost.
    pub(crate) fn say(&mut self) -> Counts {
        let mut messages: Vec<_> = self.marks.drain().map(|(at, (count, last))| (at, count, last)).collect();
        messages.sort_unstable();
        let histogram = self.histogram.iter_mut().enumerate().filter(|(_, n)| **n > 0);
        Counts {
            deliveries: std::mem::take(&mut self.deliveries),
            closed: self.closed,
            why: self.why.clone(),
            messages,
            histogram: histogram.map(|(n, count)| (n as u64, u64::from(std::mem::take(count)))).collect(),
        }
    }
}

impl Counts {
    /// Of two processes.
    pub(crate) fn add(&mut self, other: Counts) {
        self.deliveries += other.deliveries;
        self.closed += other.closed;
        self.why = self.why.take().or(other.why);
        for (at, count, last) in other.messages {
            match self.messages.binary_search_by_key(&at, |m| m.0) {
                Ok(n) => {
                    self.messages[n].1 += count;
                    self.messages[n].2 = self.messages[n].2.max(last);
                }
                Err(n) => self.messages.insert(n, (at, count, last)),
            }
        }
        for (bucket, count) in other.histogram {
            match self.histogram.binary_search_by_key(&bucket, |b| b.0) {
                Ok(n) => self.histogram[n].1 += count,
                Err(n) => self.histogram.insert(n, (bucket, count)),
            }
        }
    }

    /// The time that `part` of all deliveries do not exceed, in milliseconds: the upper end of its bucket.
    pub(crate) fn quantile_ms(&self, part: f64) -> f64 {
        let all: u64 = self.histogram.iter().map(|(_, n)| n).sum();
        let rank = ((all as f64 * part).ceil() as u64).max(1);
        let mut seen = 0;
        for (bucket, count) in &self.histogram {
            seen += count;
            if seen >= rank {
                return ((bucket + 1) * BUCKET_US) as f64 / 1e3;
            }
        }
        f64::NAN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_of_a_payload_is_counted() {
        let mut tally = Tally::new(Mark { text: "\"us\":".to_owned(), unit_us: 1 });
        tally.take(br#"{"a":1,"us":1000,"b":2}{"us":2000}"#, 3_500);
        tally.take(br#"{"a":1,"us":1000,"b":2}"#, 4_000);
        tally.take(br#"{"us":1000}"#, 1_200);
        tally.take(b"nothing", 9);
        tally.take(b"", 9);
        let counts = tally.say();
        assert_eq!(counts.deliveries, 4);
        assert_eq!(counts.messages, [(1_000, 3, 3_000), (2_000, 1, 1_500)]);
        assert_eq!(counts.histogram, [(2, 1), (15, 1), (25, 1), (30, 1)]);
        assert_eq!((counts.quantile_ms(0.5), counts.quantile_ms(1.0)), (1.6, 3.1));
        assert_eq!(tally.say().deliveries, 0);
    }

    #[test]
    fn two_processes_are_one_audience() {
        let mut tally = Tally::new(Mark { text: "t".to_owned(), unit_us: 1_000 });
        tally.take(b"t1", 1_500);
        let mut counts = tally.say();
        tally.take(b"t1", 1_900);
        tally.take(b"t0", 1_900);
        tally.lost("x".to_owned());
        counts.add(tally.say());
        assert_eq!(counts.messages, [(0, 1, 1_900), (1_000, 2, 900)]);
        assert_eq!((counts.deliveries, counts.closed, counts.why.as_deref()), (3, 1, Some("x")));
        assert!(Counts::default().quantile_ms(0.99).is_nan());
    }
}
