//! What is encrypted here, ffmpeg decrypts to the frames that were there before.

#![allow(clippy::unwrap_used, reason = "a failed test may panic")]

use std::path::Path;
use std::process::Command;

use cmaf::encrypt::{Auxiliary, Defaults, Encryptor, Key, Protected};
use cmaf::writer::{self, Lead};
use cmaf::{Event, Reader, Sample, Track};
use timeline::protection::{Kid, Scheme};

const KID: Kid = Kid([0x11; 16]);
const IV: [u8; 16] = [0xa5; 16];

fn ffmpeg(args: &[&str]) -> String {
    let args = [&["-v", "error", "-nostdin", "-y"], args].concat();
    let output = Command::new("ffmpeg").args(&args).output().expect("ffmpeg is installed");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "ffmpeg {args:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// What an encoder of ours writes.
fn made(folder: &Path, what: &[&str]) -> (Track, Vec<Sample>) {
    let file = folder.join("made.mp4");
    let moves = "frag_every_frame+empty_moov+default_base_moof+frag_discont+skip_trailer";
    ffmpeg(&[what, &["-movflags", moves, "-f", "mp4", file.to_str().unwrap()]].concat());
    let (mut reader, mut track, mut samples) = (Reader::new(), None, Vec::new());
    for piece in std::fs::read(file).unwrap().chunks(1 << 16) {
        reader.push(piece);
        while let Some(event) = reader.next_event().unwrap() {
            match event {
                Event::Init(init) => track = Some(init),
                Event::Sample(sample) => samples.push(sample),
            }
        }
    }
    (track.unwrap(), samples)
}

/// Init segment and one chunk: ffmpeg 5.1 takes one fragment's auxiliary information for the next one's. Of more than one,
/// and of keys that change, newer programs are asked in `tests/`.
fn written(track: &Track, samples: &[Sample], protect: Option<(Scheme, Key<'_>)>) -> Vec<u8> {
    let clear = writer::chunk(Lead::Segment, 1, 0, samples).unwrap();
    let Some((scheme, key)) = protect else {
        return [writer::init(track).unwrap(), clear].concat();
    };
    let encryptor = Encryptor::new(track, scheme).unwrap();
    let (encrypted, said): (Vec<Sample>, Vec<Auxiliary>) =
        samples.iter().map(|s| encryptor.encrypt(&key, s.dts as u64, s.clone()).unwrap()).unzip();
    let free = [0, 0, 0, 8, b'f', b'r', b'e', b'e'];
    let protected = Protected { scheme, key: Some((key.kid, key.iv)), samples: &said, pssh: &free };
    let chunk =
        writer::protected_chunk(Lead::Segment, 1, 0, &encrypted, track.is_video(), &protected).unwrap();
    assert_eq!(cmaf::inspect(&clear), cmaf::inspect(&chunk), "it is the same chunk to whoever has no key");
    let defaults = Defaults { scheme, key: Some((key.kid, key.iv)) };
    [writer::protected_init(track, &defaults).unwrap(), chunk].concat()
}

/// The digest of every decoded frame.
fn frames(folder: &Path, file: &[u8], key: Option<&[u8; 16]>) -> Vec<String> {
    let path = folder.join("read.mp4");
    std::fs::write(&path, file).unwrap();
    let hex: String = key.iter().flat_map(|key| key.iter()).map(|byte| format!("{byte:02x}")).collect();
    let key = if hex.is_empty() { vec![] } else { vec!["-decryption_key", &hex] };
    let text = ffmpeg(
        &[&key[..], &["-i", path.to_str().unwrap(), "-fps_mode", "passthrough", "-f", "framemd5", "-"]]
            .concat(),
    );
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.rsplit(',').next().unwrap().to_owned())
        .collect()
}

const VIDEO: &[&str] = &[
    "-f",
    "lavfi",
    "-i",
    "testsrc2=size=320x180:rate=25:duration=2",
    "-c:v",
    "libx264",
    "-preset",
    "superfast",
    "-tune",
    "zerolatency",
    "-threads",
    "1",
    "-g",
    "48",
    "-pix_fmt",
    "yuv420p",
];
/// With B frames, weights and more than one slice a picture: other slice headers, and emulation prevention in them.
const RICH: &[&str] = &[
    "-f",
    "lavfi",
    "-i",
    "testsrc2=size=320x180:rate=25:duration=2,fade=in:0:40",
    "-c:v",
    "libx264",
    "-preset",
    "slow",
    "-x264-params",
    "slices=4:bframes=3:weightp=2:ref=4:cabac=0",
    "-g",
    "48",
    "-pix_fmt",
    "yuv420p",
];
const AUDIO: &[&str] = &["-f", "lavfi", "-i", "sine=440:duration=1:sample_rate=48000", "-c:a", "aac"];

#[test]
fn ffmpeg_decrypts_every_frame() {
    let folder = tempfile::tempdir().unwrap();
    for what in [VIDEO, RICH, AUDIO] {
        let (track, samples) = made(folder.path(), what);
        let clear = written(&track, &samples, None);
        let expected = frames(folder.path(), &clear, None);
        assert!(expected.len() > 40);
        for scheme in [Scheme::Cbcs, Scheme::Cenc] {
            let secret = [7; 16];
            let key = Key { kid: KID, key: &secret, iv: IV };
            let file = written(&track, &samples, Some((scheme, key)));
            assert_eq!(frames(folder.path(), &file, Some(&secret)), expected, "{scheme:?}");
            assert_eq!(file, written(&track, &samples, Some((scheme, key))));
            // It is not the same without the key.
            let path = folder.path().join("read.mp4");
            let args = [
                "-v",
                "quiet",
                "-i",
                path.to_str().unwrap(),
                "-fps_mode",
                "passthrough",
                "-f",
                "framemd5",
                "-",
            ];
            let without = Command::new("ffmpeg").args(args).output().unwrap().stdout;
            let without = String::from_utf8(without).unwrap();
            assert!(
                !expected.iter().skip(1).any(|frame| without.contains(frame)),
                "frames are seen without the key"
            );
        }
    }
}
