//! Publishing to one origin: objects go out as they are made, several at a time, and are tried again until
//! they are too old to matter. A segment that lost a part on the way is sent once more as a whole.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use timeline::name::{InitId, Kind, Letter, Object, ProgrammePath, Token};
use timeline::object::{META_HEADER, Meta};
use timeline::programme::Programme;
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use crate::Error;
use crate::package::Part;

/// Objects that may wait for one origin or be under way to it: about ten seconds of seven tracks. When it is
/// full the oldest is too old already, and a new one is counted as lost, to be healed by its whole segment.
pub const QUEUE: usize = 256;
/// PUTs under way at once; all tracks end a part at the same moment.
pub const CONCURRENT: usize = 16;
/// One PUT over loopback or a data centre takes milliseconds; this is for an origin that hangs.
pub const PUT_MAX: Duration = Duration::from_secs(2);
/// How long an object is tried for: parts are listed for 6 s, later it serves nobody as a part.
pub const TRY_FOR: Duration = Duration::from_secs(6);
/// Wait after a failed PUT, doubled each time up to [`RETRY_MAX`], half of it random.
pub const RETRY_FIRST: Duration = Duration::from_millis(20);
/// See [`RETRY_FIRST`].
pub const RETRY_MAX: Duration = Duration::from_millis(500);
/// Segments whose parts are kept to be sent whole: long enough for an origin to come back.
pub const HEAL_SEGMENTS: u64 = 8;

/// The init segment of each track.
pub type Inits = Arc<Vec<(Token, InitId, Bytes)>>;

/// What a publisher is told.
#[derive(Clone, Debug)]
pub enum Item {
    /// The programme and its init segments, before the first part and again whenever the encoder restarts.
    Announce(Arc<Programme>, Inits),
    /// A part of a track.
    Part(Token, Part),
    /// The match is over after this segment.
    End(u64),
}

type Http = Client<HttpConnector, Full<Bytes>>;

/// A publisher to one origin.
pub struct Publisher {
    base: String,
    letter: Letter,
    http: Http,
    /// Cancelled when the origin says that the match is over.
    over: CancellationToken,
}

enum Put {
    Done,
    /// The origin does not know the programme (it has restarted).
    Unknown,
    /// It will never take this one.
    Refused,
    Failed,
}

