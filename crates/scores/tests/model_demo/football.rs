//! A short football match of invented teams: a minute of the match clock in four seconds.

use scores::football::{Happening, Kind, Side, Which};
use scores::recording::{Recording, Timed};
use scores::{Body, Sport};

pub(crate) fn play() -> Recording {
    let goal = |player: &str, penalty| Kind::Goal { player: Some(player.to_owned()), own: false, penalty };
    let period = |period: &str| Kind::Clock { period: period.to_owned() };
    let card = |player: &str, colour: &str| Kind::Card {
        player: Some(player.to_owned()),
        colour: colour.to_owned(),
    };
    let change = |off: &str, on: &str| Kind::Substitution { off: off.to_owned(), on: on.to_owned() };
    let (home, away) = (Some(Side::Home), Some(Side::Away));
    let teams = ["Lowmoor United".to_owned(), "Kestrel Park".to_owned()];
    let lineup = Kind::LineUp { home: teams[0].clone(), away: teams[1].clone() };
    let said = [
        (0, None, 1, "0:00", lineup),
        (10, None, 1, "0:00", period("first_half")),
        (58, away, 1, "12:04", card("J Corrin", "yellow")),
        (102, home, 1, "23:10", goal("A Delaney", false)),
        (150, home, 2, "35:01", goal("M Osei-Lund", false)),
        // Offside, says the video: the same goal, taken back 8 s later.
        (158, home, 2, "35:01", Kind::GoalRetracted { reason: "var_offside".to_owned() }),
        (196, away, 1, "45:00+1:40", goal("T Rask", true)),
        (202, None, 2, "45:00+3:05", period("half_time")),
        (222, None, 3, "45:00", period("second_half")),
        (280, away, 1, "59:30", change("J Corrin", "L Bastow")),
        (310, home, 1, "67:12", card("P Ellery", "red")),
        (352, away, 2, "78:14", goal("T Rask", false)),
        (398, home, 3, "90:00+2:55", goal("A Delaney", false)),
        (406, None, 4, "90:00+4:10", period("full_time")),
        (410, None, 5, "90:00+4:10", period("final")),
    ];
    let statements = said.map(|(after_s, side, nth, clock, what)| Timed {
        after_ms: after_s * 1_000,
        body: Body::Football(Happening { which: Which { side, nth }, clock: clock.to_owned(), what }),
    });
    let title = format!("{} v {}, a short match", teams[0], teams[1]);
    Recording { sport: Sport::Football, title, teams, statements: statements.to_vec() }
}
