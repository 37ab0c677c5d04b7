//! One answer out of several upstreams.
//!
//! The first in the order is asked. Another is asked when the one before failed, and beside it when it stopped
//! being well while we waited, or when media is late and the budget allows. The first that has what was asked for
//! wins, and the rest are dropped. Whoever was overtaken by one that was asked later has failed: that is how an
//! upstream is found out that takes requests and says nothing.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::future::{BoxFuture, FutureExt, pending};
use futures_util::stream::FuturesUnordered;
use metrics::{Counter, counter};
use tokio::time::{Instant, sleep};

use super::budget::Budget;
use super::peer::Peer;
use super::worth::Worth;
use crate::failure::Failure;
use crate::fetch::{Answer, Ask};
use crate::limits::{HEDGE_AFTER, HOLD_MAX, SHED_ELSEWHERE_MAX, SILENT_MIN};

/// What decides that a second upstream is asked beside a late one.
pub(super) struct Hedges {
    budget: Budget,
    sent: Counter,
}

/// One ask, and those who are asked.
pub(super) struct Race<'a> {
    ask: Ask,
    hedges: &'a Hedges,
    began: Instant,
    /// Who may still be asked, in order.
    left: VecDeque<Arc<Peer>>,
    asked: Vec<Asked>,
    running: FuturesUnordered<BoxFuture<'static, (usize, Result<Answer, Failure>)>>,
    /// The best that came so far and is not what was asked for.
    spare: Option<Answer>,
    /// Whether silence is the upstream's own: with a body it may be waiting for its sender.
    telling: bool,
}

struct Asked {
    peer: Arc<Peer>,
    at: Instant,
    /// Whether it may still answer.
    open: bool,
}

impl<'a> Race<'a> {
    /// Among these, in order. If there is more than one, `ask` has no body and may be repeated.
    pub(super) fn new(ask: Ask, order: VecDeque<Arc<Peer>>, hedges: &'a Hedges) -> Race<'a> {
        if ask.hedge {
            hedges.earn();
        }
        Race {
            telling: ask.body.is_none(),
            ask,
            hedges,
            began: Instant::now(),
            left: order,
            asked: Vec::new(),
            running: FuturesUnordered::new(),
            spare: None,
        }
    }

    /// Runs it, for at most [`HOLD_MAX`].
    pub(super) async fn run(mut self) -> Result<Answer, Failure> {
        let mut why = Failure::Unreachable;
        let Some(mut doubt) = self.ask_next() else { return Err(why) };
        let deadline = sleep(HOLD_MAX);
        tokio::pin!(deadline);
        loop {
            tokio::select! {
                biased;
                Some((n, result)) = self.running.next() => {
                    self.asked[n].open = false;
                    match result {
                        Ok(answer) => if let Some(answer) = self.weigh(n, answer) {
                            return Ok(answer);
                        },
                        Err(failure) => why = failure,
                    }
                    // Not if one that was asked later is still at it.
                    if n + 1 == self.asked.len() || self.running.is_empty() {
                        match self.ask_next() {
                            Some(next) => doubt = next,
                            None if self.running.is_empty() => break,
                            None => {}
                        }
                    }
                }
                () = &mut doubt => doubt = self.ask_next().unwrap_or_else(|| pending().boxed()),
                () = &mut deadline => {
                    self.blame(|asked| asked.at.elapsed() >= SILENT_MIN);
                    why = Failure::Late;
                    break;
                }
            }
        }
        self.spare.ok_or(why)
    }

    /// Asks the next. What comes back ends when it is time to ask yet another beside it.
    fn ask_next(&mut self) -> Option<BoxFuture<'a, ()>> {
        let peer = self.left.pop_front()?;
        let n = self.asked.len();
        let ask = Ask { body: self.ask.body.take(), ..again(&self.ask) };
        let asking = peer.clone().ask(ask);
        self.running.push(asking.map(move |result| (n, result)).boxed());
        self.asked.push(Asked { peer: peer.clone(), at: Instant::now(), open: true });
        Some(match self.left.is_empty() {
            true => pending().boxed(),
            false => self.hedges.doubt(peer, self.ask.hedge).boxed(),
        })
    }

    /// Gives an answer back if it settles the matter.
    fn weigh(&mut self, n: usize, answer: Answer) -> Option<Answer> {
        let worth = Worth::of(&answer);
        let settles = match worth {
            Worth::Found => true,
            // Those that were asked first know best what there is not: a second may never have heard of it.
            Worth::Refusal => !self.asked[..n].iter().any(|a| a.open),
            Worth::Shedding => self.running.is_empty() && self.began.elapsed() >= SHED_ELSEWHERE_MAX,
            Worth::Failing => false,
        };
        if settles {
            self.asked.truncate(n);
            self.blame(|_| true);
            return Some(answer);
        }
        if self.spare.as_ref().is_none_or(|spare| Worth::of(spare) < worth) {
            self.spare = Some(answer);
        }
        None
    }

    /// Holds their silence against those who have not answered.
    fn blame(&self, whom: impl Fn(&Asked) -> bool) {
        if self.telling {
            let silent = self.asked.iter().filter(|asked| asked.open && whom(asked));
            silent.for_each(|asked| asked.peer.bad(asked.at));
        }
    }
}

/// The same once more, without its body.
pub(super) fn again(ask: &Ask) -> Ask {
    let Ask { method, target, headers, hedge, .. } = ask;
    Ask {
        method: method.clone(),
        target: target.clone(),
        headers: headers.clone(),
        body: None,
        hedge: *hedge,
    }
}

impl Hedges {
    /// A full budget.
    pub(super) fn new() -> Hedges {
        Hedges { budget: Budget::new(), sent: counter!("edge_upstream_hedges_total") }
    }

    /// Something is asked for that may be asked for twice.
    pub(super) fn earn(&self) {
        self.budget.earn();
    }

    /// Comes back when there is reason to ask another beside this one: it is not well any more, or (`late_counts`)
    /// it is late and the budget allows a second.
    async fn doubt(&self, peer: Arc<Peer>, late_counts: bool) {
        let fell = peer.fell();
        tokio::pin!(fell);
        if late_counts {
            tokio::select! {
                () = &mut fell => return,
                () = sleep(HEDGE_AFTER) => {}
            }
            if self.budget.take() {
                self.sent.increment(1);
                return;
            }
        }
        fell.await;
    }
}
