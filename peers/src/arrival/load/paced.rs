//! Requests at a pace, whatever becomes of them, or one after the other on each connection.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use mio::{Events, Interest, Poll, Token};
use serde::{Deserialize, Serialize};

use super::line::{Answer, Line};
use super::{EVENTS, Order, SCRATCH};
use crate::arrival::viewers::{Ask, Viewers};
use crate::stats;

/// After the last phase, for answers that are under way.
const AFTER: Duration = Duration::from_secs(5);
/// An answer that took longer is a slow one, whatever it says: in milliseconds.
const SLOW_MS: f64 = 100.0;

/// One phase after the other.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Paces {
    /// That are kept.
    pub(crate) connections: usize,
    pub(crate) phases: Vec<Phase>,
}

/// A while.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Phase {
    pub(crate) seconds: f64,
    pub(crate) paces: Vec<Pace>,
}

/// How often something is asked.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Pace {
    pub(crate) ask: Ask,
    /// None: each connection asks as soon as it was answered.
    pub(crate) per_s: Option<f64>,
}

/// What became of the requests of one pace in one phase, whenever they were answered.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Tally {
    /// Sent.
    pub(crate) asked: u64,
    /// Due while no connection was free, and not sent.
    pub(crate) unsent: u64,
    /// 2xx, with how long they took.
    pub(crate) accepted: Times,
    /// 503 and 429.
    pub(crate) refused: Times,
    /// Of those, without `Retry-After`.
    pub(crate) without_hint: u64,
    /// Other answers, by status.
    pub(crate) others: BTreeMap<u16, u64>,
    /// Connections that broke, and answers that did not come.
    pub(crate) lost: u64,
    /// When the last request was due that was not accepted within [`SLOW_MS`], in milliseconds of its phase; 0: none.
    pub(crate) last_bad_ms: f64,
}

/// Of how many, in milliseconds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Times {
    pub(crate) count: u64,
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) max: f64,
}

/// The reports of phases, and in them of paces.
pub(crate) type Report = Vec<Vec<Tally>>;

/// A tally that is being made.
#[derive(Default)]
struct Sheet {
    tally: Tally,
    accepted: Vec<f64>,
    refused: Vec<f64>,
}

/// A request under way: of which phase and pace, and when it was due.
#[derive(Clone, Copy)]
struct Asked {
    phase: usize,
    pace: usize,
    due: Instant,
}

struct Paced<'a> {
    order: &'a Order,
    viewers: &'a Viewers,
    paces: &'a Paces,
    poll: Poll,
    lines: Vec<Option<Line>>,
    asked: Vec<Option<Asked>>,
    /// Connections that wait for something to ask; the one that was used last first.
    free: Vec<usize>,
    opened: usize,
    next_viewer: usize,
    began: Vec<Instant>,
    sheets: Vec<Vec<Sheet>>,
    request: Vec<u8>,
}

/// Runs all phases.
pub(crate) fn run(order: &Order, paces: &Paces, viewers: &Viewers) -> anyhow::Result<Report> {
    let sheets = paces.phases.iter().map(|phase| phase.paces.iter().map(|_| Sheet::default()).collect());
    let mut paced = Paced {
        order,
        viewers,
        paces,
        poll: Poll::new()?,
        lines: (0..paces.connections).map(|_| None).collect(),
        asked: vec![None; paces.connections],
        free: (0..paces.connections).rev().collect(),
        opened: 0,
        next_viewer: 0,
        began: Vec::new(),
        sheets: sheets.collect(),
        request: Vec::new(),
    };
    let mut events = Events::with_capacity(EVENTS);
    let mut scratch = vec![0; SCRATCH];
    for phase in 0..paces.phases.len() {
        paced.phase(phase, &mut events, &mut scratch)?;
    }
    let end = Instant::now() + AFTER;
    while paced.asked.iter().any(Option::is_some) && Instant::now() < end {
        paced.turn(&mut events, &mut scratch, Duration::from_millis(100), None)?;
    }
    for asked in paced.asked.iter().flatten() {
        let sheet = &mut paced.sheets[asked.phase][asked.pace];
        sheet.tally.lost += 1;
        let at = asked.due.saturating_duration_since(paced.began[asked.phase]);
        sheet.tally.last_bad_ms = sheet.tally.last_bad_ms.max(millis(at));
    }
    Ok(paced.sheets.into_iter().map(|phase| phase.into_iter().map(Sheet::done).collect()).collect())
}

