//! The storm over real connections: the clients of [`loadgen::door`], each with one of its own.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::time::Duration;

use loadgen::door::client::State;
use loadgen::door::{self, Policy};
use mio::{Events, Interest, Poll, Token};
use serde::{Deserialize, Serialize};

use super::line::{Answer, Line};
use super::{EVENTS, Order, SCRATCH, now_ms};
use crate::arrival::viewers::{Ask, Viewers};

/// When they tap. Viewers of this process are every so-many-th of all.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Taps {
    /// UTC, milliseconds: the first tap of all processes.
    pub(crate) begin_ms: i64,
    /// Within which all tap, evenly.
    pub(crate) within_ms: i64,
    /// When it is looked at at last, after the first tap.
    pub(crate) until_ms: i64,
    /// Clients of all processes, and which process this is of how many.
    pub(crate) clients: usize,
    pub(crate) process: usize,
    pub(crate) processes: usize,
}

/// What became of them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) clients: u64,
    pub(crate) playing: u64,
    /// Within ten seconds of their tap.
    pub(crate) soon: u64,
    /// Refused for good.
    pub(crate) gone: u64,
    /// Requests.
    pub(crate) asked: u64,
    /// From a tap to playing, in milliseconds, of those who play: the longest, and the middle.
    pub(crate) slowest_ms: i64,
    pub(crate) median_ms: f64,
    /// By status; 0: none came.
    pub(crate) answers: BTreeMap<u16, u64>,
    /// Tap and play within each ten seconds since the first tap.
    pub(crate) played_in: Vec<u64>,
}

/// A tap that is answered so late is not answered, for the issue and for most who tap.
const SOON_MS: i64 = 10_000;
/// Of [`Report::played_in`].
const SLICE_MS: i64 = 10_000;

struct Viewer {
    client: door::Client,
    taps_ms: i64,
    line: Option<Line>,
    /// The question that the connection carries.
    question: u32,
}

struct Crowd<'a> {
    order: &'a Order,
    tokens: &'a Viewers,
    poll: Poll,
    viewers: Vec<Viewer>,
    /// Each client's next instant, in milliseconds since the first tap.
    agenda: BinaryHeap<Reverse<(i64, usize)>>,
    opened: usize,
    waiting: usize,
    answers: BTreeMap<u16, u64>,
    request: Vec<u8>,
}

/// Lets them all tap.
pub(crate) fn run(order: &Order, taps: &Taps, tokens: &Viewers) -> anyhow::Result<Report> {
    let viewer = |nth: usize| {
        let n = nth * taps.processes + taps.process;
        let taps_ms = n as i64 * taps.within_ms / taps.clients.max(1) as i64;
        let client = door::Client::new(Policy::NAIVE, taps_ms, n as u64);
        Viewer { client, taps_ms, line: None, question: 0 }
    };
    let viewers: Vec<Viewer> = (0..tokens.len()).map(viewer).collect();
    let mut crowd = Crowd {
        order,
        tokens,
        poll: Poll::new()?,
        agenda: viewers.iter().enumerate().map(|(n, v)| Reverse((v.taps_ms, n))).collect(),
        waiting: viewers.len(),
        viewers,
        opened: 0,
        answers: BTreeMap::new(),
        request: Vec::new(),
    };
    let mut events = Events::with_capacity(EVENTS);
    let mut scratch = vec![0; SCRATCH];
    loop {
        let now = now_ms() - taps.begin_ms;
        if now >= taps.until_ms || crowd.waiting == 0 {
            break;
        }
        let next = crowd.taps(now).min(taps.until_ms);
        let wait = (next - (now_ms() - taps.begin_ms)).clamp(0, 1_000) as u64;
        match crowd.poll.poll(&mut events, Some(Duration::from_millis(wait))) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            polled => polled?,
        }
        let now = now_ms() - taps.begin_ms;
        for event in &events {
            crowd.turn(event.token().0, now, &mut scratch);
        }
    }
    Ok(crowd.report(taps))
}

