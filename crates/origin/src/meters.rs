//! What the room counts.

use std::collections::VecDeque;

use metrics::{counter, gauge, histogram};
use timeline::name::Letter;

use crate::core::{Accepted, Event, Refusal};

/// The last ready times, for exact percentiles.
#[derive(Debug)]
pub(crate) struct Ready {
    last_us: VecDeque<i64>,
    most: usize,
}

impl Ready {
    pub(crate) fn new(most: usize) -> Ready {
        Ready { last_us: VecDeque::with_capacity(most), most }
    }

    pub(crate) fn add(&mut self, us: i64) {
        histogram!("origin_part_ready_seconds").record(us as f64 / 1e6);
        if self.last_us.len() == self.most {
            self.last_us.pop_front();
        }
        self.last_us.push_back(us);
    }

    pub(crate) fn len(&self) -> usize {
        self.last_us.len()
    }

    /// The nearest-rank percentile, in microseconds.
    pub(crate) fn percentile_us(&self, p: f64) -> Option<i64> {
        let mut sorted: Vec<i64> = self.last_us.iter().copied().collect();
        sorted.sort_unstable();
        let rank = (p / 100.0 * sorted.len() as f64).ceil() as usize;
        sorted.get(rank.saturating_sub(1)).copied()
    }
}

pub(crate) fn event(event: Event) {
    match event {
        Event::Chosen(Letter::A) => counter!("origin_letters_total", "letter" => "a").increment(1),
        Event::Chosen(Letter::B) => counter!("origin_letters_total", "letter" => "b").increment(1),
        Event::Part { .. } => counter!("origin_parts_total").increment(1),
        Event::PartGap => counter!("origin_gaps_total", "of" => "part").increment(1),
        Event::Segment => counter!("origin_segments_total", "as" => "one").increment(1),
        Event::Healed => counter!("origin_segments_total", "as" => "healed").increment(1),
        Event::SegmentGap => counter!("origin_gaps_total", "of" => "segment").increment(1),
        Event::Discontinuity { .. } => counter!("origin_discontinuities_total").increment(1),
        Event::Propose { .. } => {}
    }
}

pub(crate) fn put(outcome: &Result<Accepted, Refusal>) {
    match outcome {
        Ok(Accepted::New) => counter!("origin_objects_total", "as" => "new").increment(1),
        Ok(Accepted::Same) => counter!("origin_objects_total", "as" => "same").increment(1),
        Ok(Accepted::Late) => counter!("origin_objects_total", "as" => "late").increment(1),
        Err(refusal) => counter!("origin_refused_total", "reason" => refusal.reason()).increment(1),
    }
}

pub(crate) fn window_bytes(bytes: u64) {
    gauge!("origin_window_bytes").set(bytes as f64);
}

pub(crate) fn response(status: u16) {
    let status = match status {
        400 => "400",
        404 => "404",
        503 => "503",
        _ => return,
    };
    counter!("origin_failures_total", "status" => status).increment(1);
}
