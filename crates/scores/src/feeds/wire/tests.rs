use serde_json::json;

use super::*;
use crate::Recording;

fn statements(recording: &Recording) -> Vec<Statement> {
    let said = recording.at(1_764_490_000_000, 1.0);
    (1..)
        .zip(said)
        .map(|(seq, (venue_ms, body))| Statement {
            seq,
            match_id: "demo".into(),
            venue_ms,
            revision: None,
            body: body.clone(),
        })
        .collect()
}

fn back(array: &str) -> Vec<Statement> {
    let read = super::read(array.as_bytes()).unwrap();
    let said = read.into_iter().map(|(_, said)| match said.unwrap() {
        Said::Statement(statement) => statement,
        other => panic!("{other:?}"),
    });
    said.collect()
}

#[test]
fn whole_matches_come_back_as_they_were() {
    for json in [crate::recording::DEMO, crate::recording::FOOTBALL] {
        let recording = Recording::read(json).unwrap();
        for few in statements(&recording).chunks(ITEMS_MAX) {
            assert_eq!(back(&write(recording.sport, few)), few);
        }
    }
}

/// One of each kind that a recording may not have.
#[test]
fn every_kind_of_cricket_comes_back() {
    let ball = |slot: u32| json!({"innings": 2, "over": 3, "ball": 4, "slot": slot});
    let kinds = [
        json!({"at": {"innings":0,"over":0,"ball":0,"slot":1}, "kind":"toss","teams":["A","B"],"winner":"A",
            "decision":"bat","balls_per_over":6,"overs":null,"format":"Test"}),
        json!({"at": {"innings":3,"over":0,"ball":0,"slot":1}, "kind":"innings_started","batting":"A","bowling":"B",
            "super_over":true,"target":{"runs":12,"overs":"1"}}),
        json!({"at": ball(0), "kind":"delivery","batter":"a","non_striker":"b","bowler":"c","runs":4,"all_run":true,
            "extras":{"noballs":1,"byes":2,"penalty":5},"wickets":[{"how":"run_out","player_out":"b","fielders":["x","y"]}]}),
        json!({"at": ball(100), "kind":"review","by":"A","umpire":"u","batter":"a","outcome":"struck_down","umpires_call":true}),
        json!({"at": ball(101), "kind":"review","by":"umpire","umpire":null,"batter":null,"outcome":"pending","umpires_call":false}),
        json!({"at": ball(200), "kind":"interruption","reason":"rain","stopped":true}),
        json!({"at": ball(201), "kind":"interruption","reason":"rain","stopped":false}),
        json!({"at": ball(300), "kind":"target_revised","target":{"runs":99,"overs":"14.3"},"overs":15,"method":"dls"}),
        json!({"at": ball(400), "kind":"penalty","team":"A","runs":5}),
        json!({"at": ball(500), "kind":"retired","how":"retired_hurt","player_out":"a"}),
        json!({"at": {"innings":2,"over":999,"ball":0,"slot":0}, "kind":"innings_ended","how":"declared"}),
        json!({"at": {"innings":900,"over":0,"ball":0,"slot":0}, "kind":"result","winner":null,"by":null,"margin":null,
            "result":"tie","eliminator":"B","method":"dls"}),
        json!({"at": {"innings":900,"over":0,"ball":0,"slot":2}, "kind":"player_of_match","player":"a"}),
    ];
    let mut all = Vec::new();
    for (n, kind) in kinds.into_iter().enumerate() {
        let happening =
            serde_json::from_value(kind.clone()).unwrap_or_else(|error| panic!("{kind}: {error}"));
        let body = Body::Cricket(happening);
        body.check().unwrap();
        let withdrawn = Body::Withdrawn { event_id: body.event_id(), reason: "scorer_error".into() };
        for (seq, body) in [(2 * n as u64 + 1, body), (2 * n as u64 + 2, withdrawn)] {
            all.push(Statement { seq, match_id: "demo".into(), venue_ms: 7, revision: None, body });
        }
    }
    assert_eq!(back(&write(Sport::Cricket, &all)), all);
}

#[test]
fn the_example_of_the_page_reads() {
    let array = r#"[{"n":17,"fx":"demo","t":1764490000123,"inn":1,"ov":5,"bl":3,"ev":"ball",
        "p":["A","B","C"],"r":1,"x":"1nb+2b","w":[["run_out","B","X"]]}]"#;
    let Body::Cricket(happening) = &back(array)[0].body else { panic!() };
    let crate::cricket::Kind::Delivery(ball) = &happening.what else { panic!() };
    assert_eq!((ball.runs, ball.extras.noballs, ball.extras.byes), (1, 1, 2));
    assert_eq!(ball.wickets[0].fielders, ["X"]);
    assert_eq!(super::read(br#"[{"gone":[[1,5]]}]"#).unwrap()[0].1, Ok(Said::Gone(vec![(1, 5)])));
}

#[test]
fn one_wrong_item_spoils_no_other() {
    let good = r#"{"n":2,"fx":"demo","t":1,"inn":1,"ov":0,"bl":1,"ev":"ball","p":["A","B","C"]}"#;
    let wrong = [
        (r#"{"n":1,"fx":"demo","t":1,"ev":"ball","ov":0,"bl":1,"p":["A","B","C"]}"#, Some(1), "inn"),
        (r#"{"n":1,"fx":"demo","t":1,"ev":"somersault"}"#, Some(1), "somersault"),
        (r#"{"n":1,"fx":"demo","t":1,"inn":1,"ov":0,"bl":1,"ev":"ball","p":["A","B"]}"#, Some(1), "p"),
        (
            r#"{"n":1,"fx":"demo","t":1,"inn":1,"ov":0,"bl":1,"ev":"ball","p":["A","B","C"],"x":"3xx"}"#,
            Some(1),
            "3xx",
        ),
        (
            r#"{"n":1,"fx":"demo","t":1,"inn":1,"ov":0,"bl":1,"ev":"ball","p":["A","B","C"],"w":[["flown","A"]]}"#,
            Some(1),
            "flown",
        ),
        (r#"{"n":1,"fx":"demo","t":1,"ev":"void","of":"moon"}"#, Some(1), "moon"),
        (r#"{"n":1,"fx":"demo","t":1,"ev":"goal","side":"x"}"#, Some(1), "side"),
        (r#"{"n":0,"fx":"demo","t":1,"ev":"go","inn":1,"ov":0,"bl":0,"why":"x"}"#, None, "from 1"),
        (r#"{"n":1,"fx":"demo","t":1,"ev":"go","colour":"red"}"#, Some(1), "colour"),
        ("7", None, ""),
    ];
    for (item, seq, why) in wrong {
        let read = super::read(format!("[{item},{good}]").as_bytes()).unwrap();
        let unreadable = read[0].1.clone().unwrap_err();
        assert_eq!(unreadable.seq, seq, "{item}");
        assert!(unreadable.why.contains(why), "{item}: {}", unreadable.why);
        assert!(read[1].1.is_ok(), "{item}");
    }
    assert!(super::read(b"[{").is_err());
    assert!(super::read(format!("[{}0]", "0,".repeat(ITEMS_MAX)).as_bytes()).is_err());
}
