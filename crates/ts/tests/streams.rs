//! Streams made by ffmpeg, whole and maltreated, and the sample files where they are present.

#![allow(clippy::unwrap_used, reason = "a failed test may panic")]

use std::path::PathBuf;
use std::process::Command;

use proptest::prelude::*;
use ts::{Audio, Demux, Event, Faults, Kind, Pes, Programme, Video};

/// Of a transport packet, in bytes.
const PACKET: usize = 188;

/// A second of 25 frames and two languages, beginning shortly before the 33-bit wrap.
fn made() -> Vec<u8> {
    ffmpeg(&[
        &["-f", "lavfi", "-i", "testsrc=size=320x180:rate=25", "-f", "lavfi", "-i", "sine=sample_rate=48000"]
            [..],
        &["-map", "0:v", "-map", "1:a", "-map", "1:a", "-t", "1"],
        &["-c:v", "libx264", "-pix_fmt", "yuv420p", "-preset", "superfast", "-bf", "0", "-g", "10"],
        &[
            "-c:a:0",
            "aac",
            "-c:a:1",
            "mp2",
            "-metadata:s:a:0",
            "language=hin",
            "-metadata:s:a:1",
            "language=tam",
        ],
        &["-output_ts_offset", "95443.2", "-muxdelay", "0", "-muxpreload", "0"],
    ])
}

fn ffmpeg(args: &[&[&str]]) -> Vec<u8> {
    let mut command = Command::new("ffmpeg");
    command.args(["-v", "error", "-nostdin"]).args(args.concat()).args(["-f", "mpegts", "-"]);
    let output = command.output().expect("ffmpeg is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// What was seen of a stream.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    programmes: Vec<Programme>,
    pes: Vec<Pes>,
    sections: Vec<Vec<u8>>,
    faults: Faults,
}

fn observe(bytes: &[u8], pieces: usize) -> Seen {
    let mut demux = Demux::new();
    let mut seen = Seen::default();
    for piece in bytes.chunks(pieces) {
        demux.push(piece, |event| match event {
            Event::Programme(programme) => seen.programmes.push(programme),
            Event::Pes(pes) => seen.pes.push(pes),
            Event::Section { data, .. } => seen.sections.push(data),
        });
    }
    seen.faults = demux.faults();
    seen
}

fn kinds(programme: &Programme) -> Vec<(Kind, Option<&str>)> {
    programme.streams.iter().map(|stream| (stream.kind, stream.language.as_deref())).collect()
}

#[test]
fn programme_time_and_key_frames() {
    let seen = observe(&made(), 1_316);
    let [programme] = seen.programmes.as_slice() else { panic!("{:?}", seen.programmes) };
    assert_eq!(
        kinds(programme),
        [
            (Kind::Video(Video::H264), None),
            (Kind::Audio(Audio::Aac), Some("hin")),
            (Kind::Audio(Audio::Mp2), Some("tam")),
        ]
    );
    assert_eq!(seen.faults, Faults::default());

    let video: Vec<_> = seen.pes.iter().filter(|pes| pes.pid == programme.streams[0].pid).collect();
    assert_eq!(video.len(), 25);
    let first = video[0].pts.unwrap();
    assert!(video.iter().any(|pes| pes.pts.unwrap() < first), "the stream crosses the wrap");
    for (n, pes) in video.iter().enumerate() {
        assert_eq!(pes.pts.unwrap(), (first + 3_600 * n as u64) % (1 << 33));
        assert_eq!(pes.random_access, n % 10 == 0, "frame {n}");
    }
    assert!(seen.pes.iter().any(|pes| pes.pid == programme.streams[1].pid && pes.pts.is_some()));
}

#[test]
fn a_lost_packet_is_one_continuity_error() {
    let whole = made();
    let packets: Vec<_> = whole.chunks(PACKET).collect();
    let pid = |packet: &[u8]| u16::from(packet[1] & 0x1f) << 8 | u16::from(packet[2]);
    let payload = |packet: &[u8]| packet[3] & 0x10 != 0;
    let at = (packets.len() / 2..).find(|n| pid(packets[*n]) == 0x100 && payload(packets[*n])).unwrap();
    let lost = observe(&[&packets[..at], &packets[at + 1..]].concat().concat(), PACKET);
    assert_eq!(lost.faults, Faults { continuity_errors: 1, ..Faults::default() });

    // The same packet twice is allowed, and is one PES packet and not two.
    let twice = observe(&[&packets[..=at], &packets[at..]].concat().concat(), PACKET);
    assert_eq!(twice, observe(&whole, PACKET));

    let mut marked = whole.clone();
    marked[at * PACKET + 1] |= 0x80;
    assert_eq!(observe(&marked, PACKET).faults.transport_errors, 1);
}

#[test]
fn tables_let_a_decoder_begin_in_the_middle() {
    let bytes = made();
    let mut demux = Demux::new();
    assert!(demux.tables().is_empty());
    demux.push(&bytes, |_| {});
    let tables = demux.tables();
    assert_eq!(tables.len(), 2 * PACKET);
    let again = observe(&[&tables, &bytes[..PACKET]].concat(), PACKET);
    assert_eq!(again.programmes.as_slice(), demux.programme().map(std::slice::from_ref).unwrap());
}

#[test]
fn another_programme_is_announced() {
    let sound = ffmpeg(&[&["-f", "lavfi", "-i", "sine", "-t", "0.3", "-c:a", "ac3"]]);
    let seen = observe(&[made(), sound].concat(), 1_316);
    let all: Vec<_> = seen.programmes.iter().map(|programme| programme.streams.len()).collect();
    assert_eq!(all, [3, 1]);
    assert_eq!(kinds(&seen.programmes[1]), [(Kind::Audio(Audio::Ac3), None)]);
}

#[test]
fn a_damaged_table_is_counted_and_not_believed() {
    let mut bytes = made();
    let pmt = bytes.chunks(PACKET).position(|packet| packet[1..3] == [0x50, 0x00]).unwrap();
    bytes[pmt * PACKET + 20] ^= 1;
    let seen = observe(&bytes, PACKET);
    assert_eq!(seen.faults.section_errors, 1);
    assert_eq!(seen.programmes.len(), 1, "the next one is believed");
}

proptest! {
    // One encode serves all cases; each is quick.
    #[test]
    fn junk_between_packets_costs_little(
        junk in proptest::collection::vec((any::<prop::sample::Index>(), proptest::collection::vec(any::<u8>(), 1..400)), 1..4),
        pieces in 1..3_000usize,
    ) {
        static MADE: std::sync::LazyLock<Vec<u8>> = std::sync::LazyLock::new(made);
        let whole = observe(&MADE, 1_316);
        let mut packets: Vec<Vec<u8>> = MADE.chunks(PACKET).map(<[u8]>::to_vec).collect();
        for (at, bytes) in &junk {
            let at = at.index(packets.len());
            packets[at].extend_from_slice(bytes);
        }
        let bytes = packets.concat();
        let seen = observe(&bytes, pieces);
        prop_assert_eq!(&seen, &observe(&bytes, bytes.len()));
        prop_assert!(seen.faults.sync_losses <= 3 * 400, "{:?}", seen.faults);
        // Each piece of junk may cost the packets next to it, and what it imitates.
        prop_assert!(seen.pes.len() + 4 * junk.len() >= whole.pes.len());
        prop_assert!(!seen.programmes.is_empty());
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(prop_oneof![Just(0x47u8), any::<u8>()], 0..1_200)) {
        ts::fuzz::fuzz_demux(&bytes);
    }
}

/// Where sample media may lie, or nothing.
fn sample(name: &str) -> Option<Vec<u8>> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let path =
        std::env::var_os("PAVILION_SHARED_DATA").map_or_else(beside, PathBuf::from).join("media").join(name);
    let bytes = std::fs::read(&path).ok();
    if bytes.is_none() {
        println!("skipped: there is no {}", path.display());
    }
    bytes
}

