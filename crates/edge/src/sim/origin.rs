//! An origin that does what the scenario says, and remembers it.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::{BoxStream, StreamExt, unfold};
use http::header::{AGE, CACHE_CONTROL, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH, SET_COOKIE, VARY};
use http::{Method, Response, StatusCode, Version};
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::model::track_and_number;
use super::scenario::{Gives, Lifetime, Private, SEGMENT_MS, Says, Scenario, Script, Turn, Varies};
use crate::failure::Failure;
use crate::fetch::{Answer, Ask, Fetch};
use crate::lifetime::LIFETIME;
use crate::limits::HOLD_MAX;

/// Which fetch a body came from.
pub(super) const FETCH: &str = "x-fetch";

/// Which fetch a 304 is of.
pub(super) const CONFIRMED: &str = "x-confirmed-by";

/// One fetch, as the origin saw it.
#[derive(Clone, Debug)]
pub(super) struct Fetched {
    pub(super) method: Method,
    pub(super) target: String,
    pub(super) fields: HeaderMap,
    pub(super) asked: Instant,
    /// When its head was there, or it failed or was given up.
    pub(super) answered: Option<Instant>,
    pub(super) given: Given,
    /// When its body ended or was given up.
    pub(super) ended: Option<Instant>,
    /// Whether the body came to its end.
    pub(super) whole: bool,
    pub(super) body: Bytes,
}

/// What came of a fetch.
#[derive(Clone, Copy, Debug)]
pub(super) enum Given {
    /// Nothing yet.
    Pending,
    /// Whoever asked did not wait for it.
    Left,
    Failed,
    Answer {
        status: u16,
        says: Says,
    },
    /// The body of that fetch is good still.
    Same {
        of: usize,
        says: Says,
    },
}

#[derive(Clone)]
pub(super) struct Origin(Arc<Inner>);

struct Inner {
    scenario: Arc<Scenario>,
    start: Instant,
    log: Mutex<Vec<Fetched>>,
    counts: Mutex<HashMap<String, usize>>,
}

impl Origin {
    pub(super) fn new(scenario: Arc<Scenario>, start: Instant) -> Origin {
        Origin(Arc::new(Inner { scenario, start, log: Mutex::default(), counts: Mutex::default() }))
    }

    /// All that was asked so far.
    pub(super) fn log(&self) -> Vec<Fetched> {
        self.0.lock().clone()
    }
}

impl Fetch for Origin {
    fn fetch(&self, ask: Ask) -> BoxFuture<'static, Result<Answer, Failure>> {
        let inner = self.0.clone();
        let turn = inner.turn(&ask.target);
        let id = {
            let mut log = inner.lock();
            log.push(Fetched {
                method: ask.method.clone(),
                target: ask.target.clone(),
                fields: ask.headers.clone(),
                asked: Instant::now(),
                answered: None,
                given: Given::Pending,
                ended: None,
                whole: false,
                body: Bytes::new(),
            });
            log.len() - 1
        };
        let (target, fields) = (ask.target, ask.headers);
        let mut watch = Watch { inner: inner.clone(), id, of_head: true };
        Box::pin(async move {
            let answer = timeout(HOLD_MAX, inner.answer(id, turn, &target, &fields)).await;
            let answer = answer.unwrap_or(Err(Failure::Late));
            watch.head(answer.is_ok());
            Ok(answer?.map(|pieces| pieces.play(watch).boxed_unsync()))
        })
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, Vec<Fetched>> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turn(&self, target: &str) -> Turn {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let nth = counts.entry(target.to_owned()).or_default();
        *nth += 1;
        let first = target
            .bytes()
            .fold(self.scenario.chance as usize, |h, b| h.wrapping_mul(31).wrapping_add(b.into()));
        self.scenario.turns[first.wrapping_add(*nth) % self.scenario.turns.len()]
    }

    /// When media of that name, or a playlist that has it, is there.
    fn appears(&self, target: &str) -> Instant {
        let number = match target.split_once("_HLS_msn=") {
            Some((_, number)) => number.parse().unwrap_or(0),
            None => track_and_number(target).map_or(0, |(_, number)| number),
        };
        self.start + Duration::from_millis(u64::from(SEGMENT_MS) * number)
    }

    async fn answer(
        &self,
        id: usize,
        turn: Turn,
        target: &str,
        fields: &HeaderMap,
    ) -> Result<Response<Pieces>, Failure> {
        let appears = self.appears(target);
        if self.scenario.holds {
            sleep_until(appears).await;
        }
        sleep(Duration::from_millis(turn.head_ms.into())).await;
        let Gives::Answer { mut status, says, unchanged } = turn.gives else {
            return Err(Failure::Unreachable);
        };
        if Instant::now() < appears {
            status = 404;
        }
        if status == 200
            && unchanged
            && let Some(of) = self.is_held(target, fields, &says)
        {
            // What is good still has its tag (RFC 9110, 15.4.5).
            let says = Says { etag: true, ..says };
            self.lock()[id].given = Given::Same { of, says };
            let mut answer = answer(StatusCode::NOT_MODIFIED, &says, of);
            answer.headers_mut().insert(CONFIRMED, id.into());
            return Ok(answer.map(|()| Pieces::none()));
        }
        let body = body(id, target, fields, turn.body);
        let mut log = self.lock();
        log[id].given = Given::Answer { status, says };
        log[id].body = body.clone();
        let mut answer = answer(StatusCode::from_u16(status).unwrap(), &says, id);
        answer.headers_mut().insert(FETCH, id.into());
        Ok(answer.map(|()| Pieces { body, script: turn.body }))
    }

