//! Whose request it is, for the door: also of somebody of whom nothing is known.

use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use http::request::Parts;

use crate::identity::{Problem, Viewer};

/// The viewer of a request; a device that never was before, if it says nothing of who it is.
pub(crate) struct Asker(pub(crate) Viewer);

impl<S: Send + Sync> FromRequestParts<S> for Asker {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Asker, Problem> {
        // Tests may say who it is.
        #[cfg(test)]
        if let Some(viewer) = parts.extensions.get::<Viewer>() {
            return Ok(Asker(viewer.clone()));
        }
        let viewer = <Viewer as OptionalFromRequestParts<S>>::from_request_parts(parts, state).await?;
        Ok(Asker(viewer.map_or_else(Viewer::guest, Ok)?))
    }
}
