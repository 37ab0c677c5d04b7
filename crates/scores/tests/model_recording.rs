//! Recordings: ours and Cricsheet's, and what is refused, each in one sentence.

use scores::cricket::{Delivery, Dismissal, Kind, ReviewOutcome};
use scores::recording::{DEMO, FOOTBALL};
use scores::{Body, Book, Card, Recording, Sport};
use serde_json::{Value, json};

fn demo() -> Value {
    serde_json::from_str(DEMO).expect("JSON")
}

/// The refusal of a recording after a change to it.
fn refusal(change: impl Fn(&mut Value)) -> String {
    let mut file = demo();
    change(&mut file);
    let said = Recording::read(&file.to_string()).expect_err("refused").to_string();
    assert!(!said.contains('\n') && said.len() < 300, "{said}");
    said
}

#[test]
fn what_is_shipped_is_read_and_written_alike() {
    for (json, sport) in [(DEMO, Sport::Cricket), (FOOTBALL, Sport::Football)] {
        let recording = Recording::read(json).expect("ours");
        assert_eq!(recording.sport, sport);
        assert_eq!(recording.write(), json);
    }
}

#[test]
fn rubbish_is_refused_in_a_sentence() {
    assert!(Recording::read("").is_err());
    assert!(Recording::read("[]").is_err());
    let says = |said: String, what: &str| assert!(said.contains(what), "{said}");
    says(
        refusal(|file| file["format"] = json!("pavilion-recording/2")),
        "only `pavilion-recording/1` is known",
    );
    says(refusal(|file| file["statements"] = json!([])), "nothing happens in it");
    says(refusal(|file| file["colour"] = json!("red")), "unknown field `colour`");
    says(refusal(|file| file["title"] = json!(" ")), "the title is empty");
    says(refusal(|file| file["teams"] = json!(["A"])), "invalid length 1");
    says(refusal(|file| file["sport"] = json!("football")), "statement 1: it is of another sport");
    says(
        refusal(|file| file["statements"][5]["after_ms"] = json!(5)),
        "statement 6: after_ms is 5, not from",
    );
    says(refusal(|file| file["statements"][0]["after_ms"] = json!(-1)), "statement 1: after_ms is -1");
    says(
        refusal(|file| file["statements"][3]["body"]["runs"] = json!(1_000)),
        "more than 30 runs of one kind",
    );
    says(refusal(|file| file["statements"][3]["body"]["at"]["slot"] = json!(7)), "no such thing happens at");
    says(
        refusal(|file| file["statements"][3]["body"]["at"]["over"] = json!(4_000)),
        "no such thing happens at",
    );
    says(refusal(|file| file["statements"][3]["body"]["batter"] = json!("a".repeat(200))), "200 bytes");
    says(refusal(|file| file["statements"][3]["body"]["batter"] = json!("a\u{7}")), "control character");
    says(
        refusal(|file| {
            let same = file["statements"][3].clone();
            file["statements"].as_array_mut().expect("a list").insert(4, same);
        }),
        "corrects nothing",
    );
    let withdrawn = json!({"sport": "withdrawn", "event_id": 1_000_000_001_u64, "reason": "x"});
    let never = |file: &mut Value| file["statements"][0]["body"] = withdrawn.clone();
    says(refusal(never), "withdraws what was never said");
}

#[test]
fn time_is_scaled_from_the_start() {
    let recording = Recording::read(DEMO).expect("ours");
    let times = |speed| -> Vec<i64> { recording.at(1_000, speed).map(|(venue_ms, _)| venue_ms).collect() };
    assert_eq!(times(1.0)[2], 21_000);
    assert_eq!(times(4.0)[2], 6_000);
    assert_eq!(times(0.5)[2], 41_000);
    // What is no speed is the recorded one.
    assert_eq!(times(f64::NAN), times(1.0));
    assert_eq!(times(0.0), times(1.0));
    let revisions: Vec<_> = recording.events("m", 0, 1.0).iter().map(|event| event.revision).collect();
    assert!(revisions.contains(&2));
}

/// A small match of Cricsheet's making.
fn cricsheet() -> Value {
    let ball = |batter: &str, runs: u32| {
        json!({"batter": batter, "bowler": "Q", "non_striker": "C",
               "runs": {"batter": runs, "extras": 0, "total": runs}})
    };
    json!({
        "meta": {"data_version": "1.1.0", "created": "2026-01-01", "revision": 1},
        "info": {
            "balls_per_over": 6, "match_type": "T20", "overs": 2, "teams": ["One", "Two"],
            "toss": {"winner": "One", "decision": "bat"},
            "outcome": {"winner": "One", "by": {"runs": 3}}, "player_of_match": ["A"],
        },
        "innings": [
            {"team": "One", "overs": [{"over": 0, "deliveries": [ball("A", 4), ball("A", 1)]}]},
            {"team": "Two", "target": {"runs": 6, "overs": 2},
             "overs": [{"over": 0, "deliveries": [ball("B", 2)]}]},
        ],
    })
}

