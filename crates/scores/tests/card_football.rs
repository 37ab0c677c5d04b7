//! Football: the order of the match, what counts, and what is said of it.

use scores::card::{Book, Card, football};
use scores::football::{Clock, Happening, Kind, Side, Which};
use scores::{Body, Event, EventId, MomentKind, Sport};

const HOME: Option<Side> = Some(Side::Home);
const AWAY: Option<Side> = Some(Side::Away);

fn happening(side: Option<Side>, nth: u32, clock: &str, what: Kind) -> Happening {
    Happening { which: Which { side, nth }, clock: clock.to_owned(), what }
}

fn goal(own: bool) -> Kind {
    Kind::Goal { player: Some("P".into()), own, penalty: false }
}

fn period(period: &str) -> Kind {
    Kind::Clock { period: period.into() }
}

fn event(ms: i64, revision: u32, happening: Happening) -> Event {
    let body = Body::Football(happening);
    body.check().expect("can be");
    Event {
        match_id: "m".into(),
        event_id: body.event_id(),
        revision,
        provider_id: "p".into(),
        provider_seq: ms as u64,
        venue_ms: ms,
        ingest_ms: ms,
        body,
    }
}

/// All of revision 1, told in this order.
fn book(said: Vec<Happening>) -> Book {
    let lineup = Kind::LineUp { home: "Lowmoor".into(), away: "Kestrel".into() };
    let mut book = Book::new(Sport::Football);
    book.take(&event(0, 1, happening(None, 1, "0:00", lineup)));
    for (ms, said) in (1..).zip(said) {
        book.take(&event(ms, 1, said));
    }
    book
}

fn card(book: &Book) -> football::Card {
    match book.card(None) {
        Card::Football(card) => *card,
        Card::Cricket(_) => panic!("football"),
    }
}

