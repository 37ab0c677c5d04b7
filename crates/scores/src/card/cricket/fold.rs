//! One event after the other, in the order of the field.

use std::collections::BTreeMap;

use super::milestones::{self, Before};
use super::{Card, Innings, Status, Toss};
use crate::card::book::Seen;
use crate::cricket::{AFTER, CLOSE, Happening, Kind, Place, ReviewOutcome, Target, Wicket};
use crate::{Body, Moment, MomentKind};

/// Until the toss says otherwise.
const BALLS_PER_OVER: u32 = 6;

/// A card on its way: so far, and what must be remembered for what comes.
#[derive(Clone, Debug, Default)]
pub(in crate::card) struct Fold {
    card: Card,
    moments: Vec<Moment>,
    /// Balls in a row with a wicket, for each bowler. A hat-trick may span overs and innings.
    streaks: BTreeMap<String, u32>,
    /// A target that was set between two innings.
    next_target: Option<(Option<Target>, Option<u32>, String)>,
    /// Penalty runs to a side that has not batted.
    owed: Vec<(String, u32)>,
}

impl Default for Card {
    fn default() -> Self {
        Card {
            teams: Vec::new(),
            toss: None,
            format: None,
            balls_per_over: BALLS_PER_OVER,
            overs: None,
            status: Status::NotStarted,
            interrupted: None,
            innings: Vec::new(),
            deliveries: 0,
            result: None,
            announced: None,
            decided: None,
            player_of_match: Vec::new(),
        }
    }
}

