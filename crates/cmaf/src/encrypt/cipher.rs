//! AES over the protected bytes.

use aes::Aes128;
use cbc::cipher::{Array, BlockModeEncrypt, KeyIvInit, StreamCipher};

use super::{Key, Subsample};

/// Bytes of an AES block.
pub(crate) const BLOCK: usize = 16;
/// Of so many blocks of video `cbcs` encrypts the first (ISO/IEC 23001-7, 10.4: pattern 1:9).
pub(super) const PATTERN: usize = 10;

/// `cbcs`: video by the pattern, each subsample from the constant IV on; sound in full (9.7). Bytes after the last
/// whole block stay clear.
pub(super) fn cbcs(key: &Key<'_>, video: bool, subsamples: &[Subsample], data: &mut [u8]) {
    if !video {
        chain(key, 1, data);
        return;
    }
    for range in protected(subsamples, data.len()) {
        chain(key, PATTERN, &mut data[range]);
    }
}

fn chain(key: &Key<'_>, every: usize, data: &mut [u8]) {
    let mut mode = cbc::Encryptor::<Aes128>::new(&(*key.key).into(), &key.iv.into());
    for block in data.as_chunks_mut::<BLOCK>().0.iter_mut().step_by(every) {
        let mut one = Array::from(*block);
        mode.encrypt_block(&mut one);
        *block = one.into();
    }
}

/// `cenc`: one key stream over all protected bytes of a sample (9.4, 9.5).
pub(super) fn cenc(key: &[u8; 16], iv: [u8; 8], subsamples: &[Subsample], data: &mut [u8]) {
    let mut counter = [0; BLOCK];
    counter[..8].copy_from_slice(&iv);
    let mut stream = ctr::Ctr64BE::<Aes128>::new(&(*key).into(), &counter.into());
    if subsamples.is_empty() {
        stream.apply_keystream(data);
        return;
    }
    for range in protected(subsamples, data.len()) {
        stream.apply_keystream(&mut data[range]);
    }
}

/// Where the protected bytes of a sample are.
fn protected(subsamples: &[Subsample], length: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    let mut at = 0;
    subsamples.iter().map(move |part| {
        let start = (at + usize::from(part.clear)).min(length);
        at = (start + part.protected as usize).min(length);
        start..at
    })
}
