//! Encrypted output against independent decryptors: ffmpeg, and `shaka-packager`, which also says how `pssh` boxes look.

#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cmaf::encrypt::Defaults;
use cmaf::{Event, Reader, Sample, Track, writer};
use drm::schedule::Length;
use drm::{Class, Key, Kid, Local, Provider, Scheme, Scope, pssh};
use e2e::all::{Match, Options};
use e2e::tools::{new_ffmpeg, packager, run};
use e2e::until;
use e2e::web::resolve;
use hls::read;
use pipeline::package::{Cadence, Packager, Part};
use pipeline::protect::Drm;
use timeline::Grid;

const MASTER: &str = "0123456789abcdef0123456789abcdef";
/// Segments that the offline programme has: two in the clear, two of one key, two of the next.
const SEGMENTS: u64 = 6;
const FIRST: u64 = 4;

fn scope() -> Scope {
    Scope { r#match: "demo".parse().unwrap(), programme: "main".parse().unwrap() }
}

fn grid() -> Grid {
    Grid::for_frame_rate("25".parse().unwrap()).unwrap()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What an encoder of ours writes: a track and its samples.
fn made(folder: &Path, name: &str, what: &str) -> (Track, Vec<Sample>) {
    let file = folder.join(name).display().to_string();
    let moves = "frag_every_frame+empty_moov+default_base_moof+frag_discont+skip_trailer";
    let args: Vec<&str> = what.split(' ').chain(["-movflags", moves, "-f", "mp4", &file]).collect();
    run("ffmpeg", &[&["-v", "error", "-y"], &args[..]].concat());
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

fn tracks(folder: &Path) -> Vec<(Track, Vec<Sample>, Cadence, Class)> {
    let seconds = grid().segment().seconds() * SEGMENTS as f64;
    let video = format!(
        "-f lavfi -i testsrc2=size=320x180:rate=25:duration={seconds} -c:v libx264 -preset superfast -tune zerolatency \
         -threads 1 -g 48 -keyint_min 48 -sc_threshold 0 -b:v 900k -pix_fmt yuv420p -video_track_timescale 90000"
    );
    let audio = format!("-f lavfi -i sine=440:sample_rate=48000:duration={seconds} -c:a aac -b:a 96k");
    let (video, audio) = (made(folder, "video.mp4", &video), made(folder, "audio.mp4", &audio));
    vec![(video.0, video.1, Cadence::Video, Class::Sd), (audio.0, audio.1, Cadence::Audio, Class::Audio)]
}

/// What a pipeline makes of samples from segment `from` on, and its init segments by name.
fn packaged(
    (track, samples, cadence, class): &(Track, Vec<Sample>, Cadence, Class),
    drm: Option<&Drm>,
    from: u64,
) -> (Vec<Part>, BTreeMap<String, Vec<u8>>) {
    let clear = writer::init(track).unwrap();
    let id = writer::init_id(&clear);
    let mut inits = BTreeMap::from([(id.to_string(), clear.to_vec())]);
    let mut packager = Packager::new(grid(), *cadence, track.timescale, id, from, false);
    if let Some(drm) = drm {
        let (protect, (id, bytes)) = drm.track(track, *class, &grid()).unwrap();
        inits.insert(id.to_string(), bytes.to_vec());
        packager = packager.protected(protect);
    }
    // An encoder that begins later counts from there.
    let zero = (grid().segment_start(from) - grid().segment_start(FIRST)).rescale(i64::from(track.timescale));
    let samples = samples.iter().filter(|s| s.dts >= zero).map(|s| Sample { dts: s.dts - zero, ..s.clone() });
    (samples.flat_map(|sample| packager.push(sample, 0).unwrap()).collect(), inits)
}

/// A digest of every decoded frame. No word of complaint is allowed.
fn frames(file: &Path, key: Option<&Key>) -> Vec<String> {
    let secret = key.map(|key| hex(&key.secret.0));
    let key: Vec<&str> = secret.iter().flat_map(|secret| ["-decryption_key", secret.as_str()]).collect();
    let file = file.display().to_string();
    let args = [
        &["-v", "error", "-xerror"],
        &key[..],
        &["-i", &file, "-fps_mode", "passthrough", "-f", "framemd5", "-"],
    ];
    let text = String::from_utf8(run(new_ffmpeg(), &args.concat())).unwrap();
    text.lines().filter(|l| !l.starts_with('#')).map(|l| l.rsplit(',').next().unwrap().to_owned()).collect()
}

fn write(folder: &Path, name: &str, pieces: &[&[u8]]) -> std::path::PathBuf {
    let file = folder.join(name);
    std::fs::write(&file, pieces.concat()).unwrap();
    file
}

/// The same init segment, but of one key. Decryptors take the key's name and IV from there and know nothing of keys that
/// rotate.
fn of_one_key(init: &[u8], key: &Key) -> Vec<u8> {
    let tenc = init.windows(4).position(|four| four == b"tenc").unwrap();
    let mut init = init.to_vec();
    assert_eq!(init[tenc + 12..tenc + 28], [0; 16], "it names no key");
    init[tenc + 12..tenc + 28].copy_from_slice(&key.kid.0);
    if init[tenc + 11] == 0 {
        init[tenc + 29..tenc + 45].copy_from_slice(&key.iv);
    }
    init
}

/// Decrypts with `shaka-packager`.
fn decrypted(folder: &Path, file: &Path, keys: &[Key]) -> std::path::PathBuf {
    let out = folder.join("decrypted.mp4");
    let stream = format!("in={},stream=0,output={}", file.display(), out.display());
    let list = keys
        .iter()
        .enumerate()
        .map(|(n, key)| format!("label={n}:key_id={}:key={}", key.kid, hex(&key.secret.0)));
    let list: Vec<String> = list.collect();
    run(packager(), &[&stream, "--enable_raw_key_decryption", "--keys", &list.join(",")]);
    out
}

/// The same input, in the clear and encrypted: frame for frame the same after decryption, over a clear lead and a
/// rotation, by either program; and both pipelines make the same bytes.
#[test]
fn decryptors_get_back_every_frame() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let tracks = tracks(folder);
    for scheme in [Scheme::Cbcs, Scheme::Cenc] {
        // Segments 4 and 5 clear, 6 and 7 of period 3, 8 and 9 of period 4.
        let keys = Arc::new(Local::new(MASTER, scope()).unwrap());
        let drm = Drm::new(scheme, Length::Segments(2), Length::Segments(6), keys.clone());
        for track in &tracks {
            let (clear, clear_inits) = packaged(track, None, FIRST);
            let (parts, inits) = packaged(track, Some(&drm), FIRST);
            let (late, late_inits) = packaged(track, Some(&drm), FIRST + 3);
            assert_eq!(inits, late_inits);
            let tail: Vec<&Part> = parts.iter().filter(|p| p.at.msn >= FIRST + 3).collect();
            assert_eq!(late.iter().collect::<Vec<_>>(), tail, "B, which started later, makes the same");
            assert_eq!(clear.len(), parts.len());

            for (plain, part) in clear.iter().zip(&parts) {
                assert_eq!(cmaf::inspect(&plain.bytes), cmaf::inspect(&part.bytes));
                let period = part.at.msn / 2;
                let kid = part.meta.protection.map(|p| p.kid);
                assert_eq!(kid, (part.at.msn >= 6).then(|| scope().kid(track.3, period)), "{:?}", part.at);
                // Announced half a period ahead: within the period's last segment.
                let next = part.meta.protection.and_then(|p| p.next).map(|next| (next.kid, next.msn));
                let announced = part.at.msn >= 6 && part.at.msn % 2 == 1;
                assert_eq!(next, announced.then(|| (scope().kid(track.3, period + 1), period * 2 + 2)));
                assert_eq!(part.bytes == plain.bytes, part.at.msn < 6);
            }
            for segments in [vec![4, 5], vec![6, 7], vec![8, 9]] {
                let of = |parts: &[Part]| -> Vec<Vec<u8>> {
                    parts.iter().filter(|p| segments.contains(&p.at.msn)).map(|p| p.bytes.to_vec()).collect()
                };
                let file = |init: &[u8], parts: Vec<Vec<u8>>, name: &str| {
                    let pieces: Vec<&[u8]> =
                        std::iter::once(init).chain(parts.iter().map(Vec::as_slice)).collect();
                    write(folder, name, &pieces)
                };
                let expected =
                    frames(&file(clear_inits.values().next().unwrap(), of(&clear), "clear.mp4"), None);
                assert!(expected.len() >= 90, "{segments:?}: {}", expected.len());
                if segments[0] < 6 {
                    continue;
                }
                let key = keys.key(track.3, segments[0] / 2).unwrap();
                let init = of_one_key(&inits[&parts.last().unwrap().meta.init.to_string()], &key);
                let one = file(&init, of(&parts), "one-key.mp4");
                assert_eq!(frames(&one, Some(&key)), expected, "ffmpeg, {scheme:?}, {segments:?}");
                let plain = decrypted(folder, &one, &[key]);
                assert_eq!(frames(&plain, None), expected, "shaka-packager, {scheme:?}, {segments:?}");
            }
        }
    }
}

/// The boxes inside some, by path.
fn find<'a>(bytes: &'a [u8], kind: &[u8; 4]) -> Vec<&'a [u8]> {
    let (mut rest, mut found) = (bytes, Vec::new());
    while let Some((size, _)) = rest.split_first_chunk::<4>() {
        let (one, after) = rest.split_at(u32::from_be_bytes(*size) as usize);
        if &one[4..8] == kind {
            found.push(one);
        }
        rest = after;
    }
    found
}

