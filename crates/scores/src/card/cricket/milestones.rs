//! What makes a ball a key moment.

use super::Innings;
use crate::MomentKind;
use crate::card::text::capital;
use crate::cricket::{Delivery, Wicket};

/// A batter's milestones, the highest first.
const OF_A_BATTER: [(u32, MomentKind); 4] = [
    (200, MomentKind::TwoHundred),
    (150, MomentKind::HundredAndFifty),
    (100, MomentKind::Hundred),
    (50, MomentKind::Fifty),
];
const PARTNERSHIP: u32 = 100;
const FIVE_WICKETS: u32 = 5;

/// How things stood before the ball.
pub(super) struct Before {
    batter: u32,
    partnership: u32,
    bowler: u32,
}

impl Before {
    pub(super) fn of(innings: &Innings, delivery: &Delivery) -> Before {
        Before {
            batter: innings.of_batter(&delivery.batter).map_or(0, |batter| batter.runs),
            partnership: partnership(innings, delivery),
            bowler: wickets(innings, &delivery.bowler),
        }
    }
}

fn wickets(innings: &Innings, bowler: &str) -> u32 {
    innings.bowlers.iter().find(|known| known.name == bowler).map_or(0, |bowler| bowler.wickets)
}

/// Of this pair, if it is the one that is in.
fn partnership(innings: &Innings, delivery: &Delivery) -> u32 {
    let is_in = |name: &String, names: &[super::Share; 2]| names.iter().any(|share| share.name == *name);
    match innings.partnerships.last() {
        Some(last)
            if is_in(&delivery.batter, &last.batters) && is_in(&delivery.non_striker, &last.batters) =>
        {
            last.runs
        }
        _ => 0,
    }
}

/// The weightiest thing about a ball, in words that tell the others too.
pub(super) fn of(
    before: &Before,
    innings: &Innings,
    delivery: &Delivery,
    hat_trick: bool,
) -> Option<(MomentKind, String)> {
    let mut found: Vec<(MomentKind, String)> = Vec::new();
    for out in delivery.wickets.iter().filter(|wicket| wicket.how.is_wicket()) {
        let kind = if hat_trick { MomentKind::HatTrick } else { MomentKind::Wicket };
        found.push((kind, wicket(innings, out)));
    }
    if hat_trick {
        found.push((MomentKind::HatTrick, format!("hat-trick for {}", delivery.bowler)));
    }
    let of_bowler = wickets(innings, &delivery.bowler);
    if before.bowler < FIVE_WICKETS && of_bowler >= FIVE_WICKETS {
        found.push((MomentKind::Wicket, format!("five wickets for {}", delivery.bowler)));
    }
    if let Some(batter) = innings.of_batter(&delivery.batter) {
        let passed = OF_A_BATTER.iter().find(|(runs, _)| before.batter < *runs && batter.runs >= *runs);
        if let Some((runs, kind)) = passed {
            found.push((*kind, format!("{runs} for {}, off {} balls", batter.name, batter.balls)));
        }
    }
    let together = partnership(innings, delivery);
    if before.partnership < PARTNERSHIP && together >= PARTNERSHIP {
        let pair = format!("{} and {}", delivery.batter, delivery.non_striker);
        found.push((MomentKind::HundredPartnership, format!("{PARTNERSHIP} together for {pair}")));
    }
    if delivery.is_six() {
        found.push((MomentKind::Six, format!("six by {} off {}", delivery.batter, delivery.bowler)));
    } else if delivery.is_four() {
        found.push((MomentKind::Four, format!("four by {} off {}", delivery.batter, delivery.bowler)));
    }
    // Stable: of the same weight, what was found first stays first.
    found.sort_by_key(|(kind, _)| *kind);
    let kind = found.first()?.0;
    let text = found.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("; ");
    Some((kind, capital(&text)))
}

/// `RV Uthappa lbw b SP Narine 31 (15), 124/2`.
pub(super) fn wicket(innings: &Innings, wicket: &Wicket) -> String {
    let score = format!("{}/{}", innings.runs, innings.wickets);
    match innings.of_batter(&wicket.player_out) {
        Some(batter) => {
            let how = batter.out.as_deref().unwrap_or_default();
            format!("{} {how} {} ({}), {score}", batter.name, batter.runs, batter.balls)
        }
        None => format!("{} {}, {score}", wicket.player_out, wicket.how.words()),
    }
}
