//! `/v1/…`: what the page asks on the way in.

use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Extension, Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use axum::{Json, Router};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::{Value, json};

use super::answer::{Allowed, Angle, Answer, Lengths, Licence, Scores, Stream};
use super::limits::{
    ADVICE_S, AFTER_MS, DEVICE_NAME_MAX, EARLY_MS, LONG_S_MAX, MATCH_MS, MATCHES_S, PLACED_SHARE,
    SPREAD_SHARE,
};
use super::{Asker, Grant, Problem};
use crate::FRESH_ID_CHARS;
use crate::catalog::{Match, Plan, Programme, Show, Status};
use crate::door::Door;
use crate::entitlement::{Checked, Granted, decide, weigh};
use crate::identity::Viewer;
use crate::licence::named;
use crate::shed::{Waited, retry_s};
use crate::slots::{self, limits::HEARTBEAT_S};
use crate::whereabouts::Client;

pub(crate) fn router(door: Arc<Door>) -> Router {
    Router::new()
        .route("/v1/scorer", get(scorer))
        .route("/v1/time", get(time))
        .route("/v1/advice", get(advice))
        .route("/v1/matches", get(matches))
        .route("/v1/matches/{match}/play", post(play))
        .route("/v1/{*rest}", any(nothing))
        .method_not_allowed_fallback(not_so)
        .layer(axum::middleware::map_response(fresh))
        .with_state(door)
}

/// Answers about now are for now, unless they say otherwise.
async fn fresh(mut response: Response) -> Response {
    let no_store = HeaderValue::from_static("no-store");
    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(no_store);
    response
}

async fn time() -> Json<Value> {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Json(json!({ "utc_ms": since.as_micros() as f64 / 1_000.0 }))
}

/// The same for everybody, so that caches may answer.
async fn advice(State(door): State<Arc<Door>>) -> Response {
    let keep = [(header::CACHE_CONTROL, format!("public, max-age={ADVICE_S}"))];
    (keep, Json(door.advice())).into_response()
}

/// What there is: those with a picture first, then in the order in which they begin. The same for everybody.
async fn matches(State(door): State<Arc<Door>>) -> Response {
    let copy = door.keeper.copy();
    let mut all: Vec<(bool, &Match)> = copy
        .catalog
        .matches
        .values()
        .map(|one| (copy.show(&one.id).is_some_and(|show| !show.programmes.is_empty()), one))
        .collect();
    all.sort_by_key(|(watchable, one)| (!watchable, one.start_ms));
    let listed = |(watchable, one): &(bool, &Match)| {
        let free = copy.show(&one.id).is_some_and(|show| show.offers.iter().any(|(product, _)| product.free));
        json!({
            "match": one.id, "title": one.title, "titles": one.titles, "live": one.status == Status::Live,
            "status": one.status, "start_ms": one.start_ms, "sport": one.sport, "league": one.league,
            "teams": one.teams, "languages": one.languages, "watchable": watchable, "free": free,
        })
    };
    let keep = [(header::CACHE_CONTROL, format!("public, max-age={MATCHES_S}"))];
    (keep, Json(all.iter().map(listed).collect::<Vec<_>>())).into_response()
}

/// What a scorer's page needs.
async fn scorer(State(door): State<Arc<Door>>, headers: HeaderMap) -> Response {
    match &door.config.feeds {
        Some(feeds) => Json(json!({ "feeds": feeds.base(host(&headers)) })).into_response(),
        None => {
            let detail = "No feed is taken here, so there is nothing to score.";
            Problem::plain(StatusCode::NOT_FOUND, "No feeds", detail).into_response()
        }
    }
}

async fn nothing() -> Problem {
    let detail = "This API has /v1/time, /v1/scorer, /v1/advice, /v1/matches, /v1/matches/{match}/play and /v1/streams.";
    Problem::plain(StatusCode::NOT_FOUND, "No such resource", detail)
}

