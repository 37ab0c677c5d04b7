//! The way of one request, from its head to its answer.

use std::cell::RefCell;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream;
use http::header::{ACCEPT_ENCODING, COOKIE, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request, Response, Version, request};
use http_body::Body as _;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::admission::{self, Asked, Door, Fields, NoFields, Peer};
use crate::body::{Admitted, Body};
use crate::config::{Config, Rules};
use crate::failure::Failure;
use crate::fetch::{self, Answer, Arriving, Ask, Fetch};
use crate::head::Head;
use crate::lifetime::{self, Context, Sharing};
use crate::limits::{ALONE_MAX, LOOKUPS_MAX, WAITERS_MAX};
use crate::live::LiveEdges;
use crate::meters::{Meters, Outcome};
use crate::problem::Problem;
use crate::purge::{Purge, Purges};
use crate::respond::{Source, respond};
use crate::rules::Kind;
use crate::shed::{Class, Shed};
use crate::sim::{Broken, broken, ends_with_first};
use crate::store::{Found, Store};
use crate::target::{self, Codings, Key, Names};
use crate::tier::Tier;
use crate::vary::Spec;
use crate::{changed, cors, fields, fill};

/// The body of a client's request, when it has one.
pub type Upload = Option<Arriving>;

/// What all connections of one edge share.
pub struct Edge {
    /// What is held.
    pub(crate) store: Store,
    /// Where it comes from.
    pub(crate) fetch: Arc<dyn Fetch>,
    /// How far the matches are.
    pub(crate) live: LiveEdges,
    /// What is counted.
    pub(crate) meters: Meters,
    /// Whether it is a cache for any site: fields and methods go upstream.
    pub(crate) web: bool,
    names: Names,
    pub(crate) door: Door,
    shed: Arc<Shed>,
    alone: Arc<Semaphore>,
    stop: CancellationToken,
}

/// A GET that asks for nothing but an object.
pub(crate) struct Plain<'a> {
    pub(crate) path: &'a str,
    pub(crate) query: Option<&'a str>,
    /// The compressed forms that the client takes.
    pub(crate) codings: Codings,
}

/// Whom it is from.
pub(crate) struct By<'a> {
    pub(crate) method: &'a str,
    pub(crate) fields: &'a dyn Fields,
    pub(crate) peer: Option<Peer>,
}

/// An answer that needs nothing but writing: `HTTP/1.1 {status}`, [`Head::lines`], `Age` and the lifetime at
/// `now`, an empty line, the body.
pub(crate) struct Hit {
    pub(crate) head: Arc<Head>,
    pub(crate) body: Bytes,
    pub(crate) now: Instant,
    /// To be held until the last byte is written; counts what is.
    pub(crate) admitted: Admitted,
}

impl Edge {
    /// One that holds nothing yet and fetches from there, whatever upstreams are configured; in memory only.
    pub fn new(config: &Config, fetch: Arc<dyn Fetch>) -> Arc<Edge> {
        let door = config.pass.clone().map_or(Door::Open, Door::Word);
        Edge::with_all(config, fetch, None, Purges::default(), door)
    }

    /// The same over a disk and what was purged of it, and behind a door.
    pub(crate) fn with_all(
        config: &Config,
        fetch: Arc<dyn Fetch>,
        disk: Option<Arc<Tier>>,
        purges: Purges,
        door: Door,
    ) -> Arc<Edge> {
        let web = config.rules == Rules::Web;
        let query = if web { vec!["*".to_owned()] } else { config.query.clone() };
        Arc::new(Edge {
            store: Store::new(config.memory_mb.saturating_mul(1_000_000), disk, purges),
            fetch,
            live: LiveEdges::new(),
            meters: Meters::new(),
            web,
            names: Names { with_pass: Door::with_pass(config), query },
            door,
            shed: Shed::new(),
            alone: Arc::new(Semaphore::new(ALONE_MAX)),
            stop: CancellationToken::new(),
        })
    }

    /// Ends connections and fills that are still under way when it is dropped.
    pub(crate) fn stopper(&self) -> DropGuard {
        self.stop.clone().drop_guard()
    }

    /// Comes back when they must end.
    pub(crate) async fn stopped(&self) {
        self.stop.cancelled().await;
    }

    /// Takes objects back before their time; how many it held.
    pub fn purge(&self, purge: &Purge) -> usize {
        self.store.purge(purge, Instant::now())
    }

