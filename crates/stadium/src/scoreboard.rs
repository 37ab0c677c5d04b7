//! A recorded match, played on the venue's clock: what the bug says at an instant. It depends on the instant alone, and
//! is folded anew only when something becomes due.

use std::sync::Arc;

use scores::card::{Book, Card, cricket, football};
use scores::recording::Recording;

use crate::bug::{Bug, ROWS};

/// Plays one recording. Clones share the match.
#[derive(Clone)]
pub(crate) struct Scoreboard {
    book: Arc<Book>,
    /// When something happens or is corrected: UTC in milliseconds, sorted.
    instants: Arc<[i64]>,
    /// How many of them are past.
    past: usize,
    bug: Bug,
}

impl Scoreboard {
    /// For a match whose first statement is made at `starts_ms` (UTC), or later by what it says; `speed` times as fast as
    /// it was recorded.
    pub(crate) fn new(recording: &Recording, starts_ms: i64, speed: f64) -> Scoreboard {
        let mut book = Book::new(recording.sport);
        // Nothing else is played here, so its name is of no matter.
        let events = recording.events("", starts_ms, speed);
        for event in &events {
            book.take(event);
        }
        let instants = events.iter().map(|event| event.venue_ms).collect();
        let bug = bug(&book, i64::MIN, 0, &recording.teams);
        Scoreboard { book: Arc::new(book), instants, past: 0, bug }
    }

    /// Moves to an instant; whether the bug says something else now.
    pub(crate) fn advance(&mut self, utc_ms: i64) -> bool {
        let past = self.instants.partition_point(|at| *at <= utc_ms);
        if past == self.past {
            return false;
        }
        self.past = past;
        let bug = bug(&self.book, utc_ms, past, &[]);
        let changed = bug != self.bug;
        self.bug = bug;
        changed
    }

    /// What it says at the instant that it was moved to.
    pub(crate) fn bug(&self) -> &Bug {
        &self.bug
    }
}

/// What is known at an instant, when `past` things have been said. `teams`: until the match itself names them.
fn bug(book: &Book, utc_ms: i64, past: usize, teams: &[String]) -> Bug {
    match book.card(Some(utc_ms)) {
        Card::Cricket(card) => of_cricket(&card, teams),
        Card::Football(card) => of_football(&card, past),
    }
}

fn of_cricket(card: &cricket::Card, teams: &[String]) -> Bug {
    let headline = card.headline();
    // `CSK 45/2 (5.3)`: the overs stand at the right.
    let overs = format!("({})", headline.overs);
    let score = headline.text.replace(&overs, "").trim_end().to_owned();
    let mut rows: [[String; 2]; ROWS] = Default::default();
    let Some(innings) = card.innings.last() else {
        let names = if card.teams.is_empty() { teams } else { &card.teams };
        for (row, name) in rows.iter_mut().zip(names) {
            row[0].clone_from(name);
        }
        let title = if score.is_empty() { names.join(" v ") } else { score };
        return Bug { title: [title, String::new()], rows, balls: headline.balls };
    };
    let ends = [(&innings.striker, "*"), (&innings.non_striker, " ")];
    for (row, (name, mark)) in rows.iter_mut().zip(ends) {
        if let Some(batter) = innings.batters.iter().find(|b| Some(&b.name) == name.as_ref()) {
            *row = [format!("{mark}{}", batter.name), format!("{} ({})", batter.runs, batter.balls)];
        }
    }
    if let Some(bowler) = innings.bowlers.iter().find(|b| Some(&b.name) == innings.bowler.as_ref()) {
        rows[2] =
            [format!(" {}", bowler.name), format!("{}/{} ({})", bowler.wickets, bowler.runs, bowler.overs)];
    }
    let right = match (innings.runs_needed, innings.run_rate) {
        (Some(needed), _) if needed > 0 => format!("need {needed}"),
        (_, Some(rate)) => format!("rr {rate:.2}"),
        _ => String::new(),
    };
    rows[3] = match (&card.result, &card.interrupted) {
        (Some(result), _) => [result.clone(), String::new()],
        (_, Some(reason)) => [reason.replace('_', " "), right],
        _ => [innings.over.join(" "), right],
    };
    Bug { title: [score, innings.overs.clone()], rows, balls: headline.balls }
}

/// There are no deliveries: machines read how many things have been said.
fn of_football(card: &football::Card, past: usize) -> Bug {
    let headline = card.headline();
    let mut rows: [[String; 2]; ROWS] = Default::default();
    let goals = card.goals.iter().filter(|goal| goal.retracted.is_none());
    let newest: Vec<_> = goals.rev().take(ROWS - 1).collect();
    for (row, goal) in rows.iter_mut().zip(newest.into_iter().rev()) {
        *row = [goal.player.clone().unwrap_or_else(|| "goal".to_owned()), goal.clock.clone()];
    }
    rows[ROWS - 1][0] = card.result.clone().unwrap_or_default();
    let balls = u32::try_from(past).unwrap_or(u32::MAX);
    Bug { title: [headline.text, headline.clock], rows, balls }
}

#[cfg(test)]
mod tests;