    /// The fetch whose body the one who asks has, if it would be given the same again.
    fn is_held(&self, target: &str, fields: &HeaderMap, says: &Says) -> Option<usize> {
        let tag = fields.get(IF_NONE_MATCH)?.to_str().ok()?;
        let of: usize = tag.trim_matches('"').parse().ok()?;
        let log = self.lock();
        let old = log.get(of).filter(|old| old.target == target)?;
        let Given::Answer { says: said, .. } = old.given else { return None };
        let same =
            ["accept-language", "x-device", "cookie"].iter().all(|f| old.fields.get(*f) == fields.get(*f));
        let plain = |says: &Says| says.private == Private::No && says.varies != Varies::Star;
        (same && plain(says) && plain(&said)).then_some(of)
    }
}

/// A head, with the tag of that fetch.
fn answer(status: StatusCode, says: &Says, tag: usize) -> Response<()> {
    let mut answer = Response::new(());
    *answer.status_mut() = status;
    // It has an end even without a length.
    *answer.version_mut() = Version::HTTP_2;
    let headers = answer.headers_mut();
    let mut control = vec!["public".to_owned()];
    match says.life {
        Lifetime::Unsaid => {}
        Lifetime::Ms(ms) => {
            headers.insert(LIFETIME, ms.into());
            control.push("max-age=60".into());
        }
        Lifetime::MaxAge(max, age) => {
            headers.insert(AGE, u32::from(age).into());
            control.push(format!("max-age={max}"));
        }
    }
    control.extend(says.while_revalidate.map(|s| format!("stale-while-revalidate={s}")));
    control.extend(says.if_error.map(|s| format!("stale-if-error={s}")));
    control.extend(says.strict.then(|| "must-revalidate".to_owned()));
    match says.private {
        Private::No => {}
        Private::Cookie => {
            drop(headers.insert(SET_COOKIE, HeaderValue::from_str(&format!("id={tag}")).unwrap()))
        }
        Private::NoStore => control.push("no-store".into()),
        Private::Said => control.push("private".into()),
    }
    headers.insert(CACHE_CONTROL, control.join(", ").parse().unwrap());
    match says.varies {
        Varies::No => {}
        Varies::Language => drop(headers.insert(VARY, HeaderValue::from_static("accept-language"))),
        Varies::LanguageAndDevice => {
            drop(headers.insert(VARY, HeaderValue::from_static("X-Device, accept-language")))
        }
        Varies::Star => drop(headers.insert(VARY, HeaderValue::from_static("*"))),
    }
    if says.etag {
        headers.insert(ETAG, format!("\"{tag}\"").parse().unwrap());
    }
    headers.insert("surrogate-key", HeaderValue::from_static("match media"));
    answer
}

/// Bytes that no other fetch has, up to the last.
fn body(id: usize, target: &str, fields: &HeaderMap, script: Script) -> Bytes {
    let len = usize::from(script.pieces) * usize::from(script.piece_bytes);
    let line = format!("{target} by fetch {id} with {fields:?};");
    line.bytes().cycle().take(len).collect()
}

/// A body and how it arrives.
struct Pieces {
    body: Bytes,
    script: Script,
}

impl Pieces {
    fn none() -> Pieces {
        Pieces {
            body: Bytes::new(),
            script: Script { pieces: 0, piece_bytes: 1, gap_ms: 0, length: true, cut: None },
        }
    }

    fn play(self, watch: Watch) -> Body {
        let Script { pieces, piece_bytes, gap_ms, length, cut } = self.script;
        let left = length.then_some(self.body.len() as u64);
        let step = usize::from(piece_bytes);
        let pieces = unfold(Some((0_u8, watch)), move |state| {
            let body = self.body.clone();
            async move {
                let (n, mut watch) = state?;
                if n == pieces {
                    watch.end();
                    return None;
                }
                if gap_ms > 0 {
                    sleep(Duration::from_millis(gap_ms.into())).await;
                }
                if cut == Some(n) {
                    // One that said its length ends early; the other can only say that it was cut.
                    return (!length).then_some((Err(Failure::Cut), None));
                }
                let piece = body.slice(usize::from(n) * step..usize::from(n + 1) * step);
                Some((Ok(piece), Some((n + 1, watch))))
            }
        });
        Body { pieces: pieces.boxed(), left }
    }
}

struct Body {
    pieces: BoxStream<'static, Result<Bytes, Failure>>,
    left: Option<u64>,
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        self.pieces.poll_next_unpin(cx).map(|next| next.map(|piece| piece.map(Frame::data)))
    }

    fn size_hint(&self) -> SizeHint {
        self.left.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

/// Writes down when a head or a body ends, be it by being dropped.
struct Watch {
    inner: Arc<Inner>,
    id: usize,
    of_head: bool,
}

impl Watch {
    fn head(&mut self, ok: bool) {
        let mut log = self.inner.lock();
        log[self.id].answered = Some(Instant::now());
        if !ok {
            log[self.id].given = Given::Failed;
        }
        self.of_head = !ok;
    }

    fn end(&mut self) {
        self.inner.lock()[self.id].whole = true;
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut log = self.inner.lock();
        let fetched = &mut log[self.id];
        if self.of_head && fetched.answered.is_none() {
            fetched.answered = Some(Instant::now());
            fetched.given = Given::Left;
        }
        fetched.ended = Some(Instant::now());
    }
}
