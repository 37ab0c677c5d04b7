//! Cricket in items.

use super::item::Item;
use crate::cricket::{
    AFTER, CLOSE, Delivery, Dismissal, Extras, Happening, Kind, Outcome, Place, Target, Wicket,
};

/// A kind's word, and the place that an item of it has where it says nothing: what is none must be said.
struct Usual {
    word: &'static str,
    innings: Option<u32>,
    over: Option<u32>,
    ball: Option<u32>,
    slot: u32,
    /// The last slot of the kind.
    last: u32,
}

#[rustfmt::skip]
const KINDS: [Usual; 12] = [
    Usual { word: "toss", innings: Some(0), over: Some(0), ball: Some(0), slot: 1, last: 1 },
    Usual { word: "innings", innings: None, over: Some(0), ball: Some(0), slot: 1, last: 1 },
    Usual { word: "ball", innings: None, over: None, ball: None, slot: 0, last: 0 },
    Usual { word: "review", innings: None, over: None, ball: None, slot: 100, last: 199 },
    Usual { word: "stop", innings: None, over: None, ball: None, slot: 200, last: 299 },
    Usual { word: "go", innings: None, over: None, ball: None, slot: 200, last: 299 },
    Usual { word: "target", innings: None, over: None, ball: None, slot: 300, last: 399 },
    Usual { word: "penalty", innings: None, over: None, ball: None, slot: 400, last: 499 },
    Usual { word: "retired", innings: None, over: None, ball: None, slot: 500, last: 599 },
    Usual { word: "close", innings: None, over: Some(CLOSE), ball: Some(0), slot: 0, last: 0 },
    Usual { word: "result", innings: Some(AFTER), over: Some(0), ball: Some(0), slot: 0, last: 0 },
    Usual { word: "best", innings: Some(AFTER), over: Some(0), ball: Some(0), slot: 1, last: 99 },
];

fn usual(word: &str) -> Option<&'static Usual> {
    KINDS.iter().find(|usual| usual.word == word)
}

/// The place of a happening of this kind; none if cricket has no such kind.
pub(super) fn place(item: &Item, word: &str) -> Option<Result<Place, String>> {
    let usual = usual(word)?;
    let part = |name, said: Option<u32>, usual: Option<u32>| item.need(name, &said.or(usual));
    let place = || {
        Ok(Place {
            innings: part("inn", item.inn, usual.innings)?,
            over: part("ov", item.ov, usual.over)?,
            ball: part("bl", item.bl, usual.ball)?,
            slot: item.sl.unwrap_or(usual.slot),
        })
    };
    Some(place())
}

/// A happening; none if it is not cricket's.
pub(super) fn read(item: &Item) -> Option<Result<Happening, String>> {
    let at = place(item, &item.ev)?;
    Some(at.and_then(|at| Ok(Happening { at, what: kind(item)? })))
}

fn kind(item: &Item) -> Result<Kind, String> {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    Ok(match item.ev.as_str() {
        "toss" => Kind::Toss {
            teams: item.teams()?,
            winner: item.need("won", &item.won)?,
            decision: item.need("d", &item.d)?,
            balls_per_over: item.bpo.unwrap_or(6),
            overs: item.lim,
            format: text(&item.fmt),
        },
        "innings" => {
            let [batting, bowling] = item.teams()?;
            Kind::InningsStarted { batting, bowling, super_over: item.so, target: target(item) }
        }
        "ball" => {
            let [batter, non_striker, bowler] = item.players()?;
            Kind::Delivery(Delivery {
                batter,
                non_striker,
                bowler,
                runs: item.r.unwrap_or(0),
                all_run: item.ar,
                extras: extras(item.x.as_deref().unwrap_or_default())?,
                wickets: item.w.iter().map(|words| wicket(words)).collect::<Result<_, _>>()?,
            })
        }
        "review" => Kind::Review {
            by: item.need("by", &item.by)?,
            umpire: item.ump.clone(),
            batter: item.p.first().cloned(),
            outcome: word("d", &item.need("d", &item.d)?)?,
            umpires_call: item.uc,
        },
        "stop" => Kind::Interruption { reason: text(&item.why), stopped: true },
        "go" => Kind::Interruption { reason: text(&item.why), stopped: false },
        "target" => Kind::TargetRevised { target: target(item), overs: item.lim, method: text(&item.why) },
        "penalty" => {
            let [team] = item.teams()?;
            Kind::Penalty { team, runs: item.need("r", &item.r)? }
        }
        "retired" => match &item.w[..] {
            [words] => Kind::Retired(wicket(words)?),
            _ => return Err("\"w\" must have one for \"retired\"".into()),
        },
        "close" => Kind::InningsEnded { how: text(&item.why) },
        "result" => Kind::Result(Outcome {
            winner: item.won.clone(),
            by: item.by.clone(),
            margin: item.r,
            result: item.d.clone(),
            eliminator: item.elim.clone(),
            method: item.why.clone(),
        }),
        "best" => {
            let [player] = item.players()?;
            Kind::PlayerOfMatch { player }
        }
        other => return Err(format!("no such thing as {other:?}")),
    })
}

fn target(item: &Item) -> Option<Target> {
    item.tgt.map(|runs| Target { runs, overs: item.tov.clone() })
}