impl Paced<'_> {
    fn phase(&mut self, phase: usize, events: &mut Events, scratch: &mut [u8]) -> anyhow::Result<()> {
        let all = self.paces;
        let Phase { seconds, paces } = &all.phases[phase];
        let began = Instant::now();
        self.began.push(began);
        let end = began + Duration::from_secs_f64(*seconds);
        let mut sent = vec![0u64; paces.len()];
        // Each connection asks on by itself.
        let endless = paces.iter().position(|pace| pace.per_s.is_none());
        if let Some(pace) = endless {
            for n in std::mem::take(&mut self.free) {
                self.ask(n, Asked { phase, pace, due: Instant::now() });
            }
        }
        loop {
            let now = Instant::now();
            if now >= end {
                return Ok(());
            }
            let mut next = end;
            for (n, pace) in paces.iter().enumerate() {
                let Some(per_s) = pace.per_s else { continue };
                loop {
                    let due = began + Duration::from_secs_f64(sent[n] as f64 / per_s);
                    if due > now {
                        next = next.min(due);
                        break;
                    }
                    sent[n] += 1;
                    match self.free.pop() {
                        Some(free) => self.ask(free, Asked { phase, pace: n, due }),
                        None => self.sheets[phase][n].tally.unsent += 1,
                    }
                }
            }
            let wait = next.saturating_duration_since(Instant::now());
            self.turn(events, scratch, wait, endless.map(|pace| (phase, pace)))?;
        }
    }

    /// Waits for answers, and takes them; whose connection `endless` says asks again.
    fn turn(
        &mut self,
        events: &mut Events,
        scratch: &mut [u8],
        wait: Duration,
        endless: Option<(usize, usize)>,
    ) -> anyhow::Result<()> {
        match self.poll.poll(events, Some(wait)) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => return Ok(()),
            polled => polled?,
        }
        for event in events.iter() {
            let n = event.token().0;
            let Some(line) = self.lines[n].as_mut() else { continue };
            let answer = match line.turn(scratch) {
                Ok(None) => continue,
                Ok(Some(answer)) => Some(answer),
                Err(_) => {
                    self.lines[n] = None;
                    None
                }
            };
            // An idle one may be closed whenever the server likes.
            if self.asked[n].is_none() {
                self.lines[n] = None;
                continue;
            }
            self.answered(n, answer);
            match endless {
                Some((phase, pace)) => self.ask(n, Asked { phase, pace, due: Instant::now() }),
                None => self.free.push(n),
            }
        }
        Ok(())
    }

    fn ask(&mut self, n: usize, asked: Asked) {
        let pace = self.paces.phases[asked.phase].paces[asked.pace];
        let mut viewer = self.next_viewer;
        // Who has not paid is refused whatever the load: that says nothing of it.
        if pace.ask == Ask::Play && !self.viewers.has_paid(viewer) {
            viewer = (viewer + 1) % self.viewers.len().max(1);
        }
        self.next_viewer = (viewer + 1) % self.viewers.len().max(1);
        self.request.clear();
        self.viewers.write(pace.ask, viewer, &mut self.request);
        self.sheets[asked.phase][asked.pace].tally.asked += 1;
        self.asked[n] = Some(asked);
        if let Err(_gone) = self.send(n) {
            self.lines[n] = None;
            self.answered(n, None);
            self.free.push(n);
        }
    }

    fn send(&mut self, n: usize) -> std::io::Result<()> {
        if self.lines[n].is_none() {
            let mut line = self.order.connect(self.opened)?;
            self.opened += 1;
            let both = Interest::READABLE | Interest::WRITABLE;
            self.poll.registry().register(&mut line.stream, Token(n), both)?;
            self.lines[n] = Some(line);
        }
        self.lines[n].as_mut().map_or(Ok(()), |line| line.ask(&self.request))
    }

    fn answered(&mut self, n: usize, answer: Option<Answer>) {
        let Some(asked) = self.asked[n].take() else { return };
        let took = millis(asked.due.elapsed());
        let at = asked.due.saturating_duration_since(self.began[asked.phase]);
        self.sheets[asked.phase][asked.pace].take(answer, millis(at), took);
    }
}

