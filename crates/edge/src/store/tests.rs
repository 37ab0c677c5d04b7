//! What stays, what leaves, and what it costs.

use super::*;
use crate::lifetime::Life;
use crate::purge::What;
use crate::vary::{Chosen, Spec};
use http::StatusCode;
use std::time::Duration;

const MINUTE: Life =
    Life { fresh: Duration::from_secs(60), while_revalidate: Duration::ZERO, if_error: Duration::ZERO };

fn memory(bytes_max: u64) -> Store {
    Store::new(bytes_max, None, Purges::default())
}

fn key(n: usize) -> String {
    format!("i/{n}.m4s")
}

fn find_as(store: &Store, n: usize, class: Class, now: Instant) -> Found {
    store.find(&key(n), class, &HeaderMap::new(), now)
}

fn find(store: &Store, n: usize, now: Instant) -> Found {
    find_as(store, n, Class::Other, now)
}

fn head(life: Life, vary: (Spec, Chosen), now: Instant) -> Head {
    Head::new(StatusCode::OK, HeaderMap::new(), None, (Arc::new(vary.0), vary.1), Some(life), now)
}

fn end(store: &Store, object: &Arc<Object>, bytes: usize, now: Instant) -> Result<(), Failure> {
    let mut charge = store.charge(&object.key)?;
    object.set_head(head(MINUTE, Default::default(), now));
    store.extend(&mut charge, bytes as u64)?;
    object.push(Bytes::from(vec![0; bytes]));
    object.finish(charge);
    store.keep(object, now);
    Ok(())
}

/// Fills an object of that many bytes.
fn fill_as(
    store: &Store,
    n: usize,
    class: Class,
    bytes: usize,
    now: Instant,
) -> Result<Arc<Object>, Failure> {
    let Found::New(object) = find_as(store, n, class, now) else { panic!("{n} is held already") };
    end(store, &object, bytes, now)?;
    Ok(object)
}

fn fill(store: &Store, n: usize, bytes: usize, now: Instant) -> Result<Arc<Object>, Failure> {
    fill_as(store, n, Class::Other, bytes, now)
}

fn held(store: &Store, n: usize, now: Instant) -> bool {
    store
        .shard(&key(n))
        .peek_mut(&key(n))
        .is_some_and(|slot| slot.only().is_some_and(|o| o.phase(now) == Phase::Fresh))
}

#[test]
fn one_asker_in_many_is_told_to_fill() {
    let (store, now) = (memory(1 << 20), Instant::now());
    assert!(matches!(find(&store, 1, now), Found::New(_)));
    assert!(matches!(find(&store, 1, now), Found::Filling(_)));
    fill(&store, 2, 10, now).unwrap();
    assert!(matches!(find(&store, 2, now), Found::Hit(_)));
    assert!(matches!(find(&store, 2, now + Duration::from_secs(60)), Found::New(_)));
}

#[test]
fn memory_is_bounded_and_the_least_used_leaves() {
    let (store, now) = (memory(1 << 20), Instant::now());
    for n in 0..500 {
        fill(&store, n, 20 << 10, now).unwrap();
        assert!(store.bytes() <= 1 << 20);
    }
    let held = (0..500).filter(|n| held(&store, *n, now)).count();
    assert!((30..52).contains(&held), "{held} of 20 KiB in 1 MiB");
    (0..500).for_each(|n| store.invalidate(&key(n)));
    assert_eq!(store.bytes(), 0);
}

#[test]
fn the_live_edge_stays_while_an_archive_is_read_and_leaves_when_nobody_wants_it() {
    let (store, now) = (memory(1 << 20), Instant::now());
    for n in 0..20 {
        fill_as(&store, n, Class::Live, 20 << 10, now).unwrap();
    }
    for n in 100..1_000 {
        fill_as(&store, n, Class::Dvr, 20 << 10, now).unwrap();
    }
    assert!((0..20).all(|n| held(&store, n, now)));
    let later = now + Duration::from_secs(31);
    for n in 2_000..3_000 {
        fill_as(&store, n, Class::Dvr, 20 << 10, later).unwrap();
    }
    assert!((0..20).filter(|n| held(&store, *n, later)).count() < 3);
}

