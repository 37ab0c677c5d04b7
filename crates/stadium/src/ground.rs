//! The generated feed: a thread that paints and speaks in real time, and the encoder that it feeds.

use std::io::{self, PipeWriter, Write};
use std::process::Stdio;
use std::sync::Arc;

use tokio::process::Command;
use tokio_util::sync::CancellationToken;

use crate::clock::{self, FRAME_MS, VenueClock};
use crate::commentary::LANGUAGES;
use crate::config::{Config, Size};
use crate::paths::Bus;
use crate::program::FFMPEG;
use crate::scene::Scene;
use crate::sound::{FRAME_BYTES, Sound};
use crate::{Error, mkv, score};
use contribution::supervise::{self, Ended};

/// How far the sound is handed over before the picture. The AAC encoder keeps up to three of its frames of
/// 21.3 ms back, and the muxer holds a picture until it has sound of that time: 80 ms is the least number of
/// whole frames with which no picture waits.
const SOUND_LEAD_MS: i64 = 2 * FRAME_MS;

/// Video bits a second at 1280x720; others in proportion to their area. With the sound the contribution is
/// about 5 Mbps.
const VIDEO_BPS: u64 = 4_400_000;

/// The least, for small test pictures.
const VIDEO_BPS_MIN: u64 = 500_000;

/// The encoder's VBV in milliseconds of its rate: at 1280x720 88 KB, so that a keyframe fits the receivers'
/// default socket buffers in one burst.
const VBV_MS: u64 = 160;

/// Everything that is made before the first frame.
pub(crate) struct Ground {
    size: Size,
    scene: Scene,
    sound: Arc<Sound>,
    clock: VenueClock,
}

impl Ground {
    pub(crate) async fn prepare(config: &Config) -> Result<Ground, Error> {
        FFMPEG.installed("-version").await?;
        let clock = VenueClock::start();
        let board = score::board(config, clock.now_ms())?;
        let sound = Arc::new(Sound::make().await?);
        Ok(Ground { size: config.size, scene: Scene::new(config.size, board), sound, clock })
    }

    /// Feeds the bus until shutdown.
    pub(crate) async fn run(&self, bus: &Bus, shutdown: &CancellationToken) {
        supervise::keep_running("ground", shutdown, || self.session(bus)).await;
    }

    /// One life of the encoder.
    async fn session(&self, bus: &Bus) -> io::Result<Ended> {
        let (reader, writer) = io::pipe()?;
        let first = clock::frame_from(self.clock.now_ms());
        // The command owns our copy of the reading end: gone before the thread writes, so that a dead encoder
        // is a broken pipe and not a wait for ever.
        let mut child = {
            let mut command = encoder(self.size, first);
            command.stdin(Stdio::from(reader)).stdout(Stdio::piped());
            supervise::spawn("ground", &mut command)?
        };
        let stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;

        let stop = CancellationToken::new();
        let _stop_on_drop = stop.clone().drop_guard();
        let live = Live {
            scene: self.scene.clone(),
            sound: self.sound.clone(),
            clock: self.clock,
            first,
            header: mkv::header(self.size, FRAME_MS, &LANGUAGES.map(|l| l.code)),
        };
        std::thread::Builder::new().name("ground".to_owned()).spawn(move || {
            match live.run(writer, &stop) {
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                    tracing::warn!(%error, "ground: stopped")
                }
                _ => {}
            }
        })?;

        bus.carry(stdout).await?;
        Ok(Ended::Again(child.wait().await?.to_string()))
    }
}

/// ffmpeg from Matroska on stdin to MPEG-TS on stdout, for a first frame at `first` (UTC milliseconds).
fn encoder(size: Size, first: i64) -> Command {
    let area = u64::from(size.width) * u64::from(size.height);
    let rate = (VIDEO_BPS * area / (1280 * 720)).max(VIDEO_BPS_MIN);
    let gop = (1_000 / FRAME_MS).to_string();
    let offset = clock::offset_seconds(first);
    let mut command = FFMPEG.command();
    command
        .args(["-hide_banner", "-nostats", "-loglevel", "warning"])
        // All parameters are in the header: nothing to guess, nothing to wait for.
        .args([
            "-probesize",
            "32",
            "-analyzeduration",
            "0",
            "-fflags",
            "nobuffer",
            "-f",
            "matroska",
            "-i",
            "pipe:0",
        ])
        .args(["-map", "0", "-fps_mode", "passthrough"])
        .args(["-c:v", "libx264", "-preset", "superfast", "-tune", "zerolatency", "-threads:v", "1"])
        .args(["-g", &gop, "-keyint_min", &gop, "-sc_threshold", "0", "-bf", "0", "-x264-params", "aud=1"])
        .args(["-b:v", &rate.to_string(), "-maxrate", &rate.to_string()])
        .args(["-bufsize", &(rate * VBV_MS / 1_000).to_string()])
        .args(["-c:a", "aac", "-aac_coder", "fast", "-b:a", "128k"])
        .args(["-f", "mpegts", "-muxdelay", "0", "-muxpreload", "0", "-output_ts_offset", &offset])
        .args(["-pes_payload_size", "0", "-flush_packets", "1", "-pat_period", "0.2", "-sdt_period", "2"])
        .args(["-mpegts_flags", "+initial_discontinuity", "pipe:1"]);
    command
}

/// What the thread owns.
struct Live {
    scene: Scene,
    sound: Arc<Sound>,
    clock: VenueClock,
    first: i64,
    header: Vec<u8>,
}

impl Live {
    /// Hands over each frame when its time has come, until told to stop or the encoder is gone. Returning
    /// closes the pipe, which ends the encoder.
    fn run(mut self, mut encoder: PipeWriter, stop: &CancellationToken) -> io::Result<()> {
        encoder.write_all(&self.header)?;
        let (mut due, mut sound_from) = (self.first, self.first);
        let mut head = Vec::new();
        let mut pcm = Vec::new();
        while !stop.is_cancelled() {
            let Some(at) = clock::next_frame(due, self.clock.now_ms()) else {
                tracing::warn!("ground: stood still; the encoder starts anew");
                return Ok(());
            };
            if at > due {
                tracing::warn!(frames = (at - due) / FRAME_MS, "ground: late; frames left out");
            }
            let sound_to = at + FRAME_MS + SOUND_LEAD_MS;
            pcm.clear();
            let mut blocks = Vec::new();
            for time in (sound_from..sound_to).step_by(FRAME_MS as usize) {
                for language in 0..LANGUAGES.len() {
                    self.sound.write(language, time, &mut pcm);
                    // Within a stall's length of the frame, so it fits.
                    blocks.push((language, (time - at) as i16));
                }
            }
            let blocks: Vec<_> = blocks
                .into_iter()
                .zip(pcm.chunks_exact(FRAME_BYTES))
                .map(|((language, after), pcm)| (language, after, pcm))
                .collect();
            let picture = &self.scene.paint(at).data;
            head.clear();
            mkv::cluster(&mut head, (at - self.first) as u64, &blocks, picture.len());

            self.clock.sleep_until(at);
            encoder.write_all(&head)?;
            encoder.write_all(picture)?;
            (due, sound_from) = (at + FRAME_MS, sound_to);
        }
        Ok(())
    }
}
