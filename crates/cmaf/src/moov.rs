//! A `moov` box to a [`Track`].

use mp4_atom::{Atom, Codec as Entry, FourCC, Mdhd, Moov, Mvex, Stsd, Trak, Trex};

use crate::boxes::{Children, damaged, decode};
use crate::fragment::Defaults;
use crate::{Aac, Avc, Codec, Error, Track};

/// Only the boxes that matter are decoded, so that an odd one elsewhere (`udta`, `meta`) hurts nobody.
pub(crate) fn parse(moov: &[u8]) -> Result<(Track, Defaults), Error> {
    let mut traks = Vec::new();
    let mut defaults = None;
    for child in Children::of(Moov::KIND, moov) {
        match child? {
            (Trak::KIND, body) => traks.push(body),
            (Mvex::KIND, body) => {
                let trex: Trex = decode(Children::of(Mvex::KIND, body).find(Trex::KIND)?)?;
                defaults = Some(Defaults {
                    duration: trex.default_sample_duration,
                    size: trex.default_sample_size,
                    flags: trex.default_sample_flags,
                });
            }
            _ => {}
        }
    }
    let defaults = defaults.ok_or(Error::Missing(Mvex::KIND))?;
    let [trak] = traks.as_slice() else {
        return Err(Error::Unsupported(format!("a file of {} tracks", traks.len())));
    };
    let mdia = Children::of(Trak::KIND, trak).find(MDIA)?;
    let mdhd: Mdhd = decode(Children::of(MDIA, mdia).find(Mdhd::KIND)?)?;
    if mdhd.timescale == 0 {
        return Err(damaged(Mdhd::KIND, "its timescale is 0"));
    }
    let minf = Children::of(MDIA, mdia).find(MINF)?;
    let stbl = Children::of(MINF, minf).find(STBL)?;
    let stsd: Stsd = decode(Children::of(STBL, stbl).find(Stsd::KIND)?)?;
    let [entry] = stsd.codecs.as_slice() else {
        return Err(Error::Unsupported(format!("a track of {} sample entries", stsd.codecs.len())));
    };
    Ok((Track { timescale: mdhd.timescale, codec: codec(entry)? }, defaults))
}

const MDIA: FourCC = FourCC::new(b"mdia");
const MINF: FourCC = FourCC::new(b"minf");
const STBL: FourCC = FourCC::new(b"stbl");
const ESDS: FourCC = FourCC::new(b"esds");
const AVCC: FourCC = FourCC::new(b"avcC");

/// objectTypeIndication of MPEG-4 audio (ISO/IEC 14496-1, table 5).
pub(crate) const OTI_MPEG4_AUDIO: u8 = 0x40;

fn codec(entry: &Entry) -> Result<Codec, Error> {
    match entry {
        Entry::Avc1(avc1) => {
            let config = avc1.avcc.clone();
            if config.sequence_parameter_sets.is_empty() || config.picture_parameter_sets.is_empty() {
                return Err(damaged(AVCC, "it has no parameter sets"));
            }
            Ok(Codec::Avc(Avc {
                width: avc1.visual.width,
                height: avc1.visual.height,
                config,
                pasp: avc1.pasp.clone(),
                colr: avc1.colr.clone(),
            }))
        }
        Entry::Mp4a(mp4a) => {
            let decoder = &mp4a.esds.es_desc.dec_config;
            if decoder.object_type_indication != OTI_MPEG4_AUDIO {
                return Err(Error::Unsupported(format!(
                    "MPEG-4 object type {:#04x}",
                    decoder.object_type_indication
                )));
            }
            let config = match &decoder.dec_specific {
                Some(specific) if specific.raw.len() >= 2 => specific.raw.clone(),
                _ => return Err(damaged(ESDS, "it has no AudioSpecificConfig")),
            };
            Ok(Codec::Aac(Aac {
                config,
                channels: mp4a.audio.channel_count,
                sample_rate: mp4a.audio.sample_rate.integer(),
                bit_rate: decoder.avg_bitrate,
            }))
        }
        Entry::Unknown(kind, _) => Err(Error::Unsupported(format!("a track of '{kind}'"))),
        other => {
            let name: String = format!("{other:?}").chars().take_while(char::is_ascii_alphanumeric).collect();
            Err(Error::Unsupported(format!("a track of {name}")))
        }
    }
}
