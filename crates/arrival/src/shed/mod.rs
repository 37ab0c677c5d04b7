//! What is answered when not everything can be. Requests are read in turn ([`listen::turns`]): what cannot be answered soon
//! stays with the kernel, and costs nothing until it is told so. What is read is let in or told at once when to come again: by
//! buckets (of its address, of its viewer, of everybody), by how late the process is, and by a limit on requests under way
//! that is found by how long they take. Playing is dearer than home, home dearer than settings.

mod bucket;
mod limit;
pub(crate) mod limits;
mod pressure;

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::Method;
use listen::turns::Turns;
use tokio_util::sync::CancellationToken;

pub use bucket::{Bucket, Buckets, Rate};
pub use limit::Limit;
pub use pressure::Pressure;

use self::limits::{
    ADDRESS_BURST_S, ALL_BURST, ALL_PER_S, CLIENTS_MAX, LAG_EVERY, RETRY_S_MAX, RETRY_S_MIN, VIEWER_BURST,
    VIEWER_PER_S,
};
use crate::door::Door;
use crate::play::Problem;
use crate::whereabouts::Client;

/// What a request is for, the cheapest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Settings, profiles, logging out.
    Settings,
    /// The page and what it lists.
    Home,
    /// Logging in, buying, playing.
    Play,
}

impl Class {
    /// In the words of metrics.
    pub fn name(self) -> &'static str {
        ["settings", "home", "play"][self as usize]
    }

    /// How much of all places it may fill.
    fn share(self) -> f64 {
        [0.4, 0.7, 1.0][self as usize]
    }

    /// What a request is for. Whatever has no line here is a setting.
    pub fn of(method: &Method, path: &str) -> Class {
        let Some(api) = path.strip_prefix("/v1/") else {
            // Keys by which edges check tokens are asked for by machines that let viewers in.
            return if path.starts_with("/.well-known/") { Class::Play } else { Class::Home };
        };
        let mut words = api.split('/');
        let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        match (first, second, method) {
            ("matches", _, &Method::POST) | ("streams" | "licence", ..) => Class::Play,
            // Tokens run out while one watches.
            ("identity", "device" | "register" | "login" | "refresh" | "oidc", _) => Class::Play,
            ("identity", "me", &Method::GET) => Class::Home,
            ("matches" | "time" | "scorer" | "advice" | "home", _, &Method::GET | &Method::HEAD) => {
                Class::Home
            }
            _ => Class::Settings,
        }
    }

    /// How long it takes says how busy we are: it is worked on here, and waits for nobody.
    fn tells(path: &str) -> bool {
        path.starts_with("/v1/matches") || path == "/v1/time"
    }
}

/// An answer that waited for something else than us: how long it took says nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waited;

/// It has waited for too long to be read: it would be answered too late.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Late;

/// The door's keeper.
pub struct Shed {
    /// In which requests are read.
    pub(crate) turns: Arc<Turns>,
    limit: Mutex<Limit>,
    pressure: Mutex<Pressure>,
    /// Requests since the last look.
    came: AtomicU32,
    all: Mutex<Bucket>,
    addresses: Mutex<Buckets<IpAddr>>,
    viewers: Mutex<Buckets<u64>>,
    hasher: RandomState,
}

impl Shed {
    /// `address_per_s`: requests of one address in a second.
    pub fn new(address_per_s: u32, now_ms: i64) -> Shed {
        let per_s = f64::from(address_per_s);
        let address = Rate { per_s, burst: per_s * ADDRESS_BURST_S };
        let viewer = Rate { per_s: VIEWER_PER_S, burst: VIEWER_BURST };
        Shed {
            turns: Arc::default(),
            limit: Mutex::default(),
            pressure: Mutex::default(),
            came: AtomicU32::new(0),
            all: Mutex::new(Bucket::full(ALL, now_ms)),
            addresses: Mutex::new(Buckets::new(address, CLIENTS_MAX)),
            viewers: Mutex::new(Buckets::new(viewer, CLIENTS_MAX)),
            hasher: RandomState::new(),
        }
    }

    /// How late the process is, from 0 to 1.
    pub fn pressure(&self) -> Pressure {
        *lock(&self.pressure)
    }

    /// As if the process had been late for long.
    #[cfg(test)]
    pub(crate) fn crush(&self) {
        (0..1_000).for_each(|_| lock(&self.pressure).observe(1_000.0, 0.0, 1e6));
    }

    /// As if nobody had asked anything.
    #[cfg(test)]
    pub(crate) fn forgive(&self) {
        let rate = Rate { per_s: VIEWER_PER_S, burst: VIEWER_BURST };
        *lock(&self.viewers) = Buckets::new(rate, CLIENTS_MAX);
    }

    /// Another request of this viewer, if they have not sent too many.
    pub fn viewer(&self, viewer: &str, now_ms: i64) -> bool {
        lock(&self.viewers).take(self.hasher.hash_one(viewer), now_ms)
    }

