//! What the room counts, in the field's terms.

use metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};
use tokio::time::Instant;

use crate::shed::Class;

/// Handles of the metrics, looked up once: the recorder must be installed before [`crate::serve`].
#[derive(Clone)]
pub(crate) struct Meters {
    outcomes: [Counter; 7],
    /// Body bytes that came from upstream.
    pub(crate) fetched_bytes: Counter,
    /// Body bytes that went to clients.
    pub(crate) sent_bytes: Counter,
    /// Requests refused for want of room, by [`Class`].
    shed: [Counter; 4],
    /// Bytes spoken for in memory.
    pub(crate) memory: Gauge,
    /// Connections that wait where they take next to no memory.
    pub(crate) idle: Gauge,
    waiting: Gauge,
    wait_seconds: Histogram,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Answered from memory.
    Hit,
    /// Began a fetch.
    Miss,
    /// Joined a fetch under way.
    Collapsed,
    /// Answered with what had had its time: while it was fetched anew, or because it could not be.
    Stale,
    /// Fetched for this client alone.
    Alone,
    /// Refused for want of room.
    Shed,
    /// Answered with any other 4xx or 5xx.
    Error,
}

impl Outcome {
    const NAMES: [&str; 7] = ["hit", "miss", "collapsed", "stale", "alone", "shed", "error"];

    /// In the words of metrics and logs.
    pub fn name(self) -> &'static str {
        Outcome::NAMES[self as usize]
    }

    /// As RFC 9211 says it.
    pub(crate) fn cache_status(self) -> Option<&'static str> {
        Some(match self {
            Outcome::Hit => "pavilion; hit",
            Outcome::Miss => "pavilion; fwd=uri-miss",
            Outcome::Collapsed => "pavilion; fwd=uri-miss; collapsed",
            Outcome::Stale => "pavilion; hit; detail=stale",
            Outcome::Alone => "pavilion; fwd=bypass",
            Outcome::Shed | Outcome::Error => return None,
        })
    }
}

impl Meters {
    /// Looks all of them up.
    pub(crate) fn new() -> Meters {
        let outcome = |name| counter!("edge_requests_total", "outcome" => name);
        Meters {
            outcomes: Outcome::NAMES.map(outcome),
            fetched_bytes: counter!("edge_upstream_bytes_total"),
            sent_bytes: counter!("edge_sent_bytes_total"),
            shed: Class::ALL.map(|class| counter!("edge_shed_total", "class" => class.name())),
            memory: gauge!("edge_memory_bytes"),
            waiting: gauge!("edge_held_requests"),
            idle: gauge!("edge_idle_connections"),
            wait_seconds: histogram!("edge_held_seconds"),
        }
    }

    /// Counts a request.
    pub(crate) fn count(&self, outcome: Outcome) {
        self.outcomes[outcome as usize].increment(1);
    }

    /// Counts a request that is refused because others are dearer.
    pub(crate) fn shed(&self, class: Class) {
        self.shed[class as usize].increment(1);
    }

    /// A request begins to wait for an upstream's headers; it ends to when this is dropped.
    pub(crate) fn hold(&self) -> Hold<'_> {
        self.waiting.increment(1);
        Hold { meters: self, since: Instant::now() }
    }
}

/// A wait under way.
pub(crate) struct Hold<'a> {
    meters: &'a Meters,
    since: Instant,
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        self.meters.waiting.decrement(1);
        self.meters.wait_seconds.record(self.since.elapsed());
    }
}
