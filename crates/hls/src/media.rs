//! A media playlist's text from its snapshot (rfc8216bis 4.4.3 to 4.4.5).

use std::fmt::Write;

use timeline::Ticks;
use timeline::name::{InitId, Letter};
use timeline::protection::Protection;

use crate::decimal::{push, push_units, units};
use crate::flavour::Flavour;
use crate::key::{self, System};
use crate::snapshot::{CAN_SKIP_UNTIL, Hint, Media, Part, Report};

/// `EXT-X-VERSION`: what `EXT-X-SKIP` needs (rfc8216bis 8), said by whole playlists too, so that it does not
/// change from reload to reload. Version 10 would be for deltas that skip date ranges; there are none yet.
pub const VERSION: u64 = 9;

/// `HOLD-BACK` in target durations and `PART-HOLD-BACK` in part targets: the least that rfc8216bis 4.4.3.8
/// allows and recommends. Players that want more hold back more.
pub const HOLD_BACK: u64 = 3;

/// Bytes that a segment's lines need, without its track's name; generous, so that the text never moves.
const SEGMENT_BYTES: usize = 128;

/// Bytes that a part's line needs, without its track's name.
const PART_BYTES: usize = 96;

/// Bytes of the header, the hint and one rendition report.
const HEADER_BYTES: usize = 512;

/// The playlist's text: whole, or as a delta update when `skip` asks for one and there is something to skip
/// (rfc8216bis 6.2.5.1).
pub fn render(media: &Media, skip: bool, flavour: &Flavour) -> String {
    let skipped = if skip { media.skippable() } else { 0 };
    let parts_from = media.parts_from();
    let mut text = Text {
        out: String::with_capacity(capacity(media, skipped, flavour)),
        media,
        systems: flavour.systems,
    };

    text.header();
    if skipped > 0 {
        text.line("#EXT-X-SKIP:SKIPPED-SEGMENTS=", skipped as u64);
    }
    if let Some(next) = media.key().and_then(|key| key.next).filter(|_| !media.ended) {
        key::announcement(&mut text.out, next.kid, media.epoch.plus(media.grid.segment_start(next.msn)));
    }
    // A delta says again which init segment applies: Shaka 5.2 builds a delta's segments from the delta's
    // own tags alone. It changes nothing for players that remember.
    let mut init = None;
    // So it is with keys; that there is none needs saying only after one.
    let mut key = None;
    let mut encrypted = skipped > 0 && media.segments.get(skipped - 1).is_some_and(|s| s.key.is_some());
    for segment in media.segments.range(skipped..) {
        text.begin(
            segment.discontinuity,
            Keys { before: key, encrypted, now: segment.key.as_ref() },
            (init != Some(segment.init)).then_some(segment.init),
            segment.start,
        );
        (init, key, encrypted) = (Some(segment.init), segment.key.as_ref(), segment.key.is_some());
        if segment.msn >= parts_from {
            text.parts(segment.msn, &segment.parts);
        }
        if segment.source.is_none() {
            text.out.push_str("#EXT-X-GAP\n");
        }
        text.out.push_str("#EXTINF:");
        push_units(&mut text.out, units(segment.duration));
        text.out.push_str(",\n");
        // A gap's name is never asked for, but the line must be there (rfc8216bis 4.4.4.7).
        text.object(segment.msn, segment.source.unwrap_or(Letter::A), None);
        text.out.push('\n');
    }
    if let Some(open) = &media.open {
        let keys = Keys { before: key, encrypted, now: open.key.as_ref() };
        text.begin(open.discontinuity, keys, (init != Some(open.init)).then_some(open.init), open.start);
        text.parts(open.msn, &open.parts);
    }
    if media.ended {
        text.out.push_str("#EXT-X-ENDLIST\n");
    } else if let Some(hint) = &media.hint {
        text.hint(hint);
    }
    for report in &media.reports {
        text.report(report);
    }
    text.out
}

fn capacity(media: &Media, skipped: usize, flavour: &Flavour) -> usize {
    let name = media.track.as_str().len();
    let listed = media.segments.len() - skipped;
    // Parts are listed for about as many segments as target durations, and one in the making.
    let parts = (crate::snapshot::PARTS_LISTED as usize + 2) * media.grid.parts() as usize;
    let keys = media.segments.range(skipped..).map(|s| s.key.as_ref()).chain([media.key()]);
    let mut before = None;
    let changes = keys.filter(|key| !same(std::mem::replace(&mut before, *key), *key)).count();
    changes * flavour.systems.len() * key::LINE_BYTES
        + listed * (SEGMENT_BYTES + name)
        + parts * (PART_BYTES + name)
        + HEADER_BYTES * (1 + media.reports.len() / 4)
        + media.reports.iter().map(|r| r.track.as_str().len()).sum::<usize>()
}

struct Text<'a> {
    out: String,
    media: &'a Media,
    systems: &'static [System],
}

/// What was said of keys last, whether that is in force, and what is to be said now.
struct Keys<'a> {
    before: Option<&'a Protection>,
    encrypted: bool,
    now: Option<&'a Protection>,
}

fn same(a: Option<&Protection>, b: Option<&Protection>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.same_key(b),
        (a, b) => a.is_none() && b.is_none(),
    }
}

