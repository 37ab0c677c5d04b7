//! On which letter several origins agree for a segment.

use std::fmt;

use async_trait::async_trait;
use timeline::name::{Letter, ProgrammePath, Token};

/// Which segment the letter is for. Displays as the key of a register.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LetterKey {
    /// The programme.
    pub programme: ProgrammePath,
    /// The track.
    pub track: Token,
    /// The segment.
    pub msn: u64,
}

impl fmt::Display for LetterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "letter/{}/{}/{}", self.programme, self.track, self.msn)
    }
}

/// Agrees on letters between the origins of a match, by compare-and-set.
#[async_trait]
pub trait Letters: Send + Sync {
    /// The letter that counts on every origin: the first that was proposed for `key`. The origin waits for
    /// [`crate::limits::AGREE_MAX`], then takes its proposal.
    async fn agree(&self, key: &LetterKey, proposal: Letter) -> Letter;
}

/// Without a store each origin follows the fixed order by itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct FixedOrder;

#[async_trait]
impl Letters for FixedOrder {
    async fn agree(&self, _: &LetterKey, proposal: Letter) -> Letter {
        proposal
    }
}
