//! How many second askings there may be: one for every [`HEDGE_EVERY`] first ones, and a few saved up.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::limits::{HEDGE_BURST, HEDGE_EVERY};

/// A bucket that each asking fills by a drop, and from which a second asking takes [`HEDGE_EVERY`].
#[derive(Debug)]
pub(super) struct Budget(AtomicU32);

const FULL: u32 = HEDGE_BURST * HEDGE_EVERY;

impl Budget {
    /// A full one.
    pub(super) fn new() -> Budget {
        Budget(AtomicU32::new(FULL))
    }

    /// Something was asked for that may be asked for twice.
    pub(super) fn earn(&self) {
        // Full is an error to `fetch_update`, and none here.
        let _ = self.0.fetch_update(Relaxed, Relaxed, |drops| (drops < FULL).then_some(drops + 1));
    }

    /// Whether it may be asked for a second time; if so that is paid for.
    pub(super) fn take(&self) -> bool {
        self.0.fetch_update(Relaxed, Relaxed, |drops| drops.checked_sub(HEDGE_EVERY)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn second_askings_stay_within_their_share(askings in proptest::collection::vec(0_u32..4, 0..2_000)) {
            let budget = Budget::new();
            let mut seconds = 0;
            for (firsts, wanted) in (1..).zip(askings) {
                budget.earn();
                seconds += (0..wanted).filter(|_| budget.take()).count() as u32;
                prop_assert!(seconds <= HEDGE_BURST + firsts / HEDGE_EVERY);
            }
        }
    }

    #[test]
    fn it_is_full_at_first_and_holds_no_more() {
        let budget = Budget::new();
        (0..10 * FULL).for_each(|_| budget.earn());
        assert_eq!((0..2 * HEDGE_BURST).filter(|_| budget.take()).count() as u32, HEDGE_BURST);
        (0..HEDGE_EVERY).for_each(|_| budget.earn());
        assert!(budget.take() && !budget.take());
    }
}
