//! A T20 of invented teams, out of dice: as a scorer would have told it, with a ball about every 8 s.

use scores::cricket::{
    Delivery, Dismissal, Extras, Happening, Kind, Outcome, Place, ReviewOutcome, Target, Wicket,
};
use scores::recording::{Recording, Timed};
use scores::{Body, Sport};

use super::dice::Dice;

const BALL_MS: i64 = 8_000;
const OVER_MS: i64 = 3_000;
const FIRST_BALL_MS: i64 = 20_000;
const BREAK_MS: i64 = 40_000;
const RAIN_MS: i64 = 60_000;
/// Until the scorer sees it.
const SLIP_MS: i64 = 5_000;
const OVERS: u32 = 20;
/// It rains after this over of the first innings.
const RAIN_OVER: u32 = 11;
/// In this over of the first innings the scorer takes leg byes for runs.
const SLIP_OVER: u32 = 6;
/// In this over of the second innings a batter is hurt.
const HURT_OVER: u32 = 8;

struct Side {
    team: &'static str,
    /// In the order in which they bat; the seventh keeps wicket, the last five bowl.
    players: [&'static str; 11],
}

const SIDES: [Side; 2] = [
    Side {
        team: "Salt Bay Herons",
        players: [
            "L Marlowe",
            "T Okander",
            "R Venn",
            "J Castellan",
            "P Adair",
            "K Bhandry",
            "S Whitlock",
            "D Orsino",
            "M Tallis",
            "H Quill",
            "E Brandvik",
        ],
    },
    Side {
        team: "Iron Bridge Foxes",
        players: [
            "C Hallam",
            "N Sorley",
            "W Pike",
            "B Anandur",
            "G Lachlane",
            "F Dorsey",
            "V Rook",
            "O Sandrin",
            "Y Tanager",
            "I Penrose",
            "Z Maddock",
        ],
    },
];
const KEEPER: usize = 6;

#[derive(Clone, Copy)]
enum Ball {
    Runs(u32),
    Wide(u32),
    /// A no-ball, and runs off it.
    Overstepped(u32),
    Byes(u32),
    LegByes(u32),
    Out(Dismissal),
    /// A shout for leg before: what the umpire says, and what is true.
    Appeal {
        given: bool,
        out: bool,
        reviewed: bool,
    },
}

pub(crate) struct Match {
    dice: Dice,
    now_ms: i64,
    said: Vec<Timed>,
    /// Runs of each player by name, for the player of the match.
    made: Vec<(&'static str, &'static str, u32)>,
}

/// The innings that is on.
struct Innings {
    number: u32,
    batting: &'static Side,
    bowling: &'static Side,
    target: Option<u32>,
    ends: [usize; 2],
    next: usize,
    runs: u32,
    wickets: u32,
}

pub(crate) fn play(seed: u64) -> Recording {
    let mut game = Match { dice: Dice::new(seed), now_ms: 0, said: Vec::new(), made: Vec::new() };
    let teams = [SIDES[0].team.to_owned(), SIDES[1].team.to_owned()];
    game.say(
        Place::BEFORE,
        Kind::Toss {
            teams: teams.clone(),
            winner: teams[1].clone(),
            decision: "field".to_owned(),
            balls_per_over: 6,
            overs: Some(OVERS),
            format: "T20".to_owned(),
        },
    );
    let first = game.innings(1, &SIDES[0], &SIDES[1], None);
    game.now_ms += BREAK_MS - FIRST_BALL_MS;
    let second = game.innings(2, &SIDES[1], &SIDES[0], Some(first.runs + 1));
    game.end(&first, &second);
    let title = format!("{} v {}, the demonstration match", SIDES[0].team, SIDES[1].team);
    Recording { sport: Sport::Cricket, title, teams, statements: game.said }
}

impl Match {
    fn say(&mut self, at: Place, what: Kind) {
        let body = Body::Cricket(Happening { at, what });
        self.said.push(Timed { after_ms: self.now_ms, body });
    }

