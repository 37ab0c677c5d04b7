//! Entry points for fuzz targets: any bytes, no panic, and what was accepted behaves.

use timeline::{FrameRate, Grid, Position};

use crate::request::{Directives, End, Verdict};
use crate::{check, read};

/// A request's query.
pub fn query(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(found) = Directives::parse(text) else { return };
    assert_eq!(Directives::parse(&found.to_string()), Ok(found), "the canonical query means the same");
    let Ok(grid) = Grid::for_frame_rate(FrameRate { num: 25, den: 1 }) else { return };
    for msn in [0, 1_000, u64::MAX] {
        let next = Position { msn, part: 3 };
        if let Verdict::Wait(until) = found.judge(&grid, End { next, ended: false }) {
            assert!(until > next, "what is listed is answered");
        }
    }
}

/// A playlist of either kind.
pub fn playlist(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(list) = read::playlist(text) {
        check::one(&list);
        check::two(&list, &list);
        if let Ok(completed) = list.clone().complete(&list) {
            assert_eq!(completed.skipped, 0, "a completed playlist is whole");
        }
    }
    if let Ok(list) = read::multivariant(text) {
        check::multivariant(&list);
    }
}
