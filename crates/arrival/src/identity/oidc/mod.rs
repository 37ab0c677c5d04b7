//! Sign-in by an OpenID Connect provider: authorization code, PKCE (RFC 7636), `state` and `nonce`.
//!
//! Nothing is kept here between leaving and coming back: a cookie says which sign-in is under way, and what the provider
//! must give back and what we must show it are derived from that by the door's own secret. So whichever process the
//! viewer comes back to can go on.

mod fetch;
mod flow;
mod id_token;
mod provider;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderName, StatusCode, header};
use serde::Deserialize;
use serde_json::json;
use store::{Account, External};

use self::flow::Flow;
use super::api::{Ask, Kept};
use super::http::{Asked, Id, OIDC, Set, base};
use super::problem::Problem;
use super::session::Begun;
use super::{Error, Identity, secret};
use crate::whereabouts::Client;

pub(crate) use self::fetch::is_safe;
pub(crate) use self::provider::Relying;

/// What a device is called on which somebody came by a provider.
const LABEL: &str = "A browser";

/// The providers that viewers may come by.
pub(crate) async fn list(State(identity): State<Identity>) -> Response {
    let names = identity.0.providers.iter().map(|provider| {
        let name = provider.name();
        json!({ "name": name, "start": format!("/v1/identity/oidc/{name}/start") })
    });
    Json(names.collect::<Vec<_>>()).into_response()
}

impl Identity {
    fn provider(&self, name: &str) -> Result<&Relying, Problem> {
        let found = self.0.providers.iter().find(|provider| provider.name() == name);
        found.ok_or_else(|| Problem::not_found("Nobody signs in by a provider of this name here."))
    }

    /// Where the provider sends the viewer back to.
    fn way_back(&self, name: &str, ask: &Ask) -> Result<String, Problem> {
        let base = base(self.config(), &ask.headers).ok_or_else(|| Problem::bad("Host is missing."))?;
        Ok(format!("{base}/v1/identity/oidc/{name}/callback"))
    }
}

#[derive(Deserialize)]
pub(crate) struct Start {
    /// The page to come back to.
    r#return: Option<String>,
}

/// Sends the viewer to the provider.
pub(crate) async fn start(
    State(identity): State<Identity>,
    client: Client,
    ask: Ask,
    Id(name): Id,
    Asked(asked): Asked<Start>,
) -> Result<Response, Problem> {
    let provider = identity.provider(&name)?;
    identity.0.rates.cheap(client.0, identity.now_ms())?;
    let page = asked.r#return.unwrap_or_else(|| "/".to_owned());
    if !flow::is_page(&page) {
        return Err(Problem::bad("The page to come back to must be one of ours, such as /watch/final."));
    }
    let back = identity.way_back(&name, &ask)?;
    let device = identity.device_of(None, &ask, Kept::Cookie)?;
    let flow = Flow::begin(&name, &page, &device.id, identity.now_ms() / 1_000)?;
    let to = provider.authorize(&flow, &identity.0.secret, &back, identity.now_ms()).await?;
    let mut cookies = Set::new(identity.config().is_secure());
    cookies.put(OIDC, &flow.write(&identity.0.secret));
    Ok((StatusCode::SEE_OTHER, [(header::LOCATION, to)], cookies).into_response())
}

/// What the provider sends the viewer back with (OpenID Connect Core, 3.1.2.5; RFC 9207 for `iss`).
#[derive(Deserialize)]
pub(crate) struct Back {
    code: Option<String>,
    state: Option<String>,
    iss: Option<String>,
    error: Option<String>,
}

/// The viewer is back.
pub(crate) async fn callback(
    State(identity): State<Identity>,
    client: Client,
    ask: Ask,
    Id(name): Id,
    back: Result<Asked<Back>, Problem>,
) -> Response {
    let mut cookies = Set::new(identity.config().is_secure());
    cookies.drop(OIDC);
    let done = match back {
        Ok(Asked(back)) => come_back(&identity, &client, &ask, &name, back).await,
        Err(problem) => Err(problem),
    };
    match done {
        Ok(response) => (cookies, response).into_response(),
        Err(problem) => (cookies, problem).into_response(),
    }
}

async fn come_back(
    identity: &Identity,
    client: &Client,
    ask: &Ask,
    name: &str,
    back: Back,
) -> Result<Response, Problem> {
    let provider = identity.provider(name)?;
    let now_ms = identity.now_ms();
    identity.0.rates.cheap(client.0, now_ms)?;
    let again =
        || Problem::wrong("This sign-in was not begun here, or it took too long. Please begin again.");
    // The browser that comes back is the one that left (RFC 6749, 10.12), and by the provider that it left for.
    let flow = ask.cookies().get(OIDC).and_then(|text| Flow::read(text, &identity.0.secret, now_ms / 1_000));
    let flow = flow.filter(|flow| flow.provider == name).ok_or_else(again)?;
    if !back.state.is_some_and(|state| secret::same(state.as_bytes(), flow.state.as_bytes())) {
        return Err(again());
    }
    if back.iss.is_some_and(|iss| iss != provider.issuer()) {
        return Err(again());
    }
    let code = match (back.code, back.error) {
        (Some(code), None) => code,
        (_, Some(error)) if error == "access_denied" => {
            return Err(Problem::wrong("You did not sign in there, so you are not signed in here."));
        }
        _ => return Err(Problem::wrong("The provider did not sign you in. Please begin again.")),
    };
    let way_back = identity.way_back(name, ask)?;
    let subject = provider.subject(&flow, &identity.0.secret, &code, &way_back, now_ms).await?;
    let external = External { issuer: provider.issuer().to_owned(), subject };
    let page = |cookies: Set| {
        let to: [(HeaderName, &str); 1] = [(header::LOCATION, &flow.page)];
        (StatusCode::SEE_OTHER, to, cookies).into_response()
    };
    match sign_in(identity, &external, &flow.device).await {
        Ok(begun) => {
            let token = identity.sign(identity.of_session(&begun.session))?;
            Ok(page(identity.cookies_of(&token, Some(begun.refresh), &flow.device)))
        }
        Err(Error::Store(error)) => {
            tracing::warn!(%error, "somebody who came by a provider could not be looked up");
            let token = identity.sign(identity.of_device(&flow.device, true))?;
            Ok(page(identity.cookies_of(&token, None, &flow.device)))
        }
        Err(error) => Err(error.into()),
    }
}

/// The provider's word is for its own name of somebody, and never for an address: who has an address there need not be
/// who has it here.
async fn sign_in(identity: &Identity, external: &External, device: &str) -> Result<Begun, Error> {
    let new = Account { id: secret::name()?, email: None, password: None, created_ms: identity.now_ms() };
    let account = identity.accounts().by_external(external, &new).await?;
    identity.begin(&account, device, LABEL).await
}
