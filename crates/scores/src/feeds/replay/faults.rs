//! How badly a provider's line behaves. The same seed behaves the same.

/// What may happen to what is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Faults {
    /// Of how many statements, from 0 to 1, nothing arrives; each time that they are sent.
    pub loss: f64,
    /// How many, from 0 to 1, are sent twice.
    pub repeat: f64,
    /// Each is held back up to so long, so that they overtake each other. Milliseconds.
    pub reorder_ms: i64,
    /// All are late by so much. Milliseconds.
    pub delay_ms: i64,
}

impl Faults {
    /// After how many milliseconds each copy of one statement is sent; none if it is lost.
    pub(super) fn copies(&self, rng: &mut fastrand::Rng) -> Vec<i64> {
        let sent = 1 + usize::from(rng.f64() < self.repeat);
        let mut copies = Vec::with_capacity(sent);
        for _ in 0..sent {
            let after_ms = self.delay_ms + rng.i64(0..=self.reorder_ms.max(0));
            if rng.f64() >= self.loss {
                copies.push(after_ms);
            }
        }
        copies
    }
}
