//! What the umpire had decided, before a review overturned it.
//!
//! A file tells only how a ball ended. Whoever replays it should see what people saw: the first decision, the review,
//! and the correction. If the fielding side was right, the first decision was "not out". If the batting side was, it
//! was "out"; how is not recorded, and leg before is by far the likeliest.

use super::{Import, file};
use crate::cricket::{Delivery, Dismissal, Extras, Kind, Place, ReviewOutcome, Wicket};

/// From the ball to the sign of the T: 15 s are allowed.
const ASKED_MS: i64 = 8_000;
/// From the ball to the third umpire's decision.
const DECIDED_MS: i64 = 60_000;

pub(super) struct Sides {
    pub(super) batting: String,
    pub(super) bowling: String,
}

impl Import<'_> {
    pub(super) fn reviewed(
        &mut self,
        at: Place,
        delivery: Delivery,
        review: &file::Review,
        sides: &Sides,
    ) -> Result<(), String> {
        let outcome = match review.decision.as_str() {
            "upheld" => ReviewOutcome::Upheld,
            "struck down" => ReviewOutcome::StruckDown,
            other => return Err(format!("no review is `{}`", other.escape_debug())),
        };
        let first = match outcome {
            ReviewOutcome::Upheld => overturned(&delivery, review, sides),
            _ => None,
        };
        let review = |outcome| Kind::Review {
            by: review.by.clone(),
            umpire: review.umpire.clone(),
            batter: review.batter.clone(),
            outcome,
            umpires_call: review.umpires_call && outcome != ReviewOutcome::Pending,
        };
        let ball_ms = self.clock_ms;
        let correction = first.is_some();
        self.say(at, Kind::Delivery(first.unwrap_or_else(|| delivery.clone())));
        self.clock_ms = ball_ms + ASKED_MS;
        self.say(at.slot(100), review(ReviewOutcome::Pending));
        self.clock_ms = ball_ms + DECIDED_MS;
        if correction {
            self.say(at, Kind::Delivery(delivery));
        }
        self.say(at.slot(100), review(outcome));
        Ok(())
    }
}

/// The ball as it stood until the review, if that can be told.
fn overturned(delivery: &Delivery, review: &file::Review, sides: &Sides) -> Option<Delivery> {
    let about_a_wicket = review.kind.as_deref().is_none_or(|kind| kind == "wicket");
    let batter = review.batter.as_ref().filter(|_| about_a_wicket && delivery.is_legal())?;
    let is_out = delivery.wickets.iter().any(|wicket| wicket.player_out == *batter);
    let mut first = delivery.clone();
    if review.by == sides.bowling && is_out {
        first.wickets.retain(|wicket| wicket.player_out != *batter);
    } else if review.by == sides.batting && delivery.wickets.is_empty() && delivery.batter == *batter {
        // A batter who is given out scores nothing from the ball (Law 20.1: it is dead).
        (first.runs, first.all_run, first.extras) = (0, false, Extras::default());
        let lbw = Wicket { how: Dismissal::Lbw, player_out: batter.clone(), fielders: Vec::new() };
        first.wickets.push(lbw);
    } else {
        return None;
    }
    Some(first)
}
