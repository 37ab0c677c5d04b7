//! `catnip`: the networks that a pass is bound to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::Refusal;
use crate::cbor::{Item, Reader, Writer};

/// Tags of addresses and prefixes (RFC 9164).
const IPV4: u64 = 52;
const IPV6: u64 = 54;

/// An autonomous system, or a prefix of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// By number.
    Asn(u32),
    /// An address and how many of its bits count.
    Prefix(IpAddr, u8),
}

impl Network {
    pub(crate) fn has(&self, client: Option<IpAddr>, asn: Option<u32>) -> bool {
        match (self, client.map(|client| client.to_canonical())) {
            (Network::Asn(number), _) => asn == Some(*number),
            (Network::Prefix(IpAddr::V4(of), bits), Some(IpAddr::V4(client))) => {
                let past = 32 - u32::from((*bits).min(32));
                (of.to_bits() ^ client.to_bits()).checked_shr(past).unwrap_or(0) == 0
            }
            (Network::Prefix(IpAddr::V6(of), bits), Some(IpAddr::V6(client))) => {
                let past = 128 - u32::from((*bits).min(128));
                (of.to_bits() ^ client.to_bits()).checked_shr(past).unwrap_or(0) == 0
            }
            _ => false,
        }
    }

    /// Without what lies behind its bits.
    fn trimmed(self) -> Network {
        let kept = |address: u128, bits: u8, whole: u32| {
            let past = whole - u32::from(bits).min(whole);
            address.checked_shr(past).and_then(|kept| kept.checked_shl(past)).unwrap_or(0)
        };
        match self {
            Network::Asn(_) => self,
            Network::Prefix(IpAddr::V4(address), bits) => {
                let kept = kept(address.to_bits().into(), bits, 32) as u32;
                Network::Prefix(Ipv4Addr::from_bits(kept).into(), bits)
            }
            Network::Prefix(IpAddr::V6(address), bits) => {
                Network::Prefix(Ipv6Addr::from_bits(kept(address.to_bits(), bits, 128)).into(), bits)
            }
        }
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Network, Refusal> {
        let tag = match reader.item()? {
            Item::Int(asn) => return u32::try_from(asn).map(Network::Asn).map_err(|_| Refusal::Malformed),
            Item::Tag(tag @ (IPV4 | IPV6)) => tag,
            _ => return Err(Refusal::Malformed),
        };
        let whole = if tag == IPV4 { 32 } else { 128 };
        let (bytes, bits) = match reader.item()? {
            // A prefix may leave out its last bytes, an address not.
            Item::Bytes(bytes) if bytes.len() * 8 == whole => (bytes, whole),
            Item::Array(2) => {
                let bits = usize::try_from(reader.int()?).map_err(|_| Refusal::Malformed)?;
                (reader.bytes()?, bits)
            }
            _ => return Err(Refusal::Malformed),
        };
        if bits > whole || bytes.len() * 8 > whole {
            return Err(Refusal::Malformed);
        }
        let mut all = [0; 16];
        all[..bytes.len()].copy_from_slice(bytes);
        let address = match tag {
            IPV4 => Ipv4Addr::from([all[0], all[1], all[2], all[3]]).into(),
            _ => Ipv6Addr::from(all).into(),
        };
        Ok(Network::Prefix(address, bits as u8).trimmed())
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        match self.trimmed() {
            Network::Asn(number) => {
                writer.int(i64::from(number));
            }
            Network::Prefix(IpAddr::V4(address), bits) => {
                prefix(writer.tag(IPV4), &address.octets(), bits);
            }
            Network::Prefix(IpAddr::V6(address), bits) => {
                prefix(writer.tag(IPV6), &address.octets(), bits);
            }
        }
    }
}

/// An address, or a prefix without the zero bytes at its end (RFC 9164, 3.1.2).
fn prefix(writer: &mut Writer, bytes: &[u8], bits: u8) {
    if usize::from(bits) >= bytes.len() * 8 {
        writer.bytes(bytes);
        return;
    }
    let kept = bytes.iter().rposition(|b| *b != 0).map_or(0, |last| last + 1);
    writer.array(2).int(bits.into()).bytes(&bytes[..kept]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn net(text: &str) -> Network {
        let (address, bits) = text.split_once('/').unwrap();
        Network::Prefix(address.parse().unwrap(), bits.parse().unwrap())
    }

    #[test]
    fn a_prefix_has_its_addresses_and_no_others() {
        for (network, has, not) in [
            ("192.0.2.0/24", "192.0.2.255", "192.0.3.0"),
            ("192.0.2.7/32", "::ffff:192.0.2.7", "192.0.2.6"),
            ("0.0.0.0/0", "255.1.2.3", "::1"),
            ("2001:db8::/33", "2001:db8:7fff::1", "2001:db8:8000::1"),
            ("::/0", "ffff::", "1.2.3.4"),
        ] {
            assert!(net(network).has(Some(has.parse().unwrap()), None), "{network} {has}");
            assert!(!net(network).has(Some(not.parse().unwrap()), None), "{network} {not}");
            assert!(!net(network).has(None, Some(1)));
        }
        assert!(Network::Asn(64_512).has(None, Some(64_512)));
        assert!(!Network::Asn(64_512).has(Some("192.0.2.1".parse().unwrap()), None));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(address: u128, v4: bool, bits in 0_u8..=128) {
            let (address, bits) = match v4 {
                true => (IpAddr::V4((address as u32).into()), bits.min(32)),
                false => (IpAddr::V6(address.into()), bits),
            };
            let network = Network::Prefix(address, bits);
            let mut writer = Writer::default();
            network.write(&mut writer);
            let read = Network::read(&mut Reader::new(&writer.0)).unwrap();
            prop_assert!(read.has(Some(address), None));
            let Network::Prefix(_, same) = read else { panic!() };
            prop_assert_eq!(same, bits);
        }
    }
}