pub(crate) async fn not_so() -> Problem {
    let detail = "This cannot be done to that; see the field Allow for what can.";
    Problem::plain(StatusCode::METHOD_NOT_ALLOWED, "Not that way", detail)
}

/// Whether they have paid, and how that is known.
struct Entry<'a> {
    plan: &'a Plan,
    /// UTC, milliseconds: not from then on.
    until_ms: Option<i64>,
    provisional: bool,
    /// The store was asked.
    waited: bool,
}

impl<'a> From<Granted<'a>> for Entry<'a> {
    fn from(granted: Granted<'a>) -> Entry<'a> {
        Entry { plan: granted.plan, until_ms: granted.until_ms, provisional: false, waited: false }
    }
}

/// Every dear check, once. Where they are comes before whether they have paid: it is known here, and never opens.
async fn play(
    State(door): State<Arc<Door>>,
    Extension(client): Extension<Client>,
    Asker(viewer): Asker,
    id: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let now_ms = crate::now_ms();
    if !door.shed.viewer(viewer.account.as_ref().unwrap_or(&viewer.device), now_ms) {
        return Err(Problem::too_many(retry_s()));
    }
    // A name that is no text is no match's.
    let Path(id) = id.map_err(|_| Problem::no_match())?;
    let copy = door.keeper.copy();
    let show = copy.show(&id).ok_or_else(Problem::no_match)?;
    let one = &show.r#match;
    match one.status {
        Status::Scheduled if now_ms < one.start_ms.saturating_sub(EARLY_MS) => {
            return Err(Problem::not_begun(one));
        }
        Status::Postponed => return Err(Problem::postponed(one)),
        _ => {}
    }
    let place = client.0.map(|address| door.places.place(address)).unwrap_or_default();
    let shown = show.shown(&place, now_ms).map_err(|dark| Problem::dark(one, &dark))?;
    let session = crate::fresh_id();
    let entry = enter(&door, &viewer, show, &session, now_ms).await?;
    // A player that is not our page may not be able to take the next pass out of an answer.
    let renews = headers.get("pavilion-renews").is_none_or(|says| says != "no");
    let session = if entry.provisional { session } else { named(session, entry.plan, renews) };
    // A page that asks again goes on with the session that it has, and whatever else is bound to that goes on, too.
    let session = going_on(&door, &viewer, &entry, one, &headers, renews).unwrap_or(session);

    let epoch = one.epoch.unwrap_or(door.config.epoch);
    let open: Vec<&Programme> = show.programmes.iter().filter(|p| !p.angle || entry.plan.angles).collect();
    let renewed_ms = i64::from(door.config.pass_renewed) * 1_000;
    let renewed_ms = if shown.limited { renewed_ms / PLACED_SHARE } else { renewed_ms };
    // Whoever was not checked is checked when that is over, and the others come back one by one.
    let back_ms = now_ms + renewed_ms - fastrand::i64(0..=renewed_ms / SPREAD_SHARE);
    let long_ms = one.start_ms.saturating_add(MATCH_MS).max(now_ms).saturating_add(AFTER_MS);
    let back_ms = match (entry.provisional, renews) {
        (true, _) => i64::MAX,
        (false, true) => back_ms,
        // No longer than a match that begins now: what is live for days is asked for again.
        (false, false) => long_ms.min(now_ms.saturating_add(LONG_S_MAX * 1_000)),
    };
    let end_ms = [shown.until_ms, entry.until_ms].into_iter().flatten().fold(back_ms, i64::min);
    let stream = slot(&door, &viewer, &entry, one, &session, &headers, (now_ms, end_ms))?;
    let grant = Grant {
        session: session.clone(),
        path: format!("/{}/{}/", one.id, epoch.run()),
        programmes: (open.len() < show.programmes.len())
            .then(|| open.iter().map(|p| p.programme.clone()).collect()),
        country: place.country.filter(|_| shown.limited),
        network: place.asn.filter(|_| shown.limited && door.config.bind_networks),
        begin_s: now_ms / 1_000,
        end_s: end_ms / 1_000,
        renewed: renews && !entry.provisional,
    };
    let pass = door.passes.issue(&grant).map_err(|why| {
        tracing::error!(why, "no pass could be made");
        Problem::unchecked(retry_s())
    })?;
    if door.config.pass_keys.is_some() {
        door.present.add(&session, &one.id, client.0, end_ms);
        // Whoever looks for those who are in the dark now has seen this one, or has seen it before it was there.
        let copy_now = door.keeper.copy();
        if !Arc::ptr_eq(&copy, &copy_now) {
            let show = copy_now.show(&id).ok_or_else(Problem::no_match)?;
            show.shown(&place, now_ms).map_err(|dark| Problem::dark(one, &dark))?;
        }
    }
    let host = host(&headers);
    let playlist = |p: &Programme| {
        format!(
            "{}/{pass}/{}/{}/{}/hls/master.m3u8",
            door.config.edge.base(host),
            one.id,
            epoch.run(),
            p.programme
        )
    };
    let first = open.iter().find(|p| !p.angle).or(open.first());
    let base =
        |edge: &Option<crate::Edge>, path: &str| edge.as_ref().map(|e| format!("{}{path}", e.base(host)));
    let answer = Answer {
        r#match: &one.id,
        title: &one.title,
        programme: first.map_or(door.config.programme.as_str(), |p| &p.programme),
        run: epoch.run(),
        epoch,
        playlist: first.map(|p| playlist(p)),
        grid: Lengths::usual(),
        scores: (!one.sport.is_empty()).then(|| scores(&door, &viewer, place.country(), host)).flatten(),
        session: &session,
        stream,
        licence: one.encrypted.then(|| licence(&door, one, host)).flatten(),
        telemetry: base(&door.config.telemetry, "/v1/heartbeats"),
        steering: base(&door.config.telemetry, "/v1/steering"),
        plan: Allowed::of(entry.plan, show),
        angles: open
            .iter()
            .filter(|p| first.is_none_or(|first| first.id != p.id))
            .map(|p| Angle { programme: &p.programme, title: &p.title, playlist: playlist(p) })
            .collect(),
        provisional: entry.provisional,
        until_ms: end_ms,
        advice: door.advice(),
    };
    metrics::counter!("arrival_plays_total", "provisional" => if entry.provisional { "yes" } else { "no" })
        .increment(1);
    let mut response = Json(answer).into_response();
    if entry.waited {
        response.extensions_mut().insert(Waited);
    }
    Ok(response)
}

