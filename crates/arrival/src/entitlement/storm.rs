//! The storm of the postmortem, both ways, in simulated time: the same viewers, the same database; with a check for each
//! play, and with ours.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use loadgen::door::storm::storm;
use loadgen::door::{Answer, Policy, Report, Server, Storm};

use super::limits::CHECK_MAX_MS;
use super::{Batch, Cache, Checked, Checks, Held, decide, weigh};
use crate::catalog::{Catalog, Copy, Kind, Show};
use crate::panic::Gauge;
use crate::panic::limits::{SETTLE_EVERY, SETTLE_MAX};

const CLIENTS: usize = 50_000;
/// Of so many viewers one has not paid.
const UNPAID_EVERY: usize = 50;
/// Connections to the database, and how long a query holds one, in milliseconds: 444 a second.
const POOL: usize = 20;
const QUERY_MS: i64 = 45;

/// The database: so many connections.
#[derive(Default)]
struct Database {
    busy_until: Vec<i64>,
    queries: usize,
    /// It answers nothing from one instant to the other.
    dead: Option<(i64, i64)>,
}

impl Database {
    /// When a query that is asked now is answered.
    fn query(&mut self, accounts: usize, now_ms: i64) -> i64 {
        self.queries += 1;
        self.busy_until.resize(POOL, 0);
        let first = self.busy_until.iter_mut().min().unwrap();
        *first = (*first).max(now_ms) + QUERY_MS + accounts as i64 / 50;
        *first
    }

    fn is_dead(&self, now_ms: i64) -> bool {
        self.dead.is_some_and(|(from, until)| (from..until).contains(&now_ms))
    }
}

fn has_paid(client: usize) -> bool {
    client % UNPAID_EVERY != 1
}

fn bought(account: &str) -> Vec<Held> {
    let client: usize = account.parse().unwrap();
    let held = Held { id: account.into(), product: "gold".into(), from_ms: 0, until_ms: i64::MAX };
    has_paid(client).then_some(held).into_iter().collect()
}

/// A check for each play, in the order in which they came, also of those who have given up.
#[derive(Default)]
struct Central {
    database: Database,
    answers: BinaryHeap<Reverse<(i64, usize, u32)>>,
}

impl Server for Central {
    fn ask(&mut self, client: usize, question: u32, now_ms: i64) {
        self.answers.push(Reverse((self.database.query(1, now_ms), client, question)));
    }
    fn next_ms(&self) -> Option<i64> {
        self.answers.peek().map(|Reverse((at, ..))| *at)
    }
    fn run(&mut self, now_ms: i64) -> Vec<(usize, u32, Answer)> {
        let mut answers = Vec::new();
        while let Some(Reverse((_, client, question))) =
            self.answers.peek().copied().filter(|Reverse((at, ..))| *at <= now_ms)
        {
            self.answers.pop();
            answers.push((client, question, if has_paid(client) { Answer::Play } else { Answer::Refused }));
        }
        answers
    }
}

/// The door, as its shell puts it together.
struct Ours {
    database: Database,
    show: Show,
    cache: Cache,
    checks: Checks<(usize, u32, i64)>,
    gauge: Gauge,
    asked: Vec<(i64, Batch)>,
    waiting: VecDeque<(i64, usize, u32)>,
    answers: Vec<(usize, u32, Answer)>,
    pending: BTreeMap<usize, i64>,
    provisional: usize,
    settled: BTreeMap<usize, bool>,
    settle_ms: i64,
    plays: usize,
}

