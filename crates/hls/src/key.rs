//! `EXT-X-KEY`, `EXT-X-SESSION-KEY` (rfc8216bis 4.4.4.4 and 4.4.6.5) and the announcement of the next key.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use drm::pssh;
use timeline::Utc;
use timeline::protection::{Kid, Protection, Scheme};

/// A DRM system that a line is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// Google's.
    Widevine,
    /// Microsoft's.
    PlayReady,
    /// Apple's; of `cbcs` only.
    FairPlay,
    /// W3C's, as hls.js reads it. Its URI is the key's name, which is all there is to say: the licence's URL is told to
    /// players by the page.
    ClearKey,
}

/// `CLASS` of the date range that announces a key.
pub const ANNOUNCEMENT: &str = "pavilion.key";

/// Bytes of the longest line, PlayReady's, for what a playlist is expected to need.
pub(crate) const LINE_BYTES: usize = 1_024;

/// Writes a line for each system.
pub(crate) fn lines(out: &mut String, tag: &str, protection: &Protection, systems: &[System]) {
    let Protection { scheme, kid, checksum, .. } = *protection;
    let method = match scheme {
        Scheme::Cbcs => "SAMPLE-AES",
        Scheme::Cenc => "SAMPLE-AES-CTR",
    };
    for system in systems {
        let (uri, format) = match system {
            System::Widevine => (
                format!("data:text/plain;base64,{}", STANDARD.encode(pssh::widevine(kid, scheme))),
                format!("urn:uuid:{}", pssh::uuid(pssh::WIDEVINE)),
            ),
            System::PlayReady => {
                let object = STANDARD.encode(pssh::playready_object(kid, scheme, checksum));
                (
                    format!("data:text/plain;charset=UTF-16;base64,{object}"),
                    "com.microsoft.playready".to_owned(),
                )
            }
            System::FairPlay if scheme == Scheme::Cenc => continue,
            System::FairPlay => (format!("skd://{kid}"), "com.apple.streamingkeydelivery".to_owned()),
            // hls.js takes the first 16 bytes of such a URI for the key's name.
            System::ClearKey => (
                format!("data:application/octet-stream;base64,{}", STANDARD.encode(kid.0)),
                "org.w3.clearkey".to_owned(),
            ),
        };
        let _ = writeln!(
            out,
            "{tag}:METHOD={method},URI=\"{uri}\",KEYID=0x{kid},KEYFORMAT=\"{format}\",KEYFORMATVERSIONS=\"1\""
        );
    }
}

/// Announces a key and the instant from which on it is needed. It repeats word for word as long as it stands.
pub(crate) fn announcement(out: &mut String, kid: Kid, at: Utc) {
    let _ = writeln!(
        out,
        "#EXT-X-DATERANGE:ID=\"key-{kid}\",CLASS=\"{ANNOUNCEMENT}\",START-DATE=\"{at}\",X-KEYID=0x{kid}"
    );
}
