//! Media playlists.

use quick_m3u8::config::ParsingOptionsBuilder;
use quick_m3u8::tag::KnownTag;
use quick_m3u8::tag::hls::{EnumeratedString, PreloadHintType, Tag};
use quick_m3u8::{HlsLine, Reader};
use timeline::Position;

use super::{Head, Key, Open, Part, Playlist, Report, Segment};
use crate::Error;

/// Reads a media playlist.
///
/// # Errors
/// [`Error::Playlist`] with the line that is not HLS, or stands where rfc8216bis does not let it.
pub fn playlist(text: &str) -> Result<Playlist, Error> {
    let mut reader = Reader::from_str(text, ParsingOptionsBuilder::new().with_parsing_for_all_tags().build());
    let mut found = Reading::default();
    let mut line = 0;
    loop {
        line += 1;
        let wrong = |what: String| Error::Playlist { line, what };
        match reader.read_line() {
            Ok(None) => break,
            Ok(Some(read)) => found.line(line, read).map_err(wrong)?,
            Err(e) => return Err(wrong(e.error.to_string())),
        }
    }
    found.finish().map_err(|what| Error::Playlist { line, what })
}

/// What has been read so far.
#[derive(Default)]
struct Reading {
    list: Playlist,
    target_duration: bool,
    map: Option<String>,
    keys: Vec<Key>,
    /// The line before was an `EXT-X-KEY`: the next one is of another format.
    in_keys: bool,
    head: Head,
    parts: Vec<Part>,
    duration: Option<f64>,
    gap: bool,
}

impl Reading {
    fn line(&mut self, number: usize, line: HlsLine<'_>) -> Result<(), String> {
        match line {
            HlsLine::KnownTag(KnownTag::Hls(tag)) => {
                if (number == 1) != matches!(tag, Tag::M3u(_)) {
                    return Err("EXTM3U must be the first line, and only there (4.4.1.1)".to_owned());
                }
                self.tag(tag)
            }
            _ if number == 1 => Err("a playlist begins with #EXTM3U (4.4.1.1)".to_owned()),
            HlsLine::Uri(uri) => self.uri(&uri),
            // The parser shows a tag that it knows, but cannot make sense of, as one that it does not know.
            HlsLine::UnknownTag(tag) if KNOWN.contains(&tag.name()) => {
                Err(format!("#EXT{} does not have the form that it must have", tag.name()))
            }
            _ => Ok(()),
        }
    }

    fn tag(&mut self, tag: Tag<'_>) -> Result<(), String> {
        let in_keys = std::mem::replace(&mut self.in_keys, matches!(tag, Tag::Key(_)));
        match tag {
            Tag::M3u(_) => {}
            Tag::Version(tag) => self.list.version = tag.version(),
            Tag::Targetduration(tag) => {
                self.list.target_duration = tag.target_duration();
                seconds(self.list.target_duration as f64)?;
                self.target_duration = true;
            }
            Tag::PartInf(tag) => self.list.part_target = Some(seconds(tag.part_target())?),
            Tag::ServerControl(tag) => {
                self.list.can_block_reload = tag.can_block_reload();
                self.list.can_skip_until = tag.can_skip_until().map(seconds).transpose()?;
                self.list.hold_back = tag.hold_back().map(seconds).transpose()?;
                self.list.part_hold_back = tag.part_hold_back().map(seconds).transpose()?;
            }
            Tag::MediaSequence(tag) => {
                self.before_segments("EXT-X-MEDIA-SEQUENCE (4.4.3.2)")?;
                self.list.media_sequence = tag.media_sequence();
            }
            Tag::DiscontinuitySequence(tag) => {
                self.before_segments("EXT-X-DISCONTINUITY-SEQUENCE (4.4.3.3)")?;
                self.list.discontinuity_sequence = tag.discontinuity_sequence();
            }
            Tag::Skip(tag) => {
                self.before_segments("EXT-X-SKIP (4.4.5.2), once,")?;
                self.list.skipped = tag.skipped_segments();
            }
            Tag::Discontinuity(_) => {
                self.before_parts("EXT-X-DISCONTINUITY")?;
                self.head.discontinuity = true;
            }
            Tag::Map(tag) => {
                self.before_parts("EXT-X-MAP")?;
                self.map = Some(tag.uri().to_owned());
            }
            Tag::Key(tag) => {
                self.before_parts("EXT-X-KEY")?;
                let format = tag.keyformat().to_owned();
                let (method, uri) = (tag.method().as_cow().into_owned(), tag.uri().map(str::to_owned));
                // Whoever changes keys says all of them anew: none of the ones before stays in force.
                if !in_keys {
                    self.keys.clear();
                }
                if method != "NONE" {
                    if self.keys.iter().any(|key| key.format == format) {
                        return Err(format!("two keys of KEYFORMAT {format} for one segment (4.4.4.4)"));
                    }
                    self.keys.push(Key { method, uri, format });
                }
            }
            Tag::ProgramDateTime(tag) => {
                self.before_parts("EXT-X-PROGRAM-DATE-TIME")?;
                let at = tag.program_date_time().to_string();
                self.head.pdt = Some(at.parse().map_err(|e: timeline::Error| e.to_string())?);
            }
            Tag::Part(tag) => self.parts.push(Part {
                uri: tag.uri().to_owned(),
                duration: seconds(tag.duration())?,
                independent: tag.independent(),
                gap: tag.gap(),
            }),
            Tag::Gap(_) => self.gap = true,
            Tag::Inf(tag) => self.duration = Some(seconds(tag.duration())?),
            // Players heed the first of a type (6.3.8).
            Tag::PreloadHint(tag)
                if tag.hint_type() == EnumeratedString::Known(PreloadHintType::Part)
                    && self.list.hint.is_none() =>
            {
                self.list.hint = Some(tag.uri().to_owned());
            }
            Tag::RenditionReport(tag) => self.list.reports.push(Report {
                uri: tag.uri().to_owned(),
                last: Position {
                    msn: tag.last_msn(),
                    part: u32::try_from(tag.last_part().unwrap_or(0)).map_err(|e| e.to_string())?,
                },
            }),
            Tag::Endlist(_) => self.list.ended = true,
            Tag::StreamInf(_) | Tag::Media(_) | Tag::IFrameStreamInf(_) => {
                return Err("a multivariant playlist's tag in a media playlist (4.1)".to_owned());
            }
            Tag::Byterange(_) => return Err("segments that are byte ranges are not supported".to_owned()),
            _ => {}
        }
        Ok(())
    }

