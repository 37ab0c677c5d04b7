//! How many networks a session comes from: one who passes on a pass is seen in many.
//!
//! A table of fixed size in which the newer of two sessions that want one place has it: a sketch that forgets, and
//! never grows. It is written only when a session is seen from another network than before.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use ring::digest::{SHA256, digest};

use crate::log;

/// Networks are counted for so many seconds: long enough for a second household, shorter than a journey.
pub(super) const WINDOW_S: i64 = 600;

/// A session counts as shared from so many networks on: home, mobile and a café are three.
pub(super) const SHARED_FROM: usize = 4;

/// Networks that are told apart for one session.
const NETWORKS_MAX: usize = 16;

/// The most that may be allowed; more could not be told.
pub(crate) const NETWORKS_LIMIT_MAX: u8 = NETWORKS_MAX as u8 - 1;

/// Places, in pairs: 3 MB. Sessions that come and go through more are counted too low.
const PAIRS: usize = 8_192;
const LOCKS: usize = 64;

/// A session's short name, for tables and logs; the name itself is kept out of both.
pub(super) fn name(session: &str) -> u64 {
    let hash = digest(&SHA256, session.as_bytes());
    hash.as_ref().first_chunk().map_or(0, |first| u64::from_be_bytes(*first))
}

/// As it is logged.
pub(super) fn shown(session: u64) -> String {
    format!("{session:016x}")
}

/// The network of an address as a number, never 0.
pub(super) fn network(client: IpAddr) -> u64 {
    match log::network(client) {
        IpAddr::V4(network) => 1 << 63 | u64::from(network.to_bits()),
        IpAddr::V6(network) => (network.to_bits() >> 64) as u64 | 1,
    }
}

#[derive(Clone, Copy, Default)]
struct Place {
    session: u64,
    since_s: i64,
    count: usize,
    networks: [u64; NETWORKS_MAX],
}

pub(super) struct Sessions {
    shards: Vec<Mutex<Vec<[Place; 2]>>>,
}

impl Sessions {
    pub(super) fn new() -> Sessions {
        let shard = || Mutex::new(vec![Default::default(); PAIRS / LOCKS]);
        Sessions { shards: (0..LOCKS).map(|_| shard()).collect() }
    }

    /// A session is seen from a network. How many that makes, if it is one more.
    pub(super) fn note(&self, session: u64, network: u64, now_s: i64) -> Option<usize> {
        let shard = &self.shards[session as usize % LOCKS];
        let mut pairs = shard.lock().unwrap_or_else(PoisonError::into_inner);
        let at = session as usize / LOCKS % pairs.len();
        let pair = &mut pairs[at];
        let place = match pair.iter().position(|place| place.session == session) {
            Some(known) => &mut pair[known],
            None => {
                let older = usize::from(pair[1].since_s < pair[0].since_s);
                pair[older] = Place { session, since_s: now_s, ..Place::default() };
                &mut pair[older]
            }
        };
        if now_s - place.since_s > WINDOW_S {
            *place = Place { session, since_s: now_s, ..Place::default() };
        }
        if place.count == NETWORKS_MAX || place.networks[..place.count].contains(&network) {
            return None;
        }
        place.networks[place.count] = network;
        place.count += 1;
        Some(place.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_counted_once_and_for_a_while() {
        let sessions = Sessions::new();
        assert_eq!(sessions.note(5, 1, 0), Some(1));
        assert_eq!(sessions.note(5, 1, 1), None);
        assert_eq!(sessions.note(5, 2, 2), Some(2));
        assert_eq!(sessions.note(6, 2, 2), Some(1));
        assert_eq!(sessions.note(5, 3, WINDOW_S), Some(3));
        assert_eq!(sessions.note(5, 3, WINDOW_S + 1), Some(1), "a new window");
        let counts = (10..100).filter_map(|network| sessions.note(7, network, 0));
        assert_eq!(counts.max(), Some(NETWORKS_MAX));
    }

    #[test]
    fn the_newest_sessions_have_the_places() {
        let sessions = Sessions::new();
        let same = |n: u64| n * PAIRS as u64;
        for n in 1..=3 {
            sessions.note(same(n), 1, n as i64);
        }
        assert_eq!(sessions.note(same(3), 2, 4), Some(2));
        assert_eq!(sessions.note(same(2), 2, 4), Some(2));
        assert_eq!(sessions.note(same(1), 2, 5), Some(1), "it had to go");
    }

    #[test]
    fn networks_are_as_wide_as_in_logs() {
        let of = |text: &str| network(text.parse().unwrap());
        assert_eq!(of("192.0.2.1"), of("192.0.2.200"));
        assert_eq!(of("192.0.2.1"), of("::ffff:192.0.2.9"));
        assert_ne!(of("192.0.2.1"), of("192.0.3.1"));
        assert_eq!(of("2001:db8:1:2::3"), of("2001:db8:1:9::"));
        assert_ne!(of("2001:db8:1::"), of("2001:db8:2::"));
    }
}
