//! Real matches: the card says what the file says, and what a naive sum over the raw file says.

use std::collections::BTreeMap;
use std::path::PathBuf;

use scores::card::{Book, Card, cricket};
use scores::{Recording, Sport};
use serde_json::Value;

/// Real matches are not ours to ship: they are beside the checkout, or where `PAVILION_SHARED_DATA` says.
fn file(name: &str) -> Option<String> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let data = std::env::var_os("PAVILION_SHARED_DATA").map_or_else(beside, PathBuf::from);
    let path = data.join("cricsheet").join(name);
    let text = std::fs::read_to_string(&path).ok();
    if text.is_none() {
        eprintln!("skipped: there is no {} (set PAVILION_SHARED_DATA)", path.display());
    }
    text
}

fn card(recording: &Recording) -> cricket::Card {
    let mut book = Book::new(Sport::Cricket);
    for event in recording.events("real", 0, 1.0) {
        book.take(&event);
    }
    match book.card(None) {
        Card::Cricket(card) => *card,
        Card::Football(_) => panic!("cricket"),
    }
}

/// runs, balls, fours, sixes of a batter; legal balls, runs, wickets, wides, no-balls of a bowler; extras by kind; as
/// anybody would add them up from the raw file.
#[derive(Default)]
struct Sums {
    runs: u64,
    wickets: u64,
    legal: u64,
    batters: BTreeMap<String, [u64; 4]>,
    bowlers: BTreeMap<String, [u64; 5]>,
    extras: BTreeMap<String, u64>,
    overs: Vec<u64>,
}

fn sums(innings: &Value) -> Sums {
    let mut sums = Sums::default();
    for over in innings["overs"].as_array().expect("overs") {
        let mut of_over = 0;
        for ball in over["deliveries"].as_array().expect("deliveries") {
            let extra = |kind: &str| ball["extras"][kind].as_u64().unwrap_or(0);
            let runs = &ball["runs"];
            let (bat, total) = (runs["batter"].as_u64().expect("n"), runs["total"].as_u64().expect("n"));
            sums.runs += total;
            of_over += total;
            let legal = u64::from(extra("wides") == 0 && extra("noballs") == 0);
            sums.legal += legal;
            let name = |key: &str| ball[key].as_str().expect("a name").to_owned();
            sums.batters.entry(name("non_striker")).or_default();
            let batter = sums.batters.entry(name("batter")).or_default();
            batter[0] += bat;
            batter[1] += u64::from(extra("wides") == 0);
            let boundary = runs.get("non_boundary").is_none();
            batter[2] += u64::from(boundary && bat == 4);
            batter[3] += u64::from(boundary && bat == 6);
            let bowler = sums.bowlers.entry(name("bowler")).or_default();
            bowler[0] += legal;
            bowler[1] += total - extra("byes") - extra("legbyes") - extra("penalty");
            bowler[3] += u64::from(extra("wides") > 0);
            bowler[4] += u64::from(extra("noballs") > 0);
            for wicket in ball["wickets"].as_array().into_iter().flatten() {
                let kind = wicket["kind"].as_str().expect("a kind");
                sums.wickets += u64::from(!matches!(kind, "retired hurt" | "retired not out"));
                bowler[2] += u64::from(matches!(
                    kind,
                    "bowled" | "caught" | "caught and bowled" | "lbw" | "stumped" | "hit wicket"
                ));
            }
            for (kind, runs) in ball["extras"].as_object().into_iter().flatten() {
                *sums.extras.entry(kind.clone()).or_default() += runs.as_u64().expect("n");
            }
        }
        sums.overs.push(of_over);
    }
    sums
}

fn check_innings(card: &cricket::Innings, file: &Value) {
    let sums = sums(file);
    let n = u64::from;
    assert_eq!(card.batting, file["team"].as_str().expect("a team"));
    assert_eq!(n(card.runs), sums.runs, "runs of innings {}", card.number);
    assert_eq!(n(card.wickets), sums.wickets, "wickets of innings {}", card.number);
    assert_eq!(n(card.balls), sums.legal, "balls of innings {}", card.number);
    assert_eq!(card.overs, format!("{}.{}", sums.legal / 6, sums.legal % 6));
    let batters: BTreeMap<String, [u64; 4]> = card
        .batters
        .iter()
        .map(|b| (b.name.clone(), [n(b.runs), n(b.balls), n(b.fours), n(b.sixes)]))
        .collect();
    assert_eq!(batters, sums.batters);
    let bowlers: BTreeMap<String, [u64; 5]> = card
        .bowlers
        .iter()
        .map(|b| (b.name.clone(), [n(b.balls), n(b.runs), n(b.wickets), n(b.wides), n(b.noballs)]))
        .collect();
    assert_eq!(bowlers, sums.bowlers);
    let of = |kind: &str| sums.extras.get(kind).copied().unwrap_or(0);
    let extras = &card.extras;
    for (kind, runs) in [
        ("wides", extras.wides),
        ("noballs", extras.noballs),
        ("byes", extras.byes),
        ("legbyes", extras.legbyes),
        ("penalty", extras.penalty),
    ] {
        assert_eq!(n(runs), of(kind), "{kind}");
    }
    assert_eq!(n(extras.total), sums.extras.values().sum::<u64>());
    assert_eq!(card.over_summaries.iter().map(|over| n(over.runs)).collect::<Vec<_>>(), sums.overs);
    let together: u32 = card.partnerships.iter().map(|partnership| partnership.runs).sum();
    assert_eq!(n(together), sums.runs, "the partnerships make the total");
    assert_eq!(card.fall.len() as u64, sums.wickets);
    if let Some(target) = file.get("target") {
        let ours = card.target.as_ref().expect("a target");
        assert_eq!(n(ours.runs), target["runs"].as_u64().expect("n"));
        assert_eq!(ours.overs.as_deref(), Some(target["overs"].to_string().as_str()));
    }
}

