//! Entries for fuzzing: they must return, whatever the bytes.

use timeline::protection::{Kid, Scheme};

use crate::encrypt::{Encryptor, Key};
use crate::{Avc, Codec, Event, Reader, Sample, Track, inspect, writer};

/// Feeds the reader in pieces (the first byte says of what size) and writes again what it reads.
pub fn fuzz_reader(bytes: &[u8]) {
    let Some((size, bytes)) = bytes.split_first() else { return };
    let mut reader = Reader::new();
    for piece in bytes.chunks(usize::from(*size).max(1)) {
        reader.push(piece);
        while let Ok(Some(event)) = reader.next_event() {
            match event {
                Event::Init(track) => {
                    track.codecs();
                    if let Ok(init) = writer::init(&track) {
                        assert_eq!(crate::reader::init(&init).as_ref(), Ok(&track), "written and read");
                    }
                }
                Event::Sample(sample) => {
                    let written = writer::chunk(writer::Lead::Chunk, 1, 0, &[sample]);
                    assert!(written.is_ok(), "a sample that was read can be written");
                }
            }
        }
    }
}

/// Inspects the bytes as a part or segment, and as an init segment.
pub fn fuzz_inspect(bytes: &[u8]) {
    let _ = inspect(bytes);
    let _ = crate::reader::init(bytes);
}

/// Encrypts the bytes after the first as a sample of x264's 320×240 picture; the first says by which scheme. Whatever
/// is taken adds up, and no byte of a NAL unit's length changes.
pub fn fuzz_encrypt(bytes: &[u8]) {
    let Some((scheme, data)) = bytes.split_first() else { return };
    let scheme = if scheme & 1 == 0 { Scheme::Cbcs } else { Scheme::Cenc };
    let Some(encryptor) = encryptor(scheme) else { return };
    let key = Key { kid: Kid([1; 16]), key: &[7; 16], iv: [9; 16] };
    let sample = Sample { dts: 0, cts: 0, duration: 1, keyframe: true, data: data.to_vec().into() };
    let Ok((encrypted, said)) = encryptor.encrypt(&key, 0, sample) else { return };
    let mut at = 0;
    for part in &said.subsamples {
        let clear = at..at + usize::from(part.clear);
        assert_eq!(encrypted.data.get(clear.clone()), data.get(clear.clone()), "clear bytes stay");
        at = clear.end + part.protected as usize;
    }
    assert_eq!(at, data.len(), "the parts add up");
}

fn encryptor(scheme: Scheme) -> Option<Encryptor> {
    const SPS: [u8; 23] = [
        0x67, 0x64, 0x00, 0x14, 0xac, 0xb4, 0x0a, 0x0f, 0xd8, 0x08, 0x80, 0x00, 0x00, 0x03, 0x00, 0x80, 0x00,
        0x00, 0x19, 0x47, 0x8a, 0x15, 0x50,
    ];
    let config = mp4_atom::Avcc::new(&SPS, &[0x68, 0xef, 0x3c, 0xb0]).ok()?;
    let codec = Codec::Avc(Avc { width: 320, height: 240, config, pasp: None, colr: None });
    Encryptor::new(&Track { timescale: 90_000, codec }, scheme).ok()
}
