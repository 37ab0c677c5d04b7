//! The `Range` header (RFC 9110, 14). Pure.

use std::ops::Range;

/// What a `Range` header asks of an object of known length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// All of it: there is no range, or one that may be ignored (several, another unit, or not well formed).
    All,
    /// These bytes; never empty, never beyond the end.
    Part(Range<u64>),
    /// Bytes that it does not have.
    Outside,
}

/// Reads a `Range` header against a length.
pub(crate) fn parse(header: &str, len: u64) -> Asked {
    let Some((unit, spec)) = header.split_once('=') else { return Asked::All };
    let Some((first, last)) = spec.trim().split_once('-') else { return Asked::All };
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return Asked::All;
    }
    let range = match (position(first), position(last), first.is_empty(), last.is_empty()) {
        (Some(first), Some(last), ..) if first <= last => first..last.saturating_add(1).min(len),
        (Some(first), None, _, true) => first..len,
        (None, Some(suffix), true, _) => len.saturating_sub(suffix)..len,
        _ => return Asked::All,
    };
    if range.start < range.end { Asked::Part(range) } else { Asked::Outside }
}

/// Digits; a number too large is beyond any object all the same.
fn position(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Asked::{All, Outside, Part};
    use proptest::prelude::*;

    #[test]
    fn ranges() {
        for (header, expected) in [
            ("bytes=0-0", Part(0..1)),
            ("bytes=0-99", Part(0..100)),
            ("bytes=90-1000", Part(90..100)),
            ("bytes=99-", Part(99..100)),
            ("bytes=-1", Part(99..100)),
            ("bytes=-1000", Part(0..100)),
            ("Bytes = 5-9", Part(5..10)),
            ("bytes=100-", Outside),
            ("bytes=100-200", Outside),
            ("bytes=-0", Outside),
            ("bytes=99999999999999999999-", Outside),
            ("bytes=0-99999999999999999999", Part(0..100)),
            ("bytes=9-5", All),
            ("bytes=0-1,5-6", All),
            ("bytes=-", All),
            ("bytes=+1-2", All),
            ("bytes=a-b", All),
            ("seconds=0-1", All),
            ("bytes", All),
        ] {
            assert_eq!(parse(header, 100), expected, "{header}");
        }
        assert_eq!(parse("bytes=0-", 0), Outside);
    }

    proptest! {
        #[test]
        fn a_part_is_never_empty_and_never_beyond(header in "bytes=[0-9]{0,21}-[0-9]{0,21}", len in 0u64..1000) {
            if let Part(range) = parse(&header, len) {
                prop_assert!(range.start < range.end && range.end <= len);
            }
        }
    }
}
