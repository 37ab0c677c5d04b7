//! What a provider without revisions has said of one happening, in the order of its own numbers.

use super::canon::{Content, Standing};
use super::limits::SAID_MAX;
use crate::feeds::Statement;

/// Statements of one provider about one happening.
#[derive(Debug)]
pub(super) struct History {
    /// By number.
    said: Vec<(u64, Content)>,
    /// The one of the highest number.
    pub(super) newest: Statement,
    /// Which revision the newest content counts as. None: not decided yet, it waits.
    given: Option<u32>,
    /// Which revision the content before that counted as.
    before: u32,
}

/// What a statement is to what was said before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The newest, and it says something else.
    Newer,
    /// Said already, or the newest says it too.
    Known,
    /// There is a newer one. What that counts as may have changed.
    Older,
    /// Its number was used for something else.
    Reused,
    /// Nobody changes their mind so often.
    TooMany,
}

/// What the newest content is to become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// This revision, which is to be published.
    Publish(u32),
    /// It stands already under this revision.
    Stands(u32),
    /// The revision that it would be says something else.
    Taken(u32),
}

impl History {
    pub(super) fn new(statement: Statement) -> History {
        let said = vec![(statement.seq, Content::of(&statement.body))];
        History { said, newest: statement, given: None, before: 0 }
    }

    /// Notes a statement.
    pub(super) fn add(&mut self, statement: Statement) -> Place {
        let content = Content::of(&statement.body);
        let at = match self.said.binary_search_by_key(&statement.seq, |(seq, _)| *seq) {
            Ok(at) if self.said[at].1 == content => return Place::Known,
            Ok(_) => return Place::Reused,
            Err(at) => at,
        };
        if self.said.len() == SAID_MAX {
            return Place::TooMany;
        }
        self.said.insert(at, (statement.seq, content));
        if at + 1 < self.said.len() {
            return Place::Older;
        }
        self.newest = statement;
        if self.said[at - 1].1 == content {
            return Place::Known;
        }
        // If the one before was still waiting, it is superseded unpublished.
        if let Some(given) = self.given.take() {
            self.before = given;
        }
        Place::Newer
    }

    /// From our own memory of the spine, after a restart: the provider's newest that was published.
    pub(super) fn recalled(statement: Statement, revision: u32) -> History {
        History { given: Some(revision), ..History::new(statement) }
    }

    /// What the newest says.
    fn content(&self) -> Option<Content> {
        self.said.last().map(|(_, content)| *content)
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.given.is_none()
    }

    pub(super) fn give(&mut self, revision: u32) {
        self.given = Some(revision);
    }

    /// Which of its distinct consecutive contents the newest is, from 1.
    fn ordinal(&self) -> u32 {
        1 + self.said.windows(2).filter(|pair| pair[0].1 != pair[1].1).count() as u32
    }

    /// What the newest content is to count as, beside what stands. A provider's own contents count upwards, so that its
    /// last word is never taken for an older one.
    pub(super) fn judge(&self, standing: Option<&Standing>) -> Verdict {
        let base = self.ordinal().max(self.before + 1).max(self.given.unwrap_or(0));
        let Some(standing) = standing else { return Verdict::Publish(base) };
        if let Some(revision) = self.content().and_then(|content| standing.that_says(content, base)) {
            return Verdict::Stands(revision);
        }
        if base > standing.revision() { Verdict::Publish(base) } else { Verdict::Taken(base) }
    }
}
