//! How a provider stands, and what the newest word of one without revisions counts as.

use std::collections::{BTreeMap, HashMap};

use super::super::canon::Canon;
use super::super::history::{History, Verdict};
use super::super::limits::{GAP_MAX_MS, REVISION_MAX, WAITING_MAX};
use super::super::sequence::Sequence;
use super::{Key, Outcome, event};
use crate::Event;

/// A provider.
#[derive(Debug, Default)]
pub(super) struct Provider {
    pub(super) sequence: Sequence,
    pub(super) histories: HashMap<Key, History>,
    /// What waits for a gap, and until when.
    pub(super) waiting: BTreeMap<Key, i64>,
}

impl Provider {
    /// Decides what the provider's newest content of a happening counts as.
    pub(super) fn judge(
        &mut self,
        id: &str,
        key: &Key,
        canon: &mut Canon,
        now_ms: i64,
        publish: &mut Vec<Event>,
    ) -> Outcome {
        let Some(history) = self.histories.get_mut(key) else { return Outcome::Duplicate };
        let standing = canon.get(key.1);
        let current = standing.map_or(0, |standing| standing.revision());
        let (revision, outcome) = match history.judge(standing) {
            Verdict::Publish(revision) => (revision, Outcome::Published),
            Verdict::Stands(revision) if revision == current => (revision, Outcome::Duplicate),
            Verdict::Stands(revision) => (revision, Outcome::Superseded),
            Verdict::Taken(revision) => {
                let open = history.is_waiting() && self.sequence.is_open_before(history.newest.seq);
                let until = self.waiting.get(key).copied().unwrap_or(now_ms + GAP_MAX_MS);
                let room = self.waiting.contains_key(key) || self.waiting.len() < WAITING_MAX;
                if open && now_ms < until && room {
                    self.waiting.insert(key.clone(), until);
                    return Outcome::Waits;
                }
                match open {
                    true => (current + 1, Outcome::Published),
                    false if revision == current => (revision, Outcome::Disagrees),
                    false => (revision, Outcome::Superseded),
                }
            }
        };
        self.waiting.remove(key);
        if revision > REVISION_MAX {
            return Outcome::Refused("nothing is corrected so often".into());
        }
        history.give(revision);
        if outcome == Outcome::Published {
            let event = event(id, &history.newest, revision, now_ms);
            canon.put(&event);
            publish.push(event);
        }
        outcome
    }
}
