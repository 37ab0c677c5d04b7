//! Decoded pictures and sound, by ffmpeg.

use std::path::Path;

use crate::tools::{json, run};

/// A decoded frame.
#[derive(Clone, Debug)]
pub struct Frame {
    /// As the container says, in ticks of the track.
    pub pts: i64,
    /// Its luma plane, rows without padding.
    pub luma: Vec<u8>,
}

/// Sound: one channel at 48 kHz.
#[derive(Clone, Debug)]
pub struct Sound {
    /// Of the first sample, in samples.
    pub pts: i64,
    /// Left channel.
    pub samples: Vec<i16>,
}

/// Presentation times of the first stream's frames, in ticks of its track.
pub fn times(file: &Path) -> Vec<i64> {
    let file = file.display().to_string();
    let args = ["-v", "error", "-select_streams", "0", "-show_entries", "packet=pts", "-of", "json", &file];
    let said = json("ffprobe", &args);
    let packets = said["packets"].as_array().unwrap();
    let mut times: Vec<i64> = packets.iter().map(|p| p["pts"].as_i64().unwrap()).collect();
    times.sort_unstable();
    times
}

/// Decodes all pictures of a file.
pub fn pictures(file: &Path, width: usize, height: usize) -> Vec<Frame> {
    let name = file.display().to_string();
    let args = [
        "-v",
        "error",
        "-i",
        &name,
        "-map",
        "0:v",
        "-fps_mode",
        "passthrough",
        "-pix_fmt",
        "yuv420p",
        "-f",
        "rawvideo",
        "-",
    ];
    let raw = run("ffmpeg", &args);
    let (luma, all) = (width * height, width * height * 3 / 2);
    let times = times(file);
    assert_eq!(raw.len(), times.len() * all, "every frame decodes");
    let frames = raw.chunks_exact(all).map(|frame| frame[..luma].to_vec());
    times.into_iter().zip(frames).map(|(pts, luma)| Frame { pts, luma }).collect()
}

/// Decodes all sound of a file.
pub fn sound(file: &Path) -> Sound {
    let name = file.display().to_string();
    let raw = run("ffmpeg", &["-v", "error", "-i", &name, "-map", "0:a", "-f", "s16le", "-"]);
    let samples: Vec<i16> = raw.chunks_exact(4).map(|s| i16::from_le_bytes([s[0], s[1]])).collect();
    let times = times(file);
    assert_eq!(samples.len(), times.len() * 1_024, "every frame decodes");
    Sound { pts: times[0], samples }
}

impl Sound {
    /// How many samples late the pip is that should begin at sample `expected` (counted as [`Self::pts`] is),
    /// looked for up to `within` samples around; `None` where this sound does not reach that far.
    pub fn pip_late_by(&self, expected: i64, within: i64) -> Option<i64> {
        let turn = std::f64::consts::TAU * f64::from(stadium::PIP_HZ) / f64::from(stadium::SAMPLE_HZ);
        let pip: Vec<f64> = (0..stadium::PIP_SAMPLES).map(|n| (turn * n as f64).sin()).collect();
        let from = usize::try_from(expected - self.pts - within).ok()?;
        let window = self.samples.get(from..from + 2 * within as usize + pip.len())?;
        let likeness =
            |at: usize| -> f64 { pip.iter().zip(&window[at..]).map(|(p, s)| p * f64::from(*s)).sum() };
        let best = (0..=2 * within as usize).max_by(|a, b| likeness(*a).total_cmp(&likeness(*b)))?;
        Some(best as i64 - within)
    }
}
