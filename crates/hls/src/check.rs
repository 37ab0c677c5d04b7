//! What rfc8216bis forbids, and what Pavilion promises beyond it, found in playlists that were read with
//! [`crate::read`]: in one, and between two of one track. Give it whole playlists (see
//! [`Playlist::complete`]), or deltas to [`one`] alone.

use std::fmt;

use crate::read::{Head, Multivariant, Part, Playlist, Segment};

mod pair;

pub use pair::two;

/// Something forbidden.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Violation {
    /// Section of rfc8216bis.
    pub section: &'static str,
    /// What is wrong, with the values seen.
    pub text: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.section, self.text)
    }
}

/// Durations are written to 10 µs; sums of a segment's parts may be off by that much for each.
const ROUNDING_S: f64 = 1.01e-5;

/// PDT is written to the millisecond, rounded down: two of them may be off by one, and their durations by
/// [`ROUNDING_S`].
const PDT_ROUNDING_US: i64 = 1_100;

/// A float product of two written decimals may be off by this much.
const EPSILON: f64 = 1e-9;

/// Checks one playlist.
pub fn one(list: &Playlist) -> Vec<Violation> {
    let mut found = Found::default();
    found.header(list);
    for segment in &list.segments {
        found.segment(list, segment);
    }
    if let Some(open) = &list.open {
        found.parts(list, open.msn, &open.parts, true);
    }
    found.order(list);
    found.edge(list);
    found.0
}

/// Checks a multivariant playlist.
pub fn multivariant(list: &Multivariant) -> Vec<Violation> {
    let mut found = Found::default();
    if list.variants.is_empty() {
        found.add("4.4.6.2", "there is no variant".to_owned());
    }
    for variant in &list.variants {
        let uri = &variant.uri;
        if variant.average_bandwidth.is_some_and(|average| average > variant.bandwidth) {
            found.add("4.4.6.2", format!("{uri}: AVERAGE-BANDWIDTH is above BANDWIDTH"));
        }
        if variant.codecs.is_none() {
            found.add("4.4.6.2", format!("{uri}: CODECS is missing"));
        }
        if let Some(group) = &variant.audio
            && !list.audio.iter().any(|r| &r.group == group)
        {
            found.add("4.4.6.2", format!("{uri}: there is no audio group {group}"));
        }
    }
    for (i, rendition) in list.audio.iter().enumerate() {
        let (group, name) = (&rendition.group, &rendition.name);
        let mut others = list.audio.iter().take(i).filter(|r| &r.group == group);
        if others.clone().any(|r| &r.name == name) {
            found.add("4.4.6.1.1", format!("NAME {name} is there twice in group {group}"));
        }
        if rendition.default && others.any(|r| r.default) {
            found.add("4.4.6.1.1", format!("group {group} has two defaults"));
        }
        if rendition.default && !rendition.autoselect {
            found.add("4.4.6.1", format!("{name}: DEFAULT=YES needs AUTOSELECT=YES"));
        }
    }
    found.0
}

#[derive(Default)]
struct Found(Vec<Violation>);

impl Found {
    fn add(&mut self, section: &'static str, text: String) {
        self.0.push(Violation { section, text });
    }

    fn header(&mut self, list: &Playlist) {
        let target = list.target_duration as f64;
        let mut version = 3;
        if list.segments.iter().any(|s| s.head.map.is_some()) {
            version = 6;
        }
        if list.segments.iter().any(|s| s.gap) {
            version = 8;
        }
        if list.skipped > 0 {
            version = 9;
        }
        if list.version < version {
            self.add("8", format!("version {} is said and {version} needed", list.version));
        }
        if list.hold_back.is_some_and(|s| s + EPSILON < 3.0 * target) {
            self.add("4.4.3.8", format!("HOLD-BACK {:?} is below 3 target durations", list.hold_back));
        }
        if list.can_skip_until.is_some_and(|s| s + EPSILON < 6.0 * target) {
            self.add(
                "4.4.3.8",
                format!("CAN-SKIP-UNTIL {:?} is below 6 target durations", list.can_skip_until),
            );
        }
        if list.skipped > 0 && list.can_skip_until.is_none() {
            self.add("6.2.5.1", "a delta update without CAN-SKIP-UNTIL".to_owned());
        }
        if list.skipped > 0 && list.ended {
            self.add("6.2.5.1", "a delta update of a playlist that has ended".to_owned());
        }
        if let Some(part_target) = list.part_target {
            match list.part_hold_back {
                None => self.add("4.4.3.8", "PART-INF needs PART-HOLD-BACK".to_owned()),
                Some(s) if s + EPSILON < 3.0 * part_target => {
                    self.add("4.4.3.8", format!("PART-HOLD-BACK {s} is below 3 part targets"));
                }
                Some(_) => {}
            }
            if !list.can_block_reload {
                self.add("B.1", "parts without CAN-BLOCK-RELOAD".to_owned());
            }
        } else if list.open.is_some() || list.segments.iter().any(|s| !s.parts.is_empty()) {
            self.add("4.4.3.7", "parts without EXT-X-PART-INF".to_owned());
        }
    }

