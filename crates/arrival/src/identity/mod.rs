//! Who asks. A stand-in until accounts are here: a device that nobody knows.

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

impl<S: Sync> axum::extract::FromRequestParts<S> for Viewer {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut http::request::Parts, _: &S) -> Result<Viewer, Self::Rejection> {
        if let Some(viewer) = parts.extensions.get::<Viewer>() {
            return Ok(viewer.clone());
        }
        Ok(Viewer {
            account: None,
            device: format!("device-{:016x}", fastrand::u64(..)),
            profile: None,
            provisional: false,
        })
    }
}
