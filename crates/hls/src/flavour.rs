//! Flavours: what one family of players needs. The flavour is the folder of the playlists in a URL; media
//! objects are the same for all.

/// One family of players.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flavour {
    /// Its name in URLs.
    pub name: &'static str,
    /// Who it is for.
    pub players: &'static str,
}

/// All of them, one a row.
pub const FLAVOURS: &[Flavour] = &[Flavour { name: "hls", players: "all, in the clear" }];

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
        for flavour in FLAVOURS {
            assert!(flavour.name.parse::<timeline::name::Token>().is_ok(), "{} stands in URLs", flavour.name);
        }
    }
}
