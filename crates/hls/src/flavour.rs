//! Flavours: what one family of players needs. The flavour is the folder of the playlists in a URL; media
//! objects are the same for all.

use crate::key::System::{self, ClearKey, FairPlay, PlayReady, Widevine};

/// One family of players.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flavour {
    /// Its name in URLs.
    pub name: &'static str,
    /// Who it is for.
    pub players: &'static str,
    /// The DRM systems that its key lines are for. Each player would ignore the others' lines, but a line is up to a
    /// kilobyte and stands in every reload.
    pub systems: &'static [System],
}

/// All of them, one a row.
///
/// Shaka Player knows no line for ClearKey but `identity`, for which it fetches raw keys past the licence endpoint. It
/// plays `hls` with ClearKey all the same when it is told to take keys from the media (`manifest.ignoreDrmInfo`).
pub const FLAVOURS: &[Flavour] = &[
    Flavour {
        name: "hls",
        players: "browsers, and all in the clear",
        systems: &[Widevine, PlayReady, ClearKey],
    },
    Flavour { name: "fairplay", players: "Apple's own", systems: &[FairPlay] },
    Flavour { name: "widevine", players: "Android, Chromecast", systems: &[Widevine] },
    Flavour { name: "playready", players: "televisions, Windows", systems: &[PlayReady] },
];

/// The flavour of that name in a URL.
pub fn find(name: &str) -> Option<&'static Flavour> {
    FLAVOURS.iter().find(|f| f.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn found_by_name() {
        assert_eq!(find("hls"), Some(&FLAVOURS[0]));
        assert_eq!(find("HLS"), None);
        assert_eq!(find("fairplay").map(|f| f.systems), Some(&[FairPlay][..]));
        for flavour in FLAVOURS {
            assert!(flavour.name.parse::<timeline::name::Token>().is_ok(), "{} stands in URLs", flavour.name);
        }
    }
}
