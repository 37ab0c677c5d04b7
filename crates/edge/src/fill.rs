//! The one fetch of an object. It is a task of its own, so that it outlives whoever asked first.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt;
use http::header::{
    DATE, ETAG, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED, TRANSFER_ENCODING,
};
use http::{Response, StatusCode, Version, response};
use http_body::Body as _;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep};
use tracing::debug;

use crate::failure::Failure;
use crate::fetch::{self, Answer, Arriving, Ask};
use crate::fields::{self, for_all, merge};
use crate::handle::Edge;
use crate::head::Head;
use crate::lifetime::{self, Context, LIFETIME, Life, Sharing};
use crate::limits::{NOT_YET_EVERY, NOT_YET_MAX, OBJECT_BYTES_MAX, SMALL_BYTES_MAX, SMALL_TURNS};
use crate::live::Place;
use crate::object::Object;
use crate::rules::{Kind, rule};
use crate::sim::{Broken, broken};
use crate::store::Charge;
use crate::vary::Spec;

/// Fetches an object, and ends it one way or the other, even if what is given is dropped before it has begun.
pub(crate) fn run(edge: Arc<Edge>, object: Arc<Object>) -> impl Future<Output = ()> + Send {
    let ending = Ending { edge, object, why: Some(Failure::Cut) };
    async move {
        let mut ending = ending;
        let Ending { edge, object, .. } = &ending;
        let filled = tokio::select! {
            filled = fill(edge, object) => filled,
            () = edge.stopped() => Err(Failure::Cut),
        };
        if let Err(why) = filled {
            debug!(target = object.key.target(), %why, "not filled");
        }
        ending.why = filled.err();
    }
}

/// Tells the readers of an object that did not come whole, a panic or an aborted task included, and lets the
/// next asker start anew.
struct Ending {
    edge: Arc<Edge>,
    object: Arc<Object>,
    why: Option<Failure>,
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.edge.meters.memory.set(self.edge.store.bytes() as f64);
        let Some(why) = self.why else { return };
        let now = Instant::now();
        match self.object.before() {
            // That an answer is for one client is no failure, and nothing is gained by not asking again.
            Some(before) if why != Failure::Alone && before.serves_errors(now) => {
                self.edge.store.failed(&self.object, now)
            }
            _ => self.edge.store.forget(&self.object, None),
        }
        self.object.fail(why);
    }
}

async fn fill(edge: &Edge, object: &Arc<Object>) -> Result<(), Failure> {
    let mut charge = edge.store.charge(&object.key)?;
    edge.store.extend(&mut charge, fields::bytes(&object.fields))?;
    let path = object.key.path();
    let place = edge.live.place(path);
    let before = object.before();
    if before.is_none()
        && let Some((head, body)) = edge.store.recall(&object.key).await
    {
        edge.store.extend(&mut charge, body.len() as u64)?;
        edge.store.head_known(object, &head);
        object.set_whole(head, charge.attach(body));
        edge.store.keep(object, Instant::now());
        return Ok(());
    }
    let answer = fetch(edge, object, before.as_deref(), place).await?;
    let now = Instant::now();
    let context = Context {
        kind: rule(path).kind,
        at_edge: matches!(place, Place::Unknown | Place::Next | Place::Beyond),
        web: edge.web,
    };
    let (parts, mut body) = answer.into_parts();
    if parts.status == StatusCode::NOT_MODIFIED {
        let (old, bytes) =
            before.and_then(|b| b.whole()).ok_or(Failure::Unfit("is a 304 to no condition"))?;
        let headers = merge(&old.headers, parts.headers, edge.web);
        let life = match lifetime::sharing(old.status, &headers, context) {
            Sharing::Keep(life) => Some(life),
            Sharing::Waiting | Sharing::Alone => None,
        };
        let length = Some(bytes.len() as u64);
        let head = Head::new(old.status, headers, length, old.vary.clone(), life, now);
        publish(edge, object, head, life, Some(bytes));
        edge.store.keep(object, now);
        return Ok(());
    }
    if parts.status.is_server_error() && before.as_ref().is_some_and(|b| b.serves_errors(now)) {
        return Err(Failure::Troubled);
    }

    let sharing = lifetime::sharing(parts.status, &parts.headers, context);
    let (spec, sharing) = match (Spec::of(&parts.headers, edge.web), sharing) {
        (Some(spec), Sharing::Keep(life)) => (spec, Some(life)),
        (Some(spec), Sharing::Waiting) => (spec, None),
        (None, _) | (_, Sharing::Alone) => {
            // One of those who wait takes it; it was fetched once already.
            if !broken(Broken::Queues) {
                edge.store.set_alone(object.key.text(), charge, now);
            }
            object.hand_over(Response::from_parts(parts, body));
            return Err(Failure::Alone);
        }
    };
    let length = body.size_hint().exact();
    check_end(&parts, length)?;
    if length.is_some_and(|length| length > OBJECT_BYTES_MAX) {
        return Err(Failure::Unfit("is too large"));
    }
    let chosen = spec.chosen(&object.fields);
    let mut headers = for_all(parts.headers, &object.key, edge.web);
    headers.entry(DATE).or_insert_with(date);
    let head = Head::new(parts.status, headers, length, (Arc::new(spec), chosen), sharing, now);
    if parts.status == StatusCode::OK && context.kind == Kind::Media {
        edge.live.saw(path);
    }
    edge.store.extend(&mut charge, fields::bytes(&head.headers) + length.unwrap_or_default())?;
    match small(&mut body, length).await? {
        Small::Whole(all) => {
            edge.meters.fetched_bytes.increment(all.len() as u64);
            // A slice of a larger read buffer would keep all of it.
            publish(edge, object, head, sharing, Some(charge.attach(Bytes::copy_from_slice(&all))));
        }
        Small::Begun(first) => {
            publish(edge, object, head, sharing, None);
            object.finish(receive(edge, object, first, body, length, charge).await?);
        }
    }
    edge.store.keep(object, Instant::now());
    Ok(())
}

