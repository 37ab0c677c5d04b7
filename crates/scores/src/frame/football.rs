//! Football in Protobuf, both ways.

use super::{missing, proto};
use crate::Error;
use crate::card::football::{Headline, Team};
use crate::football::{Happening, Kind, Side, Which};

pub(super) fn place(happening: &Happening) -> proto::FootballPlace {
    let side = match happening.which.side {
        None => proto::Side::Unspecified,
        Some(Side::Home) => proto::Side::Home,
        Some(Side::Away) => proto::Side::Away,
    };
    proto::FootballPlace { side: side.into(), nth: happening.which.nth, clock: happening.clock.clone() }
}

pub(super) fn to(happening: &Happening) -> proto::ScoreEventBody {
    use proto::ScoreEventBody as To;
    let lineup = |change| To::Lineup(proto::LineupChange { change: Some(change) });
    match &happening.what {
        Kind::LineUp { home, away } => {
            lineup(proto::LineupChangeChange::Teams(proto::Teams { home: home.clone(), away: away.clone() }))
        }
        Kind::Substitution { off, on } => {
            lineup(proto::LineupChangeChange::Substitution(proto::Substitution {
                off: off.clone(),
                on: on.clone(),
            }))
        }
        Kind::Goal { player, own, penalty } => {
            To::Score(proto::ScoreUpdate { player: player.clone(), own: *own, penalty: *penalty })
        }
        Kind::GoalRetracted { reason } => To::Retracted(proto::GoalRetracted { reason: reason.clone() }),
        Kind::Card { player, colour } => {
            To::Card(proto::Card { player: player.clone(), colour: colour.clone() })
        }
        Kind::Clock { period } => To::Clock(proto::ClockTick { period: period.clone() }),
        Kind::ShootoutKick { player, scored } => {
            To::ShootoutKick(proto::ShootoutKick { player: player.clone(), scored: *scored })
        }
    }
}

/// None: it is not of football.
pub(super) fn from(
    body: &proto::ScoreEventBody,
    place: Option<&proto::FootballPlace>,
) -> Result<Option<Happening>, Error> {
    use proto::ScoreEventBody as From;
    let what = match body {
        From::Lineup(said) => match said.change.as_ref().ok_or_else(|| missing("a line-up"))? {
            proto::LineupChangeChange::Teams(said) => {
                Kind::LineUp { home: said.home.clone(), away: said.away.clone() }
            }
            proto::LineupChangeChange::Substitution(said) => {
                Kind::Substitution { off: said.off.clone(), on: said.on.clone() }
            }
        },
        From::Score(said) => Kind::Goal { player: said.player.clone(), own: said.own, penalty: said.penalty },
        From::Retracted(said) => Kind::GoalRetracted { reason: said.reason.clone() },
        From::Card(said) => Kind::Card { player: said.player.clone(), colour: said.colour.clone() },
        From::Clock(said) => Kind::Clock { period: said.period.clone() },
        From::ShootoutKick(said) => Kind::ShootoutKick { player: said.player.clone(), scored: said.scored },
        From::Cricket(_) | From::Withdrawn(_) => return Ok(None),
    };
    let place = place.ok_or_else(|| missing("which of its kind it is"))?;
    let side = match place.side() {
        proto::Side::Unspecified => None,
        proto::Side::Home => Some(Side::Home),
        proto::Side::Away => Some(Side::Away),
    };
    Ok(Some(Happening { which: Which { side, nth: place.nth }, clock: place.clock.clone(), what }))
}

pub(super) fn to_headline(headline: &Headline) -> proto::FootballHeadline {
    let team = |team: &Team| {
        let Team { name, goals, shootout } = team.clone();
        Some(proto::FootballTeam { name, goals, shootout })
    };
    proto::FootballHeadline {
        home: team(&headline.home),
        away: team(&headline.away),
        clock: headline.clock.clone(),
        text: headline.text.clone(),
        result: headline.result.clone(),
    }
}

pub(super) fn from_headline(headline: &proto::FootballHeadline) -> Headline {
    let team = |team: &Option<proto::FootballTeam>| {
        let proto::FootballTeam { name, goals, shootout } = team.clone().unwrap_or_default();
        Team { name, goals, shootout }
    };
    Headline {
        home: team(&headline.home),
        away: team(&headline.away),
        clock: headline.clock.clone(),
        text: headline.text.clone(),
        result: headline.result.clone(),
    }
}
