//! The sound of the ground: speech made once, crowd noise, and a pip at every whole second. What is heard at an
//! instant depends on that instant alone, so a restarted ground goes on where it would have been.

use crate::Error;
use crate::clock::FRAME_MS;
use crate::commentary::{LANGUAGES, Language};
use crate::program::{ESPEAK, FFMPEG};

/// Samples a second, in every language.
pub const SAMPLE_HZ: u32 = 48_000;

/// Interleaved channels, 16-bit little-endian.
pub(crate) const CHANNELS: usize = 2;

/// Frequency of the pip that begins exactly at each whole second of UTC.
pub const PIP_HZ: u32 = 1_000;

/// Length of the pip in samples: 20 ms, so that it also ends where its sine is 0.
pub const PIP_SAMPLES: i64 = SAMPLE_HZ as i64 / 50;

/// Samples in a millisecond.
const PER_MS: i64 = SAMPLE_HZ as i64 / 1_000;

/// Bytes of one language for one frame of picture.
pub(crate) const FRAME_BYTES: usize = (FRAME_MS * PER_MS) as usize * CHANNELS * 2;

/// Peak of the speech and of the pip, out of 32,767: their sum with the crowd does not clip.
const SPEECH_PEAK: f32 = 17_000.0;
const PIP_PEAK: f32 = 13_000.0;

/// Root mean square of the crowd, about 32 dB below full scale.
const CROWD_RMS: f32 = 820.0;

/// Length of the crowd's loop. Prime to the seconds, and long enough that nobody hears it come back.
const CROWD_MS: i64 = 11_003;

/// How much of the speech is left under a pip, so that the pip is found by machine.
const SPEECH_UNDER_PIP: f32 = 0.15;

/// A pause before the commentary begins again.
const PAUSE_MS: i64 = 1_500;

/// All sound, ready to be cut.
pub(crate) struct Sound {
    /// Mono, one for each of [`LANGUAGES`].
    speech: Vec<Vec<f32>>,
    /// Left and right.
    crowd: [Vec<f32>; CHANNELS],
    pip: Vec<f32>,
}

impl Sound {
    /// Has espeak-ng speak all languages.
    pub(crate) async fn make() -> Result<Sound, Error> {
        let [a, b, c] = &LANGUAGES;
        let (a, b, c) = tokio::try_join!(speak(a), speak(b), speak(c))?;
        Ok(Sound::of(vec![a, b, c]))
    }

    fn of(speech: Vec<Vec<f32>>) -> Sound {
        let turn = std::f32::consts::TAU * PIP_HZ as f32 / SAMPLE_HZ as f32;
        let pip = (0..PIP_SAMPLES).map(|n| PIP_PEAK * (turn * n as f32).sin()).collect();
        Sound { speech, crowd: [crowd(1), crowd(2)], pip }
    }

    /// Appends the PCM of one language from `utc_ms` on, one frame long.
    pub(crate) fn write(&self, language: usize, utc_ms: i64, out: &mut Vec<u8>) {
        let speech = &self.speech[language];
        let from = utc_ms * PER_MS;
        for sample in from..from + FRAME_MS * PER_MS {
            let in_second = sample.rem_euclid(i64::from(SAMPLE_HZ));
            let (pip, under) = match self.pip.get(in_second as usize) {
                Some(&pip) => (pip, SPEECH_UNDER_PIP),
                None => (0.0, 1.0),
            };
            let voice = speech[sample.rem_euclid(speech.len() as i64) as usize];
            for crowd in &self.crowd {
                let noise = crowd[sample.rem_euclid(crowd.len() as i64) as usize];
                out.extend_from_slice(&((pip + (voice + noise) * under) as i16).to_le_bytes());
            }
        }
    }
}

