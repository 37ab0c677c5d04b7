//! With ffmpeg on both sides: what it writes is read, what is written it accepts, and no frame changes.

#![allow(clippy::unwrap_used, reason = "a failed test may panic")]

use std::path::Path;
use std::process::{Command, Output};

use cmaf::writer::{self, Lead};
use cmaf::{Codec, Event, Reader, Sample, Track};

/// Samples per chunk: a part at 25 frames a second.
const PER_CHUNK: usize = 8;

/// The source's first timestamp: beyond 32 bits of 90 kHz, as a contribution feed's may be.
const START: i64 = 8_000_000_000;

const MP4: [&str; 6] = [
    "-avoid_negative_ts",
    "disabled",
    "-movflags",
    "frag_every_frame+empty_moov+default_base_moof+frag_discont+skip_trailer",
    "-f",
    "mp4",
];

fn run(program: &str, args: &[&str]) -> Output {
    let output = Command::new(program).args(args).output().expect("ffmpeg and ffprobe are installed");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{program} {args:?}: {said}");
    output
}

fn ffmpeg(args: &[&str]) -> Vec<u8> {
    run("ffmpeg", &[&["-v", "error", "-nostdin", "-y"], args].concat()).stdout
}

fn read(bytes: &[u8]) -> (Track, Vec<Sample>) {
    let mut reader = Reader::new();
    let mut track = None;
    let mut samples = Vec::new();
    for piece in bytes.chunks(4_096) {
        reader.push(piece);
        while let Some(event) = reader.next_event().unwrap() {
            match event {
                Event::Init(init) => track = Some(init),
                Event::Sample(sample) => samples.push(sample),
            }
        }
    }
    (track.expect("an init"), samples)
}

/// Init and chunks, with times moved so that they begin at 0.
fn write(track: &Track, samples: &[Sample]) -> Vec<u8> {
    let mut file = writer::init(track).unwrap().to_vec();
    for (n, part) in samples.chunks(PER_CHUNK).enumerate() {
        let lead = if n % 6 == 0 { Lead::Segment } else { Lead::Chunk };
        let at = (part[0].dts - samples[0].dts) as u64;
        file.extend(writer::chunk(lead, n as u32 + 1, at, part).unwrap());
    }
    file
}

/// `pts size flags` of each packet, as ffprobe sees the file.
fn packets(file: &Path) -> Vec<(i64, usize, bool)> {
    let args =
        ["-v", "error", "-show_entries", "packet=pts,size,flags", "-of", "csv=p=0", file.to_str().unwrap()];
    let text = String::from_utf8(run("ffprobe", &args).stdout).unwrap();
    text.lines()
        .map(|line| {
            let mut fields = line.split(',');
            let mut next = || fields.next().unwrap();
            (next().parse().unwrap(), next().parse().unwrap(), next().starts_with('K'))
        })
        .collect()
}

/// The digest of every decoded frame.
fn frames(file: &Path) -> Vec<String> {
    let text = ffmpeg(&["-i", file.to_str().unwrap(), "-fps_mode", "passthrough", "-f", "framemd5", "-"]);
    String::from_utf8(text)
        .unwrap()
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.rsplit(',').next().unwrap().trim().to_owned())
        .collect()
}

/// Reads, writes, and compares with what ffmpeg itself wrote.
fn round_trip(encoded: &[u8]) -> (Track, Vec<Sample>) {
    let dir = tempfile::tempdir().unwrap();
    let (theirs, ours) = (dir.path().join("theirs.mp4"), dir.path().join("ours.mp4"));
    let (track, samples) = read(encoded);
    std::fs::write(&theirs, encoded).unwrap();
    std::fs::write(&ours, write(&track, &samples)).unwrap();
    let start = samples[0].dts;
    let expected: Vec<_> =
        samples.iter().map(|s| (s.dts + i64::from(s.cts) - start, s.data.len(), s.keyframe)).collect();
    assert_eq!(packets(&ours), expected);
    assert_eq!(frames(&ours), frames(&theirs));
    assert_eq!(read(&std::fs::read(&ours).unwrap()).0, track);
    (track, samples)
}

