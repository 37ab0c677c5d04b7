//! How a pipeline keeps pace with the venue, on one track.

use timeline::{Position, Utc};

use super::expect::Cut;
use super::limits::{PACE_SAMPLES, PART_PATIENCE, after};

/// What a pipeline has delivered of a track, and how far behind the venue.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    last: Option<Position>,
    arrived: Option<Utc>,
    delays_us: Vec<i64>,
    oldest: usize,
}

impl Pace {
    /// A part arrived.
    pub fn heard(&mut self, cut: &Cut, at: Position, now: Utc) {
        let delay = now.0.saturating_sub(cut.over(at).0);
        if self.delays_us.len() < PACE_SAMPLES {
            self.delays_us.push(delay);
        } else {
            self.delays_us[self.oldest] = delay;
            self.oldest = (self.oldest + 1) % PACE_SAMPLES;
        }
        self.last = self.last.max(Some(at));
        self.arrived = Some(now);
    }

    /// The newest part delivered.
    pub fn last(&self) -> Option<Position> {
        self.last
    }

    /// When something last arrived.
    pub fn arrived(&self) -> Option<Utc> {
        self.arrived
    }

    /// When a part is to be expected: when the venue is past it, and the usual delay.
    pub fn expected(&self, cut: &Cut, at: Position) -> Option<Utc> {
        let mut delays = self.delays_us.clone();
        delays.sort_unstable();
        let median = *delays.get(delays.len() / 2)?;
        Some(Utc(cut.over(at).0.saturating_add(median)))
    }

    /// Until when a part that this pipeline owes is not overdue.
    pub fn overdue(&self, cut: &Cut, at: Position) -> Option<Utc> {
        Some(after(self.expected(cut, at)?, PART_PATIENCE))
    }

    /// Whether the part after its last one is not overdue yet.
    pub fn live(&self, cut: &Cut, now: Utc) -> bool {
        let next = self.last.map(|last| cut.grid.next(last));
        next.and_then(|next| self.overdue(cut, next)).is_some_and(|until| now < until)
    }
}
