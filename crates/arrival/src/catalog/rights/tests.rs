use proptest::prelude::*;

use super::*;
use crate::catalog::{Area, Blackout, Catalog, Copy, Right};

const NOW: i64 = 1_796_000_000_000;

fn right(countries: Option<&[&str]>, from_ms: Option<i64>, until_ms: Option<i64>) -> Right {
    Right {
        id: "r".into(),
        matches: vec!["final".into()],
        countries: countries.map(|c| c.iter().map(|c| (*c).to_owned()).collect()),
        from_ms,
        until_ms,
    }
}

fn blackout(area: Area, from_ms: Option<i64>, until_ms: Option<i64>) -> Blackout {
    Blackout {
        id: "b".into(),
        name: "Chennai".into(),
        matches: vec!["final".into()],
        areas: vec![area],
        from_ms,
        until_ms,
    }
}

fn show(rights: Vec<Right>, blackouts: Vec<Blackout>) -> Show {
    let mut catalog = Catalog::default();
    catalog
        .insert(
            crate::catalog::Kind::Match,
            "final",
            r#"{"id": "final", "title": "Final", "status": "live", "start_ms": 1796000000000}"#,
        )
        .unwrap();
    let show = Copy::of(catalog).show("final").unwrap().as_ref().clone();
    Show { rights, blackouts, ..show }
}

fn at(country: &str) -> Place {
    Place { country: country.as_bytes().try_into().ok(), ..Place::default() }
}

fn tamil_nadu() -> Area {
    Area { country: "IN".into(), subdivisions: vec!["TN".into()], ..Area::default() }
}

#[test]
fn a_right_is_for_its_countries_and_its_time() {
    let sold = show(vec![right(Some(&["IN", "LK"]), Some(NOW - 10), Some(NOW + 10))], vec![]);
    assert_eq!(sold.shown(&at("IN"), NOW), Ok(Shown { until_ms: Some(NOW + 10), limited: true }));
    assert_eq!(sold.shown(&at("IE"), NOW), Err(Dark::Country(*b"IE")));
    assert_eq!(sold.shown(&Place::default(), NOW), Err(Dark::Unknown));
    assert_eq!(sold.shown(&at("IN"), NOW - 11), Err(Dark::Early(NOW - 10)));
    assert_eq!(sold.shown(&at("IN"), NOW + 10), Err(Dark::Over));
    assert_eq!(sold.shown(&Place { anonymous: true, ..at("IN") }, NOW), Err(Dark::Hidden));
    assert_eq!(show(vec![], vec![]).shown(&at("IN"), NOW), Err(Dark::Over), "without a right nobody sees it");
}

#[test]
fn what_is_free_for_all_the_world_needs_no_place() {
    let open = show(vec![right(None, None, None)], vec![]);
    for place in [Place::default(), at("IE"), Place { anonymous: true, ..Place::default() }] {
        assert_eq!(open.shown(&place, NOW), Ok(Shown { until_ms: None, limited: false }));
    }
}

#[test]
fn a_blackout_is_stronger_than_every_right_and_ends_passes_before_it_begins() {
    let rights = || vec![right(None, None, None), right(Some(&["IN"]), None, None)];
    let dark = show(rights(), vec![blackout(tamil_nadu(), Some(NOW), Some(NOW + 100))]);
    let chennai = Place { subdivision: Some("TN".into()), ..at("IN") };
    let delhi = Place { subdivision: Some("DL".into()), ..at("IN") };
    assert_eq!(dark.shown(&chennai, NOW), Err(Dark::Blackout(Some("Chennai".into()))));
    assert_eq!(
        dark.shown(&at("IN"), NOW),
        Err(Dark::Blackout(Some("Chennai".into()))),
        "where in India is not known"
    );
    assert_eq!(dark.shown(&Place::default(), NOW), Err(Dark::Unknown));
    assert_eq!(dark.shown(&Place { anonymous: true, ..delhi.clone() }, NOW), Err(Dark::Hidden));
    assert_eq!(dark.shown(&delhi, NOW), Ok(Shown { until_ms: None, limited: true }));
    assert_eq!(dark.shown(&chennai, NOW - 1), Ok(Shown { until_ms: Some(NOW), limited: true }));
    assert_eq!(dark.shown(&chennai, NOW + 100), Ok(Shown { until_ms: None, limited: true }));
}

