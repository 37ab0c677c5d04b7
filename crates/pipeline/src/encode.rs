//! The encoder: one ffmpeg that reads the feed and writes each track to a pipe of its own, so that a track
//! which falls silent holds up no other.

use std::io;
use std::os::fd::OwnedFd;
use std::process::Stdio;

use bytes::Bytes;
use command_fds::{CommandFdExt, FdMapping};
use contribution::supervise;
use timeline::anchor::PTS_MODULUS;
use timeline::{CLOCK_HZ, Grid, Ticks};
use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe;
use tokio::process::Child;
use tokio::sync::mpsc;

use crate::Error;
use crate::plan::Plan;

/// Chunks of the feed that may wait for the encoder. It falls behind for a moment at every start; 4,096
/// datagrams are five seconds of an 8 Mbit/s feed, after which it will not catch up.
pub const QUEUE: usize = 4_096;
/// Sound that the AAC encoder is given ahead of the grid, in samples: two frames, so that the first frame that
/// is kept overlaps with real sound.
pub const AUDIO_LEAD: i64 = 2_048;
/// Timescale of video tracks.
pub const VIDEO_TIMESCALE: u32 = 90_000;
/// The first of the child's output pipes.
const FIRST_FD: i32 = 3;
/// A frame whose timestamp is further than this from the one before it is stray: as far as
/// [`timeline::anchor::TOLERANCE`] lets a feed pause without a new start.
const STRAY_TICKS: i64 = timeline::anchor::TOLERANCE.0;
/// The same for sound, in samples.
const STRAY_SAMPLES: i64 = STRAY_TICKS * 48_000 / CLOCK_HZ;
/// ffmpeg treats a feed that starts this close before the wrap of its timestamps as starting below zero.
const WRAP_NEAR: i64 = 60 * CLOCK_HZ;

/// Where a run of the encoder begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// The segment whose first frame is its first.
    pub msn: u64,
    /// PTS of the keyframe at which its bytes begin, 33 bits.
    pub keyframe_pts: u64,
    /// From that keyframe to the first frame of the segment.
    pub lead: Ticks,
}

/// A running encoder.
pub struct Encoder {
    /// The child; killed when dropped.
    pub child: Child,
    /// One pipe for each track, in the plan's order, video first.
    pub outputs: Vec<pipe::Receiver>,
    /// Feeds it. Full: it cannot keep up. Dropped: it ends after what it has.
    pub feed: mpsc::Sender<Bytes>,
}

/// Starts ffmpeg for a plan.
pub fn start(plan: &Plan, preset: &str, start: Start) -> Result<Encoder, Error> {
    let (mut outputs, mut inherited) = (Vec::new(), Vec::new());
    for n in 0..plan.tracks() {
        let (read, write) = io::pipe().map_err(|source| Error::Io { what: "opening a pipe", source })?;
        let read = pipe::Receiver::from_owned_fd(OwnedFd::from(read))
            .map_err(|source| Error::Io { what: "opening a pipe", source })?;
        outputs.push(read);
        inherited.push(FdMapping { parent_fd: OwnedFd::from(write), child_fd: FIRST_FD + n as i32 });
    }
    tracing::debug!(?start, filters = filters(plan, start), "starting the encoder");
    let mut command = std::process::Command::new("ffmpeg");
    command.args(arguments(plan, preset, start)).stdin(Stdio::piped()).stdout(Stdio::null());
    command.fd_mappings(inherited).map_err(|e| Error::Io {
        what: "handing pipes to ffmpeg",
        source: io::Error::other(e.to_string()),
    })?;
    let mut command = tokio::process::Command::from(command);
    let mut child = supervise::spawn("encoder", &mut command).map_err(|source| Error::Program {
        program: "ffmpeg",
        package: "ffmpeg",
        source,
    })?;
    // Our copies of the write ends go with the command, or the pipes would never end.
    drop(command);
    let (feed, mut chunks) = mpsc::channel::<Bytes>(QUEUE);
    if let Some(mut stdin) = child.stdin.take() {
        tokio::spawn(async move {
            while let Some(chunk) = chunks.recv().await {
                // A broken pipe means that the child is gone, which is noticed where it is waited for.
                if stdin.write_all(&chunk).await.is_err() {
                    break;
                }
            }
        });
    }
    Ok(Encoder { child, outputs, feed })
}

