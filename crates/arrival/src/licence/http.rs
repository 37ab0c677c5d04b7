//! `POST /v1/licence/{system}?match={match}`. Whoever asks shows the pass that opens the edge.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Extension, Path, Query, State};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use drm::licence::Policy;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use pass::Ask;
use serde::Deserialize;
use timeline::name::ProgrammePath;
use timeline::{FrameRate, Grid, Utc};

use super::keys::On;
use super::limits::{BODY_WAIT, CHALLENGE_MAX, GRIDS_MAX, PLAN_WAIT};
use super::proxy::{Failure, Whose};
use super::{Licences, System};
use crate::catalog::Show;
use crate::door::Door;
use crate::play::{Admitted, Problem};
use crate::shed::retry_s;
use crate::whereabouts::{Client, Place};

/// The pass, by the name that edges know it by.
const PASS_FIELD: HeaderName = HeaderName::from_static("cta-common-access-token");

/// What the endpoint stands on.
#[derive(Clone)]
struct Here {
    door: Arc<Door>,
    licences: Arc<Licences>,
    grids: Arc<Grids>,
}

pub(crate) fn router(door: Arc<Door>) -> Router {
    let licences = door.licences.clone();
    Router::new()
        .route("/v1/licence/{system}", post(licence).options(preflight))
        .layer(axum::middleware::map_response(anywhere))
        .with_state(Here { door, licences, grids: Arc::default() })
}

/// Pages of any origin may ask: what counts is the pass, and no cookie is looked at.
async fn anywhere(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("retry-after"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

async fn preflight() -> impl IntoResponse {
    let allowed = "authorization, content-type, cta-common-access-token, soapaction";
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "POST"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, allowed),
        (header::ACCESS_CONTROL_MAX_AGE, "7200"),
    ];
    (StatusCode::NO_CONTENT, headers)
}

/// What stands in the query.
#[derive(Deserialize)]
struct Asked {
    r#match: String,
    /// The pass, for players that cannot send a field.
    cat: Option<String>,
}

/// Somebody who may have licences.
struct Entry<'a> {
    show: &'a Show,
    /// The programmes that the pass opens.
    open: Vec<ProgrammePath>,
    epoch: Utc,
    admitted: Admitted,
    policy: Policy,
}

async fn licence(
    State(here): State<Here>,
    Extension(client): Extension<Client>,
    system: Result<Path<String>, PathRejection>,
    asked: Result<Query<Asked>, QueryRejection>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let system = system.ok().and_then(|Path(name)| System::of(&name));
    let name = system.map_or("none", System::name);
    let answer = async {
        let system = system.filter(|one| here.licences.systems().any(|known| known == *one));
        let system = system.ok_or_else(Problem::no_licences)?;
        let Query(asked) =
            asked.map_err(|_| Problem::not_a_licence_request("the query has no match".into()))?;
        let copy = here.door.keeper.copy();
        let show = copy.show(&asked.r#match).ok_or_else(|| Problem::no_match().because("no_such_match"))?;
        let now_ms = crate::now_ms();
        let place = client.0.map(|address| here.door.places.place(address)).unwrap_or_default();
        let token = token(&headers, &asked);
        let entry = enter(&here, show, token, client, &place, now_ms)?;
        let body = read(body).await?;
        match here.licences.server(system) {
            None => clear_key(&here, &entry, &body, now_ms).await,
            Some(server) => {
                let whose = Whose {
                    r#match: &entry.show.r#match.id,
                    session: entry.admitted.session.as_deref(),
                    policy: &entry.policy,
                };
                let answer = here.licences.servers.ask(server, &headers, &whose, body).await;
                carried(system, answer)
            }
        }
    };
    let answer = answer.await;
    let how = answer.as_ref().err().map_or("given", Problem::reason).to_owned();
    metrics::counter!("arrival_licence_requests_total", "system" => name, "answer" => how).increment(1);
    answer.unwrap_or_else(IntoResponse::into_response)
}

/// The pass, wherever a player can put it.
fn token<'a>(headers: &'a HeaderMap, asked: &'a Asked) -> &'a str {
    let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let bearer = || text(&header::AUTHORIZATION)?.strip_prefix("Bearer ");
    text(&PASS_FIELD).or_else(bearer).or(asked.cat.as_deref()).unwrap_or_default()
}

/// Whether they may have licences of this match now: where they are is looked at again, since a blackout may have begun after
/// the pass was made.
fn enter<'a>(
    here: &Here,
    show: &'a Show,
    token: &str,
    client: Client,
    place: &Place,
    now_ms: i64,
) -> Result<Entry<'a>, Problem> {
    let one = &show.r#match;
    if !one.encrypted {
        return Err(Problem::not_encrypted(one));
    }
    let epoch = one.epoch.unwrap_or(here.door.config.epoch);
    let known = pass::Place {
        country: place.country().map(Into::into),
        subdivision: place.subdivision.as_deref().map(Into::into),
        asn: place.asn,
    };
    // Licences are for media that is got by GET, whatever the request for them is.
    let ask = Ask { client: client.0, place: Some(&known), ..Ask::get("", now_ms / 1_000) };
    let (mut open, mut admitted, mut refused) = (Vec::new(), None, pass::Refusal::WrongPath);
    for programme in &show.programmes {
        let part = |text: &str| text.parse().map_err(|_| Problem::no_match().because("no_such_match"));
        let path = ProgrammePath {
            r#match: part(&one.id)?,
            run: part(&epoch.run())?,
            programme: part(&programme.programme)?,
        };
        match here.door.passes.check(token, &Ask { path: &format!("/{path}/"), ..ask }) {
            Ok(whose) => {
                admitted = Some(whose);
                open.push(path);
            }
            Err(why) => refused = why,
        }
    }
    let admitted = admitted.ok_or_else(|| Problem::pass_refused(refused))?;
    let shown = show.shown(place, now_ms).map_err(|dark| Problem::not_here(one, &dark))?;
    let policy = here.licences.policy(&admitted, shown.until_ms, now_ms);
    Ok(Entry { show, open, epoch, admitted, policy })
}

