//! `register`: proving an address, and choosing the password of its account, new or forgotten.
//!
//! Whether there is an account for an address is told to its mailbox only: both answers are the same for all, and the
//! code does the same for both.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Deserialize;
use serde_json::json;
use store::{Account, Code, Digest, Taken};

use super::Client;
use super::answer::{Ask, Kept};
use super::login::LABEL;
use crate::identity::http::{Body, Name, email};
use crate::identity::limits::{CODE_LIFE_MS, CODE_TRIES};
use crate::identity::problem::Problem;
use crate::identity::{Error, Identity, password, secret};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Register {
    email: String,
}

/// Sends a code.
pub(super) async fn register(
    State(identity): State<Identity>,
    client: Client,
    Body(asked): Body<Register>,
) -> Result<Response, Problem> {
    let email = email(&asked.email)?;
    let now_ms = identity.now_ms();
    identity.0.rates.dear(client.0, now_ms)?;
    identity.0.rates.mail(&email, now_ms)?;
    let known = identity.accounts().by_email(&email).await?.is_some();
    let code = code()?;
    let kept = Code { digest: of(&email, &code), expires_ms: now_ms + CODE_LIFE_MS, tries: CODE_TRIES };
    identity.accounts().put_code(&email, &kept).await?;
    let minutes = CODE_LIFE_MS / 60_000;
    let (subject, text) = if known {
        (
            "Your password",
            "You have an account with this address. With the code below you can choose a new password.",
        )
    } else {
        ("Your account", "With the code below you can make an account with this address.")
    };
    let text = format!(
        "{text}\r\n\r\n    {code}\r\n\r\nIt is good for {minutes} minutes. If you did not ask for it, there is nothing to do."
    );
    identity.0.spool.send(&email, subject, &text).await?;
    let detail = "We have sent a code to this address.";
    Ok((StatusCode::ACCEPTED, Json(json!({ "detail": detail }))).into_response())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Confirm {
    email: String,
    code: String,
    password: String,
    device_token: Option<String>,
    label: Option<Name>,
    #[serde(default)]
    r#use: Kept,
}

/// Uses a code up: the account has that password from now on, and who sent it is signed in.
pub(super) async fn confirm(
    State(identity): State<Identity>,
    client: Client,
    ask: Ask,
    Body(asked): Body<Confirm>,
) -> Result<Response, Problem> {
    ask.may(asked.r#use)?;
    let email = email(&asked.email)?;
    password::check(&asked.password, Some(&email))?;
    let now_ms = identity.now_ms();
    identity.0.rates.dear(client.0, now_ms)?;
    identity.0.rates.try_account(&email, now_ms)?;
    // First what may have to wait: a code that was used up for nothing would have to be asked for again.
    let hash = identity.0.passwords.make(&asked.password).await?;
    let given = asked.code.trim().to_ascii_uppercase();
    match identity.accounts().take_code(&email, &of(&email, &given), now_ms).await? {
        Taken::No => {
            return Err(Problem::wrong("The code is not right, or it is too old. You can ask for another."));
        }
        Taken::Yes => identity.0.rates.was_right(&email),
    }
    let account = own(&identity, email, hash).await?;
    let device = identity.device_of(asked.device_token.as_deref(), &ask, asked.r#use)?;
    let label = asked.label.map_or_else(|| LABEL.to_owned(), |name| name.0);
    let begun = identity.begin(&account, &device.id, &label).await?;
    identity.give_session(begun, Some(device), asked.r#use)
}

/// The account of an address that was proved, with that password.
async fn own(identity: &Identity, email: String, hash: String) -> Result<Account, Error> {
    let accounts = identity.accounts();
    let new = Account {
        id: secret::name()?,
        email: Some(email.clone()),
        password: Some(hash.clone()),
        created_ms: identity.now_ms(),
    };
    if accounts.create(&new).await? {
        return Ok(new);
    }
    // Whoever is signed in with the old password is not any more.
    let Some(there) = accounts.by_email(&email).await? else { return Err(store::Error::Busy.into()) };
    accounts.set_password(&there.id, &hash, None, identity.now_ms()).await?;
    Ok(there)
}

/// Eight characters that are not taken for each other (Crockford's base 32): 40 bits.
fn code() -> Result<String, Error> {
    const LETTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    let bytes = secret::random::<8>()?;
    Ok(bytes.iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect())
}

fn of(email: &str, code: &str) -> Digest {
    secret::digest(format!("{email}\n{code}"))
}