#[test]
fn sample_files() {
    let video = |video| (Kind::Video(video), None);
    for (name, expected) in [
        ("sample_h264.ts", vec![video(Video::H264)]),
        ("sample_h264_mpeg_audio.ts", vec![video(Video::H264), (Kind::Audio(Audio::Mp2), None)]),
        ("sample_h264_no_access_unit_delimiters.ts", vec![video(Video::H264)]),
        ("sample_h265.ts", vec![video(Video::H265)]),
    ] {
        let Some(bytes) = sample(name) else { continue };
        let seen = observe(&bytes, 1_316);
        println!("{name}: {:?} {:?} {} PES", seen.programmes, seen.faults, seen.pes.len());
        assert_eq!(kinds(&seen.programmes[0]), expected, "{name}");
        assert!(seen.pes.iter().any(|pes| pes.pts.is_some() && pes.random_access), "{name}");
    }
}

#[test]
fn sample_cues_are_passed_whole() {
    let Some(bytes) = sample("sample_scte35.ts") else { return };
    let seen = observe(&bytes, 1_316);
    println!("{:?} {:?}", seen.programmes, seen.faults);
    assert!(seen.programmes[0].streams.iter().any(|stream| stream.kind == Kind::Scte35));
    assert!(!seen.sections.is_empty());
    // splice_info_section (ANSI/SCTE 35, 9.6.1).
    assert!(seen.sections.iter().all(|section| section[0] == 0xfc));
}
