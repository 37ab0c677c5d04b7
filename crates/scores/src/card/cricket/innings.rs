//! One innings, ball by ball.

use super::words::{ball_text, how_out};
use super::{
    Batter, BatterStatus, Bowler, Extras, Fall, Innings, Over, Partnership, Share, hundredths, overs_text,
};
use crate::cricket::{self, Delivery, Place, Wicket};

/// What the fold must remember from ball to ball.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Scratch {
    /// The over that is being bowled.
    over: u32,
    /// Legal balls of it.
    legal: u32,
    /// Runs against the bowler in it.
    conceded: u32,
    /// Its place among `over_summaries`, and of its first bowler among `bowlers`.
    open: Option<(usize, usize)>,
    /// The target as it was given, not as it is computed.
    pub(super) target: Option<u32>,
    /// Legal balls in which the innings must end.
    pub(super) balls_max: Option<u32>,
    /// How the target was revised.
    pub(super) method: Option<String>,
}

impl Innings {
    /// Wickets that end it.
    pub(super) fn wickets_max(&self) -> u32 {
        if self.super_over { 2 } else { 10 }
    }

    pub(super) fn delivery(&mut self, at: Place, delivery: &Delivery, balls_per_over: u32) {
        self.turn_to(at.over);
        self.deliveries += 1;
        self.runs += delivery.total();
        self.extras.add(&delivery.extras);
        let striker = self.batter(&delivery.batter);
        let non_striker = self.batter(&delivery.non_striker);
        for index in [striker, non_striker] {
            let batter = &mut self.batters[index];
            // Who retired hurt may come back.
            if batter.status == BatterStatus::Retired {
                (batter.status, batter.how, batter.out) = (BatterStatus::Batting, None, None);
            }
        }
        let batter = &mut self.batters[striker];
        batter.runs += delivery.runs;
        batter.balls += u32::from(delivery.is_faced());
        batter.fours += u32::from(delivery.is_four());
        batter.sixes += u32::from(delivery.is_six());
        self.partnership(delivery);
        self.bowled(at.over, delivery);
        self.cross(delivery, balls_per_over);
        for wicket in &delivery.wickets {
            self.wicket(wicket, Some(&delivery.bowler));
        }
    }

    /// Somebody is out or leaves; `bowler` of the ball, if it was at one.
    pub(super) fn wicket(&mut self, wicket: &Wicket, bowler: Option<&str>) {
        // The last ball of an over is its sixth, not the next over's start.
        let overs = format!("{}.{}", self.scratch.over, self.scratch.legal);
        let out = self.batter(&wicket.player_out);
        let batter = &mut self.batters[out];
        batter.how = Some(wicket.how);
        batter.out = Some(how_out(wicket, bowler));
        for end in [&mut self.striker, &mut self.non_striker] {
            if end.as_ref() == Some(&wicket.player_out) {
                *end = None;
            }
        }
        let is_wicket = wicket.how.is_wicket();
        batter.status = if is_wicket { BatterStatus::Out } else { BatterStatus::Retired };
        if !is_wicket {
            return;
        }
        self.wickets += 1;
        let (wickets, runs, player) = (self.wickets, self.runs, wicket.player_out.clone());
        self.fall.push(Fall { wicket: wickets, runs, player, overs });
        // Who is timed out never came in: the partnership that was broken before is not broken again.
        if let Some(last) = self.partnerships.last_mut()
            && last.batters.iter().any(|share| share.name == wicket.player_out)
        {
            last.unbroken = false;
        }
        if bowler.is_some()
            && let Some((over, _)) = self.scratch.open
        {
            self.over_summaries[over].wickets += 1;
        }
        if let Some(bowler) = bowler.filter(|_| wicket.how.is_bowlers()) {
            let bowler = self.bowler(bowler);
            self.bowlers[bowler].wickets += 1;
        }
    }

    /// Runs that belong to no ball.
    pub(super) fn penalty(&mut self, runs: u32) {
        self.runs += runs;
        self.extras.penalty += runs;
        self.extras.total += runs;
    }

    /// Legal balls, a full over counted in full even if the umpire miscounted it.
    pub(super) fn balls_done(&self, balls_per_over: u32) -> u32 {
        self.scratch.over * balls_per_over + self.scratch.legal.min(balls_per_over)
    }

    /// The runs and wickets of a batter so far.
    pub(super) fn of_batter(&self, name: &str) -> Option<&Batter> {
        self.batters.iter().find(|batter| batter.name == name)
    }

    /// What follows from the rest, once all is counted.
    pub(super) fn derive(&mut self, balls_per_over: u32) {
        self.close_over(self.scratch.legal >= balls_per_over);
        self.over = self.over_summaries.last().map(|over| over.balls.clone()).unwrap_or_default();
        self.balls_per_over = balls_per_over;
        if self.ended.is_some() {
            (self.striker, self.non_striker, self.bowler) = (None, None, None);
        }
        self.balls = self.balls_done(balls_per_over);
        self.overs = overs_text(self.balls, balls_per_over);
        self.run_rate = rate(self.runs, self.balls, balls_per_over);
        for batter in &mut self.batters {
            batter.strike_rate = rate(batter.runs, batter.balls, 100);
            if self.ended.is_some() && batter.status == BatterStatus::Batting {
                batter.status = BatterStatus::NotOut;
            }
        }
        for bowler in &mut self.bowlers {
            bowler.overs = overs_text(bowler.balls, balls_per_over);
            bowler.economy = rate(bowler.runs, bowler.balls, balls_per_over);
        }
    }

