//! Who asks. A stand-in until accounts are here; see `play::asker` for where it is taken from.

/// The viewer of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Viewer {
    /// The account, if somebody is logged in.
    pub account: Option<String>,
    /// The device.
    pub device: String,
    /// The profile of the account.
    pub profile: Option<String>,
    /// A login that could not be verified: bound to the device, and only for watching.
    pub provisional: bool,
}