impl Sheet {
    fn take(&mut self, answer: Option<Answer>, at_ms: f64, took_ms: f64) {
        let tally = &mut self.tally;
        let mut good = false;
        match answer {
            Some(Answer { status: 200..300, .. }) => {
                self.accepted.push(took_ms);
                good = took_ms <= SLOW_MS;
            }
            Some(Answer { status: 429 | 503, retry_s }) => {
                self.refused.push(took_ms);
                tally.without_hint += u64::from(retry_s.is_none());
            }
            Some(Answer { status, .. }) => *tally.others.entry(status).or_default() += 1,
            None => tally.lost += 1,
        }
        if !good {
            tally.last_bad_ms = tally.last_bad_ms.max(at_ms);
        }
    }

    fn done(self) -> Tally {
        Tally { accepted: Times::of(&self.accepted), refused: Times::of(&self.refused), ..self.tally }
    }
}

impl Times {
    fn of(all: &[f64]) -> Times {
        let zero = |value: f64| if value.is_finite() { value } else { 0.0 };
        Times {
            count: all.len() as u64,
            p50: zero(stats::median(all)),
            p99: zero(stats::p99(all)),
            max: zero(stats::max(all)),
        }
    }
}

impl Tally {
    /// What should not have happened to any of them.
    pub(crate) fn fault(&self) -> Option<String> {
        let mut faults = Vec::new();
        if self.lost > 0 {
            faults.push(format!("{} were not answered", self.lost));
        }
        if let Some((status, count)) = self.others.first_key_value() {
            faults.push(format!("{count} answers were {status}"));
        }
        if self.without_hint > 0 {
            faults.push(format!("{} refusals had no Retry-After", self.without_hint));
        }
        (!faults.is_empty()).then(|| faults.join(", "))
    }

    /// The same, and nobody was refused, and all were sent.
    pub(crate) fn blemish(&self) -> Option<String> {
        if self.refused.count > 0 {
            return Some(format!("{} were refused", self.refused.count));
        }
        if self.unsent > 0 {
            return Some(format!("{} could not be sent: no connection was free", self.unsent));
        }
        self.fault()
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    /// Answers each request on one connection after the other: every third is refused.
    fn server() -> std::net::SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                std::thread::spawn(move || {
                    let (mut n, mut buffer) = (0, [0; 4_096]);
                    while matches!(stream.read(&mut buffer), Ok(read) if read > 0) {
                        n += 1;
                        let answer: &[u8] = if n % 3 == 0 {
                            b"HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"
                        } else {
                            b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
                        };
                        if stream.write_all(answer).is_err() {
                            return;
                        }
                    }
                });
            }
        });
        addr
    }

    fn order(target: std::net::SocketAddr) -> Order {
        let work = super::super::Work::Paced(Paces { connections: 1, phases: Vec::new() });
        Order { target, nth: 250, keys: None, viewers: 0..10, every: 1, work }
    }

    #[test]
    fn what_is_due_is_asked_and_counted() {
        let phase = |per_s, seconds| Phase { seconds, paces: vec![Pace { ask: Ask::Home, per_s }] };
        let paces = Paces { connections: 1, phases: vec![phase(Some(100.0), 0.3), phase(None, 0.1)] };
        let report = run(&order(server()), &paces, &Viewers::strangers(0..10)).unwrap();
        let (first, second) = (&report[0][0], &report[1][0]);
        assert_eq!(first.asked + first.unsent, 30, "{first:?}");
        assert_eq!(first.accepted.count + first.refused.count, first.asked, "{first:?}");
        assert!(first.refused.count > 0 && first.last_bad_ms > 0.0, "{first:?}");
        assert!(first.fault().is_none() && first.blemish().is_some(), "{first:?}");
        assert!(second.asked > 10 && second.accepted.count > second.refused.count, "{second:?}");
    }

    #[test]
    fn nobody_who_answers_is_a_loss() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        drop(listener);
        let pace = Pace { ask: Ask::Home, per_s: Some(50.0) };
        let paces = Paces { connections: 4, phases: vec![Phase { seconds: 0.1, paces: vec![pace] }] };
        let report = run(&order(addr), &paces, &Viewers::strangers(0..1)).unwrap();
        assert_eq!(report[0][0].lost, report[0][0].asked);
        assert!(report[0][0].fault().is_some());
    }
}
