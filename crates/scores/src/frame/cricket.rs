//! Cricket in Protobuf, both ways.

use super::{missing, proto};
use crate::Error;
use crate::EventId;
use crate::card::cricket::Headline;
use crate::cricket::{
    Delivery, Dismissal, Extras, Happening, Kind, Outcome, Place, ReviewOutcome, Target, Wicket,
};

pub(super) fn to(happening: &Happening) -> proto::Cricket {
    use proto::CricketKind as To;
    let kind = match &happening.what {
        Kind::Toss { teams, winner, decision, balls_per_over, overs, format } => To::Toss(proto::Toss {
            teams: teams.to_vec(),
            winner: winner.clone(),
            decision: decision.clone(),
            balls_per_over: *balls_per_over,
            overs: *overs,
            format: format.clone(),
        }),
        Kind::InningsStarted { batting, bowling, super_over, target } => {
            To::InningsStarted(proto::InningsStarted {
                batting: batting.clone(),
                bowling: bowling.clone(),
                super_over: *super_over,
                target: target.as_ref().map(to_target),
            })
        }
        Kind::Delivery(delivery) => To::Delivery(to_delivery(delivery)),
        Kind::Review { by, umpire, batter, outcome, umpires_call } => To::Review(proto::Review {
            by: by.clone(),
            umpire: umpire.clone(),
            batter: batter.clone(),
            outcome: to_review_outcome(*outcome).into(),
            umpires_call: *umpires_call,
        }),
        Kind::Interruption { reason, stopped } => {
            To::Interruption(proto::Interruption { reason: reason.clone(), stopped: *stopped })
        }
        Kind::TargetRevised { target, overs, method } => To::TargetRevised(proto::TargetRevised {
            target: target.as_ref().map(to_target),
            overs: *overs,
            method: method.clone(),
        }),
        Kind::Penalty { team, runs } => To::Penalty(proto::Penalty { team: team.clone(), runs: *runs }),
        Kind::Retired(wicket) => To::Retired(to_wicket(wicket)),
        Kind::InningsEnded { how } => To::InningsEnded(proto::InningsEnded { how: how.clone() }),
        Kind::Result(outcome) => To::Result(proto::Outcome {
            winner: outcome.winner.clone(),
            by: outcome.by.clone(),
            margin: outcome.margin,
            result: outcome.result.clone(),
            eliminator: outcome.eliminator.clone(),
            method: outcome.method.clone(),
        }),
        Kind::PlayerOfMatch { player } => To::PlayerOfMatch(proto::PlayerOfMatch { player: player.clone() }),
    };
    proto::Cricket { kind: Some(kind) }
}

pub(super) fn from(id: EventId, said: &proto::Cricket) -> Result<Happening, Error> {
    use proto::CricketKind as From;
    let what = match said.kind.as_ref().ok_or_else(|| missing("what happened"))? {
        From::Toss(toss) => Kind::Toss {
            teams: toss.teams.clone().try_into().map_err(|_| missing("the other team"))?,
            winner: toss.winner.clone(),
            decision: toss.decision.clone(),
            balls_per_over: toss.balls_per_over,
            overs: toss.overs,
            format: toss.format.clone(),
        },
        From::InningsStarted(start) => Kind::InningsStarted {
            batting: start.batting.clone(),
            bowling: start.bowling.clone(),
            super_over: start.super_over,
            target: start.target.as_ref().map(from_target),
        },
        From::Delivery(delivery) => Kind::Delivery(from_delivery(delivery)?),
        From::Review(review) => Kind::Review {
            by: review.by.clone(),
            umpire: review.umpire.clone(),
            batter: review.batter.clone(),
            outcome: from_review_outcome(review.outcome())?,
            umpires_call: review.umpires_call,
        },
        From::Interruption(said) => Kind::Interruption { reason: said.reason.clone(), stopped: said.stopped },
        From::TargetRevised(said) => Kind::TargetRevised {
            target: said.target.as_ref().map(from_target),
            overs: said.overs,
            method: said.method.clone(),
        },
        From::Penalty(said) => Kind::Penalty { team: said.team.clone(), runs: said.runs },
        From::Retired(said) => Kind::Retired(from_wicket(said)?),
        From::InningsEnded(said) => Kind::InningsEnded { how: said.how.clone() },
        From::Result(said) => Kind::Result(Outcome {
            winner: said.winner.clone(),
            by: said.by.clone(),
            margin: said.margin,
            result: said.result.clone(),
            eliminator: said.eliminator.clone(),
            method: said.method.clone(),
        }),
        From::PlayerOfMatch(said) => Kind::PlayerOfMatch { player: said.player.clone() },
    };
    Ok(Happening { at: Place::of(id), what })
}

