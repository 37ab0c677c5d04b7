//! From a request to an answer.

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::middleware;
use axum::response::Response;
use axum::routing::any;
use http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use listen::coding::Coding;
use metrics::{counter, histogram};
use relay::Cursor;
use tokio::time::timeout;

use super::answers::{self, Answer, What};
use super::follow::{Followed, Known};
use super::limits::{COMPRESS_MIN, HOLD_MAX, QUERY_BYTES_MAX};
use super::problem::{CDN_CACHE_CONTROL, Problem};
use super::role::Role;

/// The reference's: the score may be served when memory is all there is.
const STALE: HeaderName = HeaderName::from_static("x-snapshot-stale");
/// What a browser may keep; the design fixes it.
const PRIVATE: HeaderValue = HeaderValue::from_static("private, max-age=10, stale-while-revalidate=30");
/// What an edge may keep: a viewer who was away must not be given a score from long before, and at any number of
/// viewers one request a second and region comes through.
const SHARED: HeaderValue = HeaderValue::from_static("max-age=1");
/// How many watch changes slowly, for the eye.
const SHARED_WATCHING: HeaderValue = HeaderValue::from_static("max-age=5");

pub(super) fn router(role: Arc<Role>) -> Router {
    Router::new()
        .route("/v1/matches/{match}/{resource}", any(answer))
        .fallback(async || Problem::NoResource.response())
        .layer(middleware::map_response(open))
        .with_state(role)
}

async fn answer(
    State(role): State<Arc<Role>>,
    Path((id, resource)): Path<(String, String)>,
    request: Request,
) -> Response {
    let (asked, _) = request.into_parts();
    if asked.method == Method::OPTIONS {
        return preflight();
    }
    let began = Instant::now();
    let response = find(&role, &id, &resource, &asked).await.unwrap_or_else(|problem| problem.response());
    histogram!("scores_snapshot_seconds").record(began.elapsed().as_secs_f64());
    let status = response.status().as_u16().to_string();
    counter!("scores_snapshot_responses_total", "status" => status).increment(1);
    response
}

/// The whole way of a request.
async fn find(role: &Role, id: &str, resource: &str, asked: &Parts) -> Result<Response, Problem> {
    if !matches!(asked.method, Method::GET | Method::HEAD) {
        return Err(Problem::Method);
    }
    let _place = role.places.try_acquire().map_err(|_| Problem::Busy)?;
    let query = Query::parse(asked.uri.query().unwrap_or_default())?;
    let resource = Resource::named(resource).ok_or(Problem::NoResource)?;
    let (entry, followed) = role.find(id)?;
    if resource == Resource::Watching {
        let watching = followed.watching(role.elapsed(), || (role.watching)(id));
        return Ok(respond(&answers::watching(watching), &asked.headers, resource, false));
    }
    let known = ready(role, &followed, query.since).await?;
    let answer = match &*followed.kept() {
        Some(kept) => {
            let what = match resource {
                Resource::Card => What::Card(query.at_ms.map(|at_ms| kept.moment(at_ms))),
                Resource::Moments => What::Moments,
                Resource::Snapshot | Resource::Watching => What::Snapshot,
            };
            // What nobody can ask for in more ways than there is news is always made.
            let few = matches!(what, What::Card(moment) if moment.is_none_or(|moment| kept.is_near(moment)));
            let may = || few || followed.may_make(what, role.elapsed());
            role.answers.get(&entry, kept, what, role.now_ms(), may)
        }
        None => return Err(Problem::NotYet),
    };
    Ok(respond(&*answer.ok_or(Problem::TooOften)?, &asked.headers, resource, known.stale))
}

/// What stands behind a match's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Resource {
    Snapshot,
    Card,
    Moments,
    Watching,
}

impl Resource {
    fn named(name: &str) -> Option<Resource> {
        Some(match name {
            "snapshot" => Resource::Snapshot,
            "card" => Resource::Card,
            "moments" => Resource::Moments,
            "watching" => Resource::Watching,
            _ => return None,
        })
    }
}

/// Waits until the match was taken once, and up to the cursor that is asked for. Without the relay no cursor will come:
/// what is in memory is all there is, and the answer says so.
async fn ready(role: &Role, followed: &Followed, since: Option<Cursor>) -> Result<Known, Problem> {
    let reached = |known: &Known| match (known.cursor, since) {
        (None, _) => false,
        (Some(cursor), Some(since)) if !known.stale => {
            cursor.epoch == since.epoch && cursor.offset >= since.offset
        }
        (Some(_), _) => true,
    };
    let mut known = followed.known();
    let here = reached(&known.borrow());
    // Without a place to wait in, what is known now is the answer.
    if !here && let Ok(_held) = role.held.try_acquire() {
        // Whoever fills it lives as long as the match.
        let _ = timeout(HOLD_MAX, known.wait_for(reached)).await;
    }
    let known = *known.borrow();
    match known.cursor {
        None => Err(Problem::NotYet),
        // A cursor of another epoch is void, and the asker has to begin anew with what there is.
        Some(cursor) if reached(&known) || since.is_some_and(|since| since.epoch != cursor.epoch) => {
            Ok(known)
        }
        Some(_) => Err(Problem::Behind),
    }
}

