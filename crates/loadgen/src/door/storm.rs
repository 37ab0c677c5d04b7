//! Everybody at once, against a server, in simulated time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::Serialize;

use super::client::{Answer, Client, Policy, State};

/// A model of a server. Time is in milliseconds.
pub trait Server {
    /// A client asks; `question` is given back with the answer.
    fn ask(&mut self, client: usize, question: u32, now_ms: i64);
    /// When [`Server::run`] has something to do. None: not before it is asked.
    fn next_ms(&self) -> Option<i64>;
    /// Does what there is to do at that instant, and gives what it answers: client, question, answer.
    fn run(&mut self, now_ms: i64) -> Vec<(usize, u32, Answer)>;
}

/// The crowd.
#[derive(Clone, Copy, Debug)]
pub struct Storm {
    /// How many.
    pub clients: usize,
    /// Within which time they tap, evenly, in milliseconds.
    pub within_ms: i64,
    /// How they try again.
    pub policy: Policy,
    /// When it is looked at, in milliseconds since the first tap.
    pub until_ms: i64,
}

/// What became of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// Who came.
    pub clients: usize,
    /// Who plays.
    pub playing: usize,
    /// Who was playing within ten seconds of their tap.
    pub soon: usize,
    /// The longest from a tap to playing, in milliseconds, of those who play.
    pub slowest_ms: i64,
    /// Who gave up or was refused.
    pub gone: usize,
    /// Questions, over clients: 1 is each asking once.
    pub amplification: f64,
}

/// Runs it. The same seed gives the same storm.
pub fn storm(storm: Storm, server: &mut dyn Server, seed: u64) -> Report {
    let taps = |n: usize| n as i64 * storm.within_ms / storm.clients.max(1) as i64;
    let mut clients: Vec<Client> = (0..storm.clients)
        .map(|n| Client::new(storm.policy, taps(n), seed.wrapping_mul(0x1_0000_0001).wrapping_add(n as u64)))
        .collect();
    // Each client's next instant. One that has changed since is looked at in vain, which harms nobody.
    let mut agenda: BinaryHeap<Reverse<(i64, usize)>> =
        (0..storm.clients).map(|n| Reverse((taps(n), n))).collect();
    loop {
        let next = [agenda.peek().map(|Reverse((at, _))| *at), server.next_ms()].into_iter().flatten().min();
        let Some(now_ms) = next.filter(|at| *at <= storm.until_ms) else { break };
        while let Some(Reverse((at, n))) = agenda.peek().copied() {
            if at > now_ms {
                break;
            }
            agenda.pop();
            if clients[n].tick(now_ms) {
                server.ask(n, clients[n].asked(), now_ms);
            }
            agenda.extend(clients[n].next_ms().filter(|next| *next > now_ms).map(|next| Reverse((next, n))));
        }
        for (n, question, answer) in server.run(now_ms) {
            clients[n].answered(question, answer, now_ms);
            // Strictly later, so that nothing stands still.
            agenda.extend(clients[n].next_ms().map(|next| Reverse((next.max(now_ms + 1), n))));
        }
    }
    let mut report = Report { clients: storm.clients, ..Report::default() };
    let mut asked = 0;
    for (n, client) in clients.iter().enumerate() {
        asked += u64::from(client.asked());
        match client.state() {
            State::Plays(at) => {
                report.playing += 1;
                report.soon += usize::from(at - taps(n) <= 10_000);
                report.slowest_ms = report.slowest_ms.max(at - taps(n));
            }
            State::Gone => report.gone += 1,
            State::Waits(_) | State::Asked(_) => {}
        }
    }
    report.amplification = asked as f64 / storm.clients.max(1) as f64;
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers so many in each millisecond, in the order in which they came, and refuses nobody.
    struct Queue {
        waiting: std::collections::VecDeque<(usize, u32)>,
        per_ms: usize,
        done_ms: i64,
    }

    impl Server for Queue {
        fn ask(&mut self, client: usize, question: u32, _: i64) {
            self.waiting.push_back((client, question));
        }
        fn next_ms(&self) -> Option<i64> {
            (!self.waiting.is_empty()).then_some(self.done_ms + 1)
        }
        fn run(&mut self, now_ms: i64) -> Vec<(usize, u32, Answer)> {
            if self.done_ms >= now_ms {
                return Vec::new();
            }
            self.done_ms = now_ms;
            let some = self.waiting.len().min(self.per_ms);
            self.waiting.drain(..some).map(|(n, question)| (n, question, Answer::Play)).collect()
        }
    }

    #[test]
    fn a_server_that_keeps_up_is_asked_once_by_each() {
        let crowd = Storm { clients: 1_000, within_ms: 1_000, policy: Policy::NAIVE, until_ms: 60_000 };
        let mut server = Queue { waiting: Default::default(), per_ms: 2, done_ms: 0 };
        let report = storm(crowd, &mut server, 1);
        assert_eq!((report.playing, report.soon, report.amplification), (1_000, 1_000, 1.0));
        assert!(report.slowest_ms < 10, "{report:?}");
    }
}
