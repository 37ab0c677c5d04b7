//! Cricket's odder rules, each in a match told by hand.

use card_game::Game;
use scores::card::{Card, cricket};
use scores::cricket::{Dismissal, Extras, Kind, Outcome, Place, ReviewOutcome, Target, Wicket};
use scores::{Body, MomentKind};

mod card_game;

#[test]
fn extras_count_for_whom_the_laws_say() {
    let mut game = Game::t20();
    let none = Extras::default();
    game.bowl(1, 0, 1, Game::delivery(0, Extras { wides: 5, ..none }));
    game.bowl(1, 0, 2, Game::delivery(4, Extras { noballs: 1, ..none }));
    game.bowl(1, 0, 3, Game::delivery(0, Extras { noballs: 1, legbyes: 2, ..none }));
    game.bowl(1, 0, 4, Game::delivery(0, Extras { byes: 4, ..none }));
    game.bowl(1, 0, 5, Game::delivery(0, Extras { penalty: 5, ..none }));
    let card = game.card();
    let innings = &card.innings[0];
    assert_eq!((innings.runs, innings.balls, innings.deliveries), (22, 2, 5));
    let extras = &innings.extras;
    let kinds = (extras.wides, extras.noballs, extras.byes, extras.legbyes, extras.penalty, extras.total);
    assert_eq!(kinds, (5, 2, 4, 2, 5, 18));
    let batter = &innings.batters[0];
    assert_eq!((batter.runs, batter.balls, batter.fours), (4, 4, 1), "all but the wide are faced");
    let bowler = &innings.bowlers[0];
    assert_eq!((bowler.runs, bowler.balls, bowler.wides, bowler.noballs), (11, 2, 1, 2));
    assert_eq!(innings.over, ["5wd", "nb+4", "nb+2lb", "4b", "5pen"]);
    assert_eq!(card.headline().text, "A 22/0 (0.2)");
}

#[test]
fn a_maiden_is_a_whole_over_without_a_run_against_the_bowler() {
    let mut game = Game::t20();
    // Leg byes do not spoil it.
    (1..6).for_each(|ball| {
        game.ball(1, 0, ball, 0);
    });
    game.bowl(1, 0, 6, Game::delivery(0, Extras { legbyes: 4, ..Extras::default() }));
    assert_eq!(game.card().innings[0].bowlers[0].maidens, 1);
    // An over that two share is nobody's.
    for ball in 1..=6 {
        let mut delivery = Game::delivery(0, Extras::default());
        delivery.bowler = if ball < 3 { "b8" } else { "b9" }.into();
        game.bowl(1, 1, ball, delivery);
    }
    // One that is not over yet is none.
    game.ball(1, 2, 1, 0);
    let card = game.card();
    let maidens: Vec<_> = card.innings[0].bowlers.iter().map(|bowler| bowler.maidens).collect();
    assert_eq!(maidens, [1, 0]);
    assert_eq!(card.innings[0].over_summaries[1].bowlers, ["b8", "b9"]);
}

#[test]
fn a_four_that_was_run_is_no_boundary() {
    let mut game = Game::t20();
    let mut delivery = Game::delivery(4, Extras::default());
    delivery.all_run = true;
    game.bowl(1, 0, 1, delivery);
    assert_eq!(game.card().innings[0].batters[0].fours, 0);
    assert_eq!(game.book().moments(), []);
}

#[test]
fn who_is_on_strike_follows_from_the_runs() {
    let mut game = Game::t20();
    let strike = |game: &Game| game.card().innings[0].striker.clone().expect("somebody");
    game.ball(1, 0, 1, 1);
    assert_eq!(strike(&game), "a2");
    game.ball(1, 0, 2, 4);
    assert_eq!(strike(&game), "a1");
    game.bowl(1, 0, 3, Game::delivery(0, Extras { wides: 2, ..Extras::default() }));
    assert_eq!(strike(&game), "a2", "one of the wides was run");
    (4..8).for_each(|ball| {
        game.ball(1, 0, ball, 0);
    });
    assert_eq!(strike(&game), "a2", "the over ends");
    game.out(1, 1, 1, Dismissal::Bowled, "a1");
    assert_eq!(game.card().innings[0].striker, None, "nobody has come in yet");
    assert_eq!(game.card().innings[0].non_striker.as_deref(), Some("a2"));
}

