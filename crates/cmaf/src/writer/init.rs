//! The init segment: CMAF header (ISO/IEC 23000-19, 7.3.1).

use bytes::Bytes;
use mp4_atom::esds::{DecoderConfig, DecoderSpecific, EsDescriptor, SLConfig};
use mp4_atom::{
    Audio, Avc1, Codec as Entry, Dinf, Dref, DrefEntry, Encode, Esds, FourCC, Ftyp, Hdlr, Matrix, Mdhd, Mdia,
    Minf, Moov, Mp4a, Mvex, Mvhd, Smhd, Stbl, Stco, Stsd, Tkhd, Trak, Trex, Url, Visual, Vmhd,
};
use sha2::{Digest, Sha256};
use timeline::name::InitId;

use super::TRACK_ID;
use crate::encrypt::{Defaults, boxes};
use crate::moov::OTI_MPEG4_AUDIO;
use crate::{Aac, Avc, Codec, Error, Track};

/// streamType of audio (ISO/IEC 14496-1, table 6).
const STREAM_TYPE_AUDIO: u8 = 5;

/// The init segment of a track. Equal tracks give equal bytes: no times of day, no names of software. There is
/// no edit list, so presentation time is what `tfdt` says.
pub fn init(track: &Track) -> Result<Bytes, Error> {
    written(track, None)
}

/// The init segment of a track whose samples are encrypted. Equal tracks and equal defaults give equal bytes.
pub fn protected_init(track: &Track, defaults: &Defaults) -> Result<Bytes, Error> {
    written(track, Some(defaults))
}

fn written(track: &Track, defaults: Option<&Defaults>) -> Result<Bytes, Error> {
    let video = track.is_video();
    let ftyp = Ftyp {
        major_brand: FourCC::new(b"iso6"),
        minor_version: 0,
        compatible_brands: vec![FourCC::new(b"iso6"), FourCC::new(b"cmfc")],
    };
    let (handler, width, height) = match &track.codec {
        Codec::Avc(avc) => (b"vide", avc.width, avc.height),
        Codec::Aac(_) => (b"soun", 0, 0),
    };
    let trak = Trak {
        tkhd: Tkhd {
            track_id: TRACK_ID,
            enabled: true,
            in_movie: true,
            volume: if video { 0.into() } else { 1.into() },
            matrix: identity(),
            width: width.into(),
            height: height.into(),
            ..Default::default()
        },
        mdia: Mdia {
            mdhd: Mdhd { timescale: track.timescale, language: "und".to_owned(), ..Default::default() },
            hdlr: Hdlr { handler: FourCC::new(handler), name: String::new() },
            minf: Minf {
                vmhd: video.then(Vmhd::default),
                smhd: (!video).then(Smhd::default),
                dinf: Dinf { dref: Dref { entries: vec![DrefEntry::Url(Url::default())] } },
                stbl: Stbl {
                    stsd: Stsd { codecs: vec![entry(&track.codec)] },
                    stco: Some(Stco::default()),
                    ..Default::default()
                },
                ..Default::default()
            },
        },
        ..Default::default()
    };
    let moov = Moov {
        mvhd: Mvhd {
            timescale: track.timescale,
            rate: 1.into(),
            volume: 1.into(),
            matrix: identity(),
            next_track_id: TRACK_ID + 1,
            ..Default::default()
        },
        mvex: Some(Mvex {
            trex: vec![Trex {
                track_id: TRACK_ID,
                default_sample_description_index: 1,
                ..Default::default()
            }],
            ..Default::default()
        }),
        trak: vec![trak],
        ..Default::default()
    };
    let mut bytes = Vec::new();
    ftyp.encode(&mut bytes)
        .and_then(|()| moov.encode(&mut bytes))
        .map_err(|error| Error::Unwritable(error.to_string()))?;
    if let Some(defaults) = defaults {
        protect(&mut bytes, video, defaults)?;
    }
    Ok(bytes.into())
}

