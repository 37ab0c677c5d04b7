//! How many requests may be under way: found by how long they take. Pure.
//!
//! Additive increase, multiplicative decrease on the time of answers against the best of late, as in TCP Vegas: the limit
//! falls when answers wait, and rises while it is used and they do not.

use super::limits::{
    FALL, FALL_MOST, SLOW_MS_MIN, SLOW_TIMES, UNDER_WAY_BEGIN, UNDER_WAY_MAX, UNDER_WAY_MIN,
};

/// What the best time grows by with each answer: twice as much after some minutes of a full house.
const CREEP: f64 = 1.000_001;

/// The limit that is being found.
#[derive(Clone, Debug)]
pub struct Limit {
    limit: f64,
    under_way: u32,
    /// The best time of late, in milliseconds. It creeps up, so that a machine that has become slower is believed.
    best_ms: f64,
    /// Answers until it may fall again: those that were under way when it fell say nothing new.
    deaf: u32,
}

impl Default for Limit {
    fn default() -> Limit {
        Limit { limit: UNDER_WAY_BEGIN, under_way: 0, best_ms: f64::MAX, deaf: 0 }
    }
}

impl Limit {
    /// A place for a request that may fill so much (0 to 1) of all. False: there is none.
    pub fn begin(&mut self, share: f64) -> bool {
        let room = f64::from(self.under_way) < self.limit * share;
        self.under_way += u32::from(room);
        room
    }

    /// A request that had a place was answered after so long, in milliseconds. None: it was given up, or waited for
    /// something else than us.
    pub fn end(&mut self, took_ms: Option<f64>) {
        let full = f64::from(self.under_way) * 2.0 > self.limit;
        self.under_way = self.under_way.saturating_sub(1);
        self.deaf = self.deaf.saturating_sub(1);
        let Some(took_ms) = took_ms else { return };
        self.best_ms = took_ms.min(self.best_ms * CREEP);
        let slow_ms = (self.best_ms * SLOW_TIMES).max(SLOW_MS_MIN);
        if took_ms > slow_ms {
            // If there is room all the same, it is not for those under way that it is slow.
            if full && self.deaf == 0 {
                self.limit = (self.limit * (slow_ms / took_ms).clamp(FALL_MOST, FALL)).max(UNDER_WAY_MIN);
                self.deaf = self.under_way;
            }
        } else if full {
            // By one each time that as many as the limit were answered.
            self.limit = (self.limit + 1.0 / self.limit).min(UNDER_WAY_MAX);
        }
    }

    /// Places.
    pub fn limit(&self) -> f64 {
        self.limit
    }

    /// Requests under way.
    pub fn under_way(&self) -> u32 {
        self.under_way
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server of so many workers that take a time each; whoever is let in beyond them waits. Gives the limit at the
    /// end, and the longest time of the last tenth of answers, in milliseconds.
    fn serve(workers: usize, work_ms: f64, limit: &mut Limit, seconds: usize) -> (f64, f64) {
        let mut free = vec![0.0_f64; workers];
        // In whole microseconds, the next first.
        let mut ends = std::collections::BinaryHeap::new();
        let mut late = 0.0_f64;
        for ms in 0..seconds * 1_000 {
            let now = ms as f64;
            while let Some(std::cmp::Reverse((_, took_us))) =
                ends.peek().copied().filter(|std::cmp::Reverse((end_us, _))| *end_us <= ms as u64 * 1_000)
            {
                ends.pop();
                let took = took_us as f64 / 1_000.0;
                limit.end(Some(took));
                if ms > seconds * 900 {
                    late = late.max(took);
                }
            }
            // Ten times what can be done.
            for _ in 0..(workers as f64 / work_ms * 10.0).ceil() as usize {
                if limit.begin(1.0) {
                    let first = free.iter_mut().min_by(|a, b| a.total_cmp(b)).unwrap();
                    *first = first.max(now) + work_ms;
                    ends.push(std::cmp::Reverse((
                        (*first * 1_000.0) as u64,
                        ((*first - now) * 1_000.0) as u64,
                    )));
                }
            }
        }
        (limit.limit(), late)
    }

    #[test]
    fn at_ten_times_the_load_those_who_are_let_in_are_answered_soon() {
        for (workers, work_ms, seconds) in [(2, 1.0, 6), (20, 5.0, 6), (4, 20.0, 25)] {
            let mut limit = Limit::default();
            let (found, late) = serve(workers, work_ms, &mut limit, seconds);
            assert!(late <= 100.0, "{workers} workers of {work_ms} ms: {late} ms at a limit of {found}");
            assert!(found >= workers as f64, "it starves {workers} workers: {found}");
        }
    }

    #[test]
    fn it_is_bounded_and_the_dear_ones_are_refused_last() {
        let mut limit = Limit::default();
        let places = limit.limit() as usize;
        assert_eq!((0..10_000).filter(|_| limit.begin(0.5)).count(), places / 2);
        assert_eq!((0..10_000).filter(|_| limit.begin(1.0)).count(), places - places / 2);
        (0..100_000).for_each(|_| limit.end(Some(1_000_000.0)));
        assert_eq!(limit.under_way(), 0);
        for _ in 0..100_000 {
            limit.begin(1.0);
            limit.end(Some(1_000.0));
        }
        assert!((UNDER_WAY_MIN..=UNDER_WAY_MAX).contains(&limit.limit()));
    }
}
