//! Where the edge asks.

use std::sync::Arc;

use http::header::{CACHE_CONTROL, HeaderMap, HeaderName, HeaderValue};
use http::request;

use super::{Asked, No, Revoke, Whereabouts};
use crate::handle::Edge;
use crate::problem::Problem;

/// CTA-5007: where a renewed pass stands.
const PASS: HeaderName = HeaderName::from_static(pass::cat::HEADER);

impl Edge {
    /// Ends a session: its passes are not taken any longer. Nothing happens where there are no passes.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Revoked`]: there are too many.
    pub fn revoke(&self, revoke: &Revoke) -> Result<(), crate::Error> {
        self.door.guard().map_or(Ok(()), |guard| guard.revoke(revoke))
    }

    /// Says who knows where clients are; once, before the first request.
    pub fn set_whereabouts(&self, whereabouts: Arc<dyn Whereabouts>) {
        if let Some(guard) = self.door.guard() {
            guard.set_whereabouts(whereabouts);
        }
    }

    /// Takes new keys of passes as they come, for ever.
    pub(crate) async fn watch_pass_keys(&self) {
        match self.door.guard() {
            Some(guard) => guard.watch().await,
            None => std::future::pending().await,
        }
    }

    /// Who may go on; the key was made without the pass, in [`target`].
    pub(crate) fn admit(
        &self,
        request: &request::Parts,
        pass: Option<&str>,
    ) -> Result<Option<HeaderValue>, Problem> {
        let asked = Asked {
            method: request.method.as_str(),
            path: request.uri.path(),
            pass,
            query: request.uri.query().unwrap_or_default(),
            fields: &request.headers,
            peer: request.extensions.get().copied(),
        };
        self.door.admit(&asked).map_err(|no| match no {
            No::Word => Problem::Word,
            No::Pass(why) => Problem::Pass(why),
        })
    }
}

/// Hands over the next pass with an answer. It is one client's alone, so the answer is too.
pub(crate) fn hand(headers: &mut HeaderMap, pass: HeaderValue) {
    headers.insert(PASS, pass);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    headers.remove("cdn-cache-control");
    headers.remove("surrogate-control");
}