/// `1wd+2b`: how many of which, joined by `+`.
fn extras(text: &str) -> Result<Extras, String> {
    let mut extras = Extras::default();
    for term in text.split('+').filter(|term| !term.is_empty()) {
        let digits = term.bytes().take_while(u8::is_ascii_digit).count();
        let (count, unit) = term.split_at(digits);
        let field = match unit {
            "wd" => &mut extras.wides,
            "nb" => &mut extras.noballs,
            "b" => &mut extras.byes,
            "lb" => &mut extras.legbyes,
            "p" => &mut extras.penalty,
            _ => return Err(format!("no such extra as {term:?}")),
        };
        *field = count.parse().map_err(|_| format!("no such extra as {term:?}"))?;
    }
    Ok(extras)
}

fn wicket(words: &[String]) -> Result<Wicket, String> {
    match words {
        [how, player_out, fielders @ ..] => Ok(Wicket {
            how: word::<Dismissal>("w", how)?,
            player_out: player_out.clone(),
            fielders: fielders.to_vec(),
        }),
        _ => Err("a wicket says how and who".into()),
    }
}

/// A word of one of the model's lists.
fn word<T: serde::de::DeserializeOwned>(name: &str, text: &str) -> Result<T, String> {
    serde_json::from_value(text.into()).map_err(|_| format!("{name:?} has no such word as {text:?}"))
}

fn said<T: serde::Serialize>(word: &T) -> String {
    serde_json::to_value(word).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

/// An item that says where, and what stands there; for a void.
pub(super) fn which(place: Place) -> Item {
    // A stop and a go have the same slots, so "stop" names both.
    let fits = |usual: &&Usual| {
        let is = |usual: Option<u32>, part: u32| usual.is_none_or(|usual| usual == part);
        is(usual.innings, place.innings)
            && is(usual.over, place.over)
            && is(usual.ball, place.ball)
            && (usual.slot..=usual.last).contains(&place.slot)
    };
    // The narrowest first: a ball could stand anywhere.
    let narrow = |usual: &&Usual| [usual.innings, usual.over].iter().flatten().count();
    let word = KINDS.iter().filter(fits).max_by_key(narrow).map_or("ball", |usual| usual.word);
    Item { of: Some(word.to_owned()), ..placed(word, place) }
}

fn placed(word: &str, place: Place) -> Item {
    let Some(usual) = usual(word) else { return Item::default() };
    let unless = |usual: Option<u32>, part: u32| (usual != Some(part)).then_some(part);
    Item {
        inn: unless(usual.innings, place.innings),
        ov: unless(usual.over, place.over),
        bl: unless(usual.ball, place.ball),
        sl: unless(Some(usual.slot), place.slot),
        ..Item::default()
    }
}

/// An item of a happening.
pub(super) fn write(happening: &Happening) -> Item {
    let (word, item) = spoken(&happening.what);
    let at = placed(word, happening.at);
    Item { ev: word.into(), inn: at.inn, ov: at.ov, bl: at.bl, sl: at.sl, ..item }
}

fn spoken(kind: &Kind) -> (&'static str, Item) {
    let none = Item::default();
    let words = |wicket: &Wicket| {
        [said(&wicket.how), wicket.player_out.clone()].into_iter().chain(wicket.fielders.clone()).collect()
    };
    let tgt = |target: &Option<Target>| target.as_ref().map(|target| target.runs);
    let tov = |target: &Option<Target>| target.as_ref().and_then(|target| target.overs.clone());
    match kind.clone() {
        Kind::Toss { teams, winner, decision, balls_per_over, overs, format } => {
            let (won, d, bpo) = (Some(winner), Some(decision), Some(balls_per_over));
            ("toss", Item { tm: teams.into(), won, d, bpo, lim: overs, fmt: Some(format), ..none })
        }
        Kind::InningsStarted { batting, bowling, super_over, target } => {
            let tm = vec![batting, bowling];
            ("innings", Item { tm, so: super_over, tgt: tgt(&target), tov: tov(&target), ..none })
        }
        Kind::Delivery(ball) => {
            let p = vec![ball.batter, ball.non_striker, ball.bowler];
            let w = ball.wickets.iter().map(words).collect();
            ("ball", Item { p, r: Some(ball.runs), ar: ball.all_run, x: spelt(ball.extras), w, ..none })
        }
        Kind::Review { by, umpire, batter, outcome, umpires_call } => {
            let p = batter.into_iter().collect();
            let d = Some(said(&outcome));
            ("review", Item { by: Some(by), ump: umpire, p, d, uc: umpires_call, ..none })
        }
        Kind::Interruption { reason, stopped } => {
            (if stopped { "stop" } else { "go" }, Item { why: Some(reason), ..none })
        }
        Kind::TargetRevised { target, overs, method } => {
            ("target", Item { tgt: tgt(&target), tov: tov(&target), lim: overs, why: Some(method), ..none })
        }
        Kind::Penalty { team, runs } => ("penalty", Item { tm: vec![team], r: Some(runs), ..none }),
        Kind::Retired(wicket) => ("retired", Item { w: vec![words(&wicket)], ..none }),
        Kind::InningsEnded { how } => ("close", Item { why: Some(how), ..none }),
        Kind::Result(Outcome { winner, by, margin, result, eliminator, method }) => {
            let item = Item { won: winner, by, r: margin, d: result, elim: eliminator, why: method, ..none };
            ("result", item)
        }
        Kind::PlayerOfMatch { player } => ("best", Item { p: vec![player], ..none }),
    }
}

fn spelt(extras: Extras) -> Option<String> {
    let terms = [
        (extras.wides, "wd"),
        (extras.noballs, "nb"),
        (extras.byes, "b"),
        (extras.legbyes, "lb"),
        (extras.penalty, "p"),
    ];
    let said: Vec<String> =
        terms.iter().filter(|(n, _)| *n > 0).map(|(n, unit)| format!("{n}{unit}")).collect();
    (!said.is_empty()).then(|| said.join("+"))
}