    /// Answers a request. How it was answered stands in the extensions of the response, as an [`Outcome`].
    pub async fn answer(self: Arc<Self>, request: Request<Upload>) -> Response<Body> {
        let (request, upload) = request.into_parts();
        // Preflights carry no pass and spend nothing.
        if request.method == Method::OPTIONS && !self.web {
            return cors::preflight();
        }
        let mut renewed = None;
        let (outcome, mut response) = match self.find(&request, upload, &mut renewed).await {
            Ok((outcome, response)) if !is_failure(&response) => (outcome, response),
            Ok((_, response)) => (Outcome::Error, response),
            Err(problem) => {
                let mut response = problem.response();
                if !self.web {
                    cors::mark(response.headers_mut());
                }
                (problem.outcome(), response)
            }
        };
        if let Some(pass) = renewed {
            admission::hand(response.headers_mut(), pass);
        }
        self.meters.count(outcome);
        if let Some(status) = outcome.cache_status() {
            response.headers_mut().append(CACHE_STATUS, HeaderValue::from_static(status));
        }
        response.extensions_mut().insert(outcome);
        if request.method == Method::HEAD {
            *response.body_mut() = Body::whole(Default::default());
        }
        response
    }

    /// The answer to a plain GET (no `Range`, no condition) of an object that is whole and fresh; `None`
    /// sends it the long way, by [`Edge::answer`]. Counts the request if it answers it.
    pub(crate) fn hit(&self, ask: &Plain<'_>) -> Option<Hit> {
        self.hit_for(ask, &By { method: "GET", fields: &NoFields, peer: None })
    }

    /// The same for somebody.
    pub(crate) fn hit_for(&self, ask: &Plain<'_>, by: &By<'_>) -> Option<Hit> {
        thread_local! {
            static KEY: RefCell<String> = const { RefCell::new(String::new()) };
        }
        KEY.with_borrow_mut(|key| {
            let target = self.names.parse(ask.path, ask.query, ask.codings, key).ok()?;
            let asked = Asked {
                method: by.method,
                path: ask.path,
                pass: target.pass,
                query: ask.query.unwrap_or_default(),
                fields: by.fields,
                peer: by.peer,
            };
            if !self.door.admits(&asked) {
                return None;
            }
            let now = Instant::now();
            let (head, body) = self.store.hit(key, now)?;
            // What is at hand costs least of all: it is the last to be refused.
            let ticket = self.shed.admit(Class::Live)?;
            self.meters.count(Outcome::Hit);
            let admitted = Admitted::new(ticket, self.meters.sent_bytes.clone());
            Some(Hit { head, body, now, admitted })
        })
    }

    /// Requests, and answers for one client, that are under way.
    #[cfg(test)]
    pub(crate) fn under_way(&self) -> (usize, usize) {
        (self.shed.under_way(), ALONE_MAX - self.alone.available_permits())
    }

    /// The pipeline: what is cheap to refuse is refused before anything is spent on it.
    async fn find(
        self: &Arc<Self>,
        request: &request::Parts,
        upload: Upload,
        renewed: &mut Option<HeaderValue>,
    ) -> Result<(Outcome, Response<Body>), Problem> {
        let plain = matches!(request.method, Method::GET | Method::HEAD);
        // To pass on a tunnel or an echo of what goes upstream is nobody's wish here.
        let passes = self.web && !matches!(request.method, Method::CONNECT | Method::TRACE);
        if !plain && !passes {
            return Err(Problem::Method);
        }
        // To HTTP/1.0 the end of a connection is the end of an answer, so a cut one would look whole.
        if request.version < Version::HTTP_11 {
            return Err(Problem::Version);
        }
        let asked = &request.headers;
        // A general cache leaves the choice of forms to the upstream and its Vary.
        let codings = if self.web { Codings::Plain } else { codings(asked) };
        let mut key = String::new();
        let target = self.names.parse(request.uri.path(), request.uri.query(), codings, &mut key)?;
        *renewed = self.admit(request, target.pass)?;
        let key = Key::new(&key);
        let class = Class::of(target.rule.kind, self.live.place(key.path()));
        let refused = || {
            self.meters.shed(class);
            Problem::Busy("requests")
        };
        let ticket = self.shed.admit(class).ok_or_else(refused)?;
        let admitted = Admitted::new(ticket, self.meters.sent_bytes.clone());

        if !plain {
            let response = self.pass_on(request, upload, &key).await?;
            return Ok((Outcome::Alone, response.map(|body| body.admitted(admitted))));
        }
        let fields = if self.web { fields::forwarded_for_all(asked) } else { HeaderMap::new() };
        if !(self.web && fields::is_personal(asked)) {
            match self.shared(&key, class, &fields, asked).await? {
                Shared::Answer(outcome, response) => {
                    return Ok((outcome, response.map(|body| body.admitted(admitted))));
                }
                Shared::Handed(answer) => {
                    let response = self.for_one(answer)?.map(|body| body.admitted(admitted));
                    return Ok((Outcome::Miss, response));
                }
                Shared::Not => {}
            }
        }
        self.alone(&key, asked, admitted).await
    }

