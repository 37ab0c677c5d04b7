//! When a server that is gone is tried again. Pure; time is an argument.

use std::time::{Duration, Instant};

/// The first wait after an attempt in vain: a server that is only starting anew is found soon.
const FIRST: Duration = Duration::from_millis(50);
/// The longest: a panic of the door ends a few good answers after the server is back, so this must be far below its
/// hold of five seconds; and one attempt a second is nothing to a server that starts.
const LONGEST: Duration = Duration::from_secs(1);

/// Open while the server answers.
#[derive(Debug, Default)]
pub(super) struct Gate {
    failures: u32,
    until: Option<Instant>,
    why: String,
}

impl Gate {
    /// Why nobody is to try now, if so.
    pub(super) fn closed(&self, now: Instant) -> Option<String> {
        self.until.is_some_and(|until| now < until).then(|| self.why.clone())
    }

    /// Why the last attempt was in vain, if it was: then one at a time is enough.
    pub(super) fn in_doubt(&self) -> Option<String> {
        (self.failures > 0).then(|| self.why.clone())
    }

    pub(super) fn opened(&mut self) {
        *self = Gate::default();
    }

    /// `chance`: from 0 to 1. Doors that lost a server together must not come back together.
    pub(super) fn failed(&mut self, why: String, now: Instant, chance: f64) {
        let wait = FIRST.saturating_mul(1 << self.failures.min(8)).min(LONGEST);
        self.failures = self.failures.saturating_add(1);
        self.until = Some(now + wait.mul_f64((1.0 + chance) / 2.0));
        self.why = why;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_waits_longer_each_time_up_to_a_second_and_is_well_at_once() {
        let (mut gate, now) = (Gate::default(), Instant::now());
        assert_eq!((gate.closed(now), gate.in_doubt()), (None, None));
        let mut last = Duration::ZERO;
        for n in 0..40 {
            gate.failed("refused".into(), now, if n % 2 == 0 { 0.0 } else { 1.0 });
            let until = gate.until.unwrap();
            assert!(gate.closed(until - Duration::from_micros(1)).is_some());
            assert_eq!(gate.closed(until), None);
            assert_eq!(gate.in_doubt().as_deref(), Some("refused"));
            last = last.max(until - now);
        }
        assert_eq!(last, LONGEST);
        gate.failed("refused".into(), now, 0.0);
        assert_eq!(gate.until.unwrap() - now, LONGEST / 2);
        gate.opened();
        assert_eq!((gate.closed(now), gate.in_doubt()), (None, None));
    }
}
