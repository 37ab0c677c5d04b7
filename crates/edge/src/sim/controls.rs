//! That the judge would notice: each policy that is broken on purpose is found, by the rule that it breaks.

use super::broken::{Broken, breaking};
use super::judge::Rule;
use super::properties::{first_fault, seeds};

/// Scenarios until a broken policy must have been found; most are within twenty. They are the same in every run, so
/// that none goes unnoticed by chance.
const SEEDS: u64 = 600;

fn is_found(broken: Broken, by: Rule) {
    let _broken = breaking(Some(broken));
    let found = first_fault(0..SEEDS, 0, |fault| fault.rule == by);
    assert!(found.is_some(), "{broken:?} goes unnoticed");
}

#[test]
fn a_waiting_list_that_is_not_released_is_found() {
    is_found(Broken::Queues, Rule::Prompt);
}

#[test]
fn a_cut_that_is_taken_for_an_end_is_found() {
    is_found(Broken::CutIsEnd, Rule::Whole);
}

#[test]
fn a_failure_that_is_kept_at_the_live_edge_is_found() {
    is_found(Broken::KeepsFailures, Rule::Fresh);
}

#[test]
fn a_fill_that_dies_with_its_first_client_is_found() {
    is_found(Broken::DiesWithFirst, Rule::Faultless);
}

#[test]
fn a_cookie_that_is_shared_is_found() {
    is_found(Broken::SharesCookies, Rule::Private);
}

#[test]
fn what_is_stale_for_ever_is_found() {
    is_found(Broken::StaleForEver, Rule::Fresh);
}

#[test]
fn a_pass_in_the_key_is_found() {
    is_found(Broken::PassInKey, Rule::Keyed);
}

#[test]
fn a_stampede_is_found() {
    is_found(Broken::Stampedes, Rule::Once);
}

#[test]
fn an_answer_that_is_handed_to_another_is_found() {
    is_found(Broken::HandsToAnyone, Rule::Private);
}

#[test]
fn an_answer_for_another_language_is_found() {
    is_found(Broken::IgnoresVary, Rule::Keyed);
}

#[test]
fn one_who_joins_what_was_purged_is_found() {
    is_found(Broken::JoinsPurged, Rule::Fresh);
}

#[test]
fn one_who_polls_is_found() {
    is_found(Broken::Polls, Rule::Prompt);
}

/// Where the policies are right, seeds are from anywhere.
#[test]
fn seeds_differ_from_run_to_run() {
    if std::env::var_os("PAVILION_SEED").is_none() {
        assert_ne!(seeds(1), seeds(1));
    }
}