impl Publisher {
    /// For an origin at `http://host:port`.
    pub fn new(
        origin: &str,
        path: &ProgrammePath,
        letter: Letter,
        over: CancellationToken,
    ) -> Result<Publisher, Error> {
        let origin = origin.trim_end_matches('/');
        let uri: http::Uri = origin.parse().map_err(|_| Error::Origin(origin.to_owned()))?;
        if uri.scheme_str() != Some("http") || uri.authority().is_none() || uri.path().len() > 1 {
            return Err(Error::Origin(origin.to_owned()));
        }
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(PUT_MAX));
        let http = Client::builder(TokioExecutor::new()).pool_max_idle_per_host(CONCURRENT).build(connector);
        Ok(Publisher { base: format!("{origin}/{path}"), letter, http, over })
    }

    /// Publishes until the channel closes and all is sent.
    pub async fn run(self, mut items: mpsc::Receiver<Item>) {
        let this = Arc::new(self);
        let places = Arc::new(Semaphore::new(CONCURRENT));
        let (lost, mut losses) = mpsc::channel::<(Token, u64)>(QUEUE);
        let room = Arc::new(Semaphore::new(QUEUE));
        let mut announced: Option<(Arc<Programme>, Inits)> = None;
        let (unknown, mut unknowns) = mpsc::channel::<()>(1);
        let mut kept = Kept::default();
        loop {
            let item = tokio::select! {
                item = items.recv() => item,
                Some(()) = unknowns.recv() => {
                    if let Some((programme, inits)) = &announced {
                        this.announce(programme, inits).await;
                    }
                    continue;
                }
                Some((track, msn)) = losses.recv() => {
                    kept.mark(&track, msn);
                    continue;
                }
            };
            let Some(item) = item else { break };
            match item {
                Item::Announce(programme, inits) => {
                    this.announce(&programme, &inits).await;
                    announced = Some((programme, inits));
                }
                Item::Part(track, part) => {
                    let heal = kept.keep(&track, &part);
                    let Ok(room) = room.clone().try_acquire_owned() else {
                        metrics::counter!("pipeline_parts_lost_total").increment(1);
                        kept.mark(&track, part.at.msn);
                        continue;
                    };
                    let (this, places, lost, unknown) =
                        (this.clone(), places.clone(), lost.clone(), unknown.clone());
                    tokio::spawn(async move {
                        let _room = room;
                        let Ok(_place) = places.acquire().await else { return };
                        let at = part.at;
                        let kind = Kind::Part { msn: at.msn, letter: this.letter, part: at.part };
                        if !this.deliver(&track, kind, &part.meta, &part.bytes, &unknown).await {
                            metrics::counter!("pipeline_parts_lost_total").increment(1);
                            // Full: 256 losses are waiting to be marked; this segment is not healed.
                            let _ = lost.try_send((track.clone(), at.msn));
                        }
                        for (msn, meta, bytes) in heal {
                            let kind = Kind::Segment { msn, letter: this.letter };
                            this.deliver(&track, kind, &meta, &bytes, &unknown).await;
                        }
                    });
                }
                Item::End(last_msn) => {
                    let body = format!("{{\"last_msn\":{last_msn}}}");
                    // After everything that is under way.
                    let _all = places.acquire_many(CONCURRENT as u32).await;
                    this.put("end", None, body.into()).await;
                }
            }
        }
        let _all = places.acquire_many(CONCURRENT as u32).await;
    }

    async fn announce(&self, programme: &Programme, inits: &[(Token, InitId, Bytes)]) {
        let body = serde_json::to_vec(programme).unwrap_or_default();
        self.insist("programme.json", None, body.into()).await;
        for (track, id, bytes) in inits {
            let object = Object { track: track.clone(), kind: Kind::Init(*id) };
            self.insist(&object.to_string(), None, bytes.clone()).await;
        }
    }

    /// Tries until [`TRY_FOR`] has passed.
    async fn insist(&self, name: &str, meta: Option<&Meta>, body: Bytes) -> bool {
        let began = Instant::now();
        let mut wait = RETRY_FIRST;
        loop {
            match self.put(name, meta, body.clone()).await {
                Put::Done => return true,
                Put::Refused | Put::Unknown => return false,
                Put::Failed if began.elapsed() > TRY_FOR || self.over.is_cancelled() => return false,
                Put::Failed => {}
            }
            tokio::time::sleep(jittered(wait)).await;
            wait = (wait * 2).min(RETRY_MAX);
        }
    }

    async fn deliver(
        &self,
        track: &Token,
        kind: Kind,
        meta: &Meta,
        bytes: &Bytes,
        unknown: &mpsc::Sender<()>,
    ) -> bool {
        let name = Object { track: track.clone(), kind }.to_string();
        let began = Instant::now();
        let mut wait = RETRY_FIRST;
        loop {
            match self.put(&name, Some(meta), bytes.clone()).await {
                Put::Done => return true,
                Put::Refused => return false,
                Put::Unknown => {
                    // One announcement serves all that wait for it.
                    let _ = unknown.try_send(());
                }
                Put::Failed => {}
            }
            if began.elapsed() > TRY_FOR || self.over.is_cancelled() {
                return false;
            }
            tokio::time::sleep(jittered(wait)).await;
            wait = (wait * 2).min(RETRY_MAX);
        }
    }

    async fn put(&self, name: &str, meta: Option<&Meta>, body: Bytes) -> Put {
        let mut request = Request::builder().method(Method::PUT).uri(format!("{}/{name}", self.base));
        if let Some(meta) = meta {
            request = request.header(META_HEADER, serde_json::to_string(meta).unwrap_or_default());
        }
        let Ok(request) = request.body(Full::new(body)) else { return Put::Refused };
        let sent = tokio::time::timeout(PUT_MAX, self.http.request(request)).await;
        let response = match sent {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => {
                tracing::debug!(%error, name, "PUT failed");
                return Put::Failed;
            }
            Err(_) => return Put::Failed,
        };
        let status = response.status();
        if status.is_success() {
            return Put::Done;
        }
        // The problem document says why, in a sentence.
        let body = tokio::time::timeout(PUT_MAX, response.into_body().collect()).await;
        let why = body.ok().and_then(Result::ok).map(|b| b.to_bytes()).unwrap_or_default();
        let why = String::from_utf8_lossy(&why[..why.len().min(300)]).into_owned();
        match status {
            StatusCode::GONE => {
                self.over.cancel();
                Put::Refused
            }
            StatusCode::NOT_FOUND => Put::Unknown,
            s if s.is_server_error() || s == StatusCode::TOO_MANY_REQUESTS => Put::Failed,
            _ => {
                tracing::warn!(name, %status, why, "the origin refused an object");
                metrics::counter!("pipeline_objects_refused_total").increment(1);
                Put::Refused
            }
        }
    }
}

fn jittered(wait: Duration) -> Duration {
    wait.mul_f64(0.5 + 0.5 * fastrand::f64())
}

/// Parts of the last segments, and which of these lost one.
#[derive(Default)]
struct Kept {
    tracks: HashMap<Token, BTreeMap<u64, Whole>>,
}

#[derive(Default)]
struct Whole {
    parts: Vec<Part>,
    lost: bool,
}

impl Kept {
    /// Keeps a part; gives back the segments of its track that are whole and must be sent again.
    fn keep(&mut self, track: &Token, part: &Part) -> Vec<(u64, Meta, Bytes)> {
        let segments = self.tracks.entry(track.clone()).or_default();
        segments.entry(part.at.msn).or_default().parts.push(part.clone());
        while segments.len() as u64 > HEAL_SEGMENTS {
            segments.pop_first();
        }
        let mut heal = Vec::new();
        for (msn, whole) in segments.iter_mut().filter(|(_, whole)| whole.lost) {
            if let Some((meta, bytes)) = whole.join() {
                whole.lost = false;
                heal.push((*msn, meta, bytes));
            }
        }
        heal
    }

    fn mark(&mut self, track: &Token, msn: u64) {
        if let Some(whole) = self.tracks.get_mut(track).and_then(|segments| segments.get_mut(&msn)) {
            whole.lost = true;
        }
    }
}

impl Whole {
    /// The segment, once its last part is there and none was left out by the encoder.
    fn join(&self) -> Option<(Meta, Bytes)> {
        let (first, last) = (self.parts.first()?, self.parts.last()?);
        let in_order = self.parts.iter().enumerate().all(|(n, part)| part.at.part == n as u32);
        if !in_order || !last.meta.last {
            return None;
        }
        let mut bytes = BytesMut::new();
        let mut defects = Vec::new();
        for part in &self.parts {
            bytes.extend_from_slice(&part.bytes);
            defects.extend(&part.meta.defects);
        }
        defects.sort_unstable();
        defects.dedup();
        let end = last.meta.start + last.meta.duration;
        let meta = Meta { duration: end - first.meta.start, last: true, defects, ..first.meta.clone() };
        Some((meta, bytes.freeze()))
    }
}