    /// A place for a request, or which answer it gets instead.
    fn admit(&self, class: Class, client: Client, now_ms: i64) -> Result<(), Problem> {
        self.came.fetch_add(1, Ordering::Relaxed);
        if client.0.is_some_and(|address| !lock(&self.addresses).take(network(address), now_ms)) {
            return Err(Problem::too_many(retry_s()));
        }
        let admitted = self.pressure().admits(class, fastrand::f64())
            && lock(&self.all).take(ALL, now_ms)
            && lock(&self.limit).begin(class.share());
        if admitted { Ok(()) } else { Err(Problem::busy(retry_s())) }
    }
}

const ALL: Rate = Rate { per_s: ALL_PER_S, burst: ALL_BURST };

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whoever has an address of IPv6 has 2^64 of them.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => std::net::Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64).into(),
    }
}

/// When to come again, in seconds: no two at one instant.
pub(crate) fn retry_s() -> u32 {
    fastrand::u32(RETRY_S_MIN..=RETRY_S_MAX)
}

/// The place of a request that is under way.
struct Place<'a> {
    shed: &'a Shed,
    took_ms: Option<f64>,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        lock(&self.shed.limit).end(self.took_ms);
    }
}

/// Lets a request in, or answers it at once.
pub(crate) async fn layer(State(door): State<Arc<Door>>, mut request: Request, next: Next) -> Response {
    let client = Client::of(request.extensions(), request.headers(), &door.config.trusted_proxies);
    request.extensions_mut().insert(client);
    let path = request.uri().path();
    let (class, tells) = (Class::of(request.method(), path), Class::tells(path));
    let late = request.extensions().get::<Late>().is_some();
    let admitted =
        if late { Err(Problem::busy(retry_s())) } else { door.shed.admit(class, client, crate::now_ms()) };
    if let Err(problem) = admitted {
        metrics::counter!("arrival_shed_total", "class" => class.name()).increment(1);
        return problem.into_response();
    }
    let mut place = Place { shed: &door.shed, took_ms: None };
    if class == Class::Settings && door.panic.gauge().lever.negative {
        return Problem::later(retry_s()).into_response();
    }
    let began = Instant::now();
    let response = next.run(request).await;
    if tells && response.extensions().get::<Waited>().is_none() {
        place.took_ms = Some(began.elapsed().as_secs_f64() * 1_000.0);
    }
    response
}

/// Watches how late the runtime is, until `shutdown`.
pub(crate) async fn watch(door: Arc<Door>, shutdown: CancellationToken) {
    while !shutdown.is_cancelled() {
        let asked = Instant::now();
        tokio::time::sleep(LAG_EVERY).await;
        let took = asked.elapsed();
        let late_ms = took.saturating_sub(LAG_EVERY).as_secs_f64() * 1_000.0;
        let per_s = f64::from(door.shed.came.swap(0, Ordering::Relaxed)) / took.as_secs_f64();
        let waited_ms = door.shed.turns.waited().as_secs_f64() * 1_000.0;
        let mut pressure = lock(&door.shed.pressure);
        pressure.observe(late_ms, waited_ms, per_s);
        metrics::gauge!("arrival_pressure").set(pressure.value());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_what_a_viewer_would_say() {
        let class = |method: &str, path| Class::of(&method.parse().unwrap(), path);
        assert_eq!(class("POST", "/v1/matches/demo/play"), Class::Play);
        assert_eq!(class("DELETE", "/v1/streams/1"), Class::Play);
        assert_eq!(class("POST", "/v1/identity/login"), Class::Play);
        assert_eq!(class("GET", "/v1/matches"), Class::Home);
        assert_eq!(class("GET", "/watch/demo"), Class::Home);
        assert_eq!(class("POST", "/v1/identity/logout"), Class::Settings);
        assert_eq!(class("PUT", "/v1/identity/profiles/1"), Class::Settings);
    }

    #[test]
    fn one_address_or_one_viewer_does_not_use_up_the_door() {
        let shed = Shed::new(10, 0);
        let one = Client(Some([192, 0, 2, 1].into()));
        let mut admitted = 0;
        while shed.admit(Class::Home, one, 0).is_ok() {
            admitted += 1;
        }
        assert_eq!(admitted, 50);
        assert!(shed.admit(Class::Home, Client(Some([192, 0, 2, 2].into())), 0).is_ok());
        let v6 = |last| Client(Some(std::net::Ipv6Addr::new(0x2001, 0xdb8, 0, 1, 0, 0, 0, last).into()));
        let admitted = (0..100).filter(|n| shed.admit(Class::Home, v6(*n), 0).is_ok()).count();
        assert_eq!(admitted, 50, "all of a household's addresses are one");
        assert_eq!((0..100).filter(|_| shed.viewer("a", 0)).count(), VIEWER_BURST as usize);
        assert!(shed.viewer("b", 0));
    }

    #[test]
    fn who_is_refused_comes_again_at_another_instant_than_the_others() {
        let all: std::collections::BTreeSet<_> = (0..1_000).map(|_| retry_s()).collect();
        assert_eq!(
            (all.first(), all.last(), all.len()),
            (Some(&RETRY_S_MIN), Some(&RETRY_S_MAX), RETRY_S_MAX as usize)
        );
    }
}
