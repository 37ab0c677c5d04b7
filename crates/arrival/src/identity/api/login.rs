//! `login`, `refresh` and `logout`.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Deserialize;

use super::Client;
use super::answer::{Ask, Kept};
use crate::identity::http::{Body, DEVICE, MaybeBody, Name, REFRESH, email};
use crate::identity::limits::PASSWORD_BYTES_MAX;
use crate::identity::problem::Problem;
use crate::identity::session::Refreshed;
use crate::identity::viewer::SignedIn;
use crate::identity::{Error, Identity};

/// What a device is called that says nothing.
pub(super) const LABEL: &str = "A device";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Login {
    email: String,
    password: String,
    device_token: Option<String>,
    /// The device, for people.
    label: Option<Name>,
    #[serde(default)]
    r#use: Kept,
}

/// Signs somebody in. One refusal for all that does not fit, and the same work for all of them.
pub(super) async fn login(
    State(identity): State<Identity>,
    client: Client,
    ask: Ask,
    Body(login): Body<Login>,
) -> Result<Response, Problem> {
    ask.may(login.r#use)?;
    let (now_ms, rates) = (identity.now_ms(), &identity.0.rates);
    let email = email(&login.email)?;
    if login.password.len() > PASSWORD_BYTES_MAX {
        return Err(Problem::bad(format!("A password has at most {PASSWORD_BYTES_MAX} bytes.")));
    }
    rates.dear(client.0, now_ms)?;
    rates.try_account(&email, now_ms)?;
    let device = identity.device_of(login.device_token.as_deref(), &ask, login.r#use)?;
    let account = match identity.accounts().by_email(&email).await {
        Ok(account) => account,
        Err(error) => {
            tracing::warn!(%error, "a login could not be verified");
            return identity.give_provisional(device, login.r#use);
        }
    };
    let hash = account.as_ref().and_then(|account| account.password.as_deref());
    let verdict = identity.0.passwords.check(&login.password, hash).await?;
    let Some(account) = account.filter(|_| verdict.good) else {
        metrics::counter!("identity_logins_total", "outcome" => "wrong").increment(1);
        return Err(Problem::wrong("The e-mail address and the password do not fit together."));
    };
    rates.was_right(&email);
    if verdict.old
        && let (Some(old), Ok(new)) = (&account.password, identity.0.passwords.make(&login.password).await)
    {
        // It is as good as before if this fails.
        let _ = identity.accounts().rehash(&account.id, old, &new).await;
    }
    let label = login.label.map_or_else(|| LABEL.to_owned(), |name| name.0);
    match identity.begin(&account, &device.id, &label).await {
        Ok(begun) => {
            metrics::counter!("identity_logins_total", "outcome" => "good").increment(1);
            identity.give_session(begun, Some(device), login.r#use)
        }
        Err(Error::Store(error)) => {
            tracing::warn!(%error, "a session could not begin");
            identity.give_provisional(device, login.r#use)
        }
        Err(error) => Err(error.into()),
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Refresh {
    refresh_token: Option<String>,
    device_token: Option<String>,
}

/// Goes on with a session, or with a device: by the tokens in the body, or by those in cookies.
pub(super) async fn refresh(
    State(identity): State<Identity>,
    client: Client,
    ask: Ask,
    MaybeBody(asked): MaybeBody<Refresh>,
) -> Result<Response, Problem> {
    identity.0.rates.cheap(client.0, identity.now_ms())?;
    let (refresh, said, kept) = if asked.refresh_token.is_some() || asked.device_token.is_some() {
        (asked.refresh_token.as_deref(), asked.device_token.as_deref(), Kept::Bearer)
    } else {
        ask.may(Kept::Cookie)?;
        (ask.cookies().get(REFRESH), ask.cookies().get(DEVICE), Kept::Cookie)
    };
    let Some(token) = refresh else {
        let nothing =
            || Problem::unauthenticated("There is nothing to refresh; sign in, or get a device's token.");
        said.and_then(|token| identity.0.secret.device(token)).ok_or_else(nothing)?;
        return identity.give_device(identity.device_of(said, &ask, kept)?, kept);
    };
    match identity.exchange(token).await {
        Ok(Refreshed::Good(begun)) => identity.give_session(begun, None, kept),
        Ok(Refreshed::Reused | Refreshed::Unknown) => {
            let problem = Problem::wrong("You have been signed out on this device; please sign in again.");
            let cookies = (kept == Kept::Cookie).then(|| identity.forget());
            Ok((cookies.unwrap_or_default(), problem).into_response())
        }
        Err(Error::Store(error)) => {
            tracing::warn!(%error, "a session could not be looked up");
            identity.give_provisional(identity.device_of(said, &ask, kept)?, kept)
        }
        Err(error) => Err(error.into()),
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Logout {
    refresh_token: Option<String>,
}

/// Ends the session, by its refresh token, by the cookie, or by an access token. Whoever is signed out already is.
pub(super) async fn logout(
    State(identity): State<Identity>,
    ask: Ask,
    signed_in: Result<SignedIn, Problem>,
    MaybeBody(asked): MaybeBody<Logout>,
) -> Result<Response, Problem> {
    let cookie = ask.cookies().get(REFRESH);
    if asked.refresh_token.is_none() && cookie.is_some() {
        ask.may(Kept::Cookie)?;
    }
    let session = match (asked.refresh_token.as_deref().or(cookie), signed_in) {
        (Some(token), _) => match identity.exchange(token).await {
            Ok(Refreshed::Good(begun)) => Ok(Some(begun.session)),
            Ok(Refreshed::Reused | Refreshed::Unknown) => Ok(None),
            Err(error) => Err(error.into()),
        },
        (None, Ok(SignedIn { session })) => Ok(Some(session)),
        (None, Err(problem)) => Err(problem),
    };
    let ended = match session {
        Ok(Some(session)) => identity
            .accounts()
            .end(&session.account, &session.id, identity.now_ms())
            .await
            .map(drop)
            .map_err(Problem::from),
        Ok(None) => Ok(()),
        Err(problem) => Err(problem),
    };
    // The browser forgets in any case: nobody stays signed in on a borrowed machine because we are slow.
    let cookies = cookie.map(|_| identity.forget()).unwrap_or_default();
    Ok(match ended {
        Ok(()) => (StatusCode::NO_CONTENT, cookies).into_response(),
        Err(problem) => (cookies, problem).into_response(),
    })
}
