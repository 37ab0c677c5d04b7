//! What ingest counts, in the field's terms.

use metrics::{counter, gauge, histogram};

use super::core::Outcome;

/// A statement was decided. `age_ms`: from the happening to us.
pub(super) fn decided(provider: &str, match_id: &str, outcome: &Outcome, age_ms: i64) {
    let word = match outcome {
        Outcome::Published => "published",
        Outcome::Duplicate => "duplicate",
        Outcome::Superseded => "superseded",
        Outcome::Disagrees => "disagrees",
        Outcome::Waits => "waits",
        Outcome::Refused(_) => "refused",
    };
    counter!("ingest_statements_total", "provider" => provider.to_owned(), "as" => word).increment(1);
    if *outcome == Outcome::Disagrees {
        counter!("ingest_feeds_disagree_total", "match" => match_id.to_owned()).increment(1);
    }
    if matches!(outcome, Outcome::Published | Outcome::Duplicate) {
        let age_s = age_ms.max(0) as f64 / 1_000.0;
        histogram!("provider_event_age_seconds", "provider" => provider.to_owned()).record(age_s);
    }
}

/// Something became a dead letter; `kept`: it was written.
pub(super) fn dead_letter(provider: &str, kept: bool) {
    let kept = if kept { "yes" } else { "no" };
    counter!("ingest_dead_letters_total", "provider" => provider.to_owned(), "kept" => kept).increment(1);
}

/// Records are durable.
pub(super) fn appended(records: usize, seconds: f64) {
    counter!("ingest_records_total").increment(records as u64);
    histogram!("ingest_append_seconds").record(seconds);
}

/// An append failed and is tried again.
pub(super) fn append_failed() {
    counter!("ingest_append_failures_total").increment(1);
}

/// How a provider stands.
pub(super) fn provider(provider: &str, connections: usize, gaps: usize, waiting: usize) {
    let label = provider.to_owned();
    gauge!("ingest_feed_connections", "provider" => label.clone()).set(connections as f64);
    gauge!("ingest_feed_gaps", "provider" => label.clone()).set(gaps as f64);
    gauge!("ingest_feed_waiting", "provider" => label).set(waiting as f64);
}

/// Numbers of a provider that never came.
pub(super) fn given_up(provider: &str, numbers: u64) {
    counter!("ingest_numbers_given_up_total", "provider" => provider.to_owned()).increment(numbers);
}

/// Whether a match's feeds are late.
pub(super) fn delayed(match_id: &str, late: bool) {
    gauge!("feed_delayed", "match" => match_id.to_owned()).set(f64::from(u8::from(late)));
}
