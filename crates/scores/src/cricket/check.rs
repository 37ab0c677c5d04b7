//! What can be, and where.

use std::ops::RangeInclusive;

use super::outcome::OVERS_MAX;
use super::{AFTER, CLOSE, Happening, Kind, Place};
use crate::Error;
use crate::error::invalid;
use crate::event::text;

/// Penalty runs come in fives; several offences at once have never been more than a few.
const PENALTY_MAX: u32 = 100;
/// Overs of other lengths were tried (4, 5, 8, 10); none longer.
const BALLS_PER_OVER_MAX: u32 = 10;

impl Kind {
    /// The slots of its kind of happening.
    pub fn slots(&self) -> RangeInclusive<u32> {
        match self {
            Kind::Delivery(_) | Kind::InningsEnded { .. } | Kind::Result(_) => 0..=0,
            Kind::Toss { .. } | Kind::InningsStarted { .. } => 1..=1,
            Kind::PlayerOfMatch { .. } => 1..=99,
            Kind::Review { .. } => 100..=199,
            Kind::Interruption { .. } => 200..=299,
            Kind::TargetRevised { .. } => 300..=399,
            Kind::Penalty { .. } => 400..=499,
            Kind::Retired(_) => 500..=599,
        }
    }

    /// Whether such a thing happens there, slots apart.
    fn belongs(&self, at: Place) -> bool {
        let playing = (1..AFTER).contains(&at.innings);
        match self {
            Kind::Toss { .. } => at.innings == 0 && at.over == 0 && at.ball == 0,
            Kind::InningsStarted { .. } => playing && at.over == 0 && at.ball == 0,
            Kind::Delivery(_) => playing && at.over < CLOSE && at.ball > 0,
            Kind::InningsEnded { .. } => playing && at.over == CLOSE && at.ball == 0,
            Kind::Result(_) | Kind::PlayerOfMatch { .. } => {
                at.innings == AFTER && at.over == 0 && at.ball == 0
            }
            Kind::Interruption { .. } | Kind::TargetRevised { .. } => at.innings < AFTER,
            Kind::Review { .. } | Kind::Penalty { .. } | Kind::Retired(_) => playing,
        }
    }
}

impl Happening {
    /// Whether it can be.
    ///
    /// # Errors
    /// A sentence that says what cannot be.
    pub fn check(&self) -> Result<(), Error> {
        let at = self.at;
        if !at.fits() || !self.what.slots().contains(&at.slot) || !self.what.belongs(at) {
            let Place { innings, over, ball, slot } = at;
            return Err(invalid(format!(
                "no such thing happens at innings {innings}, over {over}, ball {ball}, slot {slot}"
            )));
        }
        match &self.what {
            Kind::Toss { teams, winner, decision, balls_per_over, overs, format } => {
                teams.iter().try_for_each(|team| text("team", team))?;
                text("format", format)?;
                if teams[0] == teams[1] || !teams.contains(winner) {
                    return Err(invalid("a toss is won by one of two teams"));
                }
                if !matches!(decision.as_str(), "bat" | "field") {
                    return Err(invalid("who wins the toss decides to `bat` or to `field`"));
                }
                if !(1..=BALLS_PER_OVER_MAX).contains(balls_per_over) {
                    return Err(invalid(format!("an over of {balls_per_over} balls cannot be")));
                }
                check_overs(*overs)
            }
            Kind::InningsStarted { batting, bowling, super_over: _, target } => {
                text("batting side", batting)?;
                text("bowling side", bowling)?;
                if batting == bowling {
                    return Err(invalid("a team cannot bowl to itself"));
                }
                target.as_ref().map_or(Ok(()), |target| target.check())
            }
            Kind::Delivery(delivery) => delivery.check(),
            Kind::Review { by, umpire, batter, .. } => {
                text("side that asked", by)?;
                umpire.iter().try_for_each(|name| text("umpire", name))?;
                batter.iter().try_for_each(|name| text("batter", name))
            }
            Kind::Interruption { reason, .. } => text("reason", reason),
            Kind::TargetRevised { target, overs, method } => {
                text("method", method)?;
                check_overs(*overs)?;
                target.as_ref().map_or(Ok(()), |target| target.check())
            }
            Kind::Penalty { team, runs } => {
                text("team", team)?;
                if *runs > PENALTY_MAX {
                    return Err(invalid(format!("a penalty of {runs} runs cannot be")));
                }
                Ok(())
            }
            Kind::Retired(wicket) => {
                if !wicket.how.is_retirement() {
                    return Err(invalid(format!("nobody is {} between deliveries", wicket.how.words())));
                }
                wicket.check()
            }
            Kind::InningsEnded { how } => text("way it ended", how),
            Kind::Result(outcome) => outcome.check(),
            Kind::PlayerOfMatch { player } => text("player", player),
        }
    }
}

fn check_overs(overs: Option<u32>) -> Result<(), Error> {
    match overs {
        Some(overs) if overs == 0 || overs > OVERS_MAX => {
            Err(invalid(format!("an innings of {overs} overs cannot be")))
        }
        _ => Ok(()),
    }
}