/// What `shaka-packager` writes for the same key: `pssh`, `sinf`, and every encrypted byte.
#[test]
fn shaka_packager_writes_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let local = Local::new(MASTER, scope()).unwrap();
    for (track, samples, cadence, class) in tracks(folder) {
        let name = if cadence == Cadence::Video { "video" } else { "audio" };
        let key = local.key(class, 0).unwrap();
        for scheme in [Scheme::Cbcs, Scheme::Cenc] {
            let out = folder.join("theirs.mp4").display().to_string();
            let stream =
                format!("in={},stream={name},output={out}", folder.join(format!("{name}.mp4")).display());
            let mut keys = format!("label=:key_id={}:key={}", key.kid, hex(&key.secret.0));
            if scheme == Scheme::Cbcs {
                keys += &format!(":iv={}", hex(&key.iv));
            }
            let said = String::from_utf8(scheme.fourcc().to_vec()).unwrap();
            let args = [
                &stream,
                "--enable_raw_key_encryption",
                "--keys",
                &keys,
                "--protection_scheme",
                &said,
                "--protection_systems",
                "Widevine,PlayReady,CommonSystem",
                "--clear_lead",
                "0",
            ];
            run(packager(), &args);
            let theirs = std::fs::read(&out).unwrap();
            let moov = find(&theirs, b"moov")[0];
            let boxes: BTreeSet<&[u8]> = find(&moov[8..], b"pssh").into_iter().collect();
            let checksum = Some(key.checksum());
            let (widevine, common) = (pssh::widevine(key.kid, scheme), pssh::common(&[key.kid]));
            let playready = pssh::playready(key.kid, scheme, checksum);
            assert_eq!(boxes, BTreeSet::from([&widevine[..], &playready[..], &common[..]]), "{name} {said}");

            let defaults = Defaults { scheme, key: Some((key.kid, key.iv)) };
            let ours = writer::protected_init(&track, &defaults).unwrap();
            let sinf = |bytes: &[u8]| -> Vec<u8> {
                let at = bytes.windows(4).position(|four| four == b"sinf").unwrap() - 4;
                bytes[at..][..u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize].to_vec()
            };
            assert_eq!(hex(&sinf(&ours)), hex(&sinf(&theirs)), "{name} {said}");
            if scheme == Scheme::Cbcs {
                let encryptor = cmaf::encrypt::Encryptor::new(&track, scheme).unwrap();
                let with = cmaf::encrypt::Key { kid: key.kid, key: &key.secret.0, iv: key.iv };
                let ours = samples.iter().map(|s| encryptor.encrypt(&with, 0, s.clone()).unwrap().0.data);
                let ours: Vec<u8> = ours.flat_map(|data| data.to_vec()).collect();
                let theirs: Vec<u8> =
                    find(&theirs, b"mdat").into_iter().flat_map(|mdat| mdat[8..].to_vec()).collect();
                assert_eq!(ours.len(), theirs.len());
                assert!(ours == theirs, "{name}: every byte is encrypted where theirs is");
            }
        }
    }
}

