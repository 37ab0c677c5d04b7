//! Whatever is written is read again, however its bytes are cut; whatever is not media is refused.

#![allow(clippy::unwrap_used, reason = "a failed test may panic")]

use bytes::Bytes;
use cmaf::writer::{self, Lead};
use cmaf::{Aac, Avc, Codec, Error, Event, Reader, Sample, Track, inspect};
use parameter_sets::config;
use proptest::collection::vec;
use proptest::prelude::*;

/// Parameter sets of a 320×180 picture.
mod parameter_sets {
    use mp4_atom::Avcc;

    pub(super) fn config() -> Avcc {
        let sps = [0x67, 0x64, 0x00, 0x0c, 0xac, 0xd9, 0x41, 0x41, 0x9f, 0x9f, 0x01, 0x10];
        Avcc::new(&sps, &[0x68, 0xeb, 0xe3, 0xcb, 0x22, 0xc0]).unwrap()
    }
}

fn video() -> Track {
    let avc = Avc { width: 320, height: 180, config: config(), pasp: None, colr: None };
    Track { timescale: 90_000, codec: Codec::Avc(avc) }
}

fn audio() -> Track {
    let config = vec![0x11, 0x90, 0x56, 0xe5, 0x00];
    Track {
        timescale: 48_000,
        codec: Codec::Aac(Aac { config, channels: 2, sample_rate: 48_000, bit_rate: 96_000 }),
    }
}

/// All events of these bytes, pushed in pieces of the given sizes, round and round.
fn read(bytes: &[u8], pieces: &[usize]) -> Result<Vec<Event>, Error> {
    let mut reader = Reader::new();
    let mut events = Vec::new();
    let mut rest = bytes;
    for size in pieces.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, after) = rest.split_at((*size).clamp(1, rest.len()));
        rest = after;
        reader.push(piece);
        while let Some(event) = reader.next_event()? {
            events.push(event);
        }
    }
    Ok(events)
}

/// Samples that follow one another from this time on.
fn samples(start: i64, made: Vec<(u32, i32, bool, Vec<u8>)>) -> Vec<Sample> {
    let mut dts = start;
    made.into_iter()
        .map(|(duration, cts, keyframe, data)| {
            let sample = Sample { dts, cts, duration, keyframe, data: Bytes::from(data) };
            dts += i64::from(duration);
            sample
        })
        .collect()
}

fn some_samples() -> impl Strategy<Value = Vec<Sample>> {
    let one =
        (1..100_000u32, prop_oneof![Just(0), -9_000..9_000i32], any::<bool>(), vec(any::<u8>(), 0..200));
    // Equal durations and no offsets take the other branches of the writer.
    let plain = (Just(3_600), Just(0), any::<bool>(), vec(any::<u8>(), 1..20));
    (0..1_000_000_000_000i64, prop_oneof![vec(one, 1..20), vec(plain, 1..20)])
        .prop_map(|(start, made)| samples(start, made))
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        tracks in prop_oneof![Just(video()), Just(audio())],
        chunks in vec(some_samples(), 1..4),
        pieces in vec(1..400usize, 1..8),
    ) {
        let mut file = writer::init(&tracks).unwrap().to_vec();
        let mut expected = vec![Event::Init(tracks)];
        for (n, samples) in chunks.into_iter().enumerate() {
            let lead = if n == 0 { Lead::Segment } else { Lead::Chunk };
            let chunk = writer::chunk(lead, n as u32, samples[0].dts as u64, &samples).unwrap();
            let seen = inspect(&chunk).unwrap();
            prop_assert_eq!(seen.start, samples[0].dts);
            prop_assert_eq!(seen.duration, samples.iter().map(|s| u64::from(s.duration)).sum::<u64>());
            prop_assert_eq!(seen.starts_with_sync, samples[0].keyframe);
            prop_assert_eq!((seen.chunks, seen.samples), (1, samples.len() as u32));
            file.extend_from_slice(&chunk);
            expected.extend(samples.into_iter().map(Event::Sample));
        }
        prop_assert_eq!(read(&file, &pieces).unwrap(), expected);
    }

    #[test]
    fn no_bytes_panic(bytes in vec(any::<u8>(), 0..300)) {
        cmaf::fuzz::fuzz_reader(&bytes);
        cmaf::fuzz::fuzz_inspect(&bytes);
    }

    #[test]
    fn no_damage_panics(at in any::<prop::sample::Index>(), to in any::<u8>(), cut in any::<prop::sample::Index>()) {
        let mut file = vec![64];
        file.extend_from_slice(&writer::init(&audio()).unwrap());
        file.extend_from_slice(&writer::chunk(Lead::Segment, 1, 7, &samples(7, vec![(9, 1, true, vec![1; 9]); 3])).unwrap());
        let at = at.index(file.len());
        file[at] = to;
        file.truncate(cut.index(file.len()).max(at) + 1);
        cmaf::fuzz::fuzz_reader(&file);
        cmaf::fuzz::fuzz_inspect(&file[1..]);
    }
}

