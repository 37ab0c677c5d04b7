//! A few balls, on the picture.

use scores::cricket::{Delivery, Extras, Happening, Kind, Place};
use scores::recording::Timed;
use scores::{Body, Sport};

use super::*;
use crate::blockcode::BALLS;
use crate::clock::FRAME_MS;
use crate::scene::Scene;

/// On the grid of frames.
const STARTS_MS: i64 = 1_796_000_000_000;

fn at(after_ms: i64, over: u32, ball: u32, slot: u32, what: Kind) -> Timed {
    let at = Place { innings: 1, over, ball, slot };
    Timed { after_ms, body: Body::Cricket(Happening { at, what }) }
}

fn ball(after_ms: i64, ball: u32, runs: u32, wides: u32) -> Timed {
    let delivery = Delivery {
        batter: "A Opener".to_owned(),
        non_striker: "B Other".to_owned(),
        bowler: "C Quick".to_owned(),
        runs,
        all_run: false,
        extras: Extras { wides, ..Extras::default() },
        wickets: Vec::new(),
    };
    at(after_ms, 0, ball, 0, Kind::Delivery(delivery))
}

/// The fourth statement corrects the second: the four was a six.
fn recording() -> Recording {
    let innings = Kind::InningsStarted {
        batting: "Harbour City Gulls".to_owned(),
        bowling: "Hill Town Herons".to_owned(),
        super_over: false,
        target: None,
    };
    Recording {
        sport: Sport::Cricket,
        title: "t".to_owned(),
        teams: ["Harbour City Gulls".to_owned(), "Hill Town Herons".to_owned()],
        statements: vec![
            at(0, 0, 0, 1, innings),
            ball(1_000, 1, 4, 0),
            ball(2_010, 2, 0, 1),
            ball(2_500, 1, 6, 0),
            ball(3_000, 3, 1, 0),
        ],
    }
}

#[test]
fn the_score_is_that_of_the_instant_corrections_at_their_own() {
    let mut board = Scoreboard::new(&recording(), STARTS_MS, 1.0);
    assert_eq!(board.bug().rows[0][0], "Harbour City Gulls");
    let mut said = |after_ms: i64| {
        board.advance(STARTS_MS + after_ms);
        (board.bug().title[0].clone(), board.bug().balls)
    };
    assert_eq!(said(999), ("HCG 0/0".to_owned(), 0));
    assert_eq!(said(1_000), ("HCG 4/0".to_owned(), 1));
    assert_eq!(said(2_499), ("HCG 5/0".to_owned(), 2));
    assert_eq!(said(2_500), ("HCG 7/0".to_owned(), 2));
    assert_eq!(said(9_000), ("HCG 8/0".to_owned(), 3));
    // An instant is an instant, whatever was before.
    assert_eq!(said(1_500), ("HCG 4/0".to_owned(), 1));

    board.advance(STARTS_MS + 9_000);
    let bug = board.bug();
    assert_eq!(bug.title[1], "0.2");
    let batters: Vec<_> = bug.rows[..2].iter().map(|row| row.join(" ").trim().to_owned()).collect();
    assert!(batters.iter().any(|row| row.contains("A Opener 7 (2)")), "{batters:?}");
    assert_eq!(bug.rows[2], [" C Quick".to_owned(), "0/8 (0.2)".to_owned()]);
    assert!(!board.advance(STARTS_MS + 9_040), "nothing has changed");
}

#[test]
fn twice_as_fast_is_half_as_late() {
    let mut board = Scoreboard::new(&recording(), STARTS_MS, 2.0);
    board.advance(STARTS_MS + 499);
    assert_eq!(board.bug().balls, 0);
    board.advance(STARTS_MS + 500);
    assert_eq!(board.bug().balls, 1);
}

/// The number in the picture changes in the first frame whose venue time has reached the ball's, and the venue's own
/// code and the rest of the picture are as they were.
#[test]
fn the_number_changes_in_the_frame_that_reaches_the_ball() {
    for size in ["320x180", "1280x720"] {
        let board = Scoreboard::new(&recording(), STARTS_MS, 1.0);
        let mut scene = Scene::new(size.parse().unwrap(), Some(board));
        let mut plain = Scene::new(size.parse().unwrap(), None);
        for utc_ms in (STARTS_MS - 80..STARTS_MS + 3_200).step_by(FRAME_MS as usize) {
            let frame = scene.paint(utc_ms);
            let (width, height) = (frame.width, frame.height);
            let bowled = [1_000, 2_010, 3_000].iter().filter(|after| STARTS_MS + **after <= utc_ms).count();
            assert_eq!(BALLS.read(&frame.data, width, height, width), Some(bowled as u32), "{size} {utc_ms}");
            let time = crate::blockcode::read(&frame.data, width, height, width);
            assert_eq!(time, Some(utc_ms as u32), "{size}");
            assert_eq!(BALLS.read(&plain.paint(utc_ms).data, width, height, width), None);
        }
    }
}
