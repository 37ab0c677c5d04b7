//! Whose request it is, for the door: also of somebody of whom nothing is known.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use http::request::Parts;

use crate::identity::Viewer;

/// The viewer of a request; a device that never was before, if it says nothing of who it is.
pub(crate) struct Asker(pub(crate) Viewer);

impl<S: Send + Sync> FromRequestParts<S> for Asker {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Asker, Infallible> {
        let guest = || Viewer {
            account: None,
            device: format!("device-{:016x}", fastrand::u64(..)),
            profile: None,
            provisional: false,
        };
        // Until accounts are here only tests say who it is.
        Ok(Asker(parts.extensions.get::<Viewer>().cloned().unwrap_or_else(guest)))
    }
}
