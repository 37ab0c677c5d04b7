//! `/profiles`: who watches in a household.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use store::{Profile, Put};

use super::answer::{Ask, Given, Kept};
use crate::identity::http::{Body, Id, MaybeBody, Name};
use crate::identity::limits::PROFILES_MAX;
use crate::identity::problem::Problem;
use crate::identity::viewer::SignedIn;
use crate::identity::{Identity, secret};

/// A profile, as it is shown.
#[derive(Serialize)]
pub(super) struct Listed<'a> {
    id: &'a str,
    name: &'a str,
    language: Option<&'a str>,
}

impl<'a> From<&'a Profile> for Listed<'a> {
    fn from(profile: &'a Profile) -> Listed<'a> {
        Listed { id: &profile.id, name: &profile.name, language: profile.language.as_deref() }
    }
}

/// A language (BCP 47): its letters and digits are looked at, not whether anybody speaks it.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Language(String);

/// The longest tag that is registered has some 20.
const LANGUAGE_BYTES_MAX: usize = 35;

impl TryFrom<String> for Language {
    type Error = &'static str;
    fn try_from(text: String) -> Result<Language, Self::Error> {
        let part =
            |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric());
        let good = text.len() <= LANGUAGE_BYTES_MAX && text.split('-').all(part);
        if good { Ok(Language(text)) } else { Err("not a language") }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    name: Name,
    language: Option<Language>,
}

pub(super) async fn list(
    State(identity): State<Identity>,
    SignedIn { session }: SignedIn,
) -> Result<Response, Problem> {
    let profiles = identity.accounts().profiles(&session.account).await?;
    Ok(Json(profiles.iter().map(Listed::from).collect::<Vec<_>>()).into_response())
}

pub(super) async fn make(
    State(identity): State<Identity>,
    SignedIn { session }: SignedIn,
    Body(asked): Body<Asked>,
) -> Result<Response, Problem> {
    write(&identity, session.account, secret::name()?, asked, PROFILES_MAX).await
}

pub(super) async fn change(
    State(identity): State<Identity>,
    SignedIn { session }: SignedIn,
    Id(id): Id,
    Body(asked): Body<Asked>,
) -> Result<Response, Problem> {
    // Nothing is made by a name that a client thought of.
    write(&identity, session.account, id, asked, 0).await
}

async fn write(
    identity: &Identity,
    account: String,
    id: String,
    asked: Asked,
    max: usize,
) -> Result<Response, Problem> {
    let (name, language) = (asked.name.0, asked.language.map(|language| language.0));
    let profile = Profile { id, account, name, language, created_ms: identity.now_ms() };
    let status = match identity.accounts().put_profile(&profile, max).await? {
        Put::Made => StatusCode::CREATED,
        Put::Changed => StatusCode::OK,
        Put::Full if max > 0 => {
            return Err(Problem::conflict(format!("An account has at most {PROFILES_MAX} profiles.")));
        }
        Put::Full | Put::Absent => return Err(absent()),
    };
    Ok((status, Json(Listed::from(&profile))).into_response())
}

pub(super) async fn delete(
    State(identity): State<Identity>,
    SignedIn { session }: SignedIn,
    Id(id): Id,
) -> Result<StatusCode, Problem> {
    match identity.accounts().delete_profile(&session.account, &id).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(absent()),
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Choose {
    r#use: Kept,
}

/// Goes on as this profile: it stands in the token that is given, and in those that follow.
pub(super) async fn choose(
    State(identity): State<Identity>,
    ask: Ask,
    SignedIn { mut session }: SignedIn,
    Id(id): Id,
    MaybeBody(asked): MaybeBody<Choose>,
) -> Result<Response, Problem> {
    ask.may(asked.r#use)?;
    if !identity.accounts().choose(&session.id, Some(&id), identity.now_ms()).await? {
        return Err(absent());
    }
    session.profile = Some(id);
    identity.give(StatusCode::OK, &identity.of_session(&session), Given::default(), asked.r#use)
}

fn absent() -> Problem {
    Problem::not_found("There is no such profile.")
}