pub(super) fn to_headline(headline: &Headline) -> proto::CricketHeadline {
    let Headline { innings, batting, bowling, runs, wickets, overs, balls, target, text, result } =
        headline.clone();
    proto::CricketHeadline { innings, batting, bowling, runs, wickets, overs, balls, target, text, result }
}

pub(super) fn from_headline(headline: &proto::CricketHeadline) -> Headline {
    let proto::CricketHeadline {
        innings,
        batting,
        bowling,
        runs,
        wickets,
        overs,
        balls,
        target,
        text,
        result,
    } = headline.clone();
    Headline { innings, batting, bowling, runs, wickets, overs, balls, target, text, result }
}

fn to_target(target: &Target) -> proto::Target {
    proto::Target { runs: target.runs, overs: target.overs.clone() }
}

fn from_target(target: &proto::Target) -> Target {
    Target { runs: target.runs, overs: target.overs.clone() }
}

fn to_delivery(delivery: &Delivery) -> proto::Delivery {
    let Extras { wides, noballs, byes, legbyes, penalty } = delivery.extras;
    let extras = proto::Extras { wides, noballs, byes, legbyes, penalty };
    proto::Delivery {
        batter: delivery.batter.clone(),
        non_striker: delivery.non_striker.clone(),
        bowler: delivery.bowler.clone(),
        runs: delivery.runs,
        all_run: delivery.all_run,
        extras: (!delivery.extras.is_none()).then_some(extras),
        wickets: delivery.wickets.iter().map(to_wicket).collect(),
    }
}

fn from_delivery(delivery: &proto::Delivery) -> Result<Delivery, Error> {
    let proto::Extras { wides, noballs, byes, legbyes, penalty } =
        delivery.extras.clone().unwrap_or_default();
    Ok(Delivery {
        batter: delivery.batter.clone(),
        non_striker: delivery.non_striker.clone(),
        bowler: delivery.bowler.clone(),
        runs: delivery.runs,
        all_run: delivery.all_run,
        extras: Extras { wides, noballs, byes, legbyes, penalty },
        wickets: delivery.wickets.iter().map(from_wicket).collect::<Result<_, _>>()?,
    })
}

fn to_wicket(wicket: &Wicket) -> proto::Wicket {
    proto::Wicket {
        how: to_dismissal(wicket.how).into(),
        player_out: wicket.player_out.clone(),
        fielders: wicket.fielders.clone(),
    }
}

fn from_wicket(wicket: &proto::Wicket) -> Result<Wicket, Error> {
    let how = Dismissal::ALL.into_iter().find(|how| to_dismissal(*how) == wicket.how());
    Ok(Wicket {
        how: how.ok_or_else(|| missing("how somebody is out"))?,
        player_out: wicket.player_out.clone(),
        fielders: wicket.fielders.clone(),
    })
}

fn to_dismissal(how: Dismissal) -> proto::Dismissal {
    match how {
        Dismissal::Bowled => proto::Dismissal::Bowled,
        Dismissal::Caught => proto::Dismissal::Caught,
        Dismissal::CaughtAndBowled => proto::Dismissal::CaughtAndBowled,
        Dismissal::Lbw => proto::Dismissal::Lbw,
        Dismissal::Stumped => proto::Dismissal::Stumped,
        Dismissal::HitWicket => proto::Dismissal::HitWicket,
        Dismissal::RunOut => proto::Dismissal::RunOut,
        Dismissal::HandledTheBall => proto::Dismissal::HandledTheBall,
        Dismissal::ObstructingTheField => proto::Dismissal::ObstructingTheField,
        Dismissal::HitTheBallTwice => proto::Dismissal::HitTheBallTwice,
        Dismissal::TimedOut => proto::Dismissal::TimedOut,
        Dismissal::RetiredOut => proto::Dismissal::RetiredOut,
        Dismissal::RetiredHurt => proto::Dismissal::RetiredHurt,
        Dismissal::RetiredNotOut => proto::Dismissal::RetiredNotOut,
    }
}

fn to_review_outcome(outcome: ReviewOutcome) -> proto::ReviewOutcome {
    match outcome {
        ReviewOutcome::Pending => proto::ReviewOutcome::Pending,
        ReviewOutcome::Upheld => proto::ReviewOutcome::Upheld,
        ReviewOutcome::StruckDown => proto::ReviewOutcome::StruckDown,
    }
}

fn from_review_outcome(outcome: proto::ReviewOutcome) -> Result<ReviewOutcome, Error> {
    match outcome {
        proto::ReviewOutcome::Unspecified => Err(missing("how a review ended")),
        proto::ReviewOutcome::Pending => Ok(ReviewOutcome::Pending),
        proto::ReviewOutcome::Upheld => Ok(ReviewOutcome::Upheld),
        proto::ReviewOutcome::StruckDown => Ok(ReviewOutcome::StruckDown),
    }
}
