//! Asking upstreams: which of them, how long, and when another.
//!
//! HTTP/1.1 with a pool to plain ones: every origin speaks it, a connection held for a part that does not exist yet
//! delays no other, and collapsing leaves few requests to make. With 40 requests held at once and then released
//! together, HTTP/2 to a small origin took as long at the median and four times as long at the 99th percentile.
//! Over TLS a connection costs more, and an upstream that prefers HTTP/2 there (ALPN) gets it, on as many connections
//! as it takes for no request to wait for another's place.
//!
//! The way of an ask: [`spread`] (who comes first) → [`race`] (who else is asked, and who wins) → [`peer`] (one
//! upstream: its bound, and what is thought of it) → [`link`] (requests) → [`lane`] (connections) → [`dial`]. What is
//! thought of an upstream comes from real answers ([`breaker`]) and, if so configured, from asking it ([`health`]).
//!
//! Invariants:
//!
//! * An upstream that is thought to be unwell is asked last, never not at all: a wrong verdict costs time, and is no
//!   outage.
//! * Nothing is asked twice that has a body or may not be repeated (RFC 9110, 9.2.1).

mod breaker;
mod budget;
mod dial;
mod health;
mod lane;
mod link;
mod peer;
mod race;
mod spread;
mod watched;
mod worth;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use http::uri::PathAndQuery;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::Error;
use crate::config::{Config, Spread};
use crate::failure::Failure;
use crate::fetch::{Answer, Ask, Fetch};
use crate::limits::ATTEMPTS_MAX;
use dial::Dial;
use link::Link;
use peer::Peer;
use race::{Hedges, Race};

/// The upstreams of one edge.
#[derive(Clone)]
pub(crate) struct Upstreams(Arc<Inner>);

struct Inner {
    /// In order of preference.
    peers: Vec<Arc<Peer>>,
    /// One for each of them, if they share the objects out.
    seeds: Option<Vec<u64>>,
    hedges: Hedges,
    stop: CancellationToken,
}

impl Upstreams {
    /// Connects to none of them yet. Must be called within a runtime if their health is to be asked for; that ends
    /// when the last clone is dropped.
    ///
    /// # Errors
    ///
    /// Authorities for TLS that cannot be used.
    pub(crate) fn new(config: &Config) -> Result<Upstreams, Error> {
        let dial = Dial::new(config.upstream_ca.as_deref())?;
        let links = config.upstream.iter().map(|upstream| {
            let link: Box<dyn Fetch> = Box::new(Link::new(&dial, upstream));
            (upstream.to_string(), link)
        });
        Ok(Upstreams::over(links, config.spread, config.upstream_health.as_deref()))
    }

    /// The same over any links, each with its name.
    fn over(
        links: impl IntoIterator<Item = (String, Box<dyn Fetch>)>,
        spread: Spread,
        health: Option<&str>,
    ) -> Upstreams {
        let (names, links): (Vec<String>, Vec<_>) = links.into_iter().unzip();
        let seeds = match spread {
            Spread::Ordered => None,
            Spread::Hashed => Some(names.iter().map(|name| spread::seed(name)).collect()),
        };
        let peers: Vec<Arc<Peer>> =
            names.into_iter().zip(links).map(|(name, link)| Peer::new(name, link)).collect();
        let stop = CancellationToken::new();
        if let Some(path) = health {
            for peer in &peers {
                let watching = health::watch(peer.clone(), path.to_owned());
                tokio::spawn(stop.clone().run_until_cancelled_owned(watching));
            }
        }
        Upstreams(Arc::new(Inner { peers, seeds, hedges: Hedges::new(), stop }))
    }
}

impl Fetch for Upstreams {
    fn fetch(&self, ask: Ask) -> BoxFuture<'static, Result<Answer, Failure>> {
        let inner = self.0.clone();
        Box::pin(async move {
            // No upstream is to blame for it.
            PathAndQuery::try_from(&*ask.target).map_err(|_| link::UNASKABLE)?;
            let order = inner.order(&ask);
            Race::new(ask, order, &inner.hedges).run().await
        })
    }
}

impl Inner {
    /// Who is asked for that, first one first: those that are well, then the others, the least bad first. Sees to it
    /// that one of the others is tried again when its time has come.
    fn order(&self, ask: &Ask) -> VecDeque<Arc<Peer>> {
        let ranked = match &self.seeds {
            Some(seeds) => spread::rank(ask.target.split('?').next().unwrap_or_default(), seeds),
            None => (0..self.peers.len()).collect(),
        };
        let (well, mut unwell): (Vec<_>, Vec<_>) =
            ranked.into_iter().map(|n| self.peers[n].clone()).partition(|peer| peer.is_well());
        unwell.sort_by_cached_key(|peer| peer.due());
        let repeatable = ask.body.is_none() && ask.method.is_safe();
        if repeatable && !well.is_empty() {
            self.try_again(&unwell, ask);
        }
        well.into_iter().chain(unwell).take(if repeatable { ATTEMPTS_MAX } else { 1 }).collect()
    }

    /// Tries one of those that are due. It is asked for the same beside those that are well, so that nobody waits
    /// for what is probably still dead. Where nobody is well, what is asked anyway is trial enough.
    fn try_again(&self, unwell: &[Arc<Peer>], ask: &Ask) {
        let now = Instant::now();
        if let Some(peer) = unwell.iter().find(|peer| peer.begin_trial(now)) {
            let trial = peer.clone().try_again(race::again(ask));
            tokio::spawn(self.stop.clone().run_until_cancelled_owned(trial));
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
