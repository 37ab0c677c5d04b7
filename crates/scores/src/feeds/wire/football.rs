//! Football in items.

use super::item::Item;
use crate::EventId;
use crate::football::{Happening, Kind, Side, Which};

/// Words by the digit that an id begins with (`football::Happening::id`).
const WORDS: [(&str, u64); 6] = [("xi", 1), ("clock", 2), ("goal", 3), ("card", 4), ("sub", 5), ("kick", 6)];

/// A happening; none if it is not football's.
pub(super) fn read(item: &Item) -> Option<Result<Happening, String>> {
    let kind = kind(item)?;
    Some(kind.and_then(|what| {
        Ok(Happening { which: named(item)?, clock: item.clk.clone().unwrap_or_default(), what })
    }))
}

fn named(item: &Item) -> Result<Which, String> {
    let side = match item.side.as_deref() {
        None => None,
        Some("h") => Some(Side::Home),
        Some("a") => Some(Side::Away),
        Some(other) => return Err(format!("\"side\" is \"h\" or \"a\", not {other:?}")),
    };
    Ok(Which { side, nth: item.k.unwrap_or(1) })
}

fn kind(item: &Item) -> Option<Result<Kind, String>> {
    let player = || item.p.first().cloned();
    let kind = match item.ev.as_str() {
        "xi" => item.teams().map(|[home, away]| Kind::LineUp { home, away }),
        "goal" => Ok(Kind::Goal { player: player(), own: item.own, penalty: item.pen }),
        "nogoal" => Ok(Kind::GoalRetracted { reason: item.why.clone().unwrap_or_default() }),
        "card" => item.need("d", &item.d).map(|colour| Kind::Card { player: player(), colour }),
        "sub" => item.players().map(|[off, on]| Kind::Substitution { off, on }),
        "clock" => item.need("d", &item.d).map(|period| Kind::Clock { period }),
        "kick" => Ok(Kind::ShootoutKick { player: player(), scored: item.r#in }),
        _ => return None,
    };
    Some(kind)
}

/// The id of what is void; none if football has no such kind.
pub(super) fn id(item: &Item, word: &str) -> Option<Result<EventId, String>> {
    let (_, kind) = WORDS.iter().find(|(known, _)| *known == word)?;
    Some(named(item).map(|which| {
        let side = match which.side {
            None => 0,
            Some(Side::Home) => 1,
            Some(Side::Away) => 2,
        };
        EventId((kind * 10 + side) * 1_000 + u64::from(which.nth.min(999)))
    }))
}

/// An item that says what is void.
pub(super) fn which(id: EventId) -> Item {
    let (kind, side, nth) = (id.0 / 10_000, id.0 / 1_000 % 10, id.0 % 1_000);
    let word = WORDS.iter().find(|(_, known)| *known == kind).map_or("goal", |(word, _)| word);
    let side = [None, Some("h"), Some("a")].get(side as usize).copied().flatten();
    Item { of: Some(word.to_owned()), side: side.map(str::to_owned), k: Some(nth as u32), ..Item::default() }
}

/// An item of a happening.
pub(super) fn write(happening: &Happening) -> Item {
    let Happening { which, clock, what } = happening.clone();
    let place = Item {
        side: which.side.map(|side| if side == Side::Home { "h" } else { "a" }.to_owned()),
        k: Some(which.nth),
        clk: Some(clock),
        ..Item::default()
    };
    let players = |player: Option<String>| player.into_iter().collect();
    match what {
        Kind::LineUp { home, away } => Item { ev: "xi".into(), tm: vec![home, away], ..place },
        Kind::Goal { player, own, penalty } => {
            Item { ev: "goal".into(), p: players(player), own, pen: penalty, ..place }
        }
        Kind::GoalRetracted { reason } => Item { ev: "nogoal".into(), why: Some(reason), ..place },
        Kind::Card { player, colour } => {
            Item { ev: "card".into(), p: players(player), d: Some(colour), ..place }
        }
        Kind::Substitution { off, on } => Item { ev: "sub".into(), p: vec![off, on], ..place },
        Kind::Clock { period } => Item { ev: "clock".into(), d: Some(period), ..place },
        Kind::ShootoutKick { player, scored } => {
            Item { ev: "kick".into(), p: players(player), r#in: scored, ..place }
        }
    }
}
