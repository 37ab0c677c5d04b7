//! Which address a request comes from, when proxies stand before the door.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use axum::extract::ConnectInfo;
use http::Extensions;
use http::HeaderMap;
use serde::{Deserialize, Serialize};

use crate::Error;

/// Entries of `X-Forwarded-For` that are looked at, from the nearest: a CDN, a load balancer and some to spare.
const HOPS_MAX: usize = 8;

/// A proxy, or a network of them, whose word is taken for whom it speaks for: `10.0.0.0/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Trusted {
    network: IpAddr,
    bits: u8,
}

impl Trusted {
    /// An address is one of them.
    pub fn holds(&self, address: IpAddr) -> bool {
        match (self.network, address.to_canonical()) {
            (IpAddr::V4(n), IpAddr::V4(a)) => {
                (n.to_bits() ^ a.to_bits()).checked_shr(32 - u32::from(self.bits)).unwrap_or(0) == 0
            }
            (IpAddr::V6(n), IpAddr::V6(a)) => {
                (n.to_bits() ^ a.to_bits()).checked_shr(128 - u32::from(self.bits)).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

impl FromStr for Trusted {
    type Err = Error;
    fn from_str(s: &str) -> Result<Self, Error> {
        let bad = || Error::Trusted(s.to_owned());
        let (network, bits) = s.split_once('/').map_or((s, None), |(network, bits)| (network, Some(bits)));
        let network: IpAddr = network.parse().map_err(|_| bad())?;
        let all = if network.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(all), |bits| bits.parse().map_err(|_| bad()))?;
        if bits > all { Err(bad()) } else { Ok(Trusted { network, bits }) }
    }
}

impl TryFrom<String> for Trusted {
    type Error = Error;
    fn try_from(s: String) -> Result<Self, Error> {
        s.parse()
    }
}

impl From<Trusted> for String {
    fn from(t: Trusted) -> String {
        format!("{}/{}", t.network, t.bits)
    }
}

/// The address that a request comes from; none if it did not come over a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client(pub Option<IpAddr>);

impl Client {
    /// The nearest address that is not one of our proxies: each proxy adds the one that it was spoken to by, and what
    /// stands before the first that is not ours may be a lie.
    pub fn of(extensions: &Extensions, headers: &HeaderMap, trusted: &[Trusted]) -> Client {
        let Some(ConnectInfo(peer)) = extensions.get::<ConnectInfo<SocketAddr>>() else {
            return Client(None);
        };
        let ours = |address: IpAddr| trusted.iter().any(|t| t.holds(address));
        let mut nearest = peer.ip().to_canonical();
        let said = headers.get_all("x-forwarded-for").iter().rev();
        let said = said.flat_map(|line| line.to_str().unwrap_or("?").rsplit(',')).take(HOPS_MAX);
        for one in said {
            if !ours(nearest) {
                break;
            }
            match one.trim().parse::<IpAddr>() {
                Ok(address) => nearest = address.to_canonical(),
                // Our own proxy says something that is no address: then nobody knows.
                Err(_) => return Client(None),
            }
        }
        Client(Some(nearest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(peer: &str, forwarded: &[&str]) -> Option<String> {
        let mut extensions = Extensions::new();
        extensions.insert(ConnectInfo(SocketAddr::new(peer.parse().unwrap(), 1)));
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append("x-forwarded-for", line.parse().unwrap());
        }
        let trusted = ["10.0.0.0/8".parse().unwrap(), "2001:db8::/32".parse().unwrap()];
        Client::of(&extensions, &headers, &trusted).0.map(|a| a.to_string())
    }

    #[test]
    fn only_our_proxies_are_believed() {
        let says = |s: &str| Some(s.to_owned());
        assert_eq!(client("203.0.113.9", &["198.51.100.1"]), says("203.0.113.9"), "a viewer who lies");
        assert_eq!(client("10.1.2.3", &["198.51.100.1"]), says("198.51.100.1"));
        assert_eq!(client("::ffff:10.1.2.3", &["198.51.100.1"]), says("198.51.100.1"));
        assert_eq!(client("10.1.2.3", &["1.1.1.1, 198.51.100.1, 10.9.9.9"]), says("198.51.100.1"));
        assert_eq!(client("10.1.2.3", &["1.1.1.1", "198.51.100.1", "2001:db8::7"]), says("198.51.100.1"));
        assert_eq!(client("10.1.2.3", &["unknown"]), None);
        assert_eq!(client("10.1.2.3", &[]), says("10.1.2.3"));
        assert_eq!(Client::of(&Extensions::new(), &HeaderMap::new(), &[]), Client(None));
    }

    #[test]
    fn a_network_is_read_and_a_wrong_one_is_said() {
        let all: Trusted = "0.0.0.0/0".parse().unwrap();
        assert!(all.holds([1, 2, 3, 4].into()));
        let one: Trusted = "192.0.2.1".parse().unwrap();
        assert!(one.holds([192, 0, 2, 1].into()) && !one.holds([192, 0, 2, 2].into()));
        for wrong in ["", "10.0.0.0/33", "ten", "10.0.0.0/x"] {
            assert!(wrong.parse::<Trusted>().unwrap_err().to_string().contains("10.0.0.0/8"), "{wrong}");
        }
    }
}
