//! Who may go on: the edge's check of passes. It decides alone, from the pass, the keys and what it was told of
//! sessions; nothing central is asked, and nothing of it is part of a key or goes upstream.
//!
//! A pass is opened once per thread (its signature is the dear part) and remembered with what it says ([`memo`]); what
//! it is for is asked of every request. New keys and revocations drop all that is remembered.

mod carrier;
mod front;
mod keys;
mod memo;
mod seam;
mod sessions;
mod told;

use std::net::IpAddr;
use std::rc::Rc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

use http::HeaderValue;
use metrics::{Counter, counter};
use pass::{Ask, Gate, Place, Refusal};
use serde::{Deserialize, Serialize};

use crate::config::{Config, Pass, PassIn};
use crate::{Error, log};

pub(crate) use carrier::{Fields, NAMES, NoFields};
use front::Fronts;
pub use front::{Prefix, Whereabouts};
use memo::Entry;
pub(crate) use seam::hand;
pub(crate) use sessions::NETWORKS_LIMIT_MAX;
use sessions::{SHARED_FROM, Sessions};
use told::{Told, Used};

/// Refusals that are logged in one second; the metrics count them all.
const LOGGED_PER_S_MAX: i64 = 10;

/// Of a path that is refused, so much is logged.
const LOGGED_CHARS_MAX: usize = 200;

/// Whom a request is from, as far as its connection tells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer {
    pub(crate) address: IpAddr,
    /// The connection is TLS that ends here.
    pub(crate) secure: bool,
}

/// What is known of a request when it is asked for its pass.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) method: &'a str,
    /// The whole path, the pass included if it stands there.
    pub(crate) path: &'a str,
    /// The first segment, when it should be the pass.
    pub(crate) pass: Option<&'a str>,
    pub(crate) query: &'a str,
    pub(crate) fields: &'a dyn Fields,
    pub(crate) peer: Option<Peer>,
}

/// That a session has ended: its passes are not taken until then, when the last of them has expired.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Revoke {
    /// The session, as passes name it.
    pub sid: String,
    /// UTC, in seconds.
    pub until: i64,
}

/// What stands before the store.
pub(crate) enum Door {
    /// Nothing: a shield.
    Open,
    /// One word for all.
    Word(Pass),
    /// Passes.
    Guarded(Box<Guard>),
}

/// Why somebody is not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum No {
    Word,
    Pass(Refusal),
}

impl Door {
    pub(crate) fn new(config: &Config) -> Result<Door, Error> {
        Ok(match (&config.pass_keys, &config.pass) {
            (Some(_), _) => Door::Guarded(Box::new(Guard::new(config)?)),
            (None, Some(word)) => Door::Word(word.clone()),
            (None, None) => Door::Open,
        })
    }

    /// Whether the first segment of a path is the pass.
    pub(crate) fn with_pass(config: &Config) -> bool {
        if config.pass_keys.is_some() { config.pass_in == PassIn::Path } else { config.pass.is_some() }
    }

    pub(crate) fn guard(&self) -> Option<&Guard> {
        match self {
            Door::Guarded(guard) => Some(guard),
            _ => None,
        }
    }

    /// Whether a request may go on at once. One for which there is more to do than to answer it, or that will be
    /// refused, may not: [`Door::admit`] is asked next.
    pub(crate) fn admits(&self, asked: &Asked<'_>) -> bool {
        match self {
            Door::Open => true,
            Door::Word(word) => asked.pass.is_some_and(|pass| word.admits(pass)),
            Door::Guarded(guard) => guard
                .check(asked)
                .is_ok_and(|(entry, now_s)| entry.pass.once().is_none() && !entry.pass.is_due(now_s)),
        }
    }

    /// Whether a request may go on, and the pass that takes the place of its own, if it is time for that.
    pub(crate) fn admit(&self, asked: &Asked<'_>) -> Result<Option<HeaderValue>, No> {
        match self {
            Door::Open => Ok(None),
            Door::Word(word) if asked.pass.is_some_and(|pass| word.admits(pass)) => Ok(None),
            Door::Word(_) => Err(No::Word),
            Door::Guarded(guard) => guard.admit(asked).map_err(No::Pass),
        }
    }
}

