//! Raw picture and sound with timestamps for one pipe: as much of Matroska (RFC 9559) as carries uncompressed
//! 4:2:0 video and 16-bit PCM. A raw pipe has no timestamps, so a frame that was left out would shift all that
//! follow; and ffmpeg reads raw PCM in pieces of 85 ms.

use crate::config::Size;
use crate::sound::{CHANNELS, SAMPLE_HZ};

/// Track number of the picture; those of the sound follow.
const VIDEO_TRACK: u8 = 1;

/// An element with a known size.
fn element(out: &mut Vec<u8>, id: u32, body: &[u8]) {
    element_head(out, id, body.len());
    out.extend_from_slice(body);
}

/// An element's id and the length of its body, as the longest form of EBML's variable-length number.
fn element_head(out: &mut Vec<u8>, id: u32, len: usize) {
    let skip = (id.leading_zeros() / 8) as usize;
    out.extend_from_slice(&id.to_be_bytes()[skip..]);
    out.extend_from_slice(&((1 << 56) | len as u64).to_be_bytes());
}

fn unsigned(out: &mut Vec<u8>, id: u32, value: u64) {
    element(out, id, &value.to_be_bytes());
}

fn nested(out: &mut Vec<u8>, id: u32, fill: impl FnOnce(&mut Vec<u8>)) {
    let mut body = Vec::new();
    fill(&mut body);
    element(out, id, &body);
}

/// What stands before the first cluster: one video track and a PCM track for each language (ISO 639-2).
pub(crate) fn header(size: Size, frame_ms: i64, languages: &[&str]) -> Vec<u8> {
    let mut out = Vec::new();
    nested(&mut out, 0x1A45_DFA3, |ebml| {
        element(ebml, 0x4282, b"matroska");
        unsigned(ebml, 0x4287, 4);
        unsigned(ebml, 0x4285, 2);
    });
    // A segment of unknown size: it ends with the pipe.
    out.extend_from_slice(&[0x18, 0x53, 0x80, 0x67, 0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]);
    nested(&mut out, 0x1549_A966, |info| {
        unsigned(info, 0x2A_D7B1, 1_000_000); // timestamps are in milliseconds
        element(info, 0x4D80, b"stadium");
        element(info, 0x5741, b"stadium");
    });
    nested(&mut out, 0x1654_AE6B, |tracks| {
        nested(tracks, 0xAE, |track| {
            track_head(track, VIDEO_TRACK, 1, b"V_UNCOMPRESSED");
            unsigned(track, 0x23_E383, frame_ms as u64 * 1_000_000);
            nested(track, 0xE0, |video| {
                unsigned(video, 0xB0, u64::from(size.width));
                unsigned(video, 0xBA, u64::from(size.height));
                element(video, 0x2E_B524, b"I420");
                nested(video, 0x55B0, |colour| {
                    unsigned(colour, 0x55B1, 1); // BT.709 matrix
                    unsigned(colour, 0x55B9, 1); // narrow range
                    unsigned(colour, 0x55BA, 1); // BT.709 transfer
                    unsigned(colour, 0x55BB, 1); // BT.709 primaries
                });
            });
        });
        for (n, language) in languages.iter().enumerate() {
            nested(tracks, 0xAE, |track| {
                track_head(track, VIDEO_TRACK + 1 + n as u8, 2, b"A_PCM/INT/LIT");
                element(track, 0x22_B59C, language.as_bytes());
                nested(track, 0xE1, |audio| {
                    element(audio, 0xB5, &f64::from(SAMPLE_HZ).to_be_bytes());
                    unsigned(audio, 0x9F, CHANNELS as u64);
                    unsigned(audio, 0x6264, 16);
                });
            });
        }
    });
    out
}

fn track_head(out: &mut Vec<u8>, number: u8, kind: u64, codec: &[u8]) {
    unsigned(out, 0xD7, u64::from(number));
    unsigned(out, 0x73C5, u64::from(number));
    unsigned(out, 0x83, kind);
    unsigned(out, 0x9C, 0); // no lacing
    element(out, 0x86, codec);
}

/// One cluster, all but the picture's bytes, which the caller writes behind it. `sound` is a list of
/// (language index, milliseconds after the cluster's time, PCM bytes).
pub(crate) fn cluster(out: &mut Vec<u8>, at_ms: u64, sound: &[(usize, i16, &[u8])], picture_len: usize) {
    /// Id (1) and length (8) of a block, its track (1), time (2) and flags (1).
    const BLOCK_HEAD: usize = 13;
    let sound_len: usize = sound.iter().map(|(_, _, pcm)| BLOCK_HEAD + pcm.len()).sum();
    // The cluster's own time: id (1), length (8), value (8).
    element_head(out, 0x1F43_B675, 17 + sound_len + BLOCK_HEAD + picture_len);
    unsigned(out, 0xE7, at_ms);
    for &(language, after_ms, pcm) in sound {
        block_head(out, VIDEO_TRACK + 1 + language as u8, after_ms, pcm.len());
        out.extend_from_slice(pcm);
    }
    block_head(out, VIDEO_TRACK, 0, picture_len);
}

fn block_head(out: &mut Vec<u8>, track: u8, after_ms: i16, len: usize) {
    element_head(out, 0xA3, len + 4);
    out.push(0x80 | track);
    out.extend_from_slice(&after_ms.to_be_bytes());
    out.push(0x80);
}
