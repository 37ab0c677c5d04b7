//! The fold: the same card in whatever order events come.

use card_game::{Game, folded};
use proptest::prelude::*;
use scores::card::Book;
use scores::recording::{DEMO, FOOTBALL, Recording};
use scores::{Event, EventId, Sport, Taken};

mod card_game;

/// Any order, with duplicates, of events with all their revisions.
fn shuffled(json: &'static str) -> impl Strategy<Value = (Vec<Event>, Vec<Event>)> {
    let events = Recording::read(json).expect("ours").events("m", 0, 1.0);
    let len = events.len();
    let order = Just((0..len).collect::<Vec<_>>()).prop_shuffle();
    let again = prop::collection::vec(0..len, 0..40);
    (order, again).prop_map(move |(mut order, again)| {
        for (place, index) in again.into_iter().enumerate() {
            order.insert((place * 7) % order.len(), index);
        }
        let given = order.into_iter().map(|index| events[index].clone()).collect();
        (events.clone(), given)
    })
}

fn assert_same(sport: Sport, one: &[Event], other: &[Event]) {
    let (one, other) = (folded(sport, one), folded(sport, other));
    assert_eq!(one.card(None), other.card(None));
    assert_eq!(one.moments(), other.moments());
    assert_eq!(one.len(), other.len());
    for at_ms in [0, 500_000, 1_200_000, 2_000_000] {
        assert_eq!(one.card(Some(at_ms)), other.card(Some(at_ms)));
        assert_eq!(one.headline_at(Some(at_ms)), other.headline_at(Some(at_ms)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_order_folds_to_the_same_cricket_card((events, given) in shuffled(DEMO)) {
        assert_same(Sport::Cricket, &events, &given);
    }

    #[test]
    fn any_order_folds_to_the_same_football_card((events, given) in shuffled(FOOTBALL)) {
        assert_same(Sport::Football, &events, &given);
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// At every step, whatever came before what, a book says what one says that is told the same from the end.
    #[test]
    fn each_step_is_told_alike((_, given) in shuffled(DEMO)) {
        let mut book = Book::new(Sport::Cricket);
        for (step, event) in given.iter().enumerate() {
            book.take(event);
            if step % 19 != 0 {
                continue;
            }
            let mut from_the_end = Book::new(Sport::Cricket);
            given[..=step].iter().rev().for_each(|event| {
                from_the_end.take(event);
            });
            prop_assert_eq!(book.headline(None), from_the_end.headline(None));
            prop_assert_eq!(book.moment(event), from_the_end.moment(event));
            prop_assert_eq!(book.card(None), from_the_end.card(None));
            let id = Some(event.event_id);
            prop_assert_eq!(book.headline(id), from_the_end.headline(id));
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// What is known at a moment is what a book knows that was told no more than that.
    #[test]
    fn a_card_at_a_moment_knows_nothing_of_later(at_ms in 0..2_400_000_i64) {
        let events = Recording::read(DEMO).expect("ours").events("m", 0, 1.0);
        let before: Vec<_> = events.iter().filter(|event| event.venue_ms <= at_ms).cloned().collect();
        let (all, then) = (folded(Sport::Cricket, &events), folded(Sport::Cricket, &before));
        prop_assert_eq!(all.card(Some(at_ms)), then.card(None));
        prop_assert_eq!(all.headline_at(Some(at_ms)), then.headline(None));
    }
}

#[test]
fn the_headline_of_each_ball_is_the_score_after_it() {
    let events = Recording::read(DEMO).expect("ours").events("m", 0, 1.0);
    let book = folded(Sport::Cricket, &events);
    // Ball by ball in the order of the field, as a book that knows no more.
    let mut ids: Vec<EventId> = events.iter().map(|event| event.event_id).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut so_far = Book::new(Sport::Cricket);
    for id in ids {
        so_far.take(book.highest(id).expect("known"));
        assert_eq!(book.headline(Some(id)), so_far.headline(None), "{id:?}");
    }
}

#[test]
fn a_book_says_what_is_new() {
    let mut book = Book::new(Sport::Cricket);
    let mut game = Game::new();
    let first = game.ball(1, 0, 1, 4);
    let mut second = first.clone();
    second.revision = 2;
    let mut third = first.clone();
    third.revision = 3;
    assert_eq!(book.take(&first), Taken::New);
    assert_eq!(book.take(&first), Taken::Known);
    assert_eq!(book.take(&third), Taken::Corrected);
    assert_eq!(book.take(&second), Taken::Known, "something newer was known");
    assert_eq!(book.highest(first.event_id).map(|event| event.revision), Some(3));
    let football = Recording::read(FOOTBALL).expect("ours").events("m", 0, 1.0);
    assert_eq!(book.take(&football[0]), Taken::Known, "another sport's");
    assert_eq!(book.len(), 1);
}