/// Keys, and what is known of sessions.
pub(crate) struct Guard {
    /// Of all guards of this process; threads remember passes by it.
    number: u64,
    /// Changes when what is remembered no longer holds.
    generation: AtomicU64,
    /// The second from which it is to change, or 0.
    change_at_s: AtomicI64,
    keys: keys::Keys,
    gate: RwLock<Arc<Gate>>,
    place: PassIn,
    fronts: Fronts,
    whereabouts: OnceLock<Arc<dyn Whereabouts>>,
    told: Told,
    used: Used,
    sessions: Sessions,
    networks_max: usize,
    refused: [Counter; Refusal::ALL.len()],
    shared: Counter,
    /// The second in which was last logged, and how much.
    logged: AtomicI64,
}

static GUARDS: AtomicU64 = AtomicU64::new(0);

impl Guard {
    fn new(config: &Config) -> Result<Guard, Error> {
        let keys = keys::Keys::of(config.pass_keys.clone().unwrap_or_default());
        let gate = RwLock::new(Arc::new(keys.read()?));
        Ok(Guard {
            number: GUARDS.fetch_add(1, Ordering::Relaxed),
            generation: AtomicU64::new(0),
            change_at_s: AtomicI64::new(0),
            keys,
            gate,
            place: config.pass_in,
            fronts: Fronts::new(config),
            whereabouts: OnceLock::new(),
            told: Told::default(),
            used: Used::default(),
            sessions: Sessions::new(),
            networks_max: config.pass_networks_max.map_or(usize::MAX, usize::from),
            refused: Refusal::ALL.map(|why| counter!("edge_pass_refused_total", "reason" => why.label())),
            shared: counter!("edge_pass_shared_total"),
            logged: AtomicI64::new(0),
        })
    }

    /// Looks for new keys for ever.
    pub(crate) async fn watch(&self) {
        self.keys
            .watch(|gate| {
                *self.gate.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(gate);
                self.change();
            })
            .await;
    }

    /// Who knows where clients are, from now on; the first who says so.
    pub(crate) fn set_whereabouts(&self, whereabouts: Arc<dyn Whereabouts>) {
        let _ = self.whereabouts.set(whereabouts);
    }

    /// Ends a session.
    pub(crate) fn revoke(&self, revoke: &Revoke) -> Result<(), Error> {
        let now_s = now_s();
        self.told.tell(sessions::name(&revoke.sid), Refusal::Revoked, revoke.until, now_s)?;
        self.change();
        Ok(())
    }

    fn change(&self) {
        self.generation.fetch_add(1, Ordering::Release);
    }