#[test]
fn equal_tracks_have_one_init_segment() {
    let bytes = writer::init(&video()).unwrap();
    assert_eq!(bytes, writer::init(&video()).unwrap());
    assert_eq!(writer::init_id(&bytes), writer::init_id(&writer::init(&video()).unwrap()));
    assert_ne!(writer::init_id(&bytes), writer::init_id(&writer::init(&audio()).unwrap()));
    assert_eq!(cmaf::reader::init(&bytes), Ok(video()));
    // The first four bytes of SHA-256 of nothing at all, from FIPS 180-4's examples.
    assert_eq!(writer::init_id(b"").to_string(), "e3b0c442");
}

#[test]
fn a_segment_is_its_parts_in_order() {
    let part = |n: u32, start| {
        let lead = if n == 0 { Lead::Segment } else { Lead::Chunk };
        let made = samples(start, vec![(3_600, 0, n == 0, vec![0; 5]); 8]);
        writer::chunk(lead, n, start as u64, &made).unwrap()
    };
    let segment = [part(0, 0), part(1, 28_800), part(2, 57_600)].concat();
    let seen = inspect(&segment).unwrap();
    assert_eq!((seen.start, seen.duration, seen.chunks, seen.samples), (0, 86_400, 3, 24));
    assert!(seen.starts_with_sync);
    assert!(!inspect(&part(1, 28_800)).unwrap().starts_with_sync);

    // A hole is the pipeline's to declare; an overlap is nonsense.
    assert_eq!(inspect(&[part(0, 0), part(1, 60_000)].concat()).unwrap().duration, 88_800);
    assert!(matches!(inspect(&[part(0, 0), part(1, 28_799)].concat()), Err(Error::Timing(_))));
    assert!(matches!(inspect(&[part(0, 28_800), part(1, 0)].concat()), Err(Error::Timing(_))));
}

#[test]
fn the_door_refuses_in_one_sentence() {
    let good = writer::chunk(Lead::Segment, 1, 0, &samples(0, vec![(9, 0, true, vec![1; 9])])).unwrap();
    let init = writer::init(&audio()).unwrap();
    for (bytes, why) in [
        (&b""[..], "there is no sample in it"),
        (&good[..good.len() - 1], "the object is cut off inside its 'mdat' box"),
        (&good[..5], "the object is cut off inside its '????' box"),
        (&good[..good.len() - 17], "there is no 'mdat' box where one must be"),
        (&init, "a 'ftyp' box does not belong here"),
        (b"<html><body>not here</body></html>", "the object is cut off inside its 'l><b' box"),
    ] {
        let said = match inspect(bytes) {
            Err(error) => error.to_string(),
            Ok(seen) => panic!("{why}: accepted as {seen:?}"),
        };
        if bytes.starts_with(b"<html") {
            assert!(said.contains("cut off"), "{said}");
        } else {
            assert_eq!(said, why);
        }
    }
    assert_eq!(writer::chunk(Lead::Chunk, 1, 0, &[]), Err(Error::Empty));
}

#[test]
fn memory_is_bounded() {
    // A box that claims too much is refused at its header.
    let mut reader = Reader::new();
    reader.push(b"\x7f\xff\xff\xffmdat");
    assert!(matches!(reader.next_event(), Err(Error::TooLarge { .. })));
    // And stays so.
    reader.push(&writer::init(&audio()).unwrap());
    assert!(reader.next_event().is_err());

    // One of no interest is dropped as it comes, whatever its size.
    let mut reader = Reader::new();
    reader.push(b"\0\0\0\x01free\0\0\0\x01\0\0\0\0");
    for _ in 0..64 {
        reader.push(&[0; 1 << 20]);
        assert_eq!(reader.next_event(), Ok(None));
    }

    // A push that nobody follows up is refused in the end.
    let mut reader = Reader::new();
    for _ in 0..=cmaf::reader::BUFFERED_MAX >> 20 {
        reader.push(&[0; 1 << 20]);
    }
    assert!(matches!(reader.next_event(), Err(Error::Backlog(_))));
}