impl Crowd<'_> {
    /// All whose time has come do what they do; when the next ones will.
    fn taps(&mut self, now: i64) -> i64 {
        while let Some(Reverse((at, n))) = self.agenda.peek().copied() {
            if at > now {
                return at;
            }
            self.agenda.pop();
            let viewer = &mut self.viewers[n];
            if viewer.client.tick(now) {
                // Whoever has waited too long hangs up.
                viewer.line = None;
                viewer.question = viewer.client.asked();
                self.request.clear();
                self.tokens.write(Ask::Play, n, &mut self.request);
                if self.ask(n).is_err() {
                    self.answered(n, None, now);
                }
            }
            self.later(n, now);
        }
        i64::MAX
    }

    fn ask(&mut self, n: usize) -> std::io::Result<()> {
        let mut line = self.order.connect(self.opened)?;
        self.opened += 1;
        let both = Interest::READABLE | Interest::WRITABLE;
        self.poll.registry().register(&mut line.stream, Token(n), both)?;
        line.ask(&self.request)?;
        self.viewers[n].line = Some(line);
        Ok(())
    }

    fn turn(&mut self, n: usize, now: i64, scratch: &mut [u8]) {
        let Some(line) = self.viewers[n].line.as_mut() else { return };
        match line.turn(scratch) {
            Ok(None) => return,
            Ok(Some(answer)) => self.answered(n, Some(answer), now),
            Err(_) => self.answered(n, None, now),
        }
        self.later(n, now);
    }

    fn answered(&mut self, n: usize, answer: Option<Answer>, now: i64) {
        *self.answers.entry(answer.map_or(0, |answer| answer.status)).or_default() += 1;
        let heard = match answer {
            Some(Answer { status: 200..300, .. }) => door::Answer::Play,
            Some(Answer { status: 429 | 500.., retry_s }) => {
                door::Answer::Later(retry_s.map(|s| i64::from(s) * 1_000))
            }
            Some(_) => door::Answer::Refused,
            None => door::Answer::Later(None),
        };
        let viewer = &mut self.viewers[n];
        viewer.line = None;
        viewer.client.answered(viewer.question, heard, now);
        self.waiting -= usize::from(viewer.client.next_ms().is_none());
    }

    fn later(&mut self, n: usize, now: i64) {
        // Strictly later, so that nothing stands still.
        let next = self.viewers[n].client.next_ms();
        self.agenda.extend(next.map(|at| Reverse((at.max(now + 1), n))));
    }

    fn report(self, taps: &Taps) -> Report {
        let mut report =
            Report { clients: self.viewers.len() as u64, answers: self.answers, ..Report::default() };
        report.played_in = vec![0; (taps.until_ms / SLICE_MS + 1) as usize];
        let mut times = Vec::new();
        for viewer in &self.viewers {
            report.asked += u64::from(viewer.client.asked());
            match viewer.client.state() {
                State::Plays(at) => {
                    let took = at - viewer.taps_ms;
                    report.playing += 1;
                    report.soon += u64::from(took <= SOON_MS);
                    report.slowest_ms = report.slowest_ms.max(took);
                    times.push(took as f64);
                    if let Some(slice) = report.played_in.get_mut((at / SLICE_MS) as usize) {
                        *slice += 1;
                    }
                }
                State::Gone => report.gone += 1,
                State::Waits(_) | State::Asked(_) => {}
            }
        }
        let median = crate::stats::median(&times);
        report.median_ms = if median.is_finite() { median } else { 0.0 };
        report
    }
}

impl Report {
    /// With another process's. The middle one is the larger of the two.
    pub(crate) fn add(&mut self, other: &Report) {
        self.clients += other.clients;
        self.playing += other.playing;
        self.soon += other.soon;
        self.gone += other.gone;
        self.asked += other.asked;
        self.slowest_ms = self.slowest_ms.max(other.slowest_ms);
        self.median_ms = self.median_ms.max(other.median_ms);
        for (status, count) in &other.answers {
            *self.answers.entry(*status).or_default() += count;
        }
        self.played_in.resize(self.played_in.len().max(other.played_in.len()), 0);
        self.played_in.iter_mut().zip(&other.played_in).for_each(|(a, b)| *a += b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{SocketAddr, TcpListener};

    fn storm(target: SocketAddr, clients: usize, until_ms: i64) -> Report {
        let (process, processes) = (0, 1);
        let taps = Taps { begin_ms: now_ms(), within_ms: 100, until_ms, clients, process, processes };
        let work = super::super::Work::Crowd(taps.clone());
        let order = Order { target, nth: 251, keys: None, viewers: 0..clients, every: 1, work };
        run(&order, &taps, &Viewers::strangers(0..clients)).unwrap()
    }

    #[test]
    fn everybody_taps_once_where_everybody_is_let_in() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let _ = stream.read(&mut [0; 4_096]);
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
            }
        });
        let report = storm(addr, 50, 60_000);
        assert_eq!((report.playing, report.soon, report.asked, report.gone), (50, 50, 50, 0), "{report:?}");
        assert_eq!(report.answers, BTreeMap::from([(200, 50)]));
        let mut both = report.clone();
        both.add(&report);
        assert_eq!((both.clients, both.playing, both.played_in[0]), (100, 100, 100));
    }

    #[test]
    fn whoever_is_not_answered_asks_on() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        drop(listener);
        let report = storm(addr, 5, 200);
        assert_eq!(report.playing, 0);
        assert!(report.asked > 5 && report.answers[&0] >= 5, "{report:?}");
    }
}
