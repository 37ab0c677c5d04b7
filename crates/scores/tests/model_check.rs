//! The model: ids, the JSON of a frame to the letter, and what cannot be.

use scores::cricket::{
    AFTER, CLOSE, Delivery, Dismissal, Extras, Happening, Kind, Outcome, Place, Target, Wicket,
};
use scores::{Body, Book, Event, EventId, Sport};

fn delivery() -> Delivery {
    Delivery {
        batter: "RD Gaikwad".into(),
        non_striker: "F du Plessis".into(),
        bowler: "Shakib Al Hasan".into(),
        runs: 0,
        all_run: false,
        extras: Extras { legbyes: 2, ..Extras::default() },
        wickets: vec![Wicket {
            how: Dismissal::RunOut,
            player_out: "F du Plessis".into(),
            fielders: vec!["KD Karthik".into()],
        }],
    }
}

#[test]
fn an_id_is_the_place_on_the_field_in_digits() {
    let place = Place::ball(1, 5, 3);
    assert_eq!(place.id(), EventId(1_005_003_000));
    assert_eq!(Place::close(2).slot(400).id(), EventId(2_999_000_400));
    assert_eq!(Place::RESULT.id(), EventId(900_000_000_000));
    let places = [
        Place::BEFORE,
        Place::start(1),
        Place::ball(1, 0, 1),
        Place::ball(1, 0, 1).slot(100),
        Place::ball(1, 0, 2),
        Place::ball(1, 998, 999).slot(999),
        Place::close(1),
        Place::start(2),
        Place::RESULT,
    ];
    for pair in places.windows(2) {
        assert!(pair[0] < pair[1] && pair[0].id() < pair[1].id(), "{pair:?}: ids are in the field's order");
    }
    for place in places {
        assert_eq!(Place::of(place.id()), place);
        assert!(place.id() < EventId::MAX);
    }
}

#[test]
fn a_frame_is_this_to_the_letter() {
    let body = Body::Cricket(Happening { at: Place::ball(1, 5, 3), what: Kind::Delivery(delivery()) });
    let event = Event {
        match_id: "demo".into(),
        event_id: body.event_id(),
        revision: 2,
        provider_id: "alpha".into(),
        provider_seq: 17,
        venue_ms: 1_764_490_000_000,
        ingest_ms: 1_764_490_000_250,
        body,
    };
    let mut book = Book::new(Sport::Cricket);
    book.take(&event);
    let moment = book.moment(&event);
    let framed =
        scores::frame::encode(&event, (0x1f3a, 412), &book.headline(Some(event.event_id)), moment.as_ref());
    let expected = r#"{"type":"score_event","match_id":"demo","event_id":1005003000,"revision":2,"cursor":"1f3a-412","venue_ms":1764490000000,"ingest_ms":1764490000250,"correction":true,"body":{"sport":"cricket","at":{"innings":1,"over":5,"ball":3,"slot":0},"kind":"delivery","batter":"RD Gaikwad","non_striker":"F du Plessis","bowler":"Shakib Al Hasan","runs":0,"extras":{"legbyes":2},"wickets":[{"how":"run_out","player_out":"F du Plessis","fielders":["KD Karthik"]}]},"score":{"sport":"cricket","innings":1,"batting":"","bowling":"","runs":2,"wickets":1,"overs":"5.1","balls":1,"target":null,"text":"2/1 (5.1)"},"moment":{"event_id":1005003000,"venue_ms":1764490000000,"seek_ms":1764490000000,"kind":"wicket","text":"F du Plessis run out (KD Karthik) 0 (0), 2/1"}}"#;
    assert_eq!(std::str::from_utf8(&framed.json), Ok(expected));
    // Provenance stays inside.
    assert!(!framed.proto.windows(5).any(|window| window == b"alpha"));
}

