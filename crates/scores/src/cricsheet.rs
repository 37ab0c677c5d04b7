//! Cricsheet's JSON, versions 1.x (<https://cricsheet.org/format/json/>): ball by ball, without times.

use crate::cricket::{CLOSE, Happening, Kind, Outcome, Place, Target};
use crate::recording::{BYTES_MAX, Recording, Timed};
use crate::{Body, Error, Sport};

mod ball;
mod file;
mod review;

use ball::{Count, delivery};

/// From ball to ball, in milliseconds: about 30 s, which 20 overs in 85 minutes with their breaks come to.
const BALL_MS: i64 = 30_000;
/// More between two overs.
const OVER_MS: i64 = 45_000;
/// Between the toss and the first innings, and from an innings' start to its first ball.
const START_MS: i64 = 60_000;
/// Between two innings.
const BREAK_MS: i64 = 900_000;
/// Before a super over.
const SUPER_BREAK_MS: i64 = 300_000;

/// Four, and super overs until one decides; no more than two pairs were ever needed.
const INNINGS_MAX: usize = 40;
/// Penalty runs before or after an innings come in fives, and never were many.
const PENALTY_MAX: u32 = 100;

fn refused(why: impl Into<String>) -> Error {
    Error::Recording(why.into())
}

pub(crate) fn import(json: &str) -> Result<Recording, Error> {
    if json.len() > BYTES_MAX {
        return Err(refused(format!("it has {} bytes, more than {BYTES_MAX}", json.len())));
    }
    let file: file::File = serde_json::from_str(json).map_err(|error| refused(error.to_string()))?;
    if !file.meta.data_version.starts_with("1.") {
        let version = file.meta.data_version.escape_debug();
        return Err(refused(format!(
            "it is version `{version}` of Cricsheet's format, and only 1.x is known"
        )));
    }
    if file.innings.len() > INNINGS_MAX {
        return Err(refused(format!("it has more than {INNINGS_MAX} innings")));
    }
    if !(1..=10).contains(&file.info.balls_per_over) {
        return Err(refused("an over has from 1 to 10 balls"));
    }
    let mut import = Import { info: &file.info, clock_ms: 0, statements: Vec::new(), first_total: None };
    import.toss();
    let last = file.innings.len();
    for (number, innings) in (1..).zip(&file.innings) {
        import.innings(number, innings, number as usize == last)?;
    }
    import.result();
    let [one, other] = &file.info.teams;
    let event = file.info.event.as_ref().map(|event| event.title()).unwrap_or_default();
    let title = format!("{one} v {other}{event}");
    Ok(Recording {
        sport: Sport::Cricket,
        title,
        teams: file.info.teams.clone(),
        statements: import.statements,
    })
}

struct Import<'a> {
    info: &'a file::Info,
    clock_ms: i64,
    statements: Vec<Timed>,
    /// Of the first innings, so that a target that differs is seen as a revised one.
    first_total: Option<u32>,
}

