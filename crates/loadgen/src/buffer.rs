//! What a viewer has of a track, as ranges of media time.

/// Edges this close are one: PDT is written to the millisecond, so neighbours may seem a little apart.
const TOUCHING_US: i64 = 5_000;

/// Disjoint ranges in order; ends are exclusive. Media time is UTC microseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges(Vec<(i64, i64)>);

impl Ranges {
    /// Adds `[start, end)`; ranges that touch become one.
    pub fn insert(&mut self, start: i64, end: i64) {
        if end <= start {
            return;
        }
        let first = self.0.partition_point(|r| r.1.saturating_add(TOUCHING_US) < start);
        let past = self.0.partition_point(|r| r.0 <= end.saturating_add(TOUCHING_US));
        let (mut start, mut end) = (start, end);
        for range in self.0.drain(first..past.max(first)) {
            start = start.min(range.0);
            end = end.max(range.1);
        }
        self.0.insert(first, (start, end));
    }

    /// Forgets what ends before a time.
    pub fn forget_before(&mut self, time: i64) {
        self.0.retain(|r| r.1 > time);
    }

    /// The first range that ends after a time.
    pub fn at_or_after(&self, time: i64) -> Option<(i64, i64)> {
        self.0.get(self.0.partition_point(|r| r.1 <= time)).copied()
    }

    /// The end of the last range.
    pub fn end(&self) -> Option<i64> {
        self.0.last().map(|r| r.1)
    }
}

/// The first range at or after a time that all tracks have: what can be played from there, or next.
pub fn common<'a>(tracks: impl Iterator<Item = &'a Ranges> + Clone, time: i64) -> Option<(i64, i64)> {
    let mut from = time;
    loop {
        let (mut start, mut end) = (from, i64::MAX);
        for track in tracks.clone() {
            let range = track.at_or_after(from)?;
            start = start.max(range.0);
            end = end.min(range.1);
        }
        if start < end {
            return (end < i64::MAX).then_some((start, end));
        }
        from = start;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ranges(of: &[(i64, i64)]) -> Ranges {
        let mut all = Ranges::default();
        for &(start, end) in of {
            all.insert(start, end);
        }
        all
    }

    #[test]
    fn neighbours_are_one() {
        let second = 1_000_000;
        let all = ranges(&[(2 * second, 3 * second), (0, second), (second + 900, 2 * second)]);
        assert_eq!(all, Ranges(vec![(0, 3 * second)]));
        assert_eq!(all.at_or_after(second), Some((0, 3 * second)));
        assert_eq!(all.at_or_after(3 * second), None);
    }

    #[test]
    fn all_tracks_must_have_it() {
        let s = 1_000_000;
        let video = ranges(&[(0, 2 * s), (4 * s, 9 * s)]);
        let audio = ranges(&[(0, 3 * s), (5 * s, 6 * s)]);
        let both = || [&video, &audio].into_iter();
        assert_eq!(common(both(), 0), Some((0, 2 * s)));
        assert_eq!(common(both(), 2 * s), Some((5 * s, 6 * s)));
        assert_eq!(common(both(), 6 * s), None);
        assert_eq!(common([].into_iter(), 0), None);
    }

    proptest! {
        /// Against a plain set of time slots.
        #[test]
        fn ranges_are_a_set(inserts in prop::collection::vec((0i64..60, 0i64..9), 0..20), at in 0i64..70) {
            const SLOT: i64 = 100_000;
            let mut all = Ranges::default();
            let mut slots = [false; 80];
            for (start, len) in inserts {
                all.insert(start * SLOT, (start + len) * SLOT);
                slots[start as usize..(start + len) as usize].fill(true);
            }
            let found = all.at_or_after(at * SLOT);
            let next = (at as usize..80).find(|&i| slots[i]);
            prop_assert_eq!(found.map(|r| r.0.max(at * SLOT)), next.map(|i| i as i64 * SLOT));
            if let (Some(range), Some(next)) = (found, next) {
                let end = (next..80).find(|&i| !slots[i]).unwrap();
                prop_assert_eq!(range.1, end as i64 * SLOT);
            }
        }
    }
}