#[test]
fn the_clock_is_read_as_it_is_written() {
    let at = |base_s, added_s| Some(Clock { base_s, added_s });
    assert_eq!(Clock::parse("78:14"), at(4_694, 0));
    assert_eq!(Clock::parse("45:00+2:10"), at(2_700, 130));
    assert_eq!(Clock::parse("120:00+10:00"), at(7_200, 600));
    for wrong in ["", "78", "78:1", "78:60", ":10", "-1:00", "45:00+", "45:00+2", "1e1:00", "4000:00", "٣:00"]
    {
        assert_eq!(Clock::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn the_match_is_in_order_however_it_is_told() {
    let book = book(vec![
        happening(AWAY, 2, "90:00+1:00", goal(false)),
        happening(None, 3, "45:00", period("second_half")),
        happening(AWAY, 1, "45:00+2:00", goal(false)),
        happening(None, 2, "45:00+3:00", period("half_time")),
        happening(HOME, 1, "45:30", goal(false)),
        happening(None, 1, "0:00", period("first_half")),
    ]);
    let clocks: Vec<_> = card(&book).goals.iter().map(|goal| goal.clock.clone()).collect();
    assert_eq!(clocks, ["45:00+2:00", "45:30", "90:00+1:00"]);
    assert_eq!(card(&book).period.as_deref(), Some("second_half"));
    // The headline of a goal knows nothing of what comes after it on the field.
    let of = |side, nth| book.headline(Some(happening(Some(side), nth, "0:00", goal(false)).id()));
    assert_eq!(of(Side::Away, 1).text(), "LOW 0 – 1 KES");
    assert_eq!(of(Side::Home, 1).text(), "LOW 1 – 1 KES");
    assert_eq!(book.headline(None).text(), "LOW 1 – 2 KES");
    // Of what nobody knows it is all there is.
    assert_eq!(book.headline(Some(EventId(3))), book.headline(None));
}

#[test]
fn a_goal_and_its_retraction_are_one_event() {
    let mut book =
        book(vec![happening(HOME, 1, "10:00", goal(false)), happening(HOME, 2, "20:00", goal(true))]);
    let taken_back = Kind::GoalRetracted { reason: "var_offside".into() };
    book.take(&event(50, 2, happening(HOME, 1, "10:00", taken_back)));
    assert_eq!(book.headline(None).text(), "LOW 1 – 0 KES");
    let goals = card(&book).goals;
    assert_eq!(goals[0].retracted.as_deref(), Some("var_offside"));
    assert!(goals[1].own);
    let kinds: Vec<_> = book.moments().iter().map(|moment| moment.kind).collect();
    assert_eq!(kinds, [MomentKind::GoalRetracted, MomentKind::Goal]);
    // It may be told from the decision on; its picture is the shot.
    let moments = book.moments();
    assert_eq!((moments[0].venue_ms, moments[0].seek_ms), (50, 1));
    assert_eq!(moments[1].text, "Goal: P (own goal), 1 – 0");
    // Withdrawn altogether, it is gone, and its headline is that of its place.
    let withdrawn = Event {
        revision: 3,
        body: Body::Withdrawn { event_id: EventId(31_001), reason: "scorer_error".into() },
        ..event(60, 3, happening(HOME, 1, "10:00", goal(false)))
    };
    book.take(&withdrawn);
    assert_eq!(card(&book).goals.len(), 1);
    assert_eq!(book.headline(Some(EventId(31_001))).text(), "LOW 0 – 0 KES");
}

#[test]
fn a_shootout_decides_without_counting_as_goals() {
    let kick = |scored| Kind::ShootoutKick { player: None, scored };
    let book = book(vec![
        happening(HOME, 1, "10:00", goal(false)),
        happening(AWAY, 1, "110:00", goal(false)),
        happening(None, 1, "120:00+1:00", period("shootout")),
        happening(HOME, 1, "120:00+1:00", kick(true)),
        happening(AWAY, 1, "120:00+1:00", kick(false)),
        happening(HOME, 2, "120:00+1:00", kick(true)),
        happening(None, 2, "120:00+1:00", period("final")),
    ]);
    let headline = book.headline(None);
    assert_eq!(headline.text(), "LOW 1 – 1 KES (2 – 0)");
    assert_eq!(card(&book).result.as_deref(), Some("Lowmoor won 1 – 1, 2 – 0 on penalties"));
}

#[test]
fn cards_and_changes_are_on_the_card() {
    let red = Kind::Card { player: Some("Q".into()), colour: "second_yellow".into() };
    let change = Kind::Substitution { off: "R".into(), on: "S".into() };
    let book = book(vec![happening(AWAY, 1, "30:00", red), happening(AWAY, 1, "31:00", change)]);
    let card = card(&book);
    assert_eq!((card.cards[0].side, card.cards[0].colour.as_str()), (Side::Away, "second_yellow"));
    assert_eq!((card.substitutions[0].off.as_str(), card.substitutions[0].on.as_str()), ("R", "S"));
    assert_eq!(card.clock, "31:00");
    assert_eq!(book.moments()[0].text, "Second yellow: Q");
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |said: Happening, what: &str| {
        let why = said.check().expect_err("refused").to_string();
        assert!(why.contains(what), "{why}");
    };
    refused(happening(None, 1, "1:00", goal(false)), "a side is named");
    refused(happening(HOME, 1, "1:00", period("first_half")), "a side is named");
    refused(happening(HOME, 0, "1:00", goal(false)), "there is no 0. of a kind");
    refused(happening(HOME, 1_000, "1:00", goal(false)), "there is no 1000. of a kind");
    refused(happening(HOME, 1, "soon", goal(false)), "the clock is not of the form");
    refused(happening(None, 1, "1:00", period("tea")), "a period is one of first_half");
    let green = Kind::Card { player: None, colour: "green".into() };
    refused(happening(HOME, 1, "1:00", green), "a card is");
    let itself = Kind::LineUp { home: "A".into(), away: "A".into() };
    refused(happening(None, 1, "0:00", itself), "a team cannot play itself");
}

/// The shipped match with the card after each happening: what the page's own fold is tested against
/// (`web/tests/football-card.test.ts`). With `PAVILION_WRITE=1` it is written anew.
#[test]
fn the_pages_copy_of_the_shipped_match_is_what_is_folded() {
    let recording = scores::Recording::read(scores::recording::FOOTBALL).expect("it is ours");
    let mut book = Book::new(Sport::Football);
    let told: Vec<_> = recording
        .events("m", 0, 1.0)
        .into_iter()
        .map(|event| {
            book.take(&event);
            serde_json::json!({
                "body": event.body,
                "revision": event.revision,
                "card": book.card(None),
                "score": book.headline(Some(event.event_id)),
            })
        })
        .collect();
    let told = serde_json::Value::from(told);
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/tests/football-cards.json");
    if std::env::var_os("PAVILION_WRITE").is_some() {
        std::fs::write(&file, format!("{told}\n")).expect("written");
    }
    let written = std::fs::read_to_string(&file).expect("it is there");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&written).expect("JSON"), told);
}
