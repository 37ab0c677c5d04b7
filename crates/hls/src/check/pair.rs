//! What must hold between two successive playlists of one track.

use super::{Found, Violation};
use crate::read::{Part, Playlist, Segment};

/// Checks what a reload may not change. `earlier` was answered before `later`, both are whole.
pub fn two(earlier: &Playlist, later: &Playlist) -> Vec<Violation> {
    let mut found = Found::default();
    found.header_stays(earlier, later);
    found.end_moves_on(earlier, later);
    found.segments_stay(earlier, later);
    found.0
}

impl Found {
    fn header_stays(&mut self, earlier: &Playlist, later: &Playlist) {
        if earlier.target_duration != later.target_duration {
            self.add(
                "6.2.1",
                format!(
                    "target duration changes from {} to {}",
                    earlier.target_duration, later.target_duration
                ),
            );
        }
        if earlier.part_target != later.part_target {
            self.add(
                "6.2.1",
                format!("PART-TARGET changes from {:?} to {:?}", earlier.part_target, later.part_target),
            );
        }
        if earlier.ended && earlier != later {
            self.add("6.2.1", "the playlist changes after EXT-X-ENDLIST".to_owned());
        }
    }

    fn end_moves_on(&mut self, earlier: &Playlist, later: &Playlist) {
        if later.media_sequence < earlier.media_sequence {
            self.add(
                "6.2.2",
                format!(
                    "media sequence steps back from {} to {}",
                    earlier.media_sequence, later.media_sequence
                ),
            );
        }
        if later.next() < earlier.next() {
            self.add("6.2.1", format!("the end steps back from {:?} to {:?}", earlier.next(), later.next()));
        }
        let lasts: f64 = later.segments.iter().map(|s| s.duration).sum();
        if later.media_sequence > earlier.media_sequence && lasts < 3.0 * later.target_duration as f64 {
            self.add("6.2.2", format!("segments are removed and only {lasts} s are left"));
        }
    }

    fn segments_stay(&mut self, earlier: &Playlist, later: &Playlist) {
        let mut discontinuities = earlier.discontinuity_sequence;
        for old in &earlier.segments {
            match later.segment(old.msn) {
                Some(new) => self.segment_stays(old, new),
                None if old.msn < later.media_sequence => {
                    discontinuities += u64::from(old.head.discontinuity)
                }
                None => self.add("6.2.1", format!("segment {} is gone, and not from the front", old.msn)),
            }
        }
        // Once nothing is shared the number of tags that went by is not known.
        let shared = later.media_sequence < earlier.next_segment();
        if (shared && later.discontinuity_sequence != discontinuities)
            || later.discontinuity_sequence < discontinuities
        {
            self.add(
                "4.4.3.3",
                format!(
                    "discontinuity sequence is {}, should be {discontinuities}",
                    later.discontinuity_sequence
                ),
            );
        }
        if let Some(open) = &earlier.open {
            if let Some(new) = later.segment(open.msn) {
                if new.head != open.head {
                    self.add(
                        "6.2.1",
                        format!("segment {}: {:?} becomes {:?}", open.msn, open.head, new.head),
                    );
                }
                self.parts_stay(open.msn, &open.parts, &new.parts, true);
            } else if let Some(new) = later.open.as_ref().filter(|new| new.msn == open.msn) {
                if new.head != open.head {
                    self.add(
                        "6.2.1",
                        format!("segment {}: {:?} becomes {:?}", open.msn, open.head, new.head),
                    );
                }
                self.parts_stay(open.msn, &open.parts, &new.parts, false);
            }
        }
    }

    fn segment_stays(&mut self, old: &Segment, new: &Segment) {
        let same = old.uri == new.uri
            && old.duration == new.duration
            && old.gap == new.gap
            && old.head.pdt == new.head.pdt
            && old.head.discontinuity == new.head.discontinuity
            && old.head.map == new.head.map
            && old.head.keys == new.head.keys;
        if !same {
            self.add("6.2.1", format!("segment {} changes from {old:?} to {new:?}", old.msn));
        }
        if old.parts != new.parts && !new.parts.is_empty() {
            self.add("6.2.1", format!("parts of finished segment {} change", old.msn));
        }
    }

    /// Parts are added at the end, never changed; a segment's parts may be removed when it is finished.
    fn parts_stay(&mut self, msn: u64, old: &[Part], new: &[Part], finished: bool) {
        if finished && new.is_empty() {
            return;
        }
        if !new.starts_with(old) {
            self.add("6.2.1", format!("parts of {msn} change from {old:?} to {new:?}"));
        }
    }
}

impl Playlist {
    /// The listed segment of that number.
    pub fn segment(&self, msn: u64) -> Option<&Segment> {
        let first = self.segments.first()?.msn;
        self.segments.get(usize::try_from(msn.checked_sub(first)?).ok()?)
    }
}