    fn uri(&mut self, uri: &str) -> Result<(), String> {
        let duration = self.duration.take().ok_or("a segment without EXTINF (4.4.4.1)")?;
        let msn = self.msn()?;
        let segment = Segment {
            msn,
            uri: uri.to_owned(),
            duration,
            gap: std::mem::take(&mut self.gap),
            head: self.head(),
            parts: std::mem::take(&mut self.parts),
        };
        self.list.segments.push(segment);
        Ok(())
    }

    fn finish(mut self) -> Result<Playlist, String> {
        if !self.target_duration {
            return Err("EXT-X-TARGETDURATION is required (4.4.3.1)".to_owned());
        }
        if self.duration.is_some() {
            return Err("EXTINF without a segment (4.4.4.1)".to_owned());
        }
        if !self.parts.is_empty() {
            let (msn, head, parts) = (self.msn()?, self.head(), std::mem::take(&mut self.parts));
            self.list.open = Some(Open { msn, head, parts });
        }
        self.list.version = self.list.version.max(1);
        Ok(self.list)
    }

    fn head(&mut self) -> Head {
        Head { map: self.map.clone(), keys: self.keys.clone(), ..std::mem::take(&mut self.head) }
    }

    /// The number of the segment that is being read.
    fn msn(&self) -> Result<u64, String> {
        let before = self.list.skipped.checked_add(self.list.segments.len() as u64);
        before
            .and_then(|n| n.checked_add(self.list.media_sequence))
            .ok_or_else(|| "MSN beyond 64 bits".to_owned())
    }

    fn before_segments(&self, what: &str) -> Result<(), String> {
        let begun = self.list.skipped > 0
            || !self.list.segments.is_empty()
            || self.duration.is_some()
            || self.head.discontinuity
            || self.map.is_some()
            || !self.parts.is_empty();
        if begun { Err(format!("{what} must stand before the first segment")) } else { Ok(()) }
    }

    fn before_parts(&self, what: &str) -> Result<(), String> {
        let late = !self.parts.is_empty();
        if late {
            Err(format!("{what} must stand before its segment's first part (4.4.4.9)"))
        } else {
            Ok(())
        }
    }
}

/// Names (without `#EXT`) of the tags that matter here.
const KNOWN: [&str; 20] = [
    "M3U",
    "INF",
    "-X-VERSION",
    "-X-TARGETDURATION",
    "-X-PART-INF",
    "-X-SERVER-CONTROL",
    "-X-MEDIA-SEQUENCE",
    "-X-DISCONTINUITY-SEQUENCE",
    "-X-SKIP",
    "-X-DISCONTINUITY",
    "-X-KEY",
    "-X-MAP",
    "-X-PROGRAM-DATE-TIME",
    "-X-PART",
    "-X-GAP",
    "-X-PRELOAD-HINT",
    "-X-RENDITION-REPORT",
    "-X-ENDLIST",
    "-X-STREAM-INF",
    "-X-MEDIA",
];

/// The longest duration that is believed: a day. Everything computed from durations stays finite.
const SECONDS_MAX: f64 = 86_400.0;

fn seconds(value: f64) -> Result<f64, String> {
    if (0.0..=SECONDS_MAX).contains(&value) { Ok(value) } else { Err(format!("{value} is not a duration")) }
}
