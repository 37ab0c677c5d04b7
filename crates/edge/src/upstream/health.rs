//! Active health: an upstream is asked whether it is well, every second, on a path of its own.

use std::sync::Arc;

use tokio::time::sleep;

use super::peer::Peer;
use crate::limits::{HEALTH_BACK_AFTER, HEALTH_EVERY, HEALTH_OUT_AFTER};

/// What the answers so far add up to. Pure. Well, until it is known better.
#[derive(Debug, Default)]
pub(super) struct Health {
    out: bool,
    /// Answers in a row that say the opposite.
    contrary: u32,
}

impl Health {
    /// Whether the upstream may be asked.
    pub(super) fn is_well(&self) -> bool {
        !self.out
    }

    /// It said that it is well, or not, or nothing.
    pub(super) fn heard(&mut self, well: bool) {
        if well != self.out {
            self.contrary = 0;
            return;
        }
        self.contrary += 1;
        if self.contrary >= if self.out { HEALTH_BACK_AFTER } else { HEALTH_OUT_AFTER } {
            *self = Health { out: !self.out, contrary: 0 };
        }
    }
}

/// Asks for ever. The first time is drawn from the whole period and each later one from a fifth of it, so that
/// neither the upstreams of one edge nor the edges of one upstream ask in step.
pub(super) async fn watch(peer: Arc<Peer>, path: String) {
    sleep(HEALTH_EVERY.mul_f32(fastrand::f32())).await;
    loop {
        let well = peer.says_well(&path).await;
        peer.heard(well);
        sleep(HEALTH_EVERY.mul_f32(0.9 + 0.2 * fastrand::f32())).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against the definition, read backwards from each answer.
        #[test]
        fn only_rows_change_it(answers in proptest::collection::vec(any::<bool>(), 0..200)) {
            let mut health = Health::default();
            let mut well = true;
            let mut since = 0;
            for (n, answer) in answers.iter().enumerate() {
                health.heard(*answer);
                let needed = if well { HEALTH_OUT_AFTER } else { HEALTH_BACK_AFTER } as usize;
                let row = answers[since..=n].iter().rev().take_while(|a| **a != well).count();
                if row >= needed {
                    (well, since) = (!well, n + 1);
                }
                prop_assert_eq!(health.is_well(), well);
            }
        }
    }
}
