//! What other people's players and validators make of the output, and whether it keeps the promises that the
//! multivariant playlist makes.

#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cmaf::reader;
use e2e::all::{Match, Options};
use e2e::recorder::Recorder;
use e2e::roles::{self, Ground};
use e2e::web::resolve;
use e2e::{media, tools, until};
use hls::read::{self, Multivariant, Playlist};
use serde_json::Value;
use timeline::Utc;
use timeline::name::Letter;
use timeline::programme::{Kind, Track};

/// Segments that are looked at: enough for an average.
const SEGMENTS: usize = 12;
/// Segments in that match take this long, and a start.
const SEGMENTS_MAX: Duration = Duration::from_secs(90);
/// Sound is where it should be within this: one AAC frame.
const AAC_FRAME: i64 = 1_024;
/// Pips are looked for this far around their place, in samples.
const AROUND: i64 = 4_800;

/// A match that has been on air for a while, fetched.
struct Fetched {
    folder: tempfile::TempDir,
    master: Multivariant,
    tracks: Vec<Fetch>,
    game: Match,
}

/// One track, fetched.
struct Fetch {
    name: String,
    text: String,
    list: Playlist,
    init: Vec<u8>,
    /// The last of them, by MSN.
    segments: BTreeMap<u64, Vec<u8>>,
}

impl Fetch {
    fn fetched(&self) -> impl Iterator<Item = (&read::Segment, &[u8])> {
        self.list.segments.iter().filter_map(|s| Some((s, self.segments.get(&s.msn)?.as_slice())))
    }

    fn is_video(&self) -> bool {
        self.name.starts_with('v')
    }
}

impl Fetched {
    async fn fetch(options: &Options<'_>) -> Fetched {
        let game = Match::start(options).await;
        let master_text = game.web.text(&game.master()).await;
        let master = read::multivariant(&master_text).unwrap();
        let mut tracks = Vec::new();
        for url in e2e::follow::tracks(&game.web, &game.master()).await {
            let name = url.rsplit('/').next().unwrap().trim_end_matches(".m3u8").to_owned();
            let (text, list) = until("segments", SEGMENTS_MAX, async || {
                let text = game.web.text(&url).await;
                let list = read::playlist(&text).unwrap();
                let tail = list.segments.iter().rev().take(SEGMENTS);
                // Both pipelines begin with what they can get; from then on nothing is missing.
                (tail.filter(|s| !s.gap).count() == SEGMENTS).then_some((text, list))
            })
            .await;
            let map = list.segments.last().unwrap().head.map.clone().unwrap();
            let init = game.web.body(&resolve(&url, &map)).await.to_vec();
            let mut segments = BTreeMap::new();
            for segment in &list.segments[list.segments.len() - SEGMENTS..] {
                assert_eq!(segment.head.map.as_ref(), Some(&map));
                let body = game.web.body(&resolve(&url, &segment.uri)).await;
                segments.insert(segment.msn, body.to_vec());
            }
            tracks.push(Fetch { name, text, list, init, segments });
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("master.m3u8"), &master_text).unwrap();
        for track in &tracks {
            std::fs::write(folder.path().join(format!("{}.m3u8", track.name)), &track.text).unwrap();
        }
        Fetched { folder, master, tracks, game }
    }

    /// Init segment and some segments as a file.
    fn file(&self, track: &Fetch, of: &str, bodies: &[&[u8]]) -> PathBuf {
        let file = self.folder.path().join(format!("{}-{of}.mp4", track.name));
        std::fs::write(&file, [&[track.init.as_slice()], bodies].concat().concat()).unwrap();
        file
    }

