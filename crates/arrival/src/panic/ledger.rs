//! Who was let in without a check, and how the journal says it. Pure.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use store::{Provisional, Verdict};

use super::limits::PENDING_MAX;

/// A line of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Line {
    /// Somebody was let in.
    Issued {
        /// The session.
        id: String,
        /// Whose.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        account: Option<String>,
        /// On which device.
        device: String,
        /// To which match.
        r#match: String,
        /// UTC, milliseconds.
        issued_ms: i64,
        /// UTC, milliseconds.
        until_ms: i64,
    },
    /// The store has it, with its verdict.
    Settled {
        /// The session.
        id: String,
    },
}

impl Line {
    /// Of a pass that is issued.
    pub fn issued(pass: &Provisional) -> Line {
        Line::Issued {
            id: pass.id.clone(),
            account: pass.account.clone(),
            device: pass.device.clone(),
            r#match: pass.r#match.clone(),
            issued_ms: pass.issued_ms,
            until_ms: pass.until_ms,
        }
    }

    /// As it is written, with the end of the line.
    pub fn text(&self) -> String {
        let mut text = serde_json::json!(self).to_string();
        text.push('\n');
        text
    }
}

/// Passes that are not settled, by session, and what was counted since this process began.
#[derive(Debug, Default)]
pub struct Ledger {
    pending: BTreeMap<String, Provisional>,
    /// Passes that are being written down.
    reserved: usize,
    /// Settled, by verdict.
    pub settled: [u64; 3],
}

impl Ledger {
    /// What a journal says. A line that cannot be read is no line: the last one may have been cut by a power cut, and
    /// its viewer was not let in.
    pub fn read(journal: &str) -> Ledger {
        let mut ledger = Ledger::default();
        for line in journal.lines() {
            match serde_json::from_str::<Line>(line) {
                Ok(Line::Issued { id, account, device, r#match, issued_ms, until_ms }) => {
                    let pass =
                        Provisional { id, account, device, r#match, issued_ms, until_ms, settled: None };
                    ledger.pending.insert(pass.id.clone(), pass);
                }
                Ok(Line::Settled { id }) => drop(ledger.pending.remove(&id)),
                Err(_) => tracing::warn!(bytes = line.len(), "a line of the journal cannot be read"),
            }
        }
        ledger
    }

    /// Room for one more that is about to be written down. False: there is none.
    #[must_use]
    pub fn reserve(&mut self) -> bool {
        let room = self.pending.len() + self.reserved < PENDING_MAX;
        self.reserved += usize::from(room);
        room
    }

    /// It was written down, or not: then nobody was let in by it.
    pub fn written(&mut self, pass: Provisional, durable: bool) {
        self.reserved = self.reserved.saturating_sub(1);
        if durable {
            self.pending.insert(pass.id.clone(), pass);
        }
    }

    /// Passes that can be settled, at most so many: those of an account at any time, the others when they are over,
    /// since until then somebody may say who they are.
    pub fn due(&self, now_ms: i64, max: usize) -> Vec<Provisional> {
        let due = self.pending.values().filter(|p| p.account.is_some() || p.until_ms <= now_ms);
        due.take(max).cloned().collect()
    }

    /// The store has it.
    pub fn settle(&mut self, id: &str, verdict: Verdict) {
        if self.pending.remove(id).is_some() {
            self.settled[verdict as usize] += 1;
        }
    }

    /// Not settled yet.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Nothing is waiting to be settled or written.
    pub fn is_settled(&self) -> bool {
        self.pending.is_empty() && self.reserved == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(id: &str, account: Option<&str>) -> Provisional {
        Provisional {
            id: id.into(),
            account: account.map(str::to_owned),
            device: "d".into(),
            r#match: "final".into(),
            issued_ms: 1,
            until_ms: 100,
            settled: None,
        }
    }

    #[test]
    fn a_journal_says_what_is_pending_also_when_its_end_was_cut() {
        let all = [pass("a", Some("x")), pass("b", None), pass("c", Some("y"))];
        let mut text: String = all.iter().map(|p| Line::issued(p).text()).collect();
        text += &Line::Settled { id: "a".into() }.text();
        for cut in 0..text.len() {
            let ledger = Ledger::read(&text[..cut]);
            let whole = text[..cut].lines().count();
            assert!(ledger.pending() <= whole);
        }
        let ledger = Ledger::read(&text);
        assert_eq!(
            ledger.due(50, 9),
            [all[2].clone()],
            "of whom nobody knows, it is not said before the end"
        );
        assert_eq!(ledger.due(100, 9), [all[1].clone(), all[2].clone()]);
        assert_eq!(Ledger::read("\u{0}rubbish\n{}\n[1]\n").pending(), 0);
    }

    #[test]
    fn it_is_bounded_and_what_was_not_written_lets_nobody_in() {
        let mut ledger = Ledger::default();
        assert!((0..PENDING_MAX).all(|_| ledger.reserve()));
        assert!(!ledger.reserve());
        ledger.written(pass("a", None), false);
        assert!(ledger.reserve());
        assert_eq!(ledger.pending(), 0);
        ledger.written(pass("b", Some("x")), true);
        ledger.settle("b", Verdict::NotEntitled);
        ledger.settle("b", Verdict::Entitled);
        assert_eq!((ledger.pending(), ledger.settled), (0, [0, 1, 0]));
    }
}