    fn innings(
        &mut self,
        number: u32,
        batting: &'static Side,
        bowling: &'static Side,
        target: Option<u32>,
    ) -> Innings {
        self.now_ms += FIRST_BALL_MS / 2;
        self.say(
            Place::start(number),
            Kind::InningsStarted {
                batting: batting.team.to_owned(),
                bowling: bowling.team.to_owned(),
                super_over: false,
                target: target.map(|runs| Target { runs, overs: Some(OVERS.to_string()) }),
            },
        );
        self.now_ms += FIRST_BALL_MS / 2;
        let (ends, next, runs, wickets) = ([0, 1], 2, 0, 0);
        let mut innings = Innings { number, batting, bowling, target, ends, next, runs, wickets };
        let mut how = "overs";
        'overs: for over in 0..OVERS {
            // Five bowlers in turn, four overs each.
            let bowler = bowling.players[6 + [1, 2, 3, 4, 0][over as usize % 5]];
            let (mut legal, mut ball) = (0, 0);
            while legal < 6 {
                ball += 1;
                let at = Place::ball(number, over, ball);
                legal += u32::from(self.ball(&mut innings, at, bowler));
                if innings.target.is_some_and(|target| innings.runs >= target) {
                    how = "target";
                    break 'overs;
                }
                // Nobody is left to come in.
                if innings.next > 11 {
                    how = "all_out";
                    break 'overs;
                }
                self.now_ms += BALL_MS;
            }
            innings.ends.swap(0, 1);
            self.between(&mut innings, Place::ball(number, over, ball));
        }
        self.now_ms += 2_000;
        self.say(Place::close(number), Kind::InningsEnded { how: how.to_owned() });
        innings
    }

    /// What happens after an over.
    fn between(&mut self, innings: &mut Innings, at: Place) {
        let stop = |reason: &str, stopped| Kind::Interruption { reason: reason.to_owned(), stopped };
        if innings.number == 1 && at.over == RAIN_OVER {
            self.say(at.slot(200), stop("rain", true));
            self.now_ms += RAIN_MS;
            self.say(at.slot(201), stop("rain", false));
        }
        if innings.number == 2 && at.over == HURT_OVER && innings.next < 9 {
            // The scorer first takes it for a stop of play, and withdraws that.
            self.say(at.slot(200), stop("injury", true));
            self.now_ms += 2_000;
            let withdrawn =
                Body::Withdrawn { event_id: at.slot(200).id(), reason: "scorer_error".to_owned() };
            self.said.push(Timed { after_ms: self.now_ms, body: withdrawn });
            let hurt = innings.batting.players[innings.ends[1]];
            let (how, fielders) = (Dismissal::RetiredHurt, Vec::new());
            self.say(at.slot(500), Kind::Retired(Wicket { how, player_out: hurt.to_owned(), fielders }));
            innings.ends[1] = innings.next;
            innings.next += 1;
        }
        self.now_ms += OVER_MS;
    }

    /// Bowls it; whether it counts as one of the over.
    fn ball(&mut self, innings: &mut Innings, at: Place, bowler: &'static str) -> bool {
        let [striker, other] = innings.ends.map(|end| innings.batting.players[end]);
        let mut delivery = Delivery {
            batter: striker.to_owned(),
            non_striker: other.to_owned(),
            bowler: bowler.to_owned(),
            runs: 0,
            all_run: false,
            extras: Extras::default(),
            wickets: Vec::new(),
        };
        let slip = innings.number == 1 && at.over == SLIP_OVER && at.ball == 3;
        let ball = if slip { Ball::LegByes(1) } else { self.roll() };
        match ball {
            Ball::Runs(runs) => delivery.runs = runs,
            Ball::Wide(runs) => delivery.extras.wides = runs,
            Ball::Overstepped(runs) => (delivery.extras.noballs, delivery.runs) = (1, runs),
            Ball::Byes(runs) => delivery.extras.byes = runs,
            Ball::LegByes(runs) => delivery.extras.legbyes = runs,
            Ball::Out(how) => delivery.wickets.push(self.wicket(how, innings, bowler)),
            Ball::Appeal { given, out, reviewed } => {
                let lbw =
                    Wicket { how: Dismissal::Lbw, player_out: striker.to_owned(), fielders: Vec::new() };
                let truth = if reviewed { out } else { given };
                if given {
                    delivery.wickets.push(lbw.clone());
                }
                if reviewed {
                    let by = if given { innings.batting.team } else { innings.bowling.team };
                    self.review(at, &delivery, by, given != out);
                    delivery.wickets.clear();
                    if truth {
                        delivery.wickets.push(lbw);
                    }
                    if given != out {
                        self.say(at, Kind::Delivery(delivery.clone()));
                    }
                    self.now_ms += BALL_MS / 2;
                }
            }
        }
        if slip {
            let mut slip = delivery.clone();
            (slip.runs, slip.extras.legbyes) = (1, 0);
            self.say(at, Kind::Delivery(slip));
            self.now_ms += SLIP_MS;
        }
        if !matches!(ball, Ball::Appeal { reviewed: true, .. }) {
            self.say(at, Kind::Delivery(delivery.clone()));
        }
        self.count(innings, &delivery);
        delivery.is_legal()
    }

