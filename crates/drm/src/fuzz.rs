//! Entries for fuzzing: they must return, whatever the bytes.

/// A licence request; what is accepted can be answered.
pub fn clearkey(bytes: &[u8]) {
    if let Ok(request) = crate::clearkey::request(bytes) {
        assert!(!request.kids.is_empty());
    }
}

/// A key server's answer.
pub fn cpix(bytes: &[u8]) {
    if let Ok(keys) = crate::cpix::response(bytes) {
        assert!(!keys.is_empty() && keys.len() <= crate::cpix::KEYS_MAX);
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// The corpus, and what is one change away from it.
    fn seeds(target: &str) -> Vec<Vec<u8>> {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
        let seeds: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|f| std::fs::read(f.unwrap().path()).unwrap()).collect();
        assert!(seeds.len() > 2);
        seeds
    }

    proptest! {
        #[test]
        fn no_bytes_panic(n in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), with in vec(any::<u8>(), 0..20), cut in 0..30_usize) {
            for (target, run) in [("drm_clearkey", super::clearkey as fn(&[u8])), ("drm_cpix", super::cpix)] {
                run(&with);
                let seeds = seeds(target);
                let mut seed = n.get(&seeds).clone();
                let from = at.index(seed.len());
                let to = (from + cut).min(seed.len());
                seed.splice(from..to, with.clone());
                run(&seed);
            }
        }
    }
}
