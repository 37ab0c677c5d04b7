//! Any interleaving, in simulated time. `PAVILION_SEED` repeats one run, `PAVILION_SIM_SEEDS` asks for more of them.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};

use tokio::time::Instant;

use super::judge::{Fault, judge};
use super::origin::Given;
use super::scenario::scenarios;
use super::world::{self, Record};
use crate::limits::NOT_YET_MAX;

/// Scenarios of a run of `./test`: a few seconds.
const SEEDS: u64 = 400;

/// How long to look for a smaller scenario with the same fault.
const SHRINK_MS_MAX: u32 = 20_000;
const SHRINKS_MAX: u32 = 5_000;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number")))
}

/// The seeds of a run: as many as that, from anywhere; or the one that is to be repeated.
pub(super) fn seeds(count: u64) -> Range<u64> {
    match number("PAVILION_SEED") {
        Some(seed) => seed..seed + 1,
        None => {
            let first = fastrand::u64(..u64::MAX / 2);
            first..first + count
        }
    }
}

/// Draws a scenario from each seed until one has a fault that counts, and makes that smaller in so many tries. Gives
/// its seed and its story.
pub(super) fn first_fault(
    mut seeds: Range<u64>,
    shrinks: u32,
    counts: impl Fn(&Fault) -> bool,
) -> Option<(u64, String)> {
    seeds.find_map(|seed| {
        let config = Config {
            cases: 1,
            rng_seed: RngSeed::Fixed(seed),
            failure_persistence: None,
            max_shrink_iters: shrinks,
            max_shrink_time: SHRINK_MS_MAX,
            ..Config::default()
        };
        let last = RefCell::default();
        let tried = TestRunner::new(config).run(&scenarios(), |scenario| {
            let record = world::play(&scenario);
            let faults = judge(&record);
            if !faults.iter().any(&counts) {
                return Ok(());
            }
            *last.borrow_mut() = story(&record, &faults);
            Err(TestCaseError::fail("a fault"))
        });
        match tried {
            Ok(()) => None,
            Err(TestError::Fail(..)) => Some((seed, last.take())),
            Err(TestError::Abort(why)) => panic!("{why}"),
        }
    })
}

#[test]
fn any_interleaving_yields_whole_fresh_and_rightly_keyed_answers_with_one_fetch() {
    let seeds = seeds(number("PAVILION_SIM_SEEDS").unwrap_or(SEEDS));
    if let Some((seed, story)) = first_fault(seeds, SHRINKS_MAX, |_| true) {
        panic!("PAVILION_SEED={seed}\n{story}");
    }
}

/// What is drawn reaches what the judge looks for.
#[test]
fn scenarios_are_not_idle() {
    let mut reached = BTreeSet::new();
    for seed in 0..SEEDS {
        let config = Config { rng_seed: RngSeed::Fixed(seed), ..Config::default() };
        let scenario = scenarios().new_tree(&mut TestRunner::new(config)).unwrap().current();
        let record = world::play(&scenario);
        let web = if scenario.web { "web" } else { "live" };
        for seen in &record.seen {
            reached.extend(seen.outcome.map(|outcome| format!("{web} {}", outcome.name())));
            reached.insert(format!("{web} {}", seen.status));
            let held = seen.answered.is_some_and(|at| at - seen.asked > NOT_YET_MAX);
            reached.extend(held.then(|| format!("{web} held")));
            reached.insert(format!("{web} {:?}", seen.end));
        }
        let same = record.fetched.iter().any(|f| matches!(f.given, Given::Same { .. }));
        reached.extend(same.then(|| format!("{web} good still")));
    }
    let outcomes = ["hit", "miss", "collapsed", "stale", "alone", "error", "held", "good still"];
    let statuses = ["200", "206", "304", "404", "416", "500", "502", "504"];
    let ends = ["Clean", "Left", "Error(Cut)"];
    for web in ["live", "web"] {
        for what in outcomes.iter().chain(&statuses).chain(&ends) {
            assert!(reached.contains(&format!("{web} {what}")), "{web} {what} is not among {reached:?}");
        }
    }
}

/// What a run has to do with its faults, in words, for whoever looks for the cause.
fn story(record: &Record, faults: &[Fault]) -> String {
    let mut story = record.scenario.to_string();
    let at = |then: Instant| (then - record.start).as_millis();
    let concerned = |target: &str| faults.iter().any(|fault| fault.to_string().contains(target));
    for (n, f) in record.fetched.iter().enumerate().filter(|(_, f)| concerned(&f.target)) {
        let ends = (f.answered.map(at), f.ended.map(at), f.whole);
        let _ = writeln!(
            story,
            "{:6} fetch {n} {} {:?}: {ends:?} {:?}",
            at(f.asked),
            f.target,
            f.fields,
            f.given
        );
    }
    for s in record.seen.iter().filter(|s| concerned(&s.target)) {
        let ends = (s.answered.map(at), at(s.ended), s.end);
        let (of, len) = (s.fetch(), s.body.len());
        let _ = writeln!(
            story,
            "{:6} #{} {:?}: {} of {of:?}, {len} bytes {ends:?}",
            at(s.asked),
            s.client,
            s.fields,
            s.status
        );
    }
    for fault in faults {
        let _ = writeln!(story, "{fault}");
    }
    story
}