impl Fold {
    /// Events in the order of the field.
    pub(in crate::card) fn of<'a>(events: impl Iterator<Item = Seen<'a>>) -> Fold {
        let mut fold = Fold::default();
        events.for_each(|seen| fold.event(seen));
        fold
    }

    /// The next one in the order of the field.
    pub(in crate::card) fn event(&mut self, seen: Seen<'_>) {
        let Body::Cricket(Happening { at, what }) = &seen.event.body else { return };
        let at = *at;
        match what {
            Kind::Toss { teams, winner, decision, balls_per_over, overs, format } => {
                self.card.teams = teams.to_vec();
                self.card.toss = Some(Toss { winner: winner.clone(), decision: decision.clone() });
                self.card.balls_per_over = (*balls_per_over).max(1);
                self.card.overs = *overs;
                self.card.format = Some(format.clone());
            }
            Kind::InningsStarted { batting, bowling, super_over, target } => {
                let innings = self.innings(at.innings);
                (innings.batting, innings.bowling) = (batting.clone(), bowling.clone());
                innings.super_over = *super_over;
                self.set_target(at.innings, target, None, None);
                self.pay_owed(at.innings);
            }
            Kind::Delivery(delivery) => {
                let balls_per_over = self.card.balls_per_over;
                self.card.interrupted = None;
                self.card.deliveries += 1;
                let before = Before::of(self.innings(at.innings), delivery);
                self.innings(at.innings).delivery(at, delivery, balls_per_over);
                let streak = self.streaks.entry(delivery.bowler.clone()).or_default();
                let taken = delivery.wickets.iter().any(|wicket| wicket.how.is_bowlers());
                // A wide or a no-ball that takes no wicket is a ball without one.
                *streak = if taken { *streak + 1 } else { 0 };
                let hat_trick = *streak == 3;
                let innings = self.innings(at.innings);
                let moment = milestones::of(&before, innings, delivery, hat_trick);
                self.note(seen, moment);
            }
            Kind::Review { outcome: ReviewOutcome::Upheld, by, batter, .. } => {
                let about = batter.as_ref().map(|batter| format!(" ({batter})")).unwrap_or_default();
                self.note(seen, Some((MomentKind::Review, format!("Review by {by}: overturned{about}"))));
            }
            Kind::Review { .. } => {}
            Kind::Interruption { reason, stopped } => {
                self.card.interrupted = stopped.then(|| reason.clone());
            }
            Kind::TargetRevised { target, overs, method } => {
                if at.innings == 0 {
                    // Before the match, of both sides' innings.
                    self.card.overs = overs.or(self.card.overs);
                } else if at.over == CLOSE {
                    self.next_target = Some((target.clone(), *overs, method.clone()));
                } else {
                    self.set_target(at.innings, target, *overs, Some(method));
                }
            }
            Kind::Penalty { team, runs } => self.penalty(at, team, *runs),
            Kind::Retired(wicket) => self.retired(seen, at, wicket),
            Kind::InningsEnded { how } => self.innings(at.innings).ended = Some(how.clone()),
            Kind::Result(outcome) => {
                self.card.announced = Some(outcome.clone());
                self.note(seen, Some((MomentKind::Result, outcome.text())));
            }
            Kind::PlayerOfMatch { player } => self.card.player_of_match.push(player.clone()),
        }
    }

    /// The card and the key moments.
    pub(in crate::card) fn finish(mut self) -> (Card, Vec<Moment>) {
        self.card.derive();
        (self.card, self.moments)
    }

    /// The moment that the last event was, if it was one.
    pub(in crate::card) fn last_moment(&self) -> Option<&Moment> {
        self.moments.last()
    }

    fn note(&mut self, seen: Seen<'_>, moment: Option<(MomentKind, String)>) {
        let Some((kind, text)) = moment else { return };
        let (event_id, venue_ms) = (seen.event.event_id, seen.event.venue_ms);
        self.moments.push(Moment { event_id, venue_ms, seek_ms: seen.first_ms, kind, text });
    }

    /// The innings of that number. If its start is not known, who bats is guessed.
    fn innings(&mut self, number: u32) -> &mut Innings {
        let index = match self.card.innings.last() {
            // The field's order: it is the last one, or a new one.
            Some(last) if last.number == number => self.card.innings.len() - 1,
            _ => {
                self.open(number);
                self.card.innings.len() - 1
            }
        };
        &mut self.card.innings[index]
    }

    fn open(&mut self, number: u32) {
        // Whoever bats second has no more overs than the first had, if nobody says otherwise.
        let overs_max = self.card.innings.last().map_or(self.card.overs, |last| last.overs_max);
        let (batting, bowling) = match (self.card.innings.last(), &self.card.toss) {
            (Some(last), _) => (last.bowling.clone(), last.batting.clone()),
            (None, Some(toss)) => {
                let other = self.card.teams.iter().find(|team| **team != toss.winner);
                let other = other.cloned().unwrap_or_default();
                match toss.decision.as_str() {
                    "bat" => (toss.winner.clone(), other),
                    _ => (other, toss.winner.clone()),
                }
            }
            (None, None) => Default::default(),
        };
        self.card.innings.push(Innings { number, batting, bowling, overs_max, ..Innings::default() });
        if let Some((target, overs, method)) = self.next_target.take() {
            self.set_target(number, &target, overs, Some(&method));
        }
    }

    fn set_target(&mut self, number: u32, target: &Option<Target>, overs: Option<u32>, method: Option<&str>) {
        let balls_per_over = self.card.balls_per_over;
        let innings = self.innings(number);
        if let Some(target) = target {
            innings.scratch.target = Some(target.runs);
            if let Some(balls) = target.balls(balls_per_over) {
                innings.scratch.balls_max = Some(balls);
                innings.overs_max = Some(balls.div_ceil(balls_per_over));
            }
        }
        if let Some(overs) = overs {
            innings.scratch.balls_max = Some(overs * balls_per_over);
            innings.overs_max = Some(overs);
        }
        if let Some(method) = method {
            innings.scratch.method = Some(method.to_owned());
        }
    }

    /// Law 41.18: to the batting side now; to the other in its last innings, or in its next if it has had none.
    fn penalty(&mut self, at: Place, team: &str, runs: u32) {
        if at.innings < AFTER {
            self.innings(at.innings);
        }
        match self.card.innings.iter_mut().rev().find(|innings| innings.batting == team) {
            Some(innings) => innings.penalty(runs),
            None => self.owed.push((team.to_owned(), runs)),
        }
    }

    fn pay_owed(&mut self, number: u32) {
        let batting = self.innings(number).batting.clone();
        let (paid, owed) = std::mem::take(&mut self.owed).into_iter().partition(|(team, _)| *team == batting);
        self.owed = owed;
        let paid: Vec<(String, u32)> = paid;
        for (_, runs) in paid {
            self.innings(number).penalty(runs);
        }
    }

    fn retired(&mut self, seen: Seen<'_>, at: Place, wicket: &Wicket) {
        let innings = self.innings(at.innings);
        innings.wicket(wicket, None);
        if wicket.how.is_wicket() {
            let text = milestones::wicket(innings, wicket);
            self.note(seen, Some((MomentKind::Wicket, text)));
        }
    }
}