impl Ours {
    fn new(known: impl Fn(usize) -> bool) -> Ours {
        let mut catalog = Catalog::default();
        for (kind, id, document) in [
            (
                Kind::Match,
                "final",
                r#"{"id": "final", "title": "Final", "status": "live", "start_ms": 1796000000000}"#,
            ),
            (Kind::Plan, "gold", r#"{"id": "gold", "name": "Gold", "tier": 1}"#),
            (Kind::Product, "gold", r#"{"id": "gold", "name": "Gold", "plan": "gold"}"#),
        ] {
            catalog.insert(kind, id, document).unwrap();
        }
        let cache = Cache::default();
        for client in (0..CLIENTS).filter(|client| known(*client)) {
            cache.put(&client.to_string(), bought(&client.to_string()), 0);
        }
        Ours {
            database: Database::default(),
            show: Copy::of(catalog).show("final").unwrap().as_ref().clone(),
            cache,
            checks: Checks::default(),
            gauge: Gauge::default(),
            asked: Vec::new(),
            waiting: VecDeque::new(),
            answers: Vec::new(),
            pending: BTreeMap::new(),
            provisional: 0,
            settled: BTreeMap::new(),
            settle_ms: 0,
            plays: 0,
        }
    }

    fn answer(&mut self, client: usize, question: u32, answer: Answer) {
        self.plays += usize::from(answer == Answer::Play);
        self.answers.push((client, question, answer));
    }

    /// There is no answer of the store: what is older must do, or a provisional pass.
    fn unchecked(&mut self, client: usize, question: u32, now_ms: i64) {
        let known = self.cache.get(&client.to_string(), now_ms);
        let answer = match weigh(&self.show, known.as_ref(), true, now_ms) {
            Checked::Granted(_) => Answer::Play,
            Checked::Refused(_) => Answer::Refused,
            Checked::Ask => {
                self.provisional += 1;
                self.pending.insert(client, now_ms);
                Answer::Play
            }
        };
        self.answer(client, question, answer);
    }

    fn settle(&mut self, now_ms: i64) {
        if now_ms < self.settle_ms || (self.pending.is_empty() && self.gauge.bad_since_ms().is_none()) {
            return;
        }
        self.settle_ms = now_ms + SETTLE_EVERY.as_millis() as i64;
        self.database.queries += 1;
        let alive = !self.database.is_dead(now_ms);
        self.gauge.observe(alive, QUERY_MS, now_ms);
        if !alive {
            return;
        }
        let due: Vec<usize> = self.pending.keys().take(SETTLE_MAX).copied().collect();
        for client in due {
            self.pending.remove(&client);
            let held = bought(&client.to_string());
            assert!(
                self.settled.insert(client, decide(&self.show, Some(&held), now_ms).is_ok()).is_none(),
                "once"
            );
            self.cache.put(&client.to_string(), held, now_ms);
        }
    }
}

impl Server for Ours {
    fn ask(&mut self, client: usize, question: u32, now_ms: i64) {
        let account = client.to_string();
        let known = self.cache.get(&account, now_ms);
        match weigh(&self.show, known.as_ref(), self.gauge.is_panic(), now_ms) {
            Checked::Granted(_) => self.answer(client, question, Answer::Play),
            Checked::Refused(_) => self.answer(client, question, Answer::Refused),
            Checked::Ask if self.gauge.is_panic() => self.unchecked(client, question, now_ms),
            Checked::Ask => {
                if self.checks.ask(&account, (client, question, now_ms)).is_err() {
                    self.gauge.observe(false, 0, now_ms);
                    self.unchecked(client, question, now_ms);
                } else {
                    self.waiting.push_back((now_ms + CHECK_MAX_MS, client, question));
                }
            }
        }
    }

    fn next_ms(&self) -> Option<i64> {
        let answers = (!self.answers.is_empty()).then_some(i64::MIN);
        let batch = self.asked.iter().map(|(at, _)| *at).min();
        let settle =
            (!self.pending.is_empty() || self.gauge.bad_since_ms().is_some()).then_some(self.settle_ms);
        let late = self.waiting.front().map(|(at, ..)| *at);
        [answers, batch, settle, late, self.checks.next_ms()].into_iter().flatten().min().map(|at| at.max(0))
    }

    fn run(&mut self, now_ms: i64) -> Vec<(usize, u32, Answer)> {
        self.settle(now_ms);
        while let Some(batch) = self.checks.due(now_ms) {
            // Whoever asks a dead database waits for nothing.
            let answered_ms = self.database.query(batch.accounts.len(), now_ms);
            self.asked.push((answered_ms, batch));
        }
        let (done, asked) = std::mem::take(&mut self.asked).into_iter().partition(|(at, _)| *at <= now_ms);
        self.asked = asked;
        let done: Vec<(i64, Batch)> = done;
        for (_, batch) in done {
            let alive = !self.database.is_dead(now_ms) && !self.database.is_dead(batch.asked_ms);
            self.gauge.observe(alive, now_ms - batch.asked_ms, now_ms);
            for (account, tickets) in self.checks.done(&batch) {
                if alive {
                    self.cache.put(&account, bought(&account), batch.asked_ms);
                }
                for (client, question, came_ms) in tickets {
                    let known = self.cache.get(&account, now_ms);
                    let late = now_ms - came_ms > CHECK_MAX_MS;
                    match (alive, weigh(&self.show, known.as_ref(), false, now_ms)) {
                        _ if late => {}
                        (true, Checked::Granted(_)) => self.answer(client, question, Answer::Play),
                        (true, Checked::Refused(_)) => self.answer(client, question, Answer::Refused),
                        _ => self.unchecked(client, question, now_ms),
                    }
                    self.waiting.retain(|(_, c, q)| (*c, *q) != (client, question));
                }
            }
        }
        while let Some((_, client, question)) = self.waiting.front().copied().filter(|(at, ..)| *at <= now_ms)
        {
            self.waiting.pop_front();
            self.gauge.observe(false, CHECK_MAX_MS, now_ms);
            self.unchecked(client, question, now_ms);
        }
        std::mem::take(&mut self.answers)
    }
}

fn run(server: &mut dyn Server, policy: Policy) -> Report {
    storm(Storm { clients: CLIENTS, within_ms: 60_000, policy, until_ms: 120_000 }, server, 7)
}

fn paid() -> usize {
    (0..CLIENTS).filter(|client| has_paid(*client)).count()
}

#[test]
fn with_a_check_for_each_play_and_naive_clients_it_collapses() {
    let mut server = Central::default();
    let report = run(&mut server, Policy::NAIVE);
    // Everybody's entitlement was valid, and hardly anybody plays.
    assert!(report.soon < CLIENTS / 5, "{report:?}");
    assert!(report.amplification > 3.0, "{report:?}");
}

#[test]
fn ours_lets_everybody_in_and_the_database_hardly_notices() {
    let mut server = Ours::new(|client| client % 2 == 0);
    let report = run(&mut server, Policy::OURS);
    assert_eq!((report.soon, report.gone), (paid(), CLIENTS - paid()), "{report:?}");
    assert!(report.slowest_ms <= 1_000, "{report:?}");
    assert!(report.amplification <= 1.1, "{report:?}");
    let ratio = server.database.queries as f64 / server.plays as f64;
    assert!(ratio <= 0.02, "{ratio} database checks for each play");
    assert_eq!(server.provisional, 0, "the database was well");
}

#[test]
fn ours_lets_everybody_in_also_with_the_naive_clients() {
    let mut server = Ours::new(|client| client % 2 == 0);
    let report = run(&mut server, Policy::NAIVE);
    assert_eq!(report.soon, paid(), "{report:?}");
    assert!(report.amplification <= 1.1, "{report:?}");
}

#[test]
fn the_database_is_killed_in_the_middle_and_everybody_is_settled() {
    let mut server = Ours::new(|client| client % 2 == 0);
    server.database.dead = Some((20_000, 45_000));
    let report = run(&mut server, Policy::OURS);
    assert!(report.soon >= paid() && report.soon + report.gone == CLIENTS, "{report:?}");
    assert!(report.slowest_ms <= 1_000, "{report:?}");
    assert!(server.provisional > 5_000, "{}", server.provisional);
    assert_eq!((server.pending.len(), server.settled.len()), (0, server.provisional), "none is lost");
    assert!(server.settled.iter().all(|(client, entitled)| *entitled == has_paid(*client)));
    let ratio = server.database.queries as f64 / server.plays as f64;
    assert!(ratio <= 0.02, "{ratio} database checks for each play");
    // Whoever had no right, and was let in, is refused when they come again.
    let known: Vec<_> = server.settled.iter().filter(|(_, entitled)| !**entitled).collect();
    assert!(!known.is_empty());
    for (client, _) in known {
        let known = server.cache.get(&client.to_string(), 60_000);
        let at_ms = known.as_ref().map_or(0, |known| known.at_ms);
        assert!(matches!(weigh(&server.show, known.as_ref(), false, at_ms), Checked::Refused(_)));
    }
}
