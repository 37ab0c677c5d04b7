//! Foreign feeds: every sample file, and a live transport stream with SCTE-35.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;

/// The sample files, or `None` with a message.
fn media() -> Option<PathBuf> {
    let data = std::env::var_os("PAVILION_SHARED_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"), PathBuf::from);
    let media = data.join("media");
    if media.is_dir() {
        return Some(media);
    }
    eprintln!("skipped: no sample files at {} (set PAVILION_SHARED_DATA)", media.display());
    None
}

#[tokio::test]
async fn every_sample_file_is_carried_looped_with_its_video() {
    let Some(media) = media() else { return };
    let mut too_short = Vec::new();
    for entry in std::fs::read_dir(media).unwrap() {
        let path = entry.unwrap().path();
        let input = path.to_str().unwrap().to_owned();
        if let Err(error) = stadium::check(&input, true).await {
            assert!(error.to_string().contains("too short"), "{error}");
            too_short.push(path.file_name().unwrap().to_string_lossy().into_owned());
            continue;
        }
        let mut ground = common::start(|config| {
            config.input = Some(input.clone());
            config.looped = true;
        })
        .await;
        // ffmpeg's muxer gives the video PID 0x100; a picture starts where payload_unit_start_indicator is set.
        let pictures = |ts: &[u8]| ts.chunks_exact(188).filter(|p| p[1..3] == [0x41, 0x00]).count();
        let ts = ground.receive(|ts| pictures(ts) > 12).await;
        let stamps = common::packets(&ts, "v:0");
        let near_utc = stadium::pts(now_ms()).wrapping_sub(stamps[0].0) % (1 << 33);
        assert!(near_utc < 90_000 * 60, "{input}: PTS is {near_utc} ticks before UTC");
        ground.stop().await;
    }
    // The two that last a tenth of a second.
    too_short.sort();
    assert_eq!(too_short, ["sample_h264_mpeg_audio.ts", "sample_h264_no_access_unit_delimiters.ts"]);
}

fn now_ms() -> i64 {
    std::time::UNIX_EPOCH.elapsed().unwrap().as_millis() as i64
}

#[tokio::test]
async fn a_file_that_is_not_looped_ends_the_ground() {
    let Some(media) = media() else { return };
    let file = media.join("sample_h264_no_access_unit_delimiters.ts");
    let ground = common::start(|config| config.input = Some(file.to_str().unwrap().to_owned())).await;
    tokio::time::timeout(common::PATIENCE, ground.running).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn a_live_transport_stream_keeps_its_bytes_and_its_scte_35() {
    let Some(media) = media() else { return };
    let file = media.join("sample_scte35.ts");
    let bytes = std::fs::read(&file).unwrap();
    let port = common::free_port();
    // Sent over and over, as a live feed comes: this end neither stops nor waits for a receiver.
    let sending = tokio::spawn(async move {
        let socket = tokio::net::UdpSocket::bind(("127.0.0.1", 0)).await.unwrap();
        let mut tick = tokio::time::interval(std::time::Duration::from_millis(4));
        loop {
            for datagram in bytes.chunks(1_316) {
                tick.tick().await;
                let _ = socket.send_to(datagram, ("127.0.0.1", port)).await;
            }
        }
    });
    let mut ground = common::start(|config| config.input = Some(format!("udp://127.0.0.1:{port}"))).await;
    let pmt_with_scte35 = |ts: &[u8]| {
        let args = ["-v", "quiet", "-show_entries", "stream=codec_name", "-of", "csv=p=0", "-i", "pipe:0"];
        String::from_utf8(common::filter("ffprobe", &args, ts)).unwrap().contains("scte_35")
    };
    let ts = ground.receive(|ts| ts.len() >= 200_000).await;
    assert!(pmt_with_scte35(&ts));
    ground.stop().await;
    sending.abort();
}

#[tokio::test]
async fn what_has_no_video_is_refused() {
    let tone = std::env::temp_dir().join(format!("stadium-tone-{}.ts", std::process::id()));
    let status = Command::new("ffmpeg")
        .args(["-v", "error", "-y", "-f", "lavfi", "-i", "sine=d=1", "-c:a", "aac", "-f", "mpegts"])
        .arg(&tone)
        .stdin(Stdio::null())
        .status();
    assert!(status.await.unwrap().success());
    let ground = common::start(|config| config.input = Some(tone.to_str().unwrap().to_owned())).await;
    let error = ground.running.await.unwrap().unwrap_err().to_string();
    std::fs::remove_file(&tone).unwrap();
    assert!(error.contains("no video") && !error.contains('\n'), "{error}");
}
