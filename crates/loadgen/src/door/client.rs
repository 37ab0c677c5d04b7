//! One viewer who wants to watch, and how they try again.

/// How a client tries again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// As in the postmortem: it waits for so long (milliseconds), and asks again at once, for as long as it takes. What
    /// it asked for is still being worked on.
    Lockstep {
        /// Until it takes a question for lost.
        timeout_ms: i64,
    },
    /// Waits that are drawn at random from the least to three times the last (decorrelated jitter), up to the longest;
    /// never before a `Retry-After`; and so many tries.
    Jittered {
        /// Until it takes a question for lost.
        timeout_ms: i64,
        /// The least wait.
        base_ms: i64,
        /// The longest.
        cap_ms: i64,
        /// Questions in all.
        tries_max: u32,
    },
}

impl Policy {
    /// The clients of the postmortem: players that give an authorisation five seconds.
    pub const NAIVE: Policy = Policy::Lockstep { timeout_ms: 5_000 };
    /// The web app's retries.
    pub const OURS: Policy =
        Policy::Jittered { timeout_ms: 10_000, base_ms: 500, cap_ms: 30_000, tries_max: 10 };

    fn timeout_ms(self) -> i64 {
        match self {
            Policy::Lockstep { timeout_ms } | Policy::Jittered { timeout_ms, .. } => timeout_ms,
        }
    }
}

/// What a server said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Play.
    Play,
    /// No, and asking again will not help.
    Refused,
    /// Not now; with `Retry-After`, in milliseconds.
    Later(Option<i64>),
}

/// Where a client is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It will ask at this instant.
    Waits(i64),
    /// It asked; it takes that for lost at this instant.
    Asked(i64),
    /// It plays, since this instant.
    Plays(i64),
    /// It was refused, or has no try left.
    Gone,
}

/// One viewer.
#[derive(Clone, Debug)]
pub struct Client {
    policy: Policy,
    state: State,
    asked: u32,
    wait_ms: i64,
    chance: u64,
}

impl Client {
    /// One who taps at this instant (milliseconds).
    pub fn new(policy: Policy, taps_ms: i64, seed: u64) -> Client {
        Client { policy, state: State::Waits(taps_ms), asked: 0, wait_ms: 0, chance: seed }
    }

    /// Where it is.
    pub fn state(&self) -> State {
        self.state
    }

    /// Questions so far; an answer belongs to the one with this number when it was asked.
    pub fn asked(&self) -> u32 {
        self.asked
    }

    /// When something happens by itself. None: nothing will.
    pub fn next_ms(&self) -> Option<i64> {
        match self.state {
            State::Waits(at) | State::Asked(at) => Some(at),
            State::Plays(_) | State::Gone => None,
        }
    }

    /// It is that time. True: it asks now.
    pub fn tick(&mut self, now_ms: i64) -> bool {
        match self.state {
            State::Asked(lost) if lost <= now_ms => self.failed(now_ms, None),
            _ => {}
        }
        match self.state {
            State::Waits(at) if at <= now_ms => {
                self.asked += 1;
                self.state = State::Asked(now_ms + self.policy.timeout_ms());
                true
            }
            _ => false,
        }
    }

    /// A question was answered. One that was taken for lost is not listened to.
    pub fn answered(&mut self, asked: u32, answer: Answer, now_ms: i64) {
        let State::Asked(lost) = self.state else { return };
        if asked != self.asked || lost <= now_ms {
            return;
        }
        match answer {
            Answer::Play => self.state = State::Plays(now_ms),
            Answer::Refused => self.state = State::Gone,
            Answer::Later(after_ms) => self.failed(now_ms, after_ms),
        }
    }

    fn failed(&mut self, now_ms: i64, after_ms: Option<i64>) {
        let (base_ms, cap_ms, tries_max) = match self.policy {
            Policy::Lockstep { .. } => {
                self.state = State::Waits(now_ms);
                return;
            }
            Policy::Jittered { base_ms, cap_ms, tries_max, .. } => (base_ms, cap_ms, tries_max),
        };
        if self.asked >= tries_max {
            self.state = State::Gone;
            return;
        }
        let span = (self.wait_ms.max(base_ms) * 3 - base_ms).max(1);
        self.wait_ms = (base_ms + (self.throw() % span as u64) as i64).min(cap_ms);
        // Whoever is told the same second as others does not come at the same millisecond.
        let told = after_ms.map_or(0, |after| after + (self.throw() % 1_000) as i64);
        self.state = State::Waits(now_ms + self.wait_ms.max(told));
    }

    /// SplitMix64.
    fn throw(&mut self) -> u64 {
        self.chance = self.chance.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.chance;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_naive_one_asks_again_at_once_and_does_not_hear_what_comes_late() {
        let mut client = Client::new(Policy::NAIVE, 10, 1);
        assert!(!client.tick(9) && client.tick(10));
        assert_eq!(client.state(), State::Asked(5_010));
        assert!(client.tick(5_010), "at the very instant");
        client.answered(1, Answer::Play, 5_011);
        assert_eq!(client.state(), State::Asked(10_010), "the first answer came too late");
        client.answered(2, Answer::Play, 5_012);
        assert_eq!(client.state(), State::Plays(5_012));
    }

    #[test]
    fn ours_never_comes_before_it_is_told_and_spreads_out_and_gives_up() {
        let mut times = std::collections::BTreeSet::new();
        for seed in 0..1_000 {
            let mut client = Client::new(Policy::OURS, 0, seed);
            assert!(client.tick(0));
            client.answered(1, Answer::Later(Some(3_000)), 1);
            let State::Waits(at) = client.state() else { panic!("{:?}", client.state()) };
            assert!((3_001..4_001).contains(&at), "{at}");
            times.insert(at);
        }
        assert!(times.len() > 500, "{}", times.len());
        let mut client = Client::new(Policy::OURS, 0, 7);
        let mut waits = Vec::new();
        while let Some(at) = client.next_ms() {
            if client.tick(at) {
                client.answered(client.asked(), Answer::Later(None), at);
                waits.extend(client.next_ms().map(|next| next - at));
            }
        }
        assert_eq!((client.asked(), waits.len()), (10, 9));
        assert!(waits.iter().all(|wait| (500..=30_000).contains(wait)), "{waits:?}");
    }
}