#[test]
fn who_retires_hurt_is_not_out_and_may_come_back() {
    let mut game = Game::t20();
    game.ball(1, 0, 1, 3);
    let (how, fielders) = (Dismissal::RetiredHurt, Vec::new());
    game.say(
        Place::ball(1, 0, 1).slot(500),
        Kind::Retired(Wicket { how, player_out: "a1".into(), fielders }),
    );
    let innings = &game.card().innings[0];
    assert_eq!((innings.wickets, innings.fall.len()), (0, 0));
    assert_eq!(innings.batters[0].status, cricket::BatterStatus::Retired);
    assert_eq!(innings.batters[0].out.as_deref(), Some("retired hurt"));
    // Another comes in, then the first again.
    let mut other = Game::delivery(2, Extras::default());
    other.batter = "a3".into();
    game.bowl(1, 0, 2, other);
    game.ball(1, 0, 3, 1);
    let innings = &game.card().innings[0];
    let back = innings.batters.iter().find(|batter| batter.name == "a1").expect("back");
    assert_eq!((back.status, back.runs, back.out.as_deref()), (cricket::BatterStatus::Batting, 4, None));
    let pairs: Vec<_> =
        innings.partnerships.iter().map(|pair| (pair.wicket, pair.runs, pair.unbroken)).collect();
    assert_eq!(pairs, [(1, 3, false), (1, 2, false), (1, 1, true)]);
}

#[test]
fn who_is_timed_out_is_out_without_a_ball_and_not_the_bowlers() {
    let mut game = Game::t20();
    game.out(1, 0, 1, Dismissal::Bowled, "a1");
    let timed_out = Wicket { how: Dismissal::TimedOut, player_out: "a3".into(), fielders: Vec::new() };
    game.say(Place::ball(1, 0, 1).slot(500), Kind::Retired(timed_out));
    let innings = &game.card().innings[0];
    assert_eq!((innings.wickets, innings.bowlers[0].wickets), (2, 1));
    assert_eq!(innings.batters[2].out.as_deref(), Some("timed out"));
    assert_eq!(innings.fall[1].overs, "0.1");
    assert_eq!(game.book().moments().len(), 2);
}

#[test]
fn a_penalty_goes_to_the_innings_that_law_41_18_names() {
    let mut game = Game::t20();
    game.ball(1, 0, 1, 2);
    // To the fielding side, which has not batted: its next innings begins with it.
    game.say(Place::ball(1, 0, 1).slot(400), Kind::Penalty { team: "B".into(), runs: 5 });
    game.end(1, "overs");
    game.start(2, "B", "A", false, None);
    assert_eq!(game.card().innings[1].runs, 5);
    // To the side that fields then: its last innings, and the target moves.
    game.say(Place::ball(2, 0, 0).slot(400), Kind::Penalty { team: "A".into(), runs: 5 });
    let card = game.card();
    assert_eq!((card.innings[0].runs, card.innings[0].extras.penalty), (7, 5));
    assert_eq!(card.innings[1].target.as_ref().map(|target| target.runs), Some(8));
}

#[test]
fn a_revised_target_holds_from_where_it_stands() {
    let mut game = Game::t20();
    game.ball(1, 0, 1, 30);
    game.end(1, "overs");
    game.start(2, "B", "A", false, Some(31));
    let ball = game.ball(2, 0, 1, 1);
    let target = Some(Target { runs: 21, overs: Some("5".into()) });
    let revised = Kind::TargetRevised { target, overs: None, method: "dls".into() };
    game.say(Place::ball(2, 0, 1).slot(300), revised);
    let card = game.card();
    let second = &card.innings[1];
    assert_eq!((second.runs_needed, second.balls_left, second.overs_max), (Some(20), Some(29), Some(5)));
    assert_eq!(second.required_rate, Some(4.14));
    assert_eq!(second.method.as_deref(), Some("dls"));
    // The headline of the ball before it has the old one.
    let scores::Headline::Cricket(before) = game.book().headline(Some(ball.event_id)) else { panic!() };
    assert_eq!(before.target, Some(31));
    (1..6).for_each(|over| {
        game.ball(2, over, 1, 0);
    });
    game.ball(2, 4, 2, 0);
    game.end(2, "overs");
    let decided = game.card().decided.expect("decided");
    assert_eq!(decided.text(), "A won by 19 runs (DLS method)");
}

#[test]
fn overs_that_are_cut_are_cut_for_both() {
    let cut = |overs| Kind::TargetRevised { target: None, overs: Some(overs), method: "rain".into() };
    let mut game = Game::new();
    game.toss(Some(20));
    game.say(Place::BEFORE.slot(300), cut(12));
    game.start(1, "A", "B", false, None);
    game.ball(1, 0, 1, 1);
    assert_eq!(game.card().innings[0].overs_max, Some(12));
    game.say(Place::ball(1, 0, 1).slot(300), cut(1));
    (2..7).for_each(|ball| {
        game.ball(1, 0, ball, 0);
    });
    assert_eq!(game.card().innings[0].ended.as_deref(), Some("overs"));
    game.start(2, "B", "A", false, None);
    game.ball(2, 0, 1, 1);
    let second = &game.card().innings[1];
    assert_eq!((second.overs_max, second.balls_left, second.runs_needed), (Some(1), Some(5), Some(1)));
}

