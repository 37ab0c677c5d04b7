//! Common encryption (ISO/IEC 23001-7) of samples, as they are packaged.
//!
//! * [`Encryptor`]: a track's samples and a key in, encrypted samples and what a decryptor must know out.
//! * `ranges`: which bytes of a sample are protected. Of H.264 all but the length, the header and the slice header
//!   of each slice; other NAL units stay clear (10.4.2, 9.5). Of sound everything.
//! * `slice`: where a slice header ends.
//! * `cipher`: AES over those ranges.
//! * `boxes`: `sinf` for the init segment; `senc`, `saiz`, `saio`, `sgpd` and `sbgp` for a chunk.
//!
//! The same samples and the same key give the same bytes: nothing is random. The IV of `cbcs` is the key's own. That
//! of `cenc` is a digest of the sample under the key, so two pipelines that encoded the same moment differently never
//! use one key stream for different bytes, which would give away their difference.

pub(crate) mod boxes;
mod cipher;
mod ranges;
mod slice;

use bytes::{Bytes, BytesMut};
use sha2::{Digest, Sha256};
use timeline::protection::{Kid, Scheme};

use crate::{Codec, Error, Sample, Track};

/// A content key, for as long as a sample takes.
#[derive(Clone, Copy)]
pub struct Key<'a> {
    /// Its name.
    pub kid: Kid,
    /// The secret.
    pub key: &'a [u8; 16],
    /// Constant IV of `cbcs`.
    pub iv: [u8; 16],
}

/// A part of a sample: clear bytes and the protected ones after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subsample {
    /// Bytes in the clear.
    pub clear: u16,
    /// Bytes that are protected.
    pub protected: u32,
}

/// What a decryptor must know of one sample.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Auxiliary {
    /// Its IV; none where the IV is constant.
    pub iv: Option<[u8; 8]>,
    /// Its parts; none when all of it is protected.
    pub subsamples: Vec<Subsample>,
}

/// What the init segment says of a track's protection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Defaults {
    /// How its samples are encrypted.
    pub scheme: Scheme,
    /// The one key, and its constant IV. With keys that rotate there is no one key, and each chunk names its own.
    pub key: Option<(Kid, [u8; 16])>,
}

/// What a chunk says of the protection of its samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protected<'a> {
    /// How they are encrypted.
    pub scheme: Scheme,
    /// Said in the chunk when it is not the init segment's: the key and its constant IV.
    pub key: Option<(Kid, [u8; 16])>,
    /// One for each sample.
    pub samples: &'a [Auxiliary],
    /// Whole `pssh` boxes that announce keys.
    pub pssh: &'a [u8],
}

/// Encrypts the samples of one track.
pub struct Encryptor {
    scheme: Scheme,
    kind: Kind,
}

enum Kind {
    Video(slice::Headers),
    Audio,
}

impl Encryptor {
    /// For a track.
    ///
    /// # Errors
    /// When its parameter sets cannot be read.
    pub fn new(track: &Track, scheme: Scheme) -> Result<Encryptor, Error> {
        let kind = match &track.codec {
            Codec::Avc(avc) => Kind::Video(slice::Headers::new(&avc.config)?),
            Codec::Aac(_) => Kind::Audio,
        };
        Ok(Encryptor { scheme, kind })
    }

    /// How it encrypts.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Encrypts a sample that begins at `time` (in the track's timescale).
    ///
    /// # Errors
    /// When the sample is not what its track is. It is never passed on in the clear instead.
    pub fn encrypt(&self, key: &Key<'_>, time: u64, sample: Sample) -> Result<(Sample, Auxiliary), Error> {
        let subsamples = match &self.kind {
            Kind::Video(headers) => ranges::subsamples(headers, self.scheme, &sample.data)?,
            Kind::Audio => Vec::new(),
        };
        let mut data = BytesMut::from(&sample.data[..]);
        let iv = match self.scheme {
            Scheme::Cbcs => {
                cipher::cbcs(key, matches!(self.kind, Kind::Video(_)), &subsamples, &mut data);
                None
            }
            Scheme::Cenc => {
                let iv = digest(key.key, time, &sample.data);
                cipher::cenc(key.key, iv, &subsamples, &mut data);
                Some(iv)
            }
        };
        let data: Bytes = data.freeze();
        Ok((Sample { data, ..sample }, Auxiliary { iv, subsamples }))
    }
}

/// The IV of `cenc`. Of five million samples under one key (ten tracks of a long match) two share one with a
/// probability of one in a million.
fn digest(key: &[u8; 16], time: u64, sample: &[u8]) -> [u8; 8] {
    let mut hash = Sha256::new();
    hash.update(b"pavilion cenc iv");
    hash.update(key);
    hash.update(time.to_be_bytes());
    hash.update(sample);
    let [a, b, c, d, e, f, g, h, ..]: [u8; 32] = hash.finalize().into();
    [a, b, c, d, e, f, g, h]
}

#[cfg(test)]
mod tests;
