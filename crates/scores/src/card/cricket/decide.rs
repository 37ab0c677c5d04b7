//! Targets, and what the score alone decides.

use super::{Card, Innings, Status, hundredths, overs_text};
use crate::cricket::{Outcome, Target};

/// A side's wickets in a match of full innings.
const WICKETS: u32 = 10;

impl Card {
    /// What follows from the rest, once all is counted.
    pub(super) fn derive(&mut self) {
        let balls_per_over = self.balls_per_over;
        for index in 0..self.innings.len() {
            let target = self.innings[index].scratch.target.or_else(|| self.implied_target(index));
            let has_followers = index + 1 < self.innings.len();
            let innings = &mut self.innings[index];
            innings.method = innings.scratch.method.clone();
            if innings.super_over {
                innings.overs_max = Some(1);
            }
            if let Some(runs) = target {
                innings.chase(runs, balls_per_over);
            }
            if innings.ended.is_none() {
                innings.ended = innings.end(balls_per_over).or(has_followers.then(|| "closed".to_owned()));
            }
            innings.derive(balls_per_over);
        }
        self.decided = self.decide();
        let outcome = self.announced.as_ref().or(self.decided.as_ref().filter(|decided| is_final(decided)));
        self.result = outcome.map(Outcome::text);
        self.status = match self.innings.last() {
            _ if self.announced.is_some() => Status::Ended,
            None => Status::NotStarted,
            Some(_) if self.interrupted.is_some() => Status::Stopped,
            Some(_) if self.decided.as_ref().is_some_and(is_final) => Status::Ended,
            Some(last) if last.ended.is_some() => Status::InningsBreak,
            Some(_) => Status::InPlay,
        };
    }

    /// Each side bats twice.
    pub(super) fn is_of_two_innings(&self) -> bool {
        let main = self.innings.iter().filter(|innings| !innings.super_over).count();
        main > 2 || (self.toss.is_some() && self.overs.is_none())
    }

    /// The target of an innings that nobody has stated.
    fn implied_target(&self, index: usize) -> Option<u32> {
        let innings = &self.innings[index];
        let before = &self.innings[..index];
        if innings.super_over {
            let supers: Vec<_> = before.iter().filter(|innings| innings.super_over).collect();
            // The second of each pair chases.
            return (supers.len() % 2 == 1).then(|| supers.last().map(|first| first.runs + 1))?;
        }
        match (before, self.is_of_two_innings()) {
            ([first], false) => Some(first.runs + 1),
            ([_, _, _], true) => {
                let (own, other) = totals(before, &innings.batting);
                (other >= own).then(|| other - own + 1)
            }
            _ => None,
        }
    }

    /// The outcome that the score alone decides: none before the last ball that matters, and none where it takes
    /// more than the score (a draw, rain).
    fn decide(&self) -> Option<Outcome> {
        let main: Vec<&Innings> = self.innings.iter().filter(|innings| !innings.super_over).collect();
        let last = *main.last()?;
        let ended = last.ended.as_deref()?;
        if matches!(ended, "abandoned" | "curtailed") || main.iter().any(|innings| innings.batting.is_empty())
        {
            return None;
        }
        let method = last.scratch.method.clone();
        let won = |winner: &str, by: &str, margin: u32| Outcome {
            winner: Some(winner.to_owned()),
            by: Some(by.to_owned()),
            margin: Some(margin),
            method: method.clone(),
            ..Outcome::default()
        };
        let full = |innings: &Innings| {
            matches!(innings.ended.as_deref(), Some("all_out" | "declared" | "forfeited" | "closed"))
        };
        if self.is_of_two_innings() {
            let (own, other) = totals(&main, &last.batting);
            let own_innings = main.iter().filter(|innings| innings.batting == last.batting).count();
            if main.len() == 3 && own_innings == 2 && own < other && full(last) {
                return Some(won(&last.bowling, "innings", other - own));
            }
            if main.len() < 4 {
                return None;
            }
        } else if main.len() < 2 {
            return None;
        }
        let target = last.target.as_ref()?.runs;
        if last.runs >= target {
            return Some(won(&last.batting, "wickets", WICKETS.saturating_sub(last.wickets)));
        }
        // In a match of two innings a side that is not out at the end has saved it.
        if self.is_of_two_innings() && ended != "all_out" {
            return None;
        }
        if last.runs + 1 < target {
            return Some(won(&last.bowling, "runs", target - 1 - last.runs));
        }
        let tie = Outcome { result: Some("tie".to_owned()), method: method.clone(), ..Outcome::default() };
        Some(Outcome { eliminator: self.eliminator(), ..tie })
    }

    /// Who won the first super over that was not tied too.
    fn eliminator(&self) -> Option<String> {
        let supers: Vec<&Innings> = self.innings.iter().filter(|innings| innings.super_over).collect();
        supers.chunks_exact(2).find_map(|pair| {
            let (first, second) = (pair[0], pair[1]);
            second.ended.as_ref()?;
            match first.runs.cmp(&second.runs) {
                std::cmp::Ordering::Less => Some(second.batting.clone()),
                std::cmp::Ordering::Greater => Some(first.batting.clone()),
                std::cmp::Ordering::Equal => None,
            }
        })
    }
}

impl Innings {
    /// How it has ended by itself, if it has.
    fn end(&self, balls_per_over: u32) -> Option<String> {
        let done = self.balls_done(balls_per_over);
        let reached = self.runs_needed == Some(0);
        let how = match () {
            () if reached => "target",
            () if self.wickets >= self.wickets_max() => "all_out",
            () if self.balls_max(balls_per_over).is_some_and(|max| done >= max) => "overs",
            () => return None,
        };
        Some(how.to_owned())
    }

    /// What is missing to a target.
    fn chase(&mut self, runs: u32, balls_per_over: u32) {
        let runs_needed = runs.saturating_sub(self.runs);
        let done = self.balls_done(balls_per_over);
        let bound = self.balls_max(balls_per_over);
        let overs = bound.map(|balls| match balls % balls_per_over {
            0 => (balls / balls_per_over).to_string(),
            _ => overs_text(balls, balls_per_over),
        });
        self.target = Some(Target { runs, overs });
        self.runs_needed = Some(runs_needed);
        self.balls_left = bound.map(|max| max.saturating_sub(done));
        self.required_rate = self
            .balls_left
            .filter(|balls| *balls > 0 && runs_needed > 0)
            .map(|balls| hundredths(f64::from(runs_needed) * f64::from(balls_per_over) / f64::from(balls)));
    }

    fn balls_max(&self, balls_per_over: u32) -> Option<u32> {
        self.scratch.balls_max.or(self.overs_max.map(|overs| overs * balls_per_over))
    }
}

/// What a team has made in these innings, and what the other has.
fn totals<I: std::borrow::Borrow<Innings>>(innings: &[I], team: &str) -> (u32, u32) {
    innings.iter().map(I::borrow).fold((0, 0), |(own, other), innings| match innings.batting == team {
        true => (own + innings.runs, other),
        false => (own, other + innings.runs),
    })
}

/// A tie may go on to a super over.
fn is_final(outcome: &Outcome) -> bool {
    outcome.winner.is_some() || outcome.eliminator.is_some()
}
