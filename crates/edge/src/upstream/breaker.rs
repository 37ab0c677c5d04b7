//! The circuit breaker of one upstream. Pure: time and chance are arguments.
//!
//! Closed, it counts failures in a row; [`EJECT_AFTER`] of them open it for a while that grows. When that is over,
//! one trial is let through (half-open), and its outcome closes or opens it. What was asked before the last change
//! tells nothing any more: an old answer neither closes nor opens it.

use tokio::time::{Duration, Instant};

use crate::limits::{EJECT_AFTER, EJECT_FORGET, EJECT_MAX, EJECT_MIN, TRIAL_MAX};

/// Whether one upstream should be asked.
#[derive(Debug)]
pub(super) struct Breaker {
    state: State,
    /// When it came to this state.
    since: Instant,
    /// How often it opened without a good while ([`EJECT_FORGET`]) between.
    ejections: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Closed { failures: u32 },
    Open { until: Instant },
    HalfOpen,
}

impl Breaker {
    /// A closed one.
    pub(super) fn new(now: Instant) -> Breaker {
        Breaker { state: State::Closed { failures: 0 }, since: now, ejections: 0 }
    }

    /// Whether its upstream is asked like any other.
    pub(super) fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed { .. })
    }

    /// When its upstream may be tried again; `None` while closed.
    pub(super) fn due(&self) -> Option<Instant> {
        match self.state {
            State::Closed { .. } => None,
            State::Open { until } => Some(until),
            State::HalfOpen => Some(self.since),
        }
    }

    /// Whether a trial may begin now. If so it has begun, and nobody else may for [`TRIAL_MAX`].
    pub(super) fn begin_trial(&mut self, now: Instant) -> bool {
        let due = match self.state {
            State::Closed { .. } => false,
            State::Open { until } => until <= now,
            State::HalfOpen => now.saturating_duration_since(self.since) >= TRIAL_MAX,
        };
        if due {
            (self.state, self.since) = (State::HalfOpen, now);
        }
        due
    }

    /// What was asked at `asked` was answered well. Closes it from any state: also while it is open requests go
    /// there, when there is nowhere else to go.
    pub(super) fn good(&mut self, asked: Instant, now: Instant) {
        if asked < self.since {
            return;
        }
        if !self.is_closed() {
            self.since = now;
        }
        self.state = State::Closed { failures: 0 };
    }

    /// What was asked at `asked` failed. `luck` is 0 to 1, drawn anew each time.
    pub(super) fn bad(&mut self, asked: Instant, now: Instant, luck: f32) {
        if asked < self.since {
            return;
        }
        match &mut self.state {
            State::Closed { failures } if *failures + 1 < EJECT_AFTER => *failures += 1,
            State::Closed { .. } => {
                if now.saturating_duration_since(self.since) >= EJECT_FORGET {
                    self.ejections = 0;
                }
                self.open(now, luck);
            }
            State::HalfOpen => self.open(now, luck),
            // It was asked for want of a better one, which is no reason to stay away from it longer.
            State::Open { .. } => {}
        }
    }

    fn open(&mut self, now: Instant, luck: f32) {
        let times = 1_u32.checked_shl(self.ejections).unwrap_or(u32::MAX);
        let span = EJECT_MIN.saturating_mul(times).min(EJECT_MAX);
        self.ejections = self.ejections.saturating_add(1);
        self.state = State::Open { until: now + span + jitter(span, luck) };
        self.since = now;
    }
}

