//! A `moof` box to the list of its samples.

use mp4_atom::{Atom, Moof, Tfdt, Tfhd, Traf, Trun};

use crate::Error;
use crate::boxes::{Children, decode};

/// Samples in one fragment. A part has at most 17 and an encoder's fragment one; this is 21 s of 48 kHz AAC,
/// and what bounds the memory that a forged count can take.
pub(crate) const SAMPLES_MAX: usize = 1_024;

/// sample_is_non_sync_sample (ISO/IEC 14496-12, 8.8.3.1).
pub(crate) const NON_SYNC: u32 = 0x0001_0000;

/// What holds for a sample when its fragment does not say: from `trex`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Defaults {
    pub(crate) duration: u32,
    pub(crate) size: u32,
    pub(crate) flags: u32,
}

/// What a `moof` says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fragment {
    pub(crate) track: u32,
    pub(crate) entries: Vec<Entry>,
    /// Decode time after the last sample.
    pub(crate) end: i64,
}

/// A sample, and where its bytes are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) dts: i64,
    pub(crate) cts: i32,
    pub(crate) duration: u32,
    pub(crate) keyframe: bool,
    /// From the first byte of the `moof` box.
    pub(crate) offset: i64,
    pub(crate) size: u32,
}

impl Entry {
    /// Where its bytes are in the payload of the `mdat` box whose payload begins `payload_at` bytes after the
    /// first byte of `moof`.
    pub(crate) fn range(&self, payload_at: usize, payload: usize) -> Result<std::ops::Range<usize>, Error> {
        let outside = Error::Outside { offset: self.offset, size: self.size };
        let start = self.offset.checked_sub(payload_at as i64).and_then(|at| usize::try_from(at).ok());
        let end = start.and_then(|at| at.checked_add(self.size as usize));
        match (start, end) {
            (Some(start), Some(end)) if end <= payload => Ok(start..end),
            _ => Err(outside),
        }
    }
}

/// Reads the body of a `moof` with one track, all of whose fields are relative to that `moof`
/// (default-base-is-moof, as CMAF requires: ISO/IEC 23000-19, 7.5.17).
pub(crate) fn parse(moof: &[u8], trex: Defaults) -> Result<Fragment, Error> {
    let mut traf = None;
    for child in Children::of(Moof::KIND, moof) {
        match child? {
            (Traf::KIND, body) if traf.is_none() => traf = Some(body),
            (Traf::KIND, _) => return Err(Error::Unsupported("a fragment of several tracks".to_owned())),
            _ => {}
        }
    }
    let traf = traf.ok_or(Error::Missing(Traf::KIND))?;

    let mut tfhd: Option<Tfhd> = None;
    let mut base = None;
    let mut runs = Vec::new();
    for child in Children::of(Traf::KIND, traf) {
        match child? {
            (Tfhd::KIND, body) => tfhd = Some(decode(body)?),
            // A negative time is written in two's complement by the encoder, hence the cast.
            (Tfdt::KIND, body) => base = Some(decode::<Tfdt>(body)?.base_media_decode_time as i64),
            (Trun::KIND, body) => runs.push(decode::<Trun>(body)?),
            _ => {}
        }
    }
    let tfhd = tfhd.ok_or(Error::Missing(Tfhd::KIND))?;
    let mut dts = base.ok_or(Error::Missing(Tfdt::KIND))?;
    if tfhd.base_data_offset.is_some() || !tfhd.default_base_is_moof {
        return Err(Error::Unsupported("a fragment without default-base-is-moof".to_owned()));
    }
    let defaults = Defaults {
        duration: tfhd.default_sample_duration.unwrap_or(trex.duration),
        size: tfhd.default_sample_size.unwrap_or(trex.size),
        flags: tfhd.default_sample_flags.unwrap_or(trex.flags),
    };

    let count = runs.iter().map(|run| run.samples.len() as u64).sum();
    if count > SAMPLES_MAX as u64 {
        return Err(Error::Crowded(count));
    }
    let mut entries = Vec::with_capacity(count as usize);
    let mut offset = 0;
    for run in &runs {
        offset = run.data_offset.map_or(offset, i64::from);
        for sample in &run.samples {
            let size = sample.size.unwrap_or(defaults.size);
            let duration = sample.duration.unwrap_or(defaults.duration);
            entries.push(Entry {
                dts,
                cts: i32::try_from(sample.cts.unwrap_or(0))
                    .map_err(|_| Error::Timing("a composition offset does not fit 32 bits"))?,
                duration,
                keyframe: sample.flags.unwrap_or(defaults.flags) & NON_SYNC == 0,
                offset,
                size,
            });
            offset += i64::from(size);
            dts = dts
                .checked_add(i64::from(duration))
                .ok_or(Error::Timing("a decode time does not fit 64 bits"))?;
        }
    }
    Ok(Fragment { track: tfhd.track_id, entries, end: dts })
}