impl Import<'_> {
    fn say(&mut self, at: Place, what: Kind) {
        let body = Body::Cricket(Happening { at, what });
        self.statements.push(Timed { after_ms: self.clock_ms, body });
    }

    fn toss(&mut self) {
        let toss = Kind::Toss {
            teams: self.info.teams.clone(),
            winner: self.info.toss.winner.clone(),
            decision: self.info.toss.decision.clone(),
            balls_per_over: self.info.balls_per_over,
            overs: self.info.overs,
            format: self.info.match_type.clone(),
        };
        self.say(Place::BEFORE, toss);
    }

    fn innings(&mut self, number: u32, innings: &file::Innings, is_last: bool) -> Result<(), Error> {
        let Some(bowling) = self.info.teams.iter().find(|team| **team != innings.team) else {
            return Err(refused("both teams have one name"));
        };
        if !self.info.teams.contains(&innings.team) {
            return Err(refused(format!("innings {number} is of a team that does not play")));
        }
        self.clock_ms += match (number, innings.super_over) {
            (1, _) => START_MS,
            (_, true) => SUPER_BREAK_MS,
            (_, false) => BREAK_MS,
        };
        if innings.penalty_runs.pre > PENALTY_MAX || innings.penalty_runs.post > PENALTY_MAX {
            return Err(refused(format!("innings {number} has more penalty runs than can be")));
        }
        let target = innings.target.as_ref().and_then(|target| {
            let overs = target.overs.as_ref().map(ToString::to_string);
            Some(Target { runs: target.runs?, overs })
        });
        self.revised_target(number, &target);
        let (batting, bowling, super_over) = (innings.team.clone(), bowling.clone(), innings.super_over);
        let sides = review::Sides { batting: batting.clone(), bowling: bowling.clone() };
        let start = Kind::InningsStarted { batting, bowling, super_over, target: target.clone() };
        self.say(Place::start(number), start);
        self.penalty(Place::start(number), &innings.team, innings.penalty_runs.pre);
        self.clock_ms += START_MS;

        let mut count = Count { runs: innings.penalty_runs.pre, ..Count::default() };
        let mut before = None;
        for over in &innings.overs {
            if over.over >= CLOSE || before.is_some_and(|before| over.over <= before) {
                return Err(refused(format!("over {} of innings {number} is out of place", over.over)));
            }
            if before.is_some() {
                self.clock_ms += OVER_MS;
            }
            before = Some(over.over);
            count.legal = 0;
            count.over = over.over;
            for (ball, said) in (1..).zip(&over.deliveries) {
                let at = Place::ball(number, over.over, ball);
                let wrong = |why: &str| {
                    refused(format!("ball {ball} of over {} of innings {number}: {why}", over.over))
                };
                let delivery = delivery(said).map_err(|why| wrong(&why))?;
                count.add(&delivery);
                match &said.review {
                    Some(review) => {
                        self.reviewed(at, delivery, review, &sides).map_err(|why| wrong(&why))?;
                    }
                    None => self.say(at, Kind::Delivery(delivery)),
                }
                self.clock_ms += BALL_MS;
            }
        }
        let how = self.how_ended(innings, &count, &target, is_last).to_owned();
        self.say(Place::close(number), Kind::InningsEnded { how });
        self.penalty(Place::close(number), &innings.team, innings.penalty_runs.post);
        if number == 1 {
            self.first_total = Some(count.runs + innings.penalty_runs.post);
        }
        Ok(())
    }

    /// The file has only the last target of a chase, and names the method with the outcome.
    fn revised_target(&mut self, number: u32, target: &Option<Target>) {
        let Some(given) = target.as_ref().filter(|_| number == 2) else { return };
        let plain = self.first_total.map(|runs| runs + 1) == Some(given.runs);
        let method = self.info.outcome.method.as_ref();
        if plain && method.is_none() {
            return;
        }
        let method = method.map_or("revised".to_owned(), |method| method.to_lowercase());
        let revised = Kind::TargetRevised { target: target.clone(), overs: None, method };
        self.say(Place::close(1).slot(300), revised);
    }

    fn penalty(&mut self, at: Place, team: &str, runs: u32) {
        if runs > 0 {
            self.say(at.slot(400), Kind::Penalty { team: team.to_owned(), runs });
        }
    }

    fn how_ended(
        &self,
        innings: &file::Innings,
        count: &Count,
        target: &Option<Target>,
        is_last: bool,
    ) -> &'static str {
        let wickets = if innings.super_over { 2 } else { 10 };
        let gone = count.wickets + u32::try_from(innings.absent_hurt.len()).unwrap_or(wickets);
        let per_over = self.info.balls_per_over;
        let bound = match (innings.super_over, target.as_ref().and_then(|target| target.balls(per_over))) {
            (true, _) => Some(per_over),
            (false, Some(balls)) => Some(balls),
            (false, None) => self.info.overs.map(|overs| overs.saturating_mul(per_over)),
        };
        match () {
            () if innings.declared => "declared",
            () if innings.forfeited => "forfeited",
            () if target.as_ref().is_some_and(|target| count.runs >= target.runs) => "target",
            () if gone >= wickets => "all_out",
            () if bound.is_some_and(|bound| count.balls(per_over) >= bound) => "overs",
            () if innings.super_over => "target",
            () if is_last => "abandoned",
            () => "curtailed",
        }
    }

    fn result(&mut self) {
        let said = &self.info.outcome;
        let mut outcome = Outcome {
            winner: said.winner.clone(),
            result: said.result.as_ref().map(|result| result.replace(' ', "_")),
            eliminator: said.eliminator.clone(),
            method: said.method.as_ref().map(|method| method.to_lowercase()),
            ..Outcome::default()
        };
        if let Some(winner) = &said.bowl_out {
            outcome.eliminator = Some(winner.clone());
            outcome.method = Some(Outcome::BOWL_OUT.to_owned());
        }
        let by = |by: &str, margin: Option<u32>| (Some(by.to_owned()), margin);
        (outcome.by, outcome.margin) = match said.by {
            file::By { innings: Some(_), runs, .. } => by("innings", runs.or(Some(0))),
            file::By { runs: Some(runs), .. } => by("runs", Some(runs)),
            file::By { wickets: Some(wickets), .. } => by("wickets", Some(wickets)),
            file::By { .. } => (None, None),
        };
        self.say(Place::RESULT, Kind::Result(outcome));
        self.clock_ms += START_MS;
        for (slot, player) in (1..).zip(&self.info.player_of_match) {
            self.say(Place::RESULT.slot(slot), Kind::PlayerOfMatch { player: player.clone() });
        }
    }
}
