//! A client: what it asks, how it reads, and what it saw.

use std::pin::Pin;
use std::sync::Arc;

use http::header::{
    ACCEPT_ENCODING, ACCEPT_LANGUAGE, AUTHORIZATION, COOKIE, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH,
    RANGE,
};
use http::{Method as Verb, Request, Response};
use http_body_util::BodyExt;
use tokio::time::{Duration, Instant, sleep, sleep_until};

use super::origin::{CONFIRMED, FETCH};
use super::scenario::{Client, Method, Patience};
use super::world::{PASS, World};
use crate::body::Body;
use crate::failure::Failure;
use crate::handle::Plain;
use crate::lifetime::LIFETIME;
use crate::meters::Outcome;
use crate::target::Codings;

/// What a client saw.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// Its place in the scenario.
    pub(super) client: usize,
    pub(super) target: String,
    pub(super) fields: HeaderMap,
    pub(super) asked: Instant,
    /// Nothing if it left before.
    pub(super) answered: Option<Instant>,
    pub(super) status: u16,
    pub(super) outcome: Option<Outcome>,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
    pub(super) end: End,
    pub(super) ended: Instant,
}

/// How a body ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Clean,
    Error(Failure),
    /// The client did not wait for it.
    Left,
}

impl Seen {
    /// The number of the fetch that the answer says it came from.
    pub(super) fn fetch(&self) -> Option<usize> {
        self.headers.get(FETCH).or_else(|| self.headers.get(CONFIRMED))?.to_str().ok()?.parse().ok()
    }
}

/// Plays one client from its arrival to its end.
pub(super) async fn play(world: Arc<World>, at: usize) {
    let client = world.scenario.clients[at].clone();
    sleep_until(world.start + Duration::from_millis(client.at_ms.into())).await;
    let target = client.name.target(client.at_ms);
    let mut seen = Seen {
        client: at,
        fields: fields(&world, &client, &target),
        target,
        asked: Instant::now(),
        answered: None,
        status: 0,
        outcome: None,
        headers: HeaderMap::new(),
        body: Vec::new(),
        end: End::Left,
        ended: Instant::now(),
    };
    let patience = match client.patience {
        Patience::Leaves(ms) => Duration::from_millis(ms.into()),
        Patience::Reads | Patience::Slow(_) => Duration::from_secs(3_600),
    };
    tokio::select! {
        biased;
        () = ask(&world, &client, &mut seen) => {}
        () = sleep(patience) => {}
    }
    seen.ended = Instant::now();
    world.saw(seen);
}

async fn ask(world: &Arc<World>, client: &Client, seen: &mut Seen) {
    let method = match client.method {
        Method::Get => Verb::GET,
        Method::Head => Verb::HEAD,
        Method::Post => Verb::POST,
    };
    let target = if world.scenario.web { seen.target.clone() } else { format!("/{PASS}{}", seen.target) };
    let response = match hit(world, client, &target) {
        Some(response) => response,
        None => {
            let mut request = Request::builder().method(method).uri(target).body(None).unwrap();
            request.headers_mut().clone_from(&seen.fields);
            world.edge.clone().answer(request).await
        }
    };
    let (parts, mut body) = response.into_parts();
    seen.answered = Some(Instant::now());
    seen.status = parts.status.as_u16();
    seen.outcome = parts.extensions.get().copied();
    if seen.status == 200
        && let Some(tag) = parts.headers.get(ETAG)
    {
        world.tags().insert(seen.target.clone(), tag.clone());
    }
    seen.headers = parts.headers;
    loop {
        match Pin::new(&mut body).frame().await {
            Some(Ok(frame)) => seen.body.extend_from_slice(&frame.into_data().unwrap_or_default()),
            Some(Err(why)) => {
                seen.end = End::Error(why);
                return;
            }
            None => {
                seen.end = End::Clean;
                return;
            }
        }
        if let Patience::Slow(ms) = client.patience {
            sleep(Duration::from_millis(ms.into())).await;
        }
    }
}

/// The short way, which a server goes first for requests that are nothing but a name.
fn hit(world: &World, client: &Client, target: &str) -> Option<Response<Body>> {
    if client.method != Method::Get || client.range.is_some() || client.knows || client.password {
        return None;
    }
    let (path, query) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
    let gzip = client.gzip && !world.scenario.web;
    let hit =
        world.edge.hit(&Plain { path, query, codings: if gzip { Codings::Gzip } else { Codings::Plain } })?;
    let mut response = Response::new(Body::whole(hit.body).admitted(hit.admitted));
    *response.status_mut() = hit.head.status;
    response.extensions_mut().insert(Outcome::Hit);
    let headers = response.headers_mut();
    headers.clone_from(&hit.head.headers);
    headers.insert(LIFETIME, HeaderValue::from(hit.head.left(hit.now).as_millis() as u64));
    Some(response)
}

fn fields(world: &World, client: &Client, target: &str) -> HeaderMap {
    let mut fields = HeaderMap::new();
    fields.insert(ACCEPT_LANGUAGE, HeaderValue::from_static(["en", "fr"][usize::from(client.language)]));
    fields.insert("x-device", HeaderValue::from_static(["tv", "phone"][usize::from(client.device)]));
    if client.cookie > 0 {
        fields.insert(COOKIE, format!("id={}", client.cookie).parse().unwrap());
    }
    if client.password {
        fields.insert(AUTHORIZATION, HeaderValue::from_static("Basic x"));
    }
    if client.gzip {
        fields.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if let Some((first, last)) = client.range {
        fields.insert(RANGE, format!("bytes={first}-{last}").parse().unwrap());
    }
    if client.knows
        && let Some(tag) = world.tags().get(target)
    {
        fields.insert(IF_NONE_MATCH, tag.clone());
    }
    fields
}
