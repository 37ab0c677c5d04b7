//! The access log: one event for each request of a sample, with the target `access`.
//!
//! It names no one: the pass stays out of it, as do all query parameters but HLS delivery directives, and of the
//! client's address it has the network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::StatusCode;
use tokio::time::Instant;

use crate::admission::Door;
use crate::config::Config;
use crate::limits::TARGET_BYTES_MAX;
use crate::meters::Outcome;

/// What a request came by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// HTTP/1.1 or 1.0.
    H1,
    /// HTTP/2.
    H2,
    /// HTTP/3.
    H3,
}

/// What is logged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Log {
    share: crate::config::Share,
    with_pass: bool,
}

impl Log {
    /// As configured.
    pub(crate) fn new(config: &Config) -> Log {
        Log { share: config.access_log, with_pass: Door::with_pass(config) }
    }

    /// The line of a request that was just read, if it is in the sample.
    pub(crate) fn entry(self, method: &str, target: &str, protocol: Protocol, peer: IpAddr) -> Option<Entry> {
        self.share.takes(fastrand::u32(..)).then(|| Entry {
            method: method.chars().take(METHOD_CHARS_MAX).collect(),
            path: shown(target, self.with_pass),
            status: 0,
            outcome: "none".to_owned(),
            bytes: 0,
            since: Instant::now(),
            protocol,
            peer: network(peer),
        })
    }
}

/// No method that anybody uses is longer.
const METHOD_CHARS_MAX: usize = 16;

/// A line of the log, written when it is dropped: after the last byte, or when the client has gone.
#[derive(Debug)]
pub(crate) struct Entry {
    method: String,
    path: String,
    /// 0 for a client that left before it was answered.
    status: u16,
    outcome: String,
    bytes: u64,
    since: Instant,
    protocol: Protocol,
    peer: IpAddr,
}

impl Entry {
    /// The answer has begun.
    pub(crate) fn answered(&mut self, status: StatusCode, outcome: Option<Outcome>) {
        self.status = status.as_u16();
        if let Some(outcome) = outcome {
            self.outcome = format!("{outcome:?}").to_lowercase();
        }
    }

    /// That many more bytes of its body were sent.
    pub(crate) fn sent(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let Entry { method, path, status, outcome, bytes, since, protocol, peer } = self;
        let ms = since.elapsed().as_micros() as f64 / 1e3;
        let protocol = match protocol {
            Protocol::H1 => "h1",
            Protocol::H2 => "h2",
            Protocol::H3 => "h3",
        };
        tracing::info!(target: "access", %method, %path, status, %outcome, bytes, ms, protocol, %peer);
    }
}

/// Path and delivery directives of a target, without the pass.
fn shown(target: &str, with_pass: bool) -> String {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    // An absolute target has its path after the authority.
    let path = match path.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("/", |at| &rest[at..]),
        None => path,
    };
    let path = match with_pass {
        true => path.get(1..).and_then(|path| path.find('/')).map_or("/", |slash| &path[slash + 1..]),
        false => path,
    };
    let mut shown: String = path.chars().take(TARGET_BYTES_MAX).collect();
    let directives = query.split('&').filter(|pair| pair.starts_with("_HLS_"));
    for (mark, directive) in std::iter::once('?').chain(std::iter::repeat('&')).zip(directives) {
        shown.push(mark);
        shown.extend(directive.chars().take(DIRECTIVE_CHARS_MAX));
        if shown.len() > TARGET_BYTES_MAX {
            break;
        }
    }
    shown
}

/// A directive's name and the largest number.
const DIRECTIVE_CHARS_MAX: usize = 32;

/// The network of an address: /24 of IPv4, /48 of IPv6.
pub(crate) fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V4(address) => {
            let [a, b, c, _] = address.octets();
            Ipv4Addr::new(a, b, c, 0).into()
        }
        IpAddr::V6(address) => {
            let [a, b, c, ..] = address.segments();
            Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_target_is_shown_without_its_secrets() {
        for (target, with, without) in [
            ("/word/m/v.m3u8", "/m/v.m3u8", "/word/m/v.m3u8"),
            ("/word", "/", "/word"),
            ("/word?_HLS_msn=1", "/?_HLS_msn=1", "/word?_HLS_msn=1"),
            ("/word/", "/", "/word/"),
            ("word", "/", "word"),
            ("*", "/", "*"),
            ("http://user@host/word/m/1a.m4s?x=1", "/m/1a.m4s", "/word/m/1a.m4s"),
            ("http://host", "/", "/"),
            (
                "/word/v.m3u8?token=s&_HLS_msn=7&a=b&_HLS_part=2",
                "/v.m3u8?_HLS_msn=7&_HLS_part=2",
                "/word/v.m3u8?_HLS_msn=7&_HLS_part=2",
            ),
        ] {
            assert_eq!(shown(target, true), with, "{target}");
            assert_eq!(shown(target, false), without, "{target}");
        }
    }

    #[test]
    fn an_address_is_shown_as_its_network() {
        for (address, expected) in [
            ("192.0.2.77", "192.0.2.0"),
            ("2001:db8:1:2:3::4", "2001:db8:1::"),
            ("::ffff:192.0.2.77", "192.0.2.0"),
            ("::1", "::"),
        ] {
            assert_eq!(network(address.parse().unwrap()).to_string(), expected);
        }
    }

    proptest! {
        #[test]
        fn the_pass_is_never_shown(path in "(/[a-z.?&=_]{0,8}){0,3}", query in "(&?_?[A-Z]{0,4}=[a-z]{0,3}){0,4}") {
            let target = format!("/SECRET{path}?{query}");
            prop_assert!(!shown(&target, true).contains("SECRET"));
        }
    }
}