#[test]
fn super_overs_follow_a_tie_until_one_decides() {
    let mut game = Game::t20();
    game.whole(1, 10);
    game.start(2, "B", "A", false, Some(11));
    game.whole(2, 10);
    let tie = game.card().decided.expect("a tie");
    assert_eq!((tie.result.as_deref(), tie.eliminator), (Some("tie"), None));
    assert_eq!(game.card().result, None, "a tie is not the end");
    game.start(3, "B", "A", true, None);
    game.ball(3, 0, 1, 6);
    game.out(3, 0, 2, Dismissal::Bowled, "a1");
    game.out(3, 0, 3, Dismissal::Bowled, "a3");
    assert_eq!(game.card().innings[2].ended.as_deref(), Some("all_out"), "two wickets end it");
    game.start(4, "A", "B", true, None);
    game.ball(4, 0, 1, 6);
    assert_eq!(game.card().innings[3].target.as_ref().map(|target| target.runs), Some(7));
    game.ball(4, 0, 2, 1);
    let card = game.card();
    assert_eq!(card.decided.as_ref().and_then(|outcome| outcome.eliminator.as_deref()), Some("A"));
    assert_eq!(card.result.as_deref(), Some("Match tied (A won the super over)"));
    assert_eq!(card.headline().text, "A 7/0 (0.2) SO");
}

/// Innings of a Test by team and runs; whether the last was bowled out.
fn test_match(innings: &[(&str, u32)]) -> Game {
    let mut game = Game::new();
    game.toss(None);
    for (number, (team, runs)) in (1..).zip(innings) {
        game.start(number, team, if *team == "A" { "B" } else { "A" }, false, None);
        game.whole(number, *runs);
    }
    game
}

#[test]
fn a_match_of_two_innings_is_decided_as_tests_are() {
    let decided = |innings: &[(&str, u32)]| test_match(innings).card().decided.map(|outcome| outcome.text());
    let won = |text: &str| Some(text.to_owned());
    assert_eq!(decided(&[("A", 200), ("B", 190), ("A", 100)]), None);
    assert_eq!(decided(&[("A", 200), ("B", 190), ("A", 100), ("B", 90)]), won("A won by 20 runs"));
    assert_eq!(decided(&[("A", 200), ("B", 190), ("A", 100), ("B", 110)]), won("Match tied"));
    assert_eq!(
        decided(&[("A", 200), ("B", 190), ("A", 100), ("B", 111)]),
        won("B won by 10 wickets"),
        "the target is reached"
    );
    // Following on.
    assert_eq!(decided(&[("A", 500), ("B", 190), ("B", 250)]), won("A won by an innings and 60 runs"));
    assert_eq!(decided(&[("A", 200), ("B", 500), ("A", 299)]), won("B won by an innings and 1 run"));
    assert_eq!(decided(&[("A", 500), ("B", 190), ("B", 400)]), None, "A must bat again");
}

#[test]
fn a_declaration_and_a_draw() {
    let mut game = Game::new();
    game.toss(None);
    game.start(1, "A", "B", false, None);
    game.ball(1, 0, 1, 30);
    game.end(1, "declared");
    game.start(2, "B", "A", false, None);
    game.whole(2, 20);
    game.start(3, "A", "B", false, None);
    game.ball(3, 0, 1, 5);
    let card = game.card();
    assert_eq!(card.headline().text, "A 30/0d & 5/0 (0.1)");
    game.end(3, "declared");
    game.start(4, "B", "A", false, None);
    game.ball(4, 0, 1, 1);
    assert_eq!(game.card().innings[3].target.as_ref().map(|target| target.runs), Some(16));
    game.end(4, "abandoned");
    assert_eq!(game.card().decided, None, "the score does not decide it");
    let draw = Outcome { result: Some("draw".into()), ..Outcome::default() };
    game.say(Place::RESULT, Kind::Result(draw));
    let card = game.card();
    assert_eq!((card.result.as_deref(), card.status), (Some("Match drawn"), cricket::Status::Ended));
}

