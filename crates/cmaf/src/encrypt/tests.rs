//! With a decryptor of our own, which knows only the standard and what the boxes say.

use aes::Aes128;
use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use mp4_atom::Avcc;
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::{Aac, Avc};

const SECRET: [u8; 16] = [7; 16];

fn key() -> Key<'static> {
    Key { kid: Kid([1; 16]), key: &SECRET, iv: [0xa5; 16] }
}

/// x264's for 320×240; a slice of each kind of which `shaka-packager` leaves 4 and 5 bytes in the clear.
fn video() -> Track {
    let sps = hex("67640014acb40a0fd808800000030080000019478a1550");
    let config = Avcc::new(&sps, &hex("68ef3cb0fdf8f800")[..4]).unwrap();
    Track {
        timescale: 90_000,
        codec: Codec::Avc(Avc { width: 320, height: 240, config, pasp: None, colr: None }),
    }
}

fn audio() -> Track {
    let aac = Aac { config: vec![0x11, 0x90], channels: 2, sample_rate: 48_000, bit_rate: 96_000 };
    Track { timescale: 48_000, codec: Codec::Aac(aac) }
}

const IDR: (&str, usize) = ("6588843f314739e81236772cbecb881ed2dbab42e4bd73d6", 4);
const P: (&str, usize) = ("419a2625ff8812ec81bd980668611bcca7fe7beb26ce4dd8", 5);

