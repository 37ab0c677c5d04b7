//! What the desk asks of the core.

use super::super::delay::Delay;
use super::Core;
use crate::Event;
use crate::feeds::Range;

impl Core {
    /// See [`crate::ingest::Sequence::contiguous`]: what may be acknowledged once everything published is durable.
    pub fn contiguous(&self, provider: &str) -> u64 {
        self.providers.get(provider).map_or(0, |p| p.sequence.contiguous())
    }

    /// The highest number of a provider.
    pub fn newest_seq(&self, provider: &str) -> u64 {
        self.providers.get(provider).map_or(0, |p| p.sequence.newest())
    }

    /// See [`crate::ingest::Sequence::missing`].
    pub fn missing(&self, provider: &str) -> Vec<Range> {
        self.providers.get(provider).map_or_else(Vec::new, |p| p.sequence.missing())
    }

    /// How many gaps a provider has, and how many statements wait for them.
    pub fn gaps(&self, provider: &str) -> (usize, usize) {
        self.providers.get(provider).map_or((0, 0), |p| (p.sequence.gaps(), p.waiting.len()))
    }

    /// What to ask a provider for that is connected. See [`crate::ingest::Sequence::ask`].
    pub fn ask(&mut self, provider: &str, now_ms: i64) -> Vec<Range> {
        self.providers.get_mut(provider).map_or_else(Vec::new, |p| p.sequence.ask(now_ms))
    }

    /// What was asked for in vain, and is taken as gone now. See [`crate::ingest::Sequence::give_up`].
    pub fn give_up(&mut self, provider: &str, now_ms: i64, publish: &mut Vec<Event>) -> Vec<Range> {
        let vain = self.providers.get_mut(provider).map_or_else(Vec::new, |p| p.sequence.give_up());
        if !vain.is_empty() {
            self.settle(provider, now_ms, publish);
        }
        vain
    }

    /// What stands of a match, in the order of ids.
    pub fn standing(&self, match_id: &str) -> impl Iterator<Item = &Event> {
        self.matches.get(match_id).into_iter().flat_map(|known| known.canon.newest())
    }

    /// How many happenings a match has.
    pub fn len(&self, match_id: &str) -> usize {
        self.matches.get(match_id).map_or(0, |known| known.canon.len())
    }

    /// How late a match's feeds are.
    pub fn delay(&self, match_id: &str) -> Option<&Delay> {
        self.matches.get(match_id).map(|known| &known.delay)
    }

    /// The matches that are known and were last spoken of before this.
    pub fn silent_since(&self, before_ms: i64) -> impl Iterator<Item = &str> {
        let silent = move |(_, known): &(&String, &super::Known)| known.heard_ms < before_ms;
        self.matches.iter().filter(silent).map(|(id, _)| id.as_str())
    }
}
