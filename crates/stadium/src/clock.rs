//! The venue clock: UTC taken once, then the monotonic clock; and the grid of frames on it.

use std::time::{Duration, Instant, SystemTime};

use timeline::CLOCK_HZ;

/// Milliseconds between frames: 25 a second. Frames stand on multiples of it since 1970.
pub const FRAME_MS: i64 = 40;

/// How late a frame may still be handed over. Up to here a stalled process catches up by handing over its
/// missed frames at once (ten frames, which the encoder swallows in about 100 ms); beyond it they are left
/// out, and the picture goes on with the present one.
pub const CATCH_UP_MS: i64 = 400;

/// A process that stood still for longer (a suspended laptop) starts its encoder anew: sound is never left
/// out, and so much of it in one go would be a burst that receivers lose.
pub(crate) const STALL_MS: i64 = 5_000;

/// PTS of the instant `utc_ms` (milliseconds since 1970): 90 kHz ticks since 1970, mod 2^33
/// (ISO/IEC 13818-1, 2.4.3.7).
pub fn pts(utc_ms: i64) -> u64 {
    ((utc_ms as u64) * (CLOCK_HZ as u64 / 1_000)) % (1 << 33)
}

/// PTS of an instant in seconds, as ffmpeg's `-output_ts_offset` takes it. ffmpeg keeps microseconds and its
/// muxer rounds to the nearest tick, which is the one that is meant.
pub(crate) fn offset_seconds(utc_ms: i64) -> String {
    let micros = (pts(utc_ms) * 100 + 4) / 9;
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

/// Reads UTC once and then counts monotonic time, so that a stepped system clock never moves the venue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VenueClock {
    began: Instant,
    began_utc: Duration,
}

impl VenueClock {
    pub(crate) fn start() -> Self {
        let began_utc = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        VenueClock { began: Instant::now(), began_utc }
    }

    /// Milliseconds since 1970.
    pub(crate) fn now_ms(&self) -> i64 {
        (self.began_utc + self.began.elapsed()).as_millis() as i64
    }

    /// Blocks until `utc_ms`; returns at once when it has passed.
    pub(crate) fn sleep_until(&self, utc_ms: i64) {
        let target = Duration::from_millis(utc_ms as u64).saturating_sub(self.began_utc);
        std::thread::sleep(target.saturating_sub(self.began.elapsed()));
    }
}

/// The first frame at or after an instant.
pub(crate) fn frame_from(utc_ms: i64) -> i64 {
    utc_ms + (-utc_ms).rem_euclid(FRAME_MS)
}

/// Which frame to hand over when `due` is the next one in order, or `None` after a stall.
pub(crate) fn next_frame(due: i64, now_ms: i64) -> Option<i64> {
    match now_ms - due {
        late if late > STALL_MS => None,
        late if late > CATCH_UP_MS => Some(now_ms - now_ms.rem_euclid(FRAME_MS)),
        _ => Some(due),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pts_is_utc_in_ticks_and_wraps() {
        assert_eq!(pts(1), 90);
        assert_eq!(pts(95_443_717), (1 << 33) - 62);
        assert_eq!(pts(95_443_718), 28);
    }

    #[test]
    fn the_offset_rounds_back_to_its_tick() {
        for utc_ms in (1_796_000_000_000..1_796_000_001_000).chain(95_443_700..95_443_730) {
            let seconds = offset_seconds(utc_ms);
            let micros: u64 = seconds.replace('.', "").parse().unwrap();
            assert_eq!((micros * 9 + 50) / 100, pts(utc_ms), "{seconds}");
        }
    }

    #[test]
    fn late_frames_are_caught_up_then_left_out_then_given_up() {
        assert_eq!(frame_from(1), 40);
        assert_eq!(frame_from(80), 80);
        assert_eq!(next_frame(1_000, 900), Some(1_000));
        assert_eq!(next_frame(1_000, 1_000 + CATCH_UP_MS), Some(1_000));
        assert_eq!(next_frame(1_000, 1_001 + CATCH_UP_MS), Some(1_400));
        assert_eq!(next_frame(1_000, 1_001 + STALL_MS), None);
    }
}
