//! Where in a cricket match.

use serde::{Deserialize, Serialize};

use crate::EventId;

/// Innings 0 is before the match, this one after it.
pub const AFTER: u32 = 900;
/// The over that stands after every over of an innings, for its end.
pub const CLOSE: u32 = 999;
/// Each part of a place has three digits in its id.
const PART_MAX: u32 = 999;

/// Where in a match: after which delivery. Ordered as the field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// From 1, super overs too; 0 before the match, [`AFTER`] after it.
    pub innings: u32,
    /// From 0, as scorers write it; [`CLOSE`] for the end of an innings.
    pub over: u32,
    /// Deliveries of the over that were bowled, wides and no-balls counted; 0: before the first.
    pub ball: u32,
    /// The delivery itself is 0; what else happened after it is from 1 by [`super::Kind::slots`].
    pub slot: u32,
}

impl Place {
    /// Before the match.
    pub const BEFORE: Place = Place { innings: 0, over: 0, ball: 0, slot: 1 };
    /// The result.
    pub const RESULT: Place = Place { innings: AFTER, over: 0, ball: 0, slot: 0 };

    /// Where an innings begins.
    pub fn start(innings: u32) -> Place {
        Place { innings, over: 0, ball: 0, slot: 1 }
    }

    /// Where an innings ends.
    pub fn close(innings: u32) -> Place {
        Place { innings, over: CLOSE, ball: 0, slot: 0 }
    }

    /// A delivery: `ball` from 1, wides and no-balls counted.
    pub fn ball(innings: u32, over: u32, ball: u32) -> Place {
        Place { innings, over, ball, slot: 0 }
    }

    /// The same place, another slot.
    pub fn slot(self, slot: u32) -> Place {
        Place { slot, ..self }
    }

    /// Whether each part has its three digits.
    pub fn fits(self) -> bool {
        [self.innings, self.over, self.ball, self.slot].iter().all(|n| *n <= PART_MAX)
    }

    /// The id of what happened there: `innings`, then three digits each of over, ball and slot.
    pub fn id(self) -> EventId {
        let [innings, over, ball, slot] =
            [self.innings, self.over, self.ball, self.slot].map(|n| u64::from(n.min(PART_MAX)));
        EventId(((innings * 1_000 + over) * 1_000 + ball) * 1_000 + slot)
    }

    /// The place that an id of this sport names.
    pub fn of(EventId(id): EventId) -> Place {
        // Three digits each; an id beyond them names no place and meets no event.
        let part = |n: u64| (n % 1_000) as u32;
        Place {
            innings: part(id / 1_000_000_000),
            over: part(id / 1_000_000),
            ball: part(id / 1_000),
            slot: part(id),
        }
    }
}
