//! What a pipeline says about its programme before it publishes the first object.

use serde::{Deserialize, Serialize};

use crate::name::Token;
use crate::{Grid, Utc};

/// A programme: put to the origin as `{match}/{run}/{programme}/programme.json` by each pipeline. Both must
/// say the same; an origin refuses a different one with 409.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Programme {
    /// The instant that MSN 0 begins.
    pub epoch: Utc,
    /// How it is cut.
    pub grid: Grid,
    /// Its renditions, video first, in the order in which the multivariant playlist lists them.
    pub tracks: Vec<Track>,
}

/// One rendition of the picture or one language of the sound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Track {
    /// Its name in URLs, such as `v720` or `en`.
    pub name: Token,
    /// RFC 6381 codecs string, such as `avc1.64001F` or `mp4a.40.2`.
    pub codecs: String,
    /// The most that any segment needs, in bits a second, container included: from the encoder's VBV bound.
    pub peak_bps: u64,
    /// What the encoder aims at, in bits a second, container included.
    pub average_bps: u64,
    /// Picture or sound.
    pub kind: Kind,
}

/// Picture or sound.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Kind {
    /// A video rendition.
    Video {
        /// In pixels.
        width: u32,
        /// In pixels.
        height: u32,
    },
    /// An audio language.
    Audio {
        /// BCP 47 tag, such as `en`; `und` when the feed does not say.
        language: String,
        /// For people, in that language, such as `हिन्दी`.
        label: String,
        /// Number of channels.
        channels: u32,
    },
}

impl Track {
    /// Whether this is a picture.
    pub fn is_video(&self) -> bool {
        matches!(self.kind, Kind::Video { .. })
    }
}
