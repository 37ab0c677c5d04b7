//! `POST /v1/identity/device`: a device without an account.

use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

use super::Client;
use super::answer::{Ask, Kept};
use crate::identity::Identity;
use crate::identity::http::MaybeBody;
use crate::identity::problem::Problem;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Asked {
    /// What the device got the last time.
    device_token: Option<String>,
    r#use: Kept,
}

/// Names a device, or names it again. Nothing is written anywhere.
pub(super) async fn device(
    State(identity): State<Identity>,
    client: Client,
    ask: Ask,
    MaybeBody(asked): MaybeBody<Asked>,
) -> Result<Response, Problem> {
    ask.may(asked.r#use)?;
    identity.0.rates.cheap(client.0, identity.now_ms())?;
    let device = identity.device_of(asked.device_token.as_deref(), &ask, asked.r#use)?;
    identity.give_device(device, asked.r#use)
}