/// A second of video as the pipeline encodes it, its first frame at [`START`].
fn video(more: &[&str]) -> Vec<u8> {
    let setpts = format!("setpts=PTS+{START}");
    let args = ["-copyts", "-t", "2", "-f", "lavfi", "-i", "testsrc=size=320x180:rate=25,settb=1/90000"];
    let encode =
        ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-preset", "superfast", "-video_track_timescale", "90000"];
    let filter = ["-fps_mode", "passthrough", "-enc_time_base", "1:90000", "-vf", &setpts];
    ffmpeg(&[&args[..], &filter, &encode, more, &MP4, &["-"]].concat())
}

#[test]
fn video_keeps_its_time_and_its_frames() {
    let (track, samples) = round_trip(&video(&["-tune", "zerolatency", "-g", "48"]));
    assert_eq!(track.timescale, 90_000);
    let Codec::Avc(avc) = &track.codec else { panic!("{track:?}") };
    assert_eq!((avc.width, avc.height), (320, 180));
    assert_eq!(track.codecs(), "avc1.64000C");
    assert_eq!(samples.len(), 50);
    for (n, sample) in samples.iter().enumerate() {
        assert_eq!(sample.dts, START + 3_600 * n as i64);
        assert_eq!((sample.duration, sample.cts), (3_600, 0));
        assert_eq!(sample.keyframe, n % 48 == 0, "frame {n}");
    }
}

#[test]
fn a_frame_that_is_missing_lengthens_the_one_before() {
    let filter = format!("select='not(between(n,5,6))',setpts=PTS+{START}");
    let (_, samples) = round_trip(&video(&["-tune", "zerolatency", "-vf", &filter]));
    assert_eq!(samples.len(), 48);
    assert_eq!((samples[4].dts - START, samples[4].duration), (4 * 3_600, 3 * 3_600));
    assert_eq!(samples[5].dts - START, 7 * 3_600);
}

#[test]
fn frames_out_of_order_keep_their_offsets() {
    let (_, samples) = round_trip(&video(&["-bf", "3"]));
    assert!(samples.iter().any(|s| s.cts > 0));
}

#[test]
fn aac_begins_with_one_frame_of_priming() {
    let filter = format!("asetpts=PTS+{}", START * 48_000 / 90_000);
    let args = ["-copyts", "-t", "1", "-f", "lavfi", "-i", "sine=440:sample_rate=48000", "-af", &filter];
    let encode = ["-c:a", "aac", "-b:a", "96k", "-ac", "2"];
    let (track, samples) = round_trip(&ffmpeg(&[&args[..], &encode, &MP4, &["-"]].concat()));
    assert_eq!(track.timescale, 48_000);
    assert_eq!(track.codecs(), "mp4a.40.2");
    let Codec::Aac(aac) = &track.codec else { panic!("{track:?}") };
    assert_eq!((aac.channels, aac.sample_rate), (2, 48_000));
    assert_eq!(samples[0].dts, START * 48_000 / 90_000 - 1_024);
    for pair in samples.windows(2) {
        assert_eq!(pair[0].dts + 1_024, pair[1].dts);
    }
    assert!(samples.iter().all(|s| s.keyframe));
}

#[test]
fn time_before_zero_is_negative() {
    let args = ["-f", "lavfi", "-i", "sine=440:sample_rate=48000", "-t", "0.1", "-c:a", "aac"];
    let (_, samples) = read(&ffmpeg(&[&args[..], &MP4, &["-"]].concat()));
    assert_eq!((samples[0].dts, samples[1].dts), (-1_024, 0));
}

#[test]
fn other_codecs_are_refused() {
    let args =
        ["-f", "lavfi", "-i", "sine=440:sample_rate=48000", "-t", "0.1", "-c:a", "flac", "-strict", "-2"];
    let mut reader = Reader::new();
    reader.push(&ffmpeg(&[&args[..], &MP4, &["-"]].concat()));
    let said = reader.next_event().unwrap_err().to_string();
    assert!(said.starts_with("a track of Flac is not supported"), "{said}");
}