fn imported(change: impl Fn(&mut Value)) -> Result<Recording, String> {
    let mut file = cricsheet();
    change(&mut file);
    let recording = Recording::from_cricsheet(&file.to_string()).map_err(|error| error.to_string());
    if let Err(said) = &recording {
        assert!(!said.contains('\n') && said.len() < 300, "{said}");
    }
    recording
}

fn kinds(recording: &Recording) -> Vec<Kind> {
    let kind = |body: &Body| match body {
        Body::Cricket(happening) => happening.what.clone(),
        _ => panic!("cricket"),
    };
    recording.statements.iter().map(|timed| kind(&timed.body)).collect()
}

fn card(recording: &Recording) -> scores::card::cricket::Card {
    let mut book = Book::new(Sport::Cricket);
    recording.events("m", 0, 1.0).iter().for_each(|event| {
        book.take(event);
    });
    match book.card(None) {
        Card::Cricket(card) => *card,
        Card::Football(_) => panic!("cricket"),
    }
}

fn ended(recording: &Recording) -> Vec<String> {
    kinds(recording)
        .into_iter()
        .filter_map(|kind| match kind {
            Kind::InningsEnded { how } => Some(how),
            _ => None,
        })
        .collect()
}

#[test]
fn what_is_no_cricsheet_file_is_refused_in_a_sentence() {
    assert!(Recording::from_cricsheet(DEMO).is_err());
    assert!(Recording::from_cricsheet("{").is_err());
    let refused = |change: &dyn Fn(&mut Value), what: &str| {
        let said = imported(change).expect_err("refused");
        assert!(said.contains(what), "{said}");
    };
    let ball = "/innings/0/overs/0/deliveries/0";
    let set = |at: &'static str, value: Value| {
        move |file: &mut Value| match file.pointer_mut(at) {
            Some(found) => *found = value.clone(),
            None => panic!("{at} is not there"),
        }
    };
    let of_ball = |key: &'static str, value: Value| {
        move |file: &mut Value| file.pointer_mut(ball).expect("a ball")[key] = value.clone()
    };
    refused(&set("/meta/data_version", json!("0.92")), "only 1.x is known");
    refused(&set("/innings/0/team", json!("Three")), "innings 1 is of a team that does not play");
    refused(&set("/info/teams", json!(["One", "One"])), "both teams have one name");
    refused(&set("/info/balls_per_over", json!(0)), "an over has from 1 to 10 balls");
    refused(&set("/info/toss/winner", json!("Three")), "a toss is won by one of two teams");
    refused(&set("/innings/0/overs/0/over", json!(999)), "over 999 of innings 1 is out of place");
    let twice = |file: &mut Value| {
        let over = file["innings"][0]["overs"][0].clone();
        file["innings"][0]["overs"].as_array_mut().expect("overs").push(over);
    };
    refused(&twice, "over 0 of innings 1 is out of place");
    refused(&of_ball("runs", json!({"batter": 1, "extras": 1, "total": 2})), "its runs do not add up");
    refused(
        &of_ball("runs", json!({"batter": 4_000_000_000_u32, "extras": 0, "total": 4_000_000_000_u32})),
        "more than 30 runs",
    );
    refused(&of_ball("wickets", json!([{"kind": "bored", "player_out": "A"}])), "nobody is out `bored`");
    refused(&of_ball("review", json!({"by": "One", "decision": "maybe"})), "no review is `maybe`");
    refused(&of_ball("batter", json!("C")), "at both ends");
    let penalty = json!({"pre": 4_000_000_000_u32});
    refused(&|file: &mut Value| file["innings"][0]["penalty_runs"] = penalty.clone(), "more penalty runs");
    let outcome = json!({"winner": null});
    refused(&set("/info/outcome", outcome), "won by somebody, or has a result");
}

#[test]
fn an_import_tells_a_whole_match() {
    let recording = imported(|_| {}).expect("a match");
    assert_eq!(recording.title, "One v Two");
    let card = card(&recording);
    assert_eq!(card.innings.iter().map(|innings| innings.runs).collect::<Vec<_>>(), [5, 2]);
    // Both are short of their two overs: the first was cut, the second ended with the match.
    assert_eq!(ended(&recording), ["curtailed", "abandoned"]);
    assert_eq!(card.result.as_deref(), Some("One won by 3 runs"));
    assert_eq!(card.player_of_match, ["A"]);
    let times: Vec<_> = recording.statements.iter().map(|timed| timed.after_ms).collect();
    assert!(times.is_sorted() && times[0] == 0);
}

#[test]
fn a_rarer_match_is_told_too() {
    let recording = imported(|file| {
        let innings = &mut file["innings"][0];
        innings["declared"] = json!(true);
        innings["penalty_runs"] = json!({"pre": 5, "post": 10});
        file["innings"][1]["absent_hurt"] = json!(["X", "Y", "Z", "S", "T", "U", "V", "W", "R", "O"]);
        file["info"]["outcome"] = json!({"winner": "One", "by": {"innings": 1, "runs": 17}});
        file["innings"][1].as_object_mut().expect("an innings").remove("target");
    })
    .expect("a match");
    assert_eq!(ended(&recording), ["declared", "all_out"]);
    let card = card(&recording);
    assert_eq!((card.innings[0].runs, card.innings[0].extras.penalty), (20, 15));
    assert_eq!(card.result.as_deref(), Some("One won by an innings and 17 runs"));

    let bowl_out = imported(|file| file["info"]["outcome"] = json!({"result": "tie", "bowl_out": "Two"}));
    let said = self::card(&bowl_out.expect("a match")).result;
    assert_eq!(said.as_deref(), Some("Match tied (Two won the bowl-out)"));

    let no_result = imported(|file| file["info"]["outcome"] = json!({"result": "no result"}));
    assert_eq!(self::card(&no_result.expect("a match")).result.as_deref(), Some("No result"));
}