    /// Who faces next: an odd number of runs that were run, and the end of the over, change the ends.
    fn cross(&mut self, delivery: &Delivery, balls_per_over: u32) {
        let extras = &delivery.extras;
        let off_the_bat = if delivery.is_four() || delivery.is_six() { 0 } else { delivery.runs };
        // The first of a wide and of a no-ball is not run.
        let of_faults = extras.wides.saturating_sub(1) + extras.noballs.saturating_sub(1);
        let run = off_the_bat + extras.byes + extras.legbyes + of_faults;
        let over_ends = delivery.is_legal() && self.scratch.legal == balls_per_over;
        self.striker = Some(delivery.batter.clone());
        self.non_striker = Some(delivery.non_striker.clone());
        if (run % 2 == 1) != over_ends {
            std::mem::swap(&mut self.striker, &mut self.non_striker);
        }
        self.bowler = Some(delivery.bowler.clone());
    }

    fn batter(&mut self, name: &str) -> usize {
        if let Some(index) = self.batters.iter().position(|batter| batter.name == name) {
            return index;
        }
        self.batters.push(Batter {
            name: name.to_owned(),
            runs: 0,
            balls: 0,
            fours: 0,
            sixes: 0,
            strike_rate: None,
            status: BatterStatus::Batting,
            how: None,
            out: None,
        });
        self.batters.len() - 1
    }

    fn bowler(&mut self, name: &str) -> usize {
        if let Some(index) = self.bowlers.iter().position(|bowler| bowler.name == name) {
            return index;
        }
        self.bowlers.push(Bowler {
            name: name.to_owned(),
            overs: String::new(),
            balls: 0,
            maidens: 0,
            runs: 0,
            wickets: 0,
            wides: 0,
            noballs: 0,
            dots: 0,
            economy: None,
        });
        self.bowlers.len() - 1
    }

    fn partnership(&mut self, delivery: &Delivery) {
        let pair = [&delivery.batter, &delivery.non_striker];
        let goes_on = self.partnerships.last().is_some_and(|last| {
            last.unbroken && pair.iter().all(|name| last.batters.iter().any(|share| share.name == **name))
        });
        if !goes_on {
            // A pair that somebody left unhurt or hurt, but not out, does not go on either.
            if let Some(last) = self.partnerships.last_mut() {
                last.unbroken = false;
            }
            let share = |name: &String| Share { name: name.clone(), runs: 0, balls: 0 };
            self.partnerships.push(Partnership {
                wicket: self.wickets + 1,
                batters: pair.map(share),
                runs: 0,
                balls: 0,
                unbroken: true,
            });
        }
        let Some(last) = self.partnerships.last_mut() else { return };
        last.runs += delivery.total();
        last.balls += u32::from(delivery.is_faced());
        if let Some(share) = last.batters.iter_mut().find(|share| share.name == delivery.batter) {
            share.runs += delivery.runs;
            share.balls += u32::from(delivery.is_faced());
        }
    }

    fn bowled(&mut self, over: u32, delivery: &Delivery) {
        let index = self.bowler(&delivery.bowler);
        let (open, _) = *self.scratch.open.get_or_insert_with(|| {
            let (bowlers, balls, score) = (Vec::new(), Vec::new(), String::new());
            let number = over + 1;
            self.over_summaries.push(Over { number, bowlers, runs: 0, wickets: 0, balls, score });
            (self.over_summaries.len() - 1, index)
        });
        let summary = &mut self.over_summaries[open];
        if !summary.bowlers.contains(&delivery.bowler) {
            summary.bowlers.push(delivery.bowler.clone());
        }
        summary.runs += delivery.total();
        summary.balls.push(ball_text(delivery));
        let legal = delivery.is_legal();
        self.scratch.legal += u32::from(legal);
        self.scratch.conceded += delivery.conceded();
        let bowler = &mut self.bowlers[index];
        bowler.balls += u32::from(legal);
        bowler.runs += delivery.conceded();
        bowler.wides += u32::from(delivery.extras.wides > 0);
        bowler.noballs += u32::from(delivery.extras.noballs > 0);
        bowler.dots += u32::from(legal && delivery.conceded() == 0);
    }

    /// Another over begins.
    fn turn_to(&mut self, over: u32) {
        if self.scratch.open.is_some() && over == self.scratch.over {
            return;
        }
        self.close_over(true);
        self.scratch.over = over;
        (self.scratch.legal, self.scratch.conceded) = (0, 0);
    }

    /// What an over was; `full` if the umpire called it, or its balls were bowled.
    fn close_over(&mut self, full: bool) {
        let Some((over, bowler)) = self.scratch.open.take() else { return };
        let summary = &mut self.over_summaries[over];
        summary.score = format!("{}/{}", self.runs, self.wickets);
        if full && self.scratch.conceded == 0 && summary.bowlers.len() == 1 {
            self.bowlers[bowler].maidens += 1;
        }
    }
}

impl Extras {
    fn add(&mut self, extras: &cricket::Extras) {
        self.wides += extras.wides;
        self.noballs += extras.noballs;
        self.byes += extras.byes;
        self.legbyes += extras.legbyes;
        self.penalty += extras.penalty;
        self.total += extras.total();
    }
}

fn rate(runs: u32, balls: u32, per: u32) -> Option<f64> {
    (balls > 0).then(|| hundredths(f64::from(runs) * f64::from(per) / f64::from(balls)))
}