    fn playlists(&self) -> Vec<String> {
        let names = std::iter::once("master").chain(self.tracks.iter().map(|t| t.name.as_str()));
        names.map(|n| self.folder.path().join(format!("{n}.m3u8")).display().to_string()).collect()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_output_is_what_it_says_and_foreign_programs_accept_it() {
    let options = Options { size: "640x360", ladder: "360@800,180@300", ..Options::default() };
    let fetched = Fetched::fetch(&options).await;
    promises_are_kept(&fetched);
    parsers_accept(&fetched);
    ffprobe_and_mp4box_accept(&fetched);
    ffmpeg_plays(&fetched);
}

/// BANDWIDTH, AVERAGE-BANDWIDTH, CODECS, RESOLUTION and FRAME-RATE.
fn promises_are_kept(fetched: &Fetched) {
    let track = |uri: &str| fetched.tracks.iter().find(|t| uri == format!("{}.m3u8", t.name)).unwrap();
    let most =
        |t: &Fetch| t.fetched().map(|(s, body)| body.len() as f64 * 8.0 / s.duration).fold(0.0, f64::max);
    let mean = |t: &Fetch| {
        let bytes: usize = t.fetched().map(|(_, body)| body.len()).sum();
        bytes as f64 * 8.0 / t.fetched().map(|(s, _)| s.duration).sum::<f64>()
    };
    let sounds: Vec<&Fetch> = fetched.master.audio.iter().map(|a| track(a.uri.as_ref().unwrap())).collect();
    assert_eq!(sounds.len(), 3);
    let dearest = |of: &dyn Fn(&Fetch) -> f64| sounds.iter().map(|t| of(t)).fold(0.0, f64::max);
    for variant in &fetched.master.variants {
        let picture = track(&variant.uri);
        let (peak, average) = (most(picture) + dearest(&most), mean(picture) + dearest(&mean));
        let said = variant.average_bandwidth.unwrap() as f64;
        println!(
            "{}: peak {peak:.0} of {}, average {average:.0} of {said:.0}",
            variant.uri, variant.bandwidth
        );
        assert!(peak <= variant.bandwidth as f64, "{}: {peak} > {}", variant.uri, variant.bandwidth);
        assert!((average / said - 1.0).abs() <= 0.1, "{}: {average} and {said}", variant.uri);
        let of = cmaf::reader::init(&picture.init).unwrap();
        let cmaf::Codec::Avc(avc) = &of.codec else { panic!("{of:?}") };
        assert_eq!(variant.resolution, Some((avc.width.into(), avc.height.into())));
        assert_eq!(variant.frame_rate, Some(25.0));
        let sound = cmaf::reader::init(&sounds[0].init).unwrap();
        assert_eq!(variant.codecs, Some(format!("{},{}", of.codecs(), sound.codecs())));
    }
    // Segments of all tracks agree within one audio frame, and begin where the playlist says.
    for track in &fetched.tracks {
        let scale = f64::from(reader::init(&track.init).unwrap().timescale);
        for (segment, body) in track.fetched() {
            let seen = cmaf::inspect(body).unwrap();
            let (start, length) = (seen.start as f64 / scale, seen.duration as f64 / scale);
            let grid = segment.msn as f64 * 1.92;
            assert!(
                (start - grid).abs() <= 1_024.0 / 48_000.0,
                "{}/{}: {start}, {grid}",
                track.name,
                segment.msn
            );
            assert!((length - segment.duration).abs() < 1e-4, "{}/{}: {length}", track.name, segment.msn);
            assert!(seen.starts_with_sync);
        }
    }
}

/// `m3u8` and `hls-parser`.
fn parsers_accept(fetched: &Fetched) {
    let files = fetched.playlists();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("foreign/playlists.py").display().to_string();
    let of_python = tools::json(tools::python(), &[&[script.as_str()], files.as_slice()].concat());
    let of_node: Value = serde_json::from_slice(&tools::node("playlists.mjs", &files)).unwrap();
    let variants = &fetched.master.variants;
    for (n, variant) in variants.iter().enumerate() {
        let (python, node) = (&of_python[0]["variants"][n], &of_node[0]["variants"][n]);
        for seen in [python, node] {
            assert_eq!(seen["uri"], variant.uri.as_str(), "{seen}");
            assert_eq!(seen["bandwidth"], variant.bandwidth, "{seen}");
            assert_eq!(seen["codecs"], variant.codecs.as_deref().unwrap(), "{seen}");
        }
        assert_eq!(python["average"], variant.average_bandwidth.unwrap());
        assert_eq!((python["frame_rate"].as_f64(), node["frameRate"].as_f64()), (Some(25.0), Some(25.0)));
        assert_eq!(node["resolution"]["width"], variant.resolution.unwrap().0);
    }
    assert_eq!(of_python[0]["languages"], serde_json::json!(["en", "hi", "ta"]));
    for (n, track) in fetched.tracks.iter().enumerate() {
        let (python, node, list) = (&of_python[n + 1], &of_node[n + 1], &track.list);
        assert_eq!((&python["target"], &node["targetDuration"]), (&2.into(), &2.into()));
        assert_eq!(python["sequence"], list.media_sequence);
        assert_eq!(node["mediaSequence"], list.media_sequence);
        assert_eq!((python["part_target"].as_f64(), node["partTarget"].as_f64()), (Some(0.32), Some(0.32)));
        assert_eq!(python["can_block_reload"], "YES");
        assert!(python["hint"].as_str().is_some_and(|hint| hint.ends_with(".m4s")), "{python}");
        for (i, segment) in list.segments.iter().enumerate() {
            let (python, node) = (&python["segments"][i], &node["segments"][i]);
            assert_eq!(node["msn"], segment.msn);
            assert_eq!(
                (&python["uri"], &node["uri"]),
                (&segment.uri.as_str().into(), &segment.uri.as_str().into())
            );
            assert_eq!((python["duration"].as_f64(), node["duration"].as_f64()), (Some(1.92), Some(1.92)));
            assert_eq!(node["pdt"], segment.head.pdt.unwrap().to_string());
            assert_eq!(python["parts"], segment.parts.len());
            assert_eq!(node["parts"], segment.parts.len());
        }
        assert_eq!(node["reports"], fetched.tracks.len() - 1);
    }
}

/// Every segment on its own, with its init segment before it, as a player loads it.
fn ffprobe_and_mp4box_accept(fetched: &Fetched) {
    for track in &fetched.tracks {
        let files: Vec<String> = track
            .segments
            .iter()
            .map(|(msn, body)| fetched.file(track, &msn.to_string(), &[body]).display().to_string())
            .collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let config = reader::init(&track.init).unwrap();
        let (frames, rate) = if track.is_video() { (48, 3_600) } else { (90, 1_024) };
        let boxes: Value = serde_json::from_slice(&tools::node("boxes.mjs", &files)).unwrap();
        for ((seen, file), msn) in boxes.as_array().unwrap().iter().zip(&files).zip(track.segments.keys()) {
            assert_eq!(
                (&seen["errors"], &seen["unknown"]),
                (&Value::Array(vec![]), &Value::Array(vec![])),
                "{seen}"
            );
            assert_eq!((&seen["fragmented"], &seen["tracks"]), (&true.into(), &1.into()));
            assert_eq!(seen["codec"].as_str().unwrap().to_lowercase(), config.codecs().to_lowercase());
            assert_eq!(seen["timescale"], config.timescale);
            let samples = seen["samples"].as_array().unwrap();
            assert_eq!(samples.len(), frames, "{file}");
            for (n, sample) in samples.iter().enumerate() {
                let at = *msn as i64 * frames as i64 * rate + n as i64 * rate;
                assert_eq!(
                    (sample[0].as_i64(), sample[2].as_i64()),
                    (Some(at), Some(rate)),
                    "{file}: {sample}"
                );
            }
            // Says nothing when all is well.
            let said = tools::json(
                "ffprobe",
                &[
                    "-v",
                    "error",
                    "-show_entries",
                    "stream=codec_name,profile,r_frame_rate,nb_read_frames",
                    "-count_frames",
                    "-of",
                    "json",
                    file,
                ],
            );
            let stream = &said["streams"][0];
            assert_eq!(stream["nb_read_frames"], frames.to_string(), "{file}: {said}");
            if track.is_video() {
                assert_eq!(
                    (&stream["codec_name"], &stream["r_frame_rate"]),
                    (&"h264".into(), &"25/1".into())
                );
            } else {
                assert_eq!((&stream["codec_name"], &stream["profile"]), (&"aac".into(), &"LC".into()));
            }
        }
    }
}

/// ffmpeg's own HLS client, on the live playlist.
fn ffmpeg_plays(fetched: &Fetched) {
    let said = tools::json(
        "ffprobe",
        &[
            "-v",
            "error",
            "-show_entries",
            "stream=codec_name,width,height:stream_tags=language",
            "-of",
            "json",
            &fetched.game.master(),
        ],
    );
    let streams = said["streams"].as_array().unwrap();
    let video = streams.iter().filter(|s| s["codec_name"] == "h264").count();
    let audio = streams.iter().filter(|s| s["codec_name"] == "aac").count();
    assert_eq!((video, audio), (2, 3), "{said}");
}

/// The block code in every picture is its PDT; the pip of every whole second is heard at it. In every rung and
/// language, and of both pipelines.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn picture_and_sound_are_of_the_instant_that_their_time_says() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let recorder = Recorder::start().await;
    let (ground, epoch) = (Ground::start(folder, "640x360"), roles::epoch());
    let start = |letter| roles::pipeline(folder, letter, epoch, &ground, "360@800,180@300", &recorder.url);
    let pipelines = Letter::ALL.map(start);
    // Four segments in a row of which both made every part of every track.
    let (programme, some) = until("four segments of both", SEGMENTS_MAX, async || {
        let programme = recorder.programme()?;
        let of = Letter::ALL.map(|letter| recorder.parts(letter));
        let whole = |msn: u64| {
            let part = |t: &Track, n| of.iter().all(|of| of.contains_key(&(t.name.clone(), msn, n)));
            programme.tracks.iter().all(|t| (0..6).all(|n| part(t, n)))
        };
        let first = of[0].keys().map(|k| k.1).min()?;
        let some = (first..first + 40).map(|msn| msn..msn + 4).find(|run| run.clone().all(whole))?;
        Some((programme, some))
    })
    .await;
    drop(pipelines);
    let taken = recorder.taken();
    for track in &programme.tracks {
        let name = &track.name;
        let (_, init) = taken.iter().find(|(n, _)| n.starts_with(&format!("{name}/init-"))).unwrap();
        for letter in Letter::ALL {
            let parts =
                some.clone().flat_map(|msn| (0..6).map(move |n| format!("{name}/{msn}{letter}.{n}.m4s")));
            let bodies: Vec<&[u8]> =
                std::iter::once(&init.body[..]).chain(parts.map(|part| &taken[&part].body[..])).collect();
            let file = folder.join(format!("{name}-{letter}.mp4"));
            std::fs::write(&file, bodies.concat()).unwrap();
            match track.kind {
                Kind::Video { width, height } => pictures(&file, width as usize, height as usize, epoch),
                Kind::Audio { .. } => pips(&file, epoch),
            }
        }
    }
}

fn pictures(file: &Path, width: usize, height: usize, epoch: Utc) {
    let frames = media::pictures(file, width, height);
    assert_eq!(frames.len(), 4 * 48);
    for frame in frames {
        let pdt_ms = epoch.0 / 1_000 + frame.pts / 90;
        let code = stadium::blockcode::read(&frame.luma, width, height, width);
        assert_eq!(code, Some(pdt_ms as u32), "{}, {}", file.display(), frame.pts);
    }
}

fn pips(file: &Path, epoch: Utc) {
    let sound = media::sound(file);
    let zero = epoch.0 * 48 / 1_000;
    let seconds = (zero + sound.pts) / 48_000 + 1..(zero + sound.pts + sound.samples.len() as i64) / 48_000;
    let late: Vec<i64> =
        seconds.filter_map(|second| sound.pip_late_by(second * 48_000 - zero, AROUND)).collect();
    println!("{}: pips are late by {late:?} samples", file.display());
    assert!(late.len() >= 5, "{late:?}");
    assert!(late.iter().all(|late| late.abs() <= AAC_FRAME), "{late:?}");
}
