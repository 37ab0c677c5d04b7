//! What a track is made of.

use mp4_atom::{Avcc, Colr, Pasp};

/// A track's configuration: all that an init segment is made from. Two that compare equal are written alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Track {
    /// Ticks a second; never 0.
    pub timescale: u32,
    /// What the samples are.
    pub codec: Codec,
}

/// A codec and its configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Codec {
    /// H.264, parameter sets out of band (`avc1`).
    Avc(Avc),
    /// AAC (`mp4a`).
    Aac(Aac),
}

/// H.264 configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Avc {
    /// In pixels.
    pub width: u16,
    /// In pixels.
    pub height: u16,
    /// Profile, level, NAL length size, SPS and PPS (ISO/IEC 14496-15, 5.3.3.1).
    pub config: Avcc,
    /// Shape of a pixel; absent when the encoder does not say.
    pub pasp: Option<Pasp>,
    /// Colour description; absent when the encoder does not say.
    pub colr: Option<Colr>,
}

/// AAC configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aac {
    /// AudioSpecificConfig (ISO/IEC 14496-3, 1.6.2.1).
    pub config: Vec<u8>,
    /// Number of channels.
    pub channels: u16,
    /// In hertz.
    pub sample_rate: u16,
    /// In bits a second, as the encoder was asked to make it.
    pub bit_rate: u32,
}

impl Track {
    /// The codecs parameter of RFC 6381, such as `avc1.64001F` or `mp4a.40.2`.
    pub fn codecs(&self) -> String {
        match &self.codec {
            Codec::Avc(Avc { config, .. }) => format!(
                "avc1.{:02X}{:02X}{:02X}",
                config.avc_profile_indication, config.profile_compatibility, config.avc_level_indication
            ),
            Codec::Aac(aac) => format!("mp4a.40.{}", aac.object_type()),
        }
    }

    /// Whether this is a picture.
    pub fn is_video(&self) -> bool {
        matches!(self.codec, Codec::Avc(_))
    }
}

impl Aac {
    /// AudioObjectType (ISO/IEC 14496-3, 1.6.2.1): 2 is AAC-LC; 0 when the configuration is too short.
    pub fn object_type(&self) -> u8 {
        match self.config.as_slice() {
            // 31 escapes to six more bits.
            [a, b, ..] if a >> 3 == 31 => 32 + ((a & 7) << 3 | b >> 5),
            [a, ..] => a >> 3,
            [] => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codecs_as_players_expect_them() {
        let aac = |config: &[u8]| Track {
            timescale: 48_000,
            codec: Codec::Aac(Aac { config: config.to_vec(), channels: 2, sample_rate: 48_000, bit_rate: 0 }),
        };
        assert_eq!(aac(&[0x11, 0x90]).codecs(), "mp4a.40.2");
        // xHE-AAC: escape, then 42 - 32.
        assert_eq!(aac(&[0xf9, 0x40]).codecs(), "mp4a.40.42");
        assert_eq!(aac(&[]).codecs(), "mp4a.40.0");
        let config = Avcc::new(&[0x67, 0x64, 0x00, 0x1f], &[0x68]).unwrap();
        let avc = Avc { width: 1280, height: 720, config, pasp: None, colr: None };
        assert_eq!(Track { timescale: 90_000, codec: Codec::Avc(avc) }.codecs(), "avc1.64001F");
    }
}
