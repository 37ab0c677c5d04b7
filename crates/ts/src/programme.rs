//! The streams of a programme, as its map table (ISO/IEC 13818-1, 2.4.4.8) lists them.

use mpeg2ts_reader::StreamType;
use mpeg2ts_reader::descriptor::CoreDescriptors;
use mpeg2ts_reader::psi::pmt::{PmtSection, StreamInfo};

/// A programme.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Programme {
    /// program_number.
    pub number: u16,
    /// In the order of the table.
    pub streams: Vec<Stream>,
}

/// An elementary stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream {
    /// Of its packets.
    pub pid: u16,
    /// As in the table.
    pub stream_type: u8,
    /// What that means.
    pub kind: Kind,
    /// ISO 639-2 code of three small letters, such as `hin`; absent when the stream has none or `und`. See
    /// [`crate::Language`].
    pub language: Option<String>,
}

/// What a stream carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A picture.
    Video(Video),
    /// Sound.
    Audio(Audio),
    /// Cue messages (ANSI/SCTE 35).
    Scte35,
    /// Anything else: teletext, subtitles, data.
    Other,
}

/// How a picture is coded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Video {
    /// ISO/IEC 14496-10.
    H264,
    /// ISO/IEC 23008-2.
    H265,
    /// ISO/IEC 11172-2 or 13818-2.
    Mpeg2,
    /// Another one.
    Other,
}

/// How sound is coded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audio {
    /// AAC, in ADTS or LATM.
    Aac,
    /// ISO/IEC 11172-3 or 13818-3: layer II, as a rule.
    Mp2,
    /// Dolby Digital.
    Ac3,
    /// Dolby Digital Plus.
    Eac3,
    /// Opus.
    Opus,
}

impl Programme {
    /// The body of a PMT section; `None` when it contradicts itself.
    pub(crate) fn parse(number: u16, body: &[u8]) -> Option<Programme> {
        let table = PmtSection::from_bytes(body).ok()?;
        let streams = table
            .streams()
            .map(|stream| Stream {
                pid: stream.elementary_pid().into(),
                stream_type: stream.stream_type().0,
                kind: kind(&stream),
                language: language(&stream),
            })
            .collect();
        Some(Programme { number, streams })
    }
}

/// stream_type of cue messages (ANSI/SCTE 35, 8.1).
const SCTE35: StreamType = StreamType(0x86);
/// stream_type of Dolby Digital Plus (ATSC A/52, annex G).
const EAC3: StreamType = StreamType(0x87);
/// stream_type of VC-1, by registration.
const VC1: StreamType = StreamType(0xea);

fn kind(stream: &StreamInfo<'_>) -> Kind {
    match stream.stream_type() {
        StreamType::H264 => Kind::Video(Video::H264),
        StreamType::H265 => Kind::Video(Video::H265),
        StreamType::ISO_11172_VIDEO | StreamType::H262 => Kind::Video(Video::Mpeg2),
        StreamType::ISO_14496_2_VISUAL | StreamType::CHINESE_VIDEO_STANDARD | VC1 => {
            Kind::Video(Video::Other)
        }
        StreamType::ISO_11172_AUDIO | StreamType::ISO_138183_AUDIO => Kind::Audio(Audio::Mp2),
        StreamType::ADTS | StreamType::LATM => Kind::Audio(Audio::Aac),
        StreamType::ATSC_DOLBY_DIGITAL_AUDIO => Kind::Audio(Audio::Ac3),
        EAC3 => Kind::Audio(Audio::Eac3),
        SCTE35 => Kind::Scte35,
        // Private: a descriptor tells what it is.
        StreamType::H222_0_PES_PRIVATE_DATA => {
            stream.descriptors().filter_map(Result::ok).find_map(|d| private(&d)).unwrap_or(Kind::Other)
        }
        _ => Kind::Other,
    }
}

/// What a descriptor says about a private stream: DVB's own tags (ETSI EN 300 468, table 12), or a registered
/// format (ISO/IEC 13818-1, 2.6.8).
fn private(descriptor: &CoreDescriptors<'_>) -> Option<Kind> {
    match descriptor {
        CoreDescriptors::UserPrivate(private) => match private.tag {
            0x6a => Some(Kind::Audio(Audio::Ac3)),
            0x7a => Some(Kind::Audio(Audio::Eac3)),
            0x7c => Some(Kind::Audio(Audio::Aac)),
            _ => None,
        },
        CoreDescriptors::Registration(registration) => match &registration.format_identifier().0.0 {
            b"AC-3" => Some(Kind::Audio(Audio::Ac3)),
            b"EAC3" => Some(Kind::Audio(Audio::Eac3)),
            b"Opus" => Some(Kind::Audio(Audio::Opus)),
            b"HEVC" => Some(Kind::Video(Video::H265)),
            _ => None,
        },
        _ => None,
    }
}

/// What ISO 639-2 has for a language that nobody named.
const UNDETERMINED: &str = "und";

fn language(stream: &StreamInfo<'_>) -> Option<String> {
    stream.descriptors().filter_map(Result::ok).find_map(|descriptor| match descriptor {
        CoreDescriptors::ISO639Language(languages) => {
            let code = languages.languages().next()?.ok()?.code().to_ascii_lowercase();
            (code.bytes().all(|b| b.is_ascii_lowercase()) && code != UNDETERMINED).then_some(code)
        }
        _ => None,
    })
}
