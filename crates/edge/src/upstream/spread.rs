//! Which of several upstreams an object belongs to: rendezvous hashing. Pure.
//!
//! Each upstream has a score for each path, and the highest is asked first. The scores of one do not depend on
//! the others, so when one falls out only its own objects move, each to the second in its own row, and they come
//! back with it. Nothing is agreed between edges: they ask the same upstream for the same object because they
//! compute the same, as long as their settings spell the upstreams alike.

/// What stands for an upstream in all of its scores.
pub(super) fn seed(name: &str) -> u64 {
    hash(name)
}

/// The upstreams by number, that to which the path belongs first.
pub(super) fn rank(path: &str, seeds: &[u64]) -> Vec<usize> {
    let path = hash(path);
    let mut ranked: Vec<usize> = (0..seeds.len()).collect();
    ranked.sort_by_cached_key(|n| std::cmp::Reverse(mix(path ^ seeds[*n])));
    ranked
}

/// FNV-1a, mixed. Not a keyed hash: edges must agree without a secret, and whoever picks paths to meet one upstream
/// could as well ask for one of its objects again and again.
fn hash(text: &str) -> u64 {
    mix(text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3)))
}

/// The finalizer of SplitMix64: every bit in changes half of the bits out.
fn mix(mut h: u64) -> u64 {
    h = (h ^ (h >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    h = (h ^ (h >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    h ^ (h >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn upstreams() -> impl Strategy<Value = Vec<String>> {
        proptest::collection::btree_set("http://[a-z]{1,8}:[1-9][0-9]{1,3}", 2..9)
            .prop_map(|names| names.into_iter().collect())
    }

    fn seeds(names: &[String]) -> Vec<u64> {
        names.iter().map(|name| seed(name)).collect()
    }

    /// Paths as a match has them: alike but for a number or two.
    fn path(n: usize) -> String {
        format!("/m/r/p/v{}/{}a.{}.m4s", n % 7, n / 7, n % 5)
    }

    proptest! {
        #[test]
        fn when_one_leaves_only_its_objects_move(names in upstreams(), gone in any::<prop::sample::Index>()) {
            let all = seeds(&names);
            let gone = gone.index(all.len());
            let left: Vec<u64> = all.iter().copied().filter(|s| *s != all[gone]).collect();
            for n in 0..500 {
                let before: Vec<u64> = rank(&path(n), &all).iter().map(|i| all[*i]).collect();
                let after: Vec<u64> = rank(&path(n), &left).iter().map(|i| left[*i]).collect();
                let without: Vec<u64> = before.into_iter().filter(|s| *s != all[gone]).collect();
                prop_assert_eq!(after, without);
            }
        }

        #[test]
        fn the_order_of_the_settings_does_not_matter(names in upstreams(), path in "/[a-z/0-9]{0,20}") {
            let (ahead, mut back) = (seeds(&names), seeds(&names));
            back.reverse();
            prop_assert_eq!(ahead[rank(&path, &ahead)[0]], back[rank(&path, &back)[0]]);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        /// Of 16,384 paths each upstream has its share within 15 % of it (over six standard deviations), and so has
        /// each heir of one that is gone within 30 %.
        #[test]
        fn shares_are_even(names in upstreams()) {
            const PATHS: usize = 16_384;
            let seeds = seeds(&names);
            let mut shares = vec![0_usize; seeds.len()];
            let mut heirs = vec![0_usize; seeds.len()];
            for n in 0..PATHS {
                let ranked = rank(&path(n), &seeds);
                shares[ranked[0]] += 1;
                if ranked[0] == 0 {
                    heirs[ranked[1]] += 1;
                }
            }
            let within = |share: usize, fair: usize, percent: usize| share.abs_diff(fair) * 100 <= fair * percent;
            prop_assert!(shares.iter().all(|s| within(*s, PATHS / seeds.len(), 15)), "{:?}", shares);
            let fair = shares[0] / (seeds.len() - 1);
            prop_assert!(heirs[1..].iter().all(|s| within(*s, fair, 30)), "{:?}", heirs);
        }
    }

    /// Edges of different builds must agree: these numbers are for ever.
    #[test]
    fn the_hash_is_the_same_everywhere() {
        assert_eq!(seed("http://shield-1:8086"), 0xa05e_85a7_35cf_1e6d);
        assert_eq!(hash("/m/1a.m4s"), 0x13d7_da2e_2261_dd32);
    }
}
