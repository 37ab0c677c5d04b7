//! The boxes of protection, written by hand: `mp4-atom` does not know all of them, and the offset of the auxiliary
//! information must be known to the byte.

use timeline::protection::{Kid, Scheme};

use super::{Auxiliary, Defaults, Protected};
use crate::Error;

/// group_description_index of the first entry that a fragment itself describes (ISO/IEC 14496-12, 8.9.4).
const IN_FRAGMENT: u32 = 0x1_0001;
/// senc: there are subsamples.
const SUBSAMPLES: u32 = 2;
/// version of `schm`: 1.0.
const SCHEME_VERSION: u32 = 0x0001_0000;

/// A box of these parts.
pub(crate) fn boxed(kind: &[u8; 4], parts: &[&[u8]]) -> Vec<u8> {
    let size = 8 + parts.iter().map(|part| part.len()).sum::<usize>();
    let mut bytes = Vec::with_capacity(size);
    // Boxes of protection are hundreds of bytes.
    bytes.extend_from_slice(&(size as u32).to_be_bytes());
    bytes.extend_from_slice(kind);
    parts.iter().for_each(|part| bytes.extend_from_slice(part));
    bytes
}

/// The protection of a sample entry of type `original` (ISO/IEC 14496-12, 8.12).
pub(crate) fn sinf(original: &[u8; 4], video: bool, defaults: &Defaults) -> Vec<u8> {
    let (kid, iv) = defaults.key.unwrap_or((Kid([0; 16]), [0; 16]));
    // Version 1 has room for a pattern, and `cbcs` is a scheme of patterns, also where it has none.
    let version: u32 = if defaults.scheme == Scheme::Cbcs { 1 << 24 } else { 0 };
    let mut body = version.to_be_bytes().to_vec();
    body.push(0);
    body.extend(settings(defaults.scheme, video, kid, iv));
    let schm = [0_u32.to_be_bytes(), defaults.scheme.fourcc(), SCHEME_VERSION.to_be_bytes()].concat();
    let tenc = boxed(b"tenc", &[&body]);
    boxed(b"sinf", &[&boxed(b"frma", &[original]), &boxed(b"schm", &[&schm]), &boxed(b"schi", &[&tenc])])
}

/// crypt_byte_block and skip_byte_block: 1 of 10 blocks for `cbcs` video.
fn pattern(scheme: Scheme, video: bool) -> u8 {
    if scheme == Scheme::Cbcs && video { 0x19 } else { 0 }
}

/// What `tenc` and an entry of `seig` say alike, from the pattern on (ISO/IEC 23001-7, 8.2 and 6).
fn settings(scheme: Scheme, video: bool, kid: Kid, iv: [u8; 16]) -> Vec<u8> {
    let mut bytes = vec![pattern(scheme, video), 1];
    match scheme {
        Scheme::Cbcs => {
            bytes.push(0);
            bytes.extend_from_slice(&kid.0);
            bytes.push(16);
            bytes.extend_from_slice(&iv);
        }
        Scheme::Cenc => {
            bytes.push(8);
            bytes.extend_from_slice(&kid.0);
        }
    }
    bytes
}

/// What a `traf` whose `moof` is `before` bytes long without it says of its samples.
pub(crate) fn traf(protected: &Protected<'_>, video: bool, before: usize) -> Result<Vec<u8>, Error> {
    let mut bytes = auxiliary(protected.samples, before)?;
    if let Some((kid, iv)) = protected.key {
        let mut entry = vec![0];
        entry.extend(settings(protected.scheme, video, kid, iv));
        let length = (entry.len() as u32).to_be_bytes();
        let one = 1_u32.to_be_bytes();
        // Version 1 says the length of entries.
        let version = (1_u32 << 24).to_be_bytes();
        bytes.extend(boxed(b"sgpd", &[&version, b"seig", &length, &one, &entry]));
        let samples = (protected.samples.len() as u32).to_be_bytes();
        let (zero, group) = (0_u32.to_be_bytes(), IN_FRAGMENT.to_be_bytes());
        bytes.extend(boxed(b"sbgp", &[&zero, b"seig", &one, &samples, &group]));
    }
    Ok(bytes)
}

/// `saiz`, `saio` and `senc`; nothing when there is nothing to say of any sample.
fn auxiliary(samples: &[Auxiliary], before: usize) -> Result<Vec<u8>, Error> {
    if samples.iter().all(|sample| *sample == Auxiliary::default()) {
        return Ok(Vec::new());
    }
    let (mut sizes, mut information) = (Vec::new(), Vec::new());
    let with_subsamples = samples.iter().any(|sample| !sample.subsamples.is_empty());
    for sample in samples {
        let from = information.len();
        information.extend(sample.iv.iter().flatten());
        if with_subsamples {
            information.extend((sample.subsamples.len() as u16).to_be_bytes());
            for part in &sample.subsamples {
                information.extend(part.clear.to_be_bytes());
                information.extend(part.protected.to_be_bytes());
            }
        }
        let size = u8::try_from(information.len() - from);
        sizes.push(size.map_err(|_| Error::Unwritable("auxiliary information of a sample".to_owned()))?);
    }
    let count = (samples.len() as u32).to_be_bytes();
    let zero = 0_u32.to_be_bytes();
    let first = sizes.first().copied().unwrap_or(0);
    let saiz = if sizes.iter().all(|size| *size == first) {
        boxed(b"saiz", &[&zero, &[first], &count])
    } else {
        boxed(b"saiz", &[&zero, &[0], &count, &sizes])
    };
    // saio is of one size, so the place of what follows senc's header and counts is known.
    let saio_size = 8 + 4 + 4 + 4;
    let at = before + saiz.len() + saio_size + 8 + 4 + 4;
    let at = u32::try_from(at).map_err(|_| Error::Unwritable("a moof of 4 GiB".to_owned()))?;
    let saio = boxed(b"saio", &[&zero, &1_u32.to_be_bytes(), &at.to_be_bytes()]);
    let flags: u32 = if with_subsamples { SUBSAMPLES } else { 0 };
    let senc = boxed(b"senc", &[&flags.to_be_bytes(), &count, &information]);
    Ok([saiz, saio, senc].concat())
}