    /// The answer that all who ask for the same are given, if there is one.
    async fn shared(
        self: &Arc<Self>,
        key: &Key,
        class: Class,
        fields: &HeaderMap,
        asked: &HeaderMap,
    ) -> Result<Shared, Problem> {
        for _ in 0..LOOKUPS_MAX {
            let (object, outcome) = match self.store.find(key.text(), class, fields, Instant::now()) {
                Found::Hit(object) => (object, Outcome::Hit),
                Found::Stale(object, next) => {
                    if let Some(next) = next {
                        tokio::spawn(fill::run(self.clone(), next));
                    }
                    (object, Outcome::Stale)
                }
                Found::Filling(object) if object.readers() >= WAITERS_MAX => {
                    return Err(Problem::Busy("requests for this object"));
                }
                Found::Filling(object) => (object, Outcome::Collapsed),
                Found::New(object) => (object, Outcome::Miss),
                Found::Alone => return Ok(Shared::Not),
            };
            let answer = |outcome, head: &Head, source| {
                Ok(Shared::Answer(outcome, respond(asked, head, source, Instant::now())?))
            };
            if let Some((head, body)) = object.whole() {
                return answer(outcome, &head, Source::Whole(body));
            }
            let before = object.before();
            let mut reader = object.reader();
            let mut first = None;
            if outcome == Outcome::Miss {
                first = ends_with_first(tokio::spawn(fill::run(self.clone(), object.clone())));
            }
            let head = {
                let _hold = self.meters.hold();
                reader.head().await
            };
            first.into_iter().for_each(std::mem::forget);
            match head {
                // It was for requests with other fields; now it is known which.
                Ok(head) if head.vary.0.chosen(fields) != head.vary.1 && !broken(Broken::IgnoresVary) => {
                    continue;
                }
                // What nobody said may be kept is the answer to who sent the same cookies.
                Ok(head)
                    if head.left(Instant::now()).is_zero()
                        && !fields.get_all(COOKIE).iter().eq(object.fields.get_all(COOKIE)) =>
                {
                    return Ok(Shared::Not);
                }
                Ok(head) => {
                    let source = object.whole().map_or(Source::Behind(reader), |(_, b)| Source::Whole(b));
                    return answer(outcome, &head, source);
                }
                Err(Failure::Alone) if broken(Broken::Queues) && outcome != Outcome::Miss => continue,
                Err(Failure::Alone) => {
                    return Ok(object.take_alone(fields).map_or(Shared::Not, Shared::Handed));
                }
                Err(why) => {
                    match before.filter(|b| b.serves_errors(Instant::now())).and_then(|b| b.whole()) {
                        Some((head, body)) => return answer(Outcome::Stale, &head, Source::Whole(body)),
                        None => return Err(why.into()),
                    }
                }
            }
        }
        Ok(Shared::Not)
    }

    /// An answer that may not be shared: a fetch for this client alone.
    async fn alone(
        &self,
        key: &Key,
        asked: &HeaderMap,
        mut admitted: Admitted,
    ) -> Result<(Outcome, Response<Body>), Problem> {
        let busy = |_| Problem::Busy("answers that cannot be shared");
        admitted.alone = Some(self.alone.clone().try_acquire_owned().map_err(busy)?);
        let fields = if self.web { fields::forwarded(asked) } else { HeaderMap::new() };
        let answer = self.fetch.fetch(self.ask(key, fields)).await?;
        let context = Context { kind: target::kind(key), at_edge: true, web: self.web };
        let shared = lifetime::sharing(answer.status(), answer.headers(), context) != Sharing::Alone;
        if shared && Spec::of(answer.headers(), self.web).is_some() {
            self.store.set_shared(key.text());
        }
        Ok((Outcome::Alone, self.for_one(answer)?.map(|body| body.admitted(admitted))))
    }