/// ffmpeg's arguments. Time 0 of every output is the start of segment [`Start::msn`] (for sound, of the first
/// AAC frame that starts in it).
fn arguments(plan: &Plan, preset: &str, start: Start) -> Vec<String> {
    let mut args: Vec<String> = [
        "-hide_banner",
        "-nostats",
        "-loglevel",
        "warning",
        // Timestamps as they come, no waiting to learn what the plan already says.
        "-copyts",
        "-fflags",
        "+nobuffer",
        "-flags",
        "low_delay",
        "-fpsprobesize",
        "0",
        "-analyzeduration",
        "500000",
        "-max_interleave_delta",
        "1",
        // A decoder with frame threads holds back a frame for each.
        "-threads",
        "1",
        "-f",
        "mpegts",
        "-i",
        "pipe:0",
        "-filter_complex_threads",
        "1",
        "-filter_complex",
    ]
    .map(String::from)
    .to_vec();
    args.push(filters(plan, start));
    let rate = plan.grid.frame_rate;
    for (n, rung) in plan.video.iter().enumerate() {
        let keyframes = format!("expr:gte(t,n_forced*{}/{CLOCK_HZ}-0.001)", plan.grid.segment().0);
        let options = [
            ("-map", format!("[v{n}]")),
            ("-c:v", "libx264".into()),
            ("-preset", preset.into()),
            ("-tune", "zerolatency".into()),
            ("-threads", "1".into()),
            ("-profile:v", "high".into()),
            ("-r", rate.to_string()),
            ("-fps_mode", "cfr".into()),
            // Keyframes by the grid and nowhere else: the longest distance is never reached.
            ("-force_key_frames", keyframes),
            ("-forced-idr", "1".into()),
            ("-g", (plan.grid.frames_per_segment * 8).to_string()),
            ("-sc_threshold", "0".into()),
            ("-b:v", format!("{}k", rung.kbps)),
            ("-maxrate", format!("{}k", rung.kbps)),
            ("-bufsize", format!("{}k", rung.vbv_kbits())),
        ];
        args.extend(options.into_iter().flat_map(|(k, v)| [k.to_owned(), v]));
        args.extend(output(n));
    }
    for (n, language) in plan.audio.iter().enumerate() {
        let bitrate = format!("{}k", language.kbps);
        // The coder that ffmpeg calls better from 64 kbit/s on, at a third of the other's time: with three languages
        // the sound cost more than a rung of the picture.
        let coder = ["-c:a", "aac", "-aac_coder", "fast", "-b:a", &bitrate];
        args.extend(["-map", &format!("[a{n}]")].into_iter().chain(coder).map(String::from));
        args.extend(output(plan.video.len() + n));
    }
    args
}

/// Fragmented MP4 with a fragment a frame, on the pipe of track `n`; times stay as the filters made them.
fn output(n: usize) -> Vec<String> {
    let timescale = VIDEO_TIMESCALE.to_string();
    let pipe = format!("pipe:{}", FIRST_FD + n as i32);
    [
        "-video_track_timescale",
        &timescale,
        "-avoid_negative_ts",
        "disabled",
        "-use_editlist",
        "0",
        "-movflags",
        "+frag_every_frame+empty_moov+default_base_moof+frag_discont+skip_trailer",
        "-flush_packets",
        "1",
        "-muxdelay",
        "0",
        "-f",
        "mp4",
        &pipe,
    ]
    .map(String::from)
    .to_vec()
}

fn filters(plan: &Plan, start: Start) -> String {
    let grid_start = plan.grid.segment_start(start.msn);
    let first = unwrapped(start.keyframe_pts) + start.lead.0;
    let audio_zero = Grid::audio_frame_at_or_after(grid_start) * timeline::grid::AAC_FRAME.0;
    let first_audio = Ticks(first + audio_zero - grid_start.0).rescale(48_000);
    let many = plan.video.len();
    // Time 0 first, and a stray timestamp put right after the frame before it: without that ffmpeg would fill
    // the hours in between. A lasting jump ends this encoder within a few frames.
    let frame = plan.grid.frame_rate.start_of(1).0;
    let mut text = format!(
        "[0:v:0]setpts='if(gt(abs(PTS-{first}-PREV_OUTPTS),{STRAY_TICKS}),PREV_OUTPTS+{frame},PTS-{first})',\
         trim=start_pts=0,format=yuv420p,split={many}"
    );
    for n in 0..many {
        text += &format!("[s{n}]");
    }
    for (n, rung) in plan.video.iter().enumerate() {
        text += &format!(";[s{n}]scale={}:{}:flags=bilinear,setsar=1[v{n}]", rung.width, rung.height);
    }
    for (n, language) in plan.audio.iter().enumerate() {
        // To our rate first: with another rate's sound, `first_pts` of a resampler lets nothing through.
        text += &format!(
            ";[0:a:{}]aresample=48000,\
             asetpts='if(gt(abs(PTS-{first_audio}-PREV_OUTPTS),{STRAY_SAMPLES}),PREV_OUTPTS+NB_SAMPLES,PTS-{first_audio})',\
             aresample=48000:async=1:first_pts=-{AUDIO_LEAD},aformat=sample_fmts=fltp:channel_layouts=stereo[a{n}]",
            language.stream,
        );
    }
    text
}

/// A 33-bit timestamp as ffmpeg counts it from the first one on.
fn unwrapped(pts: u64) -> i64 {
    let pts = pts as i64;
    if pts >= PTS_MODULUS - WRAP_NEAR { pts - PTS_MODULUS } else { pts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrap_ahead_is_counted_as_ffmpeg_does() {
        assert_eq!(unwrapped(5), 5);
        assert_eq!(unwrapped((PTS_MODULUS - 90_000) as u64), -90_000);
        assert_eq!(unwrapped((PTS_MODULUS - 61 * 90_000) as u64), PTS_MODULUS - 61 * 90_000);
    }
}
