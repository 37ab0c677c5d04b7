//! The DRM systems.

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum System {
    ClearKey,
    Widevine,
    PlayReady,
    FairPlay,
}

impl System {
    pub(crate) const ALL: [System; 4] =
        [System::ClearKey, System::Widevine, System::PlayReady, System::FairPlay];

    /// As it stands in URLs, metrics and play's answer.
    pub(crate) fn name(self) -> &'static str {
        match self {
            System::ClearKey => "clearkey",
            System::Widevine => "widevine",
            System::PlayReady => "playready",
            System::FairPlay => "fairplay",
        }
    }

    pub(crate) fn of(name: &str) -> Option<System> {
        System::ALL.into_iter().find(|system| system.name() == name)
    }
}