    /// A request that is not for an object goes on as it is; what it changes is not held any longer.
    async fn pass_on(
        &self,
        request: &request::Parts,
        upload: Upload,
        key: &Key,
    ) -> Result<Response<Body>, Problem> {
        let mut ask = self.ask(key, fields::forwarded(&request.headers));
        ask.method = request.method.clone();
        ask.body = upload;
        ask.hedge = false;
        let answer = self.fetch.fetch(ask).await?;
        let changed = answer.status().is_success() || answer.status().is_redirection();
        if changed && !request.method.is_safe() {
            for key in changed::keys(&self.names, key, request, answer.headers()) {
                self.store.invalidate(&key);
            }
        }
        Ok(self.for_one(answer)?)
    }

    /// The upstream request for a key. Where nothing is forwarded it is made from the key alone.
    pub(crate) fn ask(&self, key: &Key, fields: HeaderMap) -> Ask {
        let mut headers = fields;
        if let Some(codings) = key.accept_encoding() {
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(codings));
        }
        // A playlist may be held for long, and its upstream is well.
        let hedge = target::kind(key) == Kind::Media;
        Ask { method: Method::GET, target: key.target().to_owned(), headers, body: None, hedge }
    }

    fn for_one(&self, answer: Answer) -> Result<Response<Body>, Failure> {
        let (mut parts, body) = answer.into_parts();
        let length = body.size_hint().exact();
        fill::check_end(&parts, length)?;
        parts.headers = fields::for_one(parts.headers, self.web);
        let pieces = stream::try_unfold((body, 0), move |(mut body, len)| async move {
            match fetch::next(&mut body).await? {
                Some(bytes) => {
                    let len = len + bytes.len() as u64;
                    Ok(Some((bytes, (body, len))))
                }
                None if length.is_none_or(|said| said == len) => Ok(None),
                None => Err(Failure::Cut),
            }
        });
        Ok(Response::from_parts(parts, Body::arriving(pieces)))
    }
}

/// RFC 9211.
const CACHE_STATUS: HeaderName = HeaderName::from_static("cache-status");

/// What came of asking for what others ask for too.
enum Shared {
    Answer(Outcome, Response<Body>),
    /// It may not be shared, and this is the one answer that told so.
    Handed(Answer),
    /// There is nothing to share.
    Not,
}

/// The compressed forms that a client takes.
fn codings(asked: &HeaderMap) -> Codings {
    let values = asked.get_all(ACCEPT_ENCODING).iter().filter_map(|v| v.to_str().ok());
    values.map(target::codings).max().unwrap_or_default()
}

fn is_failure(response: &Response<Body>) -> bool {
    response.status().is_client_error() || response.status().is_server_error()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::RETRY_AFTER_S_MAX;
    use crate::upstream::Upstreams;
    use http::header::RETRY_AFTER;

    fn edge(requests: usize) -> Arc<Edge> {
        let config = Config { upstream: vec!["http://127.0.0.1:9".parse().unwrap()], ..Config::default() };
        let mut edge = Edge::new(&config, Arc::new(Upstreams::new(&config).unwrap()));
        Arc::get_mut(&mut edge).unwrap().shed = Shed::of(requests);
        edge
    }

    async fn get(edge: &Arc<Edge>, target: &str) -> Response<Body> {
        edge.clone().answer(Request::get(target).body(None).unwrap()).await
    }

    #[tokio::test]
    async fn requests_over_the_limit_are_told_when_to_come_back_and_not_all_at_once() {
        let edge = edge(0);
        let mut delays = std::collections::HashSet::new();
        for _ in 0..200 {
            let answer = get(&edge, "/m/1a.m4s").await;
            assert_eq!(answer.status(), 503);
            let delay: u32 = answer.headers()[RETRY_AFTER].to_str().unwrap().parse().unwrap();
            assert!((1..=RETRY_AFTER_S_MAX).contains(&delay));
            delays.insert(delay);
        }
        assert!(delays.len() > 1);
    }

    #[tokio::test]
    async fn readers_of_one_object_are_bounded() {
        let edge = edge(1);
        let found = edge.store.find("i/m/1a.m4s", Class::Live, &HeaderMap::new(), Instant::now());
        let Found::New(object) = found else { panic!() };
        let readers: Vec<_> = (0..WAITERS_MAX).map(|_| object.reader()).collect();
        assert_eq!(get(&edge, "/m/1a.m4s").await.status(), 503);
        drop(readers);
        // The refused request gave its place back, and the object may be joined again.
        let joined = tokio::spawn({
            let edge = edge.clone();
            async move { get(&edge, "/m/1a.m4s").await }
        });
        while object.readers() == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(get(&edge, "/m/2a.m4s").await.status(), 503);
        object.fail(Failure::Late);
        assert_eq!(joined.await.unwrap().status(), 504);
        assert_eq!(edge.shed.under_way(), 0);
    }
}
