//! Bodies and what is in them.

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use http::StatusCode;
use http::request::Parts;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::identity::limits::{EMAIL_BYTES_MAX, NAME_CHARS_MAX};
use crate::identity::problem::Problem;

/// A JSON body; what is wrong with it is a [`Problem`].
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        // An object: serde would take a list of the fields' values as well.
        let Json(object) = Json::<Map<String, Value>>::from_request(request, state).await.map_err(refuse)?;
        serde_json::from_value(Value::Object(object)).map(Body).map_err(|_| unexpected())
    }
}

// What serde says may quote what was sent, and that may be a password.
fn unexpected() -> Problem {
    Problem::bad("The body is not the JSON that is expected here; see the description of the interface.")
}

fn refuse(rejection: JsonRejection) -> Problem {
    match rejection.status() {
        StatusCode::UNSUPPORTED_MEDIA_TYPE => Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "not-json",
            "Not understood",
            "Send JSON, and say so: Content-Type: application/json.",
        ),
        StatusCode::PAYLOAD_TOO_LARGE => Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too-large",
            "Too large",
            "That is more than is read here.",
        ),
        _ => unexpected(),
    }
}

/// The same, or nothing at all.
pub(crate) struct MaybeBody<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Default> FromRequest<S> for MaybeBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        use axum::body::HttpBody;
        if request.body().is_end_stream() {
            return Ok(MaybeBody(T::default()));
        }
        Body::from_request(request, state).await.map(|Body(value)| MaybeBody(value))
    }
}

/// The name in a path.
pub(crate) struct Id(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Id, Problem> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        path.map(|Path(id)| Id(id)).map_err(|_| Problem::bad("The name in the path is not text."))
    }
}

/// What stands behind the question mark.
pub(crate) struct Asked<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Asked<T>, Problem> {
        let query = Query::<T>::from_request_parts(parts, state).await;
        query
            .map(|Query(asked)| Asked(asked))
            .map_err(|_| Problem::bad("What stands behind the ? is not understood."))
    }
}

/// What people call something: a device, a profile. Without control characters, trimmed, not empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name(pub(crate) String);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Name, D::Error> {
        let text = String::deserialize(from)?;
        let text = text.trim();
        let good =
            (1..=NAME_CHARS_MAX).contains(&text.chars().count()) && !text.chars().any(char::is_control);
        if good { Ok(Name(text.to_owned())) } else { Err(serde::de::Error::custom("not a name")) }
    }
}

/// An e-mail address in the one form in which we compare it: lower case, as no provider of note tells cases apart.
/// Whether it exists is found out by a mail, so only what could break one is refused.
pub(crate) fn email(text: &str) -> Result<String, Problem> {
    let text = text.trim();
    let bad = || Problem::bad("That is not an e-mail address.");
    let (local, domain) = text.rsplit_once('@').ok_or_else(bad)?;
    let plain = |c: char| !c.is_whitespace() && !c.is_control() && !"<>()[]\\,;:\"".contains(c);
    let good = text.len() <= EMAIL_BYTES_MAX
        && !local.is_empty()
        && !local.contains('@')
        && domain.split('.').all(|label| !label.is_empty())
        && domain.contains('.')
        && text.chars().all(plain);
    if good { Ok(text.to_lowercase()) } else { Err(bad()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        assert_eq!(email(" Mala.Kumar+tv@Example.ORG ").unwrap(), "mala.kumar+tv@example.org");
        let long = format!("{}@example.org", "m".repeat(300));
        for bad in [
            "",
            "mala",
            "@x.y",
            "mala@",
            "mala@localhost",
            "a b@x.y",
            "a@x..y",
            "a@b@x.y",
            "a@x.y\r\nBcc: z@x.y",
            &long,
        ] {
            assert!(email(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn names() {
        let read = |text: &str| serde_json::from_value::<Name>(text.into()).map(|name| name.0).ok();
        assert_eq!(read("  மாலா ").as_deref(), Some("மாலா"));
        for bad in ["", "   ", "a\nb", &"x".repeat(41)] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