#[test]
fn a_blackout_that_cannot_be_read_holds_for_what_it_names_or_for_all() {
    let mut catalog = Catalog::default();
    for id in ["final", "semi"] {
        let document = format!(r#"{{"id": "{id}", "title": "x", "status": "live", "start_ms": {NOW}}}"#);
        catalog.insert(crate::catalog::Kind::Match, id, &document).unwrap();
        catalog.rights.insert(id.into(), Right { matches: vec![id.into()], ..right(None, None, None) });
    }
    catalog.unreadable.insert("b".into(), Some(vec!["final".into()]));
    let copy = Copy::of(catalog.clone());
    assert_eq!(copy.show("final").unwrap().shown(&at("IN"), NOW), Err(Dark::Blackout(None)));
    assert!(copy.show("semi").unwrap().shown(&at("IN"), NOW).is_ok());
    catalog.unreadable.insert("c".into(), None);
    assert_eq!(Copy::of(catalog).show("semi").unwrap().shown(&at("IN"), NOW), Err(Dark::Blackout(None)));
}

proptest! {
    /// Whatever rights are added, and whatever else is not known of a viewer, a blackout that they may be in holds.
    #[test]
    fn no_right_opens_a_blackout(
        from in proptest::option::of(NOW - 5..NOW + 5), long in 1i64..10, world in any::<bool>(), now in NOW - 10..NOW + 10,
        sub in proptest::option::of("TN|DL"), country in proptest::option::of("IN|LK"),
    ) {
        let until = from.map(|from| from + long);
        let place = Place {
            subdivision: sub,
            country: country.and_then(|c: String| c.as_bytes().try_into().ok()),
            ..Place::default()
        };
        let countries: &[&str] = &["IN", "LK"];
        let rights = vec![right((!world).then_some(countries), None, None)];
        let seen = show(rights, vec![blackout(tamil_nadu(), from, until)]).shown(&place, now);
        let in_force = from.is_none_or(|f| f <= now) && until.is_none_or(|u| u > now);
        if in_force && tamil_nadu().may_hold(&place) {
            prop_assert!(seen.is_err(), "{seen:?}");
        }
        if let (Ok(Shown { until_ms, .. }), true) = (&seen, tamil_nadu().may_hold(&place)) {
            // A pass that is good now ends before the blackout begins.
            if let Some(begins) = from.filter(|f| *f > now) {
                prop_assert!(until_ms.is_some_and(|u| u <= begins));
            }
        }
    }

    /// A right never reaches beyond its countries and its window.
    #[test]
    fn nothing_is_shown_without_a_right(
        rights in proptest::collection::vec((proptest::option::of("IN|LK|IE"), -5i64..5, 1i64..10), 0..4),
        country in proptest::option::of("IN|LK|IE|GB"), now in -10i64..10,
    ) {
        let country: Option<String> = country;
        let place = country.as_deref().map_or(Place::default(), at);
        let covered = rights.iter().any(|(c, from, long): &(Option<String>, i64, i64)| {
            (c.is_none() || *c == country) && (*from..from + long).contains(&now)
        });
        let rights = rights
            .iter()
            .map(|(c, from, long)| {
                let one: Option<Vec<&str>> = c.as_deref().map(|c| vec![c]);
                right(one.as_deref(), Some(NOW + from), Some(NOW + from + long))
            })
            .collect();
        prop_assert_eq!(show(rights, vec![]).shown(&place, NOW + now).is_ok(), covered);
    }
}