/// A 200 or a 304 (RFC 9110, 13.1.2).
fn respond(answer: &Answer, asked: &HeaderMap, resource: Resource, stale: bool) -> Response {
    let long = answer.body.len() >= COMPRESS_MIN;
    let coding = if long { Coding::accepted(asked) } else { Coding::Plain };
    let known = asked.get_all(IF_NONE_MATCH).iter().any(|value| names(value, &answer.tag));
    let mut response =
        Response::new(if known { Body::empty() } else { Body::from(answer.form(coding).clone()) });
    let headers = response.headers_mut();
    if !known {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(name) = coding.name() {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static(name));
        }
    }
    // A strong tag names bytes, and compressed ones are others.
    let mark = coding.name().map(|name| format!("{MARK}{name}")).unwrap_or_default();
    let tag = format!("\"{}{mark}\"", answer.tag);
    if let Ok(tag) = HeaderValue::try_from(tag) {
        headers.insert(ETAG, tag);
    }
    headers.insert(CACHE_CONTROL, PRIVATE);
    headers.insert(CDN_CACHE_CONTROL, if resource == Resource::Watching { SHARED_WATCHING } else { SHARED });
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if stale {
        headers.insert(STALE, HeaderValue::from_static("true"));
    }
    if known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    response
}

/// Between a tag and the name of a coding. Tags are hexadecimal.
const MARK: char = '-';

/// Whether a list of tags names this one, in whichever coding.
fn names(list: &HeaderValue, tag: &str) -> bool {
    let Ok(list) = list.to_str() else { return false };
    list.split(',').map(str::trim).any(|item| {
        let item = item.strip_prefix("W/").unwrap_or(item);
        let inner = item.strip_prefix('"').and_then(|item| item.strip_suffix('"'));
        item == "*" || inner.is_some_and(|inner| inner.split(MARK).next() == Some(tag))
    })
}

/// What is asked of a resource.
#[derive(Debug, Default, PartialEq, Eq)]
struct Query {
    at_ms: Option<i64>,
    since: Option<Cursor>,
}

impl Query {
    /// Names that are not known are left to whoever put them there.
    fn parse(query: &str) -> Result<Query, Problem> {
        if query.len() > QUERY_BYTES_MAX {
            return Err(Problem::Query);
        }
        let mut parsed = Query::default();
        for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            match name {
                "at" => parsed.at_ms = Some(value.parse().map_err(|_| Problem::At(value.to_owned()))?),
                "since" => parsed.since = Some(value.parse().map_err(|_| Problem::Since(value.to_owned()))?),
                _ => {}
            }
        }
        Ok(parsed)
    }
}

fn preflight() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    for (name, value) in [
        ("access-control-allow-headers", "authorization, content-type, last-event-id"),
        ("access-control-allow-methods", "GET, POST"),
        ("access-control-max-age", "86400"),
    ] {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

/// The page is on another port, which is another origin.
async fn open(mut response: Response) -> Response {
    for (name, value) in [
        ("access-control-allow-origin", "*"),
        ("access-control-expose-headers", "Retry-After, ETag, X-Snapshot-Stale"),
    ] {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_read_or_refused() {
        let since = Some(Cursor { epoch: 0x1f, offset: 4 });
        assert_eq!(Query::parse("at=-5&since=1f-4&x=y&at"), Ok(Query { at_ms: Some(-5), since }));
        assert_eq!(Query::parse(""), Ok(Query::default()));
        assert_eq!(Query::parse("at=now"), Err(Problem::At("now".into())));
        assert_eq!(Query::parse("since=1f"), Err(Problem::Since("1f".into())));
        assert_eq!(Query::parse(&"x".repeat(300)), Err(Problem::Query));
    }

    #[test]
    fn tags_are_compared_as_the_rfc_says() {
        let names = |list: &'static str| names(&HeaderValue::from_static(list), "ab");
        assert!(
            names("\"ab\"")
                && names("W/\"ab\"")
                && names("\"x\", \"ab-gzip\"")
                && names("\"ab-br\"")
                && names("*")
        );
        assert!(!names("ab") && !names("\"abc\"") && !names(""));
    }
}
