//! What a part or segment says about itself: the check at the door of whoever keeps it.

use mp4_atom::{Atom, FourCC, Mdat, Moof, Styp};

use crate::Error;
use crate::boxes::Header;
use crate::fragment::{self, Defaults};

/// A part or segment that holds together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inspected {
    /// Decode time of its first sample (`tfdt`), in the track's timescale.
    pub start: i64,
    /// From [`Self::start`] to the end of its last sample, in the track's timescale.
    pub duration: u64,
    /// Whether its first sample decodes without any other.
    pub starts_with_sync: bool,
    /// Number of chunks (`moof` and `mdat`).
    pub chunks: u32,
    /// Number of samples.
    pub samples: u32,
}

/// Walks a whole part or segment: chunks, with `styp`, `prft` or `emsg` between them, and nothing else. Every
/// sample must have its bytes and a duration, and chunks must not step back in time. Linear in the object's
/// length; the media itself is not read.
pub fn inspect(object: &[u8]) -> Result<Inspected, Error> {
    let mut rest = object;
    let mut waiting: Option<(fragment::Fragment, usize)> = None;
    let mut found: Option<(Inspected, u32)> = None;
    while !rest.is_empty() {
        let header = match Header::parse(rest)? {
            Some(header) if header.total <= rest.len() as u64 => header,
            Some(header) => return Err(Error::CutOff(header.kind)),
            None => return Err(Error::CutOff(FourCC::new(b"????"))),
        };
        let (whole, after) = rest.split_at(header.total as usize);
        rest = after;
        let body = &whole[header.header..];
        match header.kind {
            Moof::KIND if waiting.is_none() => {
                waiting = Some((fragment::parse(body, Defaults::default())?, whole.len()));
            }
            Mdat::KIND => {
                let (fragment, moof) = waiting.take().ok_or(Error::Missing(Moof::KIND))?;
                for entry in &fragment.entries {
                    entry.range(moof + header.header, body.len())?;
                }
                add(&mut found, &fragment)?;
            }
            Styp::KIND | PRFT | EMSG if waiting.is_none() => {}
            kind => return Err(Error::Misplaced(kind)),
        }
    }
    if waiting.is_some() {
        return Err(Error::Missing(Mdat::KIND));
    }
    found.map(|(inspected, _)| inspected).ok_or(Error::Empty)
}

const PRFT: FourCC = FourCC::new(b"prft");
const EMSG: FourCC = FourCC::new(b"emsg");

fn add(found: &mut Option<(Inspected, u32)>, fragment: &fragment::Fragment) -> Result<(), Error> {
    let first = fragment.entries.first().ok_or(Error::Empty)?;
    if fragment.entries.iter().any(|entry| entry.duration == 0) {
        return Err(Error::Timing("a sample has no duration"));
    }
    if first.dts < 0 {
        return Err(Error::Timing("a chunk begins before the epoch"));
    }
    let (sum, track) = found.get_or_insert((
        Inspected { start: first.dts, duration: 0, starts_with_sync: first.keyframe, chunks: 0, samples: 0 },
        fragment.track,
    ));
    if *track != fragment.track {
        return Err(Error::Unsupported("an object of several tracks".to_owned()));
    }
    // Neither subtraction wraps: both ends are of a time that is not negative.
    if first.dts.abs_diff(sum.start) < sum.duration || first.dts < sum.start {
        return Err(Error::Timing("a chunk begins before the last one ends"));
    }
    sum.duration = fragment.end.abs_diff(sum.start);
    sum.chunks += 1;
    sum.samples += fragment.entries.len() as u32;
    Ok(())
}