/// The outcome that the score decides is the file's.
fn check_outcome(card: &cricket::Card, file: &Value) {
    let (decided, said) = (card.decided.as_ref().expect("decided"), &file["info"]["outcome"]);
    assert_eq!(decided.winner.as_deref(), said["winner"].as_str());
    assert_eq!(decided.result.as_deref(), said["result"].as_str());
    assert_eq!(decided.eliminator.as_deref(), said["eliminator"].as_str());
    let by = said["by"].as_object().and_then(|by| by.iter().next());
    assert_eq!(decided.by.as_deref(), by.map(|(kind, _)| kind.as_str()));
    assert_eq!(decided.margin.map(u64::from), by.and_then(|(_, margin)| margin.as_u64()));
    assert_eq!(card.announced.as_ref(), Some(decided), "what is announced is what was played");
    let players = said_players(file);
    assert_eq!(card.player_of_match, players);
}

fn said_players(file: &Value) -> Vec<String> {
    let players = file["info"]["player_of_match"].as_array().into_iter().flatten();
    players.map(|player| player.as_str().expect("a name").to_owned()).collect()
}

fn check(name: &str) -> Option<(Recording, cricket::Card)> {
    let text = file(name)?;
    let recording = Recording::from_cricsheet(&text).expect("a match");
    let file: Value = serde_json::from_str(&text).expect("JSON");
    let card = card(&recording);
    let innings = file["innings"].as_array().expect("innings");
    assert_eq!(card.innings.len(), innings.len());
    for (ours, theirs) in card.innings.iter().zip(innings) {
        check_innings(ours, theirs);
    }
    check_outcome(&card, &file);
    // Nothing is lost by writing it in our own format.
    assert_eq!(Recording::read(&recording.write()).expect("ours"), recording);
    Some((recording, card))
}

#[test]
fn the_final_is_what_its_file_says() {
    let Some((_, card)) = check("1254117.json") else { return };
    assert_eq!(card.result.as_deref(), Some("Chennai Super Kings won by 27 runs"));
    assert_eq!(card.headline().text, "KKR 165/9 (20.0)");
    let falls = card.innings[0].fall.iter().map(|fall| (fall.runs, fall.overs.as_str()));
    assert_eq!(falls.collect::<Vec<_>>(), [(61, "8.1"), (124, "13.3"), (192, "19.6")]);
    let du_plessis = &card.innings[0].batters[1];
    assert_eq!(du_plessis.out.as_deref(), Some("c VR Iyer b Shivam Mavi"));
    assert_eq!((du_plessis.runs, du_plessis.balls, du_plessis.strike_rate), (86, 59, Some(145.76)));
    let second = &card.innings[1];
    assert_eq!(second.runs_needed, Some(28));
    assert_eq!(second.balls_left, Some(0));
    assert_eq!(second.ended.as_deref(), Some("overs"));
    assert_eq!(second.run_rate, Some(8.25));
}

#[test]
fn a_tie_goes_through_two_super_overs() {
    let Some((_, card)) = check("1216517.json") else { return };
    assert_eq!(card.innings.iter().filter(|innings| innings.super_over).count(), 4);
    assert_eq!(card.result.as_deref(), Some("Match tied (Kings XI Punjab won the super over)"));
    // The second of each pair chases what the first made, though the file does not say so.
    let targets = card.innings.iter().map(|innings| innings.target.as_ref().map(|target| target.runs));
    assert_eq!(targets.collect::<Vec<_>>(), [None, Some(177), None, Some(6), None, Some(12)]);
    assert!(card.headline().text.ends_with(" SO"), "{}", card.headline().text);
}

#[test]
fn what_reviews_overturned_comes_as_corrections() {
    let Some((recording, card)) = check("1254115.json") else { return };
    assert_eq!(card.result.as_deref(), Some("Kolkata Knight Riders won by 4 wickets"));
    let events = recording.events("real", 0, 1.0);
    let corrected: Vec<_> = events
        .iter()
        .filter(|event| event.revision == 2 && event.event_id.0 % 1_000 == 0)
        .map(|event| event.event_id.0)
        .collect();
    // Twice a batter who was given out stays, once one who was not goes.
    let places = [(1, 15), (1, 19), (2, 6)].map(|(innings, over)| (innings * 1_000 + over) * 1_000_000);
    assert_eq!(corrected.len(), 3);
    for (event, over) in corrected.iter().zip(places) {
        assert!((over..over + 1_000_000).contains(event), "{event} is in over {over}");
    }
    // Who looks at the moment between the decision and the review sees the first decision.
    let mut book = Book::new(Sport::Cricket);
    events.iter().for_each(|event| assert!(book.take(event) != scores::Taken::Known));
    let wickets = |at_ms| match book.card(Some(at_ms)) {
        Card::Cricket(card) => card.innings.last().map_or(0, |innings| innings.wickets),
        Card::Football(_) => 0,
    };
    let out = events.iter().find(|event| event.event_id.0 == corrected[0] && event.revision == 1);
    let stays = events.iter().find(|event| event.event_id.0 == corrected[0] && event.revision == 2);
    let (out, stays) = (out.expect("given out").venue_ms, stays.expect("stays").venue_ms);
    assert_eq!(wickets(out - 1) + 1, wickets(out));
    assert_eq!(wickets(stays - 1), wickets(out));
    assert_eq!(wickets(stays), wickets(out - 1));
}