/// Makes the one sample entry a protected one (ISO/IEC 14496-12, 8.12): its type says so, and `sinf` stands at its
/// end with the type that it had.
fn protect(bytes: &mut Vec<u8>, video: bool, defaults: &Defaults) -> Result<(), Error> {
    const PATH: [&[u8; 4]; 6] = [b"moov", b"trak", b"mdia", b"minf", b"stbl", b"stsd"];
    let missing = || Error::Unwritable("an init segment without a sample entry".to_owned());
    let (mut parents, mut from) = (Vec::new(), 0);
    for kind in PATH {
        let at = find(bytes, from, kind).ok_or_else(missing)?;
        parents.push(at);
        from = at + 8;
    }
    // stsd has version, flags and the number of entries before its first.
    let entry = from + 8;
    parents.push(entry);
    let original: [u8; 4] = *bytes.get(entry + 4..).and_then(<[u8]>::first_chunk).ok_or_else(missing)?;
    let sinf = boxes::sinf(&original, video, defaults);
    let end = entry + size(bytes, entry).ok_or_else(missing)?;
    if end > bytes.len() {
        return Err(missing());
    }
    bytes[entry + 4..entry + 8].copy_from_slice(if video { b"encv" } else { b"enca" });
    for at in parents {
        let grown = size(bytes, at).ok_or_else(missing)? + sinf.len();
        bytes[at..at + 4].copy_from_slice(&(grown as u32).to_be_bytes());
    }
    bytes.splice(end..end, sinf);
    Ok(())
}

/// Where the first box of a type is, among those that follow one another from `at` on.
fn find(bytes: &[u8], mut at: usize, kind: &[u8; 4]) -> Option<usize> {
    while bytes.get(at + 4..at + 8)? != kind {
        at += size(bytes, at)?.max(8);
    }
    Some(at)
}

fn size(bytes: &[u8], at: usize) -> Option<usize> {
    bytes.get(at..)?.first_chunk().map(|size| u32::from_be_bytes(*size) as usize)
}

/// The name of an init segment's bytes.
pub fn init_id(segment: &[u8]) -> InitId {
    let [a, b, c, d, ..]: [u8; 32] = Sha256::digest(segment).into();
    InitId(u32::from_be_bytes([a, b, c, d]))
}

fn entry(codec: &Codec) -> Entry {
    match codec {
        Codec::Avc(Avc { width, height, config, pasp, colr }) => Entry::Avc1(Avc1 {
            visual: Visual { data_reference_index: 1, width: *width, height: *height, ..Default::default() },
            avcc: config.clone(),
            pasp: pasp.clone(),
            colr: colr.clone(),
            ..Default::default()
        }),
        Codec::Aac(Aac { config, channels, sample_rate, bit_rate }) => Entry::Mp4a(Mp4a {
            audio: Audio {
                data_reference_index: 1,
                channel_count: *channels,
                sample_size: 16,
                sample_rate: (*sample_rate).into(),
            },
            esds: Esds {
                es_desc: EsDescriptor {
                    dec_config: DecoderConfig {
                        object_type_indication: OTI_MPEG4_AUDIO,
                        stream_type: STREAM_TYPE_AUDIO,
                        max_bitrate: *bit_rate,
                        avg_bitrate: *bit_rate,
                        dec_specific: Some(DecoderSpecific { raw: config.clone(), ..Default::default() }),
                        ..Default::default()
                    },
                    sl_config: SLConfig::default(),
                    ..Default::default()
                },
            },
            btrt: None,
            taic: None,
        }),
    }
}

/// No rotation (ISO/IEC 14496-12, 6.2.2).
fn identity() -> Matrix {
    Matrix { a: 0x1_0000, b: 0, u: 0, c: 0, d: 0x1_0000, v: 0, x: 0, y: 0, w: 0x4000_0000 }
}
