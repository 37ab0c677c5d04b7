//! Chance that comes out the same on every machine.

pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    /// From 0, below `n`. SplitMix64 (Steele, Lea, Flood 2014).
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % n
    }

    /// One of them, by weight.
    pub(crate) fn one_of<T: Copy>(&mut self, weighted: &[(u64, T)]) -> T {
        let all: u64 = weighted.iter().map(|(weight, _)| weight).sum();
        let mut at = self.below(all);
        for (weight, one) in weighted {
            if at < *weight {
                return *one;
            }
            at -= weight;
        }
        weighted[0].1
    }
}
