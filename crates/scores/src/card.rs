//! The scorecard: a pure fold of events, in the order of the field.
//!
//! [`Book`] keeps what is known of a match. What comes out depends only on which events it was given, never on when
//! or how often: the highest revision of each counts, and the place on the field orders them.

use serde::Serialize;

use crate::{Event, EventId, Moment, Sport};

mod book;
pub mod cricket;
pub mod football;
mod text;

/// What a book is told is:
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// A happening that was not known.
    New,
    /// A higher revision of one that was.
    Corrected,
    /// Nothing that anybody need be told: it was known, or something newer was, or it is of another sport.
    Known,
}

/// All that is known of one match.
#[derive(Clone, Debug)]
pub struct Book {
    sport: Sport,
    events: book::Events,
    /// The fold of all of it, if that is in step: what comes at the end of the field, as nearly everything does, is
    /// folded on; after anything else it is made again when the field next goes on.
    tail: Option<cricket::Fold>,
}

/// A whole scorecard.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "sport", rename_all = "snake_case")]
pub enum Card {
    /// Of cricket.
    Cricket(Box<cricket::Card>),
    /// Of football.
    Football(Box<football::Card>),
}

/// The score in one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(tag = "sport", rename_all = "snake_case")]
pub enum Headline {
    /// Of cricket.
    Cricket(cricket::Headline),
    /// Of football.
    Football(football::Headline),
}

impl Headline {
    /// For people: `CSK 45/2 (5.3)`, `LIV 1 – 1 ARS`.
    pub fn text(&self) -> &str {
        match self {
            Headline::Cricket(headline) => &headline.text,
            Headline::Football(headline) => &headline.text,
        }
    }
}

impl Book {
    /// Of a match of which nothing is known yet.
    pub fn new(sport: Sport) -> Book {
        Book { sport, events: book::Events::default(), tail: None }
    }

    /// The sport that it is of.
    pub fn sport(&self) -> Sport {
        self.sport
    }

    /// Takes note of a revision. Its body has passed [`crate::Body::check`].
    pub fn take(&mut self, event: &Event) -> Taken {
        if !book::is_of(self.sport, &event.body) {
            return Taken::Known;
        }
        let Some(taken) = self.events.take(event) else { return Taken::Known };
        match self.events.last().filter(|last| taken == Taken::New && last.event.event_id == event.event_id) {
            Some(_) if self.sport != Sport::Cricket => {}
            Some(last) => match &mut self.tail {
                Some(tail) => tail.event(last),
                None => self.tail = Some(cricket::Fold::of(self.events.seen(None))),
            },
            // Or a revision that was overtaken, and still tells when the happening was first seen.
            None => self.tail = None,
        }
        taken
    }

    /// The fold of everything.
    fn whole(&self) -> cricket::Fold {
        self.tail.clone().unwrap_or_else(|| cricket::Fold::of(self.events.seen(None)))
    }

    /// The fold of everything up to a happening, and with it.
    fn upto(&self, upto: Option<EventId>) -> cricket::Fold {
        let is_last = |upto: EventId| self.events.last().is_none_or(|last| last.event.event_id <= upto);
        match upto {
            Some(upto) if !is_last(upto) => cricket::Fold::of(self.events.upto(upto)),
            _ => self.whole(),
        }
    }

    /// The fold of what was known at a time.
    fn known_at(&self, at_ms: Option<i64>) -> cricket::Fold {
        match at_ms {
            Some(_) => cricket::Fold::of(self.events.seen(at_ms)),
            None => self.whole(),
        }
    }

    /// How many happenings are known, withdrawn ones too.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// None yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The highest revision of a happening.
    pub fn highest(&self, event: EventId) -> Option<&Event> {
        self.events.highest(event)
    }

    /// The card from everything with a venue time up to `at_ms` (UTC, milliseconds): of each happening the highest
    /// revision of those. None: everything.
    pub fn card(&self, at_ms: Option<i64>) -> Card {
        match self.sport {
            Sport::Cricket => Card::Cricket(Box::new(self.known_at(at_ms).finish().0)),
            Sport::Football => Card::Football(Box::new(football::fold(self.events.in_football(at_ms)).0)),
        }
    }

    /// The headline that goes with [`Book::card`].
    pub fn headline_at(&self, at_ms: Option<i64>) -> Headline {
        match self.sport {
            Sport::Cricket => Headline::Cricket(self.known_at(at_ms).finish().0.headline()),
            Sport::Football => {
                Headline::Football(football::fold(self.events.in_football(at_ms)).0.headline())
            }
        }
    }

    /// The headline once the field has come up to a happening, and with it. None: all of the field.
    pub fn headline(&self, upto: Option<EventId>) -> Headline {
        match self.sport {
            Sport::Cricket => Headline::Cricket(self.upto(upto).finish().0.headline()),
            Sport::Football => {
                Headline::Football(football::fold(self.events.in_football_upto(upto)).0.headline())
            }
        }
    }

    /// Every key moment, in the order of the field.
    pub fn moments(&self) -> Vec<Moment> {
        match self.sport {
            Sport::Cricket => self.whole().finish().1,
            Sport::Football => football::fold(self.events.in_football(None)).1,
        }
    }

    /// The moment that an event is, given all that is known of what was before it.
    pub fn moment(&self, event: &Event) -> Option<Moment> {
        let upto = event.event_id;
        let moment = match (self.sport, &self.tail) {
            (Sport::Cricket, Some(tail))
                if self.events.last().is_some_and(|last| last.event.event_id == upto) =>
            {
                tail.last_moment().cloned()
            }
            (Sport::Cricket, _) => self.upto(Some(upto)).last_moment().cloned(),
            (Sport::Football, _) => football::fold(self.events.in_football_upto(Some(upto))).1.pop(),
        };
        moment.filter(|moment| moment.event_id == event.event_id)
    }
}