/// A murmur: noise through two low-pass filters, swelling slowly, its end faded into its beginning.
fn crowd(seed: u64) -> Vec<f32> {
    let len = (CROWD_MS * PER_MS) as usize;
    let fade = SAMPLE_HZ as usize;
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut low, mut lower) = (0.0f32, 0.0f32);
    let mut noise: Vec<f32> = (0..len + fade)
        .map(|n| {
            low += 0.10 * (random.f32() - 0.5 - low);
            lower += 0.02 * (low - lower);
            let swell = 1.0 + 0.35 * (n as f32 / len as f32 * 3.0 * std::f32::consts::TAU).sin();
            (low - 0.6 * lower) * swell
        })
        .collect();
    for n in 0..fade {
        let weight = n as f32 / fade as f32;
        noise[n] = noise[n] * weight.sqrt() + noise[len + n] * (1.0 - weight).sqrt();
    }
    noise.truncate(len);
    let rms = (noise.iter().map(|s| s * s).sum::<f32>() / len as f32).sqrt();
    noise.iter_mut().for_each(|s| *s *= CROWD_RMS / rms);
    noise
}

/// One language at 48 kHz, at the common peak, with the pause behind it.
async fn speak(language: &Language) -> Result<Vec<f32>, Error> {
    let speak = ["-v", language.voice, "-s", "150", "--stdin", "--stdout"];
    let wav = ESPEAK.filter(&speak, language.text.as_bytes()).await?;
    let rate = SAMPLE_HZ.to_string();
    let pcm = FFMPEG
        .filter(
            // espeak-ng cannot know the length when it writes the WAV's header.
            &[
                "-v",
                "error",
                "-f",
                "wav",
                "-ignore_length",
                "1",
                "-i",
                "pipe:0",
                "-ac",
                "1",
                "-ar",
                &rate,
                "-f",
                "s16le",
                "pipe:1",
            ],
            &wav,
        )
        .await?;
    let mut speech: Vec<f32> =
        pcm.chunks_exact(2).map(|pair| f32::from(i16::from_le_bytes([pair[0], pair[1]]))).collect();
    let peak = speech.iter().fold(0f32, |peak, s| peak.max(s.abs()));
    if peak == 0.0 {
        let why = format!("voice `{}` said nothing; reinstall espeak-ng-data", language.voice);
        return Err(Error::Failed { program: "espeak-ng", why });
    }
    speech.iter_mut().for_each(|s| *s *= SPEECH_PEAK / peak);
    speech.resize(speech.len() + (PAUSE_MS * PER_MS) as usize, 0.0);
    Ok(speech)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(sound: &Sound, utc_ms: i64) -> Vec<i16> {
        let mut pcm = Vec::new();
        sound.write(0, utc_ms, &mut pcm);
        assert_eq!(pcm.len(), FRAME_BYTES);
        // Left only.
        pcm.chunks_exact(4).map(|s| i16::from_le_bytes([s[0], s[1]])).collect()
    }

    #[test]
    fn the_pip_starts_at_the_whole_second_and_lasts_20_ms() {
        let mut sound = Sound::of(vec![vec![0.0; 48_001]]);
        sound.crowd = [vec![0.0], vec![0.0]];
        let second = samples(&sound, 1_796_000_000_000);
        assert_eq!(second[0], 0);
        assert!(second[1] > 1_000 && second[12] > 12_000);
        assert!(second[960..].iter().all(|&s| s == 0));
        assert!(samples(&sound, 1_796_000_000_040).iter().all(|&s| s == 0));
    }

    #[test]
    fn the_crowd_is_low_and_has_no_seam() {
        let crowd = crowd(1);
        let step = |a: f32, b: f32| (a - b).abs();
        let biggest = crowd.windows(2).map(|w| step(w[0], w[1])).fold(0.0, f32::max);
        assert!(step(crowd[0], crowd[crowd.len() - 1]) <= biggest);
        assert!(crowd.iter().all(|s| s.abs() + SPEECH_PEAK < 32_767.0));
    }
}
