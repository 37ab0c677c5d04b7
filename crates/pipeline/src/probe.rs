//! What a feed is, asked of ffprobe once, before anything is planned.

use std::process::Stdio;
use std::time::Duration;

use bytes::Bytes;
use serde::Deserialize;
use timeline::FrameRate;
use tokio::io::AsyncWriteExt;

use crate::Error;

/// ffprobe reads a second of TS; if it has not answered by then it never will.
const PROBE_MAX: Duration = Duration::from_secs(15);
/// The largest picture side; above it no decoder here keeps up.
const SIDE_MAX: u32 = 8_192;

/// What the plan needs to know of a feed.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// Of the coded picture, in pixels.
    pub width: u32,
    /// Of the coded picture, in pixels.
    pub height: u32,
    /// Width of a pixel over its height.
    pub pixel_aspect: f64,
    /// As near as the feed says; may be one that no grid has.
    pub frame_rate: FrameRate,
    /// The language of each audio stream, as the feed names it (ISO 639-2).
    pub languages: Vec<Option<String>>,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    streams: Vec<Stream>,
}

#[derive(Deserialize)]
struct Stream {
    codec_type: Option<String>,
    codec_name: Option<String>,
    width: Option<u32>,
    height: Option<u32>,
    sample_aspect_ratio: Option<String>,
    r_frame_rate: Option<String>,
    avg_frame_rate: Option<String>,
    sample_rate: Option<String>,
    #[serde(default)]
    tags: std::collections::HashMap<String, String>,
}

/// Asks ffprobe about the first bytes of a transport stream.
pub async fn probe(start: &[Bytes]) -> Result<Probe, Error> {
    let program = |source| Error::Program { program: "ffprobe", package: "ffmpeg", source };
    let mut child = tokio::process::Command::new("ffprobe")
        .args(["-v", "error", "-f", "mpegts", "-i", "pipe:0", "-show_streams", "-of", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(program)?;
    if let Some(mut stdin) = child.stdin.take() {
        let start = start.to_vec();
        tokio::spawn(async move {
            for chunk in start {
                // ffprobe closes its end once it knows enough.
                if stdin.write_all(&chunk).await.is_err() {
                    break;
                }
            }
        });
    }
    let answer = match tokio::time::timeout(PROBE_MAX, child.wait_with_output()).await {
        Ok(output) => output.map_err(program)?.stdout,
        Err(_) => {
            return Err(Error::Feed(
                "the feed could not be read within 15 s; check that it is MPEG-TS".into(),
            ));
        }
    };
    parse(&answer)
}

fn parse(answer: &[u8]) -> Result<Probe, Error> {
    let answer: Answer = serde_json::from_slice(answer)
        .map_err(|_| Error::Feed("the feed could not be read as MPEG-TS; check the input".into()))?;
    let of =
        |kind: &'static str| answer.streams.iter().filter(move |s| s.codec_type.as_deref() == Some(kind));
    let video = of("video")
        .next()
        .ok_or_else(|| Error::Feed("the feed has no video stream; send one with a picture".into()))?;
    let codec = video.codec_name.as_deref().unwrap_or("unknown");
    let (width, height) = match (video.width, video.height) {
        (Some(w), Some(h)) if (16..=SIDE_MAX).contains(&w) && (16..=SIDE_MAX).contains(&h) => (w, h),
        _ => {
            return Err(Error::Feed(format!(
                "the feed's {codec} video cannot be decoded (no usable picture size); send H.264 with its parameter sets at every keyframe"
            )));
        }
    };
    let pixel_aspect = video
        .sample_aspect_ratio
        .as_deref()
        .and_then(|s| s.split_once(':'))
        .and_then(|(w, h)| Some((w.parse::<f64>().ok()?, h.parse::<f64>().ok()?)))
        .filter(|(w, h)| *w > 0.0 && *h > 0.0)
        .map_or(1.0, |(w, h)| (w / h).clamp(0.1, 10.0));
    let rates = [&video.r_frame_rate, &video.avg_frame_rate].into_iter().flatten();
    let frame_rate = nearest_rate(rates.filter_map(|r| r.parse().ok()));
    let languages = of("audio")
        .filter(|s| s.sample_rate.as_deref().is_some_and(|r| r != "0"))
        .map(|s| s.tags.get("language").cloned())
        .collect();
    Ok(Probe { width, height, pixel_aspect, frame_rate, languages })
}

/// The first of the stated rates that is near one of the grid's; else the first; else 25.
fn nearest_rate(stated: impl Iterator<Item = FrameRate>) -> FrameRate {
    const KNOWN: [(u32, u32); 8] =
        [(24_000, 1_001), (24, 1), (25, 1), (30_000, 1_001), (30, 1), (50, 1), (60_000, 1_001), (60, 1)];
    let mut first = None;
    for rate in stated {
        first.get_or_insert(rate);
        // 29.97 and 30 are 0.1 % apart.
        let near =
            |k: &&(u32, u32)| (rate.hz() / FrameRate { num: k.0, den: k.1 }.hz() - 1.0).abs() < 0.000_4;
        if let Some(&(num, den)) = KNOWN.iter().find(near) {
            return FrameRate { num, den };
        }
    }
    first.unwrap_or(FrameRate { num: 25, den: 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_ffprobe_says() {
        let answer = br#"{"streams":[{"codec_type":"video","codec_name":"h264","width":720,"height":576,
            "sample_aspect_ratio":"16:11","r_frame_rate":"25/1","avg_frame_rate":"0/0"},
            {"codec_type":"audio","sample_rate":"48000","tags":{"language":"tam"}},{"codec_type":"data"}]}"#;
        let probe = parse(answer).unwrap();
        assert_eq!((probe.width, probe.height, probe.frame_rate.num), (720, 576, 25));
        assert!((probe.pixel_aspect - 16.0 / 11.0).abs() < 1e-9);
        assert_eq!(probe.languages, [Some("tam".to_owned())]);
    }

    #[test]
    fn refuses_in_one_sentence() {
        for (answer, says) in [
            (&b"{}"[..], "no video stream"),
            (b"", "MPEG-TS"),
            (
                br#"{"streams":[{"codec_type":"video","codec_name":"h264","width":0,"height":0}]}"#,
                "cannot be decoded",
            ),
        ] {
            let error = parse(answer).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn knows_rates_by_nearness() {
        let rate = |s: &str| nearest_rate(std::iter::once(s.parse().unwrap())).to_string();
        assert_eq!(rate("2997/100"), "30000/1001");
        assert_eq!(rate("30/1"), "30");
        assert_eq!(rate("15/1"), "15");
        assert_eq!(nearest_rate(std::iter::empty()).to_string(), "25");
    }
}
