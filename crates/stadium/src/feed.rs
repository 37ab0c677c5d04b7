//! Any feed that ffmpeg reads, copied instead of generated: nothing is decoded or encoded.
//!
//! A live transport stream goes through byte for byte, with its own PTS and its SCTE-35. Everything else
//! (recordings, RTMP) is put into a transport stream whose PTS begin at UTC, as those of the generated ground,
//! so that they never step back when the copying child is restarted.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use serde::Deserialize;
use tokio::process::Command;
use tokio_util::sync::CancellationToken;

use crate::Error;
use crate::clock::offset_seconds;
use crate::paths::Bus;
use crate::program::{FFMPEG, FFPROBE};
use contribution::supervise::{self, Ended};

/// How long a feed may take to show what is in it: a few keyframe intervals, and the way to a slow server.
const INSPECT_MAX: Duration = Duration::from_secs(15);

/// A live feed that is silent for so long is opened again.
const SILENCE_MAX: Duration = Duration::from_secs(5);

/// A file that is shorter than this and is started again and again has hardly a keyframe and no sound that
/// could be joined.
const LOOP_SECONDS_MIN: f64 = 0.5;

/// Video that a transport stream carries and a pipeline decodes, by ffmpeg's names.
const VIDEO: [&str; 4] = ["h264", "hevc", "mpeg2video", "mpeg1video"];

/// Sound that a transport stream carries.
const AUDIO: [&str; 7] = ["aac", "aac_latm", "mp2", "mp3", "ac3", "eac3", "opus"];

/// A feed that can be carried.
#[derive(Debug)]
pub(crate) struct Feed {
    input: String,
    looped: bool,
    network: bool,
    way: Way,
}

/// How it is carried.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// The bytes as they arrive.
    Bytes,
    /// Into a transport stream, as it arrives.
    Live,
    /// Into a transport stream, at its own pace.
    Recording,
}

/// What ffprobe says.
#[derive(Deserialize)]
struct Probe {
    #[serde(default)]
    streams: Vec<Stream>,
    format: Format,
}

#[derive(Deserialize)]
struct Format {
    format_name: String,
    duration: Option<String>,
}

#[derive(Deserialize)]
struct Stream {
    #[serde(default)]
    codec_type: String,
    #[serde(default)]
    codec_name: String,
}

impl Feed {
    /// Looks into the feed; what cannot be carried is refused with the reason.
    pub(crate) async fn inspect(input: &str, looped: bool) -> Result<Feed, Error> {
        FFMPEG.installed("-version").await?;
        let refuse = |why: String| Error::Input { input: input.to_owned(), why };
        let network = input.contains("://") && !input.starts_with("file:");
        let path = input.strip_prefix("file://").or_else(|| input.strip_prefix("file:")).unwrap_or(input);
        if !network && !Path::new(path).is_file() {
            return Err(refuse(
                "there is no such file; give a path or a URL such as srt://host:9000".to_owned(),
            ));
        }
        let mut args = vec!["-v", "error", "-of", "json", "-show_format", "-show_streams"];
        let silence = SILENCE_MAX.as_micros().to_string();
        if network {
            args.extend(["-rw_timeout", &silence]);
        }
        args.extend(["-i", input]);
        let probed = tokio::time::timeout(INSPECT_MAX, FFPROBE.filter(&args, &[])).await;
        let json = match probed {
            Err(_) => {
                let waited = INSPECT_MAX.as_secs();
                return Err(refuse(format!(
                    "nothing readable came in {waited} s; start the feed first, or correct the address"
                )));
            }
            Ok(Err(Error::Failed { why, .. })) => {
                let why = why.rsplit(": ").next().unwrap_or(&why).to_owned();
                return Err(refuse(format!(
                    "ffmpeg cannot read it ({why}); give a feed or a file that it can"
                )));
            }
            Ok(other) => other?,
        };
        let probe: Probe =
            serde_json::from_slice(&json).map_err(|error| refuse(format!("ffprobe said {error}")))?;
        let way = probe.way(network).map_err(refuse)?;
        if looped && way != Way::Recording {
            return Err(refuse("it is live and cannot begin again; leave out --loop".to_owned()));
        }
        let seconds = probe.format.duration.as_deref().and_then(|d| d.parse::<f64>().ok());
        if let Some(seconds) = seconds.filter(|s| looped && *s < LOOP_SECONDS_MIN) {
            return Err(refuse(format!(
                "it lasts {seconds:.2} s, too short to be looped; give a file of at least {LOOP_SECONDS_MIN} s"
            )));
        }
        if way != Way::Bytes && probe.streams.iter().any(|s| s.codec_name == "scte_35") {
            tracing::warn!(input, "its SCTE-35 is left out: only a live transport stream is carried with it");
        }
        Ok(Feed { input: input.to_owned(), looped, network, way })
    }

