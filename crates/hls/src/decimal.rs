//! Durations as playlists write them.

use timeline::{CLOCK_HZ, Ticks};

/// One unit of the last digit: 10 µs, finer than a tick of the 90 kHz clock.
const UNITS_PER_SECOND: i64 = 100_000;

/// Units of 10 µs, rounded to the nearest. Monotonic, so a part that is no longer than the part target is
/// never written longer than it.
pub fn units(duration: Ticks) -> u64 {
    let n = i128::from(duration.0.max(0)) * i128::from(UNITS_PER_SECOND) * 2 + i128::from(CLOCK_HZ);
    (n / (i128::from(CLOCK_HZ) * 2)) as u64
}

/// Writes `units` of 10 µs as decimal seconds with up to five digits after the point.
pub fn push_units(out: &mut String, units: u64) {
    push(out, units / UNITS_PER_SECOND as u64);
    let mut rest = units % UNITS_PER_SECOND as u64;
    if rest == 0 {
        return;
    }
    let mut width = 5;
    while rest.is_multiple_of(10) {
        rest /= 10;
        width -= 1;
    }
    out.push('.');
    for place in (0..width).rev() {
        out.push(digit(rest / 10u64.pow(place)));
    }
}

/// Writes an integer, without the formatting machinery: playlists have thousands.
pub fn push(out: &mut String, n: u64) {
    let mut place = 1;
    while n / place >= 10 {
        place *= 10;
    }
    while place > 0 {
        out.push(digit(n / place));
        place /= 10;
    }
}

fn digit(n: u64) -> char {
    char::from(b'0' + (n % 10) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(duration: i64) -> String {
        let mut out = String::new();
        push_units(&mut out, units(Ticks(duration)));
        out
    }

    #[test]
    fn written_short() {
        assert_eq!(text(172_800), "1.92");
        assert_eq!(text(28_800), "0.32");
        assert_eq!(text(192_192), "2.13547");
        assert_eq!(text(180_000), "2");
        assert_eq!(text(9), "0.0001");
        assert_eq!(text(-1), "0");
    }

    proptest! {
        #[test]
        fn numbers_are_numbers(n: u64) {
            let mut out = String::new();
            push(&mut out, n);
            prop_assert_eq!(out, n.to_string());
        }

        #[test]
        fn near_and_in_order(a in 0i64..90_000 * 100_000, b in 0i64..200_000) {
            let (x, y): (f64, f64) = (text(a).parse().unwrap(), text(a + b).parse().unwrap());
            prop_assert!((x - Ticks(a).seconds()).abs() <= 5.001e-6);
            prop_assert!(x <= y);
        }
    }
}
