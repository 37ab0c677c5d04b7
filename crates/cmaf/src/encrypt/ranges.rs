//! Which bytes of a sample of H.264 are protected.

use timeline::protection::Scheme;

use super::Subsample;
use super::cipher::BLOCK;
use super::slice::Headers;
use crate::Error;

/// Subsamples that a sample may have: `saiz` says the size of each entry in one byte (8 of IV, 2 of count, 6 for
/// each). Our encoder makes one slice a picture.
const SUBSAMPLES_MAX: usize = (255 - 8 - 2) / 6;

/// nal_unit_type of slices (ITU-T H.264, table 7-1): of other pictures, and of IDR pictures.
const SLICES: [u8; 2] = [1, 5];
/// Data partitions, which have slice headers of another form; no profile in use has them.
const PARTITIONS: [u8; 3] = [2, 3, 4];

/// The subsamples of a sample of length-prefixed NAL units. Their sizes add up to the sample's.
pub(super) fn subsamples(headers: &Headers, scheme: Scheme, sample: &[u8]) -> Result<Vec<Subsample>, Error> {
    let mut found = Vec::new();
    let (mut rest, mut clear) = (sample, 0);
    while !rest.is_empty() {
        let unit = unit(rest, headers.length).ok_or(Error::Slice("a NAL unit runs past its sample"))?;
        let (length, kind) = (headers.length, unit.first().map_or(0, |header| header & 0x1f));
        let protected = if SLICES.contains(&kind) {
            let header = headers.clear(unit)?;
            match scheme {
                Scheme::Cbcs => unit.len() - header,
                // Whole blocks; what is left over joins the clear bytes (10.1).
                Scheme::Cenc => (unit.len() - header) / BLOCK * BLOCK,
            }
        } else if PARTITIONS.contains(&kind) {
            return Err(Error::Slice("slices in partitions are not supported"));
        } else {
            0
        };
        // Less than a block is not encrypted by either scheme.
        let protected = if protected < BLOCK { 0 } else { protected };
        clear += length + unit.len() - protected;
        if protected > 0 {
            add(&mut found, clear, protected);
            clear = 0;
        }
        rest = &rest[length + unit.len()..];
    }
    if clear > 0 {
        add(&mut found, clear, 0);
    }
    if found.len() > SUBSAMPLES_MAX {
        return Err(Error::Unwritable(format!("a sample of {} subsamples", found.len())));
    }
    Ok(found)
}

/// The NAL unit at the beginning of `bytes`, without its length.
fn unit(bytes: &[u8], length: usize) -> Option<&[u8]> {
    let (said, rest) = bytes.split_at_checked(length)?;
    let said = said.iter().fold(0, |sum: usize, byte| sum << 8 | usize::from(*byte));
    rest.get(..said)
}

/// Clear bytes that do not fit 16 bits are said in several entries.
fn add(found: &mut Vec<Subsample>, mut clear: usize, protected: usize) {
    while clear > usize::from(u16::MAX) {
        found.push(Subsample { clear: u16::MAX, protected: 0 });
        clear -= usize::from(u16::MAX);
    }
    // A sample is smaller than a box that is taken, so 32 bits are enough.
    found.push(Subsample { clear: clear as u16, protected: protected as u32 });
}
