//! Where a client is: by a front of ours that says so, or by whoever knows addresses.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use pass::Place;
use serde::{Deserialize, Serialize};

use super::Fields;
use crate::Error;
use crate::config::Config;

/// Knows where addresses are, from local data and in microseconds: it is asked for each request whose pass is bound to a
/// place.
pub trait Whereabouts: Send + Sync {
    /// Where that address is, as far as is known.
    fn find(&self, client: IpAddr) -> Place;
}

/// A network, such as 10.0.0.0/8 or 2001:db8::/32; an address alone is one of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Prefix {
    address: IpAddr,
    bits: u8,
}

impl Prefix {
    pub(crate) fn has(&self, address: IpAddr) -> bool {
        let shared = match (self.address, address.to_canonical()) {
            (IpAddr::V4(a), IpAddr::V4(b)) => (a.to_bits() ^ b.to_bits()).leading_zeros(),
            (IpAddr::V6(a), IpAddr::V6(b)) => (a.to_bits() ^ b.to_bits()).leading_zeros(),
            _ => return false,
        };
        shared >= u32::from(self.bits)
    }
}

impl FromStr for Prefix {
    type Err = Error;
    fn from_str(s: &str) -> Result<Self, Error> {
        let bad = || Error::Front(s.chars().take(64).collect());
        let (address, bits) = s.split_once('/').map_or((s, None), |(a, b)| (a, Some(b)));
        let address: IpAddr = address.parse().map_err(|_| bad())?;
        let whole = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(whole), |bits| bits.parse().map_err(|_| bad()))?;
        if bits <= whole { Ok(Prefix { address, bits }) } else { Err(bad()) }
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

impl TryFrom<String> for Prefix {
    type Error = Error;
    fn try_from(s: String) -> Result<Self, Error> {
        s.parse()
    }
}

impl From<Prefix> for String {
    fn from(prefix: Prefix) -> String {
        prefix.to_string()
    }
}

/// Who may say whose request it passes on, and from where.
pub(super) struct Fronts {
    networks: Vec<Prefix>,
    client: Option<String>,
    country: Option<String>,
    asn: Option<String>,
}

impl Fronts {
    pub(super) fn new(config: &Config) -> Fronts {
        Fronts {
            networks: config.front.clone(),
            client: config.front_client.clone(),
            country: config.front_country.clone(),
            asn: config.front_asn.clone(),
        }
    }

    fn trusts(&self, peer: IpAddr) -> bool {
        self.networks.iter().any(|network| network.has(peer))
    }

    /// Whose request it is. Of a list the last address counts: what stands before it was said by others.
    pub(super) fn client(&self, peer: IpAddr, fields: &dyn Fields) -> IpAddr {
        let Some(name) = self.client.as_deref().filter(|_| self.trusts(peer)) else { return peer };
        let said = fields.last(name).and_then(|list| list.rsplit(',').next()?.trim().parse().ok());
        said.unwrap_or(peer)
    }

    /// Where that is, if the front is one that says so.
    pub(super) fn place(&self, peer: IpAddr, fields: &dyn Fields) -> Option<Place> {
        if (self.country.is_none() && self.asn.is_none()) || !self.trusts(peer) {
            return None;
        }
        let said = |name: &Option<String>| fields.last(name.as_deref()?).map(str::trim);
        let code = |c: &&str| c.len() == 2 && c.bytes().all(|b| b.is_ascii_alphabetic());
        Some(Place {
            country: said(&self.country).filter(code).map(|c| c.to_ascii_uppercase().into()),
            subdivision: None,
            asn: said(&self.asn).and_then(|asn| asn.trim_start_matches("AS").parse().ok()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderMap;

    fn fronts() -> Fronts {
        Fronts::new(&Config {
            front: vec!["10.0.0.0/8".parse().unwrap(), "::1".parse().unwrap()],
            front_client: Some("x-forwarded-for".into()),
            front_country: Some("x-country".into()),
            ..Config::default()
        })
    }

    #[test]
    fn only_a_front_is_believed() {
        let mut fields = HeaderMap::new();
        fields.append("x-forwarded-for", "1.1.1.1, 192.0.2.9".parse().unwrap());
        fields.append("x-country", "ie".parse().unwrap());
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        let fronts = fronts();
        for front in ["10.1.2.3", "::ffff:10.1.2.3", "::1"] {
            assert_eq!(fronts.client(address(front), &fields), address("192.0.2.9"), "{front}");
            assert_eq!(fronts.place(address(front), &fields).unwrap().country.as_deref(), Some("IE"));
        }
        for other in ["11.0.0.1", "::2", "192.0.2.1"] {
            assert_eq!(fronts.client(address(other), &fields), address(other));
            assert_eq!(fronts.place(address(other), &fields), None);
        }
        fields.insert("x-country", "Ireland".parse().unwrap());
        assert_eq!(fronts.place(address("::1"), &fields), Some(Place::default()));
    }

    #[test]
    fn prefixes_are_written_as_usual() {
        for good in ["10.0.0.0/8", "192.0.2.1/32", "2001:db8::/32", "0.0.0.0/0"] {
            assert_eq!(good.parse::<Prefix>().unwrap().to_string(), good);
        }
        assert!("0.0.0.0/0".parse::<Prefix>().unwrap().has("255.0.0.1".parse().unwrap()));
        for bad in ["", "10.0.0.0/33", "::/129", "10.0.0/8", "x/8", "10.0.0.0/"] {
            assert!(bad.parse::<Prefix>().is_err(), "{bad}");
        }
    }
}