    fn roll(&mut self) -> Ball {
        let fair = |given| Ball::Appeal { given, out: given, reviewed: false };
        let asked = |given, out| Ball::Appeal { given, out, reviewed: true };
        self.dice.one_of(&[
            (290, Ball::Runs(0)),
            (380, Ball::Runs(1)),
            (70, Ball::Runs(2)),
            (6, Ball::Runs(3)),
            (105, Ball::Runs(4)),
            (45, Ball::Runs(6)),
            (28, Ball::Wide(1)),
            (3, Ball::Wide(2)),
            (2, Ball::Wide(5)),
            (5, Ball::Overstepped(1)),
            (2, Ball::Overstepped(4)),
            (5, Ball::Byes(1)),
            (2, Ball::Byes(4)),
            (14, Ball::LegByes(1)),
            (22, Ball::Out(Dismissal::Caught)),
            (8, Ball::Out(Dismissal::Bowled)),
            (3, Ball::Out(Dismissal::CaughtAndBowled)),
            (4, Ball::Out(Dismissal::Stumped)),
            (5, Ball::Out(Dismissal::RunOut)),
            (1, Ball::Out(Dismissal::HitWicket)),
            (6, fair(false)),
            (3, fair(true)),
            (3, asked(true, false)),
            (2, asked(true, true)),
            (2, asked(false, true)),
            (3, asked(false, false)),
        ])
    }

    fn wicket(&mut self, how: Dismissal, innings: &Innings, bowler: &str) -> Wicket {
        let fielders = match how {
            Dismissal::Caught | Dismissal::RunOut => {
                let others: Vec<_> =
                    innings.bowling.players.into_iter().filter(|name| *name != bowler).collect();
                vec![others[self.dice.below(others.len() as u64) as usize].to_owned()]
            }
            Dismissal::Stumped => vec![innings.bowling.players[KEEPER].to_owned()],
            _ => Vec::new(),
        };
        let player_out = innings.batting.players[innings.ends[0]].to_owned();
        Wicket { how, player_out, fielders }
    }

    /// The ball as the umpire saw it, the question, the answer. The correction is the caller's.
    fn review(&mut self, at: Place, first: &Delivery, by: &str, upheld: bool) {
        let review = |outcome, umpires_call| Kind::Review {
            by: by.to_owned(),
            umpire: Some("A Fennimore".to_owned()),
            batter: Some(first.batter.clone()),
            outcome,
            umpires_call,
        };
        self.say(at, Kind::Delivery(first.clone()));
        self.now_ms += 2_000;
        self.say(at.slot(100), review(ReviewOutcome::Pending, false));
        self.now_ms += 4_000;
        let outcome = if upheld { ReviewOutcome::Upheld } else { ReviewOutcome::StruckDown };
        self.say(at.slot(100), review(outcome, !upheld && at.ball.is_multiple_of(2)));
    }

    fn count(&mut self, innings: &mut Innings, delivery: &Delivery) {
        innings.runs += delivery.total();
        let name = innings.batting.players[innings.ends[0]];
        match self.made.iter_mut().find(|(_, known, _)| *known == name) {
            Some((_, _, runs)) => *runs += delivery.runs,
            None => self.made.push((innings.batting.team, name, delivery.runs)),
        }
        let extras = &delivery.extras;
        let run = match delivery.runs {
            4 | 6 => 0,
            runs => runs + extras.byes + extras.legbyes + extras.wides.saturating_sub(1),
        };
        if run % 2 == 1 {
            innings.ends.swap(0, 1);
        }
        if !delivery.wickets.is_empty() {
            innings.wickets += 1;
            innings.ends[0] = innings.next.min(10);
            innings.next += 1;
        }
    }

    fn end(&mut self, first: &Innings, second: &Innings) {
        let (winner, by, margin) = if second.runs > first.runs {
            (second.batting.team, "wickets", 10 - second.wickets)
        } else {
            (first.batting.team, "runs", first.runs - second.runs)
        };
        self.now_ms += 8_000;
        self.say(
            Place::RESULT,
            Kind::Result(Outcome {
                winner: Some(winner.to_owned()),
                by: Some(by.to_owned()),
                margin: Some(margin),
                ..Outcome::default()
            }),
        );
        self.now_ms += 10_000;
        let best = self.made.iter().filter(|(team, ..)| *team == winner).max_by_key(|(.., runs)| *runs);
        let player = best.map_or(String::new(), |(_, name, _)| (*name).to_owned());
        self.say(Place::RESULT.slot(1), Kind::PlayerOfMatch { player });
    }
}