#[test]
fn what_a_review_overturns_is_taken_out_of_the_moments() {
    let mut game = Game::t20();
    let at = Place::ball(1, 0, 1);
    game.out(1, 0, 1, Dismissal::Lbw, "a1");
    let review = |outcome| Kind::Review {
        by: "A".into(),
        umpire: None,
        batter: Some("a1".into()),
        outcome,
        umpires_call: false,
    };
    game.say(at.slot(100), review(ReviewOutcome::Pending));
    let given = game.now_ms;
    let kinds = |game: &Game| game.book().moments().iter().map(|moment| moment.kind).collect::<Vec<_>>();
    assert_eq!(kinds(&game), [MomentKind::Wicket]);
    let stays = game.ball(1, 0, 1, 0);
    game.say(at.slot(100), review(ReviewOutcome::Upheld));
    assert_eq!(kinds(&game), [MomentKind::Review]);
    assert_eq!(stays.revision, 2);
    assert_eq!(game.book().moment(&stays), None);
    assert_eq!(game.card().innings[0].wickets, 0);
    let Card::Cricket(then) = game.book().card(Some(given)) else { panic!("cricket") };
    assert_eq!(then.innings[0].wickets, 1, "whoever looks at that moment sees what was known");
    // The other way about: the moment may be told when it is decided, and its picture is the ball's.
    let not_out = game.ball(1, 0, 2, 0);
    game.now_ms += 30_000;
    game.out(1, 0, 2, Dismissal::Lbw, "a1");
    let moment = game.book().moments().pop().expect("a wicket");
    assert_eq!((moment.kind, moment.seek_ms), (MomentKind::Wicket, not_out.venue_ms));
    assert_eq!(moment.venue_ms, game.now_ms);
}

#[test]
fn what_is_withdrawn_did_not_happen() {
    let mut game = Game::t20();
    game.ball(1, 0, 1, 6);
    let six = game.ball(1, 0, 2, 6);
    let withdrawn = game.push(Body::Withdrawn { event_id: six.event_id, reason: "scorer_error".into() });
    assert_eq!(withdrawn.revision, 2);
    assert_eq!(game.card().innings[0].runs, 6);
    assert_eq!(game.book().headline(Some(six.event_id)).text(), "A 6/0 (0.1)");
    assert_eq!(game.book().moments().len(), 1);
}

#[test]
fn milestones_are_moments_in_the_ball_that_brings_them() {
    let mut game = Game::t20();
    (1..9).for_each(|ball| {
        game.ball(1, 0, ball, 6);
    });
    let fifty = game.ball(1, 0, 9, 6);
    let moment = game.book().moment(&fifty).expect("a fifty");
    assert_eq!(moment.kind, MomentKind::Fifty);
    assert_eq!(moment.text, "50 for a1, off 9 balls; six by a1 off b9");
    (10..17).for_each(|ball| {
        game.ball(1, 0, ball, 6);
    });
    let hundred = game.ball(1, 0, 17, 6);
    let moment = game.book().moment(&hundred).expect("a hundred");
    assert_eq!(moment.kind, MomentKind::Hundred);
    assert!(moment.text.contains("100 together for a1 and a2"), "{}", moment.text);
    // A hat-trick, over the end of an over.
    for (over, ball, who) in [(1, 5, "a1"), (1, 6, "a3"), (2, 1, "a4")] {
        game.out(1, over, ball, Dismissal::Bowled, who);
    }
    let moments = game.book().moments();
    let kinds: Vec<_> = moments.iter().rev().take(3).map(|moment| moment.kind).collect();
    assert_eq!(kinds, [MomentKind::HatTrick, MomentKind::Wicket, MomentKind::Wicket]);
    // Who drops one ball between loses it.
    game.ball(1, 2, 2, 0);
    game.out(1, 2, 3, Dismissal::Bowled, "a5");
    assert_eq!(game.book().moments().pop().map(|moment| moment.kind), Some(MomentKind::Wicket));
}

#[test]
fn rain_stops_the_match_until_it_goes_on() {
    let mut game = Game::t20();
    game.ball(1, 0, 1, 1);
    let at = Place::ball(1, 0, 1);
    game.say(at.slot(200), Kind::Interruption { reason: "rain".into(), stopped: true });
    let card = game.card();
    assert_eq!((card.status, card.interrupted.as_deref()), (cricket::Status::Stopped, Some("rain")));
    game.say(at.slot(201), Kind::Interruption { reason: "rain".into(), stopped: false });
    assert_eq!(game.card().status, cricket::Status::InPlay);
}

#[test]
fn an_innings_whose_start_was_lost_is_known_by_the_toss() {
    let mut game = Game::new();
    game.toss(Some(20));
    game.ball(1, 0, 1, 4);
    game.ball(2, 0, 1, 1);
    let card = game.card();
    let sides: Vec<_> =
        card.innings.iter().map(|innings| (innings.batting.as_str(), innings.bowling.as_str())).collect();
    assert_eq!(sides, [("A", "B"), ("B", "A")]);
    assert_eq!(card.innings[1].target.as_ref().map(|target| target.runs), Some(5));
}
