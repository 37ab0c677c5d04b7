//! The card of a football match.

use serde::{Deserialize, Serialize};

use super::book::Seen;
use super::text::{self, capital};
use crate::football::{Happening, Kind, Side};
use crate::{Body, Moment, MomentKind};

/// The whole card.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Card {
    /// Home; empty until the line-up is known.
    pub home: Team,
    /// Away.
    pub away: Team,
    /// The period that is on: one of [`crate::football::PERIODS`]; none before the first.
    pub period: Option<String>,
    /// The match clock at the latest happening.
    pub clock: String,
    /// In the order of the field, retracted ones too.
    pub goals: Vec<Goal>,
    /// In the order of the field.
    pub cards: Vec<Shown>,
    /// In the order of the field.
    pub substitutions: Vec<Substitution>,
    /// In the order of the field.
    pub shootout: Vec<Kick>,
    /// In words, once the match is final.
    pub result: Option<String>,
}

/// One side.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Team {
    /// Who.
    pub name: String,
    /// Goals that count.
    pub goals: u32,
    /// Kicks that went in, of a shoot-out; none without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shootout: Option<u32>,
}

/// A goal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct Goal {
    pub side: Side,
    pub nth: u32,
    pub clock: String,
    pub player: Option<String>,
    pub own: bool,
    pub penalty: bool,
    /// Why it does not count, if it does not.
    pub retracted: Option<String>,
}

/// A card that was shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct Shown {
    pub side: Side,
    pub clock: String,
    pub player: Option<String>,
    pub colour: String,
}

/// A substitution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct Substitution {
    pub side: Side,
    pub clock: String,
    pub off: String,
    pub on: String,
}

/// A kick of a shoot-out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct Kick {
    pub side: Side,
    pub player: Option<String>,
    pub scored: bool,
}

/// The score in one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Headline {
    /// Home.
    pub home: Team,
    /// Away.
    pub away: Team,
    /// The match clock at the latest happening.
    pub clock: String,
    /// `LIV 1 – 1 ARS`.
    pub text: String,
    /// Once the match is final, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
}

/// The card and the key moments of events in the order of the field.
pub(super) fn fold(events: Vec<Seen<'_>>) -> (Card, Vec<Moment>) {
    let mut card = Card { clock: "0:00".to_owned(), ..Card::default() };
    let mut moments = Vec::new();
    for seen in events {
        let Body::Football(happening) = &seen.event.body else { continue };
        if let Some((kind, text)) = card.happening(happening) {
            let (event_id, venue_ms) = (seen.event.event_id, seen.event.venue_ms);
            moments.push(Moment { event_id, venue_ms, seek_ms: seen.first_ms, kind, text });
        }
    }
    card.result = (card.period.as_deref() == Some("final")).then(|| card.in_words());
    (card, moments)
}

impl Card {
    /// The score in one line.
    pub fn headline(&self) -> Headline {
        let (home, away) = text::pair(&self.home.name, &self.away.name);
        let mut text = format!("{home} {} – {} {away}", self.home.goals, self.away.goals).trim().to_owned();
        if let (Some(home), Some(away)) = (self.home.shootout, self.away.shootout) {
            text.push_str(&format!(" ({home} – {away})"));
        }
        Headline {
            home: self.home.clone(),
            away: self.away.clone(),
            clock: self.clock.clone(),
            text,
            result: self.result.clone(),
        }
    }

    fn team(&mut self, side: Side) -> &mut Team {
        match side {
            Side::Home => &mut self.home,
            Side::Away => &mut self.away,
        }
    }

    fn happening(&mut self, happening: &Happening) -> Option<(MomentKind, String)> {
        let Happening { which, clock, what } = happening;
        self.clock = clock.clone();
        // One side's doing names its side; `check` has seen to it.
        let side = which.side.unwrap_or(Side::Home);
        let (nth, clock) = (which.nth, clock.clone());
        let name = |player: &Option<String>| player.clone().unwrap_or_else(|| "unknown".to_owned());
        match what {
            Kind::LineUp { home, away } => {
                (self.home.name, self.away.name) = (home.clone(), away.clone());
                None
            }
            Kind::Clock { period } => {
                self.period = Some(period.clone());
                None
            }
            Kind::Goal { player, own, penalty } => {
                self.team(side).goals += 1;
                let (player, own, penalty) = (player.clone(), *own, *penalty);
                let how = if own { " (own goal)" } else { "" };
                let how = if penalty { " (penalty)" } else { how };
                let said = format!("Goal: {}{how}, {} – {}", name(&player), self.home.goals, self.away.goals);
                self.goals.push(Goal { side, nth, clock, player, own, penalty, retracted: None });
                Some((MomentKind::Goal, said))
            }
            Kind::GoalRetracted { reason } => {
                let retracted = Some(reason.clone());
                let (player, own, penalty) = (None, false, false);
                self.goals.push(Goal { side, nth, clock, player, own, penalty, retracted });
                Some((
                    MomentKind::GoalRetracted,
                    format!("No goal: {reason}, {} – {}", self.home.goals, self.away.goals),
                ))
            }
            Kind::Card { player, colour } => {
                let said = capital(&format!("{}: {}", colour.replace('_', " "), name(player)));
                self.cards.push(Shown { side, clock, player: player.clone(), colour: colour.clone() });
                Some((MomentKind::Card, said))
            }
            Kind::Substitution { off, on } => {
                self.substitutions.push(Substitution { side, clock, off: off.clone(), on: on.clone() });
                None
            }
            Kind::ShootoutKick { player, scored } => {
                self.home.shootout.get_or_insert(0);
                self.away.shootout.get_or_insert(0);
                if let Some(kicks) = self.team(side).shootout.as_mut() {
                    *kicks += u32::from(*scored);
                }
                let how = if *scored { "scores" } else { "misses" };
                let said = format!("{} {how} from the spot", name(player));
                self.shootout.push(Kick { side, player: player.clone(), scored: *scored });
                Some((MomentKind::ShootoutKick, said))
            }
        }
    }

    fn in_words(&self) -> String {
        let key = |team: &Team| (team.goals, team.shootout.unwrap_or_default());
        let (winner, loser) = match key(&self.home).cmp(&key(&self.away)) {
            std::cmp::Ordering::Greater => (&self.home, &self.away),
            std::cmp::Ordering::Less => (&self.away, &self.home),
            std::cmp::Ordering::Equal => return format!("Draw, {} – {}", self.home.goals, self.away.goals),
        };
        let mut said = format!("{} won {} – {}", winner.name, winner.goals, loser.goals);
        if let (Some(won), Some(lost)) = (winner.shootout, loser.shootout) {
            said.push_str(&format!(", {won} – {lost} on penalties"));
        }
        said
    }
}
