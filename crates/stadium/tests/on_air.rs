//! The generated ground as a receiver sees it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::process::Stdio;

use stadium::{PIP_HZ, PIP_SAMPLES, SAMPLE_HZ, blockcode, pts};
use tokio::io::AsyncReadExt;
use tokio::process::Command;

/// About three and a half seconds at 640x360.
const ENOUGH: usize = 700_000;

#[tokio::test]
async fn picture_sound_and_stamps_are_utc_on_both_paths() {
    let mut ground = common::start(|_| {}).await;
    let url = format!("srt://127.0.0.1:{}", ground.config.srt_port);
    let mut path_a = Command::new("srt-live-transmit")
        .args(["-quiet", "-loglevel:fatal", &url, "file://con"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut srt = path_a.stdout.take().unwrap();
    let mut by_srt = vec![0; ENOUGH / 3];
    let (ts, _) = tokio::join!(ground.receive(|ts| ts.len() >= ENOUGH), async {
        tokio::time::timeout(common::PATIENCE, srt.read_exact(&mut by_srt)).await.unwrap().unwrap()
    });
    let first = ts.windows(1_316).position(|part| part == &by_srt[..1_316]).expect("path A has other bytes");
    let both = (ts.len() - first).min(by_srt.len());
    assert!(both > ENOUGH / 4 && ts[first..first + both] == by_srt[..both], "paths differ");
    assert_whole(&ts);

    // Every picture shows the instant that its PTS says, 40 ms after the one before.
    let video = common::packets(&ts, "v:0");
    let key = video.iter().position(|&(_, key)| key).unwrap();
    let args = ["-v", "quiet", "-i", "pipe:0", "-map", "0:v", "-fps_mode", "passthrough", "-pix_fmt", "gray"];
    let gray = common::filter("ffmpeg", &[&args[..], &["-f", "rawvideo", "pipe:1"]].concat(), &ts);
    // The last picture is cut off in the middle.
    let whole = gray.len() / (640 * 360) - 1;
    let shown: Vec<_> = gray
        .chunks_exact(640 * 360)
        .take(whole)
        .map(|luma| full(blockcode::read(luma, 640, 360, 640).expect("a code in every picture")))
        .collect();
    assert!(shown.len() > 50, "{} pictures", shown.len());
    for (&ms, &(stamp, _)) in shown.iter().zip(&video[key..]) {
        assert_eq!(stamp, pts(ms));
    }
    assert!(shown.windows(2).all(|pair| pair[1] - pair[0] == 40));
    assert!(video.windows(2).all(|pair| pair[1].0 - pair[0].0 == 3_600));

    for stream in ["a:0", "a:1", "a:2"] {
        let audio = common::packets(&ts, stream);
        assert!(audio.windows(2).all(|pair| pair[1].0 - pair[0].0 == 1_920), "{stream} has a hole");
        let map = format!("0:{stream}");
        let args = ["-v", "quiet", "-i", "pipe:0", "-map", &map, "-ac", "1", "-f", "s16le", "pipe:1"];
        let pcm = common::filter("ffmpeg", &args, &ts);
        let pcm: Vec<f64> =
            pcm.chunks_exact(2).map(|s| f64::from(i16::from_le_bytes([s[0], s[1]]))).collect();
        // Samples from the first one to the next whole second; 2^33 ticks are no whole number of seconds, so
        // count from the instant of a picture.
        let ticks = i64::try_from(audio[0].0).unwrap() - i64::try_from(video[key].0).unwrap();
        let begins_at = shown[0] * 48 + ticks * 48 / 90;
        let to_second = (-begins_at).rem_euclid(i64::from(SAMPLE_HZ));
        let off = pip(&pcm[..i64::from(SAMPLE_HZ) as usize * 2], to_second);
        assert!(off.abs() <= 24, "{stream}: the pip is {off} samples off");
    }
    ground.stop().await;
}

/// UTC milliseconds of 32 bits, near now.
fn full(low: u32) -> i64 {
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_millis() as i64;
    now - i64::from((now as u32).wrapping_sub(low) as i32)
}

/// How many samples after `expected` the 1 kHz is strongest, searching half a second either way.
fn pip(pcm: &[f64], expected: i64) -> i64 {
    let expected = if expected < 24_000 { expected + 48_000 } else { expected };
    let turn = std::f64::consts::TAU * f64::from(PIP_HZ) / f64::from(SAMPLE_HZ);
    let strength = |from: i64| {
        let (mut re, mut im) = (0.0, 0.0);
        for n in 0..PIP_SAMPLES {
            let sample = pcm[(from + n) as usize];
            re += sample * (turn * n as f64).cos();
            im += sample * (turn * n as f64).sin();
        }
        re.hypot(im)
    };
    let range = (expected - 24_000).max(0)..(expected + 24_000).min(pcm.len() as i64 - PIP_SAMPLES);
    let best = range.step_by(8).max_by(|&a, &b| strength(a).total_cmp(&strength(b))).unwrap();
    best - expected
}

/// No packet is missing: the continuity counter of each PID counts (ISO/IEC 13818-1, 2.4.3.3).
fn assert_whole(ts: &[u8]) {
    let mut last = std::collections::HashMap::new();
    for packet in ts.chunks_exact(188) {
        assert_eq!(packet[0], 0x47);
        let pid = u16::from_be_bytes([packet[1] & 0x1f, packet[2]]);
        let counter = packet[3] & 0x0f;
        let payload = packet[3] & 0x10 != 0;
        if payload && let Some(before) = last.insert(pid, counter) {
            assert_eq!(counter, (before + 1) & 0x0f, "PID {pid}");
        }
    }
}