#[test]
fn what_is_still_being_sent_or_filled_counts() {
    let (store, now) = (memory(100 << 10), Instant::now());
    let object = fill(&store, 0, 60 << 10, now).unwrap();
    let slow = object.whole().unwrap().1.slice(10..20);
    drop(object);
    assert_eq!(fill(&store, 1, 60 << 10, now).unwrap_err(), Failure::Memory);
    drop(slow);
    store.invalidate(&key(1));
    let Found::New(filling) = find(&store, 2, now) else { panic!() };
    let mut charge = store.charge(&filling.key).unwrap();
    store.extend(&mut charge, 60 << 10).unwrap();
    assert_eq!(fill(&store, 3, 60 << 10, now).unwrap_err(), Failure::Memory);
    // The fill was not evicted to make room.
    assert!(matches!(find(&store, 2, now), Found::Filling(_)));
}

#[test]
fn forgetting_one_leaves_its_successor() {
    let (store, now) = (memory(1 << 20), Instant::now());
    let old = fill(&store, 1, 10, now).unwrap();
    let later = now + Duration::from_secs(60);
    assert!(matches!(find(&store, 1, later), Found::New(_)));
    store.forget(&old, None);
    assert!(matches!(find(&store, 1, later), Found::Filling(_)));
}

#[test]
fn a_purge_takes_what_is_held_and_what_is_on_its_way() {
    let (store, now) = (memory(1 << 20), Instant::now());
    fill(&store, 1, 10, now).unwrap();
    let Found::New(coming) = find(&store, 2, now) else { panic!() };
    let purge = |soft| Purge { what: What::Prefix("/".into()), soft };
    assert_eq!(store.purge(&purge(false), now), 1);
    assert!(matches!(find(&store, 1, now), Found::New(_)));
    end(&store, &coming, 10, now).unwrap();
    assert!(!held(&store, 2, now), "it was asked for before the purge");

    let store = memory(1 << 20);
    let kept = fill(&store, 1, 10, now).unwrap();
    assert_eq!(store.purge(&purge(true), now), 1);
    assert_ne!(kept.phase(now), Phase::Fresh);
}

#[test]
fn keys_whose_answers_may_not_be_shared_are_remembered_a_while() {
    let (store, now) = (memory(1 << 20), Instant::now());
    assert!(matches!(find(&store, 1, now), Found::New(_)));
    store.set_alone(&key(1), store.charge(&Key::new(&key(1))).unwrap(), now);
    assert!(matches!(find(&store, 1, now), Found::Alone));
    assert!(!matches!(find(&store, 1, now + ALONE_FOR), Found::Alone));
}

#[test]
fn answers_that_vary_are_told_apart_and_bounded() {
    let (store, now) = (memory(1 << 20), Instant::now());
    let request = |value: &str| HeaderMap::from_iter([(http::header::ACCEPT, value.parse().unwrap())]);
    let find = |value: &str| store.find(&key(1), Class::Other, &request(value), now);
    let varies = HeaderMap::from_iter([(http::header::VARY, "accept".parse().unwrap())]);
    for n in 0..100 {
        let value = n.to_string();
        let Found::New(object) = find(&value) else { panic!("{n}") };
        let spec = Spec::of(&varies, true).unwrap();
        let chosen = spec.chosen(&object.fields);
        let head = head(MINUTE, (spec, chosen), now);
        store.head_known(&object, &head);
        object.set_head(head);
        object.finish(store.charge(&object.key).unwrap());
        store.keep(&object, now);
        assert!(matches!(find(&value), Found::Hit(o) if Arc::ptr_eq(&o, &object)));
    }
    assert!(matches!(find("99"), Found::Hit(_)));
    assert!(matches!(find("1"), Found::New(_)));
}
