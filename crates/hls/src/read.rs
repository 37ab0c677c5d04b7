//! Playlists read back, for players and checks. Strict about what rfc8216bis says of the order of tags, and
//! safe with any bytes: this is a parser of outside data.

use timeline::{Position, Utc};

use crate::Error;

mod media;
mod multivariant;

pub use media::playlist;
pub use multivariant::multivariant;

/// A media playlist.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Playlist {
    /// `EXT-X-VERSION`; 1 when it is not said.
    pub version: u64,
    /// `EXT-X-TARGETDURATION`, in seconds.
    pub target_duration: u64,
    /// `PART-TARGET`, in seconds.
    pub part_target: Option<f64>,
    /// `CAN-BLOCK-RELOAD=YES`.
    pub can_block_reload: bool,
    /// `CAN-SKIP-UNTIL`, in seconds.
    pub can_skip_until: Option<f64>,
    /// `HOLD-BACK`, in seconds.
    pub hold_back: Option<f64>,
    /// `PART-HOLD-BACK`, in seconds.
    pub part_hold_back: Option<f64>,
    /// `EXT-X-MEDIA-SEQUENCE`.
    pub media_sequence: u64,
    /// `EXT-X-DISCONTINUITY-SEQUENCE`; 0 when it is not said.
    pub discontinuity_sequence: u64,
    /// `SKIPPED-SEGMENTS` of a delta update; 0 for a whole playlist.
    pub skipped: u64,
    /// Those listed, oldest first.
    pub segments: Vec<Segment>,
    /// The segment that has parts and no `EXTINF` yet.
    pub open: Option<Open>,
    /// URI of the `EXT-X-PRELOAD-HINT` of a part.
    pub hint: Option<String>,
    /// `EXT-X-RENDITION-REPORT`s.
    pub reports: Vec<Report>,
    /// `EXT-X-ENDLIST`.
    pub ended: bool,
}

/// A segment with its `EXTINF`.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// Its media sequence number.
    pub msn: u64,
    /// As written.
    pub uri: String,
    /// `EXTINF`, in seconds.
    pub duration: f64,
    /// `EXT-X-GAP`.
    pub gap: bool,
    /// What stands before it.
    pub head: Head,
    /// Its parts that are listed.
    pub parts: Vec<Part>,
}

/// A segment without one.
#[derive(Clone, Debug, PartialEq)]
pub struct Open {
    /// Its media sequence number.
    pub msn: u64,
    /// What stands before it.
    pub head: Head,
    /// Its parts so far.
    pub parts: Vec<Part>,
}

/// What applies to a segment and its parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Head {
    /// `EXT-X-PROGRAM-DATE-TIME`, when it is said for this segment.
    pub pdt: Option<Utc>,
    /// `EXT-X-DISCONTINUITY` stands before it.
    pub discontinuity: bool,
    /// URI of the `EXT-X-MAP` in force, as written.
    pub map: Option<String>,
    /// The `EXT-X-KEY`s in force, one for each format; none when it is in the clear.
    pub keys: Vec<Key>,
}

/// A line that names a key.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// `METHOD`.
    pub method: String,
    /// `URI`, as written.
    pub uri: Option<String>,
    /// `KEYFORMAT`; `identity` when it is not said.
    pub format: String,
}

/// A part.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// As written.
    pub uri: String,
    /// In seconds.
    pub duration: f64,
    /// `INDEPENDENT=YES`.
    pub independent: bool,
    /// `GAP=YES`.
    pub gap: bool,
}

/// How far another playlist is.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// As written.
    pub uri: String,
    /// `LAST-MSN` and `LAST-PART` (0 when it is not said).
    pub last: Position,
}

/// A multivariant playlist.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Multivariant {
    /// `EXT-X-STREAM-INF`s, as they stand.
    pub variants: Vec<Variant>,
    /// `EXT-X-MEDIA`s of type audio, as they stand.
    pub audio: Vec<Rendition>,
}

/// A variant stream.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Variant {
    /// As written.
    pub uri: String,
    /// `BANDWIDTH`, in bits a second.
    pub bandwidth: u64,
    /// `AVERAGE-BANDWIDTH`, in bits a second.
    pub average_bandwidth: Option<u64>,
    /// `CODECS`.
    pub codecs: Option<String>,
    /// `RESOLUTION`: width and height in pixels.
    pub resolution: Option<(u64, u64)>,
    /// `FRAME-RATE`, a second.
    pub frame_rate: Option<f64>,
    /// The group of its audio.
    pub audio: Option<String>,
}

/// An audio rendition.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendition {
    /// `GROUP-ID`.
    pub group: String,
    /// `NAME`.
    pub name: String,
    /// `LANGUAGE`.
    pub language: Option<String>,
    /// `DEFAULT=YES`.
    pub default: bool,
    /// `AUTOSELECT=YES`.
    pub autoselect: bool,
    /// `URI`, as written.
    pub uri: Option<String>,
}

impl Playlist {
    /// The first part that is not listed yet: what the next blocking reload asks for.
    pub fn next(&self) -> Position {
        match &self.open {
            Some(open) => Position { msn: open.msn, part: open.parts.len() as u32 },
            None => Position { msn: self.next_segment(), part: 0 },
        }
    }

    /// The MSN after the last segment with an `EXTINF`.
    pub fn next_segment(&self) -> u64 {
        let first = self.media_sequence.saturating_add(self.skipped);
        self.segments.last().map_or(first, |s| s.msn.saturating_add(1))
    }

    /// The whole playlist, from this delta update and the whole one before it. A whole one stays as it is.
    ///
    /// # Errors
    /// [`Error::Delta`] when `previous` lacks something that was skipped.
    pub fn complete(mut self, previous: &Playlist) -> Result<Playlist, Error> {
        if self.skipped == 0 {
            return Ok(self);
        }
        let from = self.media_sequence;
        let lost = Error::Delta { from, to: from.saturating_add(self.skipped - 1) };
        let Some(at) = previous.segments.first().and_then(|first| from.checked_sub(first.msn)) else {
            return Err(lost);
        };
        let (Ok(at), Ok(skipped)) = (usize::try_from(at), usize::try_from(self.skipped)) else {
            return Err(lost);
        };
        let Some(kept) = at.checked_add(skipped).and_then(|end| previous.segments.get(at..end)) else {
            return Err(lost);
        };
        // Parts go before segments are skipped: the Skip Boundary is twice as far back as parts are listed.
        let mut segments: Vec<Segment> =
            kept.iter().map(|s| Segment { parts: Vec::new(), ..s.clone() }).collect();
        let map = segments.last().and_then(|s| s.head.map.clone());
        let heads =
            self.segments.iter_mut().map(|s| &mut s.head).chain(self.open.iter_mut().map(|o| &mut o.head));
        for head in heads.take_while(|head| head.map.is_none()) {
            head.map.clone_from(&map);
        }
        segments.append(&mut self.segments);
        Ok(Playlist { segments, skipped: 0, ..self })
    }
}
