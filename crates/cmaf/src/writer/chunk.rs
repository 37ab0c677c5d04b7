//! The chunk (ISO/IEC 23000-19, 7.3.3.2): one `moof` and its `mdat`.

use bytes::Bytes;
use mp4_atom::{Encode, FourCC, Mfhd, Moof, Styp, Tfdt, Tfhd, Traf, Trun, TrunEntry};

use super::TRACK_ID;
use crate::encrypt::{Protected, boxes};
use crate::{Error, Sample};

/// sample_depends_on 2: on no other (ISO/IEC 14496-12, 8.8.3.1).
const SYNC: u32 = 0x0200_0000;
/// sample_depends_on 1: on others; sample_is_non_sync_sample.
const NON_SYNC: u32 = 0x0100_0000 | crate::fragment::NON_SYNC;

/// Where the `traf` begins in its `moof`: after the header of that and `mfhd`.
const TRAF_AT: usize = 8 + 16;

/// Bytes of an `mdat` header.
const MDAT_HEADER: usize = 8;

/// What stands before the `moof`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lead {
    /// A `styp`: this is the first chunk of a segment.
    Segment,
    /// Nothing: a later chunk.
    Chunk,
}

/// A chunk of these samples, which follow one another without a hole: their own `dts` is not looked at, the
/// first begins at `base_decode_time` (in the track's timescale) and each next one where the last one ends.
pub fn chunk(
    lead: Lead,
    sequence_number: u32,
    base_decode_time: u64,
    samples: &[Sample],
) -> Result<Bytes, Error> {
    written(lead, sequence_number, base_decode_time, samples, None)
}

/// The same of samples that are encrypted already.
pub fn protected_chunk(
    lead: Lead,
    sequence_number: u32,
    base_decode_time: u64,
    samples: &[Sample],
    video: bool,
    protected: &Protected<'_>,
) -> Result<Bytes, Error> {
    written(lead, sequence_number, base_decode_time, samples, Some((video, protected)))
}

fn written(
    lead: Lead,
    sequence_number: u32,
    base_decode_time: u64,
    samples: &[Sample],
    protected: Option<(bool, &Protected<'_>)>,
) -> Result<Bytes, Error> {
    let first = samples.first().ok_or(Error::Empty)?;
    let default_flags = if samples.iter().all(|s| s.keyframe) { SYNC } else { NON_SYNC };
    let same_duration = samples.iter().all(|s| s.duration == first.duration);
    let no_cts = samples.iter().all(|s| s.cts == 0);
    // Usual are a key frame first or none at all, and there a flag for the first one is enough.
    let flags_each = samples.iter().skip(1).any(|s| s.keyframe) && default_flags == NON_SYNC;

    let entry = |(n, sample): (usize, &Sample)| -> Result<TrunEntry, Error> {
        let flags = if sample.keyframe { SYNC } else { NON_SYNC };
        Ok(TrunEntry {
            duration: (!same_duration).then_some(sample.duration),
            size: Some(u32::try_from(sample.data.len()).map_err(|_| too_large())?),
            flags: (flags_each || n == 0 && flags != default_flags).then_some(flags),
            cts: (!no_cts).then_some(i64::from(sample.cts)),
        })
    };
    let entries = samples.iter().enumerate().map(entry).collect::<Result<Vec<_>, _>>()?;

    let payload = samples.iter().map(|s| s.data.len()).sum::<usize>();
    let mdat = u32::try_from(MDAT_HEADER + payload).map_err(|_| too_large())?;
    let mut moof = Moof {
        mfhd: Mfhd { sequence_number },
        traf: vec![Traf {
            tfhd: Tfhd {
                track_id: TRACK_ID,
                default_sample_duration: Some(first.duration),
                default_sample_flags: Some(default_flags),
                default_base_is_moof: true,
                ..Default::default()
            },
            tfdt: Some(Tfdt { base_media_decode_time: base_decode_time }),
            trun: vec![Trun { data_offset: Some(0), samples: entries.into() }],
            ..Default::default()
        }],
    };
    // The offset is of fixed width, so the size is known before its value.
    let mut head = Vec::new();
    encode(&moof, &mut head)?;
    let (more, pssh) = match protected {
        Some((video, protected)) => (boxes::traf(protected, video, head.len())?, protected.pssh),
        None => (Vec::new(), &[][..]),
    };
    let size = head.len() + more.len() + pssh.len();
    moof.traf[0].trun[0].data_offset = Some(i32::try_from(size + MDAT_HEADER).map_err(|_| too_large())?);
    head.clear();
    encode(&moof, &mut head)?;
    // The traf is the moof's last box, so what it says of protection goes to its end, and pssh boxes after it.
    grow(&mut head, 0, more.len() + pssh.len())?;
    grow(&mut head, TRAF_AT, more.len())?;

    let mut bytes = Vec::with_capacity(STYP_ROOM + size + mdat as usize);
    if lead == Lead::Segment {
        encode(&styp(), &mut bytes)?;
    }
    bytes.extend_from_slice(&head);
    bytes.extend_from_slice(&more);
    bytes.extend_from_slice(pssh);
    bytes.extend_from_slice(&mdat.to_be_bytes());
    bytes.extend_from_slice(b"mdat");
    for sample in samples {
        bytes.extend_from_slice(&sample.data);
    }
    Ok(bytes.into())
}

/// Adds to the size of the box at `at`.
fn grow(head: &mut [u8], at: usize, by: usize) -> Result<(), Error> {
    if let Some(place) = head.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<4>()) {
        let size = u64::from(u32::from_be_bytes(*place)) + by as u64;
        *place = u32::try_from(size).map_err(|_| too_large())?.to_be_bytes();
    }
    Ok(())
}

/// Room for [`styp`], so that the one allocation is enough.
const STYP_ROOM: usize = 32;

/// DASH media segment, CMAF segment.
fn styp() -> Styp {
    let msdh = FourCC::new(b"msdh");
    Styp { major_brand: msdh, minor_version: 0, compatible_brands: vec![msdh, FourCC::new(b"cmfs")] }
}

fn encode(what: &impl Encode, bytes: &mut Vec<u8>) -> Result<(), Error> {
    what.encode(bytes).map_err(|error| Error::Unwritable(error.to_string()))
}

fn too_large() -> Error {
    Error::Unwritable("a chunk of 2 GiB or more".to_owned())
}