/// Whether they have paid. Who cannot be checked is let in for some minutes, if that is allowed and can be written down.
async fn enter<'a>(
    door: &Door,
    viewer: &Viewer,
    show: &'a Show,
    session: &str,
    now_ms: i64,
) -> Result<Entry<'a>, Problem> {
    let refused = |refusal| Problem::not_entitled(&show.r#match, refusal);
    let account = viewer.account.as_deref().filter(|_| !viewer.provisional);
    match account {
        Some(account) => {
            let trouble = door.panic.gauge().is_panic();
            let known = door.checker.cache().get(account, now_ms);
            match weigh(show, known.as_ref(), trouble, now_ms) {
                Checked::Granted(granted) => return Ok(granted.into()),
                Checked::Refused(refusal) => return Err(refused(refusal)),
                Checked::Ask => {}
            }
            if let Some(held) = door.checker.check(account).await {
                let granted = decide(show, Some(&held), crate::now_ms()).map_err(refused)?;
                return Ok(Entry { waited: true, ..granted.into() });
            }
            // There was no answer: now what is older must do.
            match weigh(show, known.as_ref(), true, now_ms) {
                Checked::Granted(granted) => return Ok(Entry { waited: true, ..granted.into() }),
                Checked::Refused(refusal) => return Err(refused(refusal)),
                Checked::Ask => {}
            }
        }
        // A login that could not be verified may be of somebody who has paid.
        None if viewer.provisional => {
            if let Ok(granted) = decide(show, None, now_ms) {
                return Ok(granted.into());
            }
        }
        None => return Ok(decide(show, None, now_ms).map_err(refused)?.into()),
    }
    // What is sold with the highest tier is what most have bought; for some minutes it is everybody's.
    let Some((_, plan)) = show.offers.first().filter(|_| door.panic.gauge().lets_in()) else {
        return Err(Problem::unchecked(retry_s()));
    };
    let pass = door.panic.let_in(viewer, session, &show.r#match.id, now_ms).await;
    let pass = pass.ok_or_else(|| Problem::unchecked(retry_s()))?;
    Ok(Entry { plan, until_ms: Some(pass.until_ms), provisional: true, waited: true })
}

/// The session that the page says it has, if that is one of theirs, of this device, this match and a plan that is like theirs.
fn going_on(
    door: &Door,
    viewer: &Viewer,
    entry: &Entry<'_>,
    one: &Match,
    headers: &HeaderMap,
    renews: bool,
) -> Option<String> {
    let account = viewer.account.as_ref().filter(|_| !entry.provisional)?;
    let id = headers.get("pavilion-stream")?.to_str().ok()?;
    let like = named(id.get(..FRESH_ID_CHARS)?.to_owned(), entry.plan, renews) == id;
    (like && door.slots.goes_on(account, id, &viewer.device, &one.id)).then(|| id.to_owned())
}

/// A slot for the stream, if somebody is logged in. How many devices they use is not asked of who was not checked.
fn slot(
    door: &Door,
    viewer: &Viewer,
    entry: &Entry<'_>,
    one: &Match,
    session: &str,
    headers: &HeaderMap,
    (now_ms, end_ms): (i64, i64),
) -> Result<Option<Stream>, Problem> {
    let Some(account) = &viewer.account else { return Ok(None) };
    let name = headers.get("pavilion-device-name").and_then(|v| std::str::from_utf8(v.as_bytes()).ok());
    let name: String =
        name.unwrap_or_default().chars().filter(|c| !c.is_control()).take(DEVICE_NAME_MAX).collect();
    let stream = slots::Stream {
        id: session.to_owned(),
        device: viewer.device.clone(),
        name: if name.is_empty() { "a device".into() } else { name },
        r#match: one.id.clone(),
        since_ms: now_ms,
        heard_ms: now_ms,
        until_ms: end_ms,
        left: false,
    };
    let devices = entry.plan.devices.filter(|_| !entry.provisional);
    let over = door.slots.take(account, stream, devices).map_err(|taken| Problem::devices(&taken))?;
    over.iter().for_each(|session| door.passes.revoke(session));
    let heartbeat = format!("/v1/streams/{session}/heartbeat");
    Ok(Some(Stream { id: session.to_owned(), heartbeat, every_s: HEARTBEAT_S }))
}

/// Where the scores are for a viewer who came by that `Host`.
fn scores(door: &Door, viewer: &Viewer, country: Option<&str>, host: Option<&str>) -> Option<Scores> {
    let base = door.config.scores.as_ref()?.base(host);
    let stream = format!("{}/v1/stream", base.replacen("http", "ws", 1));
    match door.identity.token_for(viewer, country) {
        Ok(token) => Some(Scores { stream, base, token }),
        Err(error) => {
            tracing::error!(%error, "no token could be made; the viewer goes without scores");
            None
        }
    }
}

/// Where licences are for a viewer who came by that `Host`.
fn licence(door: &Door, one: &Match, host: Option<&str>) -> Option<Licence> {
    let base = door.config.licence.as_ref()?.base(host);
    let url = |name: &str| format!("{base}/v1/licence/{name}?match={}", one.id);
    Some(Licence {
        systems: door.licences.systems().map(|one| (one.name(), url(one.name()))).collect(),
        software_height_max: door.licences.software_height_max(),
    })
}

fn host(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::HOST).and_then(|h| h.to_str().ok())
}
