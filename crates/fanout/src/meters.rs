//! What the room counts, in the field's terms.

use metrics::{Counter, Gauge, Histogram, counter, gauge, histogram};

use crate::frame::Code;

/// Handles of the metrics, looked up once: the recorder must be installed before [`crate::Server::open`].
#[derive(Clone)]
pub(crate) struct Meters {
    /// Sockets that are open, by [`Via`].
    sockets: [Gauge; 3],
    /// Subscriptions of all sockets.
    pub(crate) subscriptions: Gauge,
    /// Events that sources sent, each once.
    pub(crate) messages: Counter,
    /// Events that were dropped because they had been published already.
    pub(crate) duplicates: Counter,
    /// Revisions that were dropped in favour of another one: must stay 0.
    pub(crate) collapsed: Counter,
    /// Events given to a socket.
    pub(crate) deliveries: Counter,
    /// Seconds from durable to written to the last socket that took it at once, one value an event and worker.
    pub(crate) flush: Histogram,
    /// Subscriptions that had to begin anew.
    pub(crate) snapshots: Counter,
    /// Sockets that were cut because they did not read.
    pub(crate) stalled: Counter,
    /// Connections that were cut because nothing was heard of them.
    pub(crate) silent: Counter,
    refusals: [Counter; 7],
    closes: [(Code, Counter); 9],
}

/// How a socket is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Via {
    WebSocket,
    Sse,
    Poll,
}

/// Why a request or a subscription is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// The token bucket is empty.
    Rate,
    /// As many sockets as may be.
    Full,
    /// The server is being drained.
    Draining,
    /// The token.
    Token,
    /// The request.
    Request,
    /// The match: not for this viewer.
    Entitlement,
    /// Too many matches, on this socket or at all.
    Matches,
}

impl Meters {
    /// Looks all of them up.
    pub(crate) fn new() -> Meters {
        let refusal = |why| counter!("fanout_refusals_total", "reason" => why);
        let code = |code: Code| (code, counter!("fanout_closes_total", "code" => (code as u16).to_string()));
        Meters {
            sockets: ["websocket", "sse", "poll"].map(|via| gauge!("fanout_sockets", "transport" => via)),
            subscriptions: gauge!("fanout_subscriptions"),
            messages: counter!("fanout_messages_total"),
            duplicates: counter!("fanout_duplicates_dropped_total"),
            collapsed: counter!("revision_collapsed_at_edge_total"),
            deliveries: counter!("fanout_deliveries_total"),
            flush: histogram!("fanout_flush_seconds"),
            snapshots: counter!("fanout_snapshot_required_total"),
            stalled: counter!("fanout_stalled_total"),
            silent: counter!("fanout_silent_total"),
            refusals: ["rate", "full", "draining", "token", "request", "entitlement", "matches"].map(refusal),
            closes: [
                Code::GoingAway,
                Code::Protocol,
                Code::Unsupported,
                Code::Utf8,
                Code::Policy,
                Code::Large,
                Code::Slow,
                Code::Expired,
                Code::Client,
            ]
            .map(code),
        }
    }

    /// Sockets open by that way.
    pub(crate) fn sockets(&self, via: Via) -> &Gauge {
        &self.sockets[via as usize]
    }

    /// Counts a refusal.
    pub(crate) fn refused(&self, why: Why) {
        self.refusals[why as usize].increment(1);
    }

    /// Counts a socket that we close.
    pub(crate) fn closed(&self, code: Code) {
        if let Some((_, counter)) = self.closes.iter().find(|(other, _)| *other == code) {
            counter.increment(1);
        }
    }
}