#[test]
fn a_target_that_is_not_the_total_was_revised() {
    let recording = imported(|file| {
        file["innings"][1]["target"] = json!({"runs": 4, "overs": 1.3});
        file["info"]["outcome"] = json!({"winner": "One", "by": {"runs": 1}, "method": "D/L"});
    })
    .expect("a match");
    let card = card(&recording);
    let second = &card.innings[1];
    assert_eq!(
        second.target.as_ref().map(|target| (target.runs, target.overs.as_deref())),
        Some((4, Some("1.3")))
    );
    assert_eq!((second.method.as_deref(), second.balls_left), (Some("d/l"), Some(8)));
    assert_eq!(card.result.as_deref(), Some("One won by 1 run (D/L method)"));
}

#[test]
fn fielders_are_named_as_far_as_they_are_known() {
    let wickets = json!([{"kind": "run out", "player_out": "A",
        "fielders": [{"name": "F"}, {"name": "G", "substitute": true}, {"substitute": true}]}]);
    let recording =
        imported(|file| file["innings"][0]["overs"][0]["deliveries"][1]["wickets"] = wickets.clone());
    let card = card(&recording.expect("a match"));
    assert_eq!(card.innings[0].batters[0].out.as_deref(), Some("run out (F/sub (G)/sub)"));
}

/// What a ball with this review comes to: deliveries and reviews, in order.
fn reviewed(review: Value, out: bool) -> (Vec<Delivery>, Vec<ReviewOutcome>) {
    let recording = imported(|file| {
        let ball = &mut file["innings"][0]["overs"][0]["deliveries"][1];
        ball["review"] = review.clone();
        if out {
            ball["wickets"] = json!([{"kind": "lbw", "player_out": "A"}]);
        }
    });
    let (mut deliveries, mut reviews) = (Vec::new(), Vec::new());
    for kind in kinds(&recording.expect("a match")) {
        match kind {
            Kind::Delivery(delivery) if delivery.batter == "A" => deliveries.push(delivery),
            Kind::Review { outcome, .. } => reviews.push(outcome),
            _ => {}
        }
    }
    deliveries.remove(0);
    (deliveries, reviews)
}

#[test]
fn a_review_is_told_as_people_saw_it() {
    let review =
        |by: &str, decision: &str| json!({"by": by, "batter": "A", "umpire": "U", "decision": decision});
    let outs = |deliveries: &[Delivery]| -> Vec<usize> {
        deliveries.iter().map(|delivery| delivery.wickets.len()).collect()
    };
    let (deliveries, reviews) = reviewed(review("One", "upheld"), false);
    assert_eq!(
        (outs(&deliveries), reviews),
        (vec![1, 0], vec![ReviewOutcome::Pending, ReviewOutcome::Upheld])
    );
    assert_eq!(deliveries[0].runs, 0, "who is given out scores nothing");
    let (deliveries, _) = reviewed(review("Two", "upheld"), true);
    assert_eq!(outs(&deliveries), [0, 1]);
    let (deliveries, reviews) = reviewed(review("One", "struck down"), true);
    assert_eq!(
        (outs(&deliveries), reviews),
        (vec![1], vec![ReviewOutcome::Pending, ReviewOutcome::StruckDown])
    );
    // What a review of a wide overturned cannot be told from the file.
    let mut wide = review("One", "upheld");
    wide["type"] = json!("wide");
    assert_eq!(outs(&reviewed(wide, false).0), [0]);
}

#[test]
fn the_format_is_documented_in_full() {
    let docs = include_str!("../../../docs/recordings.md");
    let snake = |how: &Dismissal| serde_json::to_value(how).expect("a word").as_str().map(str::to_owned);
    let mut words: Vec<String> = Dismissal::ALL.iter().filter_map(snake).collect();
    words.extend(scores::football::PERIODS.map(str::to_owned));
    for json in [DEMO, FOOTBALL] {
        let file: Value = serde_json::from_str(json).expect("JSON");
        for timed in file["statements"].as_array().expect("statements") {
            let body = timed["body"].as_object().expect("a body");
            words.extend(body.keys().cloned());
            words.extend(body.get("kind").and_then(Value::as_str).map(str::to_owned));
        }
    }
    for word in words {
        let said = [format!("`{word}`"), format!("\"{word}\"")];
        assert!(said.iter().any(|said| docs.contains(said)), "docs/recordings.md does not tell of `{word}`");
    }
    let example = docs.split("```json").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    Recording::read(example).expect("the example is a recording");
}
