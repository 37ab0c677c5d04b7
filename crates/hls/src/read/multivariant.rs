//! Multivariant playlists.

use quick_m3u8::config::ParsingOptionsBuilder;
use quick_m3u8::tag::KnownTag;
use quick_m3u8::tag::hls::{EnumeratedString, MediaType, Tag};
use quick_m3u8::{HlsLine, Reader};

use super::{Multivariant, Rendition, Variant};
use crate::Error;

/// Reads a multivariant playlist.
///
/// # Errors
/// [`Error::Playlist`] with the line that is not HLS, or not of such a playlist.
pub fn multivariant(text: &str) -> Result<Multivariant, Error> {
    let mut reader = Reader::from_str(text, ParsingOptionsBuilder::new().with_parsing_for_all_tags().build());
    let mut found = Multivariant::default();
    let mut variant: Option<Variant> = None;
    let mut line = 0;
    loop {
        line += 1;
        let wrong = |what: &str| Err(Error::Playlist { line, what: what.to_owned() });
        match reader.read_line() {
            Ok(None) => break,
            Err(e) => return wrong(&e.error.to_string()),
            Ok(Some(HlsLine::KnownTag(KnownTag::Hls(Tag::M3u(_))))) if line == 1 => {}
            Ok(Some(_)) if line == 1 => return wrong("a playlist begins with #EXTM3U (4.4.1.1)"),
            Ok(Some(HlsLine::KnownTag(KnownTag::Hls(tag)))) => match tag {
                Tag::StreamInf(tag) => {
                    let read = Variant {
                        uri: String::new(),
                        bandwidth: tag.bandwidth(),
                        average_bandwidth: tag.average_bandwidth(),
                        codecs: tag.codecs().map(str::to_owned),
                        resolution: tag.resolution().map(|r| (r.width, r.height)),
                        frame_rate: tag.frame_rate(),
                        audio: tag.audio().map(str::to_owned),
                    };
                    if variant.replace(read).is_some() {
                        return wrong("the EXT-X-STREAM-INF before has no URI (4.4.6.2)");
                    }
                }
                Tag::Media(tag) if tag.media_type() == EnumeratedString::Known(MediaType::Audio) => {
                    found.audio.push(Rendition {
                        group: tag.group_id().to_owned(),
                        name: tag.name().to_owned(),
                        language: tag.language().map(str::to_owned),
                        default: tag.default(),
                        autoselect: tag.autoselect(),
                        uri: tag.uri().map(str::to_owned),
                    });
                }
                Tag::Inf(_) | Tag::Part(_) | Tag::Targetduration(_) => {
                    return wrong("a media playlist's tag in a multivariant playlist (4.1)");
                }
                _ => {}
            },
            Ok(Some(HlsLine::Uri(uri))) => match variant.take() {
                Some(read) => found.variants.push(Variant { uri: uri.into_owned(), ..read }),
                None => return wrong("a URI without EXT-X-STREAM-INF (4.4.6.2)"),
            },
            Ok(Some(HlsLine::UnknownTag(tag))) if matches!(tag.name(), "-X-STREAM-INF" | "-X-MEDIA") => {
                return wrong("does not have the form that it must have (4.4.6)");
            }
            Ok(Some(_)) => {}
        }
    }
    if variant.is_some() {
        return Err(Error::Playlist { line, what: "EXT-X-STREAM-INF without a URI (4.4.6.2)".to_owned() });
    }
    Ok(found)
}
