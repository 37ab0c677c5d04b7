//! `/me`: one's own account.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Deserialize;
use serde_json::json;
use store::Account;

use super::Client;
use super::profiles::Listed;
use crate::identity::http::{Body, MaybeBody};
use crate::identity::limits::PASSWORD_BYTES_MAX;
use crate::identity::problem::Problem;
use crate::identity::viewer::{SignedIn, Viewer};
use crate::identity::{Identity, password};

/// How long ago somebody without a password must have signed in to delete their account, in milliseconds.
const RECENT_MS: i64 = 10 * 60_000;

/// Who one is.
pub(super) async fn me(
    State(identity): State<Identity>,
    viewer: Viewer,
    signed_in: Result<SignedIn, Problem>,
) -> Result<Response, Problem> {
    if viewer.account.is_none() {
        let (device, provisional) = (viewer.device, viewer.provisional);
        return Ok(Json(json!({ "device": device, "provisional": provisional })).into_response());
    }
    let SignedIn { session } = signed_in?;
    let account = there(&identity, &session.account).await?;
    let profiles = identity.accounts().profiles(&session.account).await?;
    Ok(Json(json!({
        "account": account.id,
        "email": account.email,
        "has_password": account.password.is_some(),
        "device": session.device,
        "session": session.id,
        "profile": session.profile,
        "profiles": profiles.iter().map(Listed::from).collect::<Vec<_>>(),
        "provisional": false,
    }))
    .into_response())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Passwords {
    current: String,
    new: String,
}

/// Changes the password, and signs out everywhere else.
pub(super) async fn password(
    State(identity): State<Identity>,
    client: Client,
    SignedIn { session }: SignedIn,
    Body(asked): Body<Passwords>,
) -> Result<StatusCode, Problem> {
    identity.0.rates.dear(client.0, identity.now_ms())?;
    let account = there(&identity, &session.account).await?;
    password::check(&asked.new, account.email.as_deref())?;
    prove(&identity, &account, &asked.current).await?;
    let hash = identity.0.passwords.make(&asked.new).await?;
    let now_ms = identity.now_ms();
    if !identity.accounts().set_password(&account.id, &hash, Some(&session.id), now_ms).await? {
        return Err(gone());
    }
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Delete {
    password: Option<String>,
}

/// Deletes the account and all that hangs on it.
pub(super) async fn delete(
    State(identity): State<Identity>,
    client: Client,
    SignedIn { session }: SignedIn,
    MaybeBody(asked): MaybeBody<Delete>,
) -> Result<Response, Problem> {
    identity.0.rates.dear(client.0, identity.now_ms())?;
    let account = there(&identity, &session.account).await?;
    match (&account.password, asked.password) {
        (Some(_), given) => prove(&identity, &account, &given.unwrap_or_default()).await?,
        (None, _) if identity.now_ms() - session.created_ms <= RECENT_MS => {}
        (None, _) => {
            return Err(Problem::conflict("Please sign in again first, so that we know that it is you."));
        }
    }
    identity.accounts().delete(&account.id).await?;
    Ok((StatusCode::NO_CONTENT, identity.forget()).into_response())
}

async fn there(identity: &Identity, id: &str) -> Result<Account, Problem> {
    identity.accounts().account(id).await?.ok_or_else(gone)
}

fn gone() -> Problem {
    Problem::unauthenticated("This account is not there any more.")
}

/// Whoever holds a token knows the password as well.
async fn prove(identity: &Identity, account: &Account, password: &str) -> Result<(), Problem> {
    let Some(hash) = &account.password else {
        return Err(Problem::conflict("This account has no password: you sign in by another provider."));
    };
    if password.len() > PASSWORD_BYTES_MAX {
        return Err(Problem::bad(format!("A password has at most {PASSWORD_BYTES_MAX} bytes.")));
    }
    let name = account.email.as_deref().unwrap_or(&account.id);
    identity.0.rates.try_account(name, identity.now_ms())?;
    if !identity.0.passwords.check(password, Some(hash)).await?.good {
        return Err(Problem::new(
            StatusCode::FORBIDDEN,
            "wrong-password",
            "That did not work",
            "That is not your password.",
        ));
    }
    identity.0.rates.was_right(name);
    Ok(())
}