fn hex(text: &str) -> Vec<u8> {
    text.as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

/// A NAL unit, and how many of its bytes must stay clear; all of them of what is no slice.
fn unit(kind: u8, more: &[u8]) -> (Vec<u8>, Option<usize>) {
    match kind {
        0 => ([hex(IDR.0), more.to_vec()].concat(), Some(IDR.1)),
        1 => ([hex(P.0), more.to_vec()].concat(), Some(P.1)),
        _ => ([&[6], more].concat(), None),
    }
}

fn sample(data: Vec<u8>) -> Sample {
    Sample { dts: 0, cts: 0, duration: 1, keyframe: true, data: data.into() }
}

/// What ISO/IEC 23001-7 asks of a decryptor.
fn decrypted(scheme: Scheme, video: bool, sample: &[u8], said: &Auxiliary) -> Vec<u8> {
    let cipher = Aes128::new(&SECRET.into());
    let mut data = sample.to_vec();
    let whole = [Subsample { clear: 0, protected: data.len() as u32 }];
    let parts = if said.subsamples.is_empty() { &whole[..] } else { &said.subsamples };
    let (mut at, mut counted) = (0, 0_u64);
    for part in parts {
        at += usize::from(part.clear);
        let range = &mut data[at..at + part.protected as usize];
        at += part.protected as usize;
        match scheme {
            Scheme::Cbcs => {
                let mut before = key().iv;
                for (n, block) in range.chunks_exact_mut(16).enumerate() {
                    if video && !n.is_multiple_of(10) {
                        continue;
                    }
                    let seen: [u8; 16] = (&*block).try_into().unwrap();
                    let mut one = seen.into();
                    cipher.decrypt_block(&mut one);
                    block.iter_mut().zip(one.iter().zip(before)).for_each(|(out, (a, b))| *out = a ^ b);
                    before = seen;
                }
            }
            Scheme::Cenc => {
                for byte in range {
                    let mut block = [0; 16];
                    block[..8].copy_from_slice(&said.iv.unwrap());
                    block[8..].copy_from_slice(&(counted / 16).to_be_bytes());
                    let mut stream = block.into();
                    cipher.encrypt_block(&mut stream);
                    *byte ^= stream[(counted % 16) as usize];
                    counted += 1;
                }
            }
        }
    }
    data
}

fn any_scheme() -> impl Strategy<Value = Scheme> {
    prop_oneof![Just(Scheme::Cbcs), Just(Scheme::Cenc)]
}

proptest! {
    #[test]
    fn pictures_come_back_and_headers_stay(
        scheme in any_scheme(),
        units in vec((0..3_u8, vec(any::<u8>(), 0..400)), 1..12),
        large in prop_oneof![9 => Just(0), 1 => 60_000..200_000_usize],
    ) {
        let (mut data, mut clear) = (Vec::new(), Vec::new());
        for (n, (kind, more)) in units.iter().enumerate() {
            let more = if n == 0 { [&more[..], &vec![0xaa; large]].concat() } else { more.clone() };
            let (unit, headers) = unit(*kind, &more);
            let at = data.len();
            data.extend((unit.len() as u32).to_be_bytes());
            data.extend(&unit);
            clear.push(at..at + 4 + headers.unwrap_or(unit.len()));
        }
        let encryptor = Encryptor::new(&video(), scheme).unwrap();
        let (encrypted, said) = encryptor.encrypt(&key(), 5, sample(data.clone())).unwrap();

        let sum: usize = said.subsamples.iter().map(|s| usize::from(s.clear) + s.protected as usize).sum();
        prop_assert_eq!(sum, data.len());
        // No protected byte, not only no changed one, lies in what must stay clear.
        let mut at = 0;
        for part in &said.subsamples {
            let from = at + usize::from(part.clear);
            at = from + part.protected as usize;
            prop_assert!(part.protected == 0 || clear.iter().all(|c| c.end <= from || at <= c.start), "{part:?} at {from}");
            prop_assert!(part.protected == 0 || part.protected >= 16);
            prop_assert!(scheme == Scheme::Cbcs || part.protected.is_multiple_of(16));
        }
        // All that may be protected is: a block of cenc is lost at most.
        let protected: usize = said.subsamples.iter().map(|s| s.protected as usize).sum();
        let slices = units.iter().filter(|(kind, _)| *kind < 2).count();
        let may: usize = data.len() - clear.iter().map(|c| c.len()).sum::<usize>();
        prop_assert!(protected <= may && may - protected < 16 * slices.max(1), "{protected} of {may}");
        prop_assert!(protected == 0 || encrypted.data != data);
        prop_assert_eq!(decrypted(scheme, true, &encrypted.data, &said), data.clone());
        prop_assert_eq!(encryptor.encrypt(&key(), 5, sample(data)).unwrap(), (encrypted, said), "nothing is random");
    }

    #[test]
    fn sound_comes_back(scheme in any_scheme(), data in vec(any::<u8>(), 0..600)) {
        let encryptor = Encryptor::new(&audio(), scheme).unwrap();
        let (encrypted, said) = encryptor.encrypt(&key(), 9, sample(data.clone())).unwrap();
        prop_assert!(said.subsamples.is_empty());
        prop_assert!(data.len() < 16 || encrypted.data != data);
        prop_assert_eq!(decrypted(scheme, false, &encrypted.data, &said), data);
    }

    /// Whatever the bytes of a slice, its header is found inside it or refused.
    #[test]
    fn any_slice_is_cut_or_refused(more in vec(any::<u8>(), 0..80), idr in any::<bool>()) {
        let data = [&((more.len() + 1) as u32).to_be_bytes()[..], &[if idr { 0x65 } else { 0x41 }], &more].concat();
        if let Ok(said) = ranges::subsamples(&match Encryptor::new(&video(), Scheme::Cbcs).unwrap().kind {
            Kind::Video(headers) => headers,
            Kind::Audio => unreachable!("it is a picture"),
        }, Scheme::Cbcs, &data) {
            let sum: usize = said.iter().map(|s| usize::from(s.clear) + s.protected as usize).sum();
            prop_assert_eq!(sum, data.len());
            prop_assert!(usize::from(said[0].clear) > 4);
        }
    }
}

#[test]
fn one_key_stream_is_never_used_twice() {
    let encryptor = Encryptor::new(&audio(), Scheme::Cenc).unwrap();
    let iv = |time, data: &[u8]| encryptor.encrypt(&key(), time, sample(data.to_vec())).unwrap().1.iv;
    assert_eq!(iv(1, b"the same sound"), iv(1, b"the same sound"));
    // The other pipeline's encoder made something else of the same moment.
    assert_ne!(iv(1, b"the same sound"), iv(1, b"the same sounD"));
    assert_ne!(iv(1, b"the same sound"), iv(2, b"the same sound"));
}

#[test]
fn what_cannot_be_told_is_never_passed_on_in_the_clear() {
    let encryptor = Encryptor::new(&video(), Scheme::Cbcs).unwrap();
    for bad in [
        // Runs past its sample; a length of two bytes; a partition; a slice with parameter sets that are not there.
        hex("0000001065888400"),
        hex("0000"),
        hex("0000000442000000"),
        hex("00000005654040ffff"),
    ] {
        assert!(
            matches!(encryptor.encrypt(&key(), 0, sample(bad.clone())), Err(Error::Slice(_))),
            "{bad:x?}"
        );
    }
    let many = (0..60).flat_map(|_| {
        let (unit, _) = unit(1, &[1; 40]);
        [&(unit.len() as u32).to_be_bytes()[..], &unit].concat()
    });
    assert!(matches!(encryptor.encrypt(&key(), 0, sample(many.collect())), Err(Error::Unwritable(_))));
}