/// What has come of a body before its head is shown.
enum Small {
    Whole(Bytes),
    Begun(Option<Bytes>),
}

/// Takes a small body, if it is at hand. Most upstreams send it with its head: who waits is then woken once for both, and
/// writes once.
async fn small(body: &mut Arriving, length: Option<u64>) -> Result<Small, Failure> {
    let Some(length @ 1..=SMALL_BYTES_MAX) = length else { return Ok(Small::Begun(None)) };
    let Some(first) = at_hand(body).await else { return Ok(Small::Begun(None)) };
    match first? {
        Some(all) if all.len() as u64 == length => match at_hand(body).await {
            Some(end) => end.map(|_| Small::Whole(all)),
            None => Ok(Small::Begun(Some(all))),
        },
        first => Ok(Small::Begun(first)),
    }
}

/// The next piece, if the task that reads the connection has it: that gets its turn, but no time passes.
async fn at_hand(body: &mut Arriving) -> Option<Result<Option<Bytes>, Failure>> {
    for _ in 0..SMALL_TURNS {
        if let Some(next) = fetch::next(body).now_or_never() {
            return Some(next);
        }
        yield_now().await;
    }
    None
}

/// Asks for the object; what lies just beyond the live edge and is not there yet is asked for again, for a while. An
/// origin or a shield of ours, known by its lifetimes, has held the request itself if there was reason to.
async fn fetch(
    edge: &Edge,
    object: &Object,
    before: Option<&Object>,
    place: Place,
) -> Result<Answer, Failure> {
    let may_appear = place == Place::Next && rule(object.key.path()).kind == Kind::Media;
    let until = Instant::now() + NOT_YET_MAX;
    loop {
        let mut ask = edge.ask(&object.key, object.fields.clone());
        if let Some((head, _)) = before.and_then(Object::whole) {
            condition(&mut ask, &head);
        }
        let answer = edge.fetch.fetch(ask).await?;
        let ours = answer.headers().contains_key(LIFETIME);
        let not_yet = answer.status() == StatusCode::NOT_FOUND && may_appear && !ours;
        if !not_yet || Instant::now() >= until {
            return Ok(answer);
        }
        drop(answer);
        sleep(NOT_YET_EVERY.mul_f64(0.75 + fastrand::f64() / 2.0)).await;
    }
}

/// Asks whether what is held is good still (RFC 9111, 4.3.1).
fn condition(ask: &mut Ask, head: &Head) {
    if let Some(etag) = head.headers.get(ETAG) {
        ask.headers.insert(IF_NONE_MATCH, etag.clone());
    }
    if let Some(date) = head.headers.get(LAST_MODIFIED) {
        ask.headers.insert(IF_MODIFIED_SINCE, date.clone());
    }
}

/// Shows the head to those who wait, with the body if it is whole, and to later askers if they may have it.
fn publish(edge: &Edge, object: &Arc<Object>, head: Head, life: Option<Life>, all: Option<Bytes>) {
    edge.store.head_known(object, &head);
    // What it varies on is worth knowing, lest those wait for each other to whom different answers will come.
    let varies = !head.vary.0.is_empty();
    match all {
        Some(all) => object.set_whole(head, all),
        None => object.set_head(head),
    }
    if life.is_none() {
        edge.store.forget(object, if varies { edge.store.charge(&object.key).ok() } else { None });
    }
}

/// Reads the body to its end, after what came of it before.
async fn receive(
    edge: &Edge,
    object: &Object,
    first: Option<Bytes>,
    mut body: Arriving,
    length: Option<u64>,
    mut charge: Charge,
) -> Result<Charge, Failure> {
    let mut len = 0;
    let mut next = first;
    let cut = |why| if broken(Broken::CutIsEnd) { Ok(None) } else { Err(why) };
    loop {
        let piece = match next.take() {
            Some(first) => first,
            None => match fetch::next(&mut body).await.or_else(cut)? {
                Some(piece) => piece,
                None => break,
            },
        };
        len += piece.len() as u64;
        edge.meters.fetched_bytes.increment(piece.len() as u64);
        if length.is_none() {
            if len > OBJECT_BYTES_MAX {
                return Err(Failure::Unfit("is too large"));
            }
            edge.store.extend(&mut charge, piece.len() as u64)?;
        }
        object.push(piece);
    }
    if length.is_none_or(|said| said == len) || broken(Broken::CutIsEnd) {
        Ok(charge)
    } else {
        Err(Failure::Cut)
    }
}

/// Refuses an answer whose end could not be told from a cut.
pub(crate) fn check_end(parts: &response::Parts, length: Option<u64>) -> Result<(), Failure> {
    let framed = parts.version >= Version::HTTP_2 || parts.headers.contains_key(TRANSFER_ENCODING);
    if framed || length.is_some() { Ok(()) } else { Err(Failure::Unfit("has neither a length nor chunks")) }
}

/// When an answer without a date was received (RFC 9110, 6.6.1).
fn date() -> HeaderValue {
    let now = httpdate::fmt_http_date(std::time::SystemTime::now());
    HeaderValue::try_from(now).unwrap_or_else(|_| HeaderValue::from_static("Thu, 01 Jan 1970 00:00:00 GMT"))
}