/// The bytes of a request, if they are no more than they may be and come in time.
async fn read(body: Body) -> Result<Bytes, Problem> {
    let whole = Limited::new(body, CHALLENGE_MAX).collect();
    match tokio::time::timeout(BODY_WAIT, whole).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Problem::licence_request_too_large()),
        Ok(Err(_)) | Err(_) => Err(Problem::not_a_licence_request("its bytes did not come".into())),
    }
}

/// A licence of ours.
async fn clear_key(here: &Here, entry: &Entry<'_>, body: &[u8], now_ms: i64) -> Result<Response, Problem> {
    let asked =
        drm::clearkey::request(body).map_err(|error| Problem::not_a_licence_request(error.to_string()))?;
    if asked.persistent {
        return Err(Problem::persistent_licence());
    }
    let (mut keys, mut refused) = (Vec::new(), None);
    for path in &entry.open {
        let grid = here.grids.of(&here.door, path).await;
        let on = On { path, epoch: entry.epoch, grid, utc: Utc(now_ms.saturating_mul(1_000)) };
        match here.licences.grant(&on, &entry.policy, &asked.kids) {
            Ok(given) => keys.extend(given),
            // Of several programmes the one that knows the key says why it is not given.
            Err(why) if why != drm::licence::Refusal::Unknown => refused = Some(why),
            Err(_) => {}
        }
    }
    if keys.is_empty() {
        return Err(Problem::no_licence(refused.unwrap_or(drm::licence::Refusal::Unknown)));
    }
    let kind = [(header::CONTENT_TYPE, "application/json")];
    Ok((kind, drm::clearkey::licence(&keys)).into_response())
}

/// What a licence server said.
fn carried(
    system: System,
    answer: Result<(Option<HeaderValue>, Bytes), Failure>,
) -> Result<Response, Problem> {
    match answer {
        Ok((kind, licence)) => {
            let kind = kind.unwrap_or(HeaderValue::from_static("application/octet-stream"));
            Ok(([(header::CONTENT_TYPE, kind)], licence).into_response())
        }
        Err(Failure::Full) => Err(Problem::busy(retry_s()).because("busy")),
        Err(Failure::Away) => {
            tracing::warn!(system = system.name(), "a licence server does not answer");
            Err(Problem::licences_away(retry_s()))
        }
        Err(Failure::Refused(status)) => {
            tracing::warn!(system = system.name(), %status, "a licence server refused a challenge");
            Err(Problem::licence_refused())
        }
    }
}

/// How programmes are cut, as their pipelines agreed.
#[derive(Default)]
struct Grids(Mutex<HashMap<ProgrammePath, Grid>>);

/// What is of interest of a pipeline's plan.
#[derive(Deserialize)]
struct Planned {
    grid: Grid,
}

impl Grids {
    /// Of a programme; the usual one where pipelines have said nothing, or nothing can be read.
    async fn of(&self, door: &Door, path: &ProgrammePath) -> Grid {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(path).copied();
        if let Some(grid) = known {
            return grid;
        }
        let key = format!("plan/{path}");
        let read = tokio::time::timeout(PLAN_WAIT, door.registers.get(&key)).await;
        let planned = read.ok().and_then(Result::ok).flatten();
        let planned = planned.and_then(|register| serde_json::from_str::<Planned>(&register.value).ok());
        let Some(Planned { grid }) = planned else { return usual() };
        let mut grids = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if grids.len() < GRIDS_MAX {
            grids.insert(path.clone(), grid);
        }
        grid
    }
}

/// At 25 frames a second.
fn usual() -> Grid {
    let rate = FrameRate { num: 25, den: 1 };
    Grid::for_frame_rate(rate).unwrap_or(Grid {
        frame_rate: rate,
        frames_per_segment: 48,
        frames_per_part: 8,
    })
}
