//! One access unit.

use bytes::Bytes;

/// A coded frame of video, or of 1,024 samples of sound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// Decode time, in the track's timescale. Negative before the encoder's time 0, such as AAC priming.
    pub dts: i64,
    /// Presentation time minus [`Self::dts`], in the track's timescale.
    pub cts: i32,
    /// In the track's timescale. From an encoder it reaches to the next frame, so it covers frames that were
    /// left out in between.
    pub duration: u32,
    /// Whether it decodes without any other (a sync sample; always true for AAC).
    pub keyframe: bool,
    /// The coded bytes: length-prefixed NAL units, or a raw AAC frame.
    pub data: Bytes,
}