    /// Feeds the bus until shutdown, or to the end of a recording that is not looped.
    pub(crate) async fn run(&self, bus: &Bus, shutdown: &CancellationToken) {
        supervise::keep_running("feed", shutdown, || self.session(bus)).await;
    }

    async fn session(&self, bus: &Bus) -> io::Result<Ended> {
        let mut child = supervise::spawn("feed", self.command().stdin(Stdio::null()).stdout(Stdio::piped()))?;
        let stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        bus.carry(stdout).await?;
        let status = child.wait().await?;
        let done = status.success() && self.way == Way::Recording;
        Ok(if done { Ended::Done } else { Ended::Again(status.to_string()) })
    }

    fn command(&self) -> Command {
        let mut command = FFMPEG.command();
        command.args(["-hide_banner", "-nostdin", "-nostats", "-loglevel", "warning"]);
        if self.network {
            command.args(["-rw_timeout", &SILENCE_MAX.as_micros().to_string()]);
        }
        if self.way == Way::Recording {
            command.args(["-re", "-stream_loop", if self.looped { "-1" } else { "0" }]);
        }
        if self.way == Way::Bytes {
            return self.bytes(command);
        }
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        command
            .args(["-i", &self.input, "-map", "0:v:0", "-map", "0:a?", "-c", "copy", "-f", "mpegts"])
            .args(["-muxdelay", "0", "-muxpreload", "0"])
            .args(["-output_ts_offset", &offset_seconds(now.as_millis() as i64)])
            .args(["-pes_payload_size", "0", "-flush_packets", "1", "-pat_period", "0.2"])
            .args(["-mpegts_flags", "+initial_discontinuity", "pipe:1"]);
        command
    }

    fn bytes(&self, mut command: Command) -> Command {
        command
            .args(["-f", "data", "-i", &self.input, "-map", "0", "-c", "copy", "-flush_packets", "1"])
            .args(["-f", "data", "pipe:1"]);
        command
    }
}

impl Probe {
    fn way(&self, network: bool) -> Result<Way, String> {
        let of = |kind: &'static str| self.streams.iter().filter(move |s| s.codec_type == kind);
        let Some(video) = of("video").next() else {
            return Err("it has no video; give one that has".to_owned());
        };
        if !VIDEO.contains(&video.codec_name.as_str()) {
            let codec = &video.codec_name;
            return Err(format!(
                "a transport stream cannot carry its video ({codec}); convert it to h264 or hevc"
            ));
        }
        if let Some(audio) = of("audio").find(|s| !AUDIO.contains(&s.codec_name.as_str())) {
            let codec = &audio.codec_name;
            return Err(format!("a transport stream cannot carry its sound ({codec}); convert it to aac"));
        }
        Ok(match (network, &self.format.duration) {
            (true, None) if self.format.format_name == "mpegts" => Way::Bytes,
            (true, None) => Way::Live,
            _ => Way::Recording,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(json: &str, network: bool) -> Result<Way, String> {
        serde_json::from_str::<Probe>(json).unwrap().way(network)
    }

    #[test]
    fn the_way_follows_from_what_is_in_it() {
        let video = r#"{"codec_type": "video", "codec_name": "h264"}"#;
        let ts = format!(r#"{{"streams": [{video}], "format": {{"format_name": "mpegts"}}}}"#);
        assert_eq!(way(&ts, true), Ok(Way::Bytes));
        assert_eq!(way(&ts, false), Ok(Way::Recording));
        let flv = format!(r#"{{"streams": [{video}], "format": {{"format_name": "flv"}}}}"#);
        assert_eq!(way(&flv, true), Ok(Way::Live));
        let vod =
            format!(r#"{{"streams": [{video}], "format": {{"format_name": "mpegts", "duration": "9"}}}}"#);
        assert_eq!(way(&vod, true), Ok(Way::Recording));
        let vp9 = ts.replace("h264", "vp9");
        assert!(way(&vp9, false).unwrap_err().contains("h264"));
        let pcm = ts.replace("}]", r#"}, {"codec_type": "audio", "codec_name": "pcm_s16le"}]"#);
        assert!(way(&pcm, false).unwrap_err().contains("aac"));
        assert!(
            way(&ts.replace("video", "audio").replace("h264", "aac"), false)
                .unwrap_err()
                .contains("no video")
        );
    }

    #[tokio::test]
    async fn what_is_no_feed_is_refused_in_one_sentence() {
        let error = Feed::inspect("/nowhere/match.ts", false).await.unwrap_err().to_string();
        assert!(error.contains("no such file") && !error.contains('\n'), "{error}");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let error = Feed::inspect(source, false).await.unwrap_err().to_string();
        assert!(error.contains("no video") && !error.contains('\n'), "{error}");
        let program = std::env::current_exe().unwrap();
        let error = Feed::inspect(program.to_str().unwrap(), false).await.unwrap_err().to_string();
        assert!(error.contains("cannot read it") && !error.contains('\n'), "{error}");
    }
}