    fn segment(&mut self, list: &Playlist, segment: &Segment) {
        let Segment { msn, duration, gap, parts, .. } = segment;
        if duration.round() > list.target_duration as f64 {
            self.add(
                "4.4.3.1",
                format!("segment {msn} lasts {duration} s, target is {}", list.target_duration),
            );
        }
        self.parts(list, *msn, parts, false);
        let sum: f64 = parts.iter().map(|p| p.duration).sum();
        let whole = !parts.is_empty() && !gap && !parts.iter().any(|p| p.gap);
        if whole && (sum - duration).abs() > ROUNDING_S * (parts.len() + 1) as f64 {
            self.add("3.2", format!("segment {msn} lasts {duration} s and its parts {sum} s"));
        }
    }

    fn parts(&mut self, list: &Playlist, msn: u64, parts: &[Part], open: bool) {
        let Some(target) = list.part_target else { return };
        for (i, part) in parts.iter().enumerate() {
            if part.duration > target + EPSILON {
                self.add(
                    "4.4.4.9",
                    format!("part {i} of {msn} lasts {} s, PART-TARGET is {target}", part.duration),
                );
            }
            // The last part of an open segment can turn out to be its final one.
            let last = i + 1 == parts.len();
            let exempt = part.independent || part.gap || last || parts.get(i + 1).is_some_and(|p| p.gap);
            if !exempt && part.duration + EPSILON < 0.85 * target {
                self.add(
                    "4.4.4.9",
                    format!("part {i} of {msn} lasts {} s, below 85 % of {target}", part.duration),
                );
            }
        }
        if open && parts.is_empty() {
            self.add("3.2", format!("open segment {msn} has no parts"));
        }
    }

    /// What holds from segment to segment.
    fn order(&mut self, list: &Playlist) {
        let delta = list.skipped > 0;
        let heads = list.segments.iter().map(|s| (s.msn, &s.head, Some(s.duration)));
        let heads = heads.chain(list.open.iter().map(|o| (o.msn, &o.head, None)));
        let mut before: Option<(&Head, Option<f64>)> = None;
        for (msn, head, duration) in heads {
            match before {
                None if head.map.is_none() && !delta => {
                    self.add("4.4.4.5", format!("segment {msn} has no EXT-X-MAP"));
                }
                Some((prior, _)) if prior.map != head.map && prior.map.is_some() && !head.discontinuity => {
                    self.add("4.4.4.3", format!("EXT-X-MAP changes at {msn} without EXT-X-DISCONTINUITY"));
                }
                _ => {}
            }
            if head.pdt.is_none() {
                self.add("B.1", format!("segment {msn} has no EXT-X-PROGRAM-DATE-TIME"));
            }
            if let (Some(at), Some((Head { pdt: Some(prior), .. }, Some(lasted)))) = (head.pdt, before) {
                let end = prior.0.saturating_add((lasted * 1e6) as i64);
                if at.0.saturating_add(PDT_ROUNDING_US) < end {
                    self.add(
                        "4.4.4.6",
                        format!("segment {msn} begins {} µs before the one before it ends", end - at.0),
                    );
                }
            }
            before = Some((head, duration));
        }
    }

    /// What holds at the live edge.
    fn edge(&mut self, list: &Playlist) {
        if list.ended && list.hint.is_some() {
            self.add("4.4.5.3", "EXT-X-PRELOAD-HINT after the end".to_owned());
        }
        let listed =
            list.segments.iter().flat_map(|s| &s.parts).chain(list.open.iter().flat_map(|o| &o.parts));
        if let Some(hint) = &list.hint
            && listed.clone().any(|p| &p.uri == hint)
        {
            self.add("4.4.5.3", format!("the hint {hint} is listed already"));
        }
        // Parts leave in order, once they are further from the end than three target durations; the segment
        // that straddles that line may keep its.
        let mut from_end: f64 = list.open.iter().flat_map(|o| &o.parts).map(|p| p.duration).sum();
        let mut gone = false;
        for segment in list.segments.iter().rev() {
            let has = !segment.parts.is_empty();
            if has && gone {
                self.add("6.2.2", format!("parts of {} are listed, of later ones no longer", segment.msn));
            }
            gone |= !has && !segment.gap;
            if has && from_end > 3.0 * list.target_duration as f64 + EPSILON {
                self.add("6.2.2", format!("parts of {} are listed {from_end} s from the end", segment.msn));
            }
            from_end += segment.duration;
        }
    }
}
