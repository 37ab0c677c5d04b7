//! The beginning of a PES packet (ISO/IEC 13818-1, 2.4.3.6).

use mpeg2ts_reader::packet::Packet;
use mpeg2ts_reader::pes::{PesContents, PesHeader, PtsDts};

use crate::programme::{Kind, Video};

/// A PES packet that begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pes {
    /// Of the stream.
    pub pid: u16,
    /// Presentation time, 33 bits of 90 kHz; it wraps every 26.5 hours.
    pub pts: Option<u64>,
    /// Decode time where the stream gives one of its own, like [`Self::pts`].
    pub dts: Option<u64>,
    /// A decoder can begin here: the stream says so (random_access_indicator), or the first packet shows a
    /// video parameter set or key frame.
    pub random_access: bool,
}

/// Reads the header of one that begins in this packet. Its header may be split over two packets by the
/// letter of the standard; no muxer is known to, and such a one is passed over.
pub(crate) fn begin(pid: u16, kind: Kind, packet: &Packet<'_>, payload: &[u8]) -> Option<Pes> {
    let PesContents::Parsed(Some(contents)) = PesHeader::from_bytes(payload)?.contents() else { return None };
    let (pts, dts) = match contents.pts_dts() {
        Ok(PtsDts::PtsOnly(pts)) => (pts.ok(), None),
        Ok(PtsDts::Both { pts, dts }) => (pts.ok(), dts.ok()),
        _ => (None, None),
    };
    let declared = packet.adaptation_field().is_some_and(|field| field.random_access_indicator());
    let random_access = declared || matches!(kind, Kind::Video(video) if key(video, contents.payload()));
    Some(Pes { pid, pts: pts.map(|t| t.value()), dts: dts.map(|t| t.value()), random_access })
}

/// Whether the first bytes of an access unit show that it is one to begin at.
fn key(video: Video, bytes: &[u8]) -> bool {
    bytes.windows(4).any(|window| {
        let [0, 0, 1, code] = window else { return false };
        match video {
            // IDR slice, SPS (ISO/IEC 14496-10, table 7-1).
            Video::H264 => matches!(code & 0x1f, 5 | 7),
            // IRAP pictures, VPS, SPS (ISO/IEC 23008-2, table 7-1).
            Video::H265 => matches!(code >> 1 & 0x3f, 16..=23 | 32 | 33),
            // Sequence header (ISO/IEC 13818-2, table 6-1).
            Video::Mpeg2 => *code == 0xb3,
            Video::Other => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_frames_show() {
        assert!(key(Video::H264, &[0, 0, 0, 1, 9, 0xf0, 0, 0, 0, 1, 0x67, 100]));
        assert!(key(Video::H264, &[0, 0, 1, 0x65]));
        assert!(!key(Video::H264, &[0, 0, 0, 1, 9, 0xf0, 0, 0, 1, 0x41, 5]));
        assert!(key(Video::H265, &[0, 0, 1, 0x40, 1]));
        assert!(key(Video::H265, &[0, 0, 1, 0x26, 1]));
        assert!(!key(Video::H265, &[0, 0, 1, 0x02, 1]));
        assert!(key(Video::Mpeg2, &[0, 0, 1, 0xb3]));
        assert!(!key(Video::Mpeg2, &[0, 0, 1, 0]));
        assert!(!key(Video::H264, &[0, 0]));
    }
}
