//! Whether a place lies within an area. Whoever cannot be told to be outside counts as inside: a blackout fails closed.

use super::Area;
use crate::whereabouts::Place;

impl Area {
    /// The viewer is in it, or may be.
    pub fn may_hold(&self, place: &Place) -> bool {
        match place.country {
            None => return true,
            Some(country) if country != self.country.as_bytes() => return false,
            Some(_) => {}
        }
        let whole = self.subdivisions.is_empty()
            && self.cities.is_empty()
            && self.postcodes.is_empty()
            && self.polygon.is_empty();
        whole
            || hit(&self.subdivisions, place.subdivision.as_deref(), |listed, at| {
                listed.eq_ignore_ascii_case(at)
            })
            || hit(&self.cities, place.city.as_ref(), |listed, at| listed == at)
            || hit(&self.postcodes, place.postcode.as_deref(), |listed, at| same_post(listed, at))
            || (!self.polygon.is_empty() && place.location.is_none_or(|at| inside(&self.polygon, at)))
    }
}

/// Something is listed, and what is known of the viewer is among it, or nothing is known.
fn hit<L, T: ?Sized>(listed: &[L], at: Option<&T>, same: impl Fn(&L, &T) -> bool) -> bool {
    !listed.is_empty() && at.is_none_or(|at| listed.iter().any(|l| same(l, at)))
}

/// One begins with the other: files have only the first half of some countries' postcodes, and a viewer of that half may
/// live in the listed whole.
fn same_post(listed: &str, at: &str) -> bool {
    let plain =
        |text: &str| text.bytes().filter(u8::is_ascii_alphanumeric).map(|b| b.to_ascii_uppercase()).collect();
    let (listed, at): (Vec<u8>, Vec<u8>) = (plain(listed), plain(at));
    at.starts_with(&listed) || listed.starts_with(&at)
}

/// Even-odd rule on latitude and longitude taken as a plane, which is exact enough for outlines that were drawn on a map;
/// what lies on the line is inside.
pub(crate) fn inside(corners: &[[f64; 2]], (lat, lon): (f64, f64)) -> bool {
    let mut odd = false;
    let mut from = match corners.last() {
        Some(last) => *last,
        None => return false,
    };
    for &to in corners {
        let ([lat_a, lon_a], [lat_b, lon_b]) = (from, to);
        let cross = (lon - lon_a) * (lat_b - lat_a) - (lat - lat_a) * (lon_b - lon_a);
        let within = |x: f64, a: f64, b: f64| x >= a.min(b) && x <= a.max(b);
        if cross == 0.0 && within(lat, lat_a, lat_b) && within(lon, lon_a, lon_b) {
            return true;
        }
        if (lat_a > lat) != (lat_b > lat) && lon < (lon_b - lon_a) * (lat - lat_a) / (lat_b - lat_a) + lon_a {
            odd = !odd;
        }
        from = to;
    }
    odd
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(country: &str) -> Place {
        Place { country: country.as_bytes().try_into().ok(), ..Place::default() }
    }

    #[test]
    fn who_cannot_be_told_to_be_outside_is_inside() {
        let chennai = Area {
            country: "IN".into(),
            subdivisions: vec!["TN".into()],
            cities: vec![1_264_527],
            postcodes: vec!["600".into()],
            polygon: vec![[12.9, 80.1], [13.2, 80.1], [13.2, 80.4], [12.9, 80.4]],
        };
        assert!(chennai.may_hold(&Place::default()), "of whom nothing is known");
        assert!(chennai.may_hold(&at("IN")), "of whom only the country is known");
        assert!(!chennai.may_hold(&at("LK")), "another country is enough to be outside");
        let delhi = Place {
            subdivision: Some("DL".into()),
            city: Some(1_273_294),
            postcode: Some("110001".into()),
            location: Some((28.6, 77.2)),
            ..at("IN")
        };
        assert!(!chennai.may_hold(&delhi));
        for closer in [
            Place { subdivision: Some("tn".into()), ..delhi.clone() },
            Place { city: Some(1_264_527), ..delhi.clone() },
            Place { postcode: Some("600 001".into()), ..delhi.clone() },
            Place { postcode: Some("6".into()), ..delhi.clone() },
            Place { location: Some((13.0, 80.2)), ..delhi.clone() },
            Place { subdivision: None, ..delhi.clone() },
            Place { city: None, ..delhi.clone() },
            Place { postcode: None, ..delhi.clone() },
            Place { location: None, ..delhi.clone() },
        ] {
            assert!(chennai.may_hold(&closer), "{closer:?}");
        }
    }

    proptest! {
        /// Knowing less of a viewer never lets them in.
        #[test]
        fn forgetting_never_opens(
            sub in proptest::option::of("[A-C]"), city in proptest::option::of(1u32..4),
            post in proptest::option::of("[1-2]{1,3}"), lat in -2.0..2.0f64, lon in -2.0..2.0f64,
            subs in proptest::collection::vec("[A-C]", 0..2), cities in proptest::collection::vec(1u32..4, 0..2),
            posts in proptest::collection::vec("[1-2]{1,3}", 0..2), forget in 0u8..32,
        ) {
            let area = Area {
                country: "IN".into(), subdivisions: subs, cities, postcodes: posts,
                polygon: vec![[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]],
            };
            let known = Place { subdivision: sub, city, postcode: post, location: Some((lat, lon)), ..at("IN") };
            let mut less = known.clone();
            if forget & 1 != 0 { less.subdivision = None }
            if forget & 2 != 0 { less.city = None }
            if forget & 4 != 0 { less.postcode = None }
            if forget & 8 != 0 { less.location = None }
            if forget & 16 != 0 { less.country = None }
            prop_assert!(area.may_hold(&less) || !area.may_hold(&known));
        }

        /// A square, against the four comparisons that it stands for.
        #[test]
        fn a_square_is_what_it_seems(lat in -3.0..3.0f64, lon in -3.0..3.0f64) {
            let square = [[-1.0, -2.0], [1.0, -2.0], [1.0, 2.0], [-1.0, 2.0]];
            prop_assert_eq!(inside(&square, (lat, lon)), lat.abs() <= 1.0 && lon.abs() <= 2.0);
        }
    }

    #[test]
    fn a_dent_is_outside_and_the_line_is_inside() {
        let arrow = [[0.0, 0.0], [2.0, 2.0], [0.0, 4.0], [1.0, 2.0]];
        assert!(inside(&arrow, (1.5, 2.0)));
        assert!(!inside(&arrow, (0.5, 2.0)), "the dent");
        assert!(inside(&arrow, (1.0, 1.0)) && inside(&arrow, (0.0, 0.0)), "the line and a corner");
    }
}