/// Up to half of `span`: edges that saw the same upstream die must not all try it at one moment.
fn jitter(span: Duration, luck: f32) -> Duration {
    span.mul_f32(luck.clamp(0.0, 1.0) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    /// Opens a closed one; how long it stays open.
    fn eject(breaker: &mut Breaker, now: Instant, luck: f32) -> Duration {
        for _ in 0..EJECT_AFTER {
            breaker.bad(now, now, luck);
        }
        breaker.due().unwrap() - now
    }

    #[test]
    fn failures_in_a_row_open_it_and_a_trial_closes_it() {
        let start = Instant::now();
        let mut breaker = Breaker::new(start);
        for _ in 0..EJECT_AFTER - 1 {
            breaker.bad(start, start, 0.0);
        }
        assert!(breaker.is_closed());
        breaker.good(start, start);
        assert_eq!(eject(&mut breaker, start, 0.0), EJECT_MIN);
        assert!(!breaker.begin_trial(start + EJECT_MIN - ms(1)));
        let trial = start + EJECT_MIN;
        assert!(breaker.begin_trial(trial));
        assert!(!breaker.begin_trial(trial) && !breaker.is_closed());
        breaker.good(trial, trial + ms(1));
        assert!(breaker.is_closed());
    }

    #[test]
    fn the_time_out_doubles_to_its_bound_and_is_forgotten() {
        let mut now = Instant::now();
        let mut breaker = Breaker::new(now);
        let mut expected = EJECT_MIN;
        let mut span = eject(&mut breaker, now, 0.0);
        for _ in 0..40 {
            assert_eq!(span, expected);
            now += span;
            assert!(breaker.begin_trial(now));
            breaker.bad(now, now, 0.0);
            span = breaker.due().unwrap() - now;
            expected = (expected * 2).min(EJECT_MAX);
        }
        now += span;
        assert!(breaker.begin_trial(now));
        breaker.good(now, now);
        // Out again too soon, it is out for as long.
        assert_eq!(eject(&mut breaker, now + EJECT_FORGET - ms(1), 0.0), EJECT_MAX);
        now += EJECT_FORGET + EJECT_MAX;
        assert!(breaker.begin_trial(now));
        breaker.good(now, now);
        assert_eq!(eject(&mut breaker, now + EJECT_FORGET, 0.0), EJECT_MIN);
    }

    #[test]
    fn a_lost_trial_is_not_the_last() {
        let start = Instant::now();
        let mut breaker = Breaker::new(start);
        let now = start + eject(&mut breaker, start, 1.0);
        assert!(breaker.begin_trial(now) && !breaker.begin_trial(now + TRIAL_MAX - ms(1)));
        assert!(breaker.begin_trial(now + TRIAL_MAX));
    }

    #[test]
    fn what_was_asked_before_the_change_tells_nothing() {
        let start = Instant::now();
        let mut breaker = Breaker::new(start);
        let later = start + ms(500);
        let until = later + eject(&mut breaker, later, 0.0);
        breaker.good(start, later + ms(1));
        assert!(!breaker.is_closed());
        assert!(breaker.begin_trial(until));
        breaker.bad(later, until + ms(1), 0.0);
        breaker.good(until, until + ms(2));
        assert!(breaker.is_closed());
        for _ in 0..2 * EJECT_AFTER {
            breaker.bad(until, until + ms(3), 0.0);
        }
        assert!(breaker.is_closed());
    }

    #[derive(Clone, Debug)]
    enum Event {
        Wait(u64),
        Trial,
        Good(u64),
        Bad(u64, f32),
    }

    fn event() -> impl Strategy<Value = Event> {
        prop_oneof![
            (0_u64..20_000).prop_map(Event::Wait),
            Just(Event::Trial),
            (0_u64..2_000).prop_map(Event::Good),
            (0_u64..2_000, 0.0_f32..=1.0).prop_map(|(ago, luck)| Event::Bad(ago, luck)),
            // Failures come in rows more often than chance would have it.
            (Just(0_u64), 0.0_f32..=1.0).prop_map(|(ago, luck)| Event::Bad(ago, luck)),
        ]
    }

    proptest! {
        #[test]
        fn it_never_sticks_never_tries_twice_and_never_opens_lightly(
            events in proptest::collection::vec(event(), 0..200),
        ) {
            let mut now = Instant::now() + Duration::from_secs(60);
            let mut breaker = Breaker::new(now);
            let mut trial: Option<Instant> = None;
            let mut row = 0;
            for event in events {
                let was_closed = breaker.is_closed();
                match event {
                    Event::Wait(ms) => now += Duration::from_millis(ms),
                    Event::Trial => {
                        let due = breaker.due();
                        if breaker.begin_trial(now) {
                            prop_assert!(due.is_some_and(|due| due <= now));
                            prop_assert!(trial.is_none_or(|at| now - at >= TRIAL_MAX));
                            trial = Some(now);
                        }
                    }
                    Event::Good(ago) => {
                        if now - ms(ago) >= breaker.since {
                            row = 0;
                        }
                        breaker.good(now - ms(ago), now);
                    }
                    Event::Bad(ago, luck) => {
                        breaker.bad(now - ms(ago), now, luck);
                        row += 1;
                    }
                }
                if was_closed && !breaker.is_closed() {
                    prop_assert!(row >= EJECT_AFTER);
                }
                if !was_closed && breaker.is_closed() {
                    prop_assert_eq!(row, 0);
                }
                // Whatever ended the trial, another may follow it.
                if breaker.is_closed() || breaker.due().is_some_and(|due| due > now) {
                    trial = None;
                }
                if let Some(due) = breaker.due() {
                    prop_assert!(due <= now + EJECT_MAX.mul_f32(1.5) + ms(1));
                }
            }
            now += EJECT_MAX * 2;
            if !breaker.is_closed() {
                prop_assert!(breaker.begin_trial(now));
                breaker.good(now, now);
            }
            prop_assert!(breaker.is_closed());
        }
    }
}