    fn gate(&self) -> Arc<Gate> {
        self.gate.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn admit(&self, asked: &Asked<'_>) -> Result<Option<HeaderValue>, Refusal> {
        let checked = self.check(asked).and_then(|(entry, now_s)| {
            if let Some(id) = entry.pass.once() {
                self.used.take(id, entry.pass.expires_s(), now_s)?;
            }
            Ok((entry, now_s))
        });
        match checked {
            Ok((entry, now_s)) if entry.pass.is_due(now_s) => Ok(self.renew(&entry, now_s)),
            Ok(_) => Ok(None),
            Err(why) => {
                self.refused[why as usize].increment(1);
                self.log(asked, why);
                Err(why)
            }
        }
    }

    /// Whether a request may go on: its pass, and the second in which it was asked.
    fn check(&self, asked: &Asked<'_>) -> Result<(Rc<Entry>, i64), Refusal> {
        let (token, path) = carrier::find(self.place, asked).ok_or(Refusal::Missing)?;
        let now_s = now_s();
        let at_s = self.change_at_s.load(Ordering::Relaxed);
        if at_s != 0 && now_s >= at_s && self.change_at_s.swap(0, Ordering::Relaxed) != 0 {
            self.change();
        }
        let client = asked.peer.map(|peer| self.fronts.client(peer.address, asked.fields));
        let mut ask = Ask {
            method: asked.method,
            path,
            query: asked.query,
            host: None,
            // Before our plain port there may be somebody else's TLS.
            scheme: asked.peer.filter(|peer| peer.secure).map(|_| "https"),
            client,
            place: None,
            now_s,
        };
        let generation = self.generation.load(Ordering::Acquire);
        let entry = match memo::get(self.number, generation, token) {
            Some(entry) => entry,
            None => {
                let entry = Rc::new(Entry::new(token, self.gate().open(token, &ask)?));
                if let Some(session) = entry.session
                    && let Some(why) = self.told.find(session, now_s)
                {
                    return Err(why);
                }
                memo::put(self.number, entry.clone());
                entry
            }
        };
        if entry.pass.is_hosted() {
            ask.host = asked.fields.find("host", &mut Some);
        }
        let place;
        if entry.pass.is_placed() {
            place = client.and_then(|client| self.place(asked, client));
            ask.place = place.as_ref();
        }
        entry.pass.admits(&ask).inspect_err(|why| {
            if *why == Refusal::Expired {
                memo::forget(self.number, &entry);
            }
        })?;
        if let (Some(session), Some(client)) = (entry.session, client) {
            self.note(&entry, session, client, now_s)?;
        }
        Ok((entry, now_s))
    }

    fn place(&self, asked: &Asked<'_>, client: IpAddr) -> Option<Place> {
        let peer = asked.peer?.address;
        let told = self.fronts.place(peer, asked.fields);
        told.or_else(|| self.whereabouts.get().map(|whereabouts| whereabouts.find(client)))
    }

    /// Counts the networks that a session comes from.
    fn note(&self, entry: &Entry, session: u64, client: IpAddr, now_s: i64) -> Result<(), Refusal> {
        let network = sessions::network(client);
        if entry.network.replace(network) == network {
            return Ok(());
        }
        let Some(count) = self.sessions.note(session, network, now_s) else { return Ok(()) };
        if count == SHARED_FROM {
            self.shared.increment(1);
            if self.may_log(now_s) {
                tracing::info!(target: "pass", session = %sessions::shown(session), networks = count, "a session is shared");
            }
        }
        if count <= self.networks_max {
            return Ok(());
        }
        // Other threads have let it in before; they ask again in a second. Without room for it only this request is
        // refused.
        let until_s = now_s + sessions::WINDOW_S;
        if self.told.tell(session, Refusal::Shared, until_s, now_s).is_ok() {
            self.change_at_s.store(now_s + 1, Ordering::Relaxed);
        }
        memo::forget(self.number, entry);
        Err(Refusal::Shared)
    }

    fn renew(&self, entry: &Entry, now_s: i64) -> Option<HeaderValue> {
        let id = fastrand::u128(..).to_be_bytes();
        HeaderValue::try_from(self.gate().renewed(&entry.pass, id, now_s)?).ok()
    }

    fn may_log(&self, now_s: i64) -> bool {
        // The second and a count within it, in one number.
        let first = now_s << 8;
        let next = |before: i64| match before - first {
            count if !(0..256).contains(&count) => Some(first + 1),
            count => (count < LOGGED_PER_S_MAX).then_some(before + 1),
        };
        self.logged.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).is_ok()
    }

    fn log(&self, asked: &Asked<'_>, why: Refusal) {
        if !self.may_log(now_s()) {
            return;
        }
        let path = carrier::find(self.place, asked).map_or("", |(_, path)| path);
        let path: String = path.chars().take(LOGGED_CHARS_MAX).collect();
        let peer = asked.peer.map(|peer| log::network(peer.address).to_string());
        tracing::info!(target: "pass", reason = why.label(), %path, peer, "refused");
    }
}

/// UTC, in seconds.
fn now_s() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64)
}
