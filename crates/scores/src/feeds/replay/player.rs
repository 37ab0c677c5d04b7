//! What a provider sends when. Pure: time is an argument, chance is seeded.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::faults::Faults;
use crate::Sport;
use crate::feeds::{Range, Statement};

/// How long a provider waits for an acknowledgement to move before it says again what is not acknowledged: longer than
/// an ingest that is restarted needs.
const AGAIN_MS: i64 = 5_000;
/// How many statements it then says again, so that an ingest that is slow is not buried.
const AGAIN_MAX: u64 = 200;
/// What is asked for again is sent within this time.
const RESEND_MS: i64 = 50;

/// A provider at work.
#[derive(Debug)]
pub struct Player {
    sport: Sport,
    /// Ascending by number (from 1, without holes) and by time.
    statements: Vec<Statement>,
    faults: Faults,
    rng: fastrand::Rng,
    /// How many are said, however they fare.
    said: usize,
    /// What is on its way, by the time at which it arrives.
    due: BinaryHeap<Reverse<(i64, u64)>>,
    acked: u64,
    moved_ms: i64,
    connected: bool,
}

impl Player {
    /// Of a script ([`super::script`]).
    pub fn new(sport: Sport, statements: Vec<Statement>, faults: Faults, seed: u64) -> Player {
        Player {
            sport,
            statements,
            faults,
            rng: fastrand::Rng::with_seed(seed),
            said: 0,
            due: BinaryHeap::new(),
            acked: 0,
            moved_ms: 0,
            connected: false,
        }
    }

    /// Ingest has everything up to `after`; what was said since is said again.
    pub fn connected(&mut self, now_ms: i64, after: u64) {
        self.connected = true;
        self.acked(now_ms, after);
        self.moved_ms = now_ms;
        self.send(now_ms, after + 1, self.said as u64, true);
    }

    /// What was on its way is lost.
    pub fn disconnected(&mut self) {
        self.connected = false;
        self.due.clear();
    }

    /// Ingest misses these.
    pub fn asked(&mut self, now_ms: i64, ranges: &[Range]) {
        for (from, to) in ranges {
            self.send(now_ms, *from, (*to).min(self.said as u64), true);
        }
    }

    /// Ingest has everything up to this; less than it said before, if it has begun anew.
    pub fn acked(&mut self, now_ms: i64, seq: u64) {
        if self.acked != seq {
            self.moved_ms = now_ms;
        }
        self.acked = seq;
    }

    /// What arrives by now.
    pub fn due(&mut self, now_ms: i64) -> Vec<Statement> {
        while self.statements.get(self.said).is_some_and(|next| next.venue_ms <= now_ms) {
            let at = self.statements[self.said].venue_ms;
            self.said += 1;
            if self.connected {
                self.send(at, self.said as u64, self.said as u64, false);
            }
        }
        if self.connected && self.acked < self.said as u64 && now_ms - self.moved_ms >= AGAIN_MS {
            self.moved_ms = now_ms;
            self.send(now_ms, self.acked + 1, (self.acked + AGAIN_MAX).min(self.said as u64), true);
        }
        let mut arrived = Vec::new();
        while let Some(Reverse((_, seq))) = self.due.peek().filter(|Reverse((at, _))| *at <= now_ms).copied()
        {
            self.due.pop();
            arrived.extend(self.statements.get(seq as usize - 1).cloned());
        }
        arrived
    }

    /// Of what.
    pub fn sport(&self) -> Sport {
        self.sport
    }

    /// Everything is said and acknowledged.
    pub fn is_done(&self) -> bool {
        self.said == self.statements.len() && self.acked >= self.said as u64
    }

    /// How many are said, and up to which they are acknowledged.
    pub fn progress(&self) -> (usize, u64) {
        (self.said, self.acked)
    }

    fn send(&mut self, now_ms: i64, from: u64, to: u64, again: bool) {
        for seq in from.max(1)..=to {
            let late = if again { Faults { reorder_ms: RESEND_MS, ..self.faults } } else { self.faults };
            for after_ms in late.copies(&mut self.rng) {
                self.due.push(Reverse((now_ms + after_ms, seq)));
            }
        }
    }
}