/// The whole way: a match with a clear lead and keys that rotate, as a player finds it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_match_is_encrypted_on_air() {
    // The epoch lies a minute back, so the lead ends 26 s after the start: in time for a slow machine to be on air.
    let more = vec!["--drm", "cbcs", "--drm-period", "5s", "--drm-clear-lead", "86s"];
    let game = Match::start(&Options { more, ..Options::default() }).await;
    let master = std::fs::read_to_string(game.folder().join("drm-secret")).unwrap();
    let local = Local::new(&master, scope()).unwrap();
    let schedule = drm::Schedule { clear: 45, period: std::num::NonZeroU64::new(3) };
    let urls = e2e::follow::tracks(&game.web, &game.master()).await;
    let video = |url: &String| url.rsplit('/').next().unwrap().starts_with('v');
    for url in [urls.iter().find(|url| video(url)).unwrap(), urls.iter().find(|url| !video(url)).unwrap()] {
        let list = until("a rotation", Duration::from_secs(90), async || {
            let list = read::playlist(&game.web.text(url).await).unwrap();
            let kids: BTreeSet<_> =
                list.segments.iter().filter_map(|s| s.head.keys.first()?.uri.clone()).collect();
            (kids.len() >= 2).then_some(list)
        })
        .await;
        assert_eq!(hls::check::one(&list), vec![]);
        assert!(list.segments[0].head.keys.is_empty(), "it begins in the clear");
        let class = if video(url) { Class::Sd } else { Class::Audio };
        let folder = tempfile::tempdir().unwrap();
        // From the last clear one on.
        for segment in list.segments.iter().filter(|s| !s.gap && s.msn + 1 >= schedule.clear) {
            let init = game.web.body(&resolve(url, segment.head.map.as_ref().unwrap())).await;
            let body = game.web.body(&resolve(url, &segment.uri)).await;
            let Some(period) = schedule.period(segment.msn) else {
                assert!(segment.head.keys.is_empty());
                frames(&write(folder.path(), "clear.mp4", &[&init, &body]), None);
                continue;
            };
            let said = segment.head.keys.iter().find(|key| key.format == "org.w3.clearkey").unwrap();
            let kid = said.uri.as_ref().unwrap().rsplit(',').next().unwrap();
            let kid = Kid(STANDARD.decode(kid).unwrap().try_into().unwrap());
            let (found, of, key) = local.find(kid, schedule.needed(schedule.clear, segment.msn)).unwrap();
            assert_eq!((found, of), (class, period), "of {}", segment.msn);
            let whole = write(folder.path(), "encrypted.mp4", &[&of_one_key(&init, &key), &body]);
            let plain = decrypted(folder.path(), &whole, &[key]);
            let expected = if class == Class::Sd { 48 } else { 90 };
            assert_eq!(frames(&plain, None).len(), expected, "segment {}", segment.msn);
        }
        let joined = list.segments.iter().find(|s| !s.head.keys.is_empty()).unwrap();
        assert_eq!(
            (joined.msn, joined.head.discontinuity),
            (schedule.clear, true),
            "clear to encrypted is a join"
        );
        let after = list.segments.iter().filter(|s| s.msn > schedule.clear);
        assert_eq!(after.filter(|s| s.head.discontinuity).count(), 0, "a rotation is none");
    }
    let session = game.web.text(&game.master()).await;
    assert!(session.contains("#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,"), "{session}");
    let log = game.program.log();
    assert!(!log.contains(master.trim()), "the secret is in a log");
}