#[test]
fn bodies_keep_their_json() {
    for json in [
        r#"{"sport":"cricket","at":{"innings":1,"over":0,"ball":0,"slot":1},"kind":"innings_started","batting":"A","bowling":"B","super_over":false,"target":{"runs":177,"overs":"20"}}"#,
        r#"{"sport":"cricket","at":{"innings":1,"over":3,"ball":2,"slot":500},"kind":"retired","how":"retired_hurt","player_out":"P"}"#,
        r#"{"sport":"cricket","at":{"innings":900,"over":0,"ball":0,"slot":0},"kind":"result","winner":null,"by":null,"margin":null,"result":"tie","eliminator":"B","method":null}"#,
        r#"{"sport":"football","which":{"side":"home","nth":2},"clock":"78:14","kind":"goal","player":"P","own":false,"penalty":true}"#,
        r#"{"sport":"football","which":{"side":null,"nth":1},"clock":"0:00","kind":"clock","period":"first_half"}"#,
        r#"{"sport":"withdrawn","event_id":1005003000,"reason":"scorer_error"}"#,
    ] {
        let body: Body = serde_json::from_str(json).expect("read");
        body.check().expect("can be");
        assert_eq!(serde_json::to_string(&body).expect("written"), json);
    }
}

fn refused(at: Place, what: Kind, why: &str) {
    let said = Body::Cricket(Happening { at, what }).check().expect_err("refused").to_string();
    assert!(said.contains(why), "{said}");
}

#[test]
fn what_cannot_be_is_refused_in_a_sentence() {
    let ball = Place::ball(1, 5, 3);
    let of = |change: &dyn Fn(&mut Delivery)| {
        let mut delivery = delivery();
        change(&mut delivery);
        Kind::Delivery(delivery)
    };
    refused(ball, of(&|d| d.batter.clear()), "the batter is empty");
    refused(ball, of(&|d| d.batter = d.non_striker.clone()), "at both ends");
    refused(ball, of(&|d| d.runs = 31), "more than 30 runs");
    refused(
        ball,
        of(&|d| d.extras = Extras { wides: 1, noballs: 1, ..Extras::default() }),
        "a wide is neither",
    );
    refused(ball, of(&|d| d.wickets = vec![d.wickets[0].clone(); 3]), "more than two");
    refused(ball, of(&|d| d.wickets = vec![d.wickets[0].clone(); 2]), "the same batter twice");
    refused(ball, of(&|d| d.wickets[0].fielders = vec!["F".into(); 12]), "11 fielders");

    // Each in its place only.
    refused(ball.slot(1), of(&|_| {}), "no such thing happens at innings 1, over 5, ball 3, slot 1");
    refused(Place::ball(1, 5, 0), of(&|_| {}), "no such thing");
    refused(Place::ball(0, 5, 1), of(&|_| {}), "no such thing");
    refused(Place::ball(AFTER, 5, 1), of(&|_| {}), "no such thing");
    refused(Place::ball(1, CLOSE, 1), of(&|_| {}), "no such thing");
    refused(Place::ball(1_000, 5, 1), of(&|_| {}), "no such thing");
    refused(ball, Kind::InningsEnded { how: "overs".into() }, "no such thing");
    refused(Place::start(1), Kind::Result(Outcome::default()), "no such thing");

    refused(Place::RESULT, Kind::Result(Outcome::default()), "won by somebody");
    let target = |runs, overs: &str| Kind::TargetRevised {
        target: Some(Target { runs, overs: Some(overs.into()) }),
        overs: None,
        method: "dls".into(),
    };
    refused(ball.slot(300), target(0, "20"), "a target of 0 runs");
    refused(ball.slot(300), target(100, "20.x"), "`20.x` is no number of overs");
    let bowled = Wicket { how: Dismissal::Bowled, player_out: "A".into(), fielders: vec![] };
    refused(ball.slot(500), Kind::Retired(bowled), "nobody is bowled between deliveries");
    let far = Body::Withdrawn { event_id: EventId(u64::MAX), reason: "x".into() };
    assert!(far.check().is_err());
}