impl Text<'_> {
    fn header(&mut self) {
        let target = self.media.grid.target_duration();
        let part_target = units(self.media.grid.part_target());
        self.line("#EXTM3U\n#EXT-X-VERSION:", VERSION);
        self.line("#EXT-X-TARGETDURATION:", target);
        self.number("#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=", CAN_SKIP_UNTIL * target);
        self.number(",HOLD-BACK=", HOLD_BACK * target);
        self.out.push_str(",PART-HOLD-BACK=");
        push_units(&mut self.out, HOLD_BACK * part_target);
        self.out.push_str("\n#EXT-X-PART-INF:PART-TARGET=");
        push_units(&mut self.out, part_target);
        self.out.push('\n');
        // Before EXT-X-SKIP: hls.js misreads a delta with a discontinuity otherwise.
        self.line("#EXT-X-MEDIA-SEQUENCE:", self.media.first_msn());
        self.line("#EXT-X-DISCONTINUITY-SEQUENCE:", self.media.discontinuity_sequence);
    }

    /// What stands before a segment's first part or its `EXTINF`.
    fn begin(&mut self, discontinuity: bool, keys: Keys<'_>, map: Option<InitId>, start: Ticks) {
        if discontinuity {
            self.out.push_str("#EXT-X-DISCONTINUITY\n");
        }
        match keys.now {
            Some(now) if !same(keys.before, Some(now)) => {
                key::lines(&mut self.out, "#EXT-X-KEY", now, self.systems);
            }
            None if keys.encrypted => self.out.push_str("#EXT-X-KEY:METHOD=NONE\n"),
            _ => {}
        }
        if let Some(init) = map {
            self.out.push_str("#EXT-X-MAP:URI=\"../");
            self.out.push_str(self.media.track.as_str());
            let _ = writeln!(self.out, "/init-{init}.mp4\"");
        }
        let _ = writeln!(self.out, "#EXT-X-PROGRAM-DATE-TIME:{}", self.media.epoch.plus(start));
    }

    fn parts(&mut self, msn: u64, parts: &[Part]) {
        for part in parts {
            self.out.push_str("#EXT-X-PART:DURATION=");
            push_units(&mut self.out, units(part.duration));
            self.out.push_str(",URI=\"");
            self.object(msn, part.letter, Some(part.index));
            self.out.push('"');
            if part.independent && !part.gap {
                self.out.push_str(",INDEPENDENT=YES");
            }
            if part.gap {
                self.out.push_str(",GAP=YES");
            }
            self.out.push('\n');
        }
    }

    fn hint(&mut self, hint: &Hint) {
        self.out.push_str("#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"");
        self.object(hint.at.msn, hint.letter, Some(hint.at.part));
        self.out.push_str("\"\n");
    }

    fn report(&mut self, report: &Report) {
        self.out.push_str("#EXT-X-RENDITION-REPORT:URI=\"");
        self.out.push_str(report.track.as_str());
        self.number(".m3u8\",LAST-MSN=", report.last.msn);
        self.line(",LAST-PART=", u64::from(report.last.part));
    }

    /// The URI of a segment or part, relative to the playlist: `timeline::name::Object` below `../`.
    fn object(&mut self, msn: u64, letter: Letter, part: Option<u32>) {
        self.out.push_str("../");
        self.out.push_str(self.media.track.as_str());
        self.out.push('/');
        push(&mut self.out, msn);
        self.out.push(match letter {
            Letter::A => 'a',
            Letter::B => 'b',
        });
        if let Some(part) = part {
            self.out.push('.');
            push(&mut self.out, u64::from(part));
        }
        self.out.push_str(".m4s");
    }

    fn number(&mut self, before: &str, n: u64) {
        self.out.push_str(before);
        push(&mut self.out, n);
    }

    fn line(&mut self, before: &str, n: u64) {
        self.number(before, n);
        self.out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::{Open, Segment};
    use timeline::name::TOKEN_MAX;
    use timeline::{Grid, Position, Utc};

    /// An hour of a track with the longest name and long numbers is written without moving the text.
    #[test]
    fn the_text_fits_its_capacity() {
        let grid = Grid::for_frame_rate("25".parse().unwrap()).unwrap();
        let name = "v".repeat(TOKEN_MAX).parse().unwrap();
        let mut media = Media::new(grid, Utc(0), name);
        let part =
            |index| Part { index, letter: Letter::B, duration: grid.part(), independent: true, gap: false };
        for msn in 1 << 40..(1 << 40) + 1_875 {
            let parts = (0..grid.parts()).map(part).collect();
            let open = Open {
                msn,
                start: grid.segment_start(msn),
                init: InitId(7),
                key: None,
                discontinuity: false,
                parts,
            };
            media.open = Some(open.clone());
            media.segments.push_back(Segment { source: None, ..open.close(grid.segment(), None) });
        }
        let last = Position { msn: 1 << 40, part: 5 };
        media.reports = (0..8).map(|_| Report { track: media.track.clone(), last }).collect();
        for skip in [false, true] {
            let skipped = if skip { media.skippable() } else { 0 };
            let flavour = &crate::flavour::FLAVOURS[0];
            let (needs, has) = (render(&media, skip, flavour).len(), capacity(&media, skipped, flavour));
            assert!(needs <= has && has < 2 * needs, "{needs} bytes in {has}");
        }
    }
}
